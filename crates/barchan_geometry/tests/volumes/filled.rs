//! The space that closed meshes of several shells fill.

use std::f64::consts::PI;

use barchan_geometry::mesh::primitives::{cuboid, icosphere, torus};
use barchan_geometry::mesh::{Filled, MeshSolid, clean, mass_properties};
use barchan_geometry::random::Stream;
use barchan_geometry::{MassProperties, TriMesh};
use glam::{DMat3, DQuat, DVec3};

use crate::support::{join, moved};

fn filled(mesh: &TriMesh) -> Filled {
    MeshSolid::new(mesh.clone()).filled().expect("the mesh is closed")
}

/// Joins all meshes without sharing vertices.
fn joined(parts: &[TriMesh]) -> TriMesh {
    parts.iter().fold(TriMesh::default(), join)
}

fn reversed(mut mesh: TriMesh) -> TriMesh {
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    mesh
}

fn turned(mut mesh: TriMesh, rotation: DQuat) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|p| *p = rotation * *p);
    mesh
}

/// ∫ 1, x, xxᵀ over a solid, about the origin.
#[derive(Clone, Copy)]
struct Moments(f64, DVec3, DMat3);

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

impl Moments {
    const ZERO: Self = Self(0.0, DVec3::ZERO, DMat3::ZERO);

    fn cuboid(low: DVec3, high: DVec3) -> Self {
        let (size, middle) = (high - low, 0.5 * (low + high));
        let volume = size.element_product();
        let second = outer(middle) + DMat3::from_diagonal(size * size / 12.0);
        Self(volume, volume * middle, second * volume)
    }

    fn of(properties: &MassProperties) -> Self {
        let MassProperties {
            volume,
            center,
            inertia,
        } = *properties;
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let central = DMat3::from_diagonal(DVec3::splat(0.5 * trace)) - inertia;
        Self(volume, volume * center, central + outer(center) * volume)
    }

    fn plus(self, other: Self, sign: f64) -> Self {
        Self(
            self.0 + sign * other.0,
            self.1 + sign * other.1,
            self.2 + other.2 * sign,
        )
    }

    fn assert_near(self, other: Self, tolerance: f64, what: &str) {
        let numbers = |m: Self| [vec![m.0], m.1.to_array().to_vec(), m.2.to_cols_array().to_vec()].concat();
        for (found, expected) in numbers(self).into_iter().zip(numbers(other)) {
            assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
        }
    }
}

fn cuboid_between(low: DVec3, high: DVec3) -> TriMesh {
    moved(cuboid(high - low), 0.5 * (low + high))
}

/// Boxes between integer coordinates, some of them inside out, with the moments of the cells of winding number 1 or
/// more, and the volumes that are counted repeatedly and inside out.
fn boxes_on_a_grid(seed: u64, count: u64) -> (TriMesh, Moments, f64, f64) {
    const SIDE: i32 = 5;
    let mut winding = [0; (SIDE * SIDE * SIDE) as usize];
    let mut parts = Vec::new();
    for k in 0..count {
        let draw = |n: u64| Stream::new(seed, 10 * k + n).unit();
        let pair = |n: u64| {
            let a = (draw(n) * f64::from(SIDE)) as i32;
            let b = (draw(n + 1) * f64::from(SIDE)) as i32;
            (a.min(b), a.max(b) + 1)
        };
        let (x, y, z) = (pair(0), pair(2), pair(4));
        let sign = if draw(6) < 0.25 { -1 } else { 1 };
        for cell in 0..winding.len() as i32 {
            let at = [cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE];
            if [x, y, z]
                .iter()
                .zip(at)
                .all(|(side, at)| (side.0..side.1).contains(&at))
            {
                winding[cell as usize] += sign;
            }
        }
        let corner = |f: fn((i32, i32)) -> i32| DVec3::new(f(x).into(), f(y).into(), f(z).into());
        let part = cuboid_between(corner(|s| s.0), corner(|s| s.1));
        parts.push(if sign < 0 { reversed(part) } else { part });
    }
    let mut sum = Moments::ZERO;
    for (cell, _) in winding.iter().enumerate().filter(|(_, w)| **w >= 1) {
        let cell = cell as i32;
        let low = DVec3::new(
            f64::from(cell % SIDE),
            f64::from(cell / SIDE % SIDE),
            f64::from(cell / SIDE / SIDE),
        );
        sum = sum.plus(Moments::cuboid(low, low + 1.0), 1.0);
    }
    let often = winding.iter().map(|&w| f64::from((w - 1).max(0))).sum();
    let inverted = winding.iter().map(|&w| f64::from((-w).max(0))).sum();
    (joined(&parts), sum, often, inverted)
}

