//! The cubic spline kernel, [Monaghan92], with support radius h.
//!
//! With q = r/h, s = max(0, 1 - q) and t = max(0, ½ - q):
//! W = 8/(π h³) (2 s³ - 8 t³), which is the usual two-piece form without its branch.

use std::f32::consts::PI;

use barchan_simd::Real;

/// 8/(π h³) [1/m³] for support `h` [m].
#[inline(always)]
fn norm(per_support: f32) -> f32 {
    8.0 / PI * per_support * per_support * per_support
}

/// W [1/m³] at `distance` [m], and W'/r [1/m⁵], by which x_ij is multiplied to give the gradient. `per_support` is 1/h [1/m].
#[inline(always)]
pub(crate) fn value_and_slope<T: Real>(distance: T, per_support: T) -> (T, T) {
    let number = |value: f32| distance.like(value);
    // Where two guides coincide the gradient is zero whatever the slope.
    let q = (distance * per_support).max(number(1e-4));
    let s = (number(1.0) - q).max(number(0.0));
    let t = (number(0.5) - q).max(number(0.0));
    let per_area = per_support * per_support;
    let norm = number(8.0 / PI) * per_area * per_support;
    let (s2, t2) = (s * s, t * t);
    let value = number(2.0) * (s2 * s) - number(8.0) * (t2 * t);
    let slope = number(24.0) * t2 - number(6.0) * s2;
    (norm * value, norm * per_area * slope / q)
}

/// W(0) [1/m³] for support 1/`per_support` [m].
#[inline(always)]
pub(crate) fn peak(per_support: f32) -> f32 {
    norm(per_support)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice(support: f32) -> (f32, f32) {
        let mut sums = (peak(1.0 / support), 0.0);
        for k in 0..343 {
            let x = [k % 7 - 3, k / 7 % 7 - 3, k / 49 - 3].map(|x| x as f32);
            let r = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            if r > 0.0 {
                let (value, slope) = value_and_slope(r, 1.0 / support);
                sums.0 += value;
                sums.1 += (slope * r).powi(2);
            }
        }
        sums
    }

    #[test]
    fn a_lattice_of_twice_its_spacing_as_support_sums_to_one() {
        let (density, squares) = lattice(2.0);
        assert!((density - 0.99997).abs() < 2e-5, "{density}");
        assert!((squares - 0.42484).abs() < 2e-5, "{squares}");
    }

    #[test]
    fn the_kernel_integrates_to_one_and_its_second_moment_is_0_225_of_the_support_squared() {
        let (n, h) = (20_000, 0.3);
        let (mut mass, mut moment) = (0.0f64, 0.0f64);
        for k in 0..n {
            let r = h * (k as f32 + 0.5) / n as f32;
            let shell = 4.0 * std::f64::consts::PI * f64::from(r * r * h) / f64::from(n);
            let value = f64::from(value_and_slope(r, 1.0 / h).0);
            mass += shell * value;
            moment += shell * value * f64::from(r * r);
        }
        assert!((mass - 1.0).abs() < 1e-5, "{mass}");
        assert!((moment / f64::from(h * h) - 0.225).abs() < 1e-5, "{moment}");
    }

    #[test]
    fn the_slope_is_the_derivative_of_the_value() {
        for k in 1..100 {
            let (r, h, e) = (0.01 * k as f32, 0.8, 1e-3);
            let value = |r: f32| f64::from(value_and_slope(r, 1.0 / h).0);
            let difference = (value(r + e) - value(r - e)) / f64::from(2.0 * e);
            let slope = f64::from(value_and_slope(r, 1.0 / h).1 * r);
            assert!((difference - slope).abs() < 0.05, "{r}: {difference} {slope}");
        }
    }
}
