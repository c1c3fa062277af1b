//! Detection of rest.

use super::quantile;

/// Thresholds of rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestBand {
    /// Largest kinetic energy over m g d N [-].
    pub energy: f64,
    /// Largest 99th percentile of speeds over √(g d) [-].
    pub speed: f64,
    /// Required duration [s].
    pub duration: f64,
}

impl RestBand {
    /// For solvers made for pictures.
    pub const PICTURES: Self = Self {
        energy: 1e-4,
        speed: 0.05,
        duration: 0.5,
    };
}

/// Detects when sand comes to rest.
#[derive(Clone, Debug)]
pub struct Rest {
    band: RestBand,
    gravity: f64,
    diameter: f64,
    still_since: Option<f64>,
    speeds: Vec<f64>,
}

impl Rest {
    /// Creates a detector for guides of `diameter` [m] under `gravity` [m/s²].
    pub fn new(band: RestBand, gravity: f64, diameter: f64) -> Self {
        Self {
            band,
            gravity,
            diameter,
            still_since: None,
            speeds: Vec::new(),
        }
    }

    /// Returns true if guides of equal weight with these speeds [m/s] have been at rest for long enough at `time` [s].
    pub fn watch(&mut self, time: f64, speeds: impl Iterator<Item = f64>) -> bool {
        self.speeds.clear();
        self.speeds.extend(speeds);
        let squares: f64 = self.speeds.iter().map(|v| v * v).sum();
        let energy = 0.5 * squares / self.speeds.len().max(1) as f64 / (self.gravity * self.diameter);
        let fast = quantile(&mut self.speeds, 0.99) / (self.gravity * self.diameter).sqrt();
        // An empty set is not at rest.
        if !(energy < self.band.energy && fast < self.band.speed) {
            self.still_since = None;
            return false;
        }
        let since = *self.still_since.get_or_insert(time);
        time - since >= self.band.duration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_is_half_a_second_of_stillness() {
        let mut rest = Rest::new(RestBand::PICTURES, 9.81, 0.02);
        let unit = (9.81f64 * 0.02).sqrt();
        let slow = vec![0.001 * unit; 200];
        let mut fast = slow.clone();
        fast[..3].fill(0.1 * unit);
        assert!(!rest.watch(0.0, slow.iter().copied()));
        assert!(!rest.watch(0.4, slow.iter().copied()));
        assert!(!rest.watch(0.5, fast.iter().copied()), "more than 1 % are fast");
        assert!(!rest.watch(0.6, slow.iter().copied()));
        assert!(rest.watch(1.1, slow.iter().copied()));
        assert!(!rest.watch(1.2, std::iter::empty()));
    }

    #[test]
    fn one_flyer_spoils_no_percentile_but_the_energy() {
        let mut rest = Rest::new(RestBand::PICTURES, 9.81, 0.02);
        let mut speeds = vec![0.0; 10_000];
        speeds[0] = 10.0;
        assert!(!rest.watch(0.0, speeds.iter().copied()));
        assert!(
            !rest.watch(1.0, speeds.iter().copied()),
            "its energy is 255 m g d of 10,000"
        );
    }
}
