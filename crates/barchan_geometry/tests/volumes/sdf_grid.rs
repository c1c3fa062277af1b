use barchan_geometry::sdf_grid::{LANES, SdfGrid, SdfGridError};
use barchan_geometry::{Aabb, Shape};
use glam::{DMat3, DVec3};

use crate::support::{Block, Sphere, Torus, points_in};

const LIMIT: usize = 1 << 28;

fn grid(shape: &dyn Shape, voxel: f64) -> SdfGrid {
    SdfGrid::build(shape, voxel, 4.0 * voxel, LIMIT).unwrap()
}

fn block() -> Block {
    let half = DVec3::new(1.0, 0.7, 0.4);
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 0.6);
    Block { half, rotation }
}

/// Returns the largest error within `band` of the surface.
fn worst(shape: &dyn Shape, grid: &SdfGrid, band: f64) -> f64 {
    points_in(shape.bounds().grown(band), 100_000)
        .map(|p| (p, shape.distance(p)))
        .filter(|(_, exact)| exact.abs() < band)
        .map(|(p, exact)| (grid.distance(p) - exact).abs())
        .fold(0.0, f64::max)
}

#[test]
fn the_error_on_curved_surfaces_falls_with_the_square_of_the_voxel() {
    let sphere = Sphere {
        center: DVec3::new(1e3, 2e3, -5e2),
        radius: 1.0,
    };
    let torus = Torus { major: 1.0, minor: 0.4 };
    // A distance field has the curvatures of its level sets: two of 1/r on a sphere, 1/r and 1/(major - r) at worst.
    for (shape, curvatures, band) in [
        (&sphere as &dyn Shape, 2.0 / 0.8, 0.2),
        (&torus, 1.0 / 0.2 + 1.0 / 0.4, 0.2),
    ] {
        let errors =
            [0.1, 0.05, 0.025].map(|voxel| worst(shape, &SdfGrid::build(shape, voxel, band, LIMIT).unwrap(), band));
        for (error, voxel) in errors.into_iter().zip([0.1f64, 0.05, 0.025]) {
            // f32 samples round at 1e-7.
            assert!(error < voxel * voxel / 8.0 * curvatures + 1e-6, "{error} at {voxel}");
        }
        assert!(errors[2] < errors[0] / 12.0, "{errors:?}");
    }
}

#[test]
fn the_error_at_creases_is_below_three_eighths_of_a_voxel() {
    let shape = block();
    let error = worst(&shape, &grid(&shape, 0.04), 0.16);
    assert!((0.1 * 0.04..0.375 * 0.04).contains(&error), "{}", error / 0.04);
    let upright = Block {
        rotation: DMat3::IDENTITY,
        ..shape
    };
    assert!(worst(&upright, &grid(&upright, 0.04), 0.16) < 0.375 * 0.04);
}

#[test]
fn a_ball_inside_one_cell_is_wrong_by_no_more_than_the_bound() {
    /// In the middle of a cell, because the center of the bounds is a node.
    #[derive(Debug)]
    struct TinySolid;
    impl Shape for TinySolid {
        fn distance(&self, p: DVec3) -> f64 {
            p.distance(DVec3::splat(0.05)) - 0.001
        }
        fn bounds(&self) -> Aabb {
            Aabb::new(DVec3::splat(-0.2), DVec3::splat(0.2))
        }
    }
    let grid = grid(&TinySolid, 0.1);
    let error = (grid.distance(DVec3::splat(0.05)) + 0.001).abs();
    assert!((error - grid.error_bound()).abs() < 1e-6, "{error}");
    assert!(worst(&TinySolid, &grid, 0.2) <= grid.error_bound() + 1e-6);
}

#[test]
fn outside_the_band_the_sign_is_right_and_the_magnitude_between_the_band_and_the_truth() {
    let shapes: [&dyn Shape; 3] = [
        &block(),
        &Sphere {
            center: DVec3::ONE,
            radius: 2.0,
        },
        &Torus { major: 2.0, minor: 0.7 },
    ];
    for shape in shapes {
        let grid = grid(shape, 0.02);
        for p in points_in(shape.bounds().grown(5.0), 20_000) {
            let (exact, value) = (shape.distance(p), grid.distance(p));
            if exact.abs() > grid.band() + grid.error_bound() {
                assert_eq!(exact > 0.0, value > 0.0, "{p}");
                assert!(value.abs() >= grid.band() - 1e-6, "{value} {exact} at {p}");
                assert!(
                    value.abs() <= exact.abs() + grid.error_bound(),
                    "{value} {exact} at {p}"
                );
                let clearance = grid.clearance(p);
                assert_eq!(exact > 0.0, clearance > 0.0, "{p}");
                assert!(clearance.abs() >= value.abs() - 1e-6, "{clearance} {value} at {p}");
                // Fine bricks reach beyond the band, and interpolate there.
                let error = if clearance == value { grid.error_bound() } else { 1e-6 };
                assert!(clearance.abs() <= exact.abs() + error, "{clearance} {exact} at {p}");
            }
        }
    }
}

