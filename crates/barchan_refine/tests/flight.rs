//! Grains of guides that part in flight.

mod common;

use barchan_geometry::random::Stream;
use barchan_refine::measures::{Velocities, dispersal};
use barchan_refine::{GrainRefiner, Grains, Mode, RefineSettings};
use barchan_world::{Archive, Refiner, World};
use glam::{DVec3, Vec3};

use common::{STEP, settings, shift, world};

const RADIUS: f64 = 0.02;
const SIDE: usize = 6;
const PER_GUIDE: u32 = 40;

/// A block of guides that fly apart from their middle and at random, at the end of the frame in which they are thrown.
fn thrown() -> (World, Vec<Vec3>) {
    let mut world = world(9.81);
    let velocities: Vec<Vec3> = (0..SIDE * SIDE * SIDE)
        .map(|k| {
            let cell = DVec3::new((k % SIDE) as f64, (k / SIDE % SIDE) as f64, (k / SIDE / SIDE) as f64);
            let place = 1.92 * RADIUS * (cell - 0.5 * (SIDE - 1) as f64);
            let random = Stream::new(11, k as u64).unit_cube() - 0.5;
            let velocity = DVec3::new(1.0, 0.0, 3.0) + 4.0 * place + 0.4 * random;
            world.add_guide(place + velocity * STEP, velocity, RADIUS, 1.0, 0);
            velocity.as_vec3()
        })
        .collect();
    (world, velocities)
}

/// Lets gravity act on guides for a frame, and grains follow.
fn fall(world: &mut World, velocities: &mut [Vec3], refiner: &mut GrainRefiner) {
    for (i, velocity) in velocities.iter_mut().enumerate() {
        *velocity += (world.gravity * STEP).as_vec3();
        shift(world, i, *velocity * STEP as f32);
        world.guides.velocity[i] = *velocity;
    }
    refiner.advance(world, velocities, STEP);
}

/// Grains, by id, of which each guide is the nearest.
fn clouds(world: &World, grains: &Grains) -> Vec<Vec<u32>> {
    let mut clouds = vec![Vec::new(); world.guides.len()];
    for i in 0..grains.len() {
        let away = |k: &usize| world.guides.position[*k].distance_squared(grains.place(i));
        let nearest = (0..world.guides.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
        clouds[nearest.unwrap()].push(grains.id[i]);
    }
    clouds
}

fn flown(change: impl Fn(&mut RefineSettings), frames: u32) -> (World, Vec<Vec3>, GrainRefiner, Velocities) {
    let (mut world, mut velocities) = thrown();
    let mut settings = settings(Mode::Gated, PER_GUIDE);
    change(&mut settings);
    let mut refiner = GrainRefiner::new(settings, &world, &[]).unwrap();
    refiner.advance(&world, &velocities, STEP);
    let mut before = Velocities::of(&world, refiner.grains());
    for _ in 0..frames {
        before = Velocities::of(&world, refiner.grains());
        fall(&mut world, &mut velocities, &mut refiner);
    }
    (world, velocities, refiner, before)
}

#[test]
fn the_cloud_of_a_guide_flies_with_it_while_its_grains_disperse() {
    // Those that are nearest to a guide as it lets them go belong to it.
    let (start, _, first, _) = flown(|_| (), 1);
    let (world, velocities, refiner, before) = flown(|_| (), 31);
    let grains = refiner.grains();
    let rows = |grains: &Grains| {
        let mut rows = vec![0; grains.len()];
        (0..grains.len()).for_each(|i| rows[grains.id[i] as usize] = i);
        rows
    };
    let (row, first_row) = (rows(grains), rows(first.grains()));
    let (mut worst_way, mut worst_momentum) = (0.0f32, 0.0f32);
    let (mut way, mut momentum, mut count) = (0.0, 0.0, 0.0);
    for (i, cloud) in clouds(&start, first.grains()).iter().enumerate() {
        if cloud.len() < PER_GUIDE as usize / 4 {
            continue;
        }
        let mean = |of: &dyn Fn(usize) -> Vec3| {
            let all = cloud.iter().map(|&id| of(row[id as usize]));
            all.sum::<Vec3>() / cloud.len() as f32
        };
        let from = cloud.iter().map(|&id| first.grains().place(first_row[id as usize]));
        let from = from.sum::<Vec3>() / cloud.len() as f32;
        let gone = mean(&|k| grains.place(k)) - from;
        let rate = mean(&|k| grains.rate(k));
        let flown = world.guides.position[i] - start.guides.position[i];
        let off = gone.distance(flown) / flown.length();
        let wrong = rate.distance(velocities[i]) / velocities[i].length();
        (way, momentum, count) = (way + off, momentum + wrong, count + 1.0);
        (worst_way, worst_momentum) = (worst_way.max(off), worst_momentum.max(wrong));
    }
    // Neighbors that part at random take some of each other's grains along.
    assert!(
        count > 100.0 && way / count < 0.08 && momentum / count < 0.05,
        "{count} guides: {} of the way and {} of the momentum, at worst {worst_way} and {worst_momentum}",
        way / count,
        momentum / count
    );
    let found = dispersal(&world, grains, &before, STEP).unwrap();
    assert!(
        found.guides == velocities.len() && found.grains > grains.len() * 9 / 10,
        "{found:?}"
    );
    let (bound_world, _, bound, before) = flown(|settings| settings.flight = false, 30);
    let balls = dispersal(&bound_world, bound.grains(), &before, STEP).unwrap();
    assert!(found.near < 0.5 && balls.near > 0.8, "{found:?} {balls:?}");
    assert!(
        found.fano < 0.6 * balls.fano && found.pairs < 0.4 * balls.pairs,
        "{found:?} {balls:?}"
    );
}

#[test]
fn a_flight_that_was_saved_goes_on_bit_for_bit_on_any_number_of_threads() {
    let run = |threads: usize, resumes: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut world, mut velocities, mut refiner, _) = flown(|settings| settings.step = 0.5 * STEP, 2);
            if resumes {
                let mut archive = Archive::default();
                refiner.save(&mut archive);
                refiner = GrainRefiner::empty(refiner.settings().clone(), &world);
                refiner.load(&world, &archive).unwrap();
            }
            for _ in 0..10 {
                fall(&mut world, &mut velocities, &mut refiner);
            }
            refiner.grains().clone()
        })
    };
    let whole = run(1, false);
    assert!(run(1, true) == whole);
    assert!(run(2, false) == whole);
}

