//! Motion of a grain by guides: pure functions, for one grain or the lanes of a vector.

use barchan_geometry::random::Stream;
use barchan_simd::Real;
use glam::Vec3;

/// Reach of a guide, in its radii [-]: h = 3 r [Ihmsen13].
pub const REACH: f32 = 3.0;

/// w(r): a grain farther than a radius from every guide is in a sparse region. c₁ = (1 - 1/9)³ = 512/729 [Ihmsen13].
pub const C1: f32 = 512.0 / 729.0;

/// One guide's share of all weights from which on a grain is in a sparse region [-], c₂ [Ihmsen13].
pub const C2: f32 = 0.6;

/// The step to which the blend of [`sparsity`] belongs [s].
pub const REFERENCE_STEP: f64 = 1.0 / 60.0;

/// Sum of the weights within guides packed at the fraction φ: ∫w dV φ / (4/3 π r³) = (64π/315) 27 φ / (4π/3) = 4.114 φ [-].
pub fn bulk_weight(fraction: f32) -> f32 {
    64.0 * 27.0 * 3.0 / (315.0 * 4.0) * fraction
}

/// Weight of a guide at the squared distance `squared` [m²], with `inverse_squared_reach` = 1/h² [1/m²]:
/// w = max(0, 1 - d²/h²)³, eq. 23 of [Ihmsen13].
#[inline(always)]
pub fn weight<T: Real>(squared: T, inverse_squared_reach: T) -> T {
    weight_at(squared.like(1.0) - squared * inverse_squared_reach)
}

/// [`weight`] by ρ = 1 - d²/h² [-].
#[inline(always)]
pub fn weight_at<T: Real>(rho: T) -> T {
    let rest = rho.max(rho.like(0.0));
    rest * rest * rest
}

/// Weight of a guide's velocity: w². With w itself a guide counts for half of what it is worth at its own place, and grains in a
/// thin layer that flows over resting material lag behind its guides.
#[inline(always)]
pub fn sharp<T: Real>(weight: T) -> T {
    weight * weight
}

/// Share of its own velocity that a grain keeps, by the largest and the sum of its weights: α = 1 - max w if max w ≤ c₁ or
/// max w ≥ c₂ Σw, else 0; eq. 26 of [Ihmsen13].
#[inline(always)]
pub fn sparsity<T: Real>(largest: T, sum: T) -> T {
    let is_sparse = largest.le(largest.like(C1)) | (sum.like(C2) * sum).le(largest);
    T::select(is_sparse, largest.like(1.0) - largest, largest.like(0.0))
}

/// Filling that opens the blend: fully below `low`, not at all above `high` [-].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Filling up to which α stays as it is.
    pub low: f32,
    /// Filling from which on α is 0.
    pub high: f32,
}

/// The gate of mode `gated`. The surface of settled material has a filling of about a half, the center of a lone guide 0.4: grains
/// at a surface follow, those a guide's diameter above it fall. A gate from 0.5 to 1 leaves a heap that was poured with a
/// mass error of 0.21 instead of 0.03, since grains that land rest on the first guides that rest.
pub const GATE: Gate = Gate { low: 0.02, high: 0.2 };

/// Factor on α for the filling f = Σw / Σw of the bulk: t² (3 - 2t), t = clamp((high - f) / (high - low), 0, 1). Without it,
/// grains in the pores of a dense packing, which are farther than a radius from every guide, sink although nothing moves.
#[inline(always)]
pub fn gate<T: Real>(filling: T, gate: Gate) -> T {
    let scale = 1.0 / (gate.high - gate.low);
    let t = (filling.like(gate.high) - filling) * filling.like(scale);
    let t = t.max(t.like(0.0)).min(t.like(1.0));
    t * t * (t.like(3.0) - (t + t))
}

/// Exponent Δt/Δt_ref [-] of [`per_step`] for a step [s].
pub fn exponent(step: f64) -> f32 {
    let ratio = step / REFERENCE_STEP;
    // A frame of 1/60 s is meant, however it was computed.
    if (ratio - 1.0).abs() < 1e-6 { 1.0 } else { ratio as f32 }
}

/// α of a step, of that of the reference step: α^(Δt/Δt_ref), so that the blend over a time does not depend on the step.
#[inline(always)]
pub fn per_step<T: Real>(alpha: T, exponent: f32) -> T {
    alpha.map(|alpha| match alpha > 0.0 && alpha < 1.0 {
        true => alpha.powf(exponent),
        false => alpha,
    })
}

