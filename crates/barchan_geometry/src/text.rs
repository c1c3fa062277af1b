//! Numbers and counts in messages.

use std::fmt::Display;

use glam::DVec3;

/// Formats a computed number with at most six significant digits, so that `0.1 + 0.2` reads `0.3`.
pub fn short(x: f64) -> String {
    let rounded = format!("{x:.5e}").parse().unwrap_or(x);
    match rounded == 0.0 || (1e-5..1e9).contains(&f64::abs(rounded)) {
        true => format!("{rounded}"),
        false if rounded.is_finite() => format!("{rounded:e}"),
        false => format!("{x}"),
    }
}

/// Formats a computed vector, each component as [`short`] does.
pub fn short_vector(v: DVec3) -> String {
    format!("[{}, {}, {}]", short(v.x), short(v.y), short(v.z))
}

/// Formats a count with its noun, whose plural ends in `s`: `1 error`, `2 errors`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_binary_tails() {
        for (x, text) in [
            (0.000_199_999_999_999_999_98, "0.0002"),
            (0.1 + 0.2, "0.3"),
            (f64::from(0.1_f32), "0.1"),
            (1.0 / 3.0, "0.333333"),
            (-2.0 / 3.0, "-0.666667"),
            (999_999.9, "1000000"),
            (0.0, "0"),
            (12.0, "12"),
            (1.5e-7, "1.5e-7"),
            (1.0e300 / 3.0, "3.33333e299"),
            (f64::MAX, "1.79769e308"),
            (f64::MIN_POSITIVE, "2.22507e-308"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(x), text);
        }
        assert_eq!(short(f64::NAN), "NaN");
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0_u64, "error"), "0 errors");
        assert_eq!(counted(1_usize, "error"), "1 error");
        assert_eq!(counted(2_u64, "error"), "2 errors");
    }
}
