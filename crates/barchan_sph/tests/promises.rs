//! Same bits for any number of threads, and after a checkpoint.

mod support;

use std::sync::Arc;

use barchan_geometry::shapes::Sphere;
use barchan_sph::SphSettings;
use barchan_world::{Archive, Motion, Solver, World};
use glam::DVec3;
use support::*;

fn busy() -> World {
    let mut world = world(down(), friction(0.5));
    world.bodies = basin(DVec3::new(0.6, 0.5, 0.6), 0.4);
    fill(
        &mut world,
        DVec3::new(-0.3, -0.25, 0.0),
        DVec3::new(0.0, 0.25, 0.5),
        0.025,
        0.1,
    );
    world
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run_on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = busy();
            let mut solver = solver(SphSettings::default(), &world);
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
    let mut first = solver(SphSettings::default(), &world);
    run(&mut first, &mut world, 8);
    let mut archive = Archive::default();
    world.save(&mut archive);
    first.save(&mut archive);
    run(&mut first, &mut world, 8);

    let mut again = busy();
    again.load(&archive).unwrap();
    let mut second = solver(SphSettings::default(), &again);
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
        solver(SphSettings::default(), &here),
        solver(SphSettings::default(), &there),
    ];
    run(&mut solvers[0], &mut here, 12);
    run(&mut solvers[1], &mut there, 12);
    let apart = |(a, b): (&DVec3, &DVec3)| (*b - *a - far).length();
    let farthest = places(&here).iter().zip(&places(&there)).map(apart).fold(0.0, f64::max);
    // Round-off only, which a collapsing block amplifies.
    assert!(farthest < 1e-3, "{farthest}");
}

#[test]
fn guides_that_are_too_different_in_size_are_refused() {
    let mut world = busy();
    let mass = world.settled_mass(0, 0.06);
    world.add_guide(DVec3::new(0.2, 0.0, 0.3), DVec3::ZERO, 0.06, mass, 0);
    let error = solver(SphSettings::default(), &world)
        .advance(&mut world, FRAME)
        .unwrap_err();
    assert!(error.to_string().contains("factor of 2"), "{error}");
}

#[test]
fn a_world_whose_guides_are_all_gone_goes_on() {
    let mut world = busy();
    let mut solver = solver(SphSettings::default(), &world);
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
fn bodies_fall_where_there_is_no_guide() {
    let mut world = world(down(), friction(0.5));
    let ball = Arc::new(Sphere::new(0.1).unwrap());
    world.bodies = vec![floor(0.5), body("ball", ball, Motion::Dynamic, 0.5)];
    world.bodies[1].pose.position.z = 1.0;
    let mut solver = solver(SphSettings::default(), &world);
    run(&mut solver, &mut world, 12);
    let t = 12.0 * FRAME;
    let fallen = 1.0 - world.bodies[1].pose.position.z;
    assert!((fallen / (0.5 * 9.81 * t * t) - 1.0).abs() < 0.02, "{fallen} m");
}
