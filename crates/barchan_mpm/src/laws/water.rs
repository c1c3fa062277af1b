//! Weakly compressible water.

use barchan_simd::Real;

use super::strain::{bounded, hencky, of_hencky};
use super::{Principal, Returned, Surroundings};

/// A liquid without viscosity, whose pressure resists compression only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Water {
    /// Bulk modulus K [Pa].
    pub bulk: f32,
}

impl Water {
    /// p = -K ln J where J < 1, else 0: drops part without tension. The gained volume is kept apart as that of sand.
    #[inline(always)]
    pub(super) fn respond<T: Real>(&self, trial: Principal<T>, around: Surroundings<T>) -> Returned<T> {
        let like = |value: f32| trial.plastic.like(value);
        let [x, y, z] = trial.strain.map(|e| hencky(bounded(e)));
        let whole = x + y + z + trial.plastic;
        let bound = whole.min(like(0.0));
        Returned {
            state: Principal {
                strain: [of_hencky(like(1.0 / 3.0) * bound); 3],
                plastic: (whole - bound).min(around.most_gain),
            },
            stress: [like(self.bulk) * bound; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_bears_pressure_and_neither_shear_nor_tension() {
        let law = Water { bulk: 1e5 };
        let around = Surroundings {
            shear_rate: 0.0f32,
            most_gain: f32::INFINITY,
        };
        let respond = |hencky: [f32; 3]| {
            law.respond(
                Principal {
                    strain: hencky.map(of_hencky),
                    plastic: 0.0,
                },
                around,
            )
        };
        let pressed = respond([-0.03, 0.01, 0.01]);
        assert!(
            pressed.stress.iter().all(|s| (s + 1000.0).abs() < 0.1),
            "{:?}",
            pressed.stress
        );
        let torn = respond([0.03, -0.01, 0.0]);
        assert_eq!(torn.stress, [0.0; 3]);
        assert!((torn.state.plastic - 0.02).abs() < 1e-6);
    }
}
