//! Mass properties of meshes against closed forms.

use std::f64::consts::PI;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use barchan_geometry::TriMesh;
use barchan_geometry::mesh::{mass_properties, primitives};
use glam::{DMat3, DVec3};

fn moved(mut mesh: TriMesh, by: DVec3) -> TriMesh {
    for vertex in &mut mesh.vertices {
        *vertex += by;
    }
    mesh
}

/// Returns the second moments [m⁵] about the origin, from the inertia about the center: C = tr(J)/2 I − J + V c cᵀ.
fn second_moments(mesh: &TriMesh) -> DMat3 {
    let p = mass_properties(mesh);
    let trace = p.inertia.x_axis.x + p.inertia.y_axis.y + p.inertia.z_axis.z;
    let c = p.center;
    DMat3::from_diagonal(DVec3::splat(0.5 * trace)) - p.inertia + DMat3::from_cols(c * c.x, c * c.y, c * c.z) * p.volume
}

fn box_inertia(size: DVec3) -> DVec3 {
    let s = size * size;
    size.element_product() / 12.0 * DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y)
}

#[test]
fn a_unit_cube_at_its_corner_has_the_moments_of_the_integral() {
    let cube = moved(primitives::cuboid(DVec3::ONE), DVec3::splat(0.5));
    let c = second_moments(&cube);
    assert_relative_eq!(mass_properties(&cube).volume, 1.0, epsilon = 1e-14);
    for i in 0..3 {
        for j in 0..3 {
            let exact = if i == j { 1.0 / 3.0 } else { 0.25 };
            assert_abs_diff_eq!(c.col(i)[j], exact, epsilon = 1e-14);
        }
    }
}

#[test]
fn a_box_has_the_inertia_of_the_closed_form() {
    let size = DVec3::new(1.0, 2.0, 0.5);
    let p = mass_properties(&primitives::cuboid(size));
    assert_relative_eq!(p.volume, 1.0, epsilon = 1e-14);
    assert!(
        p.inertia.abs_diff_eq(DMat3::from_diagonal(box_inertia(size)), 1e-14),
        "{:?}",
        p.inertia
    );
}

#[test]
fn a_regular_tetrahedron_has_the_moments_of_the_closed_form() {
    // Edge a of corners at distance R: a² = 8/3 R²; V = a³/(6√2), J = m a²/20.
    let radius = 3.0;
    let edge = radius * (8.0 / 3.0f64).sqrt();
    let p = mass_properties(&primitives::tetrahedron(radius));
    assert_relative_eq!(p.volume, edge.powi(3) / (6.0 * 2f64.sqrt()), epsilon = 1e-12);
    let exact = DMat3::from_diagonal(DVec3::splat(p.volume * edge * edge / 20.0));
    assert!(p.inertia.abs_diff_eq(exact, 1e-11), "{:?}", p.inertia);
    assert!(p.center.length() < 1e-12);
}

#[test]
fn ten_kilometers_away_the_moments_keep_ten_digits() {
    let size = DVec3::new(1.0, 2.0, 0.5);
    let by = DVec3::new(1e4, -1e4, 1e4);
    let p = mass_properties(&moved(primitives::cuboid(size), by));
    assert_relative_eq!(p.volume, 1.0, epsilon = 1e-10);
    assert!(p.center.abs_diff_eq(by, 1e-9), "{:?}", p.center);
    assert!(
        p.inertia.abs_diff_eq(DMat3::from_diagonal(box_inertia(size)), 1e-10),
        "{:?}",
        p.inertia
    );
}

#[test]
fn an_icosphere_tends_to_the_sphere_with_the_square_of_the_edge() {
    let radius = 2.0;
    let volume = 4.0 / 3.0 * PI * radius * radius * radius;
    let errors: Vec<(f64, f64)> = [3, 4, 5]
        .map(|n| {
            let p = mass_properties(&primitives::icosphere(radius, n));
            let inertia = 0.4 * volume * radius * radius;
            (1.0 - p.volume / volume, 1.0 - p.inertia.x_axis.x / inertia)
        })
        .to_vec();
    assert!(errors[2].0 < 1e-3 && errors[2].1 < 2e-3, "{errors:?}");
    for pair in errors.windows(2) {
        assert_relative_eq!(pair[0].0 / pair[1].0, 4.0, max_relative = 0.05);
        assert_relative_eq!(pair[0].1 / pair[1].1, 4.0, max_relative = 0.05);
    }
}

#[test]
fn a_torus_and_a_uv_sphere_tend_to_their_closed_forms() {
    let torus = mass_properties(&primitives::torus(2.0, 0.5, 256, 128));
    assert_relative_eq!(torus.volume, 2.0 * PI * PI * 2.0 * 0.25, max_relative = 1e-3);
    let about_axis = torus.volume * (4.0 + 0.75 * 0.25);
    assert_relative_eq!(torus.inertia.z_axis.z, about_axis, max_relative = 2e-3);
    let sphere = mass_properties(&primitives::uv_sphere(1.0, 128, 64));
    assert_relative_eq!(sphere.volume, 4.0 / 3.0 * PI, max_relative = 2e-3);
}

#[test]
fn an_empty_mesh_has_no_volume_and_no_nan() {
    let p = mass_properties(&TriMesh::default());
    assert_eq!((p.volume, p.center, p.inertia), (0.0, DVec3::ZERO, DMat3::ZERO));
}
