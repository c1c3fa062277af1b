//! A small simulation that the targets of caches and checkpoints begin with.

use std::sync::LazyLock;

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};

/// Some guides, grains, a fixed and a dynamic body.
const TEXT: &str = r#"
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
packing = "lattice"
shape = { box = { size = [0.3, 0.3, 0.2] }, at = [0, 0, 0.2] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "ball"
motion = "dynamic"
density = 2000
shape = { sphere = { radius = 0.1 }, at = [0, 0, 0.6] }
[refine]
radius = 0.02
"#;

/// Scenes of the three solvers.
pub static SCENES: LazyLock<[Scene; 3]> = LazyLock::new(|| {
    ["pbd", "sph", "dem", "mpm"].map(|solver| {
        let document = Document::new("sample.toml", TEXT).with(format!("solver.kind={solver}"));
        parse_scene(&document).expect("the sample is a scene").0
    })
});

/// Returns the simulation of a scene after two frames.
pub fn simulate(scene: &Scene) -> Simulation {
    let mut simulation = Simulation::new(scene).expect("the sample can be built");
    for _ in 0..2 {
        simulation.advance().expect("the sample can be simulated");
    }
    simulation
}
