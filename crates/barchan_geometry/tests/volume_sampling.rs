//! Volume samplers: density, distances, disorder, sizes, reproducibility.

use std::f64::consts::PI;
use std::sync::Arc;

use barchan_geometry::mesh::{MeshSolid, primitives};
use barchan_geometry::sample::{
    Packing, Particles, Periods, Radii, SampleError, VolumeSettings, min_distance, sample_periodic, sample_volume,
};
use barchan_geometry::shapes::{Cuboid, HalfSpace, Sphere, Subtract, Torus, Transformed};
use barchan_geometry::{Aabb, Shape};
use glam::DVec3;

const PACKINGS: [Packing; 3] = [Packing::Dense, Packing::Random, Packing::Lattice];

fn settings(packing: Packing, radii: Radii) -> VolumeSettings {
    VolumeSettings {
        packing,
        radii,
        ..VolumeSettings::new(1.0).unwrap()
    }
}

fn sample(shape: &dyn Shape, packing: Packing, radii: &Radii) -> Particles {
    sample_volume(shape, &settings(packing, radii.clone()), &|_| ()).unwrap()
}

fn cube(side: f64) -> Cuboid {
    Cuboid::new(DVec3::splat(side)).unwrap()
}

/// Returns the share of the cube of half side `half` [m] that particles with centers in it fill [-].
fn fraction_within(particles: &Particles, half: f64) -> f64 {
    let inside = |p: &DVec3| p.abs().max_element() < half;
    let cubes = particles
        .positions
        .iter()
        .zip(&particles.radii)
        .filter(|(p, _)| inside(p))
        .map(|(_, r)| r.powi(3));
    4.0 / 3.0 * PI * cubes.sum::<f64>() / (2.0 * half).powi(3)
}

fn assert_inside_and_apart(shape: &dyn Shape, particles: &Particles, least: f64) {
    let closest = min_distance(&particles.positions, &particles.radii).unwrap();
    assert!(closest >= least, "closest pair at {closest} of touching");
    for (&p, &r) in particles.positions.iter().zip(&particles.radii) {
        assert!(shape.distance(p) <= -r * (1.0 - 1e-9), "particle at {p} sticks out");
    }
}

/// Returns the smallest allowed distance: one percent of a radius is half a percent of touching.
fn least_distance(packing: Packing) -> f64 {
    if packing == Packing::Dense { 0.995 } else { 1.0 }
}

#[test]
fn each_packing_reaches_its_fraction_without_overlap() {
    let shape = cube(1.0);
    let radii = Radii::one(0.015).unwrap();
    for (packing, low, high) in [
        (Packing::Dense, 0.59, 0.64),
        (Packing::Random, 0.32, 0.36),
        (Packing::Lattice, 0.57, 0.60),
    ] {
        let particles = sample(&shape, packing, &radii);
        assert_inside_and_apart(&shape, &particles, least_distance(packing));
        let fraction = fraction_within(&particles, 0.4);
        assert!((low..high).contains(&fraction), "{packing:?}: {fraction}");
    }
}

#[test]
fn dense_is_dense_up_to_the_walls_and_in_a_mesh() {
    let ball = Sphere::new(0.5).unwrap();
    let torus = MeshSolid::new(primitives::torus(0.5, 0.2, 120, 60));
    let torus_volume = 2.0 * PI * PI * 0.5 * 0.2 * 0.2;
    let parts: Vec<Arc<dyn Shape>> = vec![Arc::new(cube(0.8)), Arc::new(Sphere::new(0.3).unwrap())];
    let castle = Subtract::new(parts, 0.0).unwrap();
    let cases: [(&dyn Shape, f64); 3] = [
        (&ball, PI / 6.0),
        (&torus, torus_volume),
        (&castle, 0.512 - 4.0 / 3.0 * PI * 0.027),
    ];
    for (shape, volume) in cases {
        let particles = sample(shape, Packing::Dense, &Radii::one(0.012).unwrap());
        assert_inside_and_apart(shape, &particles, 0.995);
        let fraction = particles.volume() / volume;
        // 16 to 40 radii across: a tenth of the room lies within half a radius of a wall.
        assert!(fraction > 0.53, "{fraction}");
    }
}

/// Returns the number of pairs at 1.38 to 1.45 diameters relative to the mean of pairs from 1.25 to 1.6 diameters at
/// the same density [-].
fn pairs_at_root_two(particles: &Particles, diameter: f64) -> f64 {
    let inner: Vec<DVec3> = particles
        .positions
        .iter()
        .copied()
        .filter(|p| p.abs().max_element() < 0.35)
        .collect();
    let core: Vec<DVec3> = inner.iter().copied().filter(|p| p.abs().max_element() < 0.3).collect();
    let count = |low: f64, high: f64| {
        let pairs = core
            .iter()
            .flat_map(|a| inner.iter().map(move |b| a.distance(*b) / diameter));
        pairs.filter(|d| (low..high).contains(d)).count() as f64 / (high.powi(3) - low.powi(3))
    };
    count(1.38, 1.45) / count(1.25, 1.6)
}

