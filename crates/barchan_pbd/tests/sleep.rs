//! Guides at rest sleep, and wake when something happens to them.

mod support;

use barchan_pbd::{PbdSettings, PbdSolver};
use barchan_world::{Archive, Motion, Solver, World};
use glam::{DVec3, Vec3};
use support::*;

/// A block of sand in a basin.
fn settled() -> World {
    let mut world = world(down(), friction(0.3));
    world.bodies = basin(DVec3::new(0.4, 0.4, 0.5), 0.3);
    fill(
        &mut world,
        DVec3::new(-0.2, -0.2, 0.0),
        DVec3::new(0.2, 0.2, 0.3),
        0.02,
        0.15,
    );
    world
}

fn asleep(world: &World, sleeping: bool) -> PbdSolver {
    solver(
        world,
        PbdSettings {
            sleeping,
            ..PbdSettings::default()
        },
    )
}

/// Steps until a frame takes none, for at most `frames`.
fn fall_asleep(solver: &mut PbdSolver, world: &mut World, frames: u32) -> bool {
    (0..frames).any(|_| solver.advance(world, FRAME).expect("stable").steps == 0)
}

#[test]
fn sand_at_rest_falls_asleep_and_its_floor_goes_on_to_carry_it() {
    let mut world = settled();
    let mut solver = asleep(&world, true);
    assert!(fall_asleep(&mut solver, &mut world, 900));
    let before = places(&world);
    run(&mut solver, &mut world, 60);
    assert_eq!(places(&world), before);
    let weight: f64 = world.guides.mass.iter().map(|&m| 9.81 * f64::from(m)).sum();
    let carried: f64 = world.bodies.iter().map(|b| -b.wrench.force.z).sum();
    assert!((carried / weight - 1.0).abs() < 0.03, "{}", carried / weight);
}

#[test]
fn without_sleeping_every_frame_takes_steps() {
    let mut world = settled();
    assert!(!fall_asleep(&mut asleep(&world, false), &mut world, 600));
}

#[test]
fn sand_that_never_sleeps_stays_where_it_came_to_rest() {
    let mut world = settled();
    let mut solver = asleep(&world, false);
    run(&mut solver, &mut world, 600);
    let before = places(&world);
    run(&mut solver, &mut world, 60);
    let moved = places(&world).iter().zip(&before).filter(|(a, b)| a != b).count();
    assert!(100 * moved < before.len(), "{moved} of {}", before.len());
}

#[test]
fn a_guide_that_falls_on_sleeping_sand_wakes_it() {
    let mut world = settled();
    let mut solver = asleep(&world, true);
    assert!(fall_asleep(&mut solver, &mut world, 900));
    let before = places(&world);
    world.add_guide(DVec3::new(0.0, 0.0, 0.6), DVec3::new(0.0, 0.0, -3.0), 0.03, 0.5, 0);
    run(&mut solver, &mut world, 40);
    let moved = places(&world)
        .iter()
        .zip(&before)
        .filter(|(a, b)| a.distance(**b) > 1e-4)
        .count();
    assert!(moved > 5, "{moved}");
    assert!(fall_asleep(&mut solver, &mut world, 900));
}

#[test]
fn sand_whose_support_is_taken_away_wakes() {
    let mut world = settled();
    let mut solver = asleep(&world, true);
    assert!(fall_asleep(&mut solver, &mut world, 900));
    let keep: Vec<bool> = (0..world.guides.len()).map(|i| world.place(i).z > 0.08).collect();
    let top = places(&world).iter().map(|p| p.z).fold(0.0, f64::max);
    world.guides.retain(&keep);
    run(&mut solver, &mut world, 60);
    let now = places(&world).iter().map(|p| p.z).fold(0.0, f64::max);
    assert!(now < top - 0.05, "{top} {now}");
}

#[test]
fn sand_is_drained_from_above_to_the_last_guide() {
    let mut world = settled();
    let mut solver = asleep(&world, true);
    assert!(fall_asleep(&mut solver, &mut world, 900));
    assert!(world.guides.len() > 300, "{}", world.guides.len());
    for k in (0..=15).rev() {
        let keep: Vec<bool> = (0..world.guides.len())
            .map(|i| world.place(i).z < 0.02 * f64::from(k))
            .collect();
        world.guides.retain(&keep);
        run(&mut solver, &mut world, 2);
        let lowest = places(&world).iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        assert!(lowest > 0.0);
    }
    assert!(world.guides.is_empty());
}

#[test]
fn sand_sleeps_and_wakes_to_the_same_bits_for_any_number_of_threads_and_after_a_resume() {
    let wake = |world: &mut World| {
        world.add_guide(DVec3::new(0.05, 0.0, 0.6), DVec3::new(0.0, 0.0, -2.0), 0.02, 0.2, 0);
    };
    let all = |threads: usize, resume: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = settled();
            let mut solver = asleep(&world, true);
            assert!(fall_asleep(&mut solver, &mut world, 900));
            if resume {
                let mut archive = Archive::default();
                solver.save(&mut archive);
                solver = asleep(&world, true);
                solver.load(&world, &archive).unwrap();
            }
            run(&mut solver, &mut world, 5);
            wake(&mut world);
            run(&mut solver, &mut world, 60);
            let bits = |v: &[Vec3]| {
                v.iter()
                    .flat_map(|v| v.to_array().map(f32::to_bits))
                    .collect::<Vec<u32>>()
            };
            (bits(&world.guides.position), bits(&world.guides.velocity))
        })
    };
    let one = all(1, false);
    assert_eq!(all(3, false), one);
    assert_eq!(all(2, true), one);
}

#[test]
fn sand_under_a_body_that_may_move_stays_awake() {
    let mut world = settled();
    let plate = barchan_geometry::shapes::Cuboid::new(DVec3::new(0.2, 0.2, 0.04)).unwrap();
    let mut plate = body("plate", std::sync::Arc::new(plate), Motion::Dynamic, 0.3);
    plate.pose.position.z = 0.4;
    world.bodies.push(plate);
    let mut solver = asleep(&world, true);
    run(&mut solver, &mut world, 600);
    let report = solver.advance(&mut world, FRAME).unwrap();
    assert!(report.steps > 0);
    assert!(world.bodies.last().unwrap().pose.position.z > 0.1);
}
