//! Straight lines and scatter.

/// A least-squares line y = `offset` + `slope` x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Change of y with x.
    pub slope: f64,
    /// y at x = 0.
    pub offset: f64,
    /// Share of the variance that the line explains [-].
    pub r2: f64,
}

/// Fits a line through points [x, y]; `None` for fewer than two distinct x.
pub fn line(points: &[[f64; 2]]) -> Option<Line> {
    let n = points.len() as f64;
    let mean_of = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / n;
    let (x, y) = (mean_of(0), mean_of(1));
    let sum = |a: usize, b: usize| {
        let center = [x, y];
        points
            .iter()
            .map(|p| (p[a] - center[a]) * (p[b] - center[b]))
            .sum::<f64>()
    };
    let (xx, xy, yy) = (sum(0, 0), sum(0, 1), sum(1, 1));
    if points.len() < 2 || xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some(Line {
        slope,
        offset: y - slope * x,
        r2: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 },
    })
}

/// Returns the mean; NaN for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation of a sample; 0 for fewer than two values.
pub fn spread(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let center = mean(values);
    let sum: f64 = values.iter().map(|v| (v - center).powi(2)).sum();
    (sum / (values.len() - 1) as f64).sqrt()
}

/// Returns the quantile `q`, 0 to 1; NaN for an empty slice. Sorts the values.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => values[((n - 1) as f64 * q).round() as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_scatter_lowers_r2() {
        let exact: Vec<[f64; 2]> = (0..10).map(|k| [f64::from(k), 3.0 - 0.5 * f64::from(k)]).collect();
        let found = line(&exact).unwrap();
        assert!((found.slope + 0.5).abs() < 1e-12 && (found.offset - 3.0).abs() < 1e-12);
        assert!((found.r2 - 1.0).abs() < 1e-12);
        // Residuals ±1 about y = x: variance of the line 8.25, of the residuals 1, correlated by the alternation.
        let rough: Vec<[f64; 2]> = (0..10)
            .map(|k| [f64::from(k), f64::from(k) + if k % 2 == 0 { 1.0 } else { -1.0 }])
            .collect();
        assert!(line(&rough).unwrap().r2 < 0.95);
        assert_eq!(line(&[[1.0, 2.0], [1.0, 3.0]]), None);
    }

    #[test]
    fn scatter_and_quantiles_are_those_of_the_textbook() {
        assert_eq!(spread(&[1.0, 3.0]), 2f64.sqrt());
        assert_eq!(spread(&[5.0]), 0.0);
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.99), 99.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
