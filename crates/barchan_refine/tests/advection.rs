//! The pass over grains against a plain sum in f64, and what must not change its bits.

mod common;

use std::sync::Arc;

use barchan_geometry::sample::{Packing, Radii};
use barchan_geometry::shapes::{Cuboid, HalfSpace};
use barchan_refine::laws::{C1, C2, GATE, REACH};
use barchan_refine::{GrainRefiner, Level, Mode, RefineSettings, Seeding, Source};
use barchan_world::{Archive, Refiner, World};
use glam::{DVec3, Vec3};

use common::{STEP, body, guides_of, settings, shift, world};

/// Guides of mixed radii, as by [`guides_of`].
fn random_guides(world: &mut World, count: u32, side: f64, seed: u64) -> Vec<Vec3> {
    guides_of(world, [0.03, 0.05], count, side, seed)
}

/// Returns the next velocity of a grain at `p` that moves with `v` [m/s] in mode `gated`, by a plain sum over all guides.
fn expected(world: &World, velocities: &[Vec3], p: DVec3, v: DVec3) -> DVec3 {
    let (mut sum, mut largest, mut share, mut pull) = (0.0, 0.0f64, 0.0, DVec3::ZERO);
    for (i, velocity) in velocities.iter().enumerate() {
        let start = world.place(i) - velocity.as_dvec3() * STEP;
        let reach = f64::from(REACH * world.guides.radius[i]);
        let w = (1.0 - p.distance_squared(start) / (reach * reach)).max(0.0).powi(3);
        sum += w;
        largest = largest.max(w);
        share += w * w;
        pull += w * w * velocity.as_dvec3();
    }
    let sparse = largest <= f64::from(C1) || largest >= f64::from(C2) * sum;
    let filling = sum / (4.114_285_7 * 0.6);
    let t = ((f64::from(GATE.high) - filling) / f64::from(GATE.high - GATE.low)).clamp(0.0, 1.0);
    let open = if sparse { 1.0 - largest } else { 0.0 };
    let keep = open * t * t * (3.0 - 2.0 * t);
    let guided = if share > 0.0 { pull / share } else { DVec3::ZERO };
    (1.0 - keep) * guided + keep * (v + world.gravity * STEP)
}

#[test]
fn grains_move_as_a_plain_sum_over_all_guides_says() {
    // Guides of one radius are seen from the middle of a group, others as they stand.
    let (mixed, alike) = ([0.03, 0.05], [0.04, 0.04]);
    for (radii, density) in [(mixed, 400), (mixed, 30), (alike, 400), (alike, 30)] {
        let mut world = world(9.81);
        let velocities = guides_of(&mut world, radii, density, 0.5, u64::from(density));
        let plain = RefineSettings {
            spread: false,
            separate: false,
            ..settings(Mode::Gated, 9)
        };
        let mut refiner = GrainRefiner::new(plain, &world, &[]).unwrap();
        let before = refiner.grains().clone();
        refiner.advance(&world, &velocities, STEP);
        let after = refiner.grains();
        let mut place_of = vec![0; before.len()];
        for i in 0..before.len() {
            place_of[before.id[i] as usize] = i;
        }
        let mut near = 0;
        for i in 0..after.len() {
            let was = place_of[after.id[i] as usize];
            let p = before.place(was).as_dvec3();
            let expected = expected(&world, &velocities, p, before.rate(was).as_dvec3());
            let found = after.rate(i).as_dvec3();
            // Anchors of guides this fast lag by less than a fiftieth of a radius, and that only in the first step.
            let close = found.distance(expected) < 0.12;
            near += u32::from(close);
            let moved = after.place(i).as_dvec3() - p;
            assert!(moved.distance(found * STEP) < 1e-5, "{moved} at {found}");
        }
        // A rule that jumps may fall to the other side for grains at its edge.
        let share = f64::from(near) / after.len() as f64;
        assert!(share > 0.99, "{density} guides: only {share} of the grains");
    }
}