/// Deviation of a guide's acceleration from gravity, of gravity [-]: it falls freely up to `low`, and not at all from `high` on.
const FREE_FALL: Gate = Gate { low: 0.3, high: 0.6 };

/// Filling by other guides at a guide's center [-]: up to `low`, a guide that falls freely lets its grains go; from `high` on, as in a
/// dense stream, they follow. Within a bed that is settled it is about 0.6.
pub const COMPANY: Gate = Gate { low: 0.1, high: 0.25 };

/// Share of free fall [-] in a guide's `acceleration` [m/s²], under `gravity` [m/s²]; 0 if the acceleration is no number.
pub fn fall_share(acceleration: Vec3, gravity: Vec3) -> f32 {
    let deviation = acceleration.distance(gravity) / gravity.length();
    if deviation <= FREE_FALL.high {
        gate(deviation, FREE_FALL)
    } else {
        0.0
    }
}

/// Velocity fluctuation along an axis [m/s], √T with the granular temperature T = ⟨|v - ⟨v⟩|²⟩ / 3, of guides whose weights add up to `sum`
/// [-], weighted velocities to `momentum` [m/s] and weighted squares of velocities to `squared` [m²/s²] [Goldhirsch08].
pub fn agitation(sum: f32, momentum: Vec3, squared: f32) -> f32 {
    let variance = squared / sum - (momentum / sum).length_squared();
    (variance.max(0.0) / 3.0).sqrt()
}

/// Fluctuation that the grain `id` takes along, of that along an axis [-]: uniform in a ball, of variance 1 along each axis. Grains
/// of even and odd number have opposite ones, so that pairs carry no momentum away.
pub fn fluctuation(seed: u64, id: u32) -> Vec3 {
    let mut stream = Stream::new(seed ^ FLUCTUATION_STREAM, u64::from(id / 2));
    let radius = if id.is_multiple_of(2) {
        5f32.sqrt()
    } else {
        -(5f32.sqrt())
    };
    loop {
        let cube = 2.0 * stream.unit_cube_coarse() - 1.0;
        if cube.length_squared() <= 1.0 {
            return radius * cube;
        }
    }
}

/// Random stream of fluctuations.
const FLUCTUATION_STREAM: u64 = 0x666c_7563_7475;

/// Density from which on grains are too many, of that of settled ones [-].
pub const CROWDED: f32 = 1.0;

/// Share of a guide's agitation that may spread grains [-].
const SPREAD_SHARE: f32 = 0.5;
/// Rate at which grains spread [1/s].
const SPREAD_RATE: f32 = 8.0;
/// Rate at which the agitation of guides decays [1/s].
const AGITATION_DECAY: f32 = 4.0;
/// Agitation below which a guide counts as not agitated [m/s].
const MIN_AGITATION: f32 = 0.01;

/// Speed [m/s] that a guide has among the others or had a moment ago, after `duration` [s] of which it went at `speed` [m/s]: what it
/// was fades as exp(-t/τ), and ends.
pub fn agitated(before: f32, speed: f32, duration: f32) -> f32 {
    let now = speed.max(before * (-AGITATION_DECAY * duration).exp());
    if now > MIN_AGITATION { now } else { 0.0 }
}

