//! A short run of each solver with grains and bodies, a checkpoint, and a picture: for AddressSanitizer, at the vector level of
//! `BARCHAN_SIMD`. Not a fuzz target.

use barchan::render::{Engine, Renderer};
use barchan::scene::{Document, parse_scene};
use barchan::{FIT, Look, Simulation, Stage, Viewpoint};

const TEXT: &str = r#"
duration = 1
frame_rate = 30
[materials.sand]
density = 1600
angle_of_repose = 32
youngs_modulus = 1e6
[[fill]]
material = "sand"
radius = 0.02
shape = { box = { size = [0.4, 0.4, 0.4] }, at = [0, 0, 0.2] }
[[emitter]]
material = "sand"
radius = 0.02
rate = 20
shape = { box = { size = [0.2, 0.2, 0.1] }, at = [0, 0, 0.9] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "ball"
motion = "dynamic"
density = 3000
velocity = [0, 0, -2]
shape = { sphere = { radius = 0.1 }, at = [0.1, 0, 0.55] }
[[body]]
name = "block"
motion = "dynamic"
density = 1500
shape = { box = { size = [0.2, 0.2, 0.1] }, at = [0.5, 0, 0.05] }
[refine]
radius = 0.006
"#;

fn main() {
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let document = Document::new("solvers.toml", TEXT).with(format!("solver.kind={solver}"));
        let (scene, _) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
        let mut simulation = Simulation::new(&scene).expect("the scene can be built");
        for _ in 0..4 {
            simulation.advance().expect("the scene can be simulated");
        }
        let mut simulation = Simulation::resume(&scene, &simulation.save()).expect("the state can be taken back");
        simulation.advance().expect("a resumed simulation goes on");
        let stage = Stage::new(&scene, simulation.world());
        let frame = simulation.frame();
        let look = Look {
            size: [320, 240],
            viewpoint: Viewpoint {
                camera: Some(FIT.to_owned()),
                ..Viewpoint::default()
            },
            ..Look::default()
        };
        let mut renderer = Renderer::open(Engine::Cpu).expect("the CPU can draw");
        let picture = stage.draw(&frame, &look, &mut renderer).expect("a frame can be drawn");
        let grains = frame.grains.as_ref().map_or(0, |grains| grains.len());
        let size = picture.pixels.len();
        println!("{solver}: {} guides, {grains} grains, a picture of {size} pixels", frame.guides.len());
    }
}
