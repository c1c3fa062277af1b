//! The space that a closed mesh fills, where its shells may overlap.
//!
//! The inside is where the winding number is 1 or more. A piece of a triangle bounds it if the number is 1 or more on
//! one side only. Integrals over the space are sums over such pieces, each a cone to the origin, as for a mesh without
//! overlaps. Triangles that others cut are divided along the cuts into trapezoids, and the winding number is constant
//! on each side of a trapezoid: one evaluation decides. Connected triangles without cuts share one evaluation.
//!
//! Coordinates are those of the tree: relative to the center of the bounds, in [-1, 1].

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::bvh::Bvh;
use super::edges::Edges;
use super::winding::Clusters;
use super::{TriMesh, mass_properties};
use crate::mass::Moments;
use crate::{Aabb, MassProperties};

/// Distance [-] below which triangles touch, and below which parallel ones are coplanar.
const TOUCHING: f64 = 1e-9;
/// Width and area [-] below which a slab or a trapezoid is ignored.
const SLIVER: f64 = 1e-15;
/// Width [-] below which a cut is a wall between slabs.
const WALL_WIDTH: f64 = 1e-12;
/// Borders of a triangle, besides the indices of its cuts.
const BOTTOM: usize = usize::MAX - 1;
const TOP: usize = usize::MAX;
/// Volume relative to the filled volume [-] below which shells touch but do not overlap.
const TOUCHING_VOLUME: f64 = 1e-6;
/// Work limit, in compared pairs of triangles or of cuts: a few seconds.
const MAX_WORK: usize = 1 << 26;
/// Additional work limit per triangle: triangles of a valid mesh have about twenty neighbors.
const TRIANGLE_WORK: usize = 64;
/// Work of a trapezoid.
const PIECE_WORK: usize = 8;
/// Work of a winding number besides the triangles that it sums individually.
const WINDING_WORK: usize = 16;

/// Space filled by a closed mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filled {
    /// Mass properties of the space where the winding number is 1 or more: exact except for rounding.
    pub properties: MassProperties,
    /// Volume [m³] that a sum over shells counts repeatedly, because shells overlap or are nested.
    pub overlap: f64,
    /// Volume [m³] inside shells that face inward without being cavities: it is not filled.
    pub inverted: f64,
}

/// Returns the space that `mesh`, which must be closed, fills; `None` if triangles intersect too often. `tree` and
/// `clusters` belong to the mesh.
pub(super) fn filled(mesh: &TriMesh, tree: &Bvh, clusters: &Clusters) -> Option<Filled> {
    let arrangement = Arrangement::new(mesh, tree, clusters);
    let triangles = 0..mesh.triangles.len();
    let cut: Vec<Option<Tally>> = triangles
        .clone()
        .into_par_iter()
        .map(|t| arrangement.cut_triangle(t))
        .collect::<Result<_, TooMuch>>()
        .ok()?;
    let regions = connected(mesh, |t| cut[t].is_none());
    let area = |t: usize| arrangement.faces[t].area;
    let mut largest: Vec<Option<usize>> = vec![None; mesh.triangles.len()];
    for t in triangles.clone().filter(|&t| cut[t].is_none()) {
        let largest = &mut largest[regions[t] as usize];
        if largest.is_none_or(|other| area(t) > area(other)) {
            *largest = Some(t);
        }
    }
    let sides: Vec<Sides> = largest
        .into_par_iter()
        .map(|t| t.map_or(Sides::OUTER, |t| arrangement.sides(t, arrangement.middle(t), &[]).0))
        .collect();
    let tally = triangles.fold(Tally::ZERO, |sum, t| {
        let own = cut[t].unwrap_or_else(|| {
            let mut tally = Tally::ZERO;
            tally.add(arrangement.corners[t], sides[regions[t] as usize]);
            tally
        });
        sum.plus(&own)
    });

    let (center, unit) = tree.frame();
    let volume = unit.powi(3);
    let significant = |part: f64| {
        if part > TOUCHING_VOLUME * tally.filled.volume {
            part * volume
        } else {
            0.0
        }
    };
    let (overlap, inverted) = (significant(tally.overlap), significant(tally.inverted));
    let properties = if overlap == 0.0 && inverted == 0.0 {
        mass_properties(mesh)
    } else {
        let local = tally.filled.properties(DVec3::ZERO);
        MassProperties {
            volume: local.volume * volume,
            center: center + unit * local.center,
            inertia: local.inertia * unit.powi(5),
        }
    };
    Some(Filled {
        properties,
        overlap,
        inverted,
    })
}

