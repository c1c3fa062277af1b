//! A bounding volume hierarchy of triangles: the closest point in `f64`, and the clusters for the winding number.
//!
//! Nodes have four children with their bounds side by side, so that one pass over plain arrays tests all four.
//! Coordinates are relative to the bounds' center and scaled by a power of two into [-1, 1]: no precision is lost far
//! from the origin, and no square or cube overflows.

use std::ops::Range;

use glam::DVec3;

use super::leaf::Leaf;
use crate::Aabb;

/// Children per node.
pub(super) const WIDTH: usize = 4;
/// Largest number of triangles in a leaf.
const LEAF: usize = 4;
/// Number of slices whose borders are the candidate planes of a split.
const BINS: usize = 16;
/// Levels below which splits halve the count regardless of the cost: bounds the recursion for any input.
const COST_LEVELS: usize = 32;

/// A triangle as a corner and the two edges that leave it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    pub a: DVec3,
    pub ab: DVec3,
    pub ac: DVec3,
}

impl Triangle {
    fn new([a, b, c]: [DVec3; 3]) -> Self {
        Self {
            a,
            ab: b - a,
            ac: c - a,
        }
    }

    pub fn corners(&self) -> [DVec3; 3] {
        [self.a, self.a + self.ab, self.a + self.ac]
    }

    /// Returns the point of the triangle closest to `q`, by the Voronoi region of `q` ([Ericson05], 5.1.5).
    fn closest(&self, q: DVec3) -> DVec3 {
        let Self { a, ab, ac } = *self;
        let ap = q - a;
        let (d1, d2) = (ab.dot(ap), ac.dot(ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return a;
        }
        let bp = ap - ab;
        let (d3, d4) = (ab.dot(bp), ac.dot(bp));
        if d3 >= 0.0 && d4 <= d3 {
            return a + ab;
        }
        let cp = ap - ac;
        let (d5, d6) = (ab.dot(cp), ac.dot(cp));
        if d6 >= 0.0 && d5 <= d6 {
            return a + ac;
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
            return a + ab * (d1 / (d1 - d3));
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
            return a + ac * (d2 / (d2 - d6));
        }
        let va = d3 * d6 - d5 * d4;
        let (to_c, to_b) = (d4 - d3, d5 - d6);
        if va <= 0.0 && to_c >= 0.0 && to_b >= 0.0 && to_c + to_b > 0.0 {
            return a + ab + (ac - ab) * (to_c / (to_c + to_b));
        }
        let sum = va + vb + vc;
        if sum > 0.0 {
            return a + ab * (vb / sum) + ac * (vc / sum);
        }
        // A triangle without area, for which rounding has hidden the edge case: a segment or a point.
        let [a, b, c] = self.corners();
        [(a, b), (b, c), (c, a)]
            .map(|(from, to)| closest_on_segment(q, from, to))
            .into_iter()
            .min_by(|s, t| s.distance_squared(q).total_cmp(&t.distance_squared(q)))
            .unwrap_or(a)
    }
}

fn closest_on_segment(q: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let along = to - from;
    let length_squared = along.length_squared();
    if length_squared > 0.0 {
        from + along * ((q - from).dot(along) / length_squared).clamp(0.0, 1.0)
    } else {
        from
    }
}

/// Target of a lane of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    Node(u32),
    /// Triangles `first` to `first + count` in the leaf order.
    Leaf {
        leaf: u32,
        first: u32,
        count: u32,
    },
}

/// Bounds by axis, then by lane, and the children. A lane without a child has an empty box, infinitely far from
/// everything, and a leaf of no triangles.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub min: [[f64; WIDTH]; 3],
    pub max: [[f64; WIDTH]; 3],
    pub children: [Child; WIDTH],
}

impl Node {
    const EMPTY: Self = Self {
        min: [[f64::INFINITY; WIDTH]; 3],
        max: [[f64::NEG_INFINITY; WIDTH]; 3],
        children: [Child::Leaf {
            leaf: 0,
            first: 0,
            count: 0,
        }; WIDTH],
    };

