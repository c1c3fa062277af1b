//! Damped linear spring, [Bell05] eqs. (8)-(10): f = k_d ξ' + k_r ξ. Restitution and duration do not depend on speed.

use super::duration;
use super::normal::{Coefficients, Encounter};

/// Stiffness [N/m] and damping [N s/m] of an oscillator of damping ratio ζ = `damping`: k_r = m ω₀², k_d = 2 ζ m ω₀, with
/// ω₀ = π / (t_c √(1 - ζ²)) so that half a period lasts t_c; beyond ζ = 0.9, where it would grow without bounds, as there. Where no
/// duration is said it is that of a Hertz impact at the reference speed.
#[inline(always)]
pub(crate) fn coefficients(e: &Encounter, damping: f64) -> Coefficients {
    let duration = match e.duration > 0.0 {
        true => e.duration,
        false => duration::hertz(e.mass, e.hertz_stiffness(), e.reference_speed),
    };
    let zeta = damping.min(0.9);
    let omega = std::f64::consts::PI / (duration * (1.0 - zeta * zeta).sqrt());
    Coefficients {
        stiffness: e.mass * omega * omega,
        damping: 2.0 * damping * e.mass * omega,
    }
}

/// Repelling force [N] at overlap ξ [m] and approach ξ' [m/s].
#[inline(always)]
pub(crate) fn force(c: &Coefficients, overlap: f64, approach: f64) -> f64 {
    c.damping * approach + c.stiffness * overlap
}
