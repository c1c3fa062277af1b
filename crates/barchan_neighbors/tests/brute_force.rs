//! Every path against brute force, bit for bit.

use barchan_neighbors::{Cells, ContactRule, Error, Grid, Level, Lists, jittered_lattice};
use glam::Vec3;
use proptest::prelude::*;
use std::ops::Range;

type Ranges = [Option<Range<f32>>; 3];

const OPEN: Ranges = [None, None, None];

fn paths() -> impl Iterator<Item = Level> {
    Level::available()
}

/// Direct cells, a table of the usual size, and tables so small that most cells collide.
const CELLS: [Cells; 4] = [
    Cells::Auto,
    Cells::Table { log2_size: 6 },
    Cells::Table { log2_size: 7 },
    Cells::Table { log2_size: 10 },
];

/// Image of `x` in the range, as `Grid::periodic` documents it.
fn wrap(x: f32, range: &Option<Range<f32>>) -> f32 {
    let Some(range) = range else { return x };
    if range.contains(&x) {
        return x;
    }
    let (low, high) = (f64::from(range.start), f64::from(range.end));
    let image = (low + (f64::from(x) - low).rem_euclid(high - low)) as f32;
    if range.contains(&image) { image } else { range.start }
}

fn difference(a: f32, b: f32, range: &Option<Range<f32>>) -> f32 {
    let Some(range) = range else { return a - b };
    let (d, length) = (
        wrap(a, &Some(range.clone())) - wrap(b, &Some(range.clone())),
        range.end - range.start,
    );
    if d > length / 2.0 {
        d - length
    } else if d < -length / 2.0 {
        d + length
    } else {
        d
    }
}

fn near(a: Vec3, b: Vec3, reach: f32, ranges: &Ranges) -> bool {
    let dx = difference(a.x, b.x, &ranges[0]);
    let dy = difference(a.y, b.y, &ranges[1]);
    let dz = difference(a.z, b.z, &ranges[2]);
    dx * dx + dy * dy + dz * dz < reach * reach
}

fn brute_force(
    queries: &[Vec3],
    points: &[Vec3],
    reach: impl Fn(usize, usize) -> f32,
    own: bool,
    ranges: &Ranges,
) -> Vec<Vec<u32>> {
    let hit = |i: usize, j: usize| (!own || i != j) && near(queries[i], points[j], reach(i, j), ranges);
    (0..queries.len())
        .map(|i| (0..points.len() as u32).filter(|&j| hit(i, j as usize)).collect())
        .collect()
}

fn sorted_rows(lists: &Lists) -> Vec<Vec<u32>> {
    (0..lists.len())
        .map(|i| {
            let mut row = lists.of(i).to_vec();
            row.sort_unstable();
            row
        })
        .collect()
}

fn check_own(points: &[Vec3], reach: f32, ranges: &Ranges) {
    let expected = brute_force(points, points, |_, _| reach, true, ranges);
    for cells in CELLS {
        let mut grid = Grid::periodic(ranges.clone()).expect("good ranges").with_cells(cells);
        grid.build(points, reach).expect("good points");
        let mut first = None;
        for level in paths() {
            let mut lists = Lists::new().with_level(level);
            lists.find(&grid);
            assert_eq!(sorted_rows(&lists), expected, "{cells:?} {level:?}");
            let csr = lists.to_csr();
            assert_eq!(
                *first.get_or_insert_with(|| csr.clone()),
                csr,
                "order of rows: {cells:?} {level:?}"
            );
        }
    }
}

fn check_two_sets(queries: &[Vec3], points: &[Vec3], reach: f32, ranges: &Ranges) {
    let expected = brute_force(queries, points, |_, _| reach, false, ranges);
    for cells in CELLS {
        let mut grid = Grid::periodic(ranges.clone()).expect("good ranges").with_cells(cells);
        let mut sorted = Grid::new();
        grid.build(points, reach).expect("good points");
        sorted.build(queries, reach).expect("good points");
        for level in paths() {
            let mut lists = Lists::new().with_level(level);
            lists.find_for(queries, &grid).expect("good points");
            assert_eq!(sorted_rows(&lists), expected, "{cells:?} {level:?}");
            lists.find_between(&sorted, &grid);
            assert_eq!(sorted_rows(&lists), expected, "sorted {cells:?} {level:?}");
        }
        for (&query, expected) in queries.iter().zip(&expected) {
            let mut row = Vec::new();
            grid.near(query, |j, _| row.push(j));
            row.sort_unstable();
            assert_eq!(&row, expected, "near {cells:?}");
        }
    }
}

