//! Volume, centre and inertia of what a closed mesh encloses.

use glam::{DMat3, DVec3};

use super::TriMesh;
use crate::MassProperties;

/// Mass properties of the solid that `mesh` encloses, exact for a closed mesh that faces outwards.
///
/// Sum over signed tetrahedra (o, a, b, c): V_t = a·(b×c)/6 and second moments C = Σ V_t/20 ((a+b+c)(a+b+c)ᵀ + aaᵀ +
/// bbᵀ + ccᵀ), inertia J = tr(C_c) I − C_c about the centre of mass; the same as [Mirtich96] without its integrals over
/// faces. The origin o is the middle of the bounds, so that a small mesh far away keeps its digits. Where nothing is
/// enclosed, the centre is that middle.
pub fn mass_properties(mesh: &TriMesh) -> MassProperties {
    let bounds = mesh.bounds();
    let origin = if bounds.is_empty() {
        DVec3::ZERO
    } else {
        bounds.center()
    };

    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(|p| p - origin);
        let tetrahedron = a.dot(b.cross(c)) / 6.0;
        let sum = a + b + c;
        volume += tetrahedron;
        first += tetrahedron / 4.0 * sum;
        second += (outer(sum) + outer(a) + outer(b) + outer(c)) * (tetrahedron / 20.0);
    }

    let offset = if volume == 0.0 { DVec3::ZERO } else { first / volume };
    let central = second - outer(offset) * volume;
    let trace = central.x_axis.x + central.y_axis.y + central.z_axis.z;
    MassProperties {
        volume,
        center: origin + offset,
        inertia: DMat3::from_diagonal(DVec3::splat(trace)) - central,
    }
}

/// Signed volume [m³] of the cones from `apex` [m] to every triangle: what a closed mesh encloses, whatever the apex.
pub(super) fn volume_about(mesh: &TriMesh, apex: DVec3) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t).map(|p| p - apex);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}