#[test]
fn boxes_that_share_planes_edges_and_corners_fill_the_cells_they_cover() {
    for seed in 0..24 {
        let (mesh, expected, overlap, inverted) = boxes_on_a_grid(seed, 2 + seed % 5);
        let found = filled(&mesh);
        let what = format!("seed {seed}");
        if expected.0 > 0.0 {
            Moments::of(&found.properties).assert_near(expected, 1e-7, &what);
            assert!((found.overlap - overlap).abs() < 1e-8, "{what}: {found:?}, {overlap}");
            assert!(
                (found.inverted - inverted).abs() < 1e-8,
                "{what}: {found:?}, {inverted}"
            );
        }
    }
}

#[test]
fn boxes_in_general_position_fill_their_union() {
    let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -0.5, 1.1);
    let (a, b) = (
        [DVec3::ZERO, DVec3::new(1.0, 2.0, 0.5)],
        [DVec3::new(0.3, 0.7, -0.2), DVec3::new(1.7, 1.1, 0.4)],
    );
    let common = [a[0].max(b[0]), a[1].min(b[1])];
    let moments = |[low, high]: [DVec3; 2]| Moments::cuboid(low, high);
    let expected = moments(a).plus(moments(b), 1.0).plus(moments(common), -1.0);
    let straight = joined(&[cuboid_between(a[0], a[1]), cuboid_between(b[0], b[1])]);
    let found = filled(&straight);
    Moments::of(&found.properties).assert_near(expected, 1e-10, "straight");
    assert!((found.overlap - moments(common).0).abs() < 1e-10);

    let far = DVec3::new(3e4, -2e4, 1e4);
    let away = filled(&moved(turned(straight, rotation), far)).properties;
    let expected = found.properties.transformed(DVec3::ONE, rotation, far);
    assert!((away.volume - expected.volume).abs() < 1e-9, "{away:?}");
    assert!(away.center.distance(expected.center) < 1e-9, "{away:?}");
    assert!(
        (away.inertia - expected.inertia)
            .to_cols_array()
            .iter()
            .all(|x| x.abs() < 1e-9)
    );
}

#[test]
fn a_letter_of_five_bars_weighs_as_its_union() {
    // Bars of one thickness that share front and back planes, as letters are modeled.
    let bar = |x: (f64, f64), z: (f64, f64)| cuboid_between(DVec3::new(x.0, 0.0, z.0), DVec3::new(x.1, 0.2, z.1));
    let letter = joined(&[
        bar((0.0, 0.2), (0.0, 1.0)),
        bar((0.0, 0.7), (0.8, 1.0)),
        bar((0.0, 0.7), (0.4, 0.6)),
        bar((0.5, 0.7), (0.4, 1.0)),
        bar((0.3, 0.5), (0.0, 0.6)),
    ]);
    let found = filled(&letter);
    let expected = 0.2 * (0.2 + 0.5 * 0.2 + 0.5 * 0.2 + 0.2 * 0.2 + 0.2 * 0.4);
    assert!((found.properties.volume - expected).abs() < 1e-10, "{found:?}");
    let sum = 0.2 * (0.2 + 0.7 * 0.2 + 0.7 * 0.2 + 0.2 * 0.6 + 0.2 * 0.6);
    assert!((found.overlap - (sum - expected)).abs() < 1e-10, "{found:?}");
}

