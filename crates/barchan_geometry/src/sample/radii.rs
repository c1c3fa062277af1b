//! Distributions of particle radii: one radius, a range, or a weighted list.

use super::SampleError;

/// A distribution of particle radii, by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Radii {
    /// Ascending; each with the cumulative share of particles.
    steps: Vec<Step>,
}

/// Radii from `from` to `to` [m], uniform, up to the share `cumulative` of all particles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    from: f64,
    to: f64,
    cumulative: f64,
}

impl Radii {
    /// Creates a distribution of one `radius` [m].
    pub fn one(radius: f64) -> Result<Self, SampleError> {
        Self::range(radius, radius)
    }

    /// Creates a uniform distribution of radii [m] between `min` and `max`.
    pub fn range(min: f64, max: f64) -> Result<Self, SampleError> {
        check(min)?;
        check(max)?;
        if min > max {
            return Err(SampleError::RadiusRange { min, max });
        }
        Ok(Self {
            steps: vec![Step {
                from: min,
                to: max,
                cumulative: 1.0,
            }],
        })
    }

    /// Returns the distribution with all radii scaled by `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = |step: &Step| Step {
            from: factor * step.from,
            to: factor * step.to,
            ..*step
        };
        Self {
            steps: self.steps.iter().map(scaled).collect(),
        }
    }

    /// Creates a distribution from radii [m] with weights [-]: shares of particles, up to a common factor.
    pub fn list(entries: &[(f64, f64)]) -> Result<Self, SampleError> {
        let mut sorted = entries.to_vec();
        for &(radius, weight) in &sorted {
            check(radius)?;
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(SampleError::Weight { radius, weight });
            }
        }
        sorted.retain(|&(_, weight)| weight > 0.0);
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = sorted.iter().map(|e| e.1).sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(SampleError::NoWeight);
        }
        let mut sum = 0.0;
        let steps = sorted
            .iter()
            .map(|&(radius, weight)| {
                sum += weight;
                Step {
                    from: radius,
                    to: radius,
                    cumulative: sum / total,
                }
            })
            .collect();
        Ok(Self { steps })
    }

    /// Returns the smallest radius [m].
    pub fn min(&self) -> f64 {
        self.steps[0].from
    }

    /// Returns the largest radius [m].
    pub fn max(&self) -> f64 {
        self.steps[self.steps.len() - 1].to
    }

    /// Returns the mean volume of a particle [m³].
    pub fn mean_volume(&self) -> f64 {
        let mut before = 0.0;
        let mean_cube: f64 = self
            .steps
            .iter()
            .map(|s| {
                let share = s.cumulative - before;
                before = s.cumulative;
                // Mean of r³ over a uniform range: (a³ + a²b + ab² + b³)/4.
                share * 0.25 * (s.from + s.to) * (s.from * s.from + s.to * s.to)
            })
            .sum();
        4.0 / 3.0 * std::f64::consts::PI * mean_cube
    }

    /// Returns the radius [m] that the share `u` (0 to 1) of the particles does not exceed.
    pub fn quantile(&self, u: f64) -> f64 {
        let at = self
            .steps
            .partition_point(|s| s.cumulative <= u)
            .min(self.steps.len() - 1);
        let step = self.steps[at];
        let below = if at == 0 { 0.0 } else { self.steps[at - 1].cumulative };
        let within = ((u - below) / (step.cumulative - below)).clamp(0.0, 1.0);
        step.from + within * (step.to - step.from)
    }

    /// Returns the share of particles whose radius is less than `radius` [m].
    pub fn share_below(&self, radius: f64) -> f64 {
        let mut below = 0.0;
        for s in &self.steps {
            if radius <= s.from {
                return below;
            }
            if radius <= s.to {
                return below + (s.cumulative - below) * (radius - s.from) / (s.to - s.from);
            }
            below = s.cumulative;
        }
        1.0
    }
}

/// Largest radius [m]: packings are made in single precision.
const MAX_RADIUS: f64 = 1e15;

fn check(radius: f64) -> Result<(), SampleError> {
    if radius > 0.0 && radius <= MAX_RADIUS {
        Ok(())
    } else {
        Err(SampleError::Radius { radius })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_inverts_the_share() {
        let range = Radii::range(1.0, 3.0).unwrap();
        for u in [0.0, 0.25, 0.5, 0.99] {
            assert!((range.share_below(range.quantile(u)) - u).abs() < 1e-12);
        }
        let list = Radii::list(&[(2.0, 1.0), (1.0, 3.0)]).unwrap();
        assert_eq!([0.0, 0.74, 0.76, 1.0].map(|u| list.quantile(u)), [1.0, 1.0, 2.0, 2.0]);
        assert_eq!(list.share_below(1.5), 0.75);
        assert_eq!((list.min(), list.max()), (1.0, 2.0));
    }

    #[test]
    fn mean_volume_of_a_range_equals_the_average_over_quantiles() {
        let range = Radii::range(0.5, 2.0).unwrap();
        let n = 100_000;
        let mean_cube = (0..n)
            .map(|k| range.quantile((f64::from(k) + 0.5) / f64::from(n)).powi(3))
            .sum::<f64>()
            / f64::from(n);
        assert!((range.mean_volume() / (4.0 / 3.0 * std::f64::consts::PI * mean_cube) - 1.0).abs() < 1e-8);
    }

    #[test]
    fn impossible_radii_and_weights_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Radii::one(bad), Err(SampleError::Radius { .. })), "{bad}");
            assert!(matches!(
                Radii::list(&[(1.0, 1.0), (bad, 1.0)]),
                Err(SampleError::Radius { .. })
            ));
        }
        assert!(matches!(Radii::range(2.0, 1.0), Err(SampleError::RadiusRange { .. })));
        assert!(matches!(Radii::list(&[]), Err(SampleError::NoWeight)));
        assert!(matches!(Radii::list(&[(1.0, 0.0)]), Err(SampleError::NoWeight)));
        assert!(matches!(Radii::list(&[(1.0, -1.0)]), Err(SampleError::Weight { .. })));
    }
}
