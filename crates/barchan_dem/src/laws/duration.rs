//! Duration and depth of an impact.

/// Duration of an elastic Hertz impact, of (m²/(k² v))^(1/5) [-]: 2.94328 (5/4)^(2/5), [Johnson85] eq. (11.24).
pub(crate) const HERTZ: f64 = 3.218_07;

/// Duration t_c [s] of an elastic Hertz impact of reduced mass m [kg], stiffness k [N/m^1.5] and speed v [m/s]:
/// t_c = 3.218 (m²/(k² v))^(1/5), [Johnson85] eq. (11.24).
#[inline(always)]
pub(crate) fn hertz(mass: f64, stiffness: f64, speed: f64) -> f64 {
    HERTZ * (mass * mass / (stiffness * stiffness * speed)).powf(0.2)
}

/// Speed [m/s] at which an elastic Hertz impact goes as deep as ξ [m]: v = √(4 k ξ^2.5 / (5 m)), the energy of [Johnson85] eq. (11.23).
pub(crate) fn speed_of_overlap(mass: f64, stiffness: f64, overlap: f64) -> f64 {
    (0.8 * stiffness * overlap.powf(2.5) / mass).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_two_millimetre_particles_lasts_0_41_milliseconds() {
        // r = 2 mm, 2600 kg/m³, E = 10 MPa, ν = 0.3.
        let mass = 2600.0 * 4.0 / 3.0 * std::f64::consts::PI * 8e-9;
        let modulus = super::super::effective::modulus([1e7; 2], [0.3; 2]);
        let stiffness = super::super::effective::hertz_stiffness(modulus, 1e-3);
        assert!((stiffness - 2.32e5).abs() < 1e3, "{stiffness}");
        let duration = hertz(0.5 * mass, stiffness, 1.0);
        assert!((duration - 0.41e-3).abs() < 0.01e-3, "{duration}");
    }
}