#[test]
fn round_solids_add_up_and_overlap_in_a_lens() {
    let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 0.2, -0.7);
    let (a, b) = (
        icosphere(1.0, 4),
        moved(turned(icosphere(1.0, 4), rotation), DVec3::new(0.9, 0.3, 0.1)),
    );
    let union = filled(&joined(&[a.clone(), b.clone()]));
    // A without B, and B: the same union of polyhedra.
    let rest = filled(&joined(&[a.clone(), reversed(b.clone())]));
    let parts = Moments::of(&rest.properties).plus(Moments::of(&mass_properties(&b)), 1.0);
    Moments::of(&union.properties).assert_near(parts, 1e-10, "polyhedra");
    let distance = DVec3::new(0.9, 0.3, 0.1).length();
    let lens = PI / 12.0 * (4.0 + distance) * (2.0 - distance).powi(2);
    assert!((union.overlap / lens - 1.0).abs() < 5e-3, "{} {lens}", union.overlap);
    let expected = 8.0 / 3.0 * PI - lens;
    assert!((union.properties.volume / expected - 1.0).abs() < 3e-3);

    let ring = turned(torus(0.8, 0.3, 64, 32), rotation);
    let with_ring = filled(&joined(&[a.clone(), ring.clone()])).properties;
    let without = filled(&joined(&[a, reversed(ring.clone())])).properties;
    let parts = Moments::of(&without).plus(Moments::of(&mass_properties(&ring)), 1.0);
    Moments::of(&with_ring).assert_near(parts, 1e-10, "ring");
}

#[test]
fn cavities_and_shells_apart_or_touching_are_exact_and_no_overlap() {
    let cube = cuboid(DVec3::ONE);
    let inner = reversed(cuboid(DVec3::splat(0.5)));
    let stone = cuboid(DVec3::splat(0.2));
    let meshes = [
        joined(&[cube.clone(), inner.clone()]),
        joined(&[cube.clone(), inner, stone]),
        joined(&[cube.clone(), moved(cube.clone(), 3.0 * DVec3::X)]),
        joined(&[cube.clone(), moved(cube.clone(), DVec3::X)]),
        joined(&[
            cube.clone(),
            moved(cuboid(DVec3::splat(0.4)), DVec3::new(0.1, 0.2, 0.7)),
        ]),
        joined(&[cube.clone(), moved(cube, DVec3::new(1.0, 1.0, 0.0))]),
        torus(1.0, 0.3, 48, 24),
        icosphere(0.1, 4),
    ];
    for mesh in meshes {
        let found = filled(&mesh);
        assert_eq!(found.properties, mass_properties(&mesh));
        assert_eq!((found.overlap, found.inverted), (0.0, 0.0));
    }
}

#[test]
fn a_shell_given_twice_or_in_another_counts_once_and_an_inverted_one_not_at_all() {
    let ball = icosphere(1.0, 3);
    let volume = mass_properties(&ball).volume;
    let twice = filled(&joined(&[ball.clone(), ball.clone()]));
    assert!(
        (twice.properties.volume - volume).abs() < 1e-10 && (twice.overlap - volume).abs() < 1e-10,
        "{twice:?}"
    );
    // The same cube with its sides cut along the other diagonals.
    let cube = cuboid(DVec3::ONE);
    let mirrored = turned(cube.clone(), DQuat::from_rotation_z(PI / 2.0));
    let cubes = filled(&joined(&[cube, mirrored]));
    assert!(
        (cubes.properties.volume - 1.0).abs() < 1e-9 && (cubes.overlap - 1.0).abs() < 1e-9,
        "{cubes:?}"
    );

    let small = cuboid(DVec3::splat(0.3));
    let nested = filled(&joined(&[ball.clone(), small.clone()]));
    assert!((nested.properties.volume - volume).abs() < 1e-10 && (nested.overlap - 0.027).abs() < 1e-10);
    let apart = filled(&joined(&[ball, moved(reversed(small), 3.0 * DVec3::X)]));
    assert!((apart.properties.volume - volume).abs() < 1e-10 && (apart.inverted - 0.027).abs() < 1e-10);
    assert!(apart.properties.center.length() < 1e-10, "{apart:?}");
}