/// The winding numbers before a piece of a triangle, where its normal points, and behind it.
#[derive(Clone, Copy, Debug)]
struct Sides {
    before: i32,
    behind: i32,
}

impl Sides {
    /// Sides of the surface of a simple solid.
    const OUTER: Self = Self { before: 0, behind: 1 };
    /// Sides of a piece that another triangle represents.
    const NONE: Self = Self { before: 0, behind: 0 };
}

/// Integrals over the filled, overlapping and inverted space.
#[derive(Clone, Copy, Debug)]
struct Tally {
    filled: Moments,
    overlap: f64,
    inverted: f64,
}

impl Tally {
    const ZERO: Self = Self {
        filled: Moments::ZERO,
        overlap: 0.0,
        inverted: 0.0,
    };

    /// Adds a piece of surface: with w the winding number, the filled space is where w ≥ 1, the overlap is ∫ max(w - 1,
    /// 0), the inverted volume ∫ max(-w, 0).
    fn add(&mut self, corners: [DVec3; 3], Sides { before, behind }: Sides) {
        let step = |value: fn(i32) -> i32| f64::from(value(behind) - value(before));
        let cone = Moments::cone(corners);
        self.overlap += cone.volume * step(|w| w.max(1));
        self.inverted -= cone.volume * step(|w| w.min(0));
        match step(|w| w.clamp(0, 1)) {
            0.0 => {}
            1.0 => self.filled = self.filled.plus(&cone),
            _ => {
                let [a, b, c] = corners;
                self.filled = self.filled.plus(&Moments::cone([a, c, b]));
            }
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            filled: self.filled.plus(&other.filled),
            overlap: self.overlap + other.overlap,
            inverted: self.inverted + other.inverted,
        }
    }
}

/// The work exceeds [`MAX_WORK`].
struct TooMuch;

/// A triangle's plane, with axes in it.
#[derive(Clone, Copy, Debug)]
struct PlaneFrame {
    /// The corner at which its longest side begins.
    origin: DVec3,
    normal: DVec3,
    /// Directions along the longest side, and across it into the triangle.
    along: DVec3,
    across: DVec3,
    /// Length of the longest side, and the third corner in the plane.
    length: f64,
    apex: DVec2,
    area: f64,
}

impl PlaneFrame {
    fn of([a, b, c]: [DVec3; 3]) -> Self {
        let [a, b, c] = [[a, b, c], [b, c, a], [c, a, b]]
            .into_iter()
            .max_by(|x, y| x[0].distance_squared(x[1]).total_cmp(&y[0].distance_squared(y[1])))
            .unwrap_or([a, b, c]);
        let double = (b - a).cross(c - a);
        let normal = double.try_normalize().unwrap_or(DVec3::Z);
        let along = (b - a).try_normalize().unwrap_or(DVec3::X);
        let across = normal.cross(along);
        Self {
            origin: a,
            normal,
            along,
            across,
            length: a.distance(b),
            apex: DVec2::new((c - a).dot(along), (c - a).dot(across)),
            area: 0.5 * double.length(),
        }
    }

    /// Returns the signed distance [-] of `p` before the plane.
    fn height(&self, p: DVec3) -> f64 {
        (p - self.origin).dot(self.normal)
    }

    fn flat(&self, p: DVec3) -> DVec2 {
        DVec2::new((p - self.origin).dot(self.along), (p - self.origin).dot(self.across))
    }

    fn point(&self, p: DVec2) -> DVec3 {
        self.origin + p.x * self.along + p.y * self.across
    }

    /// Returns the upper border of the triangle at `u`; the lower one is zero.
    fn top(&self, u: f64) -> f64 {
        let DVec2 { x, y } = self.apex;
        let share = if u <= x {
            u / x
        } else {
            (self.length - u) / (self.length - x)
        };
        if share.is_finite() {
            y * share.clamp(0.0, 1.0)
        } else {
            y
        }
    }

    /// Clips the segment from `p` to `q`, points of its plane, to within [`TOUCHING`] of the triangle.
    fn clip(&self, [p, q]: [DVec3; 2]) -> Option<[DVec3; 2]> {
        let (from, to) = (self.flat(p), self.flat(q));
        let corners = [DVec2::ZERO, DVec2::new(self.length, 0.0), self.apex];
        let (mut first, mut last) = (0.0f64, 1.0f64);
        for k in 0..3 {
            let side = corners[(k + 1) % 3] - corners[k];
            let inward = side.perp().try_normalize()?;
            let depth = |p: DVec2| (p - corners[k]).dot(inward) + TOUCHING;
            let (a, b) = (depth(from), depth(to));
            if a < 0.0 && b < 0.0 {
                return None;
            }
            if a < 0.0 {
                first = first.max(a / (a - b));
            } else if b < 0.0 {
                last = last.min(a / (a - b));
            }
        }
        (first <= last).then(|| [p.lerp(q, first), p.lerp(q, last)])
    }
}

