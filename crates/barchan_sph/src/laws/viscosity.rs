//! Artificial viscosity, [Monaghan92]: damps the approach of guides, which settles dry sand and makes wet sand slow.

/// Keeps the force finite at zero distance, as a fraction of the kernel radius squared [-].
const SOFTENING: f32 = 0.01;

/// Factor f [Pa] of a pair's force V V_j f ∇W: f = 2ρρ_j/(ρ + ρ_j) α h c min(v·x, 0)/(x² + 0.01 h²), at most 0.
///
/// `viscosity` is α [-], `sound` c [m/s], `support` h [m], `inverse_densities` the sum of both [m³/kg], `approach` v·x [m²/s] and `squared`
/// x² [m²].
#[inline]
pub(crate) fn factor(
    viscosity: f32,
    sound: f32,
    support: f32,
    inverse_densities: f32,
    approach: f32,
    squared: f32,
) -> f32 {
    2.0 / inverse_densities * viscosity * support * sound * approach.min(0.0)
        / (squared + SOFTENING * support * support)
}

/// Longest step [s] in which viscosity does not overshoot: ¼ h/(α c), half of what makes a lattice unstable.
pub(crate) fn longest_step(viscosity: f32, sound: f32, support: f32) -> f32 {
    0.25 * support / (viscosity * sound)
}

/// Speed [m/s] at which guides would pass on what happens: 10 max(|v|, √(g H)), so that density changes by a hundredth, for guides as fast
/// as `fastest` [m/s] in a scene `height` [m] high.
pub(crate) fn sound(fastest: f32, gravity: f32, height: f32) -> f32 {
    10.0 * fastest.max((gravity * height).sqrt())
}
