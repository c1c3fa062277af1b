//! Drives the excavator of a built-in scene by its levers, as a game or a training simulator does, and reads the force on its bucket.

use std::error::Error;

use barchan::Simulation;
use barchan::interact::Machine;
use barchan::scene::{Lever, built_in, parse_scene};

/// Positions of the levers over time: until when [s], which lever, how far from -1 to 1.
const OPERATOR: &[(f64, &[(Lever, f64)])] = &[
    // Teeth into the sand, drag, curl, lift, hold.
    (
        1.0,
        &[(Lever::Boom, -0.47), (Lever::Stick, -0.13), (Lever::Bucket, -0.19)],
    ),
    (2.4, &[(Lever::Boom, 0.3), (Lever::Stick, -0.72), (Lever::Bucket, -0.1)]),
    (3.8, &[(Lever::Boom, 0.19), (Lever::Stick, -0.17), (Lever::Bucket, 0.9)]),
    (4.8, &[(Lever::Boom, 0.85), (Lever::Stick, 0.25), (Lever::Bucket, 0.45)]),
    (5.6, &[]),
];

fn lever_at(time: f64, lever: Lever) -> f64 {
    let now = OPERATOR.iter().find(|(until, _)| time < *until);
    let moved = now.and_then(|(_, levers)| levers.iter().find(|(name, _)| *name == lever));
    moved.map_or(0.0, |(_, position)| *position)
}

fn main() -> Result<(), Box<dyn Error>> {
    // Larger guides than in the scene file: fast enough for real time on a laptop.
    let text = built_in("excavator")
        .expect("a built-in scene")
        .with("fill.0.radius=0.03");
    let (mut scene, _) = parse_scene(&text)?;
    scene.refine = None; // no grains: nothing is drawn
    let mut simulation = Simulation::new(&scene)?;
    let mut machine = Machine::new(&scene).expect("the scene has levers");

    let frame_time = 1.0 / scene.frame_rate;
    let (end, _) = OPERATOR[OPERATOR.len() - 1];
    while simulation.world().time < end {
        let time = simulation.world().time;
        machine.drive(simulation.world_mut(), |lever| lever_at(time, lever), frame_time);
        simulation.advance()?;
        if simulation.frame_number() % 30 == 0 {
            let bucket = simulation.body("bucket").expect("it has a bucket");
            let (at, force) = (bucket.pose.position, bucket.wrench.force);
            println!(
                "{:.1} s: bucket at ({:5.2}, {:5.2}) m, force on it ({:7.1}, {:7.1}) N in x and z, at most {:6.0} N",
                simulation.world().time,
                at.x,
                at.z,
                force.x,
                force.z,
                bucket.peak.force
            );
        }
    }
    Ok(())
}
