//! Bodies act through periodic faces.

mod support;

use std::sync::Arc;

use barchan_geometry::shapes::Cuboid;
use barchan_sph::SphSettings;
use barchan_world::{Motion, World};
use glam::DVec3;
use support::*;

/// A world that closes upon itself from x = 0 to 1, with a post at `x` [m].
fn with_post(x: f64, motion: Motion) -> World {
    let mut world = world(DVec3::ZERO, friction(0.5));
    world.periodic[0] = Some([0.0, 1.0]);
    let mut post = body("post", Arc::new(Cuboid::new(DVec3::splat(0.2)).unwrap()), motion, 0.3);
    post.pose.position.x = x;
    world.bodies = vec![post];
    world
}

fn add(world: &mut World, x: f64, velocity: f64) {
    let mass = world.settled_mass(0, 0.02);
    world.add_guide(DVec3::new(x, 0.0, 0.0), DVec3::X * velocity, 0.02, mass, 0);
}

#[test]
fn a_post_in_a_face_stops_guides_from_both_sides_and_bears_what_both_give() {
    let mut world = with_post(0.0, Motion::Fixed);
    add(&mut world, 0.3, -1.0);
    add(&mut world, 0.6, 2.0);
    let mass = f64::from(world.guides.mass[0]);
    let mut solver = solver(SphSettings::default(), &world);
    let mut impulse = 0.0;
    for _ in 0..30 {
        run(&mut solver, &mut world, 1);
        impulse += FRAME * world.bodies[0].wrench.force.x;
    }
    // Faces of the post are at 0.1, and at 0.9 through the face.
    let places = places(&world);
    assert!((0.1..0.15).contains(&places[0].x), "{}", places[0]);
    assert!((0.85..0.9).contains(&places[1].x), "{}", places[1]);
    assert!((impulse - mass).abs() < 0.02 * mass, "{impulse} N s of {mass} N s");
}

#[test]
fn a_post_is_felt_the_same_wherever_its_period_puts_it() {
    let after = |x: f64| {
        let mut world = with_post(x, Motion::Fixed);
        add(&mut world, 0.3, -1.0);
        add(&mut world, 0.6, 2.0);
        let mut solver = solver(SphSettings::default(), &world);
        run(&mut solver, &mut world, 30);
        places(&world)
    };
    for (here, there) in after(0.0).iter().zip(&after(3.0)) {
        assert!((*here - *there).length() < 1e-5, "{here} {there}");
    }
}

#[test]
fn a_body_that_leaves_comes_back_and_is_pushed_through_the_face() {
    let mut world = with_post(0.95, Motion::Dynamic);
    add(&mut world, 0.2, -2.0);
    let mass = [f64::from(world.guides.mass[0]), world.bodies[0].mass()];
    let mut solver = solver(SphSettings::default(), &world);
    run(&mut solver, &mut world, 12);
    let (guide, post) = (f64::from(world.guides.velocity[0].x), world.bodies[0].twist.linear.x);
    assert!(post < -1e-3, "it was hit: {post} m/s");
    assert!((mass[0] * guide + mass[1] * post + 2.0 * mass[0]).abs() < 1e-4 * mass[0]);
    world.bodies[0].twist.linear.x = 1.0;
    run(&mut solver, &mut world, 30);
    assert!((0.0..1.0).contains(&world.bodies[0].pose.position.x));
}
