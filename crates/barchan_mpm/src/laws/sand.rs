//! Sand: Drucker-Prager plasticity with volume correction [Klar16].

use barchan_simd::Real;
use barchan_world::words;

use super::strain::{bounded, hencky, of_hencky};
use super::{Elastic, Principal, Returned, Surroundings, flow};

words! {
    /// Meaning of the angle of friction θ in the yield criterion ‖dev τ‖ ≤ Y p.
    pub enum Yield {
        /// Y = √2 tan θ: a slope of angle θ stands.
        Repose = "repose",
        /// Y = 2√6 sin θ/(3 - sin θ), [Klar16]: the strength of compressed cylinders; slopes stand steeper.
        Klar = "klar",
    }
}

impl Yield {
    /// Y [-] for a friction angle whose tangent is `friction` [-].
    pub fn slope(self, friction: f32) -> f32 {
        let sine = friction / (1.0 + friction * friction).sqrt();
        match self {
            Self::Repose => 2f32.sqrt() * friction,
            Self::Klar => 2.0 * 6f32.sqrt() * sine / (3.0 - sine),
        }
    }
}

/// Smallest friction [-] that bounds the tension of cohesive sand.
const LEAST_FRICTION: f32 = 0.1;

/// Drucker-Prager sand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sand {
    /// Elastic constants.
    pub elastic: Elastic,
    /// Y [-]: ‖dev τ‖ ≤ Y p + √2 c.
    pub slope: f32,
    /// Increase of Y in the fastest flow [-].
    pub gain: f32,
    /// d √ρ [√(kg/m)], of the inertial number I = γ̇ d √(ρ/p).
    pub inertia: f32,
    /// Cohesion c [Pa]: the shear stress borne without pressure.
    pub cohesion: f32,
    /// Keeps the volume that sand gains apart from its strain, so that it is pressed only once it is as dense as before.
    pub keeps_volume: bool,
}

impl Sand {
    /// Largest tension [Pa]: the tip of the cone, c/tan θ with tan θ = Y/√2.
    pub(crate) fn tension(&self) -> f32 {
        self.cohesion / (self.slope / 2f32.sqrt()).max(LEAST_FRICTION)
    }

