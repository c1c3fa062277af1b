//! Resistance to rolling of round grains.

/// Torque [N m] along the relative spin, against it: min(μ_r R* f, c |ω|), with μ_r [-] `friction` and c [N m s] `viscosity`, which
/// keeps it from turning the spin round, [Ai11] model A.
#[inline(always)]
pub(crate) fn torque(friction: f64, radius: f64, force: f64, viscosity: f64, spin: f64) -> f64 {
    (friction * radius * force).min(viscosity * spin)
}
