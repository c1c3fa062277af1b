//! Bodies held by joints.

mod common;

use barchan_bodies::{BodiesError, Dynamics};
use barchan_world::{Body, Joint, JointKind, Motion, World};
use common::*;
use glam::{DQuat, DVec3};

const SIZE: DVec3 = DVec3::new(0.1, 0.1, 0.4);

fn joint(kind: JointKind, first: DVec3, second: DVec3) -> Joint {
    Joint::new([0, 1], kind, [first, second])
}

/// A rod that hangs by its upper end from a fixed block, turned about y by `angle`.
fn hanging(kind: JointKind, angle: f64) -> World {
    let block = cuboid("block", Motion::Fixed, DVec3::splat(0.1), DVec3::ZERO);
    let rotation = DQuat::from_rotation_y(angle);
    let mut rod = cuboid("rod", Motion::Dynamic, SIZE, rotation * DVec3::Z * -0.2);
    rod.pose.rotation = rotation;
    let mut world = world(GRAVITY, vec![block, rod]);
    world.joints = vec![joint(kind, DVec3::ZERO, DVec3::Z * 0.2)];
    world
}

fn tilt(body: &Body) -> f64 {
    let down = body.pose.rotation * DVec3::NEG_Z;
    -down.x.atan2(-down.z)
}

/// Mean time between two passages of the lowest point in the same direction [s], and the farthest the joint came apart [m].
fn swing(kind: JointKind, dt: f64) -> (f64, f64) {
    let mut world = hanging(kind, 0.1);
    let mut dynamics = Dynamics::new(&world).unwrap();
    let (mut passages, mut apart) = (Vec::new(), 0f64);
    let mut before = tilt(&world.bodies[1]);
    while passages.len() < 6 && world.time < 20.0 {
        step(&mut dynamics, &mut world, dt);
        let now = tilt(&world.bodies[1]);
        if before < 0.0 && now >= 0.0 {
            passages.push(world.time - dt * now / (now - before));
        }
        before = now;
        apart = apart.max(world.bodies[1].pose.point(DVec3::Z * 0.2).length());
    }
    ((passages[5] - passages[0]) / 5.0, apart)
}

#[test]
fn a_rod_on_a_hinge_or_a_ball_joint_swings_with_the_period_of_a_physical_pendulum() {
    let arm = 0.2;
    let about_joint = (SIZE.x * SIZE.x + SIZE.z * SIZE.z) / 12.0 + arm * arm;
    // 2π √(I/(m g l)), and the first term for an angle of 0.1.
    let expected = std::f64::consts::TAU * (about_joint / (9.81 * arm)).sqrt() * (1.0 + 0.01 / 16.0);
    for kind in [JointKind::Hinge { axis: DVec3::Y }, JointKind::Ball] {
        for dt in [1e-3, 4e-3] {
            let (period, apart) = swing(kind, dt);
            assert!(
                (period / expected - 1.0).abs() < 0.01,
                "{kind:?} {dt}: {period} s, expected {expected}"
            );
            assert!(apart < 1e-3, "{kind:?} {dt}: came apart by {apart} m");
        }
    }
}

#[test]
fn a_hinge_turns_about_its_axis_only_and_a_fixed_joint_not_at_all() {
    let push = |kind| {
        let mut world = hanging(kind, 0.0);
        world.bodies[1].twist.linear = DVec3::new(0.2, 0.2, 0.0);
        let mut dynamics = Dynamics::new(&world).unwrap();
        run(&mut dynamics, &mut world, 2e-3, 100);
        world.bodies[1].pose.rotation.to_scaled_axis()
    };
    let hinge = push(JointKind::Hinge { axis: DVec3::Y });
    assert!(
        hinge.y.abs() > 0.05 && hinge.x.abs() < 1e-3 && hinge.z.abs() < 1e-3,
        "{hinge}"
    );
    let fixed = push(JointKind::Fixed);
    assert!(fixed.length() < 1e-3, "{fixed}");
    let ball = push(JointKind::Ball);
    assert!(ball.y.abs() > 0.05 && ball.x.abs() > 0.05, "{ball}");
}

#[test]
fn a_hinge_axis_is_that_of_the_first_body_however_the_bodies_are_turned() {
    let mut world = hanging(JointKind::Hinge { axis: DVec3::X }, 0.3);
    // The block's x is the world's y.
    world.bodies[0].pose.rotation = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 2e-3, 150);
    let body = &world.bodies[1];
    assert!(
        tilt(body).abs() < 0.28 || body.twist.angular.y.abs() > 0.1,
        "it does not swing"
    );
    assert!((body.pose.rotation * DVec3::Y).abs_diff_eq(DVec3::Y, 1e-3));
}

