//! Density of a wall near a guide: λ, the part of the kernel that lies in the wall, a normalized density map
//! ([Bender19] with the whole integral instead of a volume at one point).

use glam::Vec3;

/// λ [-] of a half-space at distance τ h from it, and dλ/dτ [-].
///
/// λ(τ) = ½ - 7/5 τ + 8/3 τ³ - 24/5 τ⁵ + 16/5 τ⁶ up to τ = ½, 8/5 (1-τ)⁵ - 16/15 (1-τ)⁶ up to 1; λ(-τ) = 1 - λ(τ) within the wall.
#[inline]
pub(crate) fn half_space(tau: f32) -> (f32, f32) {
    let t = tau.abs();
    let (value, slope) = if t >= 1.0 {
        (0.0, 0.0)
    } else if t > 0.5 {
        let s = 1.0 - t;
        let s4 = s * s * s * s;
        (s4 * s * (8.0 / 5.0 - 16.0 / 15.0 * s), s4 * (32.0 / 5.0 * s - 8.0))
    } else {
        let t2 = t * t;
        (
            0.5 + t * (-7.0 / 5.0 + t2 * (8.0 / 3.0 + t2 * (-24.0 / 5.0 + 16.0 / 5.0 * t))),
            -7.0 / 5.0 + t2 * (8.0 + t2 * (-24.0 + 96.0 / 5.0 * t)),
        )
    };
    if tau < 0.0 {
        (1.0 - value, slope)
    } else {
        (value, slope)
    }
}

/// The distance τ [-] at which a half-space has `lambda` [-].
pub(crate) fn distance_of(lambda: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..40 {
        let middle: f64 = 0.5 * (low + high);
        match f64::from(half_space(middle as f32).0) > lambda {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

/// Returns the part of a second wall that is not in the first already [-], beside the factor 1 - λ of the first: 2α/π,
/// at most 1, for normals at the angle α. Exact for a guide in the edge of both, which hold ½ + α/2π of all directions.
#[inline]
pub(crate) fn beyond(cosine: f32) -> f32 {
    (cosine.clamp(-1.0, 1.0).acos() * std::f32::consts::FRAC_2_PI).min(1.0)
}

/// Acceleration of a guide by the viscosity of a wall, over its ∇λ [m²/s²]: σ h c/2 min(v·x, 0)/(x² + 0.01 h²), [Ihmsen13] eq. (20) with V_b ∇W
/// summed to ∇λ. `approach` is v·x [m²/s] of the guide against the wall, `gap` |x| [m].
#[inline]
pub(crate) fn viscosity(sigma: f32, sound: f32, support: f32, approach: f32, gap: f32) -> f32 {
    0.5 * sigma * support * sound * approach.min(0.0) / (gap * gap + 0.01 * support * support)
}

/// The larger of two forces, [Ihmsen13] eq. (21): greatest dissipation.
#[inline]
pub(crate) fn larger(a: Vec3, b: Vec3) -> Vec3 {
    if a.length_squared() > b.length_squared() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::kernel;

    /// The part of the kernel of support 1 beyond the plane at `tau`, in slices.
    fn by_slices(tau: f64) -> f64 {
        let n = 400;
        let mut sum = 0.0;
        for i in 0..n {
            let z = tau + (1.0 - tau) * (f64::from(i) + 0.5) / f64::from(n);
            for k in 0..n {
                let r = (f64::from(k) + 0.5) / f64::from(n);
                let distance = (r * r + z * z).sqrt();
                let value = f64::from(kernel::value_and_slope(distance as f32, 1.0).0);
                sum += value * std::f64::consts::TAU * r * (1.0 - tau) / f64::from(n * n);
            }
        }
        sum
    }

    #[test]
    fn a_half_space_holds_the_part_of_the_kernel_beyond_it() {
        for tau in [0.0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9] {
            let (value, _) = half_space(tau as f32);
            let expected = by_slices(tau);
            assert!((f64::from(value) - expected).abs() < 1e-4, "{tau}: {value} {expected}");
        }
        assert!((half_space(-0.3).0 + half_space(0.3).0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn its_slope_is_its_derivative() {
        for k in -19..20 {
            let (tau, e) = (0.05 * k as f32, 1e-3);
            let difference = (half_space(tau + e).0 - half_space(tau - e).0) / (2.0 * e);
            assert!((difference - half_space(tau).1).abs() < 1e-3, "{tau}");
        }
    }

    #[test]
    fn a_wall_resists_approach_only_and_the_larger_force_counts() {
        assert_eq!(viscosity(0.3, 20.0, 0.08, 0.01, 0.02), 0.0);
        let against = viscosity(0.3, 20.0, 0.08, -0.01, 0.02);
        assert!(
            (against + 0.5 * 0.3 * 0.08 * 20.0 * 0.01 / (0.0004 + 0.000_064)).abs() < 1e-4,
            "{against}"
        );
        assert_eq!(larger(Vec3::X, 2.0 * Vec3::Y), 2.0 * Vec3::Y);
        assert_eq!(larger(-3.0 * Vec3::X, Vec3::Y), -3.0 * Vec3::X);
    }

    #[test]
    fn two_walls_at_a_right_angle_fill_three_quarters_of_their_edge() {
        let first = half_space(0.0).0;
        let filled = first + beyond(0.0) * half_space(0.0).0 * (1.0 - first);
        assert!((filled - 0.75).abs() < 1e-6);
        assert!(beyond(1.0) < 1e-3);
    }
}