/// Intersection of a triangle with another.
enum Contact {
    None,
    /// Along these lines in its plane, possibly more than needed.
    Lines(Vec<[DVec3; 2]>),
    /// Coplanar, with shared area.
    Covered,
}

struct Arrangement<'a> {
    mesh: &'a TriMesh,
    tree: &'a Bvh,
    clusters: &'a Clusters,
    corners: Vec<[DVec3; 3]>,
    faces: Vec<PlaneFrame>,
    work: AtomicUsize,
}

impl<'a> Arrangement<'a> {
    fn new(mesh: &'a TriMesh, tree: &'a Bvh, clusters: &'a Clusters) -> Self {
        let corners = |t: usize| mesh.corners(t).map(|p| tree.local(p));
        let corners: Vec<[DVec3; 3]> = (0..mesh.triangles.len()).map(corners).collect();
        Self {
            mesh,
            tree,
            clusters,
            faces: corners.iter().map(|&corners| PlaneFrame::of(corners)).collect(),
            corners,
            work: AtomicUsize::new(0),
        }
    }

    fn middle(&self, t: usize) -> DVec3 {
        self.corners[t].into_iter().sum::<DVec3>() / 3.0
    }

    /// Counts work. The sum does not depend on the order of the triangles, so neither does the result.
    fn count(&self, work: usize) -> Result<(), TooMuch> {
        let before = self.work.fetch_add(work, Ordering::Relaxed);
        if before + work > MAX_WORK + TRIANGLE_WORK * self.corners.len() {
            Err(TooMuch)
        } else {
            Ok(())
        }
    }

    /// Returns integrals over the pieces of triangle `t`; `None` if no other triangle touches it.
    fn cut_triangle(&self, t: usize) -> Result<Option<Tally>, TooMuch> {
        let around = Aabb::of_points(self.corners[t]).grown(TOUCHING);
        let (mut lines, mut covering, mut looked_at) = (Vec::new(), Vec::new(), 0);
        self.tree.for_each_meeting(&around, |other| {
            looked_at += 1;
            if other == t {
                return;
            }
            match self.contact(t, other) {
                Contact::None => {}
                Contact::Lines(found) => lines.extend(found),
                Contact::Covered => {
                    let [a, b, c] = self.corners[other];
                    let outline = [[a, b], [b, c], [c, a]];
                    lines.extend(outline.into_iter().filter_map(|line| self.faces[t].clip(line)));
                    covering.push(other);
                }
            }
        });
        self.count(looked_at)?;
        if lines.is_empty() && covering.is_empty() {
            return Ok(None);
        }
        covering.sort_unstable();
        self.divide(t, &lines, &covering).map(Some)
    }

    /// Returns the intersection of triangle `other` with triangle `t`. Both triangles agree on being coplanar, and on
    /// their common line.
    fn contact(&self, t: usize, other: usize) -> Contact {
        let [own, others] = [(t, other), (other, t)].map(|(of, over)| self.heights(of, over));
        // A shared corner touches but does not cross.
        let apart = |heights: [Option<f64>; 3]| {
            let mut heights = heights.into_iter().flatten().peekable();
            match heights.peek() {
                Some(&first) => heights.all(|h| h * first.signum() > TOUCHING),
                None => false,
            }
        };
        if apart(others) || apart(own) {
            return Contact::None;
        }
        let common = others.iter().filter(|height| height.is_none()).count();
        let [own, others] = [own, others].map(|heights| heights.map(Option::unwrap_or_default));
        let flat = |h: [f64; 3]| h.iter().all(|h| h.abs() <= TOUCHING);
        if flat(own) && flat(others) {
            return if self.overlap_in_plane(t, other) {
                Contact::Covered
            } else {
                Contact::None
            };
        }
        if common > 1 {
            return Contact::None;
        }
        // The crossing is computed in one order of the two, so that both are cut along the same line.
        let (plane, crossed, heights) = if t < other { (t, other, others) } else { (other, t, own) };
        let mut lines = Vec::new();
        if let Some(line) = crossing(self.corners[crossed], heights) {
            lines.extend(self.faces[plane].clip(line));
        }
        let corners = self.corners[other];
        for (k, l) in [(0, 1), (1, 2), (2, 0)] {
            if others[k].abs() <= TOUCHING && others[l].abs() <= TOUCHING {
                lines.extend(self.faces[t].clip([corners[k], corners[l]]));
            }
        }
        if common == 1 {
            lines.retain(|[p, q]| p.distance(*q) > 4.0 * TOUCHING);
        }
        if lines.is_empty() {
            Contact::None
        } else {
            Contact::Lines(lines)
        }
    }

