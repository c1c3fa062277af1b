mod solids;

use std::sync::Mutex;

use glam::{DVec2, DVec3};
use solids::{Cuboid, Torus};

use super::*;
use crate::Aabb;
use crate::random::Stream;

const RADIUS: f64 = 0.01;
/// Half the sides of the box and the plates, and the torus' major radius [m].
const SIZE: f64 = 8.0 * RADIUS;

/// A solid, its triangles, and the surface to be covered as points a tenth of a radius apart.
struct Case {
    name: String,
    shape: Box<dyn Shape>,
    mesh: TriMesh,
    offset: f64,
    target: Vec<DVec3>,
}

impl Case {
    fn settings(&self) -> SurfaceSettings {
        SurfaceSettings {
            offset: self.offset,
            ..SurfaceSettings::new(RADIUS)
        }
    }

    fn sample(&self) -> SurfaceSample {
        sample_surface(&self.mesh, &*self.shape, &self.settings(), &|_| {}).expect("valid settings")
    }
}

fn cuboid(half: DVec3, offset: f64) -> Case {
    let shape = Cuboid { half };
    // A box too thin for the offset shrinks to a rectangle.
    let target = half + offset.max(-half.min_element());
    Case {
        name: format!("box {half}, offset {offset}"),
        shape: Box::new(shape),
        mesh: shape.mesh(),
        offset,
        target: faces(target),
    }
}

/// Returns points on the faces of a box with sharp edges.
fn faces(half: DVec3) -> Vec<DVec3> {
    let ticks = |h: f64| {
        let n = (2.0 * h / (0.1 * RADIUS)).ceil() as i32;
        (0..=n).map(move |k| {
            if n == 0 {
                0.0
            } else {
                h * (2.0 * f64::from(k) / f64::from(n) - 1.0)
            }
        })
    };
    (0..3)
        .flat_map(|axis| {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            ticks(half[u]).flat_map(move |a| {
                ticks(half[v]).flat_map(move |b| {
                    [-1.0, 1.0].map(|side| {
                        let mut p = DVec3::ZERO;
                        (p[axis], p[u], p[v]) = (side * half[axis], a, b);
                        p
                    })
                })
            })
        })
        .collect()
}

fn torus(offset: f64) -> Case {
    let shape = Torus {
        major: SIZE,
        minor: 0.4 * SIZE,
    };
    let moved = Torus {
        minor: shape.minor + offset,
        ..shape
    };
    Case {
        name: format!("torus, offset {offset}"),
        shape: Box::new(shape),
        mesh: shape.mesh(120),
        offset,
        target: moved.mesh(600).vertices,
    }
}

fn plate(thickness: f64, offset: f64) -> Case {
    cuboid(DVec3::new(SIZE, SIZE, 0.5 * thickness), offset)
}

fn cases() -> Vec<Case> {
    [0.0, -RADIUS]
        .into_iter()
        .flat_map(|offset| {
            [
                cuboid(DVec3::splat(SIZE), offset),
                torus(offset),
                plate(0.5 * RADIUS, offset),
                plate(1.5 * RADIUS, offset),
            ]
        })
        .chain([torus(RADIUS)])
        .collect()
}

fn nearest(points: &[DVec3], p: DVec3) -> f64 {
    let squared = points
        .iter()
        .map(|q| q.distance_squared(p))
        .fold(f64::INFINITY, f64::min);
    squared.sqrt()
}

/// Returns mean [m] and coefficient of variation [-] of the distance to the nearest other sample.
fn spread(points: &[DVec3]) -> (f64, f64) {
    let distances: Vec<f64> = (0..points.len())
        .map(|i| nearest(&points[..i], points[i]).min(nearest(&points[i + 1..], points[i])))
        .collect();
    let count = distances.len() as f64;
    let mean = distances.iter().sum::<f64>() / count;
    let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt() / mean)
}

#[test]
fn no_point_of_the_covered_surface_is_farther_than_the_limit_from_a_sample() {
    for case in cases() {
        let sample = case.sample();
        let limit = case.settings().limit();
        let gap = case
            .target
            .iter()
            .map(|&p| nearest(&sample.positions, p))
            .fold(0.0, f64::max);
        assert!(gap <= limit, "{}: {} r", case.name, gap / RADIUS);
        // Probed points are a few tenths of a radius apart.
        assert!(gap <= sample.gap + 0.2 * RADIUS && sample.gap <= limit, "{}", case.name);
    }
}

#[test]
fn rounded_edges_of_an_outer_offset_are_covered() {
    let case = cuboid(DVec3::splat(SIZE), RADIUS);
    let sample = case.sample();
    let mut stream = Stream::new(5, 0);
    for p in faces(DVec3::splat(SIZE)).into_iter().step_by(7) {
        let out = (2.0 * stream.unit_cube() - 1.0).normalize();
        let q = p + RADIUS * out;
        let q = q - (case.shape.distance(q) - RADIUS) * case.shape.normal(q);
        assert!(nearest(&sample.positions, q) <= case.settings().limit(), "{q}");
    }
}

