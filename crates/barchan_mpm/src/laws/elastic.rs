//! Hencky elasticity.

use barchan_simd::Real;

use super::strain::{bounded, hencky, of_hencky};
use super::{Principal, Returned};

/// Elastic constants, and elasticity in logarithmic strain without yield.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elastic {
    /// Shear modulus μ [Pa].
    pub shear: f32,
    /// Bulk modulus K = λ + ⅔ μ [Pa].
    pub bulk: f32,
}

impl Elastic {
    /// Constants of Young's modulus E [Pa] and Poisson's ratio ν [-]: μ = E/(2(1 + ν)), K = E/(3(1 - 2ν)).
    pub fn new(youngs_modulus: f64, poisson_ratio: f64) -> Self {
        Self {
            shear: (youngs_modulus / (2.0 * (1.0 + poisson_ratio))) as f32,
            bulk: (youngs_modulus / (3.0 * (1.0 - 2.0 * poisson_ratio))) as f32,
        }
    }

    /// Modulus of waves, λ + 2μ = K + ⁴⁄₃ μ [Pa]: they travel at c = √((λ + 2μ)/ρ).
    pub fn wave_modulus(&self) -> f32 {
        self.bulk + 4.0 / 3.0 * self.shear
    }

    /// τ = 2μ dev ε + K tr ε, [Klar16] after eq. (22), for principal Hencky strains.
    #[inline(always)]
    pub(crate) fn stress<T: Real>(&self, strain: [T; 3]) -> [T; 3] {
        let trace = strain[0] + strain[1] + strain[2];
        let pressure = trace.like(self.bulk - 2.0 / 3.0 * self.shear) * trace;
        strain.map(|strain| trace.like(2.0 * self.shear) * strain + pressure)
    }

    #[inline(always)]
    pub(super) fn respond<T: Real>(&self, trial: Principal<T>) -> Returned<T> {
        let strain = trial.strain.map(|e| hencky(bounded(e)));
        Returned {
            state: Principal {
                strain: strain.map(of_hencky),
                plastic: trial.plastic,
            },
            stress: self.stress(strain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_young_and_poisson_give_their_uniaxial_stress() {
        // Stretched by ε with free sides, which shrink by ν ε, the stress is E ε.
        let law = Elastic::new(1e5, 0.3);
        let [along, across, _] = law.stress([1e-3f32, -0.3e-3, -0.3e-3]);
        assert!((along - 100.0).abs() < 1e-2 && across.abs() < 1e-2, "{along} {across}");
        // Held sides: λ + 2μ.
        let [along, ..] = law.stress([1e-3f32, 0.0, 0.0]);
        assert!((along - 1e-3 * law.wave_modulus()).abs() < 1e-2);
    }
}
