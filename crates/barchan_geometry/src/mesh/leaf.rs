//! The triangles of a leaf side by side in single precision: a cheap lower bound of their distances, which saves the
//! exact test for most of them.

use glam::DVec3;

use super::bvh::{Triangle, WIDTH};

/// Error bound of a squared distance in single precision, relative to the squared magnitude of its coordinates: about
/// 16 roundings.
const SLACK: f32 = 2e-6;
/// Flatness of a triangle [-] below which the error is too large; its bound is zero.
const MIN_FLATNESS: f64 = 1e-3;

type Lanes = [f32; WIDTH];

/// Up to four triangles relative to a common point: corner a, edges ab and ac, unit normal, and the products of the
/// edges.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    origin: DVec3,
    reach: f32,
    a: [Lanes; 3],
    ab: [Lanes; 3],
    ac: [Lanes; 3],
    normal: [Lanes; 3],
    ab_ab: Lanes,
    ab_ac: Lanes,
    ac_ac: Lanes,
    /// 1 / ab², 1 / ac², 1 / bc²; zero for a point.
    inverse: [Lanes; 3],
}

impl Leaf {
    pub fn new(triangles: &[Triangle]) -> Self {
        let corners = || triangles.iter().flat_map(Triangle::corners);
        let origin = corners().sum::<DVec3>() / (3 * triangles.len()).max(1) as f64;
        let mut leaf = Self {
            origin,
            reach: corners().map(|p| p.distance(origin)).fold(0.0, f64::max) as f32,
            a: [[0.0; WIDTH]; 3],
            ab: [[0.0; WIDTH]; 3],
            ac: [[0.0; WIDTH]; 3],
            normal: [[0.0; WIDTH]; 3],
            ab_ab: [0.0; WIDTH],
            ab_ac: [0.0; WIDTH],
            ac_ac: [0.0; WIDTH],
            inverse: [[0.0; WIDTH]; 3],
        };
        for (lane, triangle) in triangles.iter().enumerate() {
            leaf.set(lane, triangle);
        }
        leaf
    }

    fn set(&mut self, lane: usize, &Triangle { a, ab, ac }: &Triangle) {
        let put = |rows: &mut [Lanes; 3], v: DVec3| (0..3).for_each(|axis| rows[axis][lane] = v[axis] as f32);
        put(&mut self.a, a - self.origin);
        let cross = ab.cross(ac);
        if cross.length() <= MIN_FLATNESS * ab.length_squared().max(ac.length_squared()) {
            return;
        }
        put(&mut self.ab, ab);
        put(&mut self.ac, ac);
        put(&mut self.normal, cross.normalize());
        self.ab_ab[lane] = ab.dot(ab) as f32;
        self.ab_ac[lane] = ab.dot(ac) as f32;
        self.ac_ac[lane] = ac.dot(ac) as f32;
        let inverse = [ab, ac, ac - ab].map(|edge| 1.0 / edge.length_squared());
        put(&mut self.inverse, DVec3::from(inverse));
    }

    /// Returns for each lane a lower bound of its squared distance to `q`.
    #[inline]
    pub fn lower_bounds(&self, q: DVec3) -> Lanes {
        let q = (q - self.origin).as_vec3();
        let reach = q.length() + self.reach;
        let slack = SLACK * reach * reach;
        let mut bounds = [0.0; WIDTH];
        for (lane, bound) in bounds.iter_mut().enumerate() {
            let x = q.x - self.a[0][lane];
            let y = q.y - self.a[1][lane];
            let z = q.z - self.a[2][lane];
            let dot = |rows: &[Lanes; 3]| rows[0][lane] * x + rows[1][lane] * y + rows[2][lane] * z;
            let (to_b, to_c, height) = (dot(&self.ab), dot(&self.ac), dot(&self.normal));
            let (bb, bc, cc) = (self.ab_ab[lane], self.ab_ac[lane], self.ac_ac[lane]);
            let squared = x * x + y * y + z * z;

            // On an edge, at the fraction t of its length: |aq|² - 2 t (aq·edge) + t² edge².
            let on_edge = |start: f32, along: f32, length: f32, inverse: f32| {
                let t = least(most(along * inverse, 0.0), 1.0);
                start + t * (t * length - 2.0 * along)
            };
            let on_ab = on_edge(squared, to_b, bb, self.inverse[0][lane]);
            let on_ac = on_edge(squared, to_c, cc, self.inverse[1][lane]);
            let from_b = squared - 2.0 * to_b + bb;
            let on_bc = on_edge(from_b, to_c - to_b + bb - bc, bb - 2.0 * bc + cc, self.inverse[2][lane]);

            // Over the inside, where both barycentric coordinates are positive and sum to less than one.
            let v = cc * to_b - bc * to_c;
            let w = bb * to_c - bc * to_b;
            let over = least(least(v, w), bb * cc - bc * bc - v - w) >= 0.0;
            let edges = least(least(on_ab, on_ac), on_bc);
            *bound = (if over { height * height } else { edges }) - slack;
        }
        bounds
    }
}

// `f32::min` and `max` handle NaN, which takes more instructions than the comparison.
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
