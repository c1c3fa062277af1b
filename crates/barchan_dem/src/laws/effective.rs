//! Effective properties of a contact, [Johnson85] section 4.2 and table of section 7.3.

/// One over the sum of reciprocals: mass [kg] or radius [m] of a pair. An immovable or flat partner is infinite.
#[inline(always)]
pub(crate) fn reduced(a: f64, b: f64) -> f64 {
    a * b / (a + b)
}

/// Effective modulus E* [Pa]: 1/E* = (1 - ν₁²)/E₁ + (1 - ν₂²)/E₂, of Young's moduli [Pa] and Poisson ratios [-].
pub(crate) fn modulus(young: [f64; 2], poisson: [f64; 2]) -> f64 {
    let compliance = |k: usize| (1.0 - poisson[k] * poisson[k]) / young[k];
    1.0 / (compliance(0) + compliance(1))
}

/// Effective shear modulus G* [Pa]: 1/G* = (2 - ν₁)/G₁ + (2 - ν₂)/G₂ with G = E / (2 (1 + ν)), [Mindlin49].
pub(crate) fn shear_modulus(young: [f64; 2], poisson: [f64; 2]) -> f64 {
    let compliance = |k: usize| (2.0 - poisson[k]) * 2.0 * (1.0 + poisson[k]) / young[k];
    1.0 / (compliance(0) + compliance(1))
}

/// Stiffness k_r = 4/3 E* √R* [N/m^1.5] of Hertz's law F = k_r ξ^1.5, [Johnson85] eq. (4.23).
#[inline(always)]
pub(crate) fn hertz_stiffness(modulus: f64, radius: f64) -> f64 {
    4.0 / 3.0 * modulus * radius.sqrt()
}
