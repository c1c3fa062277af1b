//! Runge-Kutta-Fehlberg scheme of fifth order with an error estimate of fourth, [Bell05] section 4.

use glam::{DQuat, DVec3};

use super::particles::Particle;

/// Stages of a step.
pub(crate) const STAGES: usize = 6;

/// Time of each stage, as a fraction of the step [-].
pub(crate) const STAGE_TIMES: [f64; STAGES] = [0.0, 0.25, 3.0 / 8.0, 12.0 / 13.0, 1.0, 0.5];

/// Weights of the previous stages' rates in each stage [-].
const STAGE_WEIGHTS: [[f64; 5]; STAGES] = [
    [0.0; 5],
    [0.25, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 32.0, 9.0 / 32.0, 0.0, 0.0, 0.0],
    [1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0, 0.0, 0.0],
    [439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0, 0.0],
    [-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0],
];

/// Weights of all rates in the step of fifth order [-].
pub(crate) const STEP_WEIGHTS: [f64; STAGES] = [
    16.0 / 135.0,
    0.0,
    6656.0 / 12825.0,
    28561.0 / 56430.0,
    -9.0 / 50.0,
    2.0 / 55.0,
];

/// Its difference from the step of fourth order [-].
const ERROR_WEIGHTS: [f64; STAGES] = [
    1.0 / 360.0,
    0.0,
    -128.0 / 4275.0,
    -2197.0 / 75240.0,
    1.0 / 50.0,
    2.0 / 55.0,
];

/// Time derivative of a particle's state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub velocity: DVec3,
    pub acceleration: DVec3,
    pub torque: DVec3,
    /// q' = ½ ω q [1/s].
    pub turn: [f64; 4],
}

impl Rate {
    /// That of a particle with angular velocity `spin` [rad/s], acceleration and torque as it has them.
    pub(crate) fn of(particle: &Particle, spin: DVec3) -> Self {
        let half = DQuat::from_xyzw(0.5 * spin.x, 0.5 * spin.y, 0.5 * spin.z, 0.0);
        Self {
            velocity: particle.velocity,
            acceleration: particle.acceleration,
            torque: particle.torque,
            turn: (half * particle.rotation).to_array(),
        }
    }

    fn plus(self, other: &Self, factor: f64) -> Self {
        Self {
            velocity: self.velocity + factor * other.velocity,
            acceleration: self.acceleration + factor * other.acceleration,
            torque: self.torque + factor * other.torque,
            turn: std::array::from_fn(|k| self.turn[k] + factor * other.turn[k]),
        }
    }
}

fn sum(rates: &[Rate], weights: &[f64]) -> Rate {
    let terms = rates.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
    terms.fold(Rate::default(), |sum, (rate, &weight)| sum.plus(rate, weight))
}

/// `particle` after `step` [s] at `rate`.
fn moved(particle: &Particle, rate: &Rate, step: f64) -> Particle {
    let turn = DQuat::from_array(rate.turn.map(|x| step * x));
    Particle {
        position: particle.position + step * rate.velocity,
        rotation: (particle.rotation + turn).normalize(),
        velocity: particle.velocity + step * rate.acceleration,
        momentum: particle.momentum + step * rate.torque,
        ..*particle
    }
}

/// `particle` at stage `stage` of a step of `step` [s].
pub(crate) fn at_stage(particle: &Particle, rates: &[Rate; STAGES], stage: usize, step: f64) -> Particle {
    moved(particle, &sum(&rates[..stage], &STAGE_WEIGHTS[stage][..stage]), step)
}

/// `particle` at the end of a step of `step` [s].
pub(crate) fn at_end(particle: &Particle, rates: &[Rate; STAGES], step: f64) -> Particle {
    moved(particle, &sum(rates, &STEP_WEIGHTS), step)
}

/// Error of a step of `step` [s], of `tolerance` [-] of the particle's size, its way over `contact` [s], its turn, and its momentum of turning
/// once meanwhile.
pub(crate) fn error(particle: &Particle, rates: &[Rate; STAGES], step: f64, tolerance: f64, contact: f64) -> f64 {
    let error = sum(rates, &ERROR_WEIGHTS);
    let speed = particle.size / contact;
    let turn = error.turn.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let parts = [
        error.velocity.length() / particle.size,
        error.acceleration.length() / (speed + particle.velocity.length()),
        error.torque.length() / (particle.mass * particle.size * speed + particle.momentum.length()),
        turn,
    ];
    step / tolerance * parts.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_lie_where_their_weights_add_up_and_both_orders_agree_on_constants() {
        for (when, of) in STAGE_TIMES.iter().zip(&STAGE_WEIGHTS) {
            assert!((of.iter().sum::<f64>() - when).abs() < 1e-14);
        }
        assert!((STEP_WEIGHTS.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert!(ERROR_WEIGHTS.iter().sum::<f64>().abs() < 1e-14);
        // Moments of the quadrature: exact up to fourth degree.
        for degree in 1..5 {
            let found: f64 = STEP_WEIGHTS
                .iter()
                .zip(STAGE_TIMES)
                .map(|(b, c)| b * c.powi(degree))
                .sum();
            assert!((found - 1.0 / f64::from(degree + 1)).abs() < 1e-14, "{degree}");
        }
    }
}
