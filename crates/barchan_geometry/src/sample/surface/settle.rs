//! Moves points near the surface to the sampled level.

use glam::DVec3;

use crate::Shape;

/// Dot product of two normals below which they belong to two sides of a thin part. On the ridge between two sides at an
/// angle of 2a the depth grows by sin(a) per length, and normals at -0.5 mean a = 30 degrees: from a blunter edge (a
/// box: 45 degrees) the level is reached, a sharper one is covered up to its tip.
pub(super) const OPPOSED: f64 = -0.5;
/// Distance from the level, in radii, below which a point lies on it [-].
const TOLERANCE: f64 = 1e-3;
/// Longest step [-], in radii, through unknown space.
const BLIND_STEP: f64 = 0.1;
const MAX_STEPS: usize = 40;

/// Position of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    /// [m]
    pub position: DVec3,
    /// Outward normal of the side it came from [-].
    pub normal: DVec3,
    /// In the middle of a part too thin for the level: counts for both sides.
    pub middle: bool,
}

/// The surface moved by `level` [m] along its normal, and the middle of parts too thin for that.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub shape: &'a dyn Shape,
    /// Distance [m] of the level from the surface, negative inside.
    pub level: f64,
    /// Particle radius [m].
    pub radius: f64,
}

impl Level<'_> {
    /// Returns the sample position of the point `p` of a triangle with `normal`.
    pub fn above(&self, p: DVec3, normal: DVec3) -> Spot {
        let position = p + self.level * normal;
        // The distance changed by the full displacement, so there is nothing in between.
        if self.level == 0.0 || (self.shape.distance(position) - self.level).abs() <= self.tolerance() {
            Spot {
                position,
                normal,
                middle: false,
            }
        } else {
            self.settle(p)
        }
    }

    /// Follows the distance from `start` to the level. On the way in it stops in the middle between two opposed sides,
    /// never leaving the solid; at blunt edges it alternates between the sides until the level is reached.
    pub fn settle(&self, start: DVec3) -> Spot {
        let tolerance = self.tolerance();
        let spot = |position, normal, middle| Spot {
            position,
            normal,
            middle,
        };
        let (mut x, (mut f, mut n)) = (start, self.shape.distance_and_normal(start));
        for _ in 0..MAX_STEPS {
            let excess = f - self.level;
            if excess.abs() <= tolerance {
                return spot(x, n, false);
            }
            if excess < 0.0 || self.level >= 0.0 || f > tolerance {
                // From outside, the surface is the first target: behind it the solid may be thin.
                let goal = if excess > 0.0 { self.level.max(0.0) } else { self.level };
                x -= (f - goal) * n;
                (f, n) = self.shape.distance_and_normal(x);
                continue;
            }
            let whole = x - excess * n;
            let (f_whole, n_whole) = self.shape.distance_and_normal(whole);
            if (f_whole - self.level).abs() <= tolerance {
                return spot(whole, n_whole, false);
            }
            if n.dot(n_whole) < OPPOSED {
                let t = ridge(f, f_whole, n.dot(n_whole), excess);
                let middle = x - t * n;
                if (self.shape.distance(middle) - (f - t)).abs() <= tolerance {
                    return spot(middle, n, true);
                }
            }
            // A ball with the radius of the distance contains no surface, so a step of that length is safe.
            let mut step = excess.min(f.abs().max(BLIND_STEP * self.radius));
            loop {
                let y = x - step * n;
                let (f_y, n_y) = self.shape.distance_and_normal(y);
                if n.dot(n_y) < OPPOSED {
                    return spot(x - ridge(f, f_y, n.dot(n_y), step) * n, n, true);
                }
                if f_y <= f + tolerance {
                    (x, f, n) = (y, f_y, n_y);
                    break;
                }
                step *= 0.5;
                if step < tolerance {
                    return spot(x, n, true);
                }
            }
        }
        spot(x, n, self.level < 0.0)
    }

    pub fn tolerance(&self) -> f64 {
        TOLERANCE * self.radius
    }
}

/// Returns the distance [m] along a step of length `step` [m] at which both sides are equally near: there the distance
/// `f0` [m], falling by one per length, meets the line through `f1` [m] at the step's end, whose slope is minus
/// `cosine` [-], the dot product of the sides' normals.
fn ridge(f0: f64, f1: f64, cosine: f64, step: f64) -> f64 {
    ((f0 - f1 - cosine * step) / (1.0 - cosine)).clamp(0.0, step)
}
