//! Responses of a prototype: a guide in a full, regular neighborhood, [Ihmsen13] eqs. (7), (12).
//!
//! With m = ρ d³ and Σ ∇W = 0 on a lattice of spacing d, both follow from S = d⁸ Σ |∇W|².

use super::kernel;

/// S = d⁸ Σ |∇W|² [-] of a lattice of spacing d, for a kernel of radius `support` d.
pub(crate) fn squares(support: f32) -> f32 {
    let most = support.ceil() as i32;
    let along = || -most..=most;
    let mut sum = 0.0;
    for x in along() {
        for y in along() {
            for z in along() {
                let squared = (x * x + y * y + z * z) as f32;
                if squared > 0.0 {
                    let (_, slope) = kernel::value_and_slope(squared.sqrt(), 1.0 / support);
                    sum += slope * slope * squared;
                }
            }
        }
    }
    sum
}

/// Change of the compression per pressure [1/Pa] over Δt² [1/s²], below 0: -1/(γ ρ Δt²) with γ = d²/(2 S Δt²) of eq. (7).
pub(crate) fn diagonal(squares: f32, spacing: f32, inverse_density: f32) -> f32 {
    -2.0 * squares * inverse_density / (spacing * spacing)
}

/// D⁻¹ [Pa s]: stress for a strain rate, ρ d²/(2/3 S Δt), eq. (12) with its prefactor inverted.
pub(crate) fn response(squares: f32, spacing: f32, inverse_density: f32, step: f32) -> f32 {
    1.5 * spacing * spacing / (squares * inverse_density * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prototype_responds_as_lattice_sums_say() {
        let s = squares(2.0);
        assert!((s - 0.42484).abs() < 2e-5, "{s}");
        // γ = 1.1769 d²/Δt² [m²/s²], D⁻¹ = 3.5307 ρ d²/Δt [Pa s].
        let (density, d, step) = (1600.0, 0.04, 1e-3);
        let stiffness = -1.0 / (diagonal(s, d, 1.0 / density) * density * step * step);
        assert!((stiffness * step * step / (d * d) - 1.1769).abs() < 1e-3);
        let response = response(s, d, 1.0 / density, step);
        assert!((response * step / (density * d * d) - 3.5307).abs() < 2e-3);
    }
}
