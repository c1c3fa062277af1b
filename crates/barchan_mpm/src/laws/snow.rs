//! Snow [Stomakhin13].

use barchan_simd::Real;

use super::strain::bounded;
use super::{Elastic, Principal, Returned};

/// Bounds of J_P - 1 [-]: snow is not compacted to less than 0.6 of its plastic volume, and fragments stay fragments.
const PLASTIC: [f32; 2] = [-0.4, 1.0];
/// Largest exponent of hardening [-].
const MOST_HARDENING: f32 = 5.0;

/// Snow of fixed corotated elasticity, which yields by principal stretches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snow {
    /// Elastic constants of new snow.
    pub elastic: Elastic,
    /// θ_c [-]: snow compressed beyond it is compacted.
    pub critical_compression: f32,
    /// θ_s [-]: snow stretched beyond it breaks.
    pub critical_stretch: f32,
    /// ξ [-], of exp(ξ (1 - J_P)).
    pub hardening: f32,
}

impl Snow {
    /// Factor on the elastic constants, exp(ξ (1 - J_P)), [Stomakhin13] eq. (2), for `plastic` = J_P - 1.
    pub(crate) fn hardening_factor(&self, plastic: f32) -> f32 {
        (-self.hardening * plastic).min(MOST_HARDENING).exp()
    }

    /// Clamps the stretches σ to [1 - θ_c, 1 + θ_s], section 5.4, and moves what is cut off to the plastic part. Stress, [Stomakhin13]
    /// eq. (1): τ = 2μ (σ - 1) σ + λ (J - 1) J.
    #[inline(always)]
    pub(super) fn respond<T: Real>(&self, trial: Principal<T>) -> Returned<T> {
        let like = |value: f32| trial.plastic.like(value);
        let one = like(1.0);
        let volume = |s: [T; 3]| s[0] * s[1] * s[2];
        let (low, high) = (like(1.0 - self.critical_compression), like(1.0 + self.critical_stretch));
        let stretched = trial.strain.map(|e| (one + bounded(e)).sqrt());
        let is_inside = |e: T| {
            let (least, most) = (low * low - one, high * high - one);
            e.max(least).min(most)
        };
        // Unclamped strains keep their digits.
        let strain = trial.strain.map(is_inside);
        let stretch = strain.map(|e| (one + e).sqrt());
        let ratio = volume(stretched) / volume(stretch);
        let plastic = (trial.plastic + (one + trial.plastic) * (ratio - one))
            .max(like(PLASTIC[0]))
            .min(like(PLASTIC[1]));
        let factor = plastic.map(|plastic| self.hardening_factor(plastic));
        let j = volume(stretch);
        let lambda = self.elastic.bulk - 2.0 / 3.0 * self.elastic.shear;
        let pressure = like(lambda) * (j - one) * j;
        let twice = like(2.0 * self.elastic.shear);
        let stress = [0, 1, 2].map(|k| {
            // σ - 1 = e/(σ + 1).
            let elongation = strain[k] / (stretch[k] + one);
            factor * (twice * elongation * stretch[k] + pressure)
        });
        Returned {
            state: Principal { strain, plastic },
            stress,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNOW: Snow = Snow {
        elastic: Elastic {
            shear: 58_333.0,
            bulk: 77_778.0,
        },
        critical_compression: 0.025,
        critical_stretch: 0.0075,
        hardening: 10.0,
    };

    fn stretched(stretch: [f32; 3], plastic: f32) -> Returned<f32> {
        SNOW.respond(Principal {
            strain: stretch.map(|s| s * s - 1.0),
            plastic,
        })
    }

    #[test]
    fn compressed_snow_is_compacted_and_hardens() {
        let found = stretched([0.9, 1.0, 1.0], 0.0);
        let kept = (1.0 + found.state.strain[0]).sqrt();
        assert!((kept - 0.975).abs() < 1e-6, "{kept}");
        assert!((1.0 + found.state.plastic - 0.9 / 0.975).abs() < 1e-6);
        // Closed form, hardened by the plastic part.
        let factor = (10.0 * (1.0 - 0.9f32 / 0.975)).exp();
        let lambda = SNOW.elastic.bulk - 2.0 / 3.0 * SNOW.elastic.shear;
        let wanted = factor * (2.0 * SNOW.elastic.shear * -0.025 * 0.975 + lambda * -0.025 * 0.975);
        assert!(
            (found.stress[0] / wanted - 1.0).abs() < 1e-4,
            "{} {wanted}",
            found.stress[0]
        );
    }

    #[test]
    fn stretched_snow_breaks_and_softens() {
        let found = stretched([1.1, 1.0, 1.0], 0.0);
        assert!(found.state.plastic > 0.09 && SNOW.hardening_factor(found.state.plastic) < 0.5);
        assert!((found.state.strain[0] - (1.0075f32 * 1.0075 - 1.0)).abs() < 1e-6);
    }

    #[test]
    fn a_strain_within_the_critical_ones_is_elastic() {
        let found = stretched([0.99, 1.005, 1.0], 0.0);
        assert!(found.state.plastic.abs() < 1e-6, "{}", found.state.plastic);
    }

    #[test]
    fn hardening_is_bounded() {
        assert!(SNOW.hardening_factor(-1e9) <= MOST_HARDENING.exp());
        assert!(stretched([0.5; 3], -0.39).state.plastic >= PLASTIC[0]);
        assert!(stretched([2.0; 3], 0.9).state.plastic <= PLASTIC[1]);
    }
}