#[test]
fn all_instruction_sets_and_numbers_of_threads_give_the_same_bits() {
    let run = |radii: [f64; 2], level: Level, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = world(9.81);
            let velocities = guides_of(&mut world, radii, 1500, 0.8, 7);
            let mut refiner = GrainRefiner::new(settings(Mode::Gated, 30), &world, &[])
                .unwrap()
                .with_level(level);
            for _ in 0..4 {
                for (i, v) in velocities.iter().enumerate() {
                    shift(&mut world, i, *v * STEP as f32);
                }
                refiner.advance(&world, &velocities, STEP);
            }
            refiner.grains().clone()
        })
    };
    for radii in [[0.03, 0.05], [0.04, 0.04]] {
        let reference = run(radii, Level::Scalar, 1);
        for level in Level::available() {
            for threads in [1, 2, 5] {
                let found = run(radii, level, threads);
                assert!(found == reference, "{level:?} on {threads} threads, radii {radii:?}");
            }
        }
    }
}

#[test]
fn a_refiner_that_was_saved_goes_on_bit_for_bit() {
    let mut world = world(9.81);
    let velocities = random_guides(&mut world, 600, 0.6, 3);
    let settings = settings(Mode::Gated, 20);
    let mut whole = GrainRefiner::new(settings.clone(), &world, &[]).unwrap();
    whole.advance(&world, &velocities, STEP);
    let mut archive = Archive::default();
    whole.save(&mut archive);
    let mut resumed = GrainRefiner::empty(settings, &world);
    resumed.load(&world, &archive).unwrap();
    for refiner in [&mut whole, &mut resumed] {
        for _ in 0..3 {
            refiner.advance(&world, &velocities, STEP);
        }
    }
    assert!(whole.grains() == resumed.grains());
}

#[test]
fn what_a_refiner_leaves_out_since_all_rests_changes_no_bit() {
    // A bed that rests, of which a corner moves for a while and a guide is taken away; one refiner knows what rested, the other
    // forgets it after every frame.
    let mut world = world(9.81);
    for k in 0..2000 {
        let lattice = DVec3::new(f64::from(k % 20), f64::from(k / 20 % 10), f64::from(k / 200));
        world.add_guide(0.033 * lattice, DVec3::ZERO, 0.02, 1.0, 0);
    }
    let settings = settings(Mode::Gated, 20);
    let mut knowing = GrainRefiner::new(settings.clone(), &world, &[]).unwrap();
    let mut forgetting = GrainRefiner::new(settings, &world, &[]).unwrap();
    let mut rested = 0;
    for frame in 0..40 {
        let moves = |i: usize, world: &World| frame > 10 && frame < 20 && world.guides.position[i].x < 0.1;
        let velocities: Vec<Vec3> = (0..world.guides.len())
            .map(|i| {
                if moves(i, &world) {
                    Vec3::new(0.3, 0.1, 0.0)
                } else {
                    Vec3::ZERO
                }
            })
            .collect();
        for (i, velocity) in velocities.iter().enumerate() {
            shift(&mut world, i, *velocity * STEP as f32);
        }
        let mut velocities = velocities;
        if frame == 30 {
            let keep: Vec<bool> = (0..world.guides.len()).map(|i| i != 1100).collect();
            world.guides.retain(&keep);
            velocities.pop();
        }
        let before = knowing.grains().clone();
        knowing.advance(&world, &velocities, STEP);
        rested += u32::from(barchan_refine::measures::creep(&before, knowing.grains(), 0.0).moved < 0.5);
        let mut archive = Archive::default();
        forgetting.save(&mut archive);
        forgetting.load(&world, &archive).unwrap();
        forgetting.advance(&world, &velocities, STEP);
        assert!(knowing.grains() == forgetting.grains(), "frame {frame}");
    }
    assert!(rested > 30, "{rested}");
}

#[test]
fn a_guide_that_slips_takes_those_grains_along_of_which_it_has_a_good_part() {
    let mut world = world(9.81);
    for k in 0..1000 {
        let lattice = DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100));
        world.add_guide(0.033 * lattice, DVec3::ZERO, 0.02, 1.0, 0);
    }
    let lone = 555;
    let mut refiner = GrainRefiner::new(settings(Mode::Gated, 20), &world, &[]).unwrap();
    let mut velocities = vec![Vec3::ZERO; world.guides.len()];
    for _ in 0..3 {
        refiner.advance(&world, &velocities, STEP);
    }
    let before = refiner.grains().clone();
    let places: Vec<DVec3> = (0..world.guides.len()).map(|i| world.place(i)).collect();
    velocities[lone] = Vec3::new(1.0, 0.0, 0.0);
    let way = velocities[lone] * STEP as f32;
    shift(&mut world, lone, way);
    refiner.advance(&world, &velocities, STEP);
    let (mut left, mut taken) = (0, 0);
    for i in 0..before.len() {
        let p = before.place(i).as_dvec3();
        let pull = |place: &DVec3| (1.0 - p.distance_squared(*place) / 0.06f64.powi(2)).max(0.0).powi(6);
        let share = pull(&places[lone]) / places.iter().map(pull).sum::<f64>();
        let now = refiner.grains().id.iter().position(|id| *id == before.id[i]).unwrap();
        let moved = refiner.grains().place(now).distance(before.place(i));
        if share > 0.0 && share < 0.22 {
            assert_eq!(moved, 0.0, "{share}");
            left += 1;
        } else if share > 0.28 {
            assert!(moved > 0.2 * way.length(), "{share}: {moved} of {}", way.length());
            taken += 1;
        }
    }
    assert!(left > 100 && taken > 5, "{left}, {taken}");
}

