//! Sliders, limits, springs, motors, and what joints report, against closed forms.

mod common;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use barchan_bodies::{BodiesError, Dynamics};
use barchan_world::{Joint, JointKind, Motion, Motor, Spring, Target, World};
use common::*;
use glam::{DQuat, DVec3};

const HINGE: JointKind = JointKind::Hinge { axis: DVec3::Y };
const SLIDER: JointKind = JointKind::Slider { axis: DVec3::Z };
const STEP: f64 = 1e-3;

/// A block that stands still and a cube of 8 kg, held at its center.
fn held(kind: JointKind, gravity: DVec3) -> World {
    let block = cuboid("block", Motion::Fixed, DVec3::splat(0.1), DVec3::ZERO);
    let cube = cuboid("cube", Motion::Dynamic, DVec3::splat(0.2), DVec3::ZERO);
    let mut world = world(gravity, vec![block, cube]);
    world.joints = vec![Joint::new([0, 1], kind, [DVec3::ZERO; 2])];
    world
}

const MASS: f64 = 8.0;
/// Moment of inertia of the cube about an axis [kg m²].
const INERTIA: f64 = MASS * 0.04 / 6.0;

fn near(found: f64, expected: f64, share: f64) {
    let apart = (found - expected).abs();
    assert!(apart <= share * expected.abs(), "{found}, expected {expected}");
}

fn turning(target: Target, limit: f64) -> World {
    let mut world = held(HINGE, DVec3::ZERO);
    world.joints[0].motor = Some(Motor { target, limit });
    world
}

#[test]
fn a_motor_spins_a_wheel_up_by_its_torque_and_holds_its_speed() {
    let (torque, speed) = (0.4, 3.0);
    let mut world = turning(Target::Speed(speed), torque);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 200);
    near(world.joints[0].speed, torque / INERTIA * 0.2, 1e-6);
    near(world.joints[0].position, 0.5 * torque / INERTIA * 0.04, 0.01);
    near(world.joints[0].load.motor, torque, 1e-9);
    near(world.joints[0].load.wrench.torque.y, torque, 1e-6);
    run(&mut dynamics, &mut world, STEP, 400);
    near(world.bodies[1].twist.angular.y, speed, 1e-6);
    assert!(world.joints[0].load.motor.abs() < 1e-6 * torque);
}

#[test]
fn a_motor_between_two_free_bodies_turns_them_against_each_other() {
    let mut world = turning(Target::Speed(2.0), f64::INFINITY);
    world.bodies[0] = cuboid("cube", Motion::Dynamic, DVec3::splat(0.2), DVec3::ZERO);
    world.bodies[0].density = 3000.0;
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 50);
    let [a, b] = [0, 1].map(|k| spin(&world.bodies[k]).y);
    near(a, -b, 1e-9);
    near(world.joints[0].speed, 2.0, 1e-6);
    near(world.bodies[1].twist.angular.y, 1.5, 1e-6);
}

#[test]
fn a_motor_that_is_too_weak_holds_nothing_and_one_that_is_not_holds_all() {
    for (share, holds) in [(1.05, true), (0.9, false)] {
        let mut world = held(SLIDER, GRAVITY);
        let limit = share * MASS * 9.81;
        world.joints[0].motor = Some(Motor {
            target: Target::Speed(0.0),
            limit,
        });
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, STEP, 300);
        let fall = -world.joints[0].position;
        if holds {
            assert!(fall.abs() < 1e-9, "{fall}");
            near(world.joints[0].load.motor, MASS * 9.81, 1e-6);
        } else {
            near(fall, 0.5 * 0.1 * 9.81 * 0.09, 0.01);
            near(world.joints[0].load.motor, limit, 1e-9);
        }
    }
}

#[test]
fn a_motor_goes_to_its_position_at_its_speed_and_approaches_it_exponentially() {
    let target = Target::Position { at: 1.0, speed: 2.0 };
    let mut world = turning(target, f64::INFINITY);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 300);
    near(world.joints[0].position, 0.6, 1e-3);
    near(world.joints[0].speed, 2.0, 1e-6);
    // From 0.9 on the speed is that of a decay by the response.
    run(&mut dynamics, &mut world, STEP, 150);
    let left = 1.0 - world.joints[0].position;
    run(&mut dynamics, &mut world, STEP, 50);
    near(
        (1.0 - world.joints[0].position) / left,
        (-0.05 / Motor::RESPONSE).exp(),
        0.02,
    );
    run(&mut dynamics, &mut world, STEP, 500);
    near(world.joints[0].position, 1.0, 1e-3);
    // Turned on past half a turn, it takes the shorter way.
    world.joints[0].motor.as_mut().unwrap().set(PI + 0.5);
    run(&mut dynamics, &mut world, STEP, 2000);
    near(world.joints[0].position, 0.5 - PI, 1e-3);
}