#[test]
fn the_gradient_is_the_slope_of_the_distance() {
    let torus = Torus { major: 1.0, minor: 0.4 };
    let grid = grid(&torus, 0.05);
    let step = 1e-3 * grid.voxel();
    for p in points_in(torus.bounds(), 5_000).filter(|&p| torus.distance(p).abs() < 0.1) {
        let (distance, gradient) = grid.distance_and_gradient(p);
        assert!((distance - grid.distance(p)).abs() < 1e-6);
        for axis in DVec3::AXES {
            let ahead = (grid.distance(p + step * axis) - distance) / step;
            let behind = (distance - grid.distance(p - step * axis)) / step;
            // The slope jumps at the border of a cell; f32 rounding of the distances is 1e-4 here.
            let at_border = (ahead - behind).abs() > 2e-3;
            assert!(
                (ahead - gradient.dot(axis)).abs() < 2e-3 || at_border,
                "{ahead} {gradient}"
            );
        }
        let normal = grid.distance_and_normal(p).1;
        assert!((normal.length() - 1.0).abs() < 1e-9);
        assert!(normal.dot(torus.normal(p)) > 0.98, "{p}");
    }
}

#[test]
fn too_little_memory_is_refused_with_what_it_takes() {
    let sphere = Sphere {
        center: DVec3::ZERO,
        radius: 1.0,
    };
    let fits = grid(&sphere, 0.02);
    let exactly = SdfGrid::build(&sphere, 0.02, 0.08, fits.bytes()).unwrap();
    assert_eq!(exactly.bytes(), fits.bytes());
    let Err(SdfGridError::Memory { needed, limit, .. }) = SdfGrid::build(&sphere, 0.02, 0.08, fits.bytes() - 1) else {
        panic!("built above the limit");
    };
    assert_eq!((needed, limit), (fits.bytes() as f64, fits.bytes() - 1));
    for voxel in [1e-5, 1e-12, 1e-300] {
        assert!(matches!(
            SdfGrid::build(&sphere, voxel, 0.1, LIMIT),
            Err(SdfGridError::Memory { .. })
        ));
    }
}

#[test]
fn shapes_without_end_and_sizes_that_are_not_positive_are_refused() {
    #[derive(Debug)]
    struct Ground;
    impl Shape for Ground {
        fn distance(&self, p: DVec3) -> f64 {
            p.z
        }
        fn bounds(&self) -> Aabb {
            Aabb {
                max: DVec3::new(f64::INFINITY, f64::INFINITY, 0.0),
                ..Aabb::UNBOUNDED
            }
        }
    }
    assert!(matches!(
        SdfGrid::build(&Ground, 0.1, 0.1, LIMIT),
        Err(SdfGridError::Bounds { .. })
    ));
    for (voxel, band) in [
        (0.0, 0.1),
        (-1.0, 0.1),
        (0.1, 0.0),
        (f64::NAN, 0.1),
        (0.1, f64::INFINITY),
    ] {
        assert!(matches!(
            SdfGrid::build(&block(), voxel, band, LIMIT),
            Err(SdfGridError::Size { .. })
        ));
    }
}

#[test]
fn sixteen_places_at_once_give_what_each_gives_alone() {
    let shape = Sphere {
        center: DVec3::new(1e3, 2e3, -5e2),
        radius: 1.0,
    };
    let grid = grid(&shape, 0.04);
    // In the band, beyond it, deep inside, and outside of all samples.
    let points: Vec<DVec3> = points_in(shape.bounds().grown(0.5), 20_000).collect();
    let mut off = 0.0;
    for sixteen in points.as_chunks::<LANES>().0 {
        let column = |axis: usize| sixteen.map(|p| (p - grid.corner())[axis] as f32);
        let places = [column(0), column(1), column(2)];
        let mut found = [0.0; LANES];
        grid.distances(&places, &mut found);
        let (mut same, mut gradients) = ([0.0; LANES], [[0.0; LANES]; 3]);
        grid.distances_and_gradients(&places, &mut same, &mut gradients);
        for (l, p) in sixteen.iter().enumerate() {
            assert!((same[l] - found[l]).abs() < 1e-6, "{} and {}", same[l], found[l]);
            let gradient = DVec3::from_array(gradients.map(|column| f64::from(column[l])));
            let difference = gradient.distance(grid.distance_and_gradient(*p).1);
            // Gradients jump from cell to cell, by no more than a voxel over the radius along each axis.
            assert!(difference < 0.08, "{difference} at {p}");
            off += difference / points.len() as f64;
        }
        for (p, found) in sixteen.iter().zip(found) {
            let expected = grid.distance(*p);
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{found}, not {expected}, at {p}"
            );
        }
    }
    assert!(off < 1e-4, "{off}");
}
