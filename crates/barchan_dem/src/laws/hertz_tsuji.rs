//! Hertz with the damping of [Tsuji92], α = 1/4: f = k_d ξ^0.25 ξ' + k_r ξ^1.5. Restitution does not depend on speed.

use super::normal::{Coefficients, Encounter};

/// Stiffness [N/m^1.5] and damping [N s/m^1.25] k_d = √5 ζ √(m k_r), [Tsuji92] eq. (16), with ζ = `damping` the damping ratio of a
/// linear spring of the same restitution.
#[inline(always)]
pub(crate) fn coefficients(e: &Encounter, damping: f64) -> Coefficients {
    let stiffness = e.hertz_stiffness();
    Coefficients {
        stiffness,
        damping: 5f64.sqrt() * damping * (e.mass * stiffness).sqrt(),
    }
}

/// Repelling force [N] at overlap ξ [m] and approach ξ' [m/s].
#[inline(always)]
pub(crate) fn force(c: &Coefficients, overlap: f64, approach: f64) -> f64 {
    let root = overlap.sqrt();
    c.damping * root.sqrt() * approach + c.stiffness * overlap * root
}
