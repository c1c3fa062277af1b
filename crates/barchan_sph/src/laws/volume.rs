//! Volume maps as printed, [Bender19]: a wall is one lump at its nearest point, with the volume that it shares with a
//! ball of the kernel radius. That is up to 16 times too much near the wall, so that guides hover; the density map of
//! `wall` has no such error.

use std::f64::consts::PI;

use super::kernel;

/// Slices of the ball [-].
const SLICES: u32 = 400;
/// Entries of the table [-].
const ENTRIES: usize = 129;

/// γ* [-] at distance τ h from a wall: 1 within it, then C(τ)/C(0) with the kernel C.
pub(crate) fn extended(tau: f64) -> f64 {
    match tau {
        t if t <= 0.0 => 1.0,
        t if t >= 1.0 => 0.0,
        t => f64::from(kernel::value_and_slope(t as f32, 1.0).0 / kernel::peak(1.0)),
    }
}

/// V/h³ [-] of a half-space at distance τ h: ∫ γ* over the ball.
fn of_half_space(tau: f64) -> f64 {
    let slice = |k: u32| {
        let z = -1.0 + 2.0 * (f64::from(k) + 0.5) / f64::from(SLICES);
        PI * (1.0 - z * z) * extended(tau + z)
    };
    (0..SLICES).map(slice).sum::<f64>() * 2.0 / f64::from(SLICES)
}

/// V/h³ of half-spaces for distances from -1 to 1.
#[derive(Debug)]
pub(crate) struct Volumes(Vec<f64>);

impl Volumes {
    pub(crate) fn new() -> Self {
        let tau = |k: usize| -1.0 + 2.0 * k as f64 / (ENTRIES - 1) as f64;
        Self((0..ENTRIES).map(|k| of_half_space(tau(k))).collect())
    }

    /// V/h³ [-] at distance τ h.
    pub(crate) fn at(&self, tau: f64) -> f64 {
        let place = (tau.clamp(-1.0, 1.0) + 1.0) * 0.5 * (ENTRIES - 1) as f64;
        let k = (place as usize).min(ENTRIES - 2);
        let part = place - k as f64;
        self.0[k] * (1.0 - part) + self.0[k + 1] * part
    }

    /// The distance τ [-] of the half-space with V/h³ = `volume` [-].
    pub(crate) fn distance_of(&self, volume: f64) -> f64 {
        let k = self.0.partition_point(|&v| v > volume).clamp(1, ENTRIES - 1);
        let (more, less) = (self.0[k - 1], self.0[k]);
        let part = ((more - volume) / (more - less).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        -1.0 + 2.0 * (k as f64 - 1.0 + part) / (ENTRIES - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_spaces_have_the_volumes_that_are_known_of_them() {
        let volumes = Volumes::new();
        for (tau, expected) in [(0.0, 3.174), (0.25, 2.469), (0.5, 1.715), (0.75, 1.010)] {
            let volume = volumes.at(tau);
            assert!((volume - expected).abs() < 2e-3, "{tau}: {volume}");
            assert!((volumes.distance_of(volume) - tau).abs() < 1e-6);
        }
        assert!((volumes.at(-1.0) - 4.0 / 3.0 * PI).abs() < 1e-3);
    }

    #[test]
    fn one_lump_counts_far_too_much_of_a_near_wall() {
        let density = |tau: f64| Volumes::new().at(tau) * f64::from(kernel::value_and_slope(tau as f32, 1.0).0);
        for (tau, expected) in [(0.0, 8.08), (0.25, 4.52), (0.5, 1.09), (0.75, 0.080)] {
            assert!((density(tau) / expected - 1.0).abs() < 0.01, "{tau}: {}", density(tau));
        }
    }
}
