//! Triangle meshes: their files, their defects, and the solid they enclose.

mod bvh;
mod clean;
mod edges;
mod error;
mod exposed;
pub mod files;
mod filled;
mod flat;
mod leaf;
mod mass;
pub mod primitives;
mod report;
mod solid;
mod winding;

pub use bvh::Closest;
pub use clean::{LoadedMesh, LoadedSolid, clean};
pub use error::{MeshError, Place};
pub use files::{MeshFormat, load, parse, write_obj, write_ply, write_stl};
pub use filled::Filled;
pub use flat::{Face, FlatSolid};
pub use mass::mass_properties;
pub use report::MeshReport;
pub use solid::MeshSolid;

use glam::DVec3;

use crate::Aabb;

/// Largest plausible coordinate [m]: farther than the sun, and squares are still exact enough.
pub const MAX_COORDINATE: f64 = 1e12;

/// Largest number of triangles: their sides are counted in `u32`.
const MAX_TRIANGLES: usize = u32::MAX as usize / 3;

/// Triangles over shared vertices, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions [m].
    pub vertices: Vec<DVec3>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Returns the corners [m] of triangle `t`.
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// Returns the smallest box [m] around the triangles' corners.
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(self.triangles.iter().flatten().map(|&v| self.vertices[v as usize]))
    }

    /// Rejects a mesh without triangles, with vertices that are not finite or implausibly far away, or with invalid
    /// vertex indices.
    pub fn check(&self) -> Result<(), MeshError> {
        let too_many = |what, count, limit| (count > limit).then_some(MeshError::TooMany { what, limit });
        if let Some(error) = too_many("triangles", self.triangles.len(), MAX_TRIANGLES)
            .or_else(|| too_many("vertices", self.vertices.len(), u32::MAX as usize))
        {
            return Err(error);
        }
        let near = |p: DVec3| p.abs().max_element() <= MAX_COORDINATE;
        if let Some((vertex, &position)) = self
            .vertices
            .iter()
            .enumerate()
            .find(|&(_, &p)| !p.is_finite() || !near(p))
        {
            return Err(match position.is_finite() {
                true => MeshError::TooFar { vertex, position },
                false => MeshError::NotFinite { vertex, position },
            });
        }
        let vertices = self.vertices.len();
        for (triangle, numbers) in self.triangles.iter().enumerate() {
            if let Some(&index) = numbers.iter().find(|&&v| v as usize >= vertices) {
                return Err(MeshError::IndexOutOfRange {
                    triangle,
                    line: None,
                    index: i64::from(index),
                    vertices,
                    first: 0,
                });
            }
        }
        if self.triangles.is_empty() {
            return Err(MeshError::NoTriangles { dropped: 0 });
        }
        Ok(())
    }
}
