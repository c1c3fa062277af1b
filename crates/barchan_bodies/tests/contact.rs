//! Bodies that touch bodies.

mod common;

use std::sync::Arc;

use barchan_bodies::{BodiesError, Dynamics};
use barchan_geometry::TriMesh;
use barchan_geometry::mesh::primitives;
use barchan_geometry::shapes::{Cuboid, Transformed, Union};
use barchan_world::{Ease, Friction, Key, Keys, Motion, Turn, Wrench};
use common::*;
use glam::{DMat3, DQuat, DVec3};

const SIDE: f64 = 0.2;

fn crate_at(at: DVec3) -> barchan_world::Body {
    cuboid("crate", Motion::Dynamic, DVec3::splat(SIDE), at)
}

#[test]
fn two_bodies_that_collide_keep_their_momentum() {
    let mut a = crate_at(DVec3::new(-0.4, 0.03, 0.05));
    a.twist.linear = DVec3::new(3.0, 0.0, 0.0);
    a.pose.rotation = turned(0);
    let mut b = ball("ball", 0.15, DVec3::ZERO);
    b.density = 300.0;
    b.twist.linear = DVec3::new(-1.0, 0.2, 0.0);
    let mut world = world(DVec3::ZERO, vec![a, b]);
    let total = |world: &barchan_world::World| {
        let all = world.bodies.iter();
        let p: DVec3 = all.clone().map(momentum).sum();
        let l: DVec3 = all.map(|body| spin(body) + body.center().cross(momentum(body))).sum();
        (p, l)
    };
    let (p, l) = total(&world);
    let first = momentum(&world.bodies[0]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 2e-3, 250);
    let (p_after, l_after) = total(&world);
    assert!(
        (momentum(&world.bodies[0]) - first).length() > 1.0,
        "they missed each other"
    );
    assert!((p_after - p).length() < 1e-12 * p.length(), "{p} {p_after}");
    // Rapier turns inertia with the body only at the end of a step.
    assert!((l_after - l).length() < 1e-2 * p.length() * SIDE, "{l} {l_after}");
}

