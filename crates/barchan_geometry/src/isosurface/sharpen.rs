//! Edges and corners that cells cut off, put back.

use std::collections::HashMap;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::{Shape, TriMesh};

/// Normals that turn by more than this within a triangle mean an edge: cosine of 30 degrees.
const SHARP: f64 = 0.866;
/// Farthest that an edge's point may lie from the middle of its triangle, in the triangle's longest side [-].
const REACH: f64 = 1.5;
/// Farthest that it may lie off the surface, likewise [-]: where a surface is round, its tangent planes meet off it.
const MISS: f64 = 0.02;
/// Weight of the triangle's middle against the planes [-]: it decides where on an edge the point lies.
const PULL: f64 = 1e-4;

/// Puts the sharp edges and corners of `shape` back into `mesh`, a closed manifold whose vertices lie on its surface.
///
/// A triangle across an edge gets a point where the planes at its corners meet, and the sides that cross the edge are turned to
/// lie along it [Kobbelt01]. Every edge still has two triangles. A corner whose faces meet in no single triangle stays cut.
pub fn sharpen(mesh: &mut TriMesh, shape: &dyn Shape) {
    let normals: Vec<DVec3> = mesh.vertices.par_iter().map(|&p| shape.normal(p)).collect();
    let found: Vec<Option<DVec3>> = (0..mesh.triangles.len())
        .into_par_iter()
        .map(|t| feature(mesh, &normals, shape, t))
        .collect();
    // Each side of a triangle that is cut in three: the part that has it, and the new point.
    let mut sides: HashMap<(u32, u32), (usize, u32)> = HashMap::new();
    for (t, point) in found.iter().enumerate() {
        let Some(point) = point else { continue };
        let [a, b, c] = mesh.triangles[t];
        let p = mesh.vertices.len() as u32;
        mesh.vertices.push(*point);
        let (second, third) = (mesh.triangles.len(), mesh.triangles.len() + 1);
        mesh.triangles[t] = [a, b, p];
        mesh.triangles.extend([[b, c, p], [c, a, p]]);
        for (side, part) in [((a, b), t), ((b, c), second), ((c, a), third)] {
            sides.insert(side, (part, p));
        }
    }
    let mut shared: Vec<(u32, u32)> = sides.keys().copied().filter(|&(a, b)| a < b).collect();
    shared.sort_unstable();
    for (a, b) in shared {
        let (Some(&(one, p)), Some(&(other, q))) = (sides.get(&(a, b)), sides.get(&(b, a))) else {
            continue;
        };
        let (at_a, at_b) = (normals[a as usize], normals[b as usize]);
        let (first, second) = ([p, a, q], [q, b, p]);
        if at_a.dot(at_b) < SHARP && faces(mesh, first, at_a) && faces(mesh, second, at_b) {
            (mesh.triangles[one], mesh.triangles[other]) = (first, second);
        }
    }
}

/// Whether a triangle looks along `normal`.
fn faces(mesh: &TriMesh, triangle: [u32; 3], normal: DVec3) -> bool {
    let [a, b, c] = triangle.map(|v| mesh.vertices[v as usize]);
    (b - a).cross(c - a).dot(normal) > 0.0
}

fn longest([a, b, c]: [DVec3; 3]) -> f64 {
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

/// The point of an edge or corner that triangle `t` cuts off, if it does.
fn feature(mesh: &TriMesh, normals: &[DVec3], shape: &dyn Shape, t: usize) -> Option<DVec3> {
    let [a, b, c] = mesh.triangles[t].map(|v| normals[v as usize]);
    if a.dot(b).min(b.dot(c)).min(c.dot(a)) > SHARP {
        return None;
    }
    let corners = mesh.corners(t);
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    // Least squares of the distances from the planes: (Σ n nᵀ + ε) x = Σ n (n·p), from the middle.
    let mut matrix = DMat3::from_diagonal(DVec3::splat(PULL));
    let mut right = DVec3::ZERO;
    for (normal, corner) in [a, b, c].into_iter().zip(corners) {
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        right += normal * normal.dot(corner - middle);
    }
    let way = matrix.inverse() * right;
    let (point, longest) = (middle + way, longest(corners));
    let near = way.length() <= REACH * longest && shape.distance(point).abs() <= MISS * longest;
    near.then_some(point)
}