    /// Returns the heights [-] of the corners of one triangle over the plane of another; `None` for a shared corner.
    fn heights(&self, of: usize, over: usize) -> [Option<f64>; 3] {
        let [vertices, others] = [of, over].map(|t| self.mesh.triangles[t]);
        let (corners, face) = (&self.corners[of], &self.faces[over]);
        [0, 1, 2].map(|k| (!others.contains(&vertices[k])).then(|| face.height(corners[k])))
    }

    /// Returns true if two coplanar triangles share area: no side of either separates them.
    fn overlap_in_plane(&self, t: usize, other: usize) -> bool {
        let face = &self.faces[t];
        let flat = [t, other].map(|of| self.corners[of].map(|p| face.flat(p)));
        let separated = |inner: [DVec2; 3], outer: [DVec2; 3]| {
            let area = (inner[1] - inner[0]).perp_dot(inner[2] - inner[0]);
            (0..3).any(|k| {
                let inward = (inner[(k + 1) % 3] - inner[k]).perp() * area.signum();
                let Some(inward) = inward.try_normalize() else {
                    return false;
                };
                outer.iter().all(|p| (p - inner[k]).dot(inward) <= TOUCHING)
            })
        };
        !separated(flat[0], flat[1]) && !separated(flat[1], flat[0])
    }

    /// Divides triangle `t` along `lines` into trapezoids and sums their integrals. `covering` are the coplanar
    /// triangles that share area.
    fn divide(&self, t: usize, lines: &[[DVec3; 2]], covering: &[usize]) -> Result<Tally, TooMuch> {
        let face = &self.faces[t];
        let mut cuts: Vec<Cut> = lines.iter().map(|line| Cut::new(line.map(|p| face.flat(p)))).collect();
        cuts.sort_by(|a, b| a.from.x.total_cmp(&b.from.x));
        let mut steps = vec![0.0, face.apex.x, face.length];
        for (k, cut) in cuts.iter().enumerate() {
            steps.extend([cut.from.x, cut.to.x]);
            let later = cuts[k + 1..].iter().take_while(|other| other.from.x <= cut.to.x);
            let mut looked_at = 0;
            steps.extend(
                later
                    .inspect(|_| looked_at += 1)
                    .filter_map(|other| cut.crossing(other)),
            );
            self.count(looked_at)?;
        }
        steps.retain(|u| (0.0..=face.length).contains(u));
        steps.sort_by(f64::total_cmp);

        let walls = cuts.iter().filter(|cut| cut.to.x - cut.from.x <= WALL_WIDTH);
        let mut walls: Vec<f64> = walls.flat_map(|cut| [cut.from.x, cut.to.x]).collect();
        walls.sort_by(f64::total_cmp);

        let mut tally = Tally::ZERO;
        let (mut next, mut active, mut passed): (usize, Vec<usize>, usize) = (0, Vec::new(), 0);
        // Sides by the borders below and above: a piece between the same borders continues from slab to slab.
        let mut known: HashMap<(usize, usize), Sides> = HashMap::new();
        for slab in steps.windows(2).filter(|slab| slab[1] - slab[0] > SLIVER) {
            let [low, high] = [slab[0], slab[1]];
            let middle = 0.5 * (low + high);
            while next < cuts.len() && cuts[next].from.x < middle {
                active.push(next);
                next += 1;
            }
            active.retain(|&k| cuts[k].to.x > middle);
            let reached = walls.partition_point(|&u| u < middle);
            if reached > passed {
                (passed, known) = (reached, HashMap::new());
            }
            let tops = [low, middle, high].map(|u| face.top(u));
            let level = |k: usize| {
                let at = |u: f64, top: f64| cuts[k].at(u).clamp(0.0, top);
                (k, [at(low, tops[0]), at(middle, tops[1]), at(high, tops[2])])
            };
            let borders = [(BOTTOM, [0.0; 3]), (TOP, tops)];
            let mut levels: Vec<(usize, [f64; 3])> = active.iter().map(|&k| level(k)).chain(borders).collect();
            levels.sort_by(|a, b| a.1[1].total_cmp(&b.1[1]));
            self.count(PIECE_WORK * levels.len())?;
            let mut found = HashMap::with_capacity(levels.len());
            for pair in levels.windows(2) {
                let [(lower, below), (upper, above)] = [pair[0], pair[1]];
                if (high - low) * (above[1] - below[1]) <= SLIVER {
                    continue;
                }
                let corner = |u: f64, v: f64| face.point(DVec2::new(u, v));
                let sides = match known.get(&(lower, upper)) {
                    Some(&sides) => sides,
                    None => {
                        let (sides, work) = self.sides(t, corner(middle, 0.5 * (below[1] + above[1])), covering);
                        self.count(work)?;
                        sides
                    }
                };
                found.insert((lower, upper), sides);
                let [a, b] = [corner(low, below[0]), corner(high, below[2])];
                let [c, d] = [corner(high, above[2]), corner(low, above[0])];
                tally.add([a, b, c], sides);
                tally.add([a, c, d], sides);
            }
            known = found;
        }
        Ok(tally)
    }