#[test]
fn a_rope_is_slack_until_it_is_taut_and_never_longer_than_its_length() {
    let length = 0.5;
    let block = cuboid("block", Motion::Fixed, DVec3::splat(0.1), DVec3::ZERO);
    let mut weight = cuboid("weight", Motion::Dynamic, DVec3::splat(0.1), DVec3::new(0.3, 0.0, 0.0));
    weight.twist.linear = DVec3::Y;
    let mut world = world(GRAVITY, vec![block, weight]);
    world.joints = vec![joint(JointKind::Rope { length }, DVec3::ZERO, DVec3::Z * 0.05)];
    let mut dynamics = Dynamics::new(&world).unwrap();
    let (mut longest, mut taut) = (0f64, 0);
    for k in 0..1000 {
        step(&mut dynamics, &mut world, 4e-3);
        let now = world.bodies[1].pose.point(DVec3::Z * 0.05).length();
        longest = longest.max(now);
        taut += i32::from(now > 0.99 * length);
        if k == 20 {
            let t = world.time;
            assert!(
                (world.bodies[1].twist.linear.z + 9.81 * t).abs() < 1e-3,
                "it does not fall freely while slack"
            );
        }
    }
    assert!(longest < 1.01 * length, "{longest}");
    assert!(taut > 500, "{taut} steps taut");
}

#[test]
fn a_rope_between_two_bodies_that_fly_apart_keeps_their_momentum() {
    let mut a = cuboid("a", Motion::Dynamic, DVec3::splat(0.1), DVec3::X * -0.2);
    let mut b = cuboid("b", Motion::Dynamic, DVec3::splat(0.1), DVec3::X * 0.2);
    (a.twist.linear, b.twist.linear) = (DVec3::X * -2.0, DVec3::new(1.0, 1.0, 0.0));
    let mut world = world(DVec3::ZERO, vec![a, b]);
    world.joints = vec![joint(JointKind::Rope { length: 0.5 }, DVec3::ZERO, DVec3::ZERO)];
    let before: DVec3 = world.bodies.iter().map(momentum).sum();
    let mut dynamics = Dynamics::new(&world).unwrap();
    for _ in 0..500 {
        step(&mut dynamics, &mut world, 2e-3);
        let apart = world.bodies[0].center().distance(world.bodies[1].center());
        assert!(apart < 0.505, "{apart}");
    }
    let after: DVec3 = world.bodies.iter().map(momentum).sum();
    assert!((after - before).length() < 1e-12, "{before} {after}");
}

#[test]
fn a_cut_joint_lets_go_at_its_time() {
    for kind in [
        JointKind::Hinge { axis: DVec3::Y },
        JointKind::Ball,
        JointKind::Fixed,
        JointKind::Rope { length: 0.1 },
    ] {
        let mut world = hanging(kind, 0.0);
        let rope = matches!(kind, JointKind::Rope { .. });
        let start = if rope { -0.3 } else { -0.2 };
        world.bodies[1].pose.position.z = start;
        // Contact with the block comes back with the cut: the block goes too.
        world.bodies[0].until = 0.5;
        world.joints[0].until = 0.5;
        let mut dynamics = Dynamics::new(&world).unwrap();
        let dt = 1.0 / 256.0;
        run(&mut dynamics, &mut world, dt, 128);
        let height = world.bodies[1].center().z;
        assert!((height - start).abs() < 1e-3, "{kind:?}: {height}");
        let speed = world.bodies[1].twist.linear.z;
        run(&mut dynamics, &mut world, dt, 64);
        let fallen = height - world.bodies[1].center().z;
        let expected = -speed * 0.25 + 0.5 * 9.81 * 0.0625;
        assert!(
            (fallen - expected).abs() < 1e-3,
            "{kind:?}: {fallen}, expected {expected}"
        );
    }
}

#[test]
fn joints_that_cannot_be_are_refused_with_their_number() {
    let refused = |change: &dyn Fn(&mut Joint)| {
        let mut world = hanging(JointKind::Ball, 0.0);
        let good = world.joints[0].clone();
        world.joints.push(good);
        change(&mut world.joints[1]);
        match Dynamics::new(&world).err() {
            Some(BodiesError::Joint { joint: 1, reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&|joint| joint.bodies = [0, 7]), "holds body 7 of 2");
    assert_eq!(refused(&|joint| joint.bodies = [1, 1]), "holds body `rod` twice");
    assert!(refused(&|joint| joint.anchors[1].x = f64::NAN).contains("anchor"));
    assert!(refused(&|joint| joint.kind = JointKind::Rope { length: -1.0 }).contains("-1 m"));
    assert!(refused(&|joint| joint.kind = JointKind::Hinge { axis: DVec3::ZERO }).contains("axis"));
}
