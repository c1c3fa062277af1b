//! The same bits, however often a run is stopped and however many threads there are.

mod common;

use std::sync::Arc;

use barchan_bodies::Dynamics;
use barchan_geometry::mesh::primitives;
use barchan_geometry::shapes::Torus;
use barchan_world::{Archive, ArchiveError, Joint, JointKind, Motion, Motor, Spring, Target, World, Wrench};
use common::*;
use glam::DVec3;

/// Thirty boxes that tumble onto a ring, a block and the ground, and a chain of eight links of which one is cut.
fn tumble() -> World {
    let ring = Arc::new(Torus::new(0.5, 0.1).unwrap());
    let ring = body("ring", Motion::Fixed, ring, primitives::torus(0.5, 0.1, 24, 12));
    let mut bodies = vec![
        ground(),
        ring,
        cuboid("block", Motion::Fixed, DVec3::splat(0.3), DVec3::X),
    ];
    for k in 0..30 {
        let at = DVec3::new(
            0.3 * (k % 3) as f64,
            0.3 * (k / 3 % 3) as f64,
            0.5 + 0.25 * (k / 3) as f64,
        );
        let size = DVec3::new(0.1, 0.12, 0.15 + 0.01 * k as f64);
        let mut part = cuboid(&format!("box {k}"), Motion::Dynamic, size, at - DVec3::splat(0.3));
        part.pose.rotation = turned(k);
        part.twist.angular = DVec3::new(k as f64, 5.0, -3.0);
        part.friction.r#static += 0.1 * (k % 2) as f32;
        bodies.push(part);
    }
    let mut joints = Vec::new();
    for k in 0..8 {
        let size = DVec3::new(0.2, 0.04, 0.04);
        let link = cuboid(
            &format!("link {k}"),
            Motion::Dynamic,
            size,
            DVec3::new(1.0 + 0.22 * k as f64, 0.0, 1.5),
        );
        bodies.push(link);
        let kinds = [
            JointKind::Ball,
            JointKind::Hinge { axis: DVec3::Y },
            JointKind::Rope { length: 0.03 },
            JointKind::Slider { axis: DVec3::X },
        ];
        let holder = if k == 0 { 2 } else { 32 + k };
        let on_holder = if k == 0 {
            DVec3::new(-0.11, 0.0, 1.5)
        } else {
            DVec3::X * 0.11
        };
        let mut joint = Joint::new([holder, 33 + k], kinds[k % 4], [on_holder, DVec3::X * -0.11]);
        if joint.kind.has_axis() {
            joint.limits = Some([-0.05, 0.9]);
            let (stiffness, damping) = (5.0, 0.1);
            joint.spring = Some(Spring {
                stiffness,
                damping,
                rest: 0.02,
            });
            let target = Target::Position { at: 0.1, speed: 0.5 };
            joint.motor = Some(Motor { target, limit: 0.5 });
        }
        if k == 5 {
            joint.until = 0.9;
        }
        joints.push(joint);
    }
    let mut world = world(GRAVITY, bodies);
    world.joints = joints;
    world
}

fn bits(world: &World) -> Vec<u64> {
    let numbers = world.bodies.iter().flat_map(|body| {
        let place = [body.pose.position, body.twist.linear, body.twist.angular];
        place
            .into_iter()
            .flat_map(|v| v.to_array())
            .chain(body.pose.rotation.to_array())
    });
    numbers.map(f64::to_bits).collect()
}

fn steps(dynamics: &mut Dynamics, world: &mut World, range: std::ops::Range<u32>) {
    for k in range {
        step(dynamics, world, if k % 2 == 0 { 4e-3 } else { 5e-3 });
    }
}

#[test]
fn a_resumed_run_has_the_bits_of_one_never_stopped() {
    let mut world = tumble();
    let mut dynamics = Dynamics::new(&world).unwrap();
    steps(&mut dynamics, &mut world, 0..100);
    let mut archive = Archive::default();
    world.save(&mut archive);
    dynamics.save(&mut archive);
    let mut resumed_world = tumble();
    let mut resumed = Dynamics::new(&resumed_world).unwrap();
    resumed_world.load(&archive).unwrap();
    resumed.load(&resumed_world, &archive).unwrap();
    for k in 100..300 {
        steps(&mut dynamics, &mut world, k..k + 1);
        steps(&mut resumed, &mut resumed_world, k..k + 1);
        assert_eq!(bits(&world), bits(&resumed_world), "step {k}");
    }
    assert!(
        world.bodies.iter().all(|body| body.center().z > -0.01),
        "one fell through"
    );
}