#[test]
fn a_spring_swings_with_the_period_of_its_mass_and_hangs_by_its_weight() {
    let stiffness = 800.0;
    let mut world = held(SLIDER, GRAVITY);
    let spring = Spring {
        stiffness,
        damping: 0.0,
        rest: 0.05,
    };
    world.joints[0].spring = Some(spring);
    let middle = spring.rest - MASS * 9.81 / stiffness;
    let mut dynamics = Dynamics::new(&world).unwrap();
    let (mut passages, mut before) = (Vec::new(), world.joints[0].position - middle);
    while passages.len() < 6 {
        step(&mut dynamics, &mut world, STEP);
        let now = world.joints[0].position - middle;
        if before < 0.0 && now >= 0.0 {
            passages.push(world.time - STEP * now / (now - before));
        }
        before = now;
    }
    near((passages[5] - passages[0]) / 5.0, TAU * (MASS / stiffness).sqrt(), 1e-3);
    let force = stiffness * (spring.rest - world.joints[0].position);
    near(world.joints[0].load.wrench.force.z, force, 0.01);
}

#[test]
fn a_torsion_spring_swings_and_its_damper_takes_the_amplitude_away() {
    let (stiffness, share): (f64, f64) = (20.0, 0.1);
    let rate = (stiffness / INERTIA).sqrt();
    let mut world = held(HINGE, DVec3::ZERO);
    let damping = 2.0 * share * (stiffness * INERTIA).sqrt();
    world.joints[0].spring = Some(Spring {
        stiffness,
        damping,
        rest: 0.0,
    });
    let start = 0.5;
    world.bodies[1].pose.rotation = DQuat::from_rotation_y(start);
    world.joints[0].zero = Some(DQuat::IDENTITY);
    let mut dynamics = Dynamics::new(&world).unwrap();
    // After whole periods of the damped oscillation only the envelope is left.
    let period = TAU / (rate * (1.0 - share * share).sqrt());
    let dt = period / 2000.0;
    for turns in 1..=2 {
        run(&mut dynamics, &mut world, dt, 2000);
        let envelope = start * (-share * rate * f64::from(turns) * period).exp();
        near(world.joints[0].position, envelope, 0.02);
    }
}

#[test]
fn a_damper_alone_slows_a_body_exponentially() {
    let mut world = held(SLIDER, DVec3::ZERO);
    world.joints[0].spring = Some(Spring {
        stiffness: 0.0,
        damping: 40.0,
        rest: 0.0,
    });
    world.bodies[1].twist.linear = DVec3::Z;
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 200);
    near(world.joints[0].speed, (-40.0 / MASS * 0.2f64).exp(), 0.005);
}

#[test]
fn a_slider_moves_along_its_axis_only() {
    let mut world = held(SLIDER, DVec3::ZERO);
    world.bodies[1].twist.linear = DVec3::new(1.0, -1.0, 0.5);
    world.bodies[1].twist.angular = DVec3::new(1.0, 2.0, 3.0);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 400);
    let pose = world.bodies[1].pose;
    assert!(pose.position.with_z(0.0).length() < 1e-4, "{}", pose.position);
    assert!(pose.rotation.angle_between(DQuat::IDENTITY) < 1e-4);
    near(world.joints[0].position, 0.2, 1e-3);
    near(world.joints[0].speed, 0.5, 1e-3);
}