#[test]
fn grains_that_repel_lie_farther_apart() {
    let run = |repel: bool| {
        let mut world = world(9.81);
        for k in 0..1000 {
            let lattice = DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100));
            world.add_guide(0.033 * lattice, DVec3::X, 0.02, 1.0, 0);
        }
        let settings = RefineSettings {
            repel,
            ..settings(Mode::Gated, 15)
        };
        let mut refiner = GrainRefiner::new(settings, &world, &[]).unwrap();
        let velocities = vec![Vec3::X; world.guides.len()];
        for _ in 0..30 {
            (0..world.guides.len()).for_each(|i| shift(&mut world, i, Vec3::X * STEP as f32));
            refiner.advance(&world, &velocities, STEP);
        }
        let places: Vec<Vec3> = (0..refiner.grains().len()).map(|i| refiner.grains().place(i)).collect();
        let nearest = barchan_refine::measures::nearest_distances(&places, 0.05);
        let near: Vec<f32> = nearest.into_iter().filter(|d| d.is_finite()).collect();
        near.iter().sum::<f32>() / near.len() as f32
    };
    let (alone, repelled) = (run(false), run(true));
    assert!(repelled > 1.3 * alone, "{repelled} m, without {alone} m");
}

#[test]
fn grains_far_from_guides_fall_freely() {
    let mut world = world(9.81);
    world.add_guide(DVec3::ZERO, DVec3::ZERO, 0.02, 1.0, 0);
    let mut refiner = GrainRefiner::new(settings(Mode::Gated, 14), &world, &[]).unwrap();
    world.guides.position[0] = Vec3::splat(50.0);
    let start = refiner.grains().clone();
    for _ in 0..30 {
        refiner.advance(&world, &[Vec3::ZERO], STEP);
    }
    let grains = refiner.grains();
    for i in 0..grains.len() {
        assert!((grains.rate(i).z + 9.81 * 0.5).abs() < 1e-3);
        let was = (0..start.len()).find(|&k| start.id[k] == grains.id[i]).unwrap();
        // Steps of h fall g h² n (n + 1) / 2.
        let fallen = 9.81 * STEP * STEP * 30.0 * 31.0 / 2.0;
        assert!((f64::from(start.place(was).z - grains.place(i).z) - fallen).abs() < 1e-3);
    }
}

#[test]
fn a_block_that_moves_as_one_keeps_every_grain_in_its_place() {
    // Far from the origin, where single precision is coarse.
    let mut world = world(9.81);
    world.origin = DVec3::new(1000.0, -2000.0, 30.0);
    let velocity = DVec3::new(0.7, -0.4, 0.3);
    for k in 0..1000 {
        let lattice = DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), f64::from(k / 100));
        world.add_guide(world.origin + 0.033 * lattice, velocity, 0.02, 1.0, 0);
    }
    let mut refiner = GrainRefiner::new(settings(Mode::Gated, 30), &world, &[]).unwrap();
    let start = refiner.grains().clone();
    let velocities = vec![velocity.as_vec3(); world.guides.len()];
    for _ in 0..60 {
        for i in 0..world.guides.len() {
            shift(&mut world, i, (velocity * STEP).as_vec3());
        }
        refiner.advance(&world, &velocities, STEP);
    }
    let grains = refiner.grains();
    let inner = |p: Vec3| p.min_element() > 0.06 && p.max_element() < 0.24;
    let mut place_of = vec![0; start.len()];
    (0..start.len()).for_each(|i| place_of[start.id[i] as usize] = i);
    let (mut seen, mut worst) = (0, 0.0f32);
    for i in 0..grains.len() {
        let was = start.place(place_of[grains.id[i] as usize]);
        if inner(was) {
            seen += 1;
            worst = worst.max((grains.place(i) - was - velocity.as_vec3()).length());
        }
    }
    assert!(seen > 3000, "{seen}");
    // The rope of a fast guide is a fiftieth of its radius.
    assert!(worst < 0.02 * 0.02 + 1e-4, "{worst}");
}

