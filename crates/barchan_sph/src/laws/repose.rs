//! Calibration: from the slope of a heap to the internal friction.
//!
//! Sand that flows down a slope is held by s = p Y/√2 and stops at tan θ = Y/√2. Sand at rest may be steeper: squeezed
//! along the slope, so that p exceeds the stress σ across it, it bears τ² = Y²/2 p² - ¾ (p - σ)², up to 38° for a flow
//! that stops at 30°. A poured heap flows and rests in turn, and ends in between.

/// Tangent of the slope of a poured heap, friction Y/√2 within it [-]: heaps stand steeper than their friction by 12 to 20 % (`barchan validate
/// repose`). With flow that gains on rest they scatter by half a degree to a degree.
const CALIBRATED: [(f32, f32); 7] = [
    (0.0, 0.0),
    (0.364, 0.319),
    (0.404, 0.337),
    (0.466, 0.415),
    (0.577, 0.496),
    (0.700, 0.615),
    (0.839, 0.716),
];

/// Steepest slope of a heap that can be set [deg]: friction above 1 would need tension, which sand does not bear.
pub const STEEPEST: f64 = 45.0;

/// Friction [-] within sand whose poured heaps stand at `angle` [rad]: between those that were found, or the same part of the slope beyond.
pub(crate) fn friction_of(angle: f32) -> f32 {
    let slope = angle.tan();
    let last = CALIBRATED[CALIBRATED.len() - 1];
    match CALIBRATED.windows(2).find(|row| slope < row[1].0) {
        Some(row) => row[0].1 + (row[1].1 - row[0].1) * (slope - row[0].0) / (row[1].0 - row[0].0),
        None => slope * last.1 / last.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_grows_with_the_angle_and_meets_what_was_found() {
        let mut last = 0.0;
        for degrees in 1..=60 {
            let slope = (degrees as f32).to_radians().tan();
            let mu = friction_of(slope.atan());
            assert!(mu > last && mu < slope, "{degrees}: {mu}");
            last = mu;
        }
        for (slope, mu) in CALIBRATED {
            assert!((friction_of(slope.atan()) - mu).abs() < 1e-4, "{slope}");
        }
    }
}