#[test]
fn the_number_of_threads_does_not_change_the_bits() {
    let run_in = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = tumble();
            let mut dynamics = Dynamics::new(&world).unwrap();
            steps(&mut dynamics, &mut world, 0..150);
            bits(&world)
        })
    };
    let one = run_in(1);
    assert_eq!(one, run_in(2));
    assert_eq!(one, run_in(3));
}

#[test]
fn a_checkpoint_of_another_scene_or_none_is_refused() {
    let mut archive = Archive::default();
    let small = world(GRAVITY, vec![ground()]);
    let world = tumble();
    let mut dynamics = Dynamics::new(&world).unwrap();
    assert!(matches!(
        dynamics.load(&world, &archive),
        Err(ArchiveError::Missing { .. })
    ));
    Dynamics::new(&small).unwrap().save(&mut archive);
    assert!(matches!(
        dynamics.load(&world, &archive),
        Err(ArchiveError::Unfit { .. })
    ));
    archive.entries.values_mut().for_each(|bytes| bytes.truncate(100));
    assert!(matches!(
        dynamics.load(&world, &archive),
        Err(ArchiveError::Unfit { .. })
    ));
}

/// The entry of rapier's state.
const ENTRY: &str = "bodies.rapier";

fn saved(world: &World, dynamics: &Dynamics) -> Archive {
    let mut archive = Archive::default();
    world.save(&mut archive);
    dynamics.save(&mut archive);
    archive
}

#[test]
fn the_state_at_any_time_is_taken_back() {
    let mut world = tumble();
    let mut dynamics = Dynamics::new(&world).unwrap();
    for k in 0..60 {
        let mut resumed = tumble();
        let archive = saved(&world, &dynamics);
        resumed.load(&archive).unwrap();
        let taken = Dynamics::new(&resumed).unwrap().load(&resumed, &archive);
        assert_eq!(taken, Ok(()), "after {} steps", 5 * k);
        steps(&mut dynamics, &mut world, 5 * k..5 * (k + 1));
    }
}

/// Two boxes and a ball that hangs from the upper one, on a block.
fn stack() -> World {
    let block = DVec3::new(1.0, 1.0, 0.2);
    let mut world = world(
        GRAVITY,
        vec![
            ground(),
            cuboid("block", Motion::Fixed, block, DVec3::Z * 0.1),
            cuboid("lower", Motion::Dynamic, DVec3::splat(0.2), DVec3::Z * 0.3),
            cuboid("upper", Motion::Dynamic, DVec3::splat(0.2), DVec3::new(0.0, 0.02, 0.5)),
            ball("ball", 0.1, DVec3::new(0.5, 0.0, 0.3)),
        ],
    );
    world.joints = vec![Joint::new(
        [3, 4],
        JointKind::Ball,
        [DVec3::X * 0.3, DVec3::new(-0.2, 0.0, 0.2)],
    )];
    world
}

#[test]
fn a_changed_bit_of_rapiers_state_is_refused_or_does_no_harm() {
    let mut world = stack();
    let mut dynamics = Dynamics::new(&world).unwrap();
    run(&mut dynamics, &mut world, 4e-3, 60);
    let good = saved(&world, &dynamics);
    let (mut refused, length) = (0, good.entries[ENTRY].len());
    for at in (0..length).step_by(3) {
        let mut bad = good.clone();
        bad.entries.get_mut(ENTRY).unwrap()[at] ^= 1 << (at / 3 % 8);
        let mut world = stack();
        world.load(&bad).unwrap();
        let mut dynamics = Dynamics::new(&world).unwrap();
        match dynamics.load(&world, &bad) {
            Ok(()) => {
                let none = vec![Wrench::default(); world.bodies.len()];
                // A body that flies off is an error, not a panic.
                let _ = (0..4).try_for_each(|_| dynamics.step(&mut world, &none, 4e-3));
            }
            Err(error) => {
                assert!(error.to_string().contains(ENTRY), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > length / 30, "{refused} of {length}");
}
