use std::f64::consts::PI;

use barchan_geometry::mesh::primitives::{icosphere, torus as torus_mesh};
use barchan_geometry::random::Stream;
use barchan_geometry::{Aabb, Shape, TriMesh, mesh::MeshSolid};
use glam::{DMat3, DVec3};
use proptest::prelude::*;

use crate::support::{Block, cuboid, join, moved, points_in};

/// Returns the distance of `p` to a triangle by minimizing over its two coordinates: to the inside of the triangle if
/// the foot of the perpendicular lies there, otherwise to the nearest edge.
fn triangle_distance(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let segment = |s: DVec3, t: DVec3| {
        let along = t - s;
        let x = ((p - s).dot(along) / along.length_squared().max(1e-300)).clamp(0.0, 1.0);
        p.distance(s + x * along)
    };
    let edges = segment(a, b).min(segment(b, c)).min(segment(c, a));
    let n = (b - a).cross(c - a);
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|&(s, t)| (t - s).cross(p - s).dot(n) > 0.0);
    if inside && n.length() > 0.0 {
        ((p - a).dot(n) / n.length()).abs()
    } else {
        edges
    }
}

/// Returns the winding number by the sum over all triangles, each by the angles of its spherical triangle (l'Huilier).
fn exact_winding_number(mesh: &TriMesh, p: DVec3) -> f64 {
    let angle = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|v| (v - p).normalize());
        let side = |s: DVec3, t: DVec3| s.cross(t).length().atan2(s.dot(t));
        let (ab, bc, ca) = (side(a, b), side(b, c), side(c, a));
        let s = 0.5 * (ab + bc + ca);
        let product = (0.5 * s).tan() * (0.5 * (s - ab)).tan() * (0.5 * (s - bc)).tan() * (0.5 * (s - ca)).tan();
        4.0 * product.max(0.0).sqrt().atan() * a.dot(b.cross(c)).signum()
    };
    (0..mesh.triangles.len()).map(angle).sum::<f64>() / (4.0 * PI)
}

/// Triangles that all share a corner: one connected part.
fn fan(corners: &[DVec3]) -> TriMesh {
    TriMesh {
        vertices: corners.to_vec(),
        triangles: (0..(corners.len() as u32 - 1) / 2)
            .map(|t| [0, 2 * t + 1, 2 * t + 2])
            .collect(),
    }
}

fn soup(corners: &[DVec3]) -> TriMesh {
    TriMesh {
        vertices: corners.to_vec(),
        triangles: (0..corners.len() as u32 / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
    }
}

fn coordinate() -> impl Strategy<Value = f64> {
    // Integers make coincident, collinear and coplanar corners common.
    prop_oneof![-10.0..10.0, (-3..4).prop_map(f64::from)]
}

fn point() -> impl Strategy<Value = DVec3> {
    (coordinate(), coordinate(), coordinate()).prop_map(DVec3::from)
}

fn brute_distance(mesh: &TriMesh, p: DVec3) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| triangle_distance(p, mesh.corners(t)))
        .fold(f64::INFINITY, f64::min)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_closest_point_of_connected_triangles_is_the_brute_force_one(
        corners in prop::collection::vec(point(), 3..200),
        queries in prop::collection::vec(point(), 20),
        offset in prop_oneof![Just(DVec3::ZERO), Just(DVec3::new(1e5, -2e5, 3e5))],
    ) {
        let mesh = moved(fan(&corners), offset);
        let solid = MeshSolid::new(mesh.clone());
        for p in queries.into_iter().map(|p| p + offset) {
            let closest = solid.closest_point(p).unwrap();
            prop_assert!((closest.point.distance(p) - closest.distance).abs() < 1e-9);
            prop_assert!(triangle_distance(closest.point, mesh.corners(closest.triangle)) < 1e-7);
            let nearest = brute_distance(&mesh, p);
            prop_assert!((closest.distance - nearest).abs() < 1e-7, "{} {nearest}", closest.distance);
            let half = 0.5 * closest.distance;
            prop_assert_eq!(solid.distance_within(p, half), half);
            prop_assert_eq!(solid.distance_within(p, 3.0 * half + 1.0), closest.distance);
        }
    }

    #[test]
    fn the_winding_number_is_the_sum_of_solid_angles(
        corners in prop::collection::vec(point(), 3..400),
        queries in prop::collection::vec((-12.0..12.0, -12.0..12.0, -12.0..12.0), 10),
    ) {
        let mesh = fan(&corners);
        let solid = MeshSolid::new(mesh.clone());
        for p in queries.into_iter().map(DVec3::from) {
            let (fast, exact) = (solid.winding_number(p), exact_winding_number(&mesh, p));
            prop_assert!((fast - exact).abs() < 0.1, "{fast} {exact}");
        }
    }
}