#[test]
fn limits_hold_against_gravity_and_motors() {
    let mut world = held(SLIDER, GRAVITY);
    world.joints[0].limits = Some([-0.1, 0.3]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let mut lowest = 0f64;
    for _ in 0..1000 {
        step(&mut dynamics, &mut world, STEP);
        lowest = lowest.min(world.joints[0].position);
    }
    assert!(lowest > -0.101, "{lowest}");
    near(world.joints[0].position, -0.1, 1e-3);
    near(world.joints[0].load.wrench.force.z, MASS * 9.81, 1e-3);

    // A range beyond half a turn, which angles within half a turn of zero would leave.
    let mut world = turning(Target::Speed(4.0), 3.0);
    world.joints[0].limits = Some([-0.5, 1.5 * PI]);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 2500);
    near(world.joints[0].position, 1.5 * PI, 1e-3);
    near(world.joints[0].load.motor, 3.0, 1e-6);
    assert!(
        world.joints[0].load.wrench.torque.length() < 0.01,
        "the limit cancels the motor"
    );
    let target = Target::Position { at: 0.0, speed: 4.0 };
    world.joints[0].motor = Some(Motor { target, limit: 3.0 });
    run(&mut dynamics, &mut world, STEP, 2500);
    assert!(world.joints[0].position.abs() < 1e-3, "back the way it came");
}

/// Blocks that hang from each other and from a fixed one, joined by `kinds` in turn.
fn chain(count: usize, kind: impl Fn(usize) -> JointKind) -> World {
    let mut bodies = vec![cuboid("block", Motion::Fixed, DVec3::splat(0.1), DVec3::ZERO)];
    let mut joints = Vec::new();
    for k in 1..=count {
        bodies.push(cuboid(
            "link",
            Motion::Dynamic,
            DVec3::splat(0.1),
            DVec3::Z * (-0.2 * k as f64),
        ));
        let mut joint = Joint::new([k - 1, k], kind(k), [DVec3::Z * -0.1, DVec3::Z * 0.1]);
        if let JointKind::Rope { .. } = joint.kind {
            joint.anchors = [DVec3::ZERO; 2];
        }
        joints.push(joint);
    }
    let mut world = world(GRAVITY, bodies);
    world.joints = joints;
    world
}

#[test]
fn joints_of_a_hanging_chain_carry_the_weight_below_them() {
    let kinds: [(&str, &dyn Fn(usize) -> JointKind); 5] = [
        ("ball", &|_| JointKind::Ball),
        ("hinge", &|_| JointKind::Hinge {
            axis: DVec3::new(1.0, 1.0, 0.0),
        }),
        ("fixed", &|_| JointKind::Fixed),
        ("slider", &|_| JointKind::Slider { axis: DVec3::X }),
        ("rope", &|_| JointKind::Rope { length: 0.2 }),
    ];
    for (name, kind) in kinds {
        let mut world = chain(4, kind);
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, STEP, 300);
        for (k, joint) in world.joints.iter().enumerate() {
            let below = (4 - k) as f64 * 9.81;
            let force = joint.load.wrench.force;
            assert!(
                (force - DVec3::Z * below).length() < 1e-3 * below,
                "{name} {k}: {force}, expected {below}"
            );
        }
    }
}

#[test]
fn a_joint_that_holds_a_beam_at_its_end_carries_its_weight_and_its_moment() {
    // Turned, so that no axis of the joint is one of the world, and anchored away from both centers.
    let turn = DQuat::from_rotation_z(0.7);
    let block = cuboid("block", Motion::Fixed, DVec3::splat(0.1), DVec3::new(0.3, -0.2, 0.1));
    let mut beam = cuboid(
        "beam",
        Motion::Dynamic,
        DVec3::new(0.6, 0.1, 0.05),
        turn * DVec3::X * 0.3,
    );
    beam.pose.rotation = turn;
    let weight = beam.mass() * 9.81;
    for kind in [
        JointKind::Fixed,
        JointKind::Slider { axis: DVec3::Y },
        JointKind::Hinge { axis: DVec3::Z },
    ] {
        let mut world = world(GRAVITY, vec![block.clone(), beam.clone()]);
        let anchor = block.pose.local(DVec3::ZERO);
        world.joints = vec![Joint::new([0, 1], kind, [anchor, DVec3::X * -0.3])];
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, STEP, 200);
        let load = world.joints[0].load.wrench;
        let moment = -(turn * DVec3::X * 0.3).cross(DVec3::NEG_Z * weight);
        assert!(
            (load.force - DVec3::Z * weight).length() < 1e-3 * weight,
            "{kind:?} {load:?}"
        );
        assert!(
            (load.torque - moment).length() < 2e-3 * moment.length(),
            "{kind:?} {load:?}, expected {moment}"
        );
    }
}