#[test]
fn grains_of_guides_that_fall_side_by_side_stay_where_they_are_among_them() {
    // A block that falls as one lets nobody go.
    let mut world = world(9.81);
    for k in 0..SIDE * SIDE * SIDE {
        let cell = DVec3::new((k % SIDE) as f64, (k / SIDE % SIDE) as f64, (k / SIDE / SIDE) as f64);
        world.add_guide(1.92 * RADIUS * cell, DVec3::ZERO, RADIUS, 1.0, 0);
    }
    let mut refiner = GrainRefiner::new(settings(Mode::Gated, PER_GUIDE), &world, &[]).unwrap();
    let mut velocities = vec![Vec3::ZERO; world.guides.len()];
    refiner.advance(&world, &velocities, STEP);
    let start = refiner.grains().clone();
    for _ in 0..20 {
        fall(&mut world, &mut velocities, &mut refiner);
    }
    let way = f64::from(-world.guides.position[0].z);
    let farther = barchan_refine::measures::creep(&start, refiner.grains(), way + 0.1 * RADIUS);
    let as_far = barchan_refine::measures::creep(&start, refiner.grains(), way - 0.1 * RADIUS);
    // Those around the block fell before it did.
    assert!(
        as_far.moved > 0.99 && farther.moved < 0.05,
        "{farther:?} {as_far:?} of {way}"
    );
}

#[test]
fn random_points_in_flight_have_the_figures_of_random_points() {
    let mut world = world(9.81);
    let mut grains = Grains::default();
    let cube = |seed: u64, k: u64| Stream::new(seed, k).unit_cube();
    (0..300).for_each(|k| world.add_guide(cube(1, k), DVec3::ZERO, RADIUS, 1.0, 0));
    (0..30_000).for_each(|k| grains.push(cube(2, k).as_vec3(), Vec3::ZERO, k as u32, 0));
    let before = Velocities::of(&world, &grains);
    let fall = (world.gravity * STEP).as_vec3();
    world.guides.velocity.fill(fall);
    (0..grains.len()).for_each(|i| grains.velocity[2][i] = fall.z);
    let found = dispersal(&world, &grains, &before, STEP).unwrap();
    assert_eq!((found.guides, found.grains), (300, 30_000));
    // Balls of two radii about 300 points take up a share of 1 - exp(-0.0101).
    let covered = 1.0 - (-300.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.04f64.powi(3)).exp();
    assert!((found.near / covered - 1.0).abs() < 0.1, "{found:?}, {covered}");
    assert!((found.pairs - 1.0).abs() < 0.1, "{found:?}");
    assert!((0.7..1.5).contains(&found.fano), "{found:?}");
}
