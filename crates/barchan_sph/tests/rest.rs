//! Sand at rest sleeps until something near it moves.

mod support;

use std::sync::Arc;

use barchan_geometry::shapes::{Cuboid, Sphere};
use barchan_sph::{SphSettings, SphSolver};
use barchan_world::{Archive, Motion, Solver, World};
use glam::{DVec3, Vec3};
use support::*;

const SPACING: f64 = 0.04;

/// A bed of sand between walls.
fn bed() -> World {
    let mut world = world(down(), friction(0.6));
    world.bodies = basin(DVec3::new(0.96, 0.32, 0.4), 0.6);
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for k in 0..24 * 8 * 5 {
        let at = DVec3::new(
            f64::from(k % 24) - 11.5,
            f64::from(k / 24 % 8) - 3.5,
            f64::from(k / 192) + 0.58,
        );
        world.add_guide(SPACING * at, DVec3::ZERO, 0.5 * SPACING, mass, 0);
    }
    world
}

/// Runs until all sleep; gives the frames that it took.
fn lull(solver: &mut SphSolver, world: &mut World, most: u32) -> u32 {
    for frame in 0..most {
        if solver.advance(world, FRAME).unwrap().steps == 0 {
            return frame;
        }
    }
    panic!("not all sleep after {most} frames");
}

/// Largest way of a guide between two times [m].
fn way(before: &[DVec3], after: &[DVec3]) -> f64 {
    before
        .iter()
        .zip(after)
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max)
}

#[test]
fn a_bed_falls_asleep_and_the_floor_still_carries_it() {
    let mut world = bed();
    let mut solver = solver(SphSettings::default(), &world);
    lull(&mut solver, &mut world, 200);
    let places_before = places(&world);
    run(&mut solver, &mut world, 10);
    assert_eq!(places_before, places(&world));
    let weight: f64 = world.guides.mass.iter().map(|&m| 9.81 * f64::from(m)).sum();
    let up = -world.bodies.iter().map(|b| b.wrench.force.z).sum::<f64>();
    // That of the last frame in which sand moved, which trembles.
    assert!((up / weight - 1.0).abs() < 0.15, "{up} N of {weight} N");
    assert_eq!(column(&solver, "density").len(), world.guides.len());
}

#[test]
fn without_sleep_it_does_not() {
    let mut world = bed();
    let settings = SphSettings {
        sleeping: false,
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    for _ in 0..100 {
        assert!(solver.advance(&mut world, FRAME).unwrap().steps > 0);
    }
}

#[test]
fn what_falls_onto_sand_wakes_it() {
    let mut world = bed();
    let mut solver = solver(SphSettings::default(), &world);
    lull(&mut solver, &mut world, 200);
    let before = places(&world);
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for k in 0..27 {
        let at = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3) - 1.0, f64::from(k / 9));
        let place = DVec3::new(-0.3, 0.0, 0.4) + SPACING * at;
        world.add_guide(place, DVec3::new(0.0, 0.0, -3.0), 0.5 * SPACING, mass, 0);
    }
    run(&mut solver, &mut world, 30);
    let moved = way(&before, &places(&world)[..before.len()]);
    assert!(moved > 0.2 * SPACING, "{moved} m");
}

#[test]
fn a_body_that_falls_on_sleeping_sand_is_carried_by_it() {
    let mut world = bed();
    let mut ball = body("ball", Arc::new(Sphere::new(0.1).unwrap()), Motion::Dynamic, 0.5);
    ball.pose.position = DVec3::new(-0.2, 0.0, 1.5);
    // It comes when all sleep.
    ball.from = 4.0;
    world.bodies.push(ball);
    let mut solver = solver(SphSettings::default(), &world);
    while world.time < 4.0 - 1e-9 {
        run(&mut solver, &mut world, 1);
    }
    let before = places(&world);
    run(&mut solver, &mut world, 60);
    let moved = way(&before, &places(&world));
    assert!(moved > 0.2 * SPACING, "{moved} m");
    assert!(
        world.bodies[5].pose.position.z > 0.15,
        "{}",
        world.bodies[5].pose.position
    );
}

