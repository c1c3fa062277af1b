//! The generalized winding number: how often a surface encloses a point ([Jacobson13]).
//!
//! The solid angle of all triangles over 4π: 1 inside and 0 outside a watertight mesh, in between near the holes of an
//! open one, the number of layers where solids overlap. Distant clusters of triangles are summed by the first two terms
//! of their expansion ([Barill18]), nearby triangles exactly ([vanOosterom83]).

use std::cell::Cell;
use std::f64::consts::PI;
use std::ops::Range;

use glam::{DMat3, DVec3};

use super::bvh::{Bvh, Child, Triangle, WIDTH};

/// Distance of the query from a cluster's center, in radii of the cluster, above which the expansion is used [-].
const FAR_FIELD_RADII: f64 = 2.0;

/// Returns tan Ω/2 of a triangle's solid angle Ω, as a fraction, for corners relative to the query ([vanOosterom83]).
fn half_solid_angle([a, b, c]: [DVec3; 3]) -> (f64, f64) {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    (numerator, denominator)
}

/// Returns the solid angle [sr] of a few triangles seen from `q`.
fn solid_angle(triangles: &[Triangle], q: DVec3) -> f64 {
    let halves = || triangles.iter().map(|t| half_solid_angle(t.corners().map(|p| p - q)));
    // Angles add when complex numbers multiply. Up to four of less than π/4 cannot wrap around: one arctangent.
    debug_assert!(triangles.len() <= 4);
    let mut product = (1.0, 0.0);
    for (y, x) in halves() {
        if y.abs() >= x {
            return halves()
                .map(|(y, x)| 2.0 * if y == 0.0 { 0.0 } else { y.atan2(x) })
                .sum();
        }
        product = (product.0 * x - product.1 * y, product.0 * y + product.1 * x);
    }
    2.0 * product.1.atan2(product.0)
}

/// Moments of a cluster about its center: enough for the first two terms of the solid angle's expansion.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// Centroid of the surface.
    center: DVec3,
    area: f64,
    /// N = Σ A n.
    normal: DVec3,
    /// C = Σ A (x - center) nᵀ.
    first: DMat3,
    /// Largest distance of the triangles from the center.
    radius: f64,
}

impl Cluster {
    fn of_triangle(triangle: &Triangle) -> Self {
        let normal = 0.5 * triangle.ab.cross(triangle.ac);
        let corners = triangle.corners();
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        Self {
            center,
            area: normal.length(),
            normal,
            first: DMat3::ZERO,
            radius: corners.iter().map(|p| p.distance(center)).fold(0.0, f64::max),
        }
    }

    fn join(parts: &[Self]) -> Self {
        let area: f64 = parts.iter().map(|p| p.area).sum();
        let weighted: DVec3 = parts.iter().map(|p| p.area * p.center).sum();
        let plain: DVec3 = parts.iter().map(|p| p.center).sum();
        let center = if area > 0.0 {
            weighted / area
        } else {
            plain / parts.len().max(1) as f64
        };
        Self {
            center,
            area,
            normal: parts.iter().map(|p| p.normal).sum(),
            first: parts.iter().fold(DMat3::ZERO, |sum, p| {
                let arm = p.center - center;
                sum + p.first + DMat3::from_cols(arm * p.normal.x, arm * p.normal.y, arm * p.normal.z)
            }),
            radius: parts
                .iter()
                .map(|p| p.center.distance(center) + p.radius)
                .fold(0.0, f64::max),
        }
    }
}

/// The clusters below a node, by lane, relative to a common point: single precision is then enough at any size.
#[derive(Clone, Debug)]
struct Lanes {
    origin: DVec3,
    center: [[f32; WIDTH]; 3],
    normal: [[f32; WIDTH]; 3],
    /// Cxx, Cyy, Czz, Cxy + Cyx, Cyz + Czy, Czx + Cxz: all that the expansion uses.
    first: [[f32; WIDTH]; 6],
    /// Squared distance from which a lane is far; infinite for an empty lane.
    far: [f32; WIDTH],
}

impl Lanes {
    fn new(clusters: &[Cluster]) -> Self {
        let origin = Cluster::join(clusters).center;
        let mut lanes = Self {
            origin,
            center: [[0.0; WIDTH]; 3],
            normal: [[0.0; WIDTH]; 3],
            first: [[0.0; WIDTH]; 6],
            far: [f32::INFINITY; WIDTH],
        };
        for (lane, cluster) in clusters.iter().enumerate() {
            let (center, c) = (cluster.center - origin, cluster.first);
            for axis in 0..3 {
                let next = (axis + 1) % 3;
                lanes.center[axis][lane] = center[axis] as f32;
                lanes.normal[axis][lane] = cluster.normal[axis] as f32;
                lanes.first[axis][lane] = c.col(axis)[axis] as f32;
                lanes.first[3 + axis][lane] = (c.col(next)[axis] + c.col(axis)[next]) as f32;
            }
            lanes.far[lane] = (FAR_FIELD_RADII * cluster.radius).powi(2) as f32;
        }
        lanes
    }

