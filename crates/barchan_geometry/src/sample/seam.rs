//! Solids that continue through periodic faces.

use glam::DVec3;

use super::Radii;
use crate::{Aabb, Shape};

/// Ranges [m] of the periodic axes.
pub type Periods = [Option<[f64; 2]>; 3];

/// Depth below a face, in largest radii, whose cross-section is extruded up to the face: there is no surface.
const FACE_DEPTH: f64 = 2.0;
/// Shortest range that is packed through, in largest radii: a sphere must not have a neighbor twice.
const MIN_RANGE: f64 = 4.7;
/// Width of the band of particles beyond faces that are cut away again, in depths [-].
const BAND_DEPTHS: f64 = 2.0;
/// Largest distance of a shape from a face that it reaches, relative to the range [-].
const FACE_TOLERANCE: f64 = 1e-6;

/// A solid that reaches both faces of some periodic ranges, cut to them, without a surface there.
#[derive(Debug)]
pub(super) struct Seamless<'a> {
    shape: &'a dyn Shape,
    /// Ranges [m] through whose faces it continues.
    pub periods: Periods,
    depth: f64,
    /// Distance beyond the faces at which it ends [m], if it does.
    end: Option<f64>,
}

impl<'a> Seamless<'a> {
    /// Creates the solid of `shape` for particles of these radii; `None` if it reaches both faces of no range, or
    /// ranges are too short.
    pub fn new(shape: &'a dyn Shape, periods: Periods, radii: &Radii) -> Option<Self> {
        let bounds = shape.bounds();
        let reached = [0, 1, 2].map(|axis| {
            periods[axis].filter(|[low, high]| {
                let miss = FACE_TOLERANCE * (high - low);
                let is_reached = bounds.min[axis] <= low + miss && bounds.max[axis] >= high - miss;
                is_reached && high - low >= MIN_RANGE * radii.max()
            })
        });
        let has_any = !bounds.is_empty() && reached.iter().any(Option::is_some);
        has_any.then(|| Self {
            shape,
            periods: reached,
            depth: FACE_DEPTH * radii.max(),
            end: None,
        })
    }

    /// Ends the solid beyond the faces, so far that particles there do not affect those within.
    pub fn beyond(&self) -> Self {
        Self {
            end: Some(BAND_DEPTHS * self.depth),
            ..*self
        }
    }

    /// Checks whether a center at `p` [m] lies within the ranges.
    pub fn is_within(&self, p: DVec3) -> bool {
        let mut ranges = self.periods.iter().enumerate();
        ranges.all(|(axis, range)| range.is_none_or(|[low, high]| (low..high).contains(&p[axis])))
    }

    /// Returns the position whose surroundings replace those of `p` [m], and a lower bound of its depth below the faces
    /// [m].
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
    /// At most the depth below the faces, but near them deep enough to see no surface.
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

/// Wraps `p` [m] into the ranges.
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

/// Returns the shortest displacement to an image of a point that is `offset` [m] away.
pub(super) fn nearest(periods: &Periods, mut offset: DVec3) -> DVec3 {
    for (axis, range) in periods.iter().enumerate() {
        if let Some([low, high]) = range {
            offset[axis] -= (high - low) * (offset[axis] / (high - low)).round();
        }
    }
    offset
}