    /// Returns the squared distance of `q` to each lane's box.
    #[inline]
    fn distances_squared(&self, q: DVec3) -> [f64; WIDTH] {
        let mut sum = [0.0; WIDTH];
        for (axis, x) in q.to_array().into_iter().enumerate() {
            for (lane, total) in sum.iter_mut().enumerate() {
                let (below, above) = (self.min[axis][lane] - x, x - self.max[axis][lane]);
                // `f64::max` handles NaN, which takes more instructions than the comparison.
                let outside = if below > above { below } else { above };
                let outside = if outside > 0.0 { outside } else { 0.0 };
                *total += outside * outside;
            }
        }
        sum
    }

    pub fn bounds(&self, lane: usize) -> Aabb {
        let corner = |side: &[[f64; WIDTH]; 3]| DVec3::new(side[0][lane], side[1][lane], side[2][lane]);
        Aabb::new(corner(&self.min), corner(&self.max))
    }
}

/// The nearest triangle so far: squared distance and index in the leaf order.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    distance_squared: f64,
    slot: u32,
}

/// The closest point of a set of triangles to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// The point [m].
    pub point: DVec3,
    /// Index of its triangle.
    pub triangle: usize,
    /// Unsigned distance [m] from the query.
    pub distance: f64,
}

/// A tree over the triangles that have finite corners.
#[derive(Clone, Debug)]
pub(super) struct Bvh {
    center: DVec3,
    /// A power of two [m], so that scaling is exact.
    scale: f64,
    /// Node 0 is the root; children come after their parent.
    pub nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// In leaf order.
    pub triangles: Vec<Triangle>,
    /// The caller's index of each triangle, in leaf order.
    numbers: Vec<u32>,
}

struct Item {
    bounds: Aabb,
    /// Twice the center of the bounds.
    key: DVec3,
    slot: u32,
}

impl Bvh {
    /// Builds a tree of triangles given by their corners [m] and an index to report.
    pub fn new(triangles: impl Iterator<Item = ([DVec3; 3], u32)>) -> Self {
        let (corners, numbers): (Vec<_>, Vec<_>) = triangles
            .filter(|(corners, _)| corners.iter().all(|p| p.is_finite()))
            .unzip();
        let bounds = Aabb::of_points(corners.iter().flatten().copied());
        let (center, scale) = if corners.is_empty() {
            (DVec3::ZERO, 1.0)
        } else {
            let center = 0.5 * bounds.min + 0.5 * bounds.max;
            (center, power_of_two_below((bounds.max - center).max_element()))
        };
        let corners: Vec<_> = corners.into_iter().map(|c| c.map(|p| (p - center) / scale)).collect();

        let mut items: Vec<Item> = (0..)
            .zip(&corners)
            .map(|(slot, corners)| {
                let bounds = Aabb::of_points(corners.iter().copied());
                let key = bounds.min + bounds.max;
                Item { bounds, key, slot }
            })
            .collect();
        let mut nodes = Vec::with_capacity(corners.len() / 2 + 1);
        build(&mut nodes, &mut items, 0, 0);

        let slots = || items.iter().map(|item| item.slot as usize);
        let triangles: Vec<_> = slots().map(|slot| Triangle::new(corners[slot])).collect();
        let mut leaves = Vec::with_capacity(corners.len() / 2 + 1);
        for child in nodes.iter_mut().flat_map(|node| &mut node.children) {
            if let Child::Leaf { leaf, first, count } = child {
                *leaf = leaves.len() as u32;
                leaves.push(Leaf::new(&triangles[*first as usize..(*first + *count) as usize]));
            }
        }
        Self {
            center,
            scale,
            nodes,
            leaves,
            triangles,
            numbers: slots().map(|slot| numbers[slot]).collect(),
        }
    }

    /// Transforms to the tree's own coordinates [-].
    pub fn local(&self, p: DVec3) -> DVec3 {
        (p - self.center) / self.scale
    }

