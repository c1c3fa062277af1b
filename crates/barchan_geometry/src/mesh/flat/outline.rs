//! Triangulates a closed surface of flat polygons with few triangles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use glam::DVec3;

use crate::TriMesh;

/// A convex polygon of a surface, counter-clockwise seen from outside.
pub(super) struct Polygon {
    pub corners: Vec<u32>,
    /// Its plane, and its orientation: polygons that share both may be merged.
    pub side: (u32, bool),
    /// Outward unit normal [-].
    pub normal: DVec3,
}

/// A closed surface of convex polygons that meet along whole edges.
pub(super) struct Outline {
    vertices: Vec<DVec3>,
    polygons: Vec<Polygon>,
    /// Distance from the line between their neighbors [m] below which vertices are not corners.
    tolerance: f64,
}

impl Outline {
    pub fn new(vertices: Vec<DVec3>, polygons: Vec<Polygon>, tolerance: f64) -> Self {
        Self {
            vertices,
            polygons,
            tolerance,
        }
    }

    /// Returns the surface as triangles, after merging coplanar polygons.
    pub fn triangles(mut self) -> TriMesh {
        self.merge();
        self.straighten();
        let triangles: Vec<[u32; 3]> = self.polygons.iter().flat_map(|p| self.ears(p)).collect();
        let mut mesh = TriMesh {
            vertices: Vec::new(),
            triangles,
        };
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        for v in mesh.triangles.iter_mut().flatten() {
            *v = *numbers.entry(*v).or_insert_with(|| {
                mesh.vertices.push(self.vertices[*v as usize]);
                mesh.vertices.len() as u32 - 1
            });
        }
        mesh
    }

    /// Merges coplanar neighbors where their union is convex.
    fn merge(&mut self) {
        // The polygon of each directed edge; `None` where there are several.
        let mut owners: HashMap<(u32, u32), Option<usize>> = HashMap::new();
        for (number, polygon) in self.polygons.iter().enumerate() {
            for edge in edges(&polygon.corners) {
                owners
                    .entry(edge)
                    .and_modify(|owner| *owner = None)
                    .or_insert(Some(number));
            }
        }
        for number in 0..self.polygons.len() {
            while let Some((other, corners)) = self.partner(number, &owners) {
                for old in [number, other] {
                    for edge in edges(&self.polygons[old].corners) {
                        owners.remove(&edge);
                    }
                }
                owners.extend(edges(&corners).map(|edge| (edge, Some(number))));
                self.polygons[number].corners = corners;
                self.polygons[other].corners.clear();
            }
        }
        self.polygons.retain(|polygon| !polygon.corners.is_empty());
    }

    /// Returns a polygon that can be merged with polygon `number`, and their union.
    fn partner(&self, number: usize, owners: &HashMap<(u32, u32), Option<usize>>) -> Option<(usize, Vec<u32>)> {
        let owner = |a: u32, b: u32| owners.get(&(a, b)).copied().flatten();
        let polygon = &self.polygons[number];
        let mut tried = BTreeSet::new();
        edges(&polygon.corners)
            .filter(|&(a, b)| owner(a, b).is_some())
            .filter_map(|(a, b)| owner(b, a))
            .filter(|&other| self.polygons[other].side == polygon.side && tried.insert(other))
            .find_map(|other| Some((other, self.union(number, other)?)))
    }