proptest! {
    // Every triangle of a soup may be cut by every other: the most expensive case.
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_soup_has_a_finite_distance_not_below_the_brute_force_one_and_a_unit_normal(
        corners in prop::collection::vec(point(), 3..120),
        mut queries in prop::collection::vec(point(), 10),
    ) {
        let mesh = soup(&corners);
        let solid = MeshSolid::new(mesh.clone());
        queries.push(corners[0]);
        for p in queries {
            let distance = solid.distance(p);
            prop_assert!(distance.is_finite() || solid.closest_point(p).is_none());
            prop_assert!(distance.abs() > brute_distance(&mesh, p) - 1e-7);
            prop_assert!((solid.normal(p).length() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_winding_number_of_a_fine_mesh_is_close_to_the_exact_sum() {
    for mesh in [
        torus_mesh(1.0, 0.4, 80, 40),
        icosphere(1.0, 4),
        moved(icosphere(0.01, 4), DVec3::splat(1e4)),
    ] {
        let solid = MeshSolid::new(mesh.clone());
        for p in points_in(mesh.bounds().grown(0.1), 300) {
            let (fast, exact) = (solid.winding_number(p), exact_winding_number(&mesh, p));
            assert!((fast - exact).abs() < 0.1, "{fast} {exact} at {p}");
        }
    }
}

/// A sphere's facets lie between the spheres through its edges' midpoints and its corners.
#[test]
fn the_sign_in_a_sphere_is_right_wherever_facets_cannot_matter() {
    let radius = 2.0;
    let center = DVec3::new(100.0, -50.0, 20.0);
    let mesh = moved(icosphere(radius, 4), center);
    let solid = MeshSolid::new(mesh.clone());
    let sagitta = (0..mesh.triangles.len())
        .map(|t| radius - (mesh.corners(t).into_iter().sum::<DVec3>() / 3.0).distance(center))
        .fold(0.0, f64::max);
    for p in points_in(mesh.bounds().grown(1.0), 20_000) {
        let exact = p.distance(center) - radius;
        let distance = solid.distance(p);
        assert!((distance - exact).abs() < 2.0 * sagitta, "{distance} {exact}");
        if exact > 0.0 || exact < -2.0 * sagitta {
            assert_eq!(distance > 0.0, exact > 0.0, "{distance} {exact}");
        }
    }
}

/// Just off the center, an edge or a corner of a facet, along the outward direction of all facets around it.
#[test]
fn the_sign_is_right_close_to_faces_edges_and_vertices() {
    for (mesh, step) in [(torus_mesh(1.0, 0.4, 60, 30), 1e-7), (icosphere(1.0, 3), 1e-7)] {
        let solid = MeshSolid::new(mesh.clone());
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            let out = step * (b - a).cross(c - a).normalize();
            for weights in [
                [0.3, 0.3, 0.4],
                [0.5, 0.5, 0.0],
                [0.999, 0.001, 0.0],
                [0.9999, 0.00005, 0.00005],
            ] {
                let p = weights[0] * a + weights[1] * b + weights[2] * c;
                assert!(solid.distance(p - out) < 0.0, "{p}");
                // On a saddle the outside of one facet may be inside at its edge.
                if weights[2] > 0.2 {
                    assert!(solid.distance(p + out) > 0.0, "{p}");
                }
            }
        }
    }
}

#[test]
fn a_cube_has_the_exact_distance_and_normal_everywhere() {
    let half = DVec3::new(1.0, 2.0, 0.5);
    let shape = Block {
        half,
        rotation: DMat3::IDENTITY,
    };
    let solid = MeshSolid::new(cuboid(Aabb::new(-half, half)));
    assert_eq!(solid.bounds(), shape.bounds());
    for (k, p) in points_in(shape.bounds().grown(2.0), 20_000).enumerate() {
        let p = if k % 5 == 0 { p.round() + 1e-9 } else { p };
        let exact = shape.distance(p);
        assert!((solid.distance(p) - exact).abs() < 1e-12, "{p} {exact}");
        let slope = solid.distance(p + 1e-6 * solid.normal(p)) - solid.distance(p);
        let at_medial_axis = exact < 0.0 && slope < 0.9e-6;
        assert!((slope - 1e-6).abs() < 1e-9 || at_medial_axis, "{p} {slope}");
    }
}

#[test]
fn a_query_far_away_is_outside_at_the_right_distance() {
    let solid = MeshSolid::new(torus_mesh(1.0, 0.4, 60, 30));
    for direction in points_in(Aabb::new(DVec3::splat(-1.0), DVec3::ONE), 50) {
        for range in [1e2, 1e6, 1e12] {
            let distance = solid.distance(range * direction.normalize());
            assert!((distance / range - 1.0).abs() < 1.5 / range + 1e-12, "{distance}");
        }
    }
}

#[test]
fn a_thin_wall_separates_its_two_sides() {
    let half = DVec3::new(1.0, 1.0, 1e-5);
    let solid = MeshSolid::new(cuboid(Aabb::new(-half, half)));
    for p in points_in(Aabb::new(DVec3::splat(-0.99), DVec3::splat(0.99)), 1000) {
        let at = |z: f64| solid.distance(p.with_z(z));
        assert!(at(2e-5) > 0.0 && at(-2e-5) > 0.0 && at(0.0) < 0.0 && at(0.9e-5) < 0.0);
    }
}

#[test]
fn a_hole_changes_no_sign_away_from_it() {
    let mut mesh = icosphere(1.0, 4);
    let (vertices, count) = (mesh.vertices.clone(), mesh.triangles.len());
    mesh.triangles.retain(|t| vertices[t[0] as usize].z < 0.95);
    assert!(mesh.triangles.len() < count);
    let solid = MeshSolid::new(mesh);
    for p in points_in(Aabb::new(DVec3::splat(-1.5), DVec3::splat(1.5)), 5000) {
        if p.distance(DVec3::Z) > 0.5 && (p.length() - 1.0).abs() > 0.01 {
            assert_eq!(solid.is_inside(p), p.length() < 1.0, "{p} {}", solid.winding_number(p));
        }
    }
}

fn box_between(min: [f64; 3], max: [f64; 3]) -> TriMesh {
    cuboid(Aabb::new(DVec3::from(min), DVec3::from(max)))
}

#[test]
fn two_overlapping_cubes_are_their_union_without_the_walls_between() {
    let mesh = join(
        box_between([-2.0, -1.0, -1.0], [0.5, 1.0, 1.0]),
        &box_between([-0.5, -1.2, -0.8], [2.0, 0.9, 1.1]),
    );
    let a = Block {
        half: DVec3::new(1.25, 1.0, 1.0),
        rotation: DMat3::IDENTITY,
    };
    let b = Block {
        half: DVec3::new(1.25, 1.05, 0.95),
        rotation: DMat3::IDENTITY,
    };
    let distance_a = |p: DVec3| a.distance(p - DVec3::new(-0.75, 0.0, 0.0));
    let distance_b = |p: DVec3| b.distance(p - DVec3::new(0.75, -0.15, 0.15));
    let solid = MeshSolid::new(mesh.clone());
    let strip = solid.bounds().size().length() / 128.0;
    for p in points_in(solid.bounds().grown(0.5), 5000) {
        let union = distance_a(p).min(distance_b(p));
        assert_eq!(solid.distance(p) > 0.0, union > 0.0, "{p}");
        if union > 0.0 {
            assert!((solid.distance(p) - union).abs() < 1e-12, "{p}");
        } else {
            assert!(solid.distance(p) < union + strip, "{p} {} {union}", solid.distance(p));
        }
    }
    // The center is 0.8 to 1.2 from all outer walls, 0.5 from the walls inside.
    assert!(solid.distance(DVec3::ZERO) < -0.75, "{}", solid.distance(DVec3::ZERO));
}

#[test]
fn a_tower_through_a_wall_and_a_ball_inside_leave_no_inner_walls() {
    let wall = box_between([-5.0, -0.5, 0.0], [5.0, 0.5, 4.0]);
    let tower = box_between([-1.0, -1.0, -0.1], [1.0, 1.0, 6.0]);
    let ball = moved(icosphere(0.2, 2), DVec3::new(0.0, 0.0, 2.0));
    let solid = MeshSolid::new(join(join(wall, &tower), &ball));
    // 1 m from the sides of the tower; the wall's own sides at 0.5 m and the ball at 0.05 m lie inside.
    let distance = solid.distance(DVec3::new(0.0, 0.0, 2.25));
    assert!((-1.0..-0.9).contains(&distance), "{distance}");
}

#[test]
fn a_hollow_ball_and_parts_side_by_side_keep_all_their_walls() {
    let mut cavity = icosphere(0.5, 2);
    cavity.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let mesh = join(
        join(icosphere(1.0, 2), &cavity),
        &box_between([1.2, -0.5, -0.5], [2.0, 0.5, 0.5]),
    );
    let solid = MeshSolid::new(mesh.clone());
    assert!(solid.distance(DVec3::ZERO) > 0.0 && solid.distance(DVec3::new(0.75, 0.0, 0.0)) < 0.0);
    for p in points_in(solid.bounds(), 500) {
        assert!((solid.distance(p).abs() - brute_distance(&mesh, p)).abs() < 1e-9, "{p}");
    }
}

#[test]
fn meshes_without_triangles_area_or_finite_corners_are_no_trouble() {
    let empty = MeshSolid::new(TriMesh::default());
    assert_eq!(empty.distance(DVec3::ONE), f64::INFINITY);
    assert!(empty.bounds().is_empty() && empty.closest_point(DVec3::ONE).is_none());

    let point = MeshSolid::new(soup(&[DVec3::ONE; 30]));
    assert!((point.distance(DVec3::ZERO) - 3f64.sqrt()).abs() < 1e-12);

    let mut corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    corners.extend([DVec3::NAN, DVec3::X, DVec3::INFINITY]);
    let broken = MeshSolid::new(soup(&corners));
    assert_eq!(broken.distance(DVec3::new(0.2, 0.2, 3.0)), 3.0);
    assert_eq!(broken.bounds().max, DVec3::new(1.0, 1.0, 0.0));

    for p in [DVec3::NAN, DVec3::INFINITY] {
        assert!(!broken.is_inside(p) && broken.normal(p).is_normalized());
    }
}

#[test]
fn a_hundred_thousand_coincident_triangles_are_built_and_searched() {
    let mut stream = Stream::new(1, 0);
    let mut corners: Vec<DVec3> = [DVec3::ZERO, DVec3::X, DVec3::Y].repeat(30_000);
    corners.extend((0..300).map(|_| stream.unit_cube() * 1e-12));
    let solid = MeshSolid::new(fan(&corners));
    assert!((solid.distance(DVec3::new(0.1, 0.1, 1.0)) - 1.0).abs() < 1e-9);
}
