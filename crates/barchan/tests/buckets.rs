//! Loads of the built-in excavators' buckets, and the forces that report them.

use barchan::Simulation;
use barchan::scene::{built_in, parse_scene};
use barchan::world::World;
use glam::DVec3;

/// Returns the mass in the bucket [kg]: guides within its outer box or heaped above its rim.
fn carried(world: &World, bucket: usize) -> f64 {
    let body = &world.bodies[bucket];
    let bounds = body.shape.bounds();
    let heaped = bounds.max + DVec3::Z * bounds.size().z;
    let is_in = |p: DVec3| p.cmpge(bounds.min).all() && p.cmple(heaped).all();
    (0..world.guides.len())
        .filter(|&i| is_in(body.pose.local(world.place(i))))
        .map(|i| f64::from(world.guides.mass[i]))
        .sum()
}

/// Digs with the excavator of a built-in scene until `held` [s], and checks the load of its bucket of a struck volume
/// [m³]: the mean of three packings, because single runs differ by a few hundredths.
fn dig(name: &str, struck: f64, held: f64) {
    let shares = [1, 2, 3].map(|seed| dig_once(name, struck, held, seed));
    let share = shares.iter().sum::<f64>() / 3.0;
    assert!(share > 0.6, "{name}: lifts {shares:?} of its struck volume");
}

/// Returns the share of the struck volume that is lifted, for the packing of a seed.
fn dig_once(name: &str, struck: f64, held: f64, seed: u64) -> f64 {
    let (mut scene, _) = parse_scene(&built_in(name).unwrap()).unwrap();
    scene.refine = None;
    scene.seed = seed;
    let mut simulation = Simulation::new(&scene).unwrap();
    let bucket = simulation
        .world()
        .bodies
        .iter()
        .position(|b| b.name == "bucket")
        .unwrap();
    // Guides that still vibrate after the lift make the force vibrate: averaged over frames.
    let (mut force, mut frames) = (DVec3::ZERO, 0.0);
    while simulation.world().time < held {
        simulation.advance().unwrap();
        if simulation.world().time > held - 0.3 {
            force += simulation.world().bodies[bucket].wrench.force;
            frames += 1.0;
        }
    }
    let world = simulation.world();
    let (mass, force) = (carried(world, bucket), force / frames);
    let share = mass / (struck * scene.materials.all[0].density);
    println!("{name}, seed {seed}: lifts {share} of its struck volume");
    let weight = mass * scene.gravity.length();
    let load = force.dot(scene.gravity.normalize());
    assert!(
        (load / weight - 1.0).abs() < 0.03,
        "{name}: {load} N by {weight} N of sand"
    );
    share
}

#[test]
fn the_excavator_lifts_a_full_bucket_and_its_force_shows_the_load() {
    dig("excavator", 0.3 * 0.36 * 0.22, 5.6);
}

#[test]
fn the_excavator_of_the_castle_lifts_most_of_a_bucket_and_its_force_shows_the_load() {
    dig("sandcastle", 0.375 * 0.45 * 0.275, 5.3);
}