    /// Returns the winding numbers on both sides of triangle `t` at its point `p`, and the work. Of the triangles that
    /// cover `p`, the first represents all.
    fn sides(&self, t: usize, p: DVec3, covering: &[usize]) -> (Sides, usize) {
        let face = &self.faces[t];
        let flat = face.flat(p);
        let mut here = vec![t as u32];
        let mut facing = 1;
        for &other in covering {
            let [a, b, c] = self.corners[other].map(|p| face.flat(p) - flat);
            let turns = [a.perp_dot(b), b.perp_dot(c), c.perp_dot(a)];
            if turns.iter().all(|&x| x >= 0.0) || turns.iter().all(|&x| x <= 0.0) {
                if other < t {
                    return (Sides::NONE, 1);
                }
                here.push(other as u32);
                facing += if self.faces[other].normal.dot(face.normal) > 0.0 {
                    1
                } else {
                    -1
                };
            }
        }
        // Without the triangles at `p` itself, the mean of both sides.
        let (mean, summed) = self.clusters.winding_number_without(self.tree, p, &here);
        let before = (mean - 0.5 * f64::from(facing)).round() as i32;
        let behind = before + facing;
        (Sides { before, behind }, WINDING_WORK + summed)
    }
}

/// Returns the two points where the outline of a triangle with corners at these `heights` crosses height zero.
fn crossing(corners: [DVec3; 3], heights: [f64; 3]) -> Option<[DVec3; 2]> {
    let mut found = Vec::with_capacity(4);
    for (k, l) in [(0, 1), (1, 2), (2, 0)] {
        let (a, b) = (heights[k], heights[l]);
        if a == 0.0 {
            found.push(corners[k]);
        } else if a * b < 0.0 {
            found.push(corners[k].lerp(corners[l], a / (a - b)));
        }
    }
    match found[..] {
        [p, q] => Some([p, q]),
        _ => None,
    }
}

/// A line that divides a triangle, in its plane, from left to right.
#[derive(Clone, Copy, Debug)]
struct Cut {
    from: DVec2,
    to: DVec2,
}

impl Cut {
    fn new([a, b]: [DVec2; 2]) -> Self {
        let (from, to) = if a.x <= b.x { (a, b) } else { (b, a) };
        Self { from, to }
    }

    fn at(&self, u: f64) -> f64 {
        let width = self.to.x - self.from.x;
        let share = if width > 0.0 { (u - self.from.x) / width } else { 0.0 };
        self.from.y + share.clamp(0.0, 1.0) * (self.to.y - self.from.y)
    }

    /// Returns the crossing with another cut.
    fn crossing(&self, other: &Self) -> Option<f64> {
        let (own, others) = (self.to - self.from, other.to - other.from);
        let turn = own.perp_dot(others);
        let share = (other.from - self.from).perp_dot(others) / turn;
        let along = (other.from - self.from).perp_dot(own) / turn;
        let meets = |s: f64| (0.0..=1.0).contains(&s);
        (meets(share) && meets(along)).then_some(self.from.x + share * own.x)
    }
}

/// Returns for each triangle the region it belongs to, as a triangle of the region: `included` triangles that share an
/// edge with only each other belong to one region.
fn connected(mesh: &TriMesh, included: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    let find = |leader: &mut Vec<u32>, mut t: u32| {
        while leader[t as usize] != t {
            leader[t as usize] = leader[leader[t as usize] as usize];
            t = leader[t as usize];
        }
        t
    };
    for [a, b] in Edges::of(&mesh.triangles).pairs() {
        if included(a as usize) && included(b as usize) {
            let (a, b) = (find(&mut leader, a), find(&mut leader, b));
            leader[a.max(b) as usize] = a.min(b);
        }
    }
    (0..leader.len() as u32).map(|t| find(&mut leader, t)).collect()
}