#[test]
fn grains_land_on_the_ground_and_rest_there_and_a_fast_wall_takes_them_along() {
    let mut world = world(9.81);
    let ground = Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap());
    body(&mut world, ground.clone(), barchan_world::Boundary::Exact(ground));
    let wall = Arc::new(Cuboid::new(DVec3::new(0.02, 2.0, 2.0)).unwrap());
    body(&mut world, wall.clone(), barchan_world::Boundary::Exact(wall));
    world.bodies[1].pose.position = DVec3::new(-0.5, 0.0, 0.0);
    world.add_guide(DVec3::new(0.0, 0.0, 0.2), DVec3::ZERO, 0.05, 1.0, 0);
    let mut refiner = GrainRefiner::new(settings(Mode::Gated, 200), &world, &[]).unwrap();
    // The guide goes away, the grains fall.
    world.guides.position[0] = Vec3::splat(50.0);
    for _ in 0..120 {
        refiner.advance(&world, &[Vec3::ZERO], STEP);
    }
    let rested = refiner.grains().clone();
    for i in 0..rested.len() {
        assert!((rested.place(i).z - 0.01).abs() < 1e-3, "{}", rested.place(i));
    }
    refiner.advance(&world, &[Vec3::ZERO], STEP);
    let creep = barchan_refine::measures::creep(&rested, refiner.grains(), 1e-5);
    assert_eq!(creep.moved, 0.0);
    // Two meters a second: farther in a step than the wall is thick.
    for _ in 0..40 {
        world.bodies[1].pose.position.x += 2.0 * STEP;
        refiner.advance(&world, &[Vec3::ZERO], STEP);
        let at = world.bodies[1].pose.position.x as f32;
        for i in 0..refiner.grains().len() {
            let p = refiner.grains().place(i);
            assert!(p.x > at + 0.01, "a grain at {p} is behind the wall at {at}");
        }
    }
}

#[test]
fn fills_are_sampled_with_the_grains_radius_and_ids_tell_radii() {
    let world = world(9.81);
    let radii = Radii::range(0.008, 0.016).unwrap();
    let source = Source::Shape {
        shape: Arc::new(Cuboid::new(DVec3::splat(0.4)).unwrap()),
        packing: Packing::Random,
        material: 0,
        velocity: Vec3::ZERO,
    };
    let refiner = GrainRefiner::new(RefineSettings::new(radii.clone()), &world, &[source]).unwrap();
    let grains = refiner.grains();
    assert!(grains.len() > 1000);
    let mut overlapping = 0;
    for i in 0..grains.len() {
        let r = refiner.radius(grains.id[i]);
        assert!((radii.min()..=radii.max()).contains(&r));
        for j in 0..i {
            let gap = f64::from(grains.place(i).distance(grains.place(j))) - r - refiner.radius(grains.id[j]);
            overlapping += u32::from(gap < -0.002);
        }
    }
    // Radii follow from ranks, which match those of the sample but for statistics.
    assert!(
        overlapping < grains.len() as u32 / 100,
        "{overlapping} of {}",
        grains.len()
    );
}

#[test]
fn guides_without_grains_are_no_grains_forever() {
    let mut world = world(9.81);
    let velocities = random_guides(&mut world, 200, 0.5, 3);
    // Larger than any guide: none fits.
    let plain = RefineSettings {
        seeding: Seeding::Support,
        ..RefineSettings::new(Radii::one(0.5).unwrap())
    };
    let all = Source::Guides(0..world.next_id);
    let mut refiner = GrainRefiner::new(plain, &world, &[all]).unwrap();
    for _ in 0..5 {
        refiner.advance(&world, &velocities, STEP);
        (0..velocities.len()).for_each(|i| shift(&mut world, i, velocities[i] * STEP as f32));
    }
    assert_eq!(refiner.len(), 0);
}
