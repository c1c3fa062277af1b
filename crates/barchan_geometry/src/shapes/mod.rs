//! Implicit solids, one file each, and their compositions and transforms.
//!
//! Every length is an outer size [m]: rounding does not make a box larger, and a capsule's height includes its caps.
//! Solids are centered on the origin and stand along z; [`Transformed`] moves them.

mod box_tree;
mod capsule;
mod compose;
mod cone;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod error;
mod half_space;
mod heightmap;
mod heightmap_png;
mod profile;
mod revolve;
mod sphere;
mod torus;
mod transformed;

pub use capsule::Capsule;
pub use compose::{Intersect, Subtract, Union};
pub use cone::Cone;
pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use error::ShapeError;
pub use half_space::HalfSpace;
pub use heightmap::Heightmap;
pub use revolve::Revolve;
pub use sphere::Sphere;
pub use torus::Torus;
pub use transformed::Transformed;

use glam::DVec3;

#[cfg(test)]
mod contract_tests;

/// Normalizes `v`, also for lengths whose square is not representable; `None` for zero and non-finite vectors.
fn unit(v: DVec3) -> Option<DVec3> {
    let largest = v.abs().max_element();
    (largest > 0.0 && largest.is_finite()).then(|| (v / largest).normalize())
}

/// Returns the unit vector [-] from the z axis toward `p`; x for a point on the axis.
fn outward_from_axis(p: DVec3) -> DVec3 {
    unit(p.with_z(0.0)).unwrap_or(DVec3::X)
}