#[test]
fn a_sphere_of_the_particles_radius_touches_the_cover_on_every_straight_way_through() {
    for case in cases() {
        let sample = case.sample();
        let mut stream = Stream::new(9, 0);
        for _ in 0..3000 {
            let through = case.target[(stream.unit() * case.target.len() as f64) as usize];
            let direction = (2.0 * stream.unit_cube() - 1.0).normalize();
            // Just off the probed point, so that no test point is hit exactly.
            let from = through + 0.05 * RADIUS * stream.unit_cube();
            let miss = |p: &DVec3| {
                let along = (*p - from).dot(direction).clamp(-2.0 * RADIUS, 2.0 * RADIUS);
                p.distance(from + along * direction)
            };
            let closest = sample.positions.iter().map(miss).fold(f64::INFINITY, f64::min);
            assert!(
                closest < 2.0 * RADIUS,
                "{}: passes at {from} along {direction}",
                case.name
            );
        }
    }
}

#[test]
fn samples_lie_on_the_level_or_in_the_middle_of_what_is_too_thin_for_it() {
    for case in cases() {
        let bounds = case.shape.bounds();
        let thin = bounds.size().min_element() < -2.0 * case.offset;
        let level = if thin {
            -0.5 * bounds.size().min_element()
        } else {
            case.offset
        };
        for p in case.sample().positions {
            assert!(
                (case.shape.distance(p) - level).abs() < 0.02 * RADIUS,
                "{}: {p}",
                case.name
            );
        }
    }
}

#[test]
fn both_sides_of_a_thin_plate_are_covered_on_their_own() {
    let thickness = 0.5 * RADIUS;
    let case = plate(thickness, 0.0);
    let sample = case.sample();
    let side = |up: f64| -> Vec<DVec3> {
        let on = |(p, n): (&DVec3, &DVec3)| (n.z * up > 0.9).then_some(*p);
        sample.positions.iter().zip(&sample.normals).filter_map(on).collect()
    };
    let (above, below) = (side(1.0), side(-1.0));
    let sides = DVec2::splat(2.0 * SIZE).element_product();
    for one in [&above, &below] {
        let density = one.len() as f64 * spacing_area() / sides;
        // Half, if both sides shared samples.
        assert!(density > 0.65, "{density}");
    }
}

/// Returns the area [m²] per floater in a hexagonal lattice.
fn spacing_area() -> f64 {
    0.5 * 3f64.sqrt() * floaters::hexagonal_distance(1.6 * RADIUS).powi(2)
}

#[test]
fn floaters_are_more_even_than_poisson_disks_and_as_dense_as_the_hexagonal_lattice() {
    for case in [torus(0.0), torus(-RADIUS), cuboid(DVec3::splat(SIZE), 0.0)] {
        let floaters = case.sample();
        let disks = SurfaceSettings {
            relax: false,
            ..case.settings()
        };
        let disks = sample_surface(&case.mesh, &*case.shape, &disks, &|_| {}).expect("valid settings");
        let ((near, before), (far, after)) = (spread(&disks.positions), spread(&floaters.positions));
        assert!(after < 0.85 * before, "{}: {before} to {after}", case.name);
        assert!(far > 1.1 * near, "{}: {near} to {far}", case.name);
    }
    let case = torus(-RADIUS);
    // Pappus: the length of the circle times that of the tube's section.
    let area = 4.0 * std::f64::consts::PI.powi(2) * SIZE * (0.4 * SIZE - RADIUS);
    let density = case.sample().positions.len() as f64 * spacing_area() / area;
    assert!((density - 1.0).abs() < 0.1, "{density}");
}

#[test]
fn poisson_disks_keep_their_distance_within_the_resolution_of_the_hole_search() {
    let case = torus(0.0);
    let settings = SurfaceSettings {
        relax: false,
        ..case.settings()
    };
    let sample = sample_surface(&case.mesh, &*case.shape, &settings, &|_| {}).expect("valid settings");
    for (i, p) in sample.positions.iter().enumerate() {
        // Settling on the shape moves samples by less than the patches differ from it.
        assert!(nearest(&sample.positions[..i], *p) > 0.98 * 1.6 * RADIUS);
    }
}

#[test]
fn the_number_of_threads_does_not_matter_but_the_seed_does() {
    let case = plate(1.5 * RADIUS, -RADIUS);
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let settings = SurfaceSettings {
            seed,
            ..case.settings()
        };
        pool.install(|| sample_surface(&case.mesh, &*case.shape, &settings, &|_| {}).expect("valid settings"))
    };
    let one = run(1, 0);
    assert_eq!(one, run(2, 0));
    assert_eq!(one, run(3, 0));
    assert_ne!(one, run(1, 1));
}