    /// Returns the union of two polygons, if they share one chain of edges and it is convex.
    fn union(&self, one: usize, other: usize) -> Option<Vec<u32>> {
        let normal = self.polygons[one].normal;
        let [mut one, mut other] = [one, other].map(|k| self.polygons[k].corners.clone());
        let back: BTreeSet<(u32, u32)> = edges(&other).map(|(a, b)| (b, a)).collect();
        let shared: Vec<bool> = edges(&one).map(|edge| back.contains(&edge)).collect();
        let count = shared.iter().filter(|&&s| s).count();
        // Begins with the shared edges.
        let start = (0..one.len()).find(|&k| shared[k] && !shared[(k + one.len() - 1) % one.len()])?;
        one.rotate_left(start);
        if !edges(&one).take(count).all(|edge| back.contains(&edge)) || one.len() <= count || other.len() <= count {
            return None;
        }
        let (first, last) = (one[0], one[count]);
        let rotation = other.iter().position(|&v| v == first)?;
        other.rotate_left(rotation);
        let end = other.len() - count;
        if other.get(end) != Some(&last) {
            return None;
        }
        let union = [&one[count..], &other[..end]].concat();
        let distinct: BTreeSet<u32> = union.iter().copied().collect();
        let is_convex = |v: u32| {
            let k = union.iter().position(|&u| u == v)?;
            let [before, next] = [k + union.len() - 1, k + 1].map(|k| self.at(union[k % union.len()]));
            let (to, from) = (self.at(v) - before, next - self.at(v));
            let deviation = to.cross(from).dot(normal) / before.distance(next);
            (deviation >= -self.tolerance).then_some(())
        };
        is_convex(first)?;
        is_convex(last)?;
        (union.len() > 2 && distinct.len() == union.len()).then_some(union)
    }

    fn at(&self, vertex: u32) -> DVec3 {
        self.vertices[vertex as usize]
    }

    /// Removes vertices in the middle of straight edges.
    fn straighten(&mut self) {
        let mut neighbors: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut owners: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, polygon) in self.polygons.iter().enumerate() {
            for (a, b) in edges(&polygon.corners) {
                neighbors.entry(a).or_default().insert(b);
                neighbors.entry(b).or_default().insert(a);
                owners.entry(a).or_default().push(number);
            }
        }
        for (&v, polygons) in &owners {
            let [a, b] = match neighbors[&v].iter().collect::<Vec<_>>()[..] {
                [&a, &b] => [a, b],
                _ => continue,
            };
            let (p, from, to) = (self.at(v), self.at(a), self.at(b));
            let off = (p - from).cross(to - from).length() / from.distance(to);
            let is_between = (p - from).dot(to - p) > 0.0;
            let stays = polygons.iter().any(|&number| self.polygons[number].corners.len() < 4);
            if !is_between || off > self.tolerance || stays {
                continue;
            }
            for &number in polygons {
                self.polygons[number].corners.retain(|&corner| corner != v);
            }
            for (end, far) in [(a, b), (b, a)] {
                let around = neighbors.entry(end).or_default();
                around.remove(&v);
                around.insert(far);
            }
        }
    }

    /// Triangulates a polygon by ears, the shortest cut first, which makes few slivers.
    fn ears(&self, polygon: &Polygon) -> Vec<[u32; 3]> {
        let mut rest = polygon.corners.clone();
        let mut triangles = Vec::with_capacity(rest.len().saturating_sub(2));
        while rest.len() > 3 {
            let n = rest.len();
            let ear = |k: usize| [rest[(k + n - 1) % n], rest[k], rest[(k + 1) % n]];
            // A cut along which all other corners lie would leave nothing.
            let is_valid = |&k: &usize| {
                let [a, b, c] = ear(k).map(|v| self.at(v));
                let height = |p: DVec3| (p - a).cross(c - a).dot(polygon.normal) / a.distance(c);
                height(b) > self.tolerance && rest.iter().any(|&v| height(self.at(v)) < -self.tolerance)
            };
            let cut = |k: usize| {
                let [a, _, c] = ear(k).map(|v| self.at(v));
                a.distance_squared(c)
            };
            let shortest = |ears: &mut dyn Iterator<Item = usize>| ears.min_by(|&a, &b| cut(a).total_cmp(&cut(b)));
            let k = shortest(&mut (0..n).filter(is_valid)).unwrap_or(0);
            triangles.push(ear(k));
            rest.remove(k);
        }
        if let [a, b, c] = rest[..] {
            triangles.push([a, b, c]);
        }
        triangles
    }
}

/// Returns the directed edges of a polygon.
fn edges(corners: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}
