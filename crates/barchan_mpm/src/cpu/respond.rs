//! Strains and stresses after a step, eight guides at a time.

use barchan_simd::{Real, Simd, f32x8, vectorized};

use super::particles::Particle;
use crate::laws::eigen::{Half, compose, eigen};
use crate::laws::{Law, Principal, Surroundings, strain};

/// Guides of a vector [-].
const LANES: usize = 8;
type Lane = [f32; LANES];

/// Smallest density around a guide [-] that limits the volume that it may have gained.
const LEAST_DENSITY: f32 = 0.01;

vectorized! {
    /// Strains guides by the derivatives of their velocities over `step` [s], and returns them to the yield surfaces of
    /// `laws`, one per material.
    pub(crate) fn respond(particles: &mut [Particle], laws: &[Law], step: f32) = respond_all
}

#[inline(always)]
fn respond_all<S: Simd>(simd: S, particles: &mut [Particle], laws: &[Law], step: f32) {
    for group in particles.chunks_mut(LANES) {
        let mut strains = [[0.0; LANES]; 6];
        let mut gradients = [[[0.0; LANES]; 3]; 3];
        let (mut plastic, mut density) = ([0.0; LANES], [1.0; LANES]);
        for (l, particle) in group.iter().enumerate() {
            let past = &particle.past;
            for k in 0..6 {
                strains[k][l] = past.strain[k];
            }
            for a in 0..3 {
                for b in 0..3 {
                    gradients[a][b][l] = past.gradient[a][b];
                }
            }
            plastic[l] = past.plastic;
            density[l] = past.density;
        }
        let lanes = Group {
            strains,
            gradients,
            plastic,
            density,
        };
        let first = group[0].material;
        if group.iter().all(|particle| particle.material == first) {
            let found = lanes.respond(simd, &laws[usize::from(first)], step);
            group
                .iter_mut()
                .enumerate()
                .for_each(|(l, particle)| found.give(l, particle));
            continue;
        }
        for (material, law) in (0..).zip(laws) {
            let is_of = |particle: &Particle| particle.material == material;
            if group.iter().any(is_of) {
                let found = lanes.respond(simd, law, step);
                let own = group.iter_mut().enumerate().filter(|(_, particle)| is_of(particle));
                own.for_each(|(l, particle)| found.give(l, particle));
            }
        }
    }
}

/// States of eight guides.
struct Group {
    strains: [Lane; 6],
    /// By axis of the derivative and component of the velocity.
    gradients: [[Lane; 3]; 3],
    plastic: Lane,
    density: Lane,
}

/// States of eight guides after a step.
struct Found {
    strains: [Lane; 6],
    stresses: [Lane; 6],
    plastic: Lane,
}

impl Group {
    #[inline(always)]
    fn respond<S: Simd>(&self, simd: S, law: &Law, step: f32) -> Found {
        let gradients = self.gradients.map(|column| column.map(|lane| simd.load8(&lane)));
        let around = Surroundings {
            shear_rate: shear_rate(gradients),
            most_gain: most_gain(simd.load8(&self.density)),
        };
        let moved = gradients.map(|column| column.map(|rate| rate * simd.splat8(step)));
        let trial: Half<f32x8<S>> = strain::moved(self.strains.map(|lane| simd.load8(&lane)), moved);
        let (values, axes) = eigen(trial);
        let trial = Principal {
            strain: values,
            plastic: simd.load8(&self.plastic),
        };
        let found = law.respond(trial, around);
        Found {
            strains: compose(found.state.strain, axes).map(Into::into),
            stresses: compose(found.stress, axes).map(Into::into),
            plastic: found.state.plastic.into(),
        }
    }
}

impl Found {
    #[inline(always)]
    fn give(&self, l: usize, particle: &mut Particle) {
        for k in 0..6 {
            particle.past.strain[k] = self.strains[k][l];
            particle.past.stress[k] = self.stresses[k][l];
        }
        particle.past.plastic = self.plastic[l];
    }
}

/// √2 ‖dev ½(∇v + ∇vᵀ)‖ [1/s].
#[inline(always)]
fn shear_rate<T: Real>(g: [[T; 3]; 3]) -> T {
    let like = |value: f32| g[0][0].like(value);
    let mean = like(1.0 / 3.0) * (g[0][0] + g[1][1] + g[2][2]);
    let on = [g[0][0] - mean, g[1][1] - mean, g[2][2] - mean];
    let off = [g[1][2] + g[2][1], g[2][0] + g[0][2], g[0][1] + g[1][0]];
    (like(2.0) * T::dot(on, on) + T::dot(off, off)).sqrt()
}

/// Largest logarithm of the gained volume [-] of a guide in surroundings of `density` [-]: no more than they are loose. 1/δ - 1 is above ln 1/δ, and
/// close to it where it matters.
#[inline(always)]
fn most_gain<T: Real>(density: T) -> T {
    let one = density.like(1.0);
    (one / density.max(density.like(LEAST_DENSITY)) - one).max(density.like(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_shear_has_the_rate_of_its_gradient_and_expansion_none() {
        let mut gradient = [[0.0f32; 3]; 3];
        gradient[2][0] = 3.0;
        assert!((shear_rate(gradient) - 3.0).abs() < 1e-6);
        let expansion = [[2.0f32, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        assert!(shear_rate(expansion).abs() < 1e-6);
    }

    #[test]
    fn only_loose_sand_has_gained_volume() {
        assert_eq!(most_gain(1.2f32), 0.0);
        assert!((most_gain(0.95f32) - 0.0526).abs() < 1e-3);
    }
}