    /// Returns the closest point to `p` [m], if any is nearer than `limit` [m].
    pub fn closest(&self, p: DVec3, limit: f64) -> Option<Closest> {
        let q = self.local(p);
        let nearest = self.nearest(q, limit)?;
        let point = self.triangles[nearest.slot as usize].closest(q);
        Some(Closest {
            point: self.center + self.scale * point,
            triangle: self.numbers[nearest.slot as usize] as usize,
            distance: self.scale * nearest.distance_squared.sqrt(),
        })
    }

    /// Returns the distance [m] of `p` [m] to the triangles, or `limit` [m] if none is nearer.
    pub fn distance(&self, p: DVec3, limit: f64) -> f64 {
        self.nearest(self.local(p), limit)
            .map_or(limit, |nearest| self.scale * nearest.distance_squared.sqrt())
    }

    /// Returns true if `bounds` [m] overlaps the box of a triangle for whose index `matters` returns true.
    pub fn any_box_meets(&self, bounds: &Aabb, mut matters: impl FnMut(usize) -> bool) -> bool {
        let bounds = Aabb::new(self.local(bounds.min), self.local(bounds.max));
        self.meets(0, &bounds, &mut matters)
    }

    /// Calls `visit` with the index of each triangle whose box overlaps `bounds` [-], in the tree's own coordinates.
    pub fn for_each_meeting(&self, bounds: &Aabb, mut visit: impl FnMut(usize)) {
        self.meets(0, bounds, &mut |number| {
            visit(number);
            false
        });
    }

    fn meets(&self, node: u32, bounds: &Aabb, matters: &mut impl FnMut(usize) -> bool) -> bool {
        let node = &self.nodes[node as usize];
        let meeting = |other: &Aabb| !bounds.intersection(other).is_empty();
        (0..WIDTH)
            .filter(|&lane| meeting(&node.bounds(lane)))
            .any(|lane| match node.children[lane] {
                Child::Node(child) => self.meets(child, bounds, matters),
                Child::Leaf { first, count, .. } => (first as usize..(first + count) as usize).any(|slot| {
                    meeting(&Aabb::of_points(self.triangles[slot].corners())) && matters(self.numbers[slot] as usize)
                }),
            })
    }

    /// Returns the caller's index of the triangle at `slot` of the leaf order.
    pub fn number(&self, slot: usize) -> u32 {
        self.numbers[slot]
    }

    /// Returns origin [m] and unit [m] of the tree's own coordinates.
    pub fn frame(&self) -> (DVec3, f64) {
        (self.center, self.scale)
    }

    fn nearest(&self, q: DVec3, limit: f64) -> Option<Nearest> {
        if !q.is_finite() {
            return None;
        }
        let mut nearest = Nearest {
            distance_squared: (limit / self.scale).powi(2),
            slot: u32::MAX,
        };
        self.descend(0, q, &mut nearest);
        (nearest.slot != u32::MAX).then_some(nearest)
    }

    fn descend(&self, node: u32, q: DVec3, nearest: &mut Nearest) {
        let node = &self.nodes[node as usize];
        let distances = node.distances_squared(q);
        // The nearest box first: it most often contains the result and excludes the others.
        let mut order = [0, 1, 2, 3];
        for (i, j) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            if distances[order[j]] < distances[order[i]] {
                order.swap(i, j);
            }
        }
        for lane in order {
            if distances[lane] >= nearest.distance_squared {
                return;
            }
            match node.children[lane] {
                Child::Node(child) => self.descend(child, q, nearest),
                Child::Leaf { leaf, first, count } => {
                    let bounds = self.leaves[leaf as usize].lower_bounds(q);
                    for (slot, bound) in (first..first + count).zip(bounds) {
                        if f64::from(bound) >= nearest.distance_squared {
                            continue;
                        }
                        let distance_squared = self.triangles[slot as usize].closest(q).distance_squared(q);
                        if distance_squared < nearest.distance_squared {
                            *nearest = Nearest { distance_squared, slot };
                        }
                    }
                }
            }
        }
    }
}

