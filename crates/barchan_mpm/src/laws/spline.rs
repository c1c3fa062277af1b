//! Quadratic B-splines.

use glam::Vec3;

/// Weights of the three nodes from the base node on [-], for a position `x` from 0.5 to 1.5 cells beyond it.
#[inline(always)]
pub(crate) fn weights(x: Vec3) -> [Vec3; 3] {
    let (left, middle, right) = (1.5 - x, x - 1.0, x - 0.5);
    [0.5 * left * left, 0.75 - middle * middle, 0.5 * right * right]
}

/// D⁻¹ h² [-] of quadratic splines: the second moment of their weights is h²/4 along each axis, [Jiang15].
pub(crate) const INVERSE_MOMENT: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_have_the_moments_of_quadratic_splines() {
        for k in 0..=20 {
            let x = Vec3::splat(0.5 + 0.05 * k as f32);
            let moment = |power: i32| {
                let nodes = weights(x).into_iter().zip(0u8..);
                nodes
                    .map(|(w, node)| w.x * (f32::from(node) - x.x).powi(power))
                    .sum::<f32>()
            };
            assert!((moment(0) - 1.0).abs() < 1e-6);
            assert!(moment(1).abs() < 1e-6);
            assert!((moment(2) * INVERSE_MOMENT - 1.0).abs() < 1e-5);
        }
    }
}
