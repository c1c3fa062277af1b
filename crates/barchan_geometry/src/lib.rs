//! Shapes, triangle meshes, signed distance and sampling.
//!
//! Lengths are metres, z is up, frames are right-handed, angles are radians. All of it works in `f64`: a shape may lie
//! kilometres from the origin and still be sampled with millimetre particles.

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
