//! Bodies that touch nothing.

mod common;

use barchan_bodies::{Dynamics, Mobility, carried, free_motion, matched_motion, twist_between};
use barchan_world::{Ease, Key, Keys, Motion, Pose, Turn, Wrench};
use common::*;
use glam::{DQuat, DVec3};

#[test]
fn a_thrown_body_flies_a_parabola_whatever_the_steps() {
    let mut body = cuboid("box", Motion::Dynamic, DVec3::new(0.1, 0.2, 0.3), DVec3::Z);
    body.twist.linear = DVec3::new(3.0, -1.0, 2.0);
    body.twist.angular = DVec3::new(1.0, 2.0, 3.0);
    let mut world = world(GRAVITY, vec![body]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    for k in 0..200 {
        step(&mut dynamics, &mut world, if k % 3 == 0 { 1e-3 } else { 7e-3 });
    }
    let t = world.time;
    let expected = DVec3::Z + DVec3::new(3.0, -1.0, 2.0) * t + 0.5 * GRAVITY * t * t;
    let body = &world.bodies[0];
    assert!(
        body.center().abs_diff_eq(expected, 1e-12),
        "{} {expected}",
        body.center()
    );
    assert!(
        body.twist
            .linear
            .abs_diff_eq(DVec3::new(3.0, -1.0, 2.0) + GRAVITY * t, 1e-12)
    );
}

#[test]
fn a_body_spinning_about_its_middle_axis_flips_when_it_should() {
    let mut rotor = with_moments(DVec3::new(1.0, 2.0, 3.0));
    rotor.twist.angular = DVec3::new(0.01, 10.0, 0.0);
    let mut world = world(DVec3::ZERO, vec![rotor]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let (momentum, energy_before) = (spin(&world.bodies[0]), energy(&world.bodies[0]));
    let local_spin = |body: &barchan_world::Body| (body.pose.rotation.inverse() * body.twist.angular).y;
    let mut flips = Vec::new();
    let mut before = local_spin(&world.bodies[0]);
    while flips.len() < 21 && world.time < 70.0 {
        step(&mut dynamics, &mut world, 4e-3);
        let now = local_spin(&world.bodies[0]);
        if before * now < 0.0 {
            flips.push(world.time - 4e-3 * now / (now - before));
        }
        before = now;
    }
    assert!((flips[0] - 1.4366).abs() < 0.01 * 1.4366, "{flips:?}");
    for pair in flips.windows(2) {
        assert!((pair[1] - pair[0] - 2.8731).abs() < 0.01 * 2.8731, "{flips:?}");
    }
    assert_eq!(flips.len(), 21);
    let body = &world.bodies[0];
    let drift = (spin(body) - momentum).length() / momentum.length();
    assert!(drift < 1e-10, "angular momentum drifts by {drift:e}");
    let drift = (energy(body) / energy_before - 1.0).abs();
    assert!(drift < 1e-7, "energy drifts by {drift:e}");
}

#[test]
fn an_impulse_at_a_point_changes_momentum_and_angular_momentum_by_just_that() {
    let mut body = cuboid(
        "box",
        Motion::Dynamic,
        DVec3::new(0.1, 0.2, 0.3),
        DVec3::new(5.0, 1.0, 2.0),
    );
    body.pose.rotation = turned(3);
    body.twist.angular = DVec3::new(2.0, -3.0, 1.0);
    let mut world = world(DVec3::ZERO, vec![body]);
    let (p, l, c) = (
        momentum(&world.bodies[0]),
        spin(&world.bodies[0]),
        world.bodies[0].center(),
    );
    let (point, impulse) = (c + DVec3::new(0.03, -0.1, 0.2), DVec3::new(1.0, 2.0, -0.5));
    let push = Mobility::of(&world.bodies[0]).impulse_at(point, impulse);
    let mut dynamics = Dynamics::new(&world).unwrap();
    dynamics.step(&mut world, &[push], 0.01).unwrap();
    let body = &world.bodies[0];
    let (gained, turned) = (momentum(body) - p, spin(body) - l);
    assert!(gained.abs_diff_eq(impulse, 1e-13), "{gained} {impulse}");
    assert!(turned.abs_diff_eq((point - c).cross(impulse), 1e-13), "{turned}");
    assert!(body.center().abs_diff_eq(c + 0.01 * (p + impulse) / body.mass(), 1e-13));
}

#[test]
fn a_push_feels_the_inverse_mass_at_its_point() {
    let mut body = cuboid("box", Motion::Dynamic, DVec3::new(0.1, 0.2, 0.3), DVec3::X);
    body.pose.rotation = turned(1);
    let mobility = Mobility::of(&body);
    let (point, normal) = (body.pose.point(DVec3::new(0.05, 0.1, -0.15)), DVec3::new(0.6, 0.0, 0.8));
    let change = mobility.response(mobility.impulse_at(point, normal));
    let speed = (change.linear + change.angular.cross(point - body.center())).dot(normal);
    let felt = mobility.inverse_mass_at(point, normal);
    assert!((felt - speed).abs() < 1e-12 * speed, "{felt} {speed}");
    assert!(felt > 1.0 / body.mass());
    for motion in [Motion::Fixed, Motion::Driven] {
        body.motion = motion;
        assert_eq!(Mobility::of(&body).inverse_mass_at(point, normal), 0.0);
    }
}

fn key(time: f64, at: DVec3, angle: f64) -> Key {
    Key {
        time,
        at,
        turn: Turn::About { axis: DVec3::Y, angle },
        ease: Ease::Smooth,
    }
}

#[test]
fn boom_stick_and_bucket_follow_their_keys_and_their_points_move_as_they_are_displaced() {
    let arm = |parent, angle: f64, at: DVec3| Motion::Scripted {
        parent,
        keys: Keys::new(vec![key(0.0, at, 0.0), key(2.0, at, angle)]).unwrap(),
    };
    let size = DVec3::new(1.0, 0.1, 0.1);
    let mut boom = cuboid("boom", arm(None, 0.9, DVec3::ZERO), size, DVec3::ZERO);
    let mut stick = cuboid("stick", arm(Some(0), -1.7, DVec3::X), size, DVec3::ZERO);
    let mut bucket = cuboid("bucket", arm(Some(1), 2.0, DVec3::X), size, DVec3::ZERO);
    for part in [&mut boom, &mut stick, &mut bucket] {
        part.mass_properties.center = DVec3::new(0.5, 0.0, 0.0);
    }
    let mut world = world(GRAVITY, vec![boom, stick, bucket]);
    world.place_scripted_bodies(0.0);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let (dt, tip) = (1e-4, DVec3::new(1.0, 0.0, 0.3));
    run(&mut dynamics, &mut world, 0.01, 77);
    let before = world.bodies.clone();
    step(&mut dynamics, &mut world, dt);
    let angle = |last: f64| last * { 0.385f64.powi(2) * (3.0 - 2.0 * 0.385) };
    let rotation = DQuat::from_rotation_y(angle(0.9 - 1.7 + 2.0));
    assert!((before[2].pose.rotation * DVec3::X).abs_diff_eq(rotation * DVec3::X, 1e-12));
    let elbow = DQuat::from_rotation_y(angle(0.9)) * DVec3::X;
    assert!(before[1].pose.position.abs_diff_eq(elbow, 1e-9));
    for (old, new) in before.iter().zip(&world.bodies) {
        let (from, to) = (old.pose.point(tip), new.pose.point(tip));
        let mean = 0.5 * (new.velocity_at(to) + new.twist.linear + new.twist.angular.cross(from - old.center()));
        assert!(mean.length() > 0.1);
        // The mean over both ends differs from the chord of the arc in the second order of the turn.
        assert!(
            mean.abs_diff_eq((to - from) / dt, 1e-7),
            "{}: {mean} {}",
            new.name,
            (to - from) / dt
        );
        let mut carried_body = old.clone();
        carried_body.twist = new.twist;
        let carried = carried(&carried_body, dt);
        assert!(carried.position.abs_diff_eq(new.pose.position, 1e-14));
        assert!(carried.rotation.abs_diff_eq(new.pose.rotation, 1e-14));
    }
}

#[test]
fn a_driven_body_is_carried_by_its_twist_and_the_twist_to_a_pose_leads_there() {
    let mut body = cuboid("blade", Motion::Driven, DVec3::new(0.1, 0.2, 0.3), DVec3::X);
    body.mass_properties.center = DVec3::new(0.0, 0.1, 0.0);
    let goal = Pose {
        position: DVec3::new(2.0, 3.0, -1.0),
        rotation: -turned(0),
    };
    body.twist = twist_between(&body, &body.pose, &goal, 0.5);
    let mut world = world(GRAVITY, vec![body]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 0.01, 50);
    let pose = world.bodies[0].pose;
    assert!(pose.position.abs_diff_eq(goal.position, 1e-12), "{pose:?}");
    assert!(pose.rotation.dot(goal.rotation).abs() > 1.0 - 1e-14);
}

#[test]
fn a_free_body_goes_where_it_was_predicted_to_go() {
    let mut body = cuboid("box", Motion::Dynamic, DVec3::new(0.1, 0.2, 0.3), DVec3::X);
    body.twist.angular = DVec3::new(3.0, 8.0, -2.0);
    let predicted = free_motion(&body, GRAVITY, 0.01);
    let mut world = world(GRAVITY, vec![body]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    dynamics.step(&mut world, &[Wrench::default()], 0.01).unwrap();
    assert_eq!((world.bodies[0].pose, world.bodies[0].twist), predicted);
}

#[test]
fn shape_matching_flies_as_steps_do_and_damps_spin_as_chords_do() {
    let mut body = ball("ball", 0.1, DVec3::Z);
    body.twist.linear = DVec3::new(1.0, 0.0, 2.0);
    body.twist.angular = DVec3::new(0.0, 0.0, 10.0);
    let mut world = world(GRAVITY, vec![body]);
    let mut dynamics = Dynamics::new(&world).unwrap().shape_matched();
    let dt = 5e-3;
    let mut turn = 10.0 * dt;
    for _ in 0..200 {
        step(&mut dynamics, &mut world, dt);
        // A point goes on by its last chord: 2 exp(iθ) - 1 = exp(iθ) (2 - exp(-iθ)).
        turn = (turn.sin() / (2.0 - turn.cos())).atan();
        let found = world.bodies[0].twist.angular;
        assert!(
            (found - DVec3::Z * (turn / dt)).length() < 1e-6,
            "{found}, not {}",
            turn / dt
        );
    }
    let t = world.time;
    let expected = DVec3::Z + DVec3::new(1.0, 0.0, 2.0) * t + 0.5 * GRAVITY * t * (t + dt);
    assert!((world.bodies[0].center() - expected).length() < 1e-9);
}

#[test]
fn shape_matching_tumbles_as_a_rigid_body_as_steps_get_short() {
    let error = |dt: f64| {
        let mut body = cuboid("box", Motion::Dynamic, DVec3::new(0.1, 0.2, 0.3), DVec3::ZERO);
        body.twist.angular = DVec3::new(1.0, 2.0, 0.5);
        let mut matched = body.clone();
        for _ in 0..(1.0 / dt) as usize {
            (body.pose, body.twist) = free_motion(&body, DVec3::ZERO, dt);
            (matched.pose, matched.twist) = matched_motion(&matched, DVec3::ZERO, dt);
        }
        matched.pose.rotation.angle_between(body.pose.rotation)
    };
    let (coarse, fine) = (error(2e-3), error(1e-3));
    assert!(
        coarse < 0.05 && (1.7..2.3).contains(&(coarse / fine)),
        "{coarse} {fine}"
    );
}
