//! Bands and verdicts.

use crate::measures::{mean, spread};

/// Accepted range. A missing end is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Value of the law.
    pub expected: f64,
    /// Smallest accepted value.
    pub low: Option<f64>,
    /// Largest accepted value.
    pub high: Option<f64>,
}

/// Statistics of a quantity over its seeds, and the judgment.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Mean over the seeds.
    pub measured: f64,
    /// Standard deviation over the seeds.
    pub spread: f64,
    /// Passed, failed, or undecided.
    pub pass: Option<bool>,
    /// Reason why it is undecided.
    pub note: Option<String>,
}

impl Band {
    /// Returns true if `value` lies within the band.
    pub fn accepts(&self, value: f64) -> bool {
        value.is_finite() && self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// Returns half of the band's width; for a band with one end, the distance of the expected value from it.
    pub fn half_width(&self) -> f64 {
        match (self.low, self.high) {
            (Some(low), Some(high)) => 0.5 * (high - low),
            (Some(end), None) | (None, Some(end)) => (end - self.expected).abs(),
            (None, None) => f64::INFINITY,
        }
    }

    /// Judges the mean of `values`, one per seed. If two standard deviations exceed half the band the result is
    /// undecided, unless every seed lies outside.
    pub fn judge(&self, values: &[f64]) -> Verdict {
        let (measured, spread) = (mean(values), spread(values));
        let outside = values.iter().all(|&value| !self.accepts(value));
        let unclear = 2.0 * spread > self.half_width() && !outside;
        Verdict {
            measured,
            spread,
            pass: (!unclear).then(|| self.accepts(measured) && !outside),
            note: unclear.then(|| format!("inconclusive: 2 σ = {:.3} exceeds half the band", 2.0 * spread)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_accepts_what_lies_within_and_tells_when_it_cannot() {
        let band = Band {
            expected: 30.0,
            low: Some(28.0),
            high: Some(32.0),
        };
        assert_eq!(band.judge(&[30.5, 29.9, 30.2]).pass, Some(true));
        assert_eq!(band.judge(&[33.5, 33.0, 33.2]).pass, Some(false));
        assert_eq!(band.judge(&[28.0, 32.0, 30.0]).pass, None, "2 sigma is 4");
        assert_eq!(
            band.judge(&[48.0, 62.0, 50.0]).pass,
            Some(false),
            "however they scatter"
        );
        assert_eq!(band.judge(&[20.0, 40.0]).pass, Some(false), "a mean of misses is none");
        assert_eq!(band.judge(&[30.0]).pass, Some(true), "one seed has no scatter");
        assert_eq!(band.judge(&[f64::NAN]).pass, Some(false));
    }

    #[test]
    fn a_band_with_one_end_is_as_wide_as_the_way_to_it() {
        let band = Band {
            expected: 0.0,
            low: None,
            high: Some(0.1),
        };
        assert_eq!(band.judge(&[0.02, 0.03, 0.01]).pass, Some(true));
        assert_eq!(band.judge(&[0.0, 0.3, 0.0]).pass, None);
        assert!(!band.accepts(0.2) && band.accepts(-5.0));
    }
}