#[test]
fn dense_has_no_lattice_peak_at_root_two_diameters_where_lattice_has() {
    let radius = 0.02;
    let radii = Radii::one(radius).unwrap();
    let dense = pairs_at_root_two(&sample(&cube(0.8), Packing::Dense, &radii), 2.0 * radius);
    let lattice = pairs_at_root_two(&sample(&cube(0.8), Packing::Lattice, &radii), 2.0 * radius * 1.08);
    assert!(dense < 1.15, "dense {dense}");
    assert!(lattice > 1.5, "lattice {lattice}");
}

#[test]
fn all_packings_keep_the_distribution_of_radii() {
    let distributions = [
        Radii::range(0.01, 0.02).unwrap(),
        Radii::range(0.008, 0.024).unwrap(),
        Radii::list(&[(0.03, 1.0), (0.015, 4.0), (0.01, 15.0)]).unwrap(),
    ];
    for packing in PACKINGS {
        for radii in &distributions {
            let shape = cube(0.8);
            let particles = sample(&shape, packing, radii);
            assert_inside_and_apart(&shape, &particles, 0.99);
            // Largest difference between the requested and the sampled distribution (Kolmogorov-Smirnov), except near
            // the surface, where large particles have less room.
            let mut found: Vec<f64> = particles.radii.clone();
            found.sort_by(f64::total_cmp);
            let gap = (1..20)
                .map(|k| radii.quantile(f64::from(k) / 20.0).next_up())
                .map(|r| {
                    let share = found.partition_point(|&f| f < r) as f64 / found.len() as f64;
                    (share - radii.share_below(r)).abs()
                })
                .fold(0.0, f64::max);
            assert!(gap < 0.06, "{packing:?} {radii:?}: {gap}");
        }
    }
}

#[test]
fn mixed_radii_are_as_dense_as_one() {
    let radii = Radii::range(0.01, 0.02).unwrap();
    let dense = fraction_within(&sample(&cube(0.8), Packing::Dense, &radii), 0.3);
    assert!(dense > 0.58, "{dense}");
    let random = fraction_within(&sample(&cube(0.8), Packing::Random, &radii), 0.3);
    assert!(random > 0.30, "{random}");
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let torus = Torus::new(0.3, 0.12).unwrap();
    for packing in PACKINGS {
        for radii in [Radii::one(0.012).unwrap(), Radii::range(0.008, 0.02).unwrap()] {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sample(&torus, packing, &radii))
            };
            let one = on(1);
            assert_eq!(one, on(2), "{packing:?}");
            assert_eq!(one, on(3), "{packing:?}");
            let other = VolumeSettings {
                seed: 2,
                ..settings(packing, radii.clone())
            };
            assert_ne!(one, sample_volume(&torus, &other, &|_| ()).unwrap(), "{packing:?}");
        }
    }
}

#[test]
fn a_shape_a_kilometer_away_is_filled_alike() {
    let radii = Radii::one(0.02).unwrap();
    let here: Arc<dyn Shape> = Arc::new(Sphere::new(0.3).unwrap());
    let there = Transformed::moved(here.clone(), DVec3::new(1000.0, -2000.0, 500.0)).unwrap();
    for packing in PACKINGS {
        let near = sample(&*here, packing, &radii);
        let far = sample(&there, packing, &radii);
        assert_inside_and_apart(&there, &far, least_distance(packing));
        let difference = near.len().abs_diff(far.len()) as f64 / near.len() as f64;
        assert!(difference < 0.01, "{packing:?}: {} and {}", near.len(), far.len());
    }
}

#[test]
fn one_particle_fits_into_its_own_sphere_and_none_into_a_smaller_one() {
    let shape = Sphere::new(0.1).unwrap();
    for packing in PACKINGS {
        let found = sample_volume(&shape, &settings(packing, Radii::one(0.2).unwrap()), &|_| ());
        assert!(
            matches!(found, Err(SampleError::NoRoom { .. })),
            "{packing:?}: {found:?}"
        );
        // Any packing must find such a narrow position.
        for radius in [0.05, 0.07, 0.09, 0.1] {
            let found = sample_volume(&shape, &settings(packing, Radii::one(radius).unwrap()), &|_| ()).unwrap();
            let is_inside = |p: &DVec3| shape.distance(*p) <= -radius * (1.0 - 1e-6);
            assert!(
                !found.is_empty() && found.positions.iter().all(is_inside),
                "{packing:?} {radius}: {found:?}"
            );
        }
    }
}

#[test]
fn a_solid_without_end_is_refused() {
    let floor = HalfSpace::new(DVec3::Z, 0.0).unwrap();
    let found = sample_volume(&floor, &VolumeSettings::new(0.1).unwrap(), &|_| ());
    assert_eq!(found, Err(SampleError::Unbounded));
}

