//! Same bits for any number of threads and after a restart; the same behavior anywhere in space.

mod support;

use barchan_pbd::PbdSettings;
use barchan_world::{Archive, Motion, Solver, World};
use glam::{DQuat, DVec3};
use support::*;

/// A heap that falls into a basin onto a dynamic box.
fn heap() -> World {
    let mut world = world(down(), friction(0.35));
    world.bodies = basin(DVec3::new(0.6, 0.6, 0.6), 0.35);
    let mut block = body(
        "block",
        std::sync::Arc::new(barchan_geometry::shapes::Cuboid::new(DVec3::splat(0.1)).unwrap()),
        Motion::Dynamic,
        0.3,
    );
    block.pose.position = DVec3::new(0.0, 0.0, 0.8);
    world.bodies.push(block);
    fill(
        &mut world,
        DVec3::new(-0.25, -0.25, 0.0),
        DVec3::new(0.25, 0.25, 0.6),
        0.025,
        0.15,
    );
    world
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let run_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = heap();
            let mut solver = solver(&world, PbdSettings::default());
            run(&mut solver, &mut world, 25);
            bits(&world)
        })
    };
    let one = run_with(1);
    assert!(one == run_with(2), "two threads differ");
    assert!(one == run_with(3), "three threads differ");
}

#[test]
fn a_resumed_run_gives_the_same_bits() {
    let mut straight = heap();
    let mut first = solver(&straight, PbdSettings::default());
    run(&mut first, &mut straight, 13);
    let mut archive = Archive::default();
    straight.save(&mut archive);
    first.save(&mut archive);

    let mut resumed = heap();
    resumed.load(&archive).unwrap();
    let mut second = solver(&resumed, PbdSettings::default());
    second.load(&resumed, &archive).unwrap();
    // Guides come and go between frames, in both runs.
    for (world, solver) in [(&mut straight, &mut first), (&mut resumed, &mut second)] {
        let keep: Vec<bool> = world.guides.id.iter().map(|id| id % 17 != 3).collect();
        world.guides.retain(&keep);
        world.add_guide(DVec3::new(0.0, 0.0, 1.5), DVec3::ZERO, 0.025, 0.1, 0);
        run(solver, world, 7);
    }
    assert!(bits(&straight) == bits(&resumed));
}

/// Height of the center of mass [m] along -gravity and the kinetic energy [J] after the heap has fallen.
fn settled(mut world: World) -> (f64, f64) {
    let up = -world.gravity.normalize();
    let origin = world.bodies[0].pose.position;
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 180);
    let guides = &world.guides;
    let mass: f64 = guides.mass.iter().map(|m| f64::from(*m)).sum();
    let height = (0..guides.len())
        .map(|i| (world.place(i) - origin).dot(up) * f64::from(guides.mass[i]))
        .sum::<f64>()
        / mass;
    let energy = guides
        .velocity
        .iter()
        .zip(&guides.mass)
        .map(|(v, m)| f64::from(0.5 * m * v.length_squared()))
        .sum();
    (height, energy)
}

#[test]
fn a_heap_shifted_turned_or_given_in_another_order_settles_the_same() {
    let (height, energy) = settled(heap());
    assert!(energy < 0.01, "{energy}");
    let same = |what: &str, (other, energy): (f64, f64)| {
        assert!(
            (other - height).abs() < 0.03 * height && energy < 0.01,
            "{what}: {other} {height} {energy}"
        );
    };

    let shift = DVec3::new(1000.0, -2000.0, 300.0);
    let mut shifted = heap();
    shifted.origin = shift;
    shifted.bodies.iter_mut().for_each(|b| b.pose.position += shift);
    same("shifted", settled(shifted));

    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -0.7, 1.1);
    let mut turned = heap();
    turned.gravity = turn * turned.gravity;
    for body in &mut turned.bodies {
        body.pose.position = turn * body.pose.position;
        body.pose.rotation = turn * body.pose.rotation;
    }
    for p in &mut turned.guides.position {
        *p = turn.as_quat() * *p;
    }
    same("turned", settled(turned));

    let mut reversed = heap();
    let order: Vec<u32> = (0..reversed.guides.len() as u32).rev().collect();
    reversed.guides.gather(&order, &mut barchan_world::Spare::default());
    same("reversed", settled(reversed));
}

#[test]
fn slow_motion_far_from_the_origin_is_not_lost() {
    let way = |x: f64| {
        let mut world = world(DVec3::ZERO, friction(0.3));
        world.add_guide(DVec3::new(x, 0.0, 0.0), DVec3::X * 1e-4, 0.02, 0.05, 0);
        let mut solver = solver(&world, PbdSettings::default());
        run(&mut solver, &mut world, 60);
        world.place(0).x - x
    };
    assert!((way(0.0) - 1e-4).abs() < 1e-8);
    assert!((way(40.0) - way(0.0)).abs() < 1e-8, "{}", way(40.0));
}

#[test]
fn the_displacement_over_a_frame_is_where_guides_are_less_where_they_were() {
    let mut world = heap();
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 5);
    let before = places(&world);
    run(&mut solver, &mut world, 1);
    for (i, moved) in solver.frame_displacement().iter().enumerate() {
        let expected = world.place(i) - before[world.guides.id[i] as usize];
        assert!((moved.as_dvec3() - expected).length() < 1e-7, "{moved} {expected}");
    }
}

#[test]
fn a_flow_through_a_periodic_box_keeps_guides_apart_and_inside() {
    let mut world = world(DVec3::new(2.0, 0.0, -9.0), friction(0.1));
    world.bodies.push(floor(0.1));
    world.periodic = [Some([0.0, 0.5]), Some([-0.1, 0.3]), None];
    fill(
        &mut world,
        DVec3::new(0.0, -0.1, 0.0),
        DVec3::new(0.5, 0.3, 0.3),
        0.02,
        0.05,
    );
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 60);
    let report = solver.advance(&mut world, FRAME).unwrap();
    assert!(report.max_overlap < 0.1, "{report:?}");
    let travelled: f32 = world.guides.velocity.iter().map(|v| v.x).sum::<f32>() / world.guides.len() as f32;
    assert!(travelled > 0.5, "{travelled}");
    for i in 0..world.guides.len() {
        // A guide may leave in the last frame by what it moves in one.
        assert!((-0.05..0.55).contains(&world.place(i).x), "{}", world.place(i));
    }
    // Brute force over images.
    let all = places(&world);
    let image = |d: f64, period: f64| d - period * (d / period).round();
    for i in 0..all.len() {
        for j in 0..i {
            let d = all[i] - all[j];
            let near = DVec3::new(image(d.x, 0.5), image(d.y, 0.4), d.z).length();
            assert!(near > 0.9 * 2.0 * 0.019, "{i} {j} {near}");
        }
    }
}