/// Velocity [m/s] that carries grains from where they are too many, by the gradient [1/m] of their density relative to that of settled
/// ones: u = -D ∇n, D = r² / τ, no faster than a share of the guide's `agitation` [m/s]. Differences over a guide's radius r [m] are
/// gone after about τ.
pub fn spreading(gradient: Vec3, radius: f32, agitation: f32) -> Vec3 {
    (-SPREAD_RATE * radius * radius * gradient).clamp_length_max(SPREAD_SHARE * agitation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_that_the_paper_prints() {
        let at = |radii: f32| weight(radii * radii, 1.0 / (REACH * REACH));
        assert!((at(1.0) - C1).abs() < 1e-6);
        assert!((at(1.5) - 0.4219).abs() < 1e-4);
        assert!((at(2.0) - 0.1715).abs() < 1e-4);
        assert_eq!(at(3.0), 0.0);
        assert_eq!(at(7.0), 0.0);
    }

    #[test]
    fn the_bulk_sum_is_the_integral_of_the_weight() {
        // Shells of the unit ball: ∫ (1 - q²)³ 4π q² dq, scaled to h = 3 r and guides of 4/3 π r³.
        let steps = 10_000;
        let integral: f64 = (0..steps)
            .map(|k| {
                let q = (f64::from(k) + 0.5) / f64::from(steps);
                (1.0 - q * q).powi(3) * 4.0 * std::f64::consts::PI * q * q / f64::from(steps)
            })
            .sum();
        let expected = integral * 27.0 / (4.0 / 3.0 * std::f64::consts::PI) * 0.6;
        assert!((f64::from(bulk_weight(0.6)) - expected).abs() < 1e-4);
    }

    #[test]
    fn a_grain_is_in_a_sparse_region_between_guides_or_beside_a_lone_one() {
        assert_eq!(sparsity(0.0f32, 0.0), 1.0);
        assert_eq!(sparsity(0.5, 2.0), 0.5);
        assert_eq!(sparsity(0.8, 2.0), 0.0);
        assert!((sparsity(0.8, 1.0) - 0.2).abs() < 1e-6);
    }

    #[test]
    fn the_gate_is_open_in_sparse_regions_and_shut_in_dense_ones() {
        let half = Gate { low: 0.5, high: 1.0 };
        assert_eq!(gate(0.2, half), 1.0);
        assert_eq!(gate(0.5, half), 1.0);
        assert_eq!(gate(0.75, half), 0.5);
        assert_eq!(gate(1.3, half), 0.0);
    }

    #[test]
    fn two_half_steps_keep_as_much_as_a_whole_one() {
        let half = per_step(0.4f32, exponent(0.5 * REFERENCE_STEP));
        assert!((half * half - 0.4).abs() < 1e-6);
        assert!((per_step(0.4f32, exponent(REFERENCE_STEP)) - 0.4).abs() < 1e-6);
    }

    #[test]
    fn grains_spread_down_the_gradient_no_faster_than_a_share_of_the_agitation() {
        let gradient = Vec3::new(0.0, 2.0, 0.0);
        let slow = spreading(gradient, 0.02, 100.0);
        assert!((slow.y + SPREAD_RATE * 0.02 * 0.02 * 2.0).abs() < 1e-7 && slow.x == 0.0);
        assert!((spreading(100.0 * gradient, 0.02, 0.1).length() - SPREAD_SHARE * 0.1).abs() < 1e-6);
    }

    #[test]
    fn a_guide_falls_freely_if_gravity_alone_moves_it() {
        let gravity = Vec3::new(0.0, 0.0, -9.81);
        assert_eq!(fall_share(gravity, gravity), 1.0);
        assert_eq!(fall_share(0.75 * gravity, gravity), 1.0);
        assert_eq!(fall_share(Vec3::ZERO, gravity), 0.0);
        assert_eq!(fall_share(Vec3::NAN, gravity), 0.0);
        assert!((fall_share(0.55 * gravity, gravity) - 0.5).abs() < 1e-5);
        assert_eq!(fall_share(Vec3::ZERO, Vec3::ZERO), 0.0);
    }

    #[test]
    fn agitation_is_the_deviation_of_velocities_along_an_axis() {
        // Three equal guides at -1, 0 and 1 m/s along x: a variance of 2/3, a third of it along each axis.
        let found = agitation(3.0, Vec3::ZERO, 2.0);
        assert!((found - (2.0f32 / 9.0).sqrt()).abs() < 1e-6);
        // Moving together does not agitate.
        assert!(agitation(2.0, Vec3::X * 6.0, 18.0) < 1e-3);
    }

    #[test]
    fn fluctuations_have_a_variance_of_one_along_each_axis_and_no_momentum() {
        let all: Vec<Vec3> = (0..20_000).map(|id| fluctuation(7, id)).collect();
        assert_eq!(all.iter().copied().sum::<Vec3>(), Vec3::ZERO);
        for axis in 0..3 {
            let variance = all.iter().map(|v| v[axis] * v[axis]).sum::<f32>() / all.len() as f32;
            assert!((variance - 1.0).abs() < 0.03, "{variance}");
        }
        assert!(all.iter().all(|v| v.length() <= 5f32.sqrt() + 1e-5));
    }

    #[test]
    fn agitation_fades_as_an_exponential_and_ends() {
        let mut now = agitated(0.0, 1.0, 0.1);
        assert_eq!(now, 1.0);
        now = agitated(now, 0.0, 0.1);
        assert!((now - (-AGITATION_DECAY * 0.1).exp()).abs() < 1e-6);
        for _ in 0..20 {
            now = agitated(now, 0.0, 0.1);
        }
        assert_eq!(now, 0.0);
    }
}
