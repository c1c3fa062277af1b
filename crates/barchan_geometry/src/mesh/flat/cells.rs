//! Space divided into convex cells that share their vertices and facets.

use std::collections::{BTreeMap, HashMap, HashSet};

use glam::DVec3;

use super::outline::Polygon;
use super::{Face, FlatSolid};
use crate::Aabb;
use crate::mesh::primitives::{CUBOID_QUADS, cuboid};

/// Largest number of facets of a division.
const MAX_FACETS: usize = 100_000;
/// Largest number of planes of a division.
const MAX_PLANES: usize = 4_096;

/// Number of faces above which a convex solid is divided within its box only, because each face would divide the
/// surrounding space.
const MAX_UNBOXED_FACES: usize = 12;

/// Vertices [m] and facets of all cells.
pub(super) struct Cells {
    vertices: Vec<DVec3>,
    facets: Vec<Facet>,
    planes: Vec<Face>,
    /// The vertex at which an edge, by its ends in ascending order, was cut.
    cuts: HashMap<[u32; 2], u32>,
    /// Distance from a plane [m] below which points lie on it.
    tolerance: f64,
    /// Bound of the distance from the origin [m].
    radius: f64,
}

/// A convex polygon in a plane, counter-clockwise seen from the side that the plane's normal points to.
struct Facet {
    /// Vertices; those at which edges were cut may be missing.
    corners: Vec<u32>,
    plane: u32,
    /// The parts below and above, after a cell was cut.
    halves: Option<[u32; 2]>,
}

/// A convex cell.
pub(super) struct Cell {
    /// Facets; true if their plane's normal points into the cell. Facets that the neighboring cell has halved may still
    /// be whole.
    facets: Vec<(u32, bool)>,
    bounds: Aabb,
}

