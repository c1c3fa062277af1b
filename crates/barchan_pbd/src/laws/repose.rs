//! Calibration: from the slope of a heap to the friction of guides. Guides are spheres that do not roll, so a heap
//! stands steeper than their coefficient of friction.

/// Measured at the reference step with two passes, one heap each (`barchan validate repose`, 17,000 guides whose radii differ by 20 %):
/// tangent of the slope of a poured heap, friction of guides on guides [-].
const MEASURED: [(f32, f32); 9] = [
    (0.123, 0.0),
    (0.321, 0.08),
    (0.425, 0.13),
    (0.528, 0.18),
    (0.623, 0.23),
    (0.780, 0.30),
    (0.997, 0.40),
    (1.192, 0.50),
    (1.540, 0.60),
];

/// Steepest slope of a heap that can be set [deg]: that of the last row.
pub const STEEPEST: f64 = 57.0;

/// Time step of the calibration, in units of √(d/g) [-].
const REFERENCE_STEP: f32 = crate::settings::STEP as f32;

/// Longest time step, in units of √(d/g) [-]: in longer steps, few passes do not bring a heap to rest.
pub(crate) const MAX_STEP: f64 = 0.066;

/// Layers of guides of the calibration's heaps [-], and the fewest and the most for which it is corrected [-].
const REFERENCE_LAYERS: f32 = 11.0;
const FEWEST_LAYERS: f32 = 3.0;
const MOST_LAYERS: f32 = 30.0;

/// Friction of guides on guides [-] that makes poured heaps stand at `angle` [rad], in steps of [`REFERENCE_STEP`] with two passes.
pub(crate) fn friction_of(angle: f32) -> f32 {
    let slope = angle.tan();
    let row = MEASURED.windows(2).find(|row| slope < row[1].0);
    let [a, b] = row.map_or([MEASURED[7], MEASURED[8]], |row| [row[0], row[1]]);
    (a.1 + (b.1 - a.1) * (slope - a.0) / (b.0 - a.0)).max(0.0)
}

/// Factor on the friction of guides on guides [-] that makes the slope the same for any number of `passes`, any `step`, of √(d/g) [-], and any
/// `layers` of guides that the most loaded ones carry [-]: contacts that are solved further hold better, and few passes hold deep sand less well
/// than shallow sand. Fitted to heaps of 1 to 20 passes at the reference step, to single passes in steps of 0.018 to 0.066, and to heaps of 8 to
/// 30 d; 1 for two passes at the reference step below eleven layers.
pub(crate) fn hold(passes: u32, step: f32, layers: f32) -> f32 {
    let of_passes = |n: f32| 0.80 + 0.28 * n.powf(-0.6);
    let of_step = |t: f32| 0.85 + 3.25 * t.clamp(0.0, MAX_STEP as f32);
    let of_layers = (layers.clamp(FEWEST_LAYERS, MOST_LAYERS) / REFERENCE_LAYERS).powf(0.2);
    of_passes(passes as f32) / of_passes(2.0) * of_step(step) / of_step(REFERENCE_STEP) * of_layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_grows_with_the_angle_and_meets_what_was_measured() {
        let mut last = -1.0;
        for degrees in 8..60 {
            let mu = friction_of((degrees as f32).to_radians());
            assert!(mu > last, "{degrees}");
            last = mu;
        }
        for (slope, mu) in MEASURED {
            assert!((friction_of(slope.atan()) - mu).abs() < 1e-4, "{slope}");
        }
        assert_eq!(friction_of(0.05), 0.0);
    }

    #[test]
    fn the_reference_needs_no_correction_and_more_passes_need_less_friction() {
        let at_reference = |passes: u32, step: f32| hold(passes, step, REFERENCE_LAYERS);
        assert!((at_reference(2, REFERENCE_STEP) - 1.0).abs() < 1e-6);
        assert!(at_reference(1, REFERENCE_STEP) > at_reference(4, REFERENCE_STEP));
        assert!(at_reference(1, 0.06) > at_reference(1, 0.02));
        assert!((0.8..0.9).contains(&at_reference(20, REFERENCE_STEP)));
    }

    #[test]
    fn deep_sand_needs_more_friction_than_shallow_sand_within_bounds() {
        let of = |layers: f32| hold(2, REFERENCE_STEP, layers);
        assert!(of(5.0) < of(11.0) && of(11.0) < of(20.0));
        assert_eq!([of(0.0), of(1e9)], [of(FEWEST_LAYERS), of(MOST_LAYERS)]);
    }
}
