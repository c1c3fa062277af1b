//! Smooth motion through keys: cubic Hermite splines with the tangents of Catmull and Rom for keys at any times.

use glam::DVec3;

use crate::Ease;

/// Longest tangent, as a multiple of the mean rate on either side of its key [-]: longer ones would let a component
/// overshoot its keys.
const LONGEST_TANGENT: f64 = 3.0;

/// Segment that leads to a key or away from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// Mean rate [1/s], of whatever is interpolated.
    pub rate: DVec3,
    /// Duration [s].
    pub duration: f64,
    /// Displacement and turn over it.
    pub ease: Ease,
}

/// Returns the rate [1/s] at a key between two legs, at least one of them a spline.
///
/// Between two splines it is that of the parabola through the key and both its neighbors: m = (h₁ d₀ + h₀ d₁) / (h₀ +
/// h₁), with mean rates d and durations h, no longer than three times the slower of both. A leg that does not move, and
/// one that ends or starts at rest, has a rate of zero at its keys, a linear one its own; before the first and after
/// the last key nothing moves.
pub(crate) fn tangent(before: Option<Leg>, after: Option<Leg>) -> DVec3 {
    let (Some(before), Some(after)) = (before, after) else {
        return DVec3::ZERO;
    };
    match (before.ease, after.ease) {
        (Ease::Smooth, _) | (_, Ease::Smooth) => DVec3::ZERO,
        (Ease::Linear, _) => before.rate,
        (_, Ease::Linear) => after.rate,
        (Ease::Spline, Ease::Spline) => {
            let weighed = after.duration * before.rate + before.duration * after.rate;
            let slower = before.rate.length().min(after.rate.length());
            (weighed / (before.duration + after.duration)).clamp_length_max(LONGEST_TANGENT * slower)
        }
    }
}

/// Returns the cubic from `from` to `to` with the `tangents` at its ends, times its duration, at the fraction `s` [-]
/// of it.
pub(crate) fn hermite(from: DVec3, to: DVec3, tangents: [DVec3; 2], s: f64) -> DVec3 {
    let back = 1.0 - s;
    let smooth = s * s * (3.0 - 2.0 * s);
    from.lerp(to, smooth) + s * back * (back * tangents[0] - s * tangents[1])
}
