use std::f64::consts::PI;

use barchan_geometry::mass::{MassError, of_shape};
use barchan_geometry::mesh::MeshSolid;
use barchan_geometry::{Aabb, MassProperties, Shape, TriMesh};
use glam::{DMat3, DVec3};

use crate::support::{Block, Sphere, Torus, cuboid};

fn assert_close(found: &MassProperties, exact: &MassProperties, tolerance: f64) {
    let size = exact.volume.cbrt();
    assert!(
        (found.volume / exact.volume - 1.0).abs() < tolerance,
        "{found:?}\n{exact:?}"
    );
    assert!(
        found.center.distance(exact.center) < tolerance * size,
        "{found:?}\n{exact:?}"
    );
    let largest = exact.inertia.to_cols_array().into_iter().fold(0.0, f64::max);
    assert!(
        found.inertia.abs_diff_eq(exact.inertia, tolerance * largest),
        "{found:?}\n{exact:?}"
    );
}

fn block(half: DVec3, rotation: DMat3) -> MassProperties {
    let volume = 8.0 * half.element_product();
    let square = half * half;
    let inertia = DMat3::from_diagonal(volume / 3.0 * (DVec3::splat(square.element_sum()) - square));
    MassProperties {
        volume,
        center: DVec3::ZERO,
        inertia: rotation * inertia * rotation.transpose(),
    }
}

#[test]
fn a_sphere_a_turned_box_and_a_torus_match_their_closed_forms() {
    let (center, radius) = (DVec3::new(100.0, -200.0, 50.0), 0.01f64);
    let volume = 4.0 / 3.0 * PI * radius.powi(3);
    let inertia = DMat3::from_diagonal(DVec3::splat(0.4 * volume * radius * radius));
    let sphere = MassProperties {
        volume,
        center,
        inertia,
    };
    assert_close(&of_shape(&Sphere { center, radius }, 1e-3).unwrap(), &sphere, 1e-3);

    let half = DVec3::new(1.0, 0.5, 0.2);
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 0.6);
    assert_close(
        &of_shape(&Block { half, rotation }, 1e-3).unwrap(),
        &block(half, rotation),
        1e-3,
    );

    let (major, minor) = (1.0, 0.4);
    let volume = 2.0 * PI * PI * major * minor * minor;
    let axial = volume * (major * major + 0.75 * minor * minor);
    let across = volume * (0.5 * major * major + 0.625 * minor * minor);
    let inertia = DMat3::from_diagonal(DVec3::new(across, across, axial));
    let torus = MassProperties {
        volume,
        center: DVec3::ZERO,
        inertia,
    };
    assert_close(&of_shape(&Torus { major, minor }, 1e-3).unwrap(), &torus, 1e-3);
    assert_close(&of_shape(&Torus { major, minor }, 1e-5).unwrap(), &torus, 1e-5);
}

#[test]
fn an_upright_box_is_right_to_the_edges_and_a_mesh_is_a_shape_like_any_other() {
    let half = DVec3::new(1.0, 0.5, 0.25);
    let exact = block(half, DMat3::IDENTITY);
    assert_close(
        &of_shape(
            &Block {
                half,
                rotation: DMat3::IDENTITY,
            },
            1e-4,
        )
        .unwrap(),
        &exact,
        1e-4,
    );
    let solid = MeshSolid::new(cuboid(Aabb::new(-half, half)));
    assert_close(&of_shape(&solid, 1e-3).unwrap(), &exact, 1e-3);
}

#[test]
fn the_result_has_the_same_bits_on_one_thread_and_on_three() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of_shape(&Torus { major: 1.0, minor: 0.4 }, 1e-3).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn what_has_no_end_or_no_volume_is_refused() {
    #[derive(Debug)]
    struct Ground;
    impl Shape for Ground {
        fn distance(&self, p: DVec3) -> f64 {
            p.z
        }
        fn bounds(&self) -> Aabb {
            Aabb::new(DVec3::NEG_INFINITY, DVec3::new(f64::INFINITY, f64::INFINITY, 0.0))
        }
    }
    assert!(matches!(of_shape(&Ground, 1e-3), Err(MassError::Bounds { .. })));
    let empty = MeshSolid::new(TriMesh::default());
    assert!(matches!(of_shape(&empty, 1e-3), Err(MassError::Empty { .. })));
    let flat = MeshSolid::new(TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        triangles: vec![[0, 1, 2]],
    });
    assert!(matches!(of_shape(&flat, 1e-3), Err(MassError::Empty { .. })));
    let sphere = Sphere {
        center: DVec3::ZERO,
        radius: 1.0,
    };
    assert!(matches!(of_shape(&sphere, 0.0), Err(MassError::Tolerance { .. })));
    assert!(matches!(of_shape(&sphere, 1e-12), Err(MassError::Unsettled { .. })));
}
