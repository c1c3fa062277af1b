//! Lower bounds of the distance to a body: its shape is queried once per node of a lattice, when the first chunk comes
//! near.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use barchan_geometry::{Aabb, Shape};
use glam::{DVec3, IVec3};

/// Most nodes of a lattice.
const NODES: f64 = 1_048_576.0;
/// Largest relative error of single precision [-].
const ROUNDING: f64 = 1e-6;

/// Distances of a shape at the nodes of a lattice around it, in the shape's frame.
#[derive(Debug)]
pub(crate) struct Clearance {
    shape: Arc<dyn Shape>,
    bounds: Aabb,
    low: DVec3,
    side: f64,
    size: IVec3,
    /// Distance at each node [m], as bits; NaN until it is queried.
    nodes: Vec<AtomicU32>,
}

impl Clearance {
    /// Creates bounds for `shape`, with nodes about `side` [m] apart up to `margin` [m] from its bounds. An unbounded
    /// shape has no lattice.
    pub fn new(shape: &Arc<dyn Shape>, side: f64, margin: f64) -> Self {
        let bounds = shape.bounds();
        let around = bounds.grown(margin);
        let (mut side, mut size) = (side, IVec3::ZERO);
        if around.is_finite() && !around.is_empty() && side > 0.0 {
            side = side.max((around.size().element_product() / NODES).cbrt());
            size = (around.size() / side).as_ivec3() + 1;
        }
        let count = size.as_u64vec3().element_product() as usize;
        Self {
            shape: shape.clone(),
            bounds,
            low: around.min,
            side,
            size,
            nodes: (0..count).map(|_| AtomicU32::new(f32::NAN.to_bits())).collect(),
        }
    }

    /// Returns a lower bound of the distance [m] of the position `p` [m] in the shape's frame from the shape; beyond
    /// `wanted` [m] it need not be tight.
    pub fn bound(&self, p: DVec3, wanted: f64) -> f64 {
        let outside = (p - p.clamp(self.bounds.min, self.bounds.max)).length();
        if outside > wanted {
            return outside;
        }
        let node = ((p - self.low) / self.side + 0.5).as_ivec3();
        if self.nodes.is_empty() || node.cmplt(IVec3::ZERO).any() || node.cmpge(self.size).any() {
            return self.shape.distance(p);
        }
        let place = self.low + self.side * node.as_dvec3();
        let k = ((node.z * self.size.y + node.y) * self.size.x + node.x) as usize;
        // Whoever asks first writes what all others would.
        let mut distance = f32::from_bits(self.nodes[k].load(Relaxed));
        if distance.is_nan() {
            distance = self.shape.distance(place) as f32;
            self.nodes[k].store(distance.to_bits(), Relaxed);
        }
        let distance = f64::from(distance);
        distance - ROUNDING * distance.abs() - p.distance(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::random::Stream;
    use barchan_geometry::shapes::{HalfSpace, Sphere};

    #[test]
    fn a_bound_is_never_above_the_distance_and_not_far_below_it() {
        let sphere: Arc<dyn Shape> = Arc::new(Sphere::new(0.4).unwrap());
        let clearance = Clearance::new(&sphere, 0.05, 0.2);
        let mut stream = Stream::new(1, 0);
        for _ in 0..2000 {
            let p = 2.0 * stream.unit_cube() - 1.0;
            let (bound, distance) = (clearance.bound(p, 0.1), sphere.distance(p));
            assert!(bound <= distance, "{bound} at {p}, where it is {distance}");
            // The nearest node is up to half a diagonal off, which counts twice.
            let slack = 3f64.sqrt() * 0.05;
            assert!(
                bound > 0.1 || bound >= distance - slack,
                "{bound} at {p}, where it is {distance}"
            );
        }
    }

    #[test]
    fn a_shape_without_an_end_is_asked_itself() {
        let ground: Arc<dyn Shape> = Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap());
        let clearance = Clearance::new(&ground, 0.05, 0.2);
        assert_eq!(clearance.bound(DVec3::new(3.0, 4.0, 0.5), 0.1), 0.5);
    }
}
