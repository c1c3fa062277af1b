use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

use barchan_geometry::isosurface::{IsosurfaceError, isosurface, sharpen};
use barchan_geometry::mesh::MeshSolid;
use barchan_geometry::mesh::primitives::icosphere;
use barchan_geometry::random::Stream;
use barchan_geometry::shapes::{self, Cuboid, Cylinder, Subtract, Transformed};
use barchan_geometry::{Aabb, Shape, TriMesh};
use glam::{DMat3, DQuat, DVec3, EulerRot};

use crate::support::{Block, Sphere, Torus, cuboid};

const LIMIT: usize = 1 << 30;

fn area(mesh: &TriMesh) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| mesh.corners(t))
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
        .sum()
}

fn volume(mesh: &TriMesh) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| mesh.corners(t))
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum()
}

/// Returns V - E + F, after checking that every edge is used once in each direction and that the triangles around each
/// vertex form one closed fan.
fn euler_characteristic(mesh: &TriMesh) -> i64 {
    let mut directed: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut links: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        for (v, from, to) in [(c, a, b), (a, b, c), (b, c, a)] {
            assert_ne!(from, to);
            *directed.entry((from, to)).or_default() += 1;
            links.entry(v).or_default().insert(from, to);
        }
    }
    for (&(from, to), &count) in &directed {
        assert_eq!((count, directed.get(&(to, from))), (1, Some(&1)), "edge {from} {to}");
    }
    assert_eq!(links.len(), mesh.vertices.len(), "vertices without triangles");
    for (v, link) in &links {
        let start = *link.keys().next().unwrap();
        let (mut at, mut steps) = (link[&start], 1);
        while at != start {
            at = link[&at];
            steps += 1;
        }
        assert_eq!(steps, link.len(), "two fans at vertex {v}");
    }
    mesh.vertices.len() as i64 - directed.len() as i64 / 2 + mesh.triangles.len() as i64
}

fn surface(shape: &dyn Shape, voxel: f64, level: f64) -> TriMesh {
    isosurface(shape, voxel, level, LIMIT).unwrap()
}

#[test]
fn volume_and_area_of_a_sphere_and_a_torus_converge_with_second_order() {
    let sphere = Sphere {
        center: DVec3::new(30.0, -20.0, 10.0),
        radius: 1.0,
    };
    let torus = Torus { major: 1.0, minor: 0.4 };
    let level = 0.1;
    let ball = (4.0 / 3.0 * PI * 1.1f64.powi(3), 4.0 * PI * 1.1f64.powi(2));
    let ring = (2.0 * PI * PI * 0.25, 4.0 * PI * PI * 0.5);
    for (shape, (exact_volume, exact_area), characteristic) in [(&sphere as &dyn Shape, ball, 2), (&torus, ring, 0)] {
        let errors = [0.1, 0.05].map(|voxel| {
            let mut mesh = surface(shape, voxel, level);
            assert_eq!(euler_characteristic(&mesh), characteristic);
            for &p in &mesh.vertices {
                assert!((shape.distance(p) - level).abs() < 1e-9, "{p}");
            }
            let center = shape.bounds().center();
            mesh.vertices.iter_mut().for_each(|v| *v -= center);
            [1.0 - volume(&mesh) / exact_volume, 1.0 - area(&mesh) / exact_area]
        });
        for k in 0..2 {
            assert!((0.0..0.02).contains(&errors[0][k]), "{errors:?}");
            assert!(errors[1][k] < errors[0][k] / 3.3, "{errors:?}");
        }
    }
}

#[test]
fn flat_faces_are_flat_and_edges_are_cut_by_less_than_a_voxel() {
    let half = DVec3::new(1.0, 0.6, 0.4);
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 0.6);
    let errors = [0.08, 0.04].map(|voxel| {
        let mesh = surface(&Block { half, rotation }, voxel, 0.0);
        assert_eq!(euler_characteristic(&mesh), 2);
        for &p in &mesh.vertices {
            assert!(Block { half, rotation }.distance(p).abs() < 1e-9, "{p}");
        }
        1.0 - volume(&mesh) / (8.0 * half.element_product())
    });
    assert!(errors[0] < 0.02 && errors[1] < errors[0] / 3.0, "{errors:?}");
}