#[test]
fn a_swung_weight_pulls_at_its_hinge_by_the_centripetal_force() {
    let mut world = held(HINGE, DVec3::ZERO);
    let arm = 0.5;
    world.joints[0].anchors[1] = DVec3::X * -arm;
    world.bodies[1].pose.position = DVec3::X * arm;
    let rate = 3.0;
    world.bodies[1].twist.angular = DVec3::Y * rate;
    world.bodies[1].twist.linear = (DVec3::Y * rate).cross(DVec3::X * arm);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 500);
    let (force, arm_now) = (world.joints[0].load.wrench.force, world.bodies[1].center());
    near(force.length(), MASS * rate * rate * arm, 0.01);
    assert!(
        force.dot(arm_now) < -0.999 * force.length() * arm_now.length(),
        "{force} {arm_now}"
    );
}

#[test]
fn an_actuator_against_a_wall_stalls_at_its_limit_and_the_wall_feels_it() {
    // A bucket on a ram; the wall hangs on a joint of its own, which measures the force on it.
    let (limit, speed) = (120.0, 0.3);
    let frame = cuboid("frame", Motion::Fixed, DVec3::splat(0.1), DVec3::ZERO);
    let bucket = cuboid("bucket", Motion::Dynamic, DVec3::splat(0.2), DVec3::X * 0.5);
    let wall = cuboid("wall", Motion::Dynamic, DVec3::new(0.1, 1.0, 1.0), DVec3::X * 0.75);
    let mut world = world(GRAVITY, vec![frame, bucket, wall]);
    let mut ram = Joint::new(
        [0, 1],
        JointKind::Slider { axis: DVec3::X },
        [DVec3::X * 0.5, DVec3::ZERO],
    );
    ram.motor = Some(Motor {
        target: Target::Speed(speed),
        limit,
    });
    world.joints = vec![
        ram,
        Joint::new([0, 2], JointKind::Fixed, [DVec3::X * 0.75, DVec3::ZERO]),
    ];
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 100);
    near(world.joints[0].speed, speed, 1e-3);
    run(&mut dynamics, &mut world, STEP, 900);
    let ram = &world.joints[0];
    assert!(ram.speed.abs() < 1e-3 && ram.position < 0.1005, "{ram:?}");
    near(ram.load.motor, limit, 1e-6);
    // A contact is resolved step by step, within a few per cent; its mean is the force.
    let force = (0..100).map(|_| {
        run(&mut dynamics, &mut world, STEP, 1);
        world.joints[1].load.wrench.force.x
    });
    near(force.sum::<f64>() / 100.0, -limit, 0.001);
}

#[test]
fn a_motor_at_rest_on_a_hinge_turns_nothing_sideways() {
    let mut world = turning(Target::Speed(FRAC_PI_2), 2.0);
    world.bodies[1].pose.position = DVec3::new(0.1, 0.2, 0.0);
    world.joints[0].anchors[1] = DVec3::new(-0.1, -0.2, 0.0);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, STEP, 2000);
    let body = &world.bodies[1];
    assert!((body.pose.rotation * DVec3::Y).abs_diff_eq(DVec3::Y, 1e-4));
    assert!(body.pose.point(DVec3::new(-0.1, -0.2, 0.0)).length() < 1e-4);
}

#[test]
fn parts_of_joints_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut Joint)| {
        let mut world = held(SLIDER, GRAVITY);
        change(&mut world.joints[0]);
        match Dynamics::new(&world).err() {
            Some(BodiesError::Joint { joint: 0, reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let spring = Spring {
        stiffness: 1.0,
        damping: -1.0,
        rest: 0.0,
    };
    let motor = Motor {
        target: Target::Speed(1.0),
        limit: f64::NAN,
    };
    assert!(refused(&|joint| joint.kind = JointKind::Slider { axis: DVec3::ZERO }).contains("axis"));
    assert!(refused(&|joint| joint.limits = Some([1.0, 1.0])).contains("limits 1 and 1"));
    assert!(refused(&|joint| joint.spring = Some(spring)).contains("damping: -1.0"));
    assert!(refused(&|joint| joint.motor = Some(motor)).contains("limit NaN"));
    assert!(refused(&|joint| (joint.kind, joint.limits) = (JointKind::Ball, Some([0.0, 1.0]))).contains("no axis"));
}