/// A prism over a pentagram, one shell whose middle is enclosed twice.
fn pentagram(radius: f64, height: f64) -> TriMesh {
    let ring = |z: f64| {
        (0..5).map(move |k| {
            let (sin, cos) = (f64::from(k) * 4.0 * PI / 5.0).sin_cos();
            DVec3::new(radius * cos, radius * sin, z)
        })
    };
    let vertices = ring(0.0)
        .chain(ring(height))
        .chain([DVec3::ZERO, DVec3::Z * height])
        .collect();
    let mut triangles = Vec::new();
    for k in 0..5 {
        let next = (k + 1) % 5;
        triangles.extend([
            [k, next, next + 5],
            [k, next + 5, k + 5],
            [next, k, 10],
            [k + 5, next + 5, 11],
        ]);
    }
    TriMesh { vertices, triangles }
}

#[test]
fn a_shell_that_cuts_itself_fills_its_outline() {
    let (radius, height) = (1.3, 0.4);
    let star = pentagram(radius, height);
    let found = filled(&star);
    let degrees = |x: f64| x.to_radians();
    let inner = radius * degrees(72.0).cos() / degrees(36.0).cos();
    let outline = 5.0 * radius * inner * degrees(36.0).sin();
    let middle = 2.5 * inner * inner * degrees(72.0).sin();
    assert!(
        (found.properties.volume - outline * height).abs() < 1e-9,
        "{found:?}, {}",
        outline * height
    );
    assert!((found.overlap - middle * height).abs() < 1e-9, "{found:?}");
    assert!(found.properties.center.distance(DVec3::Z * 0.5 * height) < 1e-9);
}

#[test]
fn filled_volume_and_warning_reach_the_report() {
    let ball = icosphere(1.0, 2);
    let pair = joined(&[ball.clone(), moved(ball, DVec3::X)]);
    let sum = mass_properties(&pair).volume;
    let loaded = clean(&pair).unwrap().into_solid();
    let expected = filled(&pair).properties;
    assert_eq!(
        (loaded.report.volume, loaded.properties),
        (expected.volume, Some(expected))
    );
    assert!((loaded.report.volume + loaded.report.overlap - sum).abs() < 1e-9);
    let warnings = loaded.report.warnings();
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("shells overlap"),
        "{warnings:?}"
    );
    let sound = clean(&icosphere(1.0, 2)).unwrap().into_solid();
    assert!(sound.report.warnings().is_empty());
}

#[test]
fn mass_properties_follow_stretch_turn_and_move() {
    let (scale, at) = (DVec3::new(0.5, 2.0, 1.5), DVec3::new(3.0, -1.0, 2.0));
    let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 1.0, 0.5, -0.3);
    let mesh = moved(torus(1.0, 0.4, 32, 16), DVec3::new(0.2, 0.1, 0.4));
    let mut other = mesh.clone();
    other
        .vertices
        .iter_mut()
        .for_each(|p| *p = at + rotation * (scale * *p));
    let found = Moments::of(&mass_properties(&mesh).transformed(scale, rotation, at));
    found.assert_near(Moments::of(&mass_properties(&other)), 1e-10, "torus");
}

#[test]
fn any_number_of_threads_finds_the_same_bits() {
    let mesh = joined(&[icosphere(1.0, 4), moved(icosphere(0.8, 4), DVec3::new(0.7, 0.1, 0.2))]);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| filled(&mesh))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn an_open_mesh_fills_nothing_that_is_exact() {
    let mut open = cuboid(DVec3::ONE);
    open.triangles.pop();
    assert!(MeshSolid::new(open).filled().is_none());
}

#[test]
fn plates_that_all_cut_each_other_are_given_up() {
    let plate = |k: u64| turned(cuboid(DVec3::new(1.0, 0.02, 0.9)), Stream::new(5, k).rotation());
    let few: Vec<TriMesh> = (0..4).map(plate).collect();
    assert!(MeshSolid::new(joined(&few)).filled().is_some());
    let many: Vec<TriMesh> = (0..60).map(plate).collect();
    assert!(MeshSolid::new(joined(&many)).filled().is_none());
}