    /// Return to the cone, [Klar16] section 6.3, in principal Hencky strains ε.
    ///
    /// The gained volume v is added first, ε ← ε + v/3: sand is stretched by it and bears nothing until it is compressed again. Beyond the tip
    /// of the cone the stress is that of the tip, and v takes the rest of the trace. Else only the deviator shrinks, so that the volume stays.
    #[inline(always)]
    pub(super) fn respond<T: Real>(&self, trial: Principal<T>, around: Surroundings<T>) -> Returned<T> {
        let like = |value: f32| trial.plastic.like(value);
        let third = like(1.0 / 3.0);
        let strain = trial.strain.map(|e| hencky(bounded(e)));
        let gained = match self.keeps_volume {
            true => trial.plastic,
            false => like(0.0),
        };
        let trace = strain[0] + strain[1] + strain[2];
        let whole = trace + gained;
        let tip = like(self.tension() / self.elastic.bulk);
        let bound = whole.min(tip);
        let mean = third * trace;
        let deviator = strain.map(|strain| strain - mean);
        let norm = T::dot(deviator, deviator).sqrt();
        let pressure = like(-self.elastic.bulk) * bound;
        let mobilized = flow::mobilized(around.shear_rate * like(self.inertia), pressure);
        let slope = like(self.slope) + like(self.gain) * mobilized;
        let limit = slope * pressure + like(2f32.sqrt() * self.cohesion);
        let allowed = limit.max(like(0.0)) / like(2.0 * self.elastic.shear);
        let factor = (allowed / norm.max(like(f32::MIN_POSITIVE))).min(like(1.0));
        let is_torn = tip.lt(whole);
        let factor = T::select(is_torn, like(0.0), factor);
        let returned = deviator.map(|deviator| factor * deviator + third * bound);
        let plastic = match self.keeps_volume {
            true => (whole - bound).min(around.most_gain),
            false => like(0.0),
        };
        Returned {
            state: Principal {
                strain: returned.map(of_hencky),
                plastic,
            },
            stress: self.elastic.stress(returned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sand(cohesion: f32) -> Sand {
        Sand {
            elastic: Elastic::new(1e5, 0.3),
            slope: Yield::Repose.slope(0.5),
            gain: 0.0,
            inertia: 0.0,
            cohesion,
            keeps_volume: true,
        }
    }

    fn returned(law: &Sand, hencky: [f32; 3], plastic: f32) -> Returned<f32> {
        let trial = Principal {
            strain: hencky.map(of_hencky),
            plastic,
        };
        let around = Surroundings {
            shear_rate: 0.0,
            most_gain: f32::INFINITY,
        };
        law.respond(trial, around)
    }

    /// Pressure and norm of the deviator.
    fn invariants(stress: [f32; 3]) -> (f32, f32) {
        let pressure = -(stress[0] + stress[1] + stress[2]) / 3.0;
        (
            pressure,
            stress.map(|s| (s + pressure).powi(2)).iter().sum::<f32>().sqrt(),
        )
    }

    #[test]
    fn sheared_sand_lies_on_the_cone_and_keeps_its_volume() {
        let law = sand(0.0);
        let found = returned(&law, [-0.02, 0.004, 0.004], 0.0);
        let (pressure, shear) = invariants(found.stress);
        assert!((pressure - law.elastic.bulk * 0.012).abs() < 1.0, "{pressure}");
        assert!((shear / pressure - law.slope).abs() < 1e-4, "{}", shear / pressure);
        assert!(found.state.plastic.abs() < 1e-8);
        // A small shear is elastic.
        let calm = returned(&law, [-0.0101, -0.0099, -0.01], 0.0);
        assert!((hencky(calm.state.strain[0]) + 0.0101).abs() < 1e-7);
    }

    #[test]
    fn stretched_sand_bears_nothing_until_it_is_as_dense_as_before() {
        let law = sand(0.0);
        let loose = returned(&law, [0.02, -0.003, 0.001], 0.01);
        assert_eq!(loose.stress, [0.0; 3]);
        assert!((loose.state.plastic - 0.028).abs() < 1e-6, "{}", loose.state.plastic);
        let closing = returned(&law, [-0.01; 3], 0.028);
        let (pressure, _) = invariants(closing.stress);
        assert!((pressure - 0.002 * law.elastic.bulk).abs() < 1.0, "{pressure}");
        assert!(closing.state.plastic.abs() < 1e-6);
        let without = Sand {
            keeps_volume: false,
            ..law
        };
        assert!(
            (invariants(returned(&without, [-0.01; 3], 0.028).stress).0 / (0.03 * law.elastic.bulk) - 1.0).abs() < 1e-4
        );
    }

    #[test]
    fn cohesion_shifts_the_tip_of_the_cone() {
        let law = sand(500.0);
        let torn = returned(&law, [0.1; 3], 0.0);
        let (pressure, shear) = invariants(torn.stress);
        assert!((pressure + 1000.0).abs() < 0.5 && shear < 0.5, "{pressure} {shear}");
        // Pure shear at no pressure bears √2 c.
        let (pressure, shear) = invariants(returned(&law, [0.1, -0.1, 0.0], 0.0).stress);
        assert!(
            pressure.abs() < 1.0 && (shear - 500.0 * 2f32.sqrt()).abs() < 1.0,
            "{pressure} {shear}"
        );
    }

    #[test]
    fn conventions_support_the_slopes_that_are_known_of_them() {
        for (convention, expected) in [(Yield::Repose, 30.0), (Yield::Klar, 34.7)] {
            let slope = convention.slope(30f32.to_radians().tan()) / 2f32.sqrt();
            assert!((slope.atan().to_degrees() - expected).abs() < 0.05, "{convention:?}");
        }
    }
}
