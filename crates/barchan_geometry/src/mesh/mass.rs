//! Volume, center and inertia of the space that a closed mesh encloses.

use glam::DVec3;

use super::TriMesh;
use crate::MassProperties;
use crate::mass::Moments;

/// Returns the mass properties of the solid that `mesh` encloses, exact for a closed mesh that faces outward and whose
/// shells do not overlap; [`MeshSolid::filled`](super::MeshSolid::filled) counts overlaps once.
///
/// Sums the signed tetrahedra between the triangles and a point; the same as [Mirtich96] without its integrals over
/// faces. The point is the center of the bounds, so that a small mesh far away keeps its precision. If no volume is
/// enclosed, the center of mass is that point.
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

/// Returns the signed volume [m³] of the cones from `apex` [m] to every triangle: the enclosed volume of a closed mesh,
/// whatever the apex.
pub(super) fn volume_about(mesh: &TriMesh, apex: DVec3) -> f64 {
    (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t).map(|p| p - apex);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}
