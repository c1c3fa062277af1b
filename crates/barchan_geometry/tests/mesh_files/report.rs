//! Defects that cleaning finds, repairs and reports.

use approx::assert_relative_eq;
use barchan_geometry::TriMesh;
use barchan_geometry::mesh::{LoadedMesh, MeshError, clean, mass_properties, primitives};
use glam::DVec3;

use super::build::assert_says;

fn cube() -> TriMesh {
    primitives::cuboid(DVec3::ONE)
}

fn cleaned(mesh: &TriMesh) -> LoadedMesh {
    clean(mesh).unwrap()
}

fn turned_around(mesh: &mut TriMesh) {
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
}

/// Joins both meshes.
fn joined(mut a: TriMesh, b: &TriMesh) -> TriMesh {
    let first = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn moved(mut mesh: TriMesh, by: DVec3) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|v| *v += by);
    mesh
}

#[test]
fn primitives_are_sound_and_face_outward() {
    let all = [
        cube(),
        primitives::tetrahedron(2.0),
        primitives::icosphere(1.0, 3),
        primitives::uv_sphere(1.0, 7, 5),
        primitives::torus(1.0, 0.2, 9, 5),
    ];
    for mesh in all {
        let LoadedMesh { mesh: same, report } = cleaned(&mesh);
        assert_eq!(same, mesh);
        assert!(report.is_watertight() && report.volume > 0.0 && report.components == 1);
        assert_eq!(report.warnings(), Vec::<String>::new());
    }
}

#[test]
fn a_sound_cube_is_reported_with_its_numbers() {
    let report = cleaned(&moved(cube(), DVec3::splat(10.0))).report;
    assert_eq!((report.vertices, report.triangles, report.components), (8, 12, 1));
    assert_relative_eq!(report.volume, 1.0, epsilon = 1e-12);
    assert_relative_eq!(report.area, 6.0, epsilon = 1e-12);
    assert_eq!(report.bounds.min, DVec3::splat(9.5));
    let table = report.to_string();
    assert!(
        table.contains("triangles   12\n") && table.contains("watertight  yes"),
        "{table}"
    );
}

#[test]
fn a_cube_without_a_face_has_four_open_edges() {
    let mut mesh = cube();
    mesh.triangles.truncate(10);
    let loaded = cleaned(&mesh);
    assert_eq!(loaded.report.open_edges, 4);
    assert!(!loaded.report.is_watertight());
    assert!(
        loaded.report.warnings()[0].contains("4 edges"),
        "{:?}",
        loaded.report.warnings()
    );
    loaded.require_volume().unwrap();
}

#[test]
fn vertices_at_one_place_are_welded_and_minus_zero_is_zero() {
    let mut soup = TriMesh::default();
    for corners in (0..12).map(|t| cube().corners(t)) {
        let first = soup.vertices.len() as u32;
        soup.vertices.extend(corners.map(|p| p + 0.5));
        soup.triangles.push([first, first + 1, first + 2]);
    }
    for (v, vertex) in soup.vertices.iter_mut().enumerate() {
        if v % 2 == 0 {
            *vertex = vertex.map(|x| if x == 0.0 { -0.0 } else { x });
        }
    }
    let report = cleaned(&soup).report;
    assert_eq!(report.vertices, 8);
    assert!(report.is_watertight());
}

#[test]
fn vertices_without_a_triangle_are_left_out() {
    let mut mesh = cube();
    mesh.vertices.push(DVec3::splat(100.0));
    let loaded = cleaned(&mesh);
    assert_eq!(loaded.mesh, cube());
    assert_eq!(loaded.report.bounds.max, DVec3::splat(0.5));
}

#[test]
fn degenerate_triangles_are_dropped_and_named() {
    let mut mesh = cube();
    mesh.vertices.extend([
        DVec3::new(0.1, 0.2, 0.3),
        DVec3::new(0.2, 0.4, 0.6),
        DVec3::new(0.3, 0.6, 0.9),
    ]);
    mesh.triangles.insert(2, [0, 0, 1]);
    mesh.triangles.push([8, 9, 10]);
    let loaded = cleaned(&mesh);
    assert_eq!(loaded.report.degenerate, [2, 13]);
    assert_eq!(loaded.mesh, cube());
    let warnings = loaded.report.warnings();
    assert_eq!(
        warnings,
        ["dropped 2 degenerate triangles, without area (counted from 0: 2, 13)"]
    );
}

#[test]
fn a_needle_with_area_is_kept() {
    let mesh = TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, 1e-9, 0.0)],
        triangles: vec![[0, 1, 2]],
    };
    assert_eq!(cleaned(&mesh).report.degenerate, Vec::<usize>::new());
}

#[test]
fn duplicate_triangles_are_dropped_in_whatever_order_their_corners_stand() {
    let mut mesh = cube();
    let [a, b, c] = mesh.triangles[3];
    mesh.triangles
        .extend([[a, b, c], [b, c, a], [c, b, a], [a, b, c], [a, c, b], [b, a, c]]);
    let loaded = cleaned(&mesh);
    assert_eq!(loaded.report.duplicate, [12, 13, 14, 15, 16, 17]);
    assert_eq!(loaded.mesh, cube());
    let warnings = loaded.report.warnings();
    assert_eq!(
        warnings,
        ["dropped 6 duplicate triangles (counted from 0: 12, 13, 14, 15, 16, …)"]
    );
}

