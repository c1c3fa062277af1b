//! Exact sums of mass.

/// An exact mass: a whole number of 2⁻⁸⁰ kg, so that sums do not depend on their order.
///
/// Holds every single-precision mass from 2⁻⁵⁶ kg upwards without rounding, and 10¹³ kg in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mass(i128);

const UNIT: f64 = 1.0 / (1u128 << 80) as f64;

impl Mass {
    /// Returns the mass of one guide [kg].
    pub fn of(kilograms: f32) -> Self {
        Self((f64::from(kilograms) / UNIT) as i128)
    }

    /// Returns the sum of masses [kg].
    pub fn sum(kilograms: impl IntoIterator<Item = f32>) -> Self {
        Self(kilograms.into_iter().map(|m| Self::of(m).0).sum())
    }

    /// Returns the nearest double-precision number [kg].
    pub fn kilograms(self) -> f64 {
        self.0 as f64 * UNIT
    }

    /// Returns two words, for checkpoints.
    pub fn to_words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// Restores the result of [`to_words`](Self::to_words).
    pub fn from_words(words: [u64; 2]) -> Self {
        Self((u128::from(words[0]) | u128::from(words[1]) << 64) as i128)
    }
}

impl std::ops::AddAssign for Mass {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// Balance of mass: sources and sinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Mass at the start.
    pub filled: Mass,
    /// Mass added by emitters.
    pub emitted: Mass,
    /// Mass removed by sinks.
    pub removed: Mass,
}

impl Ledger {
    /// Returns the mass that must be present: filled + emitted - removed.
    pub fn expected(&self) -> Mass {
        Mass(self.filled.0 + self.emitted.0 - self.removed.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_do_not_depend_on_their_order(mut masses in prop::collection::vec(1e-12f32..1e3, 0..200)) {
            let forward = Mass::sum(masses.iter().copied());
            masses.reverse();
            prop_assert_eq!(forward, Mass::sum(masses.iter().copied()));
            masses.sort_by(f32::total_cmp);
            prop_assert_eq!(forward, Mass::sum(masses.iter().copied()));
            let plain: f64 = masses.iter().map(|&m| f64::from(m)).sum();
            prop_assert!((forward.kilograms() - plain).abs() <= 1e-12 * plain);
        }

        #[test]
        fn words_bring_back_the_mass(mass in 0f32..1e6) {
            let mass = Mass::of(mass);
            prop_assert_eq!(Mass::from_words(mass.to_words()), mass);
        }
    }
}
