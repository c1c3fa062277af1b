//! Hertz with viscoelastic damping, [Bell05] eq. (11) with α = 1/2: f = k_d ξ^0.5 ξ' + k_r ξ^1.5. Restitution falls with speed,
//! 1 - e ~ v^(1/5), as measured.

use super::normal::{Coefficients, Encounter};

/// Stiffness [N/m^1.5] and damping [N s/m^1.5] k_d = q m^(2/5) k_r^(3/5) v^(-1/5) with q = `damping`, v the reference speed,
/// [Ramirez99] eq. (19).
#[inline(always)]
pub(crate) fn coefficients(e: &Encounter, damping: f64) -> Coefficients {
    let stiffness = e.hertz_stiffness();
    let scale = (e.mass * e.mass * stiffness * stiffness * stiffness / e.reference_speed).powf(0.2);
    Coefficients {
        stiffness,
        damping: damping * scale,
    }
}

/// Repelling force [N] at overlap ξ [m] and approach ξ' [m/s].
#[inline(always)]
pub(crate) fn force(c: &Coefficients, overlap: f64, approach: f64) -> f64 {
    overlap.sqrt() * (c.damping * approach + c.stiffness * overlap)
}