#[test]
fn more_particles_than_memory_are_refused_before_any_is_made() {
    for packing in PACKINGS {
        for radius in [1e-5, 1e-12, 1e-300] {
            let found = sample_volume(&cube(1.0), &settings(packing, Radii::one(radius).unwrap()), &|_| ());
            let Err(SampleError::TooMany { count, bytes, .. }) = found else {
                panic!("{packing:?} {radius}: {found:?}");
            };
            assert!(count > 0.2 / radius.powi(3) / 5.0 || count.is_infinite(), "{count}");
            assert!(bytes >= count, "{bytes}");
        }
    }
}

/// An empty solid.
#[derive(Debug)]
struct Nothing;

impl Shape for Nothing {
    fn distance(&self, _: DVec3) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self) -> Aabb {
        Aabb::EMPTY
    }
}

#[test]
fn an_empty_solid_has_no_room() {
    for packing in PACKINGS {
        let found = sample_volume(&Nothing, &settings(packing, Radii::one(0.2).unwrap()), &|_| ());
        assert!(
            matches!(found, Err(SampleError::NoRoom { .. })),
            "{packing:?}: {found:?}"
        );
    }
}

/// Returns the smallest distance of two centers relative to the sum of their radii [-], including images through the
/// faces of `periods`.
fn min_periodic_distance(particles: &Particles, periods: Periods) -> f64 {
    let mut all = particles.clone();
    let margin = 4.0 * all.radii.iter().copied().fold(0.0, f64::max);
    for (axis, range) in periods.iter().enumerate() {
        let Some([low, high]) = range else { continue };
        for k in 0..all.len() {
            let (position, radius) = (all.positions[k], all.radii[k]);
            for (is_near, shift) in [
                (position[axis] < low + margin, high - low),
                (position[axis] > high - margin, low - high),
            ] {
                if is_near {
                    let mut image = position;
                    image[axis] += shift;
                    all.positions.push(image);
                    all.radii.push(radius);
                }
            }
        }
    }
    min_distance(&all.positions, &all.radii).unwrap()
}

#[test]
fn a_whole_periodic_box_is_as_dense_as_the_bulk_and_nothing_overlaps_through_its_faces() {
    let shape = cube(0.6);
    let range = Some([-0.3, 0.3]);
    for (radii, tolerance) in [
        (Radii::one(0.02).unwrap(), 0.02),
        (Radii::range(0.012, 0.02).unwrap(), 0.02),
    ] {
        for packing in PACKINGS {
            let settings = settings(packing, radii.clone());
            // As in the middle of a much larger shape.
            let bulk = sample_volume(&cube(0.9), &settings, &|_| ()).unwrap();
            let wanted = match packing {
                // Layers of a lattice are either within or not.
                Packing::Lattice => 0.588 * radii.mean_volume() / (4.0 / 3.0 * PI * radii.max().powi(3)),
                _ => fraction_within(&bulk, 0.3),
            };
            for periods in [[range; 3], [range, None, None]] {
                let found = sample_periodic(&shape, &settings, periods, &|_| ()).unwrap();
                let closest = min_periodic_distance(&found, periods);
                assert!(closest >= 0.995, "{packing:?}: closest pair at {closest} of touching");
                for &p in &found.positions {
                    assert!(p.abs().max_element() <= 0.3, "{packing:?}: {p}");
                }
                // A lattice has as many layers as fit.
                let tolerance = if packing == Packing::Lattice { 0.08 } else { tolerance };
                let fraction = found.volume() / 0.6f64.powi(3);
                if periods == [range; 3] {
                    let off = fraction / wanted - 1.0;
                    assert!(off.abs() < tolerance, "{packing:?}: {fraction} instead of {wanted}");
                } else {
                    let open = sample_volume(&shape, &settings, &|_| ()).unwrap();
                    assert!(found.volume() > 1.01 * open.volume(), "{packing:?}");
                }
            }
        }
    }
}

#[test]
fn a_shape_that_leaves_a_periodic_range_is_cut_to_it_and_one_that_misses_a_face_is_not_packed_through() {
    let settings = settings(Packing::Dense, Radii::one(0.02).unwrap());
    let periods = [Some([-0.2, 0.2]), None, None];
    let long = Cuboid::new(DVec3::new(0.7, 0.3, 0.3)).unwrap();
    let found = sample_periodic(&long, &settings, periods, &|_| ()).unwrap();
    assert!(found.positions.iter().all(|p| (-0.2..0.2).contains(&p.x)));
    assert!(min_periodic_distance(&found, periods) >= 0.995);
    let short = Cuboid::new(DVec3::new(0.39, 0.3, 0.3)).unwrap();
    let found = sample_periodic(&short, &settings, periods, &|_| ()).unwrap();
    assert_eq!(found, sample_volume(&short, &settings, &|_| ()).unwrap());
}
