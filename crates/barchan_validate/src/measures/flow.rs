//! Discharge of sand.

use super::{line, mean, spread};

/// Shares of the discharge between which the rate is fitted [-].
const STEADY: [f64; 2] = [0.2, 0.8];
/// Smallest number of guides in a bin of the rate: shot noise is then 2 %.
const MIN_BIN: f64 = 2500.0;

/// Measures of a discharge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discharge {
    /// Guides per second between 20 and 80 % of the discharge [1/s].
    pub rate: f64,
    /// Rate of the first third of the discharge relative to that of the second [-].
    pub head: f64,
    /// Relative scatter of the rate in bins of 2500 guides, without shot noise [-]; `None` with fewer than three bins.
    pub variation: Option<f64>,
}

/// Measures the discharge from the number of `remaining` guides over time [time in s, number]; `None` if no guide came
/// out.
pub fn discharge(remaining: &[[f64; 2]]) -> Option<Discharge> {
    let (first, last) = (remaining.first()?[1], remaining.last()?[1]);
    let all = first - last;
    if all <= 0.0 {
        return None;
    }
    let share = |p: &[f64; 2]| (first - p[1]) / all;
    let rate = |from: f64, to: f64| {
        let part: Vec<[f64; 2]> = remaining
            .iter()
            .filter(|p| (from..=to).contains(&share(p)))
            .copied()
            .collect();
        line(&part).map(|line| -line.slope)
    };
    Some(Discharge {
        rate: rate(STEADY[0], STEADY[1])?,
        head: rate(0.0, 1.0 / 3.0)? / rate(1.0 / 3.0, 2.0 / 3.0)?,
        variation: variation(remaining, first, all),
    })
}

fn variation(remaining: &[[f64; 2]], first: f64, all: f64) -> Option<f64> {
    let steady = (STEADY[1] - STEADY[0]) * all;
    let bins = (steady / MIN_BIN).floor() as usize;
    if bins < 3 {
        return None;
    }
    let bin = steady / bins as f64;
    // Time at which the discharged number passes the end of a bin.
    let time = |out: f64| {
        let after = remaining.iter().position(|p| first - p[1] >= out)?.max(1);
        let (a, b) = (remaining[after - 1], remaining[after]);
        let s = (out - (first - a[1])) / (a[1] - b[1]).max(f64::MIN_POSITIVE);
        Some(a[0] + s.clamp(0.0, 1.0) * (b[0] - a[0]))
    };
    let ends: Option<Vec<f64>> = (0..=bins).map(|k| time(STEADY[0] * all + k as f64 * bin)).collect();
    let rates: Vec<f64> = ends?.windows(2).map(|t| bin / (t[1] - t[0])).collect();
    let square = (spread(&rates) / mean(&rates)).powi(2) - 1.0 / bin;
    Some(square.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_has_its_rate_and_no_head() {
        let stream: Vec<[f64; 2]> = (0..=600)
            .map(|k| [f64::from(k) / 60.0, 20_000.0 - 2000.0 * f64::from(k) / 60.0])
            .collect();
        let found = discharge(&stream).unwrap();
        assert!((found.rate - 2000.0).abs() < 1e-6, "{found:?}");
        assert!((found.head - 1.0).abs() < 1e-6, "{found:?}");
        assert!(found.variation.unwrap() < 1e-3, "{found:?}");
        assert_eq!(discharge(&[[0.0, 5.0], [1.0, 5.0]]), None);
    }

    #[test]
    fn a_liquid_runs_the_slower_the_lower_it_stands() {
        // Torricelli: the height falls as (1 - t/T)². By thirds of the volume the rates are as (√(2/3) - √(1/3)) / (1 -
        // √(2/3)).
        let liquid: Vec<[f64; 2]> = (0..=1000)
            .map(|k| f64::from(k) / 1000.0)
            .map(|t| [t, 30_000.0 * (1.0 - t) * (1.0 - t)])
            .collect();
        let found = discharge(&liquid).unwrap();
        assert!((found.head - 1.30).abs() < 0.02, "{found:?}");
        assert!(found.variation.unwrap() > 0.15, "{found:?}");
    }
}