/// Speed [m/s] and way [m] down a slope after a second, of a box with the friction of the slope.
fn slide(angle: f64, friction: Friction) -> (f64, f64) {
    let tilt = DQuat::from_rotation_y(angle);
    let mut slope = ground();
    slope.pose.rotation = tilt;
    let mut body = crate_at(tilt * DVec3::Z * 0.5 * SIDE);
    body.pose.rotation = tilt;
    (slope.friction, body.friction) = (friction, friction);
    let mut world = world(GRAVITY, vec![slope, body]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let start = world.bodies[1].center();
    run(&mut dynamics, &mut world, 4e-3, 250);
    let down = tilt * DVec3::X;
    let body = &world.bodies[1];
    (body.twist.linear.dot(down), (body.center() - start).dot(down))
}

fn same(mu: f32) -> Friction {
    Friction {
        r#static: mu,
        kinetic: mu,
    }
}

#[test]
fn a_box_stays_on_a_slope_below_the_friction_angle_and_slides_above_it() {
    for mu in [0.3f32, 0.5, 0.8] {
        let critical = f64::from(mu).atan();
        let (speed, way) = slide(0.9 * critical, same(mu));
        assert!(speed.abs() < 1e-3 && way.abs() < 2e-3, "mu {mu}: {speed} m/s, {way} m");
        let steep = critical + 0.15;
        let expected = 9.81 * (steep.sin() - f64::from(mu) * steep.cos());
        let (speed, way) = slide(steep, same(mu));
        assert!(
            (speed / expected - 1.0).abs() < 0.05,
            "mu {mu}: {speed} m/s, expected {expected}"
        );
        assert!((way / (0.5 * expected) - 1.0).abs() < 0.05, "mu {mu}: {way} m");
    }
}

#[test]
fn static_friction_holds_what_kinetic_friction_would_not() {
    let friction = Friction {
        r#static: 0.6,
        kinetic: 0.3,
    };
    let (speed, way) = slide(0.9 * 0.6f64.atan(), friction);
    assert!(speed.abs() < 1e-3 && way.abs() < 2e-3, "{speed} m/s, {way} m");
    let steep = 0.6f64.atan() + 0.15;
    let expected = 9.81 * (steep.sin() - 0.3 * steep.cos());
    let (speed, _) = slide(steep, friction);
    assert!(
        (speed / expected - 1.0).abs() < 0.05,
        "{speed} m/s, expected {expected}"
    );
}

/// Way that counts as sliding [m].
const WAY: f64 = 2e-3;

/// Angle [°] at which a block slides on a slab that tilts by `rate` [°/s], both of friction `mu`.
fn slip_angle(mu: f32, rate: f64, dt: f64) -> f64 {
    let key = |time: f64, angle: f64| Key {
        time,
        at: DVec3::ZERO,
        turn: Turn::About { axis: DVec3::Y, angle },
        ease: Ease::Linear,
    };
    let keys = Keys::new(vec![key(0.0, 0.0), key(60.0 / rate, 60f64.to_radians())]).unwrap();
    let mut slab = cuboid(
        "slab",
        Motion::Scripted { parent: None, keys },
        DVec3::new(4.0, 2.0, 0.1),
        DVec3::ZERO,
    );
    let mut block = cuboid("block", Motion::Dynamic, DVec3::new(SIDE, SIDE, 0.1), DVec3::Z * 0.1);
    let friction = Friction {
        r#static: mu,
        kinetic: mu,
    };
    (slab.friction, block.friction) = (friction, friction);
    let mut world = world(GRAVITY, vec![slab, block]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    while world.time * rate < 60.0 {
        step(&mut dynamics, &mut world, dt);
        let seen = world.bodies[0].pose.rotation.inverse() * world.bodies[1].center();
        if seen.x > WAY {
            return world.time * rate;
        }
    }
    f64::INFINITY
}

#[test]
fn a_block_slides_when_its_slab_has_tilted_to_the_friction_angle() {
    let rate = 2f64;
    for mu in [0.2f32, 0.5, 0.8] {
        let critical = f64::from(mu).atan();
        // Beyond it the block gets faster by g ω t / cos(critical), and takes a while to go WAY.
        let time = (6.0 * WAY * critical.cos() / (9.81 * rate.to_radians())).cbrt();
        for dt in [4e-3, 1e-3] {
            let found = slip_angle(mu, rate, dt) - rate * time;
            let expected = critical.to_degrees();
            assert!((found - expected).abs() < 0.05, "mu {mu}: {found}°, not {expected}°");
        }
    }
}

#[test]
fn a_ball_rolls_down_a_slope_with_five_sevenths_of_the_pull() {
    let angle = 20f64.to_radians();
    let mut slope = ground();
    slope.pose.rotation = DQuat::from_rotation_y(angle);
    let mut ball = ball("ball", 0.1, slope.pose.rotation * DVec3::Z * 0.1);
    let moment = 0.4 * ball.mass_properties.volume * 0.01;
    ball.mass_properties.inertia = DMat3::from_diagonal(DVec3::splat(moment));
    let mut world = world(GRAVITY, vec![slope, ball]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 4e-3, 250);
    let (speed, expected) = (world.bodies[1].twist.linear.length(), 5.0 / 7.0 * 9.81 * angle.sin());
    assert!((speed / expected - 1.0).abs() < 0.02, "{speed} {expected}");
}

#[test]
fn friction_of_two_bodies_is_their_geometric_mean() {
    let mut slope = ground();
    slope.friction = same(0.2);
    let mut body = crate_at(DVec3::Z * 0.5 * SIDE);
    body.friction = same(0.8);
    body.twist.linear = DVec3::X * 2.0;
    let mut world = world(GRAVITY, vec![slope, body]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 2e-3, 100);
    let expected = 2.0 - 0.4 * 9.81 * 0.2;
    let speed = world.bodies[1].twist.linear.x;
    assert!((speed - expected).abs() < 0.02 * expected, "{speed} {expected}");
}

/// Heights [m] of a stack of five boxes after five seconds, and the largest way [m] one has slipped aside.
fn stack(shift: DVec3, dt: f64) -> (Vec<f64>, f64) {
    let mut floor = cuboid(
        "floor",
        Motion::Fixed,
        DVec3::new(4.0, 4.0, 0.2),
        shift - 0.1 * DVec3::Z,
    );
    floor.pose.rotation = DQuat::from_rotation_z(0.1);
    let mut bodies = vec![floor];
    bodies.extend((0..5).map(|k| crate_at(shift + DVec3::Z * (0.5 + f64::from(k)) * SIDE)));
    let mut world = world(GRAVITY, bodies);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, dt, (5.0 / dt) as usize);
    let places = world.bodies[1..].iter().map(|body| body.center() - shift);
    let aside = places.clone().map(|p| p.truncate().length()).fold(0.0, f64::max);
    (places.map(|p| p.z).collect(), aside)
}

#[test]
fn a_stack_of_five_boxes_stands_here_and_a_kilometre_away() {
    for dt in [2e-3, 1.0 / 120.0] {
        let (near, aside) = stack(DVec3::ZERO, dt);
        for (k, height) in near.iter().enumerate() {
            let expected = (0.5 + k as f64) * SIDE;
            assert!(
                (height - expected).abs() < 0.01 * SIDE,
                "box {k} at {height}, not {expected}"
            );
        }
        assert!(aside < 0.01 * SIDE, "slipped by {aside}");
        let (far, _) = stack(DVec3::new(1000.0, -1000.0, 1000.0), dt);
        let worst = near.iter().zip(&far).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Contacts are found again in each step, with rounding of 1e-13 m so far away that a thousand steps amplify.
        assert!(worst < 1e-6, "differs by {worst} m");
    }
}

#[test]
fn a_lift_carries_a_box_and_the_box_rides_at_its_speed() {
    let key = |time, z| Key {
        time,
        at: DVec3::Z * z,
        turn: Turn::NONE,
        ease: Ease::Linear,
    };
    let keys = Keys::new(vec![key(0.0, 0.0), key(10.0, 5.0)]).unwrap();
    let lift = cuboid(
        "lift",
        Motion::Scripted { parent: None, keys },
        DVec3::new(1.0, 1.0, 0.1),
        DVec3::ZERO,
    );
    let cargo = crate_at(DVec3::Z * (0.05 + 0.5 * SIDE));
    let mut world = world(GRAVITY, vec![lift, cargo]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 4e-3, 500);
    let cargo = &world.bodies[1];
    assert!((cargo.twist.linear.z - 0.5).abs() < 5e-3, "{}", cargo.twist.linear);
    assert!(
        (cargo.center().z - 1.0 - 0.05 - 0.5 * SIDE).abs() < 5e-3,
        "{}",
        cargo.center()
    );
}

#[test]
fn a_fast_body_does_not_pass_a_thin_wall_whether_it_stands_or_is_scripted() {
    let keys = Keys::new(vec![Key {
        time: 0.0,
        at: DVec3::ZERO,
        turn: Turn::NONE,
        ease: Ease::Linear,
    }]);
    let scripted = Motion::Scripted {
        parent: None,
        keys: keys.unwrap(),
    };
    for motion in [Motion::Fixed, scripted] {
        let wall = cuboid("wall", motion, DVec3::new(0.01, 2.0, 2.0), DVec3::ZERO);
        let mut bullet = ball("bullet", 0.02, DVec3::X * -1.0);
        bullet.twist.linear = DVec3::X * 100.0;
        let mut world = world(DVec3::ZERO, vec![wall, bullet]);
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, 4e-3, 25);
        assert!(world.bodies[1].center().x < 0.0, "{}", world.bodies[1].center());
    }
}