fn power_of_two_below(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    let floor = f64::from_bits(x.to_bits() & EXPONENT);
    if floor > 0.0 { floor } else { 1.0 }
}

/// Appends the node over `items`, which start at `first` in the leaf order, and all nodes below it.
fn build(nodes: &mut Vec<Node>, items: &mut [Item], first: usize, level: usize) -> u32 {
    let own = nodes.len();
    nodes.push(Node::EMPTY);
    for (lane, range) in divide(items, level).into_iter().enumerate() {
        let part = &mut items[range.clone()];
        let bounds = part.iter().fold(Aabb::EMPTY, |sum, item| sum.union(&item.bounds));
        let child = if part.len() <= LEAF {
            Child::Leaf {
                leaf: 0,
                first: (first + range.start) as u32,
                count: part.len() as u32,
            }
        } else {
            Child::Node(build(nodes, part, first + range.start, level + 1))
        };
        let node = &mut nodes[own];
        node.children[lane] = child;
        for axis in 0..3 {
            node.min[axis][lane] = bounds.min[axis];
            node.max[axis][lane] = bounds.max[axis];
        }
    }
    own as u32
}

/// Reorders `items` into up to [`WIDTH`] parts, always dividing the largest.
fn divide(items: &mut [Item], level: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::with_capacity(WIDTH);
    parts.push(0..items.len());
    while parts.len() < WIDTH {
        let largest = (0..parts.len()).max_by_key(|&k| parts[k].len()).unwrap_or(0);
        let range = parts[largest].clone();
        if range.len() <= LEAF {
            break;
        }
        let middle = range.start + split(&mut items[range.clone()], level);
        parts[largest] = range.start..middle;
        parts.push(middle..range.end);
    }
    parts.retain(|range| !range.is_empty());
    parts
}

/// Reorders `items` into two parts that are not empty and returns the start of the second: the cheapest of the planes
/// across the longest axis by surface area times count ([Wald07]).
fn split(items: &mut [Item], level: usize) -> usize {
    let keys = Aabb::of_points(items.iter().map(|item| item.key));
    let extent = keys.size();
    let axis = extent.max_position();
    let half = items.len() / 2;
    if extent[axis] <= 0.0 {
        return half;
    }
    if level >= COST_LEVELS {
        items.select_nth_unstable_by(half, |s, t| {
            s.key[axis].total_cmp(&t.key[axis]).then(s.slot.cmp(&t.slot))
        });
        return half;
    }
    let (start, per_bin) = (keys.min[axis], BINS as f64 / extent[axis]);
    let bin = |item: &Item| (((item.key[axis] - start) * per_bin) as usize).min(BINS - 1);

    let mut bins = [(Aabb::EMPTY, 0usize); BINS];
    for item in items.iter() {
        let (bounds, count) = &mut bins[bin(item)];
        *bounds = bounds.union(&item.bounds);
        *count += 1;
    }
    let cost = |(bounds, count): &(Aabb, usize)| {
        let s = bounds.size();
        if *count == 0 {
            0.0
        } else {
            (s.x * s.y + s.y * s.z + s.z * s.x) * *count as f64
        }
    };
    let join = |sum: &mut (Aabb, usize), next: &(Aabb, usize)| {
        *sum = (sum.0.union(&next.0), sum.1 + next.1);
        Some(*sum)
    };
    let below: Vec<_> = bins.iter().scan((Aabb::EMPTY, 0), join).collect();
    let above: Vec<_> = bins.iter().rev().scan((Aabb::EMPTY, 0), join).collect();
    // The first and the last bin contain the extreme items, so neither side of any border is empty.
    let border = (1..BINS)
        .min_by(|&s, &t| {
            let total = |k: usize| cost(&below[k - 1]) + cost(&above[BINS - 1 - k]);
            total(s).total_cmp(&total(t))
        })
        .unwrap_or(1);

    let mut middle = 0;
    for k in 0..items.len() {
        if bin(&items[k]) < border {
            items.swap(k, middle);
            middle += 1;
        }
    }
    middle
}
