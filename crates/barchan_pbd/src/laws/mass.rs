//! Effective mass of a guide in its contacts.

use crate::Splitting;

/// A guide of inverse mass w [1/kg] with n contacts: what it adds to the denominator of each contact's stiffness, and how it
/// answers the sum of their impulses, both [1/kg].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weight {
    pub share: f32,
    pub response: f32,
}

/// Number that n contacts count as [-]: 1 + (n - 1) / relaxation, since a single contact needs no more than all.
#[inline(always)]
pub(crate) fn shared_by(contacts: f32, relaxation: f32) -> f32 {
    1.0 + (contacts - 1.0).max(0.0) / relaxation
}

impl Splitting {
    /// Splitting by mass: λ = d / (nᵢ wᵢ + nⱼ wⱼ), Δxᵢ = wᵢ Σ λ n. Averaging, [Sommer22] section 3.3: λ = d / (wᵢ + wⱼ),
    /// Δxᵢ = wᵢ/nᵢ Σ λ n.
    #[inline(always)]
    pub(crate) fn weight(self, inverse_mass: f32, contacts: f32, relaxation: f32) -> Weight {
        let contacts = shared_by(contacts, relaxation);
        match self {
            Self::Mass => Weight {
                share: contacts * inverse_mass,
                response: inverse_mass,
            },
            Self::Average => Weight {
                share: inverse_mass,
                response: inverse_mass / contacts,
            },
        }
    }
}

/// Largest exponent [-]: larger ones would leave the range of f32 in sums and products of two inverse masses.
const MAX_EXPONENT: f32 = 40.0;

/// Inverse mass [1/kg] at `height` [m] above the lowest guide with masses that fall off as exp(-rate · height),
/// [Sommer22] section 3.4; `rate` [1/m]. Beyond 40 / rate masses fall no further.
pub(crate) fn scaled(inverse_mass: f32, rate: f32, height: f32) -> f32 {
    inverse_mass * (rate * height).clamp(0.0, MAX_EXPONENT).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_masses_answer_with_the_whole_mass_and_averages_with_a_part() {
        let mass = Splitting::Mass.weight(2.0, 3.0, 1.0);
        assert_eq!((mass.share, mass.response), (6.0, 2.0));
        let average = Splitting::Average.weight(2.0, 4.0, 1.0);
        assert_eq!((average.share, average.response), (2.0, 0.5));
        assert_eq!(Splitting::Mass.weight(2.0, 0.0, 1.0).share, 2.0);
        assert_eq!(Splitting::Mass.weight(2.0, 6.0, 2.5).share, 6.0);
        assert_eq!(Splitting::Mass.weight(2.0, 1.0, 1.5).share, 2.0);
    }

    #[test]
    fn masses_fall_by_e_over_one_length_and_stay_finite() {
        assert!((scaled(2.0, 10.0, 0.1) - 2.0 * std::f32::consts::E).abs() < 1e-5);
        assert!(scaled(2.0, 100.0, 1e6).is_finite());
        assert_eq!(scaled(2.0, 0.0, 5.0), 2.0);
    }
}
