//! Draws bodies as wireframes.

use barchan_geometry::TriMesh;
use barchan_render::{Camera, Image, draw_lines};
use barchan_world::BodyState;
use glam::{DVec3, Vec3};

use crate::look::{LookError, pose};
use crate::stage::{BodySurface, Stage};

/// Cosine of the angle between faces above which their edge is drawn: 25 degrees.
const SHARP: f32 = 0.906;

/// Largest height of a sliver relative to its longest side [-].
const SLIVER: f32 = 0.08;

/// Largest height of a sliver relative to the size of the mesh [-]: taller triangles, such as the long ones of a thin
/// wall, have a normal.
const THIN: f32 = 1e-3;

/// An edge of a mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    ends: [u32; 2],
    /// Unit normals of the adjacent faces; the same twice at an open boundary.
    normals: [Vec3; 2],
}

/// Returns the edges of a mesh, each once.
pub(crate) fn edges(mesh: &TriMesh, vertices: &[Vec3]) -> Vec<Edge> {
    let ends = |triangle: &[u32; 3], k: usize| {
        let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
        [from.min(to), from.max(to)]
    };
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * mesh.triangles.len());
    for (t, triangle) in (0..).zip(&mesh.triangles) {
        sides.extend((0..3).map(|k| (ends(triangle, k), t)));
    }
    sides.sort_unstable();
    let beside = |ends: [u32; 2]| {
        let first = sides.partition_point(|side| side.0 < ends);
        sides[first..]
            .iter()
            .take_while(move |side| side.0 == ends)
            .map(|side| side.1)
    };
    // The normal of a sliver is rounding noise: it takes the normal of the face across its longest side, if that is no
    // sliver.
    let thin = THIN * mesh.bounds().size().max_element().max(0.0) as f32;
    let plain: Vec<Option<Vec3>> = mesh.triangles.iter().map(|t| normal(t, vertices, thin)).collect();
    let borrowed = |t: usize| {
        let triangle = &mesh.triangles[t];
        let length = |k: usize| {
            let [a, b] = ends(triangle, k).map(|v| vertices[v as usize]);
            a.distance_squared(b)
        };
        let longest = (0..3).max_by(|&a, &b| length(a).total_cmp(&length(b)))?;
        beside(ends(triangle, longest)).find_map(|other| plain[other as usize])
    };
    let own = |t: usize| normal(&mesh.triangles[t], vertices, 0.0);
    let of = |t: u32| {
        let known = plain[t as usize].or_else(|| borrowed(t as usize));
        known.or_else(|| own(t as usize)).unwrap_or(Vec3::ZERO)
    };
    let edge = |sides: &[([u32; 2], u32)]| Edge {
        ends: sides[0].0,
        normals: [of(sides[0].1), of(sides[sides.len() - 1].1)],
    };
    sides.chunk_by(|a, b| a.0 == b.0).map(edge).collect()
}

/// Returns the unit normal of a triangle, `None` for a sliver less than `thin` [m] high.
fn normal(triangle: &[u32; 3], vertices: &[Vec3], thin: f32) -> Option<Vec3> {
    let [a, b, c] = triangle.map(|v| vertices[v as usize]);
    let area = (b - a).cross(c - a);
    let longest = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    let is_high = area.length() > SLIVER * longest || area.length() > thin * longest.sqrt();
    is_high.then(|| area.try_normalize())?
}

impl Stage {
    /// Draws bodies as lines: their sharp edges and their silhouettes.
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

/// Returns the edges that are visible from a point in the body's frame [m].
fn visible(surface: &BodySurface, eye: Vec3) -> impl Iterator<Item = &Edge> {
    surface.edges().iter().filter(move |edge| {
        let [a, b] = edge.normals;
        let to_eye = eye - surface.vertices[edge.ends[0] as usize];
        (a.dot(b) < SHARP && a != Vec3::ZERO && b != Vec3::ZERO) || (a.dot(to_eye) > 0.0) != (b.dot(to_eye) > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::mesh::primitives::cuboid;

    #[test]
    fn boxes_have_twelve_sharp_edges_and_no_diagonals() {
        for size in [
            DVec3::splat(2.0),
            DVec3::new(0.06, 0.06, 0.96),
            DVec3::new(3.0, 2.0, 1e-3),
        ] {
            let mesh = cuboid(size);
            let vertices: Vec<Vec3> = mesh.vertices.iter().map(|v| v.as_vec3()).collect();
            let edges = edges(&mesh, &vertices);
            // Twelve sides and a diagonal in each of six faces.
            assert_eq!(edges.len(), 18);
            let is_sharp =
                |edge: &&Edge| edge.normals[0].dot(edge.normals[1]) < SHARP && !edge.normals.contains(&Vec3::ZERO);
            assert_eq!(edges.iter().filter(is_sharp).count(), 12, "{size}");
        }
    }
}