/// An L of two boxes, closed and concave.
fn bracket() -> (Union, TriMesh) {
    let (long, short) = (DVec3::new(0.6, 0.2, 0.2), DVec3::new(0.2, 0.2, 0.4));
    let corner = DVec3::new(-0.2, 0.0, 0.3);
    let part = |size| Arc::new(Cuboid::new(size).unwrap());
    let moved = Transformed::new(part(short), corner, DQuat::IDENTITY, DVec3::ONE).unwrap();
    let mut mesh = primitives::cuboid(long);
    let above = primitives::cuboid(short);
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(above.vertices.iter().map(|p| *p + corner));
    mesh.triangles
        .extend(above.triangles.iter().map(|t| t.map(|v| v + first)));
    (Union::new(vec![part(long), Arc::new(moved)], 0.0).unwrap(), mesh)
}

#[test]
fn a_ball_comes_to_rest_in_the_corner_of_a_concave_body() {
    for motion in [Motion::Fixed, Motion::Dynamic] {
        let (solid, surface) = bracket();
        let mut bracket = body("bracket", motion, Arc::new(solid), surface);
        bracket.pose.position.z = 0.1;
        let marble = ball("marble", 0.05, DVec3::new(0.1, 0.0, 0.26));
        let mut world = world(GRAVITY, vec![ground(), bracket, marble]);
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, 4e-3, 500);
        let marble = &world.bodies[2];
        assert!(
            (marble.center().z - 0.25).abs() < 0.01,
            "{} fell into the hull's hollow",
            marble.center()
        );
        assert!(marble.twist.linear.length() < 0.05);
    }
}

