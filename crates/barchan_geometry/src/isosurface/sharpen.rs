//! Restores edges and corners that cells cut off.

use std::collections::{HashMap, HashSet};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::{Shape, TriMesh};

/// Cosine between normals of a triangle below which it crosses an edge: 30 degrees.
const EDGE_COSINE: f64 = 0.866;
/// Largest distance of an edge's point from the center of its triangle, in the triangle's longest side [-].
const MAX_REACH: f64 = 1.5;
/// Largest distance of that point from the surface, in the same unit [-]: tangent planes of a curved surface meet off
/// it.
const MAX_MISS: f64 = 0.02;
/// Distance from the edge below which a vertex is moved onto it, in the triangle's longest side [-]: a separate point
/// would make slivers.
const SNAP_DISTANCE: f64 = 0.35;
/// Weight of the triangle's center against the planes [-]: determines the position along an edge.
const CENTER_WEIGHT: f64 = 1e-4;

/// Largest number of rounds in which corners are added [-].
const CORNER_ROUNDS: usize = 4;
/// Distance from the surface, in the triangle's longest side, below which a triangle or a corner lies on it [-].
const ON_SURFACE: f64 = 1e-3;
/// Cosine between normals above which they belong to one face: 12 degrees.
const FACE_COSINE: f64 = 0.978;
/// Smallest determinant of Σ n nᵀ over the faces of a corner [-]; 1 for three perpendicular faces.
const MIN_DETERMINANT: f64 = 0.03;

/// Largest distance from the surface, in its longest side, of a triangle beside a vertex that is moved onto an edge
/// [-].
const MAX_CUT: f64 = 0.1;
/// Steps onto the planes of an edge or corner [-]; each divides the distance by at least two hundred.
const PLANE_STEPS: usize = 6;
/// Rounding of a distance relative to the displacement [-].
const ROUNDING: f64 = 1e-12;

/// Largest number of rounds in which sides are repaired [-].
const REPAIR_ROUNDS: usize = 8;
/// Smallest cosine between a triangle and the surface for a side to be flipped [-].
const MIN_FLIP_COSINE: f64 = 0.2;

/// Restores the sharp edges and corners of `shape` in `mesh`, a closed manifold whose vertices lie on its surface.
///
/// A triangle across an edge gets a point where the planes at its corners meet, and sides that cross the edge are
/// flipped to lie along it [Kobbelt01]. Corners of three or more faces get a vertex. Every edge still has two
/// triangles.
pub fn sharpen(mesh: &mut TriMesh, shape: &dyn Shape) {
    // `None` for a vertex that lies on an edge.
    let mut normals: Vec<Option<DVec3>> = mesh.vertices.par_iter().map(|&p| Some(shape.normal(p))).collect();
    snap(mesh, &mut normals, shape);
    let found: Vec<Option<DVec3>> = (0..mesh.triangles.len())
        .into_par_iter()
        .map(|t| feature(mesh, &normals, shape, t))
        .collect();
    // For each side of a triangle that is split in three: its part, and the new point.
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
        if at_a.dot(at_b) < EDGE_COSINE && faces(mesh, first, at_a) && faces(mesh, second, at_b) {
            (mesh.triangles[one], mesh.triangles[other]) = (first, second);
        }
    }
    repair(mesh, shape);
    split(mesh, shape);
    repair(mesh, shape);
    for _ in 0..CORNER_ROUNDS {
        if !add_corners(mesh, shape) {
            break;
        }
        repair(mesh, shape);
    }
    align(mesh, shape);
    drop_unused(mesh);
}

/// Moves vertices of edges and corners onto the planes of all faces around them.
fn align(mesh: &mut TriMesh, shape: &dyn Shape) {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
    for (t, &v) in (0..)
        .zip(&mesh.triangles)
        .flat_map(|(t, triangle)| triangle.iter().map(move |v| (t, v)))
    {
        around[v as usize].push(t);
    }
    let aligned = |v: usize| {
        let p = mesh.vertices[v];
        let fan = || around[v].iter().map(|&t| mesh.corners(t as usize));
        let across = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize_or_zero();
        let first = across(fan().next()?);
        if fan().all(|corners| across(corners).dot(first) > FACE_COSINE) {
            return None;
        }
        let mut planes: Vec<(DVec3, DVec3)> = Vec::new();
        for corners in fan() {
            let near = p.lerp(corners.into_iter().sum::<DVec3>() / 3.0, 0.25);
            let (distance, normal) = shape.distance_and_normal(near);
            let is_new = || planes.iter().all(|(_, other)| normal.dot(*other) < FACE_COSINE);
            if distance.abs() <= MAX_CUT * longest(corners) && is_new() {
                planes.push((near - distance * normal, normal));
            }
        }
        let reach = SNAP_DISTANCE * fan().map(longest).fold(f64::INFINITY, f64::min);
        let next = onto_planes(&planes, p);
        let is_better =
            next.distance(p) <= reach && shape.distance(next).abs() <= shape.distance(p).abs() + ROUNDING * reach;
        (planes.len() > 1 && is_better).then_some(next)
    };
    let moved: Vec<Option<DVec3>> = (0..mesh.vertices.len()).into_par_iter().map(aligned).collect();
    for (p, next) in mesh.vertices.iter_mut().zip(moved) {
        *p = next.unwrap_or(*p);
    }
}

