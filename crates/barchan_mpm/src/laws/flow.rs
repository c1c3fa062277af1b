//! Friction of fast flow, μ(I).

use barchan_simd::Real;

/// Inertial number I₀ [-] at which friction has gained half of what it gains in the fastest flow: that of [Jop06] for glass beads.
const HALF_GAIN: f32 = 0.279;

/// Smallest pressure [Pa] of an inertial number.
const LEAST_PRESSURE: f32 = 1e-3;

/// Part of the gain of friction [-] at the inertial number I = γ̇ d √(ρ/p): I/(I₀ + I), [Jop06] eq. (2). `rate` is γ̇ d √ρ [√Pa].
#[inline(always)]
pub(crate) fn mobilized<T: Real>(rate: T, pressure: T) -> T {
    let number = rate / pressure.max(pressure.like(LEAST_PRESSURE)).sqrt();
    number / (number.like(HALF_GAIN) + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_gains_half_at_the_number_of_half_gain_and_all_in_the_fastest_flow() {
        // 1 mm grains of 2500 kg/m³ at 100 Pa.
        let rate = |number: f32| number * 100f32.sqrt();
        assert_eq!(mobilized(0.0f32, 100.0), 0.0);
        assert!((mobilized(rate(HALF_GAIN), 100.0) - 0.5).abs() < 1e-6);
        assert!(mobilized(rate(1e4), 100.0f32) > 0.999);
    }
}
