//! Volume, centre and inertia of what a closed mesh encloses.

use glam::DVec3;

use super::TriMesh;
use crate::MassProperties;
use crate::mass::Moments;

/// Mass properties of the solid that `mesh` encloses, exact for a closed mesh that faces outwards and whose shells do not
/// overlap; [`MeshSolid::filled`](super::MeshSolid::filled) counts overlaps once.
///
/// Sum over the signed tetrahedra between the triangles and a point; the same as [Mirtich96] without its integrals over
/// faces. The point is the middle of the bounds, so that a small mesh far away keeps its digits. Where nothing is
/// enclosed, the centre is that middle.
pub fn mass_properties(mesh: &TriMesh) -> MassProperties {
    let bounds = mesh.bounds();
    let origin = if bounds.is_empty() {
        DVec3::ZERO
    } else {
        bounds.center()
    };
    let cone = |t: usize| Moments::cone(mesh.corners(t).map(|p| p - origin));
    (0..mesh.triangles.len())
        .fold(Moments::ZERO, |sum, t| sum.plus(&cone(t)))
        .properties(origin)
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
