//! Triangle meshes: their files, their faults, and the solid they enclose.

mod bvh;
mod exposed;
mod leaf;
mod solid;
mod winding;

pub use bvh::Closest;
pub use solid::MeshSolid;

use glam::DVec3;

use crate::Aabb;

/// Triangles over shared vertices, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions [m].
    pub vertices: Vec<DVec3>,
    /// Three vertex numbers a triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The corners [m] of triangle `t`.
    pub fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// The smallest box [m] around the triangles' corners.
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(self.triangles.iter().flatten().map(|&v| self.vertices[v as usize]))
    }
}