impl Cells {
    /// Creates one cell: the box `domain` [m] around the origin.
    pub fn new(domain: &Aabb, tolerance: f64) -> (Self, Cell) {
        let mut vertices = cuboid(domain.size()).vertices;
        vertices.iter_mut().for_each(|p| *p += domain.center());
        let facet = |corners: [u32; 4]| {
            let [a, b, c, _] = corners.map(|v| vertices[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or(DVec3::Z);
            let plane = Face {
                normal,
                offset: normal.dot(a),
            };
            (corners.to_vec(), plane)
        };
        let sides: Vec<_> = CUBOID_QUADS.iter().map(|&quad| facet(quad)).collect();
        let facets = (0..).zip(&sides).map(|(plane, (corners, _))| Facet {
            corners: corners.clone(),
            plane,
            halves: None,
        });
        let cells = Self {
            facets: facets.collect(),
            planes: sides.iter().map(|(_, plane)| *plane).collect(),
            cuts: HashMap::new(),
            tolerance,
            radius: domain.min.abs().max(domain.max.abs()).length(),
            vertices,
        };
        let cell = Cell {
            facets: (0..6).map(|facet| (facet, false)).collect(),
            bounds: *domain,
        };
        (cells, cell)
    }

    /// Divides cells into those inside and those outside of `solid`. `None` if there are too many or rounding makes one
    /// impossible.
    pub fn divide(&mut self, solid: &FlatSolid, cells: Vec<Cell>) -> Option<[Vec<Cell>; 2]> {
        match solid {
            FlatSolid::Convex { faces, bounds } => self.divide_by_faces(faces, bounds, cells),
            FlatSolid::Union(parts) => self.divide_by_any(parts, cells),
            FlatSolid::Intersect(parts) => {
                let (mut inside, mut outside) = (cells, Vec::new());
                for part in parts {
                    let [both, one] = self.divide(part, inside)?;
                    inside = both;
                    outside.extend(one);
                }
                Some([inside, outside])
            }
            FlatSolid::Subtract(parts) => {
                let (first, others) = parts.split_first()?;
                let [inside, mut outside] = self.divide(first, cells)?;
                let [removed, left] = self.divide_by_any(others, inside)?;
                outside.extend(removed);
                Some([left, outside])
            }
        }
    }

    fn divide_by_any(&mut self, parts: &[FlatSolid], cells: Vec<Cell>) -> Option<[Vec<Cell>; 2]> {
        let (mut inside, mut outside) = (Vec::new(), cells);
        for part in parts {
            let [one, none] = self.divide(part, outside)?;
            inside.extend(one);
            outside = none;
        }
        Some([inside, outside])
    }

    fn divide_by_faces(&mut self, faces: &[Face], bounds: &Aabb, cells: Vec<Cell>) -> Option<[Vec<Cell>; 2]> {
        let around = box_faces(bounds).filter(|_| faces.len() > MAX_UNBOXED_FACES && bounds.is_finite());
        let planes: Vec<(u32, bool)> = around
            .chain(faces.iter().copied())
            .map(|face| self.plane(&face))
            .collect::<Option<_>>()?;
        let bounds = bounds.grown(self.tolerance);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        'cells: for mut rest in cells {
            if bounds.intersection(&rest.bounds).is_empty() || self.is_before_any(&mut rest, &planes) {
                outside.push(rest);
                continue;
            }
            for &(plane, turned) in &planes {
                let [mut behind, mut before] = self.cut(rest, plane)?;
                if turned {
                    std::mem::swap(&mut behind, &mut before);
                }
                outside.extend(before);
                let Some(part) = behind else { continue 'cells };
                rest = part;
            }
            inside.push(rest);
        }
        Some([inside, outside])
    }

    /// Returns the index of a plane, and true if it points the other way. Planes that differ by less than the tolerance
    /// are identical.
    fn plane(&mut self, face: &Face) -> Option<(u32, bool)> {
        let same = |plane: &Face, sign: f64| {
            let (tilt, shift) = (plane.normal - sign * face.normal, plane.offset - sign * face.offset);
            tilt.length() * self.radius + shift.abs() < self.tolerance
        };
        for (number, plane) in (0..).zip(&self.planes) {
            if same(plane, 1.0) {
                return Some((number, false));
            }
            if same(plane, -1.0) {
                return Some((number, true));
            }
        }
        let usable = face.normal.is_finite() && face.offset.is_finite() && self.planes.len() < MAX_PLANES;
        usable.then(|| {
            self.planes.push(*face);
            (self.planes.len() as u32 - 1, false)
        })
    }

    /// Returns the side of a plane that a vertex is on: -1, 0 or 1.
    fn side(&self, vertex: u32, plane: u32) -> i8 {
        let height = self.planes[plane as usize].height(self.vertices[vertex as usize]);
        i8::from(height > self.tolerance) - i8::from(height < -self.tolerance)
    }

    /// Returns true for each of below and above a plane if some corners of a facet lie there.
    fn sides(&self, facet: u32, plane: u32) -> [bool; 2] {
        let corners = &self.facets[facet as usize].corners;
        let mut found = [false; 2];
        for &v in corners {
            let side = self.side(v, plane);
            found = [found[0] || side < 0, found[1] || side > 0];
        }
        found
    }

    /// Returns true if a cell lies entirely before one of the planes.
    fn is_before_any(&mut self, cell: &mut Cell, planes: &[(u32, bool)]) -> bool {
        self.refresh(cell);
        let is_before = |&(plane, turned): &(u32, bool)| {
            let behind = if turned { 1 } else { 0 };
            cell.facets.iter().all(|&(facet, _)| !self.sides(facet, plane)[behind])
        };
        planes.iter().any(is_before)
    }

    /// Updates facets and their corners after cuts of neighboring cells.
    fn refresh(&mut self, cell: &mut Cell) {
        let mut k = 0;
        while let Some(&(facet, inward)) = cell.facets.get(k) {
            match self.facets[facet as usize].halves {
                Some([below, above]) => {
                    cell.facets[k].0 = below;
                    cell.facets.push((above, inward));
                }
                None => {
                    let corners = &mut self.facets[facet as usize].corners;
                    let mut i = 0;
                    while i < corners.len() {
                        let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
                        match self.cuts.get(&[a.min(b), a.max(b)]) {
                            Some(&middle) => corners.insert(i + 1, middle),
                            None => i += 1,
                        }
                    }
                    k += 1;
                }
            }
        }
    }

    /// Returns the parts of a cell below and above a plane.
    fn cut(&mut self, mut cell: Cell, plane: u32) -> Option<[Option<Cell>; 2]> {
        self.refresh(&mut cell);
        let sides: Vec<[bool; 2]> = cell.facets.iter().map(|&(facet, _)| self.sides(facet, plane)).collect();
        if !sides.iter().any(|side| side[1]) {
            return Some([Some(cell), None]);
        }
        if !sides.iter().any(|side| side[0]) {
            return Some([None, Some(cell)]);
        }
        let [mut below, mut above] = [Vec::new(), Vec::new()];
        for ((facet, inward), side) in cell.facets.into_iter().zip(sides) {
            match side {
                [true, true] => {
                    let [low, high] = self.halve(facet, plane)?;
                    below.push((low, inward));
                    above.push((high, inward));
                }
                [false, true] => above.push((facet, inward)),
                _ => below.push((facet, inward)),
            }
        }
        let corners = self.lid(&below)?;
        let lid = self.add_facet(corners, plane)?;
        below.push((lid, false));
        above.push((lid, true));
        Some([below, above].map(|facets| {
            let bounds = self.bounds(&facets);
            Some(Cell { facets, bounds })
        }))
    }

    fn bounds(&self, facets: &[(u32, bool)]) -> Aabb {
        let corners = facets
            .iter()
            .flat_map(|&(facet, _)| &self.facets[facet as usize].corners);
        Aabb::of_points(corners.map(|&v| self.vertices[v as usize]))
    }

    fn add_facet(&mut self, corners: Vec<u32>, plane: u32) -> Option<u32> {
        self.facets.push(Facet {
            corners,
            plane,
            halves: None,
        });
        (self.facets.len() <= MAX_FACETS).then(|| self.facets.len() as u32 - 1)
    }

    /// Cuts a facet that has corners on both sides of a plane. `None` if it crosses the plane more than twice.
    fn halve(&mut self, facet: u32, plane: u32) -> Option<[u32; 2]> {
        let Facet {
            corners, plane: own, ..
        } = &self.facets[facet as usize];
        let (corners, own) = (corners.clone(), *own);
        let mut ring = Vec::with_capacity(corners.len() + 2);
        for (k, &a) in corners.iter().enumerate() {
            let b = corners[(k + 1) % corners.len()];
            let (from, to) = (self.side(a, plane), self.side(b, plane));
            ring.push((a, from));
            if from * to < 0 {
                ring.push((self.cut_edge(a, b, plane), 0));
            }
        }
        // Begins after the last corner above the plane.
        let goes_below = |&k: &usize| {
            let mut after = ring.iter().cycle().skip(k + 1).take(ring.len());
            ring[k].1 > 0 && after.find(|&&(_, side)| side != 0).is_some_and(|&(_, side)| side < 0)
        };
        let last_above = (0..ring.len()).find(goes_below)?;
        ring.rotate_left(last_above + 1);
        let first = ring.iter().position(|&(_, side)| side < 0)?;
        let first_above = ring.iter().position(|&(_, side)| side > 0)?;
        let last = ring[..first_above].iter().rposition(|&(_, side)| side < 0)?;
        if first == 0 || first_above <= last + 1 || ring[first_above..].iter().any(|&(_, side)| side < 0) {
            return None;
        }
        let numbers = |part: &[(u32, i8)]| part.iter().map(|&(v, _)| v).collect::<Vec<u32>>();
        let low = numbers(&ring[first - 1..=last + 1]);
        let mut high = numbers(&ring[last + 1..]);
        high.extend(numbers(&ring[..first]));
        let halves = [self.add_facet(low, own)?, self.add_facet(high, own)?];
        self.facets[facet as usize].halves = Some(halves);
        Some(halves)
    }

    /// Returns the vertex where an edge meets a plane between its ends; the same for all facets of the edge.
    fn cut_edge(&mut self, a: u32, b: u32, plane: u32) -> u32 {
        let ends = [a.min(b), a.max(b)];
        let (vertices, face) = (&mut self.vertices, &self.planes[plane as usize]);
        *self.cuts.entry(ends).or_insert_with(|| {
            let [p, q] = ends.map(|v| vertices[v as usize]);
            let (from, to) = (face.height(p), face.height(q));
            vertices.push(p.lerp(q, from / (from - to)));
            vertices.len() as u32 - 1
        })
    }

    /// Returns the polygon that closes the hole left by the facets of a cell, outward; `None` unless there is exactly
    /// one.
    fn lid(&self, facets: &[(u32, bool)]) -> Option<Vec<u32>> {
        let edges = || {
            facets.iter().flat_map(|&(facet, inward)| {
                let corners = &self.facets[facet as usize].corners;
                let next = corners.iter().cycle().skip(1);
                corners
                    .iter()
                    .zip(next)
                    .map(move |(&a, &b)| if inward { (b, a) } else { (a, b) })
            })
        };
        let all: HashSet<(u32, u32)> = edges().collect();
        let mut open: BTreeMap<u32, u32> = BTreeMap::new();
        for (a, b) in edges().filter(|&(a, b)| !all.contains(&(b, a))) {
            if open.insert(b, a).is_some() {
                return None;
            }
        }
        let (&first, _) = open.first_key_value()?;
        let mut polygon = vec![first];
        while let Some(next) = open.remove(polygon.last()?).filter(|&next| next != first) {
            polygon.push(next);
        }
        (open.is_empty() && polygon.len() > 2).then_some(polygon)
    }

    /// Returns all vertices, and the facets between `inside` and the other cells, outward.
    pub fn boundary(mut self, mut inside: Vec<Cell>) -> (Vec<DVec3>, Vec<Polygon>) {
        let mut single: BTreeMap<u32, bool> = BTreeMap::new();
        for cell in &mut inside {
            self.refresh(cell);
            for &(facet, inward) in &cell.facets {
                if single.remove(&facet).is_none() {
                    single.insert(facet, inward);
                }
            }
        }
        let polygon = |(facet, inward): (u32, bool)| {
            let Facet { corners, plane, .. } = &self.facets[facet as usize];
            let (mut corners, normal) = (corners.clone(), self.planes[*plane as usize].normal);
            if inward {
                corners.reverse();
            }
            Polygon {
                corners,
                side: (*plane, inward),
                normal: if inward { -normal } else { normal },
            }
        };
        let polygons = single.into_iter().map(polygon).collect();
        (self.vertices, polygons)
    }
}

/// Returns the faces of a box.
fn box_faces(bounds: &Aabb) -> impl Iterator<Item = Face> {
    let [low, high] = [-bounds.min, bounds.max];
    DVec3::AXES.into_iter().flat_map(move |axis| {
        [(-axis, low), (axis, high)].map(|(normal, corner)| Face {
            normal,
            offset: corner.dot(axis),
        })
    })
}
