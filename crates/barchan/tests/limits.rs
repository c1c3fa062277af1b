//! States that stop a run, and states that do not.

use barchan::scene::{Document, parse_scene};
use barchan::{Simulation, SimulationError};

fn simulation(text: &str) -> Simulation {
    let found = parse_scene(&Document::new("scene.toml", text));
    Simulation::new(&found.unwrap_or_else(|problems| panic!("{problems}")).0).unwrap()
}

#[test]
fn guides_that_a_piston_crushes_stop_the_run() {
    for solver in ["pbd", "dem"] {
        let text = format!(
            r#"
duration = 2
solver.kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
packing = "lattice"
shape = {{ box = {{ size = [0.6, 0.6, 0.3] }}, at = [0, 0, 0.15] }}
[[body]]
name = "pot"
shape = {{ subtract = [
    {{ box = {{ size = [1.2, 1.2, 2] }}, at = [0, 0, 0.7] }},
    {{ box = {{ size = [0.6, 0.6, 2] }}, at = [0, 0, 1] }},
] }}
[[body]]
name = "piston"
motion = "scripted"
shape = {{ box = {{ size = [0.59, 0.59, 0.4] }} }}
keys = [{{ time = 0, at = [0, 0, 0.55] }}, {{ time = 1, at = [0, 0, 0.19] }}]
"#
        );
        let mut simulation = simulation(&text);
        let stopped = (0..90).find_map(|_| simulation.advance().err());
        match stopped {
            Some(SimulationError::Advance(error)) => {
                assert!(error.to_string().contains("overlap"), "{solver}: {error}");
            }
            other => panic!("{solver}: {other:?}"),
        }
    }
}

#[test]
fn guides_that_a_piston_presses_into_the_floor_stop_the_run() {
    // Half a meter of sand pressed to two centimeters: a third of the centers would lie below the floor.
    let mut simulation = simulation(
        r#"
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
shape = { box = { size = [0.9, 0.9, 0.5] }, at = [0, 0, 0.3] }
[[body]]
name = "tray"
shape = { subtract = [ { box = { size = [1.4, 1.4, 2] }, at = [0, 0, 0.8] }, { box = { size = [1, 1, 2] }, at = [0, 0, 1] } ] }
[[body]]
name = "piston"
motion = "scripted"
shape = { box = { size = [0.98, 0.98, 0.4] } }
keys = [{ time = 0, at = [0, 0, 1] }, { time = 1, at = [0, 0, 0.22] }]
"#,
    );
    let stopped = (0..60).find_map(|_| simulation.advance().err());
    assert!(matches!(stopped, Some(SimulationError::Advance(_))), "{stopped:?}");
    let world = simulation.world();
    let inside = (0..world.guides.len()).filter(|&i| world.place(i).z < 0.0).count();
    assert!(inside <= 3, "{inside} of {} guides below the floor", world.guides.len());
}

#[test]
fn sand_that_falls_is_as_fast_in_short_frames_as_gravity_and_its_packing_make_it() {
    let fastest = |rate: f64| {
        let text = format!(
            r#"
duration = 1e-6
frame_rate = {rate}
solver.kind = "sph"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.1
packing = "lattice"
shape = {{ sphere = {{ radius = 0.5 }} }}
"#
        );
        let mut simulation = simulation(&text);
        (0..5).for_each(|_| simulation.advance().unwrap());
        simulation.frame().stats.max_speed
    };
    // Frames of a hundredth and of ten millionths of a second: an overlapping lattice flies apart at the same speed.
    let [usual, short, shortest] = [1e3, 1e5, 1e6].map(fastest);
    println!("{usual} {short} {shortest} m/s");
    assert!(
        short < 1.5 * usual && shortest < 1.5 * usual,
        "{usual} {short} {shortest} m/s"
    );
}
