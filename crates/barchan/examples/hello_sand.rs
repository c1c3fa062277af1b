//! Drops a ball of sand onto the ground and prints what happens.

use std::error::Error;

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};

const SCENE: &str = r#"
    name = "hello"
    duration = 1.0

    [materials.sand]
    density = 1600
    angle_of_repose = 34

    [[fill]]
    material = "sand"
    radius = 0.02
    shape = { sphere = { radius = 0.2 }, at = [0, 0, 0.5] }

    [[body]]
    name = "ground"
    shape = { half_space = { normal = [0, 0, 1] } }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let document = Document::new("hello", SCENE);
    let (scene, warnings) = parse_scene(&document)?;
    for warning in warnings {
        eprintln!("{}", warning.render(&document));
    }
    let mut simulation = Simulation::new(&scene)?;
    println!("{} guides", simulation.world().guides.len());
    for frame in 1..=scene.frames() {
        simulation.advance()?;
        if frame % 15 == 0 {
            let now = simulation.frame();
            let stats = now.stats;
            println!(
                "{:.2} s: kinetic energy {:6.2} J, fastest guide {:.2} m/s, ground carries {:6.1} N",
                now.time, stats.kinetic_energy, stats.max_speed, -now.bodies[0].force.z
            );
        }
    }
    Ok(())
}