fn check_contacts(points: &[Vec3], radii: &[f32], rule: ContactRule, ranges: &Ranges) {
    let reach = |i: usize, j: usize| rule.scale * (radii[i] + radii[j]) + rule.margin;
    let largest = rule.largest_reach(radii).expect("good radii");
    let half = points.len() / 2;
    for cells in CELLS {
        let mut grid = Grid::periodic(ranges.clone()).expect("good ranges").with_cells(cells);
        for level in paths() {
            let mut lists = Lists::new().with_level(level);
            grid.build(points, largest).expect("good points");
            lists.find_contacts(&grid, radii, rule).expect("good radii");
            assert_eq!(
                sorted_rows(&lists),
                brute_force(points, points, reach, true, ranges),
                "{cells:?} {level:?}"
            );

            grid.build(&points[half..], largest).expect("good points");
            lists
                .find_contacts_for(&points[..half], &radii[..half], &grid, &radii[half..], rule)
                .expect("good radii");
            let expected = brute_force(
                &points[..half],
                &points[half..],
                |i, j| reach(i, half + j),
                false,
                ranges,
            );
            assert_eq!(sorted_rows(&lists), expected, "two sets {cells:?} {level:?}");
        }
    }
}

fn cloud(extent: f32, count: usize) -> impl Strategy<Value = Vec<Vec3>> {
    let coordinate = move || -extent..extent;
    prop::collection::vec(
        (coordinate(), coordinate(), coordinate()).prop_map(Vec3::from),
        0..count,
    )
}

/// Points on a coarse raster: many coincide, many distances equal the reach exactly.
fn raster(count: usize) -> impl Strategy<Value = Vec<Vec3>> {
    let coordinate = || (-4i8..4).prop_map(|c| f32::from(c) * 0.25);
    prop::collection::vec(
        (coordinate(), coordinate(), coordinate()).prop_map(Vec3::from),
        0..count,
    )
}

/// A few dense clusters far apart, and an outlier.
fn clusters() -> impl Strategy<Value = Vec<Vec3>> {
    (cloud(1e3, 4), cloud(0.5, 120), -1e6f32..1e6).prop_map(|(centers, offsets, far)| {
        let mut points: Vec<Vec3> = offsets
            .iter()
            .enumerate()
            .map(|(i, &o)| o + *centers.get(i % 4).unwrap_or(&Vec3::ZERO))
            .collect();
        points.push(Vec3::new(far, -far, 1e6));
        points
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_random_cloud_equals_brute_force(points in cloud(2.0, 300), reach in 0.05f32..5.0) {
        check_own(&points, reach, &OPEN);
    }

    #[test]
    fn coincident_points_and_distances_equal_to_the_reach_equal_brute_force(points in raster(200)) {
        check_own(&points, 0.5, &OPEN);
    }

    #[test]
    fn far_clusters_with_an_outlier_equal_brute_force(points in clusters(), reach in 0.05f32..2.0) {
        check_own(&points, reach, &OPEN);
    }

    #[test]
    fn two_sets_equal_brute_force(a in cloud(2.0, 120), b in cloud(1.5, 120), reach in 0.05f32..3.0) {
        check_two_sets(&a, &b, reach, &OPEN);
    }

    #[test]
    fn spheres_of_many_radii_equal_brute_force(
        points in cloud(1.0, 150), scale in 0.0f32..2.0, margin in 0.01f32..0.2, seed in 0u32..1000,
    ) {
        let radii: Vec<f32> =
            (0..points.len() as u32).map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 24) as f32 / 1024.0).collect();
        check_contacts(&points, &radii, ContactRule { scale, margin }, &OPEN);
        check_contacts(&points, &radii, ContactRule { scale, margin }, &[Some(-1.0..1.9), None, None]);
    }

    #[test]
    fn periodic_axes_equal_brute_force(
        points in cloud(4.0, 150), low in -2.0f32..0.0, length in 2.0f32..9.0, which in 1u8..8,
        part in 0.01f32..0.5,
    ) {
        let range = low..low + length;
        let ranges = [0, 1, 2].map(|axis| (which >> axis & 1 == 1).then(|| range.clone()));
        let reach = part * (range.end - range.start);
        check_own(&points, reach, &ranges);
        let half = points.len() / 2;
        check_two_sets(&points[..half], &points[half..], reach, &ranges);
    }

    #[test]
    fn a_short_reach_in_a_long_period_equals_brute_force(points in raster(120), shift in -1e4f32..1e4) {
        let points: Vec<Vec3> = points.iter().map(|&p| p * 4e-3 + Vec3::splat(shift)).collect();
        let range = Some(-100.3..317.9);
        check_own(&points, 0.01, &[range.clone(), range.clone(), range]);
    }
}

#[test]
fn extreme_coordinates_and_reaches_equal_brute_force() {
    let values = [
        0.0,
        -0.0,
        1e-45,
        -1e-40,
        1e-20,
        1.0,
        -1.0,
        1e9,
        1e9 + 64.0,
        -1e30,
        1e30,
        f32::MAX,
        f32::MIN,
    ];
    let points: Vec<Vec3> = values
        .iter()
        .flat_map(|&x| values.iter().map(move |&y| Vec3::new(x, y, -x)))
        .chain([Vec3::splat(f32::MAX), Vec3::splat(f32::MAX)])
        .collect();
    for reach in [1e-45, 3e-23, 1e-10, 1.5, 100.0, 2e19, 1e30, f32::MAX] {
        check_own(&points, reach, &OPEN);
    }
}