/// Returns the point nearest to `start` on all planes, each given by a point and its normal.
fn onto_planes(planes: &[(DVec3, DVec3)], start: DVec3) -> DVec3 {
    let mut matrix = DMat3::from_diagonal(DVec3::splat(CENTER_WEIGHT));
    for &(_, normal) in planes {
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    }
    let inverse = matrix.inverse();
    let step = |p: DVec3| {
        p + inverse
            * planes
                .iter()
                .map(|&(point, normal)| normal * normal.dot(point - p))
                .sum::<DVec3>()
    };
    (0..PLANE_STEPS).fold(start, |p, _| step(p))
}

/// Adds vertices at corners of three or more faces that are still cut off. Returns true if there were any.
fn add_corners(mesh: &mut TriMesh, shape: &dyn Shape) -> bool {
    let middle = |mesh: &TriMesh, t: usize| mesh.corners(t).into_iter().sum::<DVec3>() / 3.0;
    let miss = |t: usize| shape.distance(middle(mesh, t)).abs() / longest(mesh.corners(t));
    let off: Vec<usize> = (0..mesh.triangles.len())
        .into_par_iter()
        .filter(|&t| miss(t) > MAX_MISS)
        .collect();
    let sides: Vec<[u32; 2]> = off
        .iter()
        .flat_map(|&t| {
            let [a, b, c] = mesh.triangles[t];
            [[a, b], [b, c]]
        })
        .collect();
    let neighborhood = Neighborhood::new(mesh, &sides);
    let propose = |&t: &usize| {
        let mut around: Vec<usize> = mesh.triangles[t]
            .iter()
            .flat_map(|&v| neighborhood.around(v))
            .copied()
            .collect();
        around.sort_unstable();
        around.dedup();
        let mut planes: Vec<(DVec3, DVec3)> = Vec::new();
        for point in around
            .into_iter()
            .filter(|&t| miss(t) < ON_SURFACE)
            .map(|t| middle(mesh, t))
        {
            let normal = shape.normal(point);
            if planes.iter().all(|(_, other)| normal.dot(*other) < FACE_COSINE) {
                planes.push((point, normal));
            }
        }
        let (from, reach) = (middle(mesh, t), longest(mesh.corners(t)));
        let corner = meeting_of_three(&planes, from)?;
        let is_near = corner.distance(from) <= MAX_REACH * reach && shape.distance(corner).abs() <= ON_SURFACE * reach;
        is_near.then(|| (corner.distance(from), t, corner))
    };
    let mut found: Vec<(f64, usize, DVec3)> = off.par_iter().filter_map(propose).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut added: Vec<DVec3> = Vec::new();
    for (_, t, corner) in found {
        let [a, b, c] = mesh.triangles[t];
        let small = ON_SURFACE * longest(mesh.corners(t));
        let is_there = added
            .iter()
            .chain(&mesh.corners(t))
            .any(|p| p.distance(corner) <= small);
        if is_there {
            continue;
        }
        added.push(corner);
        let p = mesh.vertices.len() as u32;
        mesh.vertices.push(corner);
        mesh.triangles[t] = [a, b, p];
        mesh.triangles.extend([[b, c, p], [c, a, p]]);
    }
    !added.is_empty()
}

/// Returns the intersection of planes, each given by a point and its normal: least squares from `start`. `None` unless
/// they meet in a single point.
fn meeting_of_three(planes: &[(DVec3, DVec3)], start: DVec3) -> Option<DVec3> {
    let (mut matrix, mut right) = (DMat3::ZERO, DVec3::ZERO);
    for &(point, normal) in planes {
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        right += normal * normal.dot(point - start);
    }
    (matrix.determinant() > MIN_DETERMINANT).then(|| start + matrix.inverse() * right)
}

