//! Same bits for any number of threads, and after a checkpoint.

mod support;

use std::sync::Arc;

use barchan_geometry::shapes::{Cuboid, Sphere};
use barchan_mpm::MpmSettings;
use barchan_world::{Archive, MaterialLaw, Motion, Solver, World};
use glam::DVec3;
use support::*;

/// A collapsing block of sand, and a ball that falls on it.
fn busy() -> World {
    let mut world = world(down(), friction(0.5));
    world.bodies = basin(DVec3::new(0.8, 0.6, 0.6), 0.4);
    let mut ball = body("ball", Arc::new(Sphere::new(0.1).unwrap()), Motion::Dynamic, 0.5);
    ball.pose.position = DVec3::new(-0.2, 0.0, 0.62);
    world.bodies.push(ball);
    fill(
        &mut world,
        DVec3::new(-0.4, -0.3, 0.0),
        DVec3::new(0.0, 0.3, 0.5),
        0.025,
        0.1,
    );
    world.fill_ends = vec![world.next_id];
    world
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run_on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = busy();
            let mut solver = solver(MpmSettings::default(), &world);
            run(&mut solver, &mut world, 12);
            bits(&world)
        })
    };
    let one = run_on(1);
    assert_eq!(one, run_on(2));
    assert_eq!(one, run_on(5));
}

#[test]
fn a_run_goes_on_from_a_checkpoint_as_if_it_had_never_stopped() {
    let mut world = busy();
    let mut first = solver(MpmSettings::default(), &world);
    run(&mut first, &mut world, 8);
    let mut archive = Archive::default();
    world.save(&mut archive);
    first.save(&mut archive);
    run(&mut first, &mut world, 8);

    let mut again = busy();
    again.load(&archive).unwrap();
    let mut second = solver(MpmSettings::default(), &again);
    second.load(&again, &archive).unwrap();
    run(&mut second, &mut again, 8);
    assert_eq!(bits(&world), bits(&again));
}

#[test]
fn a_scene_shifted_by_a_kilometre_behaves_the_same() {
    let far = DVec3::new(1000.0, -2000.0, 500.0);
    let mut here = busy();
    let mut there = busy();
    there.origin = far;
    for body in &mut there.bodies {
        body.pose.position += far;
    }
    let mut solvers = [
        solver(MpmSettings::default(), &here),
        solver(MpmSettings::default(), &there),
    ];
    run(&mut solvers[0], &mut here, 12);
    run(&mut solvers[1], &mut there, 12);
    let apart = |(a, b): (&DVec3, &DVec3)| (*b - *a - far).length();
    let farthest = places(&here).iter().zip(&places(&there)).map(apart).fold(0.0, f64::max);
    // Round-off only, which a collapsing block amplifies.
    assert!(farthest < 1e-3, "{farthest}");
}

#[test]
fn a_world_whose_guides_are_all_gone_goes_on() {
    let mut world = busy();
    let mut solver = solver(MpmSettings::default(), &world);
    run(&mut solver, &mut world, 2);
    let everywhere = Sphere::new(9.0).unwrap();
    world.sinks.push(barchan_world::Sink {
        shape: Arc::new(everywhere),
    });
    world.drain();
    assert!(world.guides.is_empty());
    let before = world.time;
    run(&mut solver, &mut world, 3);
    assert!((world.time - before - 3.0 * FRAME).abs() < 1e-9);
}

#[test]
fn guides_and_a_body_keep_their_momentum_and_angular_momentum() {
    // A block of sand flies against a free box, without gravity.
    let mut world = world(DVec3::ZERO, friction(0.5));
    let shape = Arc::new(Cuboid::new(DVec3::new(0.2, 0.3, 0.3)).unwrap());
    let mut target = body("target", shape, Motion::Dynamic, 0.5);
    target.pose.position = DVec3::new(0.4, 0.05, 0.1);
    world.bodies = vec![target];
    lattice(&mut world, DVec3::new(-0.1, -0.15, -0.1), [6, 6, 6], 0.05);
    world.guides.velocity.fill(glam::Vec3::new(2.0, 0.3, 0.0));
    let totals = |world: &World| {
        let body = &world.bodies[0];
        let axes = glam::DMat3::from_quat(body.pose.rotation);
        let inertia = axes * (body.mass_properties.inertia * body.density) * axes.transpose();
        let p = body.mass() * body.twist.linear;
        let l = body.center().cross(p) + inertia * body.twist.angular;
        [momentum(world) + p, angular_momentum(world) + l]
    };
    let before = totals(&world);
    let mut solver = solver(MpmSettings::default(), &world);
    run(&mut solver, &mut world, 20);
    let after = totals(&world);
    assert!(world.bodies[0].twist.linear.x > 0.1, "{:?}", world.bodies[0].twist);
    let size = before[0].length();
    assert!((after[0] - before[0]).length() < 1e-5 * size, "{before:?} {after:?}");
    // Affine velocities carry angular momentum of their own.
    assert!(
        (after[1] - before[1]).length() < 0.02 * size * 0.3,
        "{before:?} {after:?}"
    );
}

#[test]
fn bodies_fall_where_there_is_no_guide() {
    let mut world = world(down(), friction(0.5));
    let ball = Arc::new(Sphere::new(0.1).unwrap());
    world.bodies = vec![floor(0.5), body("ball", ball, Motion::Dynamic, 0.5)];
    world.bodies[1].pose.position.z = 1.0;
    let mut solver = solver(MpmSettings::default(), &world);
    run(&mut solver, &mut world, 12);
    let t = 12.0 * FRAME;
    let fallen = 1.0 - world.bodies[1].pose.position.z;
    assert!((fallen / (0.5 * 9.81 * t * t) - 1.0).abs() < 0.02, "{fallen} m");
}

#[test]
fn every_law_moves_every_guide_and_loses_none() {
    for &law in MaterialLaw::ALL {
        let mut world = world(down(), friction(0.5));
        world.bodies = vec![floor(0.5)];
        lattice(&mut world, DVec3::new(-0.15, -0.15, 0.02), [6, 6, 6], 0.05);
        let count = world.guides.len();
        let mut solver = solver(made_of(law, |_| ()), &world);
        run(&mut solver, &mut world, 30);
        assert_eq!(world.guides.len(), count);
        let lowest = places(&world).iter().map(|p| p.z).fold(f64::MAX, f64::min);
        assert!(lowest > -0.02, "{}: {lowest}", law.word());
        let mean = places(&world).iter().map(|p| p.z).sum::<f64>() / count as f64;
        assert!((0.01..0.2).contains(&mean), "{}: {mean}", law.word());
    }
}
