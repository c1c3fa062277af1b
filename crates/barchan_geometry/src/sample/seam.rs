//! Solids that go on through periodic faces.

use glam::DVec3;

use super::Radii;
use crate::{Aabb, Shape};

/// Ranges [m] of the axes that close upon themselves.
pub type Periods = [Option<[f64; 2]>; 3];

/// Depth below a face, in largest radii, whose cross-section stands for what lies nearer to the face: no surface is seen there.
const DEPTH: f64 = 2.0;
/// Shortest range that is packed through, in largest radii: neighbours of a sphere must not be seen twice.
const SHORTEST: f64 = 4.7;
/// Width of the band of particles beyond faces that are cut away again, in depths [-].
const BEYOND: f64 = 2.0;
/// Tolerance by which a shape may miss a face, of the range [-].
const MISS: f64 = 1e-6;

/// A solid that reaches both faces of some periodic ranges, cut to them, without a surface there.
#[derive(Debug)]
pub(super) struct Seamless<'a> {
    shape: &'a dyn Shape,
    /// Ranges [m] through whose faces it goes on.
    pub periods: Periods,
    depth: f64,
    /// Distance beyond the faces at which it ends [m], if it does.
    end: Option<f64>,
}

impl<'a> Seamless<'a> {
    /// `shape` for particles of these radii; none if it reaches both faces of no range, or ranges are too short.
    pub fn new(shape: &'a dyn Shape, periods: Periods, radii: &Radii) -> Option<Self> {
        let bounds = shape.bounds();
        let reached = [0, 1, 2].map(|axis| {
            periods[axis].filter(|[low, high]| {
                let miss = MISS * (high - low);
                let is_reached = bounds.min[axis] <= low + miss && bounds.max[axis] >= high - miss;
                is_reached && high - low >= SHORTEST * radii.max()
            })
        });
        let has_any = !bounds.is_empty() && reached.iter().any(Option::is_some);
        has_any.then(|| Self {
            shape,
            periods: reached,
            depth: DEPTH * radii.max(),
            end: None,
        })
    }

    /// The same with an end beyond the faces, so far that particles there do not count for those within.
    pub fn beyond(&self) -> Self {
        Self {
            end: Some(BEYOND * self.depth),
            ..*self
        }
    }

    /// Checks whether a center at `p` [m] lies within the ranges.
    pub fn is_within(&self, p: DVec3) -> bool {
        let mut ranges = self.periods.iter().enumerate();
        ranges.all(|(axis, range)| range.is_none_or(|[low, high]| (low..high).contains(&p[axis])))
    }

    /// The place whose surroundings `p` [m] sees, and how deep it is below the faces at least [m].
    fn inner(&self, mut p: DVec3) -> (DVec3, f64) {
        let mut least = f64::INFINITY;
        for (axis, range) in self.periods.iter().enumerate() {
            if let Some([low, high]) = range {
                let depth = self.depth.min(0.5 * (high - low));
                let below = (p[axis] - low).min(high - p[axis]);
                least = least.min(self.end.map_or(below.max(depth), |end| below + end));
                p[axis] = p[axis].clamp(low + depth, high - depth);
            }
        }
        (p, least)
    }
}

impl Shape for Seamless<'_> {
    /// No deeper than the faces are, but near them as deep as is needed to see no surface.
    fn distance(&self, p: DVec3) -> f64 {
        let (inner, depth) = self.inner(p);
        self.shape.distance(inner).max(-depth)
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        self.shape.normal(self.inner(p).0)
    }

    fn distance_and_normal(&self, p: DVec3) -> (f64, DVec3) {
        let (inner, depth) = self.inner(p);
        let (distance, normal) = self.shape.distance_and_normal(inner);
        (distance.max(-depth), normal)
    }

    fn bounds(&self) -> Aabb {
        let mut bounds = self.shape.bounds();
        for (axis, range) in self.periods.iter().enumerate() {
            if let Some([low, high]) = range {
                bounds.min[axis] = low - self.end.unwrap_or(0.0);
                bounds.max[axis] = high + self.end.unwrap_or(0.0);
            }
        }
        bounds
    }
}

/// `p` [m], brought back into the ranges.
pub(super) fn wrapped(periods: &Periods, mut p: DVec3) -> DVec3 {
    for (axis, range) in periods.iter().enumerate() {
        if let Some([low, high]) = range
            && !(*low..*high).contains(&p[axis])
        {
            p[axis] = low + (p[axis] - low).rem_euclid(high - low);
        }
    }
    p
}

/// The shortest way to an image of a point that is `way` [m] away.
pub(super) fn nearest(periods: &Periods, mut way: DVec3) -> DVec3 {
    for (axis, range) in periods.iter().enumerate() {
        if let Some([low, high]) = range {
            way[axis] -= (high - low) * (way[axis] / (high - low)).round();
        }
    }
    way
}