#[test]
fn bodies_are_there_only_from_their_time_until_their_time() {
    let mut trapdoor = cuboid("trapdoor", Motion::Fixed, DVec3::new(1.0, 1.0, 0.1), DVec3::Z * -0.05);
    trapdoor.until = 1.0;
    let mut late = crate_at(DVec3::new(0.0, 0.0, 0.5 * SIDE));
    late.from = 0.5;
    let mut world = world(GRAVITY, vec![trapdoor, late]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let height = |world: &barchan_world::World| world.bodies[1].center().z;
    run(&mut dynamics, &mut world, 4e-3, 124);
    assert_eq!(height(&world), 0.5 * SIDE, "it fell before it was there");
    run(&mut dynamics, &mut world, 4e-3, 125);
    assert!(
        (height(&world) - 0.5 * SIDE).abs() < 2e-3,
        "the door holds it: {}",
        height(&world)
    );
    run(&mut dynamics, &mut world, 4e-3, 126);
    let fallen = 0.5 * SIDE - height(&world);
    assert!((fallen - 0.5 * 9.81 * 0.25).abs() < 0.03, "{fallen}");
}

#[test]
fn bodies_that_cannot_move_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut barchan_world::Body)| {
        let mut body = cuboid("feather", Motion::Dynamic, DVec3::ONE, DVec3::ZERO);
        change(&mut body);
        Dynamics::new(&world(GRAVITY, vec![body])).err().unwrap()
    };
    let name = "feather".to_owned();
    assert_eq!(
        refused(&|body| body.mass_properties.volume = 0.0),
        BodiesError::Mass {
            body: name.clone(),
            mass: 0.0
        }
    );
    assert!(matches!(refused(&|b| b.density = f64::NAN), BodiesError::Mass { .. }));
    let thin = refused(&|b| b.mass_properties.inertia.y_axis = DVec3::ZERO);
    assert!(matches!(thin, BodiesError::Inertia { body, .. } if body == name));
    assert!(matches!(
        refused(&|b| b.pose.position.x = f64::NAN),
        BodiesError::State { what: "position", .. }
    ));
    let (solid, _) = bracket();
    let solid = Arc::new(solid);
    let flat = refused(&|b| {
        b.shape = solid.clone();
        b.surface = Arc::new(TriMesh {
            vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
            triangles: vec![[0, 1, 2]],
        });
    });
    assert!(matches!(flat, BodiesError::Surface { body, .. } if body == name));
}

#[test]
fn a_push_that_is_no_number_is_an_error_with_the_body_and_the_time() {
    let mut world = world(GRAVITY, vec![ground(), crate_at(DVec3::Z)]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let mut pushes = vec![Wrench::default(); 2];
    pushes[1].force.x = f64::NAN;
    let error = dynamics.step(&mut world, &pushes, 0.01).unwrap_err().to_string();
    assert!(error.contains("crate") && error.contains("0.0000 s"), "{error}");
}