#[test]
fn crowded_cells_searched_in_place_equal_brute_force() {
    let points = jittered_lattice(1500, 0.01, 0.4, 7);
    check_own(&points, 0.06, &OPEN);
    check_own(&points, 0.05, &[Some(0.0..0.11), None, Some(0.01..0.12)]);
}

#[test]
fn lists_are_the_same_for_any_number_of_threads() {
    let mut points = jittered_lattice(20_000, 0.01, 0.4, 5);
    for i in 0..points.len() {
        points.swap(i, i * 7919 % 20_000);
    }
    for cells in [Cells::Auto, Cells::Table { log2_size: 14 }] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| {
                let (mut grid, mut lists) = (Grid::new().with_cells(cells), Lists::new());
                grid.build(&points, 0.02).expect("good points");
                lists.find(&grid);
                (
                    grid.order().to_vec(),
                    lists.to_csr(),
                    lists.rows().map(|(i, _)| i).collect::<Vec<_>>(),
                )
            })
        };
        let one = run(1);
        assert_eq!(one.0, one.2, "rows come in the order of the grid");
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}

#[test]
fn rows_follow_cells_and_then_the_input() {
    // One row of cells, two points in the middle cell, given out of order.
    let points = [2.5, 1.6, 1.4, 0.5].map(|x| Vec3::new(x, 0.0, 0.0));
    let (mut grid, mut lists) = (Grid::new(), Lists::new());
    grid.build(&points, 1.0).expect("good points");
    lists.find(&grid);
    assert_eq!(grid.order(), [3, 1, 2, 0]);
    assert_eq!(lists.of(1), [2, 0]);
    assert_eq!(lists.of(2), [3, 1]);
    let mut sorted = [0.0; 4];
    grid.permute(&points.map(|p| p.x), &mut sorted);
    assert_eq!(sorted, [0.5, 1.6, 1.4, 2.5]);
}

#[test]
fn no_points_give_no_rows() {
    for cells in CELLS {
        let mut grid = Grid::new().with_cells(cells);
        grid.build(&[], 1.0).expect("no points are fine");
        let mut lists = Lists::new();
        lists.find(&grid);
        assert!(grid.is_empty() && lists.is_empty() && lists.rows().next().is_none());
        assert_eq!(lists.to_csr().offsets, [0]);
        lists.find_for(&[Vec3::ONE], &grid).expect("a good point");
        assert_eq!(lists.of(0), []);
    }
}

#[test]
fn mistakes_are_errors_that_name_the_place() {
    let mut grid = Grid::new();
    let points = [Vec3::ZERO, Vec3::ONE, Vec3::new(0.0, f32::NEG_INFINITY, 0.0), Vec3::NAN];
    assert!(matches!(
        grid.build(&points, 1.0),
        Err(Error::Position { index: 2, .. })
    ));
    assert!(matches!(
        grid.build(&points[3..], 1.0),
        Err(Error::Position { index: 0, .. })
    ));
    for reach in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(grid.build(&points[..2], reach), Err(Error::Reach { .. })));
    }
    grid.build(&points[..2], 1.0).expect("good points");
    let mut lists = Lists::new();
    let rule = ContactRule {
        scale: 1.0,
        margin: 0.0,
    };
    assert!(matches!(
        lists.find_for(&points, &grid),
        Err(Error::Position { index: 2, .. })
    ));
    assert_eq!(
        lists.find_contacts(&grid, &[0.1], rule),
        Err(Error::RadiusCount { points: 2, radii: 1 })
    );
    assert_eq!(
        lists.find_contacts(&grid, &[0.1, -1.0], rule),
        Err(Error::Radius { index: 1, radius: -1.0 })
    );
    assert_eq!(
        lists.find_contacts(&grid, &[0.1, 0.9], rule),
        Err(Error::GridReach {
            built: 1.0,
            needed: 1.8
        })
    );
    let bad = ContactRule {
        scale: 1.0,
        margin: -1.0,
    };
    assert_eq!(
        bad.largest_reach(&[]),
        Err(Error::Rule {
            scale: 1.0,
            margin: -1.0
        })
    );

    let wrong = Grid::periodic([None, Some(1.0..1.0), None]);
    assert!(matches!(wrong, Err(Error::Range { axis: 1, .. })));
    let mut short = Grid::periodic([None, None, Some(0.0..1.9)]).expect("a good range");
    assert_eq!(
        short.build(&points[..2], 1.0),
        Err(Error::Period {
            axis: 2,
            period: 1.9,
            reach: 1.0
        })
    );
}
