//! Hertz with constant damping, [Bell05] eq. (11) with α = 0: f = k_d ξ' + k_r ξ^1.5. Restitution rises with speed,
//! unlike that of any material; for comparison.

use super::normal::{Coefficients, Encounter};

/// Stiffness [N/m^1.5] and damping [N s/m] k_d = p (m³ k_r² v)^(1/5) with p = `damping`, v the reference speed.
#[inline(always)]
pub(crate) fn coefficients(e: &Encounter, damping: f64) -> Coefficients {
    let stiffness = e.hertz_stiffness();
    let scale = (e.mass * e.mass * e.mass * stiffness * stiffness * e.reference_speed).powf(0.2);
    Coefficients {
        stiffness,
        damping: damping * scale,
    }
}

/// Repelling force [N] at overlap ξ [m] and approach ξ' [m/s].
#[inline(always)]
pub(crate) fn force(c: &Coefficients, overlap: f64, approach: f64) -> f64 {
    c.damping * approach + c.stiffness * overlap * overlap.sqrt()
}