#[test]
fn sharpened_blocks_and_discs_have_their_edges_and_corners() {
    let half = DVec3::new(1.0, 0.6, 0.4);
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 0.6);
    let block = Block { half, rotation };
    let mut mesh = surface(&block, 0.08, 0.0);
    sharpen(&mut mesh, &block);
    assert_eq!(euler_characteristic(&mesh), 2);
    let exact = 8.0 * half.element_product();
    assert!((volume(&mesh) / exact - 1.0).abs() < 1e-3, "{}", volume(&mesh) / exact);
    for k in 0..8u32 {
        let sign = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0;
        let corner = rotation * (sign * half);
        let nearest = mesh
            .vertices
            .iter()
            .map(|v| v.distance(corner))
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-9, "{nearest} m from the corner {corner}");
    }

    // A disc two voxels thick: its rim is where top and side meet, all around.
    let disc = Cylinder::new(1.0, 0.1).unwrap();
    let mut mesh = surface(&disc, 0.045, 0.0);
    let lost = |mesh: &TriMesh| (1.0 - volume(mesh) / (0.1 * PI)).abs();
    let before = lost(&mesh);
    sharpen(&mut mesh, &disc);
    assert_eq!(euler_characteristic(&mesh), 2);
    assert!(lost(&mesh) < 0.25 * before, "{before} to {}", lost(&mesh));
    for k in 0..360 {
        let angle = f64::from(k).to_radians();
        let rim = DVec3::new(angle.cos(), angle.sin(), 0.05);
        let nearest = mesh
            .vertices
            .iter()
            .map(|v| v.distance(rim))
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < 0.06, "{nearest} m from the rim at {k} degrees");
    }
}

#[test]
fn no_side_of_a_sharpened_disc_cuts_its_rim() {
    let disc = Cylinder::new(1.05, 0.12).unwrap();
    for voxel in [0.02, 0.029, 0.0363, 0.04, 0.05, 0.0725] {
        let mut mesh = surface(&disc, voxel, 0.0);
        sharpen(&mut mesh, &disc);
        assert_eq!(euler_characteristic(&mesh), 2);
        let off = |t: usize| {
            let [a, b, c] = mesh.corners(t);
            let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0];
            middles.map(|p| disc.distance(p).abs()).into_iter().fold(0.0, f64::max)
        };
        let worst = (0..mesh.triangles.len()).map(off).fold(0.0, f64::max);
        assert!(worst < 0.05 * voxel, "{worst} m with voxels of {voxel} m");
    }
}

#[test]
fn slivers_are_rare() {
    let mesh = surface(&Torus { major: 1.0, minor: 0.4 }, 0.05, 0.0);
    let thin = (0..mesh.triangles.len())
        .filter(|&t| {
            let [a, b, c] = mesh.corners(t);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            (b - a).cross(c - a).length() / longest.powi(2) < 0.1
        })
        .count();
    assert!(thin * 50 < mesh.triangles.len(), "{thin} of {}", mesh.triangles.len());
}

#[test]
fn flat_edges_and_corners_beside_round_faces_are_exact() {
    let moved =
        |shape: Arc<dyn Shape>, at: DVec3| -> Arc<dyn Shape> { Arc::new(Transformed::moved(shape, at).unwrap()) };
    let size = DVec3::new(1.6, 1.2, 0.5);
    let ball = moved(Arc::new(shapes::Sphere::new(0.35).unwrap()), 0.3 * DVec3::Z);
    let ring = moved(Arc::new(shapes::Torus::new(0.4, 0.1).unwrap()), 0.25 * DVec3::Z);
    let mut report = Vec::new();
    for round in [ball, ring] {
        for turn in [DQuat::IDENTITY, DQuat::from_euler(EulerRot::XYZ, 0.3, -0.5, 1.1)] {
            for voxels in [40.0, 48.0, 61.0] {
                let cuboid: Arc<dyn Shape> = Arc::new(Cuboid::new(size).unwrap());
                let cut: Arc<dyn Shape> = Arc::new(Subtract::new(vec![cuboid.clone(), round.clone()], 0.0).unwrap());
                let shape = Transformed::new(cut, DVec3::ZERO, turn, DVec3::ONE).unwrap();
                let voxel = shape.bounds().size().max_element() / voxels;
                let mut mesh = surface(&shape, voxel, 0.0);
                sharpen(&mut mesh, &shape);
                let even = euler_characteristic(&mesh) % 2;
                assert_eq!(even, 0);
                let corners = cuboid.bounds().corners();
                let nearest = |p: DVec3| {
                    mesh.vertices
                        .iter()
                        .map(|v| v.distance(p))
                        .fold(f64::INFINITY, f64::min)
                };
                let worst = corners.map(|p| nearest(turn * p)).into_iter().fold(0.0, f64::max);
                let edges = (0..8usize)
                    .flat_map(|a| [1, 2, 4].map(|bit| (a, a ^ bit)))
                    .filter(|(a, b)| a < b);
                let on_edges =
                    edges.flat_map(|(a, b)| (0..=200).map(move |k| corners[a].lerp(corners[b], f64::from(k) / 200.0)));
                let solid = MeshSolid::new(mesh.clone());
                let off = on_edges
                    .map(|p| solid.closest_point(turn * p).unwrap().distance)
                    .fold(0.0, f64::max);
                report.push((worst / voxel, off / voxel));
            }
        }
    }
    let worst = report
        .iter()
        .fold((0.0f64, 0.0f64), |all, one| (all.0.max(one.0), all.1.max(one.1)));
    assert!(
        worst.0 < 1e-6 && worst.1 < 1e-6,
        "corners and edges are off by {worst:?} voxels"
    );
}

