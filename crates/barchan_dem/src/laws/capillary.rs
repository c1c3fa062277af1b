//! Liquid bridges between moist particles: attraction from first contact until the bridge breaks.

use std::f64::consts::PI;

/// Bridges that share a particle's liquid [-]: about as many as a settled particle has contacts.
const BRIDGES: f64 = 6.0;
/// Solid fraction [-] at which a cohesion is turned into the pull of single contacts.
const FRACTION: f64 = 0.6;

/// Volume V [m³] of the bridge of two particles of reduced radius R* [m] whose liquid is the share w [-] of their own volume: each gives a sixth
/// of what it has to each of its bridges, so two of radius R = 2 R* make V = 4/9 π w R³.
#[inline(always)]
pub(crate) fn volume(liquid: f64, radius: f64) -> f64 {
    liquid * 2.0 / BRIDGES * 4.0 / 3.0 * PI * (2.0 * radius).powi(3)
}

/// Pull [N] of a bridge at touching particles: 4 π γ R* cos θ, of the surface tension γ [N/m] times the cosine of the contact angle,
/// [Lian93] eq. (2) where the gap is closed.
#[inline(always)]
pub(crate) fn pull(tension: f64, radius: f64) -> f64 {
    4.0 * PI * tension * radius
}

/// Returns the attraction at a gap s [m], as a fraction of that in contact [-]: 1 - 1/√(1 + V/(π R* s²)), [Maugis87].
#[inline(always)]
pub(crate) fn share(volume: f64, radius: f64, gap: f64) -> f64 {
    let gap = gap.max(0.0);
    1.0 - gap / (gap * gap + volume / (PI * radius)).sqrt().max(f64::MIN_POSITIVE)
}

/// Gap [m] at which a bridge of V [m³] breaks: (1 + θ/2) V^(1/3), of the contact angle θ [rad], [Lian93] eq. (14).
pub(crate) fn rupture(volume: f64, angle: f64) -> f64 {
    (1.0 + 0.5 * angle) * volume.cbrt()
}

/// ContactSurface tension over the reduced radius R* [Pa] that makes material of the internal friction tan θ [-] as cohesive as c [Pa]: its tensile
/// strength c / tan θ is φ z F / (4 π R²), [Rumpf62] eq. (7), for spheres of radius R = 2 R* with z contacts of pull F = 4 π γ R*. The friction
/// is that of the bulk, not that of a contact, which is less where rolling resistance holds heaps too.
pub(crate) fn suction(cohesion: f64, internal_friction: f64) -> f64 {
    4.0 * cohesion / (internal_friction.max(0.1) * FRACTION * BRIDGES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_millimetre_particle_is_pulled_by_its_bridge_with_eighteen_times_its_weight() {
        // Two particles of 1 mm diameter, water: 2 π γ R over m g.
        let weight = 4.0 / 3.0 * PI * 0.5e-3f64.powi(3) * 2500.0 * 9.81;
        let bond = pull(0.072, 0.25e-3) / weight;
        assert!((bond - 18.0).abs() < 1.0, "{bond}");
    }

    #[test]
    fn the_pull_falls_from_all_to_little_where_the_bridge_breaks() {
        let bridge = volume(0.01, 0.25e-3);
        let far = rupture(bridge, 0.0);
        assert_eq!(share(bridge, 0.25e-3, 0.0), 1.0);
        assert!(share(bridge, 0.25e-3, 0.5 * far) < 0.6);
        assert!(share(bridge, 0.25e-3, far) < 0.25);
    }
}
