//! Conserved quantities.

use glam::DVec3;

/// Sums over guides that only external forces change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momenta {
    /// Momentum [kg m/s].
    pub linear: DVec3,
    /// Angular momentum about a fixed point [kg m²/s].
    pub angular: DVec3,
    /// Kinetic energy [J].
    pub energy: f64,
    /// Sum of the magnitudes of momenta [kg m/s]: scale for errors of `linear`.
    pub linear_scale: f64,
    /// Sum of the magnitudes of angular momenta [kg m²/s].
    pub angular_scale: f64,
}

impl Momenta {
    /// Sums over guides with `masses` [kg] at `positions` [m] and `velocities` [m/s], about `point` [m].
    pub fn new(masses: &[f64], positions: &[DVec3], velocities: &[DVec3], point: DVec3) -> Self {
        let mut sums = Self::default();
        for ((&mass, &position), &velocity) in masses.iter().zip(positions).zip(velocities) {
            let momentum = mass * velocity;
            let angular = (position - point).cross(momentum);
            sums.linear += momentum;
            sums.angular += angular;
            sums.energy += 0.5 * mass * velocity.length_squared();
            sums.linear_scale += momentum.length();
            sums.angular_scale += angular.length();
        }
        sums
    }
}

/// Returns the total force of guides on bodies relative to their weight [-]: 1 at rest. Must hold before wall forces
/// are used for anything else.
pub fn carried(forces: impl IntoIterator<Item = DVec3>, masses: impl IntoIterator<Item = f64>, gravity: DVec3) -> f64 {
    let force: DVec3 = forces.into_iter().sum();
    let weight = gravity * masses.into_iter().sum::<f64>();
    force.dot(weight) / weight.length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_guides_that_circle_have_only_angular_momentum() {
        let positions = [DVec3::X, -DVec3::X].map(|p| p + DVec3::splat(5.0));
        let sums = Momenta::new(&[2.0; 2], &positions, &[DVec3::Y, -DVec3::Y], DVec3::splat(5.0));
        assert_eq!(sums.linear, DVec3::ZERO);
        assert_eq!(sums.angular, DVec3::Z * 4.0);
        assert_eq!((sums.energy, sums.linear_scale, sums.angular_scale), (2.0, 4.0, 4.0));
        // Without momentum the point does not matter.
        let elsewhere = Momenta::new(&[2.0; 2], &positions, &[DVec3::Y, -DVec3::Y], DVec3::ZERO);
        assert_eq!(elsewhere.angular, sums.angular);
    }

    #[test]
    fn a_floor_carries_all_or_less() {
        let down = DVec3::new(0.0, 0.0, -9.81);
        let carried = |share: f64| carried([down * share * 3.0, DVec3::X], [1.0, 2.0], down);
        assert!((carried(1.0) - 1.0).abs() < 1e-12);
        assert!((carried(0.5) - 0.5).abs() < 1e-12);
    }
}