/// Random values, so that every case of every tetrahedron occurs and nothing is resolved.
#[test]
fn the_surface_of_noise_is_a_closed_manifold() {
    #[derive(Debug)]
    struct Noise(u64);
    impl Shape for Noise {
        fn distance(&self, p: DVec3) -> f64 {
            let outside = (p.abs() - 1.0).max_element();
            let cell = ((p + 4.0) * 1e6).round().as_u64vec3();
            let noise = 0.2 * (Stream::new(self.0, cell.x ^ (cell.y << 20) ^ (cell.z << 40)).unit() - 0.6);
            outside.max(noise)
        }
        fn bounds(&self) -> Aabb {
            Aabb::new(DVec3::splat(-1.0), DVec3::ONE)
        }
    }
    for seed in 0..4 {
        let mut mesh = surface(&Noise(seed), 0.09, 0.0);
        assert!(mesh.triangles.len() > 10_000);
        assert_eq!(euler_characteristic(&mesh) % 2, 0);
        sharpen(&mut mesh, &Noise(seed));
        assert_eq!(euler_characteristic(&mesh) % 2, 0, "sharpened");
    }
}

#[test]
fn an_open_mesh_still_gives_a_closed_surface() {
    let mut open = icosphere(1.0, 3);
    let vertices = open.vertices.clone();
    open.triangles.retain(|t| vertices[t[0] as usize].z < 0.8);
    let mesh = surface(&MeshSolid::new(open), 0.04, 0.0);
    assert_eq!(euler_characteristic(&mesh), 2);
    let full = 4.0 / 3.0 * PI;
    assert!((0.85 * full..full).contains(&volume(&mesh)), "{}", volume(&mesh) / full);
}

#[test]
fn the_inset_of_a_mesh_is_smaller_by_the_level() {
    let solid = MeshSolid::new(cuboid(Aabb::new(DVec3::splat(-1.0), DVec3::ONE)));
    let mesh = surface(&solid, 0.1, -0.25);
    assert_eq!(euler_characteristic(&mesh), 2);
    assert!((volume(&mesh) / 1.5f64.powi(3) - 1.0).abs() < 0.02);
    assert!((mesh.bounds().max - 0.75).abs().max_element() < 1e-9);
}

#[test]
fn what_cannot_be_meshed_is_refused_and_nothing_is_an_empty_mesh() {
    let sphere = Sphere {
        center: DVec3::ZERO,
        radius: 1.0,
    };
    for (voxel, level) in [(0.0, 0.0), (-1.0, 0.0), (f64::NAN, 0.0), (0.1, f64::INFINITY)] {
        assert!(matches!(
            isosurface(&sphere, voxel, level, LIMIT),
            Err(IsosurfaceError::Size { .. })
        ));
    }
    for voxel in [1e-4, 1e-12, 1e-300] {
        let refused = isosurface(&sphere, voxel, 0.0, LIMIT);
        assert!(
            matches!(refused, Err(IsosurfaceError::Memory { needed, .. }) if needed > LIMIT as f64),
            "{refused:?}"
        );
    }
    assert!(surface(&sphere, 0.1, -1.5).triangles.is_empty());
    assert!(
        surface(&MeshSolid::new(TriMesh::default()), 0.1, 0.0)
            .triangles
            .is_empty()
    );
}