/// Repairs sides that still cut through an edge, round by round: flips a side if that brings it nearer to the surface,
/// or collapses it where the points on both its sides nearly coincide.
fn repair(mesh: &mut TriMesh, shape: &dyn Shape) {
    for _ in 0..REPAIR_ROUNDS {
        let cut = cut_sides(mesh, shape);
        let mut neighborhood = Neighborhood::new(mesh, &cut);
        for side in cut {
            neighborhood.repair(mesh, shape, side);
        }
        if !neighborhood.finish(mesh) {
            return;
        }
    }
}

/// Adds a point of the edge to sides that could not be repaired.
fn split(mesh: &mut TriMesh, shape: &dyn Shape) {
    let cut = cut_sides(mesh, shape);
    let mut neighborhood = Neighborhood::new(mesh, &cut);
    for side in cut {
        neighborhood.split(mesh, shape, side);
    }
}

/// Returns the sides whose midpoint lies off the surface.
fn cut_sides(mesh: &TriMesh, shape: &dyn Shape) -> Vec<[u32; 2]> {
    let is_cut = |side: &[u32; 2]| {
        let (off, length) = off(mesh, shape, *side);
        side[0] < side[1] && off > MAX_MISS * length
    };
    let cuts = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]].into_iter().filter(is_cut).collect::<Vec<_>>();
    mesh.triangles.par_iter().flat_map_iter(cuts).collect()
}

/// Returns the distance of a side's midpoint from the surface, and its length [m].
fn off(mesh: &TriMesh, shape: &dyn Shape, side: [u32; 2]) -> (f64, f64) {
    let [a, b] = side.map(|v| mesh.vertices[v as usize]);
    (shape.distance(0.5 * (a + b)).abs(), a.distance(b))
}

/// Connectivity near the sides of a mesh that are to be repaired.
struct Neighborhood {
    /// The triangle of each side, and its third corner.
    sides: HashMap<(u32, u32), (usize, u32)>,
    /// The triangles of each vertex.
    of: HashMap<u32, Vec<usize>>,
    /// Triangles next to a change.
    is_done: Vec<bool>,
    is_gone: Vec<bool>,
}

impl Neighborhood {
    /// Creates the neighborhood of `cut` sides: their triangles, and all triangles that touch those.
    fn new(mesh: &TriMesh, cut: &[[u32; 2]]) -> Self {
        let mut is_near = vec![false; mesh.vertices.len()];
        let mut is_at = is_near.clone();
        for &v in cut.iter().flatten() {
            is_at[v as usize] = true;
        }
        let touches = |is: &[bool], triangle: &[u32; 3]| triangle.iter().any(|&v| is[v as usize]);
        for triangle in mesh.triangles.iter().filter(|t| touches(&is_at, t)) {
            for &v in triangle {
                is_near[v as usize] = true;
            }
        }
        let (mut sides, mut of) = (HashMap::new(), HashMap::<u32, Vec<usize>>::new());
        for (t, triangle) in mesh.triangles.iter().enumerate().filter(|(_, t)| touches(&is_near, t)) {
            let &[a, b, c] = triangle;
            sides.extend([((a, b), (t, c)), ((b, c), (t, a)), ((c, a), (t, b))]);
            for v in triangle {
                of.entry(*v).or_default().push(t);
            }
        }
        let none = vec![false; mesh.triangles.len()];
        Self {
            sides,
            of,
            is_done: none.clone(),
            is_gone: none,
        }
    }

    fn around(&self, v: u32) -> &[usize] {
        &self.of[&v]
    }

