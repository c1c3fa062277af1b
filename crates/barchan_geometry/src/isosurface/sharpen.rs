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
/// A corner this near to the edge is moved onto it, in the triangle's longest side [-]: a point of its own would make slivers.
const NEAR: f64 = 0.35;
/// Weight of the triangle's middle against the planes [-]: it decides where on an edge the point lies.
const PULL: f64 = 1e-4;

/// Puts the sharp edges and corners of `shape` back into `mesh`, a closed manifold whose vertices lie on its surface.
///
/// A triangle across an edge gets a point where the planes at its corners meet, and the sides that cross the edge are turned to
/// lie along it [Kobbelt01]. Every edge still has two triangles. A corner whose faces meet in no single triangle stays cut.
pub fn sharpen(mesh: &mut TriMesh, shape: &dyn Shape) {
    // None for a vertex that lies on an edge.
    let mut normals: Vec<Option<DVec3>> = mesh.vertices.par_iter().map(|&p| Some(shape.normal(p))).collect();
    snap(mesh, &mut normals, shape);
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
        let (Some(at_a), Some(at_b)) = (normals[a as usize], normals[b as usize]) else {
            continue;
        };
        let (first, second) = ([p, a, q], [q, b, p]);
        if at_a.dot(at_b) < SHARP && faces(mesh, first, at_a) && faces(mesh, second, at_b) {
            (mesh.triangles[one], mesh.triangles[other]) = (first, second);
        }
    }
}

/// Moves vertices that are near an edge onto it.
fn snap(mesh: &mut TriMesh, normals: &mut [Option<DVec3>], shape: &dyn Shape) {
    let propose = |t: usize| {
        let point = feature(mesh, normals, shape, t)?;
        let corners = mesh.corners(t);
        let (distance, k) = (0..3)
            .map(|k| (corners[k].distance(point), k))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance < NEAR * longest(corners)).then_some((mesh.triangles[t][k], distance, point))
    };
    let mut moves: Vec<(u32, f64, DVec3)> = (0..mesh.triangles.len()).into_par_iter().filter_map(propose).collect();
    moves.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    moves.dedup_by_key(|(vertex, ..)| *vertex);
    for (vertex, _, point) in moves {
        mesh.vertices[vertex as usize] = point;
        normals[vertex as usize] = None;
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
fn feature(mesh: &TriMesh, normals: &[Option<DVec3>], shape: &dyn Shape, t: usize) -> Option<DVec3> {
    let triangle = mesh.triangles[t];
    let known = triangle.map(|v| normals[v as usize]);
    let turns = |k: usize| known[k].zip(known[(k + 1) % 3]).map_or(1.0, |(a, b)| a.dot(b));
    if turns(0).min(turns(1)).min(turns(2)) > SHARP {
        return None;
    }
    let corners = mesh.corners(t);
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    // Least squares of the distances from the planes: (Σ n nᵀ + ε) x = Σ n (n·p), from the middle.
    let mut matrix = DMat3::from_diagonal(DVec3::splat(PULL));
    let mut right = DVec3::ZERO;
    for (normal, corner) in known.into_iter().zip(corners) {
        let Some(normal) = normal else { continue };
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        right += normal * normal.dot(corner - middle);
    }
    let way = matrix.inverse() * right;
    let (point, longest) = (middle + way, longest(corners));
    let near = way.length() <= REACH * longest && shape.distance(point).abs() <= MISS * longest;
    near.then_some(point)
}
