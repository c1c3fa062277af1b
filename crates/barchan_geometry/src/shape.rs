use std::fmt::Debug;

use glam::DVec3;

use crate::Aabb;
use crate::mesh::{FlatSolid, TriMesh};

/// A solid given by its signed distance.
///
/// Contract: [`distance`](Self::distance) is negative inside and positive outside, changes by at most the displacement
/// (1-Lipschitz), and its magnitude never exceeds the true distance to the surface. So a ball of that radius around a
/// point never crosses the surface, and whole blocks of space can be classified by their centers. Primitives are exact;
/// compositions return the bound.
pub trait Shape: Debug + Send + Sync {
    /// Returns the signed distance [m] from `p` [m] to the surface, negative inside.
    fn distance(&self, p: DVec3) -> f64;

    /// Returns the outward unit normal [-]: the gradient of the distance at `p` [m]. Always of unit length, also where
    /// the gradient is not unique (center of a sphere, medial axis), where it is any of the candidates.
    fn normal(&self, p: DVec3) -> DVec3 {
        central_difference_normal(self, p)
    }

    /// Returns [`distance`](Self::distance) and [`normal`](Self::normal) at once, cheaper for solids that must search.
    fn distance_and_normal(&self, p: DVec3) -> (f64, DVec3) {
        (self.distance(p), self.normal(p))
    }

    /// Returns the unsigned distance [m] to the surface, or `limit` [m] if that is less. Solids that must search for it
    /// are faster with a smaller limit.
    fn distance_within(&self, p: DVec3, limit: f64) -> f64 {
        self.distance(p).abs().min(limit)
    }

    /// Returns true if `p` [m] lies inside.
    fn is_inside(&self, p: DVec3) -> bool {
        self.distance(p) < 0.0
    }

    /// Returns a box [m] around everything inside, as tight as is cheap; with infinite sides where the solid is
    /// unbounded.
    fn bounds(&self) -> Aabb;

    /// Returns its surface, if triangles can represent it exactly.
    fn triangles(&self) -> Option<TriMesh> {
        let bounds = self.bounds();
        let has_end = bounds.is_finite() || bounds.is_empty();
        self.flat_solid(0.0).filter(|_| has_end)?.surface(&bounds)
    }

    /// Returns the Boolean of convex polyhedra that equals the solid, or whose surface differs by at most `tolerance`
    /// [m]; `None` if there is no such Boolean of few faces.
    fn flat_solid(&self, _tolerance: f64) -> Option<FlatSolid> {
        None
    }
}

/// Returns the normalized central difference of the distance at `p` [m]: the fallback for shapes without a closed form.
pub fn central_difference_normal<S: Shape + ?Sized>(shape: &S, p: DVec3) -> DVec3 {
    // The cube root of the f64 precision balances truncation against cancellation.
    let step = 6e-6 * p.abs().max_element().max(1e-3);
    let slope = |axis: DVec3| shape.distance(p + step * axis) - shape.distance(p - step * axis);
    DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z))
        .try_normalize()
        .unwrap_or(DVec3::Z)
}