#[test]
fn geodesic_distance_on_a_sphere_is_the_great_circle() {
    let mut stream = Stream::new(1, 0);
    let mut direction = || (2.0 * stream.unit_cube() - 1.0).normalize();
    for _ in 0..100 {
        let (a, b) = (direction(), direction());
        let radius = 3.0;
        let great_circle = radius * a.angle_between(b);
        approx::assert_relative_eq!(
            geodesic_distance(radius * a, radius * b, a, b),
            great_circle,
            max_relative = 1e-9
        );
    }
    // In a plane it is the straight line.
    let flat = geodesic_distance(DVec3::ZERO, DVec3::new(3.0, 4.0, 0.0), DVec3::Z, DVec3::Z);
    approx::assert_relative_eq!(flat, 5.0, max_relative = 1e-12);
}

#[test]
fn a_solid_smaller_than_a_particle_gets_one_inside() {
    for offset in [0.0, -RADIUS] {
        let shape = Cuboid {
            half: DVec3::splat(0.1 * RADIUS),
        };
        let settings = SurfaceSettings {
            offset,
            ..SurfaceSettings::new(RADIUS)
        };
        let sample = sample_surface(&shape.mesh(), &shape, &settings, &|_| {}).expect("valid settings");
        assert!((1..=6).contains(&sample.positions.len()), "{}", sample.positions.len());
        assert!(sample.positions.iter().all(|&p| shape.distance(p) <= 0.02 * RADIUS));
    }
}

/// Two plates with a slit between them.
#[derive(Debug)]
struct Pair {
    lower: Cuboid,
    rise: f64,
}

impl Shape for Pair {
    fn distance(&self, p: DVec3) -> f64 {
        self.lower
            .distance(p)
            .min(self.lower.distance(p - self.rise * DVec3::Z))
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let upper = p - self.rise * DVec3::Z;
        let q = if self.lower.distance(p) < self.lower.distance(upper) {
            p
        } else {
            upper
        };
        self.lower.normal(q)
    }

    fn bounds(&self) -> Aabb {
        let lower = self.lower.bounds();
        Aabb::new(lower.min, lower.max + self.rise * DVec3::Z)
    }
}

#[test]
fn an_inset_never_crosses_a_slit_into_another_part() {
    let pair = Pair {
        lower: Cuboid {
            half: DVec3::new(1.0, 1.0, 0.1),
        },
        rise: 0.25,
    };
    let level = Level {
        shape: &pair,
        level: -1.0,
        radius: 1.0,
    };
    for (start, middle) in [(0.35, 0.25), (0.15, 0.25), (0.1, 0.0), (-0.1, 0.0)] {
        let spot = level.settle(DVec3::new(0.2, 0.3, start));
        assert!(
            spot.middle && (spot.position.z - middle).abs() < 0.01,
            "{start} to {spot:?}"
        );
    }
}

#[test]
fn an_inset_reaches_the_level_from_edges_and_corners_of_a_box() {
    let shape = Cuboid {
        half: DVec3::splat(4.0),
    };
    let level = Level {
        shape: &shape,
        level: -1.0,
        radius: 1.0,
    };
    for start in [[4.0, 3.9, 0.3], [3.2, 4.0, 3.7], [3.999, 3.998, 4.0]] {
        let spot = level.settle(start.into());
        assert!(
            !spot.middle && (shape.distance(spot.position) + 1.0).abs() < 0.01,
            "{spot:?}"
        );
    }
}

#[test]
fn progress_grows_to_one() {
    let seen = Mutex::new(Vec::new());
    let case = torus(0.0);
    let note = |done| seen.lock().expect("no panic").push(done);
    sample_surface(&case.mesh, &*case.shape, &case.settings(), &note).expect("valid settings");
    let seen = seen.into_inner().expect("no panic");
    assert!(seen.is_sorted() && seen.last() == Some(&1.0), "{seen:?}");
}

#[test]
fn impossible_settings_are_refused_with_their_value() {
    let case = plate(RADIUS, 0.0);
    let refused = |mesh: &TriMesh, settings: SurfaceSettings| {
        sample_surface(mesh, &*case.shape, &settings, &|_| {}).expect_err("must be refused")
    };
    let good = SurfaceSettings::new(RADIUS);
    for radius in [0.0, -1.0, f64::INFINITY] {
        let error = refused(&case.mesh, SurfaceSettings { radius, ..good.clone() });
        assert_eq!(error, SurfaceError::Radius { radius });
    }
    for spacing in [0.0, 2.0] {
        let error = refused(
            &case.mesh,
            SurfaceSettings {
                spacing,
                ..good.clone()
            },
        );
        assert_eq!(error, SurfaceError::Spacing { spacing });
    }
    let offset = f64::NEG_INFINITY;
    let error = refused(&case.mesh, SurfaceSettings { offset, ..good.clone() });
    assert_eq!(error, SurfaceError::Offset { offset });
    assert!(matches!(
        refused(&TriMesh::default(), good.clone()),
        SurfaceError::NoArea { triangles: 0, .. }
    ));
    let error = refused(
        &case.mesh,
        SurfaceSettings {
            memory_limit: 1000,
            ..good
        },
    );
    assert!(
        matches!(
            error,
            SurfaceError::TooMany {
                limit: 1000,
                count: 100..,
                ..
            }
        ),
        "{error}"
    );
}
