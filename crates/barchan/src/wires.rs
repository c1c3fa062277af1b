//! Bodies as lines.

use barchan_geometry::TriMesh;
use barchan_render::{Camera, Image, draw_lines};
use barchan_world::BodyState;
use glam::{DVec3, Vec3};

use crate::look::{LookError, pose};
use crate::stage::{Stage, Surface};

/// Edges between faces that turn by more than this are drawn: cosine of 25 degrees.
const SHARP: f32 = 0.906;

/// An edge of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    ends: [u32; 2],
    /// Unit normals of the faces beside it; twice the same at an open rim.
    normals: [Vec3; 2],
}

/// All edges of a mesh, each once.
pub(crate) fn edges(mesh: &TriMesh, vertices: &[Vec3]) -> Vec<Edge> {
    let mut sides: Vec<([u32; 2], Vec3)> = Vec::with_capacity(3 * mesh.triangles.len());
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|v| vertices[v as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for k in 0..3 {
            let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
            sides.push(([from.min(to), from.max(to)], normal));
        }
    }
    sides.sort_by_key(|side| side.0);
    let same = |a: &([u32; 2], Vec3), b: &([u32; 2], Vec3)| a.0 == b.0;
    let edge = |sides: &[([u32; 2], Vec3)]| Edge {
        ends: sides[0].0,
        normals: [sides[0].1, sides[sides.len() - 1].1],
    };
    sides.chunk_by(same).map(edge).collect()
}

impl Stage {
    /// Draws the bodies as lines: where their faces turn sharply, and their outlines.
    pub(crate) fn draw_wires(
        &self,
        image: &mut Image,
        bodies: &[BodyState],
        origin: DVec3,
        camera: &Camera,
    ) -> Result<(), LookError> {
        for state in bodies {
            let index = self.plan.bodies.iter().position(|body| body.name == state.name);
            let Some((k, surface)) = index.and_then(|k| Some((k, self.surfaces[k].as_ref()?))) else {
                continue;
            };
            let pose = pose(state, origin);
            let eye = pose.inverse().transform_point3(camera.position);
            let lines = visible(surface, eye)
                .map(|edge| edge.ends.map(|v| pose.transform_point3(surface.vertices[v as usize])));
            draw_lines(image, camera, lines, self.wire_color(k))?;
        }
        Ok(())
    }
}

/// The edges that are drawn for an eye at a place of the body's frame [m].
fn visible(surface: &Surface, eye: Vec3) -> impl Iterator<Item = &Edge> {
    surface.edges().iter().filter(move |edge| {
        let [a, b] = edge.normals;
        let to_eye = eye - surface.vertices[edge.ends[0] as usize];
        a.dot(b) < SHARP || (a.dot(to_eye) > 0.0) != (b.dot(to_eye) > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::mesh::primitives::cuboid;

    #[test]
    fn a_box_has_twelve_sharp_edges_and_no_diagonals() {
        let mesh = cuboid(DVec3::splat(2.0));
        let vertices: Vec<Vec3> = mesh.vertices.iter().map(|v| v.as_vec3()).collect();
        let edges = edges(&mesh, &vertices);
        // Twelve sides and a diagonal in each of six faces.
        assert_eq!(edges.len(), 18);
        assert_eq!(
            edges.iter().filter(|e| e.normals[0].dot(e.normals[1]) < SHARP).count(),
            12
        );
    }
}