#[test]
fn flipped_triangles_are_turned_to_face_as_their_neighbors() {
    let sound = primitives::icosphere(1.0, 2);
    let mut mesh = sound.clone();
    for t in [0, 1, 77, 300] {
        mesh.triangles[t].swap(0, 1);
    }
    let LoadedMesh { mesh, report } = cleaned(&mesh);
    assert_eq!(
        (report.turned, report.inconsistent_edges, report.flipped),
        (4, 0, false)
    );
    assert!(report.warnings()[0].contains("turned 4 triangles"));
    assert_relative_eq!(mass_properties(&mesh).volume, report.volume, epsilon = 1e-12);
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        assert!(
            (b - a).cross(c - a).dot(a) > 0.0,
            "triangle {t} {triangle:?} faces inward"
        );
    }
}

#[test]
fn an_inside_out_cube_is_turned_as_a_whole() {
    let mut mesh = cube();
    turned_around(&mut mesh);
    let report = cleaned(&mesh).report;
    assert!(report.flipped && report.turned == 0 && report.is_watertight());
    assert_relative_eq!(report.volume, 1.0, epsilon = 1e-14);
}

#[test]
fn an_inside_out_cube_with_some_faces_right_is_turned_as_well() {
    let mut mesh = cube();
    turned_around(&mut mesh);
    mesh.triangles[5].swap(0, 1);
    let report = cleaned(&mesh).report;
    assert_eq!((report.flipped, report.turned), (true, 1));
    assert_relative_eq!(report.volume, 1.0, epsilon = 1e-14);
}

#[test]
fn a_cavity_stays_a_cavity() {
    let mut inner = primitives::cuboid(DVec3::splat(0.5));
    turned_around(&mut inner);
    let mesh = joined(cube(), &inner);
    let loaded = cleaned(&mesh);
    assert_eq!(loaded.mesh, mesh);
    assert_eq!(loaded.report.components, 2);
    assert_relative_eq!(loaded.report.volume, 1.0 - 0.125, epsilon = 1e-14);
}

#[test]
fn two_cubes_that_share_an_edge_are_not_manifold_there() {
    let mesh = joined(cube(), &moved(cube(), DVec3::new(1.0, 1.0, 0.0)));
    let report = cleaned(&mesh).report;
    assert_eq!(
        (report.vertices, report.non_manifold_edges, report.open_edges),
        (14, 1, 0)
    );
    assert!(!report.is_watertight());
    assert_relative_eq!(report.volume, 2.0, epsilon = 1e-12);
}

#[test]
fn cubes_apart_are_counted_as_parts() {
    let mesh = (1..5).fold(cube(), |all, k| {
        joined(all, &moved(cube(), DVec3::X * 2.0 * f64::from(k)))
    });
    assert_eq!(cleaned(&mesh).report.components, 5);
}

#[test]
fn a_moebius_strip_keeps_its_triangles_and_is_reported() {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let pieces = 12;
    for k in 0..pieces {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(pieces);
        let across = (0.5 * angle).cos() * DVec3::new(angle.cos(), angle.sin(), 0.0) + (0.5 * angle).sin() * DVec3::Z;
        let middle = 2.0 * DVec3::new(angle.cos(), angle.sin(), 0.0);
        vertices.extend([middle - 0.3 * across, middle + 0.3 * across]);
        let [a, b, c, d] = [2 * k as u32, 2 * k as u32 + 1, 2 * k as u32 + 2, 2 * k as u32 + 3];
        let (c, d) = if k + 1 == pieces { (1, 0) } else { (c, d) };
        triangles.extend([[a, b, c], [c, b, d]]);
    }
    let mesh = TriMesh { vertices, triangles };
    let LoadedMesh { mesh: same, report } = cleaned(&mesh);
    assert_eq!(same, mesh);
    assert_eq!(
        (report.inconsistent_edges, report.open_edges, report.turned),
        (1, 24, 0)
    );
    assert!(
        report.warnings().iter().any(|w| w.contains("Möbius")),
        "{:?}",
        report.warnings()
    );
}

#[test]
fn an_open_mesh_that_seems_inside_out_is_not_turned_but_reported() {
    let mut mesh = cube();
    mesh.triangles.truncate(10);
    turned_around(&mut mesh);
    let report = cleaned(&mesh).report;
    assert!(!report.flipped && report.volume < 0.0);
    assert!(
        report.warnings().iter().any(|w| w.contains("inside out")),
        "{:?}",
        report.warnings()
    );
}

#[test]
fn a_flat_sheet_has_no_volume_wherever_it_lies() {
    for by in [DVec3::ZERO, DVec3::new(100.0, -30.0, 7.0)] {
        let corners = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 1.0, -1.0)];
        let mesh = TriMesh {
            vertices: corners.map(|p| (p + by).as_vec3().as_dvec3()).to_vec(),
            triangles: vec![[0, 1, 2], [0, 3, 1]],
        };
        let error = cleaned(&mesh).require_volume().unwrap_err();
        assert!(matches!(error, MeshError::NoVolume { .. }));
        assert_says(&error, &["encloses no volume", "sheet"]);
    }
}

#[test]
fn a_thin_plate_and_a_sphere_with_a_hole_have_a_volume() {
    cleaned(&primitives::cuboid(DVec3::new(1.0, 1.0, 1e-6)))
        .require_volume()
        .unwrap();
    let mut holed = primitives::icosphere(1.0, 3);
    holed.triangles.drain(100..140);
    cleaned(&holed).require_volume().unwrap();
}

#[test]
fn a_mesh_of_lines_alone_is_refused() {
    let mesh = TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X],
        triangles: vec![[0, 1, 2], [0, 0, 1]],
    };
    assert_says(&clean(&mesh).unwrap_err(), &["no triangles", "all 2 are degenerate"]);
}