    /// Returns the solid angle [sr] of each lane seen from `q`, and true if it is far enough for the expansion: with r
    /// from `q` to the cluster's center, Ω ≈ (N·r + tr C - 3 rᵀC r / r²) / r³ ([Barill18]).
    #[inline]
    fn solid_angles(&self, q: DVec3) -> ([f32; WIDTH], [bool; WIDTH]) {
        let q = (q - self.origin).as_vec3();
        let mut angles = [0.0; WIDTH];
        let mut far = [false; WIDTH];
        for lane in 0..WIDTH {
            let x = self.center[0][lane] - q.x;
            let y = self.center[1][lane] - q.y;
            let z = self.center[2][lane] - q.z;
            let n = self.normal.map(|row| row[lane]);
            let c = self.first.map(|row| row[lane]);
            let squared = x * x + y * y + z * z;
            let inverse = 1.0 / squared;
            let bilinear = x * (c[0] * x + c[3] * y) + y * (c[1] * y + c[4] * z) + z * (c[2] * z + c[5] * x);
            let sum = n[0] * x + n[1] * y + n[2] * z + (c[0] + c[1] + c[2]) - 3.0 * bilinear * inverse;
            angles[lane] = sum * inverse * inverse.sqrt();
            far[lane] = squared > self.far[lane];
        }
        (angles, far)
    }
}

/// The clusters of a tree, node by node.
#[derive(Clone, Debug)]
pub(super) struct Clusters(Vec<Lanes>);

impl Clusters {
    pub fn new(bvh: &Bvh) -> Self {
        let mut joined = vec![Cluster::join(&[]); bvh.nodes.len()];
        let mut lanes: Vec<Lanes> = Vec::with_capacity(bvh.nodes.len());
        // Children come after their parent.
        for (number, node) in bvh.nodes.iter().enumerate().rev() {
            let mut clusters = Vec::with_capacity(WIDTH);
            for (lane, child) in node.children.iter().enumerate() {
                let mut cluster = match *child {
                    Child::Node(child) => joined[child as usize],
                    Child::Leaf { count: 0, .. } => continue,
                    Child::Leaf { first, count, .. } => {
                        let triangles = &bvh.triangles[first as usize..(first + count) as usize];
                        Cluster::join(&triangles.iter().map(Cluster::of_triangle).collect::<Vec<_>>())
                    }
                };
                let farthest = node.bounds(lane).corners().map(|p| p.distance(cluster.center));
                cluster.radius = cluster.radius.min(farthest.into_iter().fold(0.0, f64::max));
                clusters.push(cluster);
            }
            lanes.push(Lanes::new(&clusters));
            joined[number] = Cluster::join(&clusters);
        }
        lanes.reverse();
        Self(lanes)
    }

    /// Returns the winding number [-] around `p` [m] of the triangles of `bvh`, which must be the tree this was built
    /// for.
    pub fn winding_number(&self, bvh: &Bvh, p: DVec3) -> f64 {
        let leaf = |slots: Range<usize>, q: DVec3| solid_angle(&bvh.triangles[slots], q);
        self.sum(bvh, 0, bvh.local(p), &leaf) / (4.0 * PI)
    }

    /// Returns the winding number [-] around `q`, in the tree's own coordinates, without the triangles with the indices
    /// `left_out`, all of which contain `q`; and the number of triangles that were summed individually.
    pub fn winding_number_without(&self, bvh: &Bvh, q: DVec3, left_out: &[u32]) -> (f64, usize) {
        let summed = Cell::new(0);
        let leaf = |slots: Range<usize>, q: DVec3| {
            summed.set(summed.get() + slots.len());
            slots
                .filter(|&slot| !left_out.contains(&bvh.number(slot)))
                .map(|slot| solid_angle(&bvh.triangles[slot..=slot], q))
                .sum()
        };
        (self.sum(bvh, 0, q, &leaf) / (4.0 * PI), summed.get())
    }

    fn sum(&self, bvh: &Bvh, number: u32, q: DVec3, leaf: &impl Fn(Range<usize>, DVec3) -> f64) -> f64 {
        let (angles, far) = self.0[number as usize].solid_angles(q);
        let children = &bvh.nodes[number as usize].children;
        let mut total = 0.0;
        for lane in 0..WIDTH {
            total += if far[lane] {
                f64::from(angles[lane])
            } else {
                match children[lane] {
                    Child::Node(child) => self.sum(bvh, child, q, leaf),
                    Child::Leaf { first, count, .. } => leaf(first as usize..(first + count) as usize, q),
                }
            };
        }
        total
    }
}
