//! Shapes, triangle meshes, signed distance and sampling.
//!
//! Lengths are meters, z is up, frames are right-handed, angles are radians. Everything is computed in `f64`: a shape
//! may lie kilometers from the origin and still be sampled with millimeter particles.

mod aabb;
pub mod clump;
pub mod isosurface;
pub mod mass;
pub mod mesh;
pub mod random;
pub mod sample;
pub mod sdf_grid;
mod shape;
pub mod shapes;
pub mod text;

pub use aabb::Aabb;
pub use mass::MassProperties;
pub use mesh::TriMesh;
pub use shape::{Shape, central_difference_normal};