#[test]
fn sand_wakes_when_its_wall_is_gone_or_gravity_turns() {
    let mut world = bed();
    world.bodies[1].until = 5.0;
    let mut first = solver(SphSettings::default(), &world);
    lull(&mut first, &mut world, 200);
    while world.time < 5.0 - 1e-9 {
        run(&mut first, &mut world, 1);
    }
    let before = places(&world);
    run(&mut first, &mut world, 30);
    let moved = way(&before, &places(&world));
    assert!(moved > 2.0 * SPACING, "the wall at the end of x is gone: {moved} m");

    let mut world = bed();
    let mut second = solver(SphSettings::default(), &world);
    lull(&mut second, &mut world, 200);
    let before = places(&world);
    world.gravity = DVec3::new(-9.81, 0.0, 0.0);
    run(&mut second, &mut world, 20);
    assert!(way(&before, &places(&world)) > SPACING);
}

#[test]
fn sand_wakes_when_guides_of_it_vanish() {
    let mut world = bed();
    let mut solver = solver(SphSettings::default(), &world);
    lull(&mut solver, &mut world, 200);
    let hole = Cuboid::new(DVec3::new(0.3, 1.0, 1.0)).unwrap();
    world.sinks.push(barchan_world::Sink { shape: Arc::new(hole) });
    world.drain();
    world.sinks.clear();
    let before: Vec<(u32, Vec3)> = world
        .guides
        .id
        .iter()
        .copied()
        .zip(world.guides.position.iter().copied())
        .collect();
    run(&mut solver, &mut world, 30);
    let moved = |(id, p): &(u32, Vec3)| {
        let i = world.guides.id.iter().position(|x| x == id).unwrap();
        world.guides.position[i].distance(*p)
    };
    assert!(before.iter().map(moved).fold(0.0, f32::max) > SPACING as f32);
}

#[test]
fn sleepers_have_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    let drop = |world: &mut World| {
        let mass = (1600.0 * SPACING.powi(3)) as f32;
        world.add_guide(DVec3::new(0.3, 0.0, 0.3), DVec3::ZERO, 0.5 * SPACING, mass, 0);
    };
    let bits_on = |threads: usize, stop: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = bed();
            let mut solver = solver(SphSettings::default(), &world);
            run(&mut solver, &mut world, 100);
            if stop {
                let mut archive = Archive::default();
                world.save(&mut archive);
                solver.save(&mut archive);
                world = bed();
                world.load(&archive).unwrap();
                solver = support::solver(SphSettings::default(), &world);
                solver.load(&world, &archive).unwrap();
            }
            run(&mut solver, &mut world, 5);
            drop(&mut world);
            run(&mut solver, &mut world, 20);
            bits(&world)
        })
    };
    let one = bits_on(1, false);
    assert_eq!(one, bits_on(3, false));
    assert_eq!(one, bits_on(2, true));
}

#[test]
fn a_sleeping_bed_reports_the_same_after_it_was_saved() {
    let mut world = bed();
    let mut whole = solver(SphSettings::default(), &world);
    lull(&mut whole, &mut world, 200);
    let mut archive = Archive::default();
    whole.save(&mut archive);
    let mut resumed = solver(SphSettings::default(), &world);
    resumed.load(&world, &archive).unwrap();
    let mut copy = world.clone();
    let expected = whole.advance(&mut world, FRAME).unwrap();
    let found = resumed.advance(&mut copy, FRAME).unwrap();
    assert_eq!((expected.steps, found.steps), (0, 0));
    assert_eq!(expected.extras.len(), 3);
    assert_eq!(
        (found.extras, found.max_overlap),
        (expected.extras, expected.max_overlap)
    );
}