    /// Flips or collapses a side, if that helps.
    fn repair(&mut self, mesh: &mut TriMesh, shape: &dyn Shape, [a, b]: [u32; 2]) {
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
        } else if between < SNAP_DISTANCE * length && self.share_exactly_two(mesh, c, d) {
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

    /// Splits a side and its two triangles at the edge that it cuts, if that can be found.
    fn split(&mut self, mesh: &mut TriMesh, shape: &dyn Shape, [a, b]: [u32; 2]) {
        let (Some(&(one, c)), Some(&(other, d))) = (self.sides.get(&(a, b)), self.sides.get(&(b, a))) else {
            return;
        };
        let ends = [a, b].map(|v| mesh.vertices[v as usize]);
        let planes = ends.map(|p| (p, Some(shape.normal(p))));
        let Some(point) = meeting(planes, shape).filter(|_| !(self.is_done[one] || self.is_done[other])) else {
            return;
        };
        let p = mesh.vertices.len() as u32;
        mesh.vertices.push(point);
        (mesh.triangles[one], mesh.triangles[other]) = ([a, p, c], [b, p, d]);
        mesh.triangles.extend([[p, b, c], [p, a, d]]);
        (self.is_done[one], self.is_done[other]) = (true, true);
    }

    /// Returns true if two vertices have exactly two common neighbors, so that they can be merged.
    fn share_exactly_two(&self, mesh: &TriMesh, c: u32, d: u32) -> bool {
        let neighbors = |v: u32| {
            let all = self.around(v).iter().flat_map(|&t| mesh.triangles[t]);
            all.filter(|&n| n != v).collect::<HashSet<u32>>()
        };
        neighbors(c).intersection(&neighbors(d)).count() == 2
    }

    /// Removes deleted triangles. Returns true if anything changed.
    fn finish(self, mesh: &mut TriMesh) -> bool {
        let mut gone = self.is_gone.iter();
        mesh.triangles.retain(|_| !*gone.next().expect("one flag per triangle"));
        self.is_done.contains(&true)
    }
}

/// Returns true if a triangle lies along the surface.
fn is_along(mesh: &TriMesh, shape: &dyn Shape, triangle: [u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|v| mesh.vertices[v as usize]);
    let (across, middle) = ((b - a).cross(c - a), (a + b + c) / 3.0);
    across.length_squared() > 0.0 && across.dot(shape.normal(middle)) > MIN_FLIP_COSINE * across.length()
}

/// Removes vertices without triangles.
fn drop_unused(mesh: &mut TriMesh) {
    let mut numbers = vec![u32::MAX; mesh.vertices.len()];
    for &v in mesh.triangles.iter().flatten() {
        numbers[v as usize] = 0;
    }
    let mut next = 0;
    let mut vertices = std::mem::take(&mut mesh.vertices).into_iter();
    for number in &mut numbers {
        let vertex = vertices.next().expect("one number per vertex");
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
        (distance < SNAP_DISTANCE * longest(corners)).then_some((mesh.triangles[t][k], distance, point))
    };
    let mut moves: Vec<(u32, f64, DVec3)> = (0..mesh.triangles.len()).into_par_iter().filter_map(propose).collect();
    moves.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    moves.dedup_by_key(|(vertex, ..)| *vertex);
    for (vertex, _, point) in moves {
        mesh.vertices[vertex as usize] = point;
        normals[vertex as usize] = None;
    }
}

/// Returns true if a triangle faces along `normal`.
fn faces(mesh: &TriMesh, triangle: [u32; 3], normal: DVec3) -> bool {
    let [a, b, c] = triangle.map(|v| mesh.vertices[v as usize]);
    (b - a).cross(c - a).dot(normal) > 0.0
}

fn longest([a, b, c]: [DVec3; 3]) -> f64 {
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

/// Returns the point of an edge or corner that triangle `t` cuts off, if there is one.
fn feature(mesh: &TriMesh, normals: &[Option<DVec3>], shape: &dyn Shape, t: usize) -> Option<DVec3> {
    let triangle = mesh.triangles[t];
    let known = triangle.map(|v| normals[v as usize]);
    let turns = |k: usize| known[k].zip(known[(k + 1) % 3]).map_or(1.0, |(a, b)| a.dot(b));
    if turns(0).min(turns(1)).min(turns(2)) > EDGE_COSINE {
        return None;
    }
    let corners = mesh.corners(t);
    meeting([0, 1, 2].map(|k| (corners[k], known[k])), shape)
}

/// Returns the intersection of the planes at `corners` nearest to their center, if it is on the surface.
fn meeting<const N: usize>(corners: [(DVec3, Option<DVec3>); N], shape: &dyn Shape) -> Option<DVec3> {
    let middle = corners.iter().map(|(corner, _)| *corner).sum::<DVec3>() / N as f64;
    let longest = (0..N)
        .map(|k| corners[k].0.distance(corners[(k + 1) % N].0))
        .fold(0.0, f64::max);
    // Least squares of the distances from the planes: (Σ n nᵀ + ε) x = Σ n (n·p), from the center.
    let mut matrix = DMat3::from_diagonal(DVec3::splat(CENTER_WEIGHT));
    let mut right = DVec3::ZERO;
    for (corner, normal) in corners {
        let Some(normal) = normal else { continue };
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        right += normal * normal.dot(corner - middle);
    }
    let step = matrix.inverse() * right;
    let point = middle + step;
    let near = step.length() <= MAX_REACH * longest && shape.distance(point).abs() <= MAX_MISS * longest;
    near.then_some(point)
}
