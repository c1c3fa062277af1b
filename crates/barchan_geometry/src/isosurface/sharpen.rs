//! Edges and corners that cells cut off, put back.

use std::collections::{HashMap, HashSet};

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

/// Rounds in which sides are mended [-], at most.
const ROUNDS: usize = 4;

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
    mend(mesh, shape);
    drop_unused(mesh);
}

/// Mends sides that still cut through an edge, round by round: a side is turned if that brings it nearer to the surface, or taken away
/// where the points on both its sides lie next to each other.
fn mend(mesh: &mut TriMesh, shape: &dyn Shape) {
    for _ in 0..ROUNDS {
        let cuts = |&t: &[u32; 3]| {
            let is_cut = |side: &[u32; 2]| {
                let (off, length) = off(mesh, shape, *side);
                side[0] < side[1] && off > MISS * length
            };
            [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
                .into_iter()
                .filter(is_cut)
                .collect::<Vec<_>>()
        };
        let found: Vec<[u32; 2]> = mesh.triangles.par_iter().flat_map_iter(cuts).collect();
        let mut patch = Patch::new(mesh);
        for side in found {
            patch.mend(mesh, shape, side);
        }
        if !patch.finish(mesh) {
            return;
        }
    }
}

/// How far the middle of a side is from the surface, and its length [m].
fn off(mesh: &TriMesh, shape: &dyn Shape, side: [u32; 2]) -> (f64, f64) {
    let [a, b] = side.map(|v| mesh.vertices[v as usize]);
    (shape.distance(0.5 * (a + b)).abs(), a.distance(b))
}

/// What is where in a mesh of which a few sides are mended.
struct Patch {
    /// The triangle of each side, and its third corner.
    sides: HashMap<(u32, u32), (usize, u32)>,
    /// The triangles of each vertex: those of vertex v are `of[first[v]..first[v + 1]]`.
    first: Vec<usize>,
    of: Vec<usize>,
    /// Triangles next to which something changed already.
    is_done: Vec<bool>,
    is_gone: Vec<bool>,
}

impl Patch {
    fn new(mesh: &TriMesh) -> Self {
        let mut sides = HashMap::with_capacity(3 * mesh.triangles.len());
        let mut first = vec![0; mesh.vertices.len() + 1];
        for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
            sides.extend([((a, b), (t, c)), ((b, c), (t, a)), ((c, a), (t, b))]);
            for v in [a, b, c] {
                first[v as usize] += 1;
            }
        }
        let mut end = 0;
        for first in &mut first {
            end += *first;
            *first = end;
        }
        let mut of = vec![0; end];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for &v in triangle {
                first[v as usize] -= 1;
                of[first[v as usize]] = t;
            }
        }
        let none = vec![false; mesh.triangles.len()];
        Self {
            sides,
            first,
            of,
            is_done: none.clone(),
            is_gone: none,
        }
    }

    fn around(&self, v: u32) -> &[usize] {
        &self.of[self.first[v as usize]..self.first[v as usize + 1]]
    }

    /// Turns a side or takes it away, if that helps.
    fn mend(&mut self, mesh: &mut TriMesh, shape: &dyn Shape, [a, b]: [u32; 2]) {
        let (Some(&(one, c)), Some(&(other, d))) = (self.sides.get(&(a, b)), self.sides.get(&(b, a))) else {
            return;
        };
        let touched: Vec<usize> = [a, b, c, d].iter().flat_map(|&v| self.around(v)).copied().collect();
        if touched.iter().any(|&t| self.is_done[t]) || self.sides.contains_key(&(c, d)) {
            return;
        }
        let (now, length) = off(mesh, shape, [a, b]);
        let (then, between) = off(mesh, shape, [c, d]);
        let (first, second) = ([c, a, d], [d, b, c]);
        if then < 0.5 * now && is_along(mesh, shape, first) && is_along(mesh, shape, second) {
            (mesh.triangles[one], mesh.triangles[other]) = (first, second);
        } else if between < NEAR * length && self.share_no_more_than_two(mesh, c, d) {
            (self.is_gone[one], self.is_gone[other]) = (true, true);
            for &t in self.around(d) {
                mesh.triangles[t] = mesh.triangles[t].map(|v| if v == d { c } else { v });
            }
        } else {
            return;
        }
        for t in touched {
            self.is_done[t] = true;
        }
    }

    /// Whether two vertices have no more than two neighbours in common, so that they can become one.
    fn share_no_more_than_two(&self, mesh: &TriMesh, c: u32, d: u32) -> bool {
        let neighbours = |v: u32| {
            let all = self.around(v).iter().flat_map(|&t| mesh.triangles[t]);
            all.filter(|&n| n != v).collect::<HashSet<u32>>()
        };
        neighbours(c).intersection(&neighbours(d)).count() == 2
    }

    /// Leaves out what is gone. Gives whether anything changed.
    fn finish(self, mesh: &mut TriMesh) -> bool {
        let mut gone = self.is_gone.iter();
        mesh.triangles.retain(|_| !*gone.next().expect("one flag a triangle"));
        self.is_done.contains(&true)
    }
}

/// Whether a triangle lies along the surface.
fn is_along(mesh: &TriMesh, shape: &dyn Shape, triangle: [u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|v| mesh.vertices[v as usize]);
    let (across, middle) = ((b - a).cross(c - a), (a + b + c) / 3.0);
    across.length_squared() > 0.0 && across.dot(shape.normal(middle)) > SHARP * across.length()
}

/// Leaves out vertices that no triangle has.
fn drop_unused(mesh: &mut TriMesh) {
    let mut numbers = vec![u32::MAX; mesh.vertices.len()];
    for &v in mesh.triangles.iter().flatten() {
        numbers[v as usize] = 0;
    }
    let mut next = 0;
    let mut vertices = std::mem::take(&mut mesh.vertices).into_iter();
    for number in &mut numbers {
        let vertex = vertices.next().expect("one number a vertex");
        if *number == 0 {
            *number = next;
            next += 1;
            mesh.vertices.push(vertex);
        }
    }
    for v in mesh.triangles.iter_mut().flatten() {
        *v = numbers[*v as usize];
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
