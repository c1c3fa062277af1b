//! Cohesion of moist sand, specified in pascals.

/// Intensity κ [m³/s²] of an attraction -κ m W x between guides of `volume` [m³] and `density` [kg/m³] with kernels of radius `support` [m]
/// that holds a tension of `tension` [Pa]: the virial of the kernel, κ = 6 V c/(ρ 0.225 h²). The force is that of [Becker07].
pub(crate) fn attraction(tension: f32, volume: f32, density: f32, support: f32) -> f32 {
    6.0 * volume * tension / (density * 0.225 * support * support)
}

/// Tension that the attraction holds, of the cohesion [-]. The rest is the stress's, which is remembered from step to step and holds still.
pub(crate) const TENSION: f32 = 0.25;

/// Shear strength [Pa], as a norm of stress, beside what friction of `friction` [-] makes of the attraction's tension c_t: √2 (c - c_t tan θ), so
/// that the whole is `cohesion` [Pa] and nothing is counted twice.
pub(crate) fn intercept(cohesion: f32, friction: f32) -> f32 {
    2f32.sqrt() * (cohesion * (1.0 - TENSION * friction)).max(0.0)
}

/// Part of the cohesion that is left where the compression is `compression` [-]: none where guides have come apart.
#[inline]
pub(crate) fn intact(compression: f32) -> f32 {
    ((compression - 0.6) / 0.2).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::kernel;

    #[test]
    fn a_lattice_pulls_across_every_plane_with_the_tension_that_was_asked_for() {
        // Force on a unit of area of the plane x = 0.5 from pairs across it, per spacing d = 1, m = 1600.
        let (tension, density, support) = (500.0, 1600.0, 2.0f32);
        let kappa = attraction(tension, 1.0, density, support);
        let mut pull = 0.0;
        for k in 0..125 {
            let x = [k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2].map(|x| x as f32);
            let r = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            if x[0] > 0.0 && r > 0.0 {
                // A pair dx apart crosses dx planes between layers.
                pull += x[0] * kappa * density * kernel::value_and_slope(r, 1.0 / support).0 * x[0];
            }
        }
        assert!((pull / tension - 1.0).abs() < 0.1, "{pull}");
    }
}
