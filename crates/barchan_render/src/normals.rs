//! Normals of meshes: smooth where faces meet at a blunt angle, sharp at edges.

use crate::picture::Mesh;
use glam::Vec3;

/// Cosine of the largest angle between faces that count as one smooth surface: 40 degrees.
const SMOOTH: f32 = 0.766;

/// Returns unit normals at the three corners of each triangle, in the frame of the picture; zero for a triangle without
/// area.
pub(crate) fn corner_normals(mesh: &Mesh) -> Vec<[Vec3; 3]> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.vertex(v));
        (b - a).cross(c - a)
    };
    let areas: Vec<Vec3> = mesh.triangles.iter().map(area).collect();
    let units: Vec<Vec3> = areas.iter().map(|area| area.normalize_or_zero()).collect();

    let mut starts = vec![0u32; mesh.vertices.len() + 1];
    for &vertex in mesh.triangles.as_flattened() {
        starts[vertex as usize + 1] += 1;
    }
    for v in 1..starts.len() {
        starts[v] += starts[v - 1];
    }
    let mut next = starts.clone();
    let mut faces = vec![0u32; 3 * mesh.triangles.len()];
    for (corner, &vertex) in mesh.triangles.as_flattened().iter().enumerate() {
        faces[next[vertex as usize] as usize] = (corner / 3) as u32;
        next[vertex as usize] += 1;
    }

    let normal = |face: usize, vertex: u32| {
        let around = &faces[starts[vertex as usize] as usize..starts[vertex as usize + 1] as usize];
        let near = around
            .iter()
            .map(|&f| f as usize)
            .filter(|&f| units[f].dot(units[face]) > SMOOTH);
        near.map(|f| areas[f]).sum::<Vec3>().normalize_or(units[face])
    };
    let corners = mesh.triangles.iter().enumerate();
    corners
        .map(|(face, triangle)| triangle.map(|vertex| normal(face, vertex)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3A;

    /// Two unit squares that meet at the x axis, the second bent down by `angle` [rad].
    fn folded(angle: f32) -> Vec<[Vec3; 3]> {
        let bent = Vec3::new(0.0, angle.cos(), -angle.sin());
        let vertices = [
            Vec3::NEG_Y,
            Vec3::X - Vec3::Y,
            Vec3::ZERO,
            Vec3::X,
            bent,
            Vec3::X + bent,
        ];
        let triangles = [[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]];
        corner_normals(&Mesh {
            vertices: &vertices,
            triangles: &triangles,
            pose: Affine3A::IDENTITY,
            color: [1.0; 3],
            opacity: 1.0,
        })
    }

    #[test]
    fn a_sharp_edge_keeps_the_normals_of_its_faces() {
        for normal in folded(1.2)[0] {
            assert!(normal.distance(Vec3::Z) < 1e-6);
        }
    }

    #[test]
    fn a_blunt_edge_has_a_normal_between_those_of_its_faces() {
        let normals = folded(0.4);
        assert!(normals[0][0].distance(Vec3::Z) < 1e-6);
        let at_edge = normals[1][2];
        let (left, right) = (Vec3::Z, Vec3::new(0.0, 0.4f32.sin(), 0.4f32.cos()));
        assert!(at_edge.dot(left) > 0.4f32.cos() && at_edge.dot(right) > 0.4f32.cos());
        assert_eq!(normals[1][2], normals[2][0]);
    }
}
