//! Columns of guides: prediction and velocities.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use crate::laws::mass::Weight;

/// Motion of each guide in a step, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Displacement in this step without contacts [m].
    pub free: Vec<Vec4>,
    /// Displacement in this step [m].
    pub moved: Vec<Vec4>,
    /// Displacement by the stabilization in this step [m].
    pub pushed: Vec<Vec4>,
    /// Result of a pass over `moved` or `pushed`.
    pub next: Vec<Vec4>,
    /// Inverse mass [1/kg], scaled with height if that is on.
    pub inverse_mass: Vec<f32>,
    pub weight: Vec<Weight>,
    /// The share of `weight`, as a column of its own for gathers.
    pub share: Vec<f32>,
}

impl Columns {
    /// Makes room for `n` guides: every step sets all columns again, and every frame their inverse masses.
    pub(crate) fn resize(&mut self, n: usize) {
        for column in [&mut self.free, &mut self.moved, &mut self.pushed, &mut self.next] {
            column.resize(n, Vec4::ZERO);
        }
        self.inverse_mass.resize(n, 0.0);
        self.weight.resize(n, Weight::default());
        self.share.resize(n, 0.0);
    }
}

/// Speeds guides up by `gravity` [m/s²] and predicts their displacement in `step` [s], except for those asleep. Returns false if one is
/// not finite.
pub(crate) fn predict(velocity: &mut [Vec3], columns: &mut Columns, asleep: &[bool], gravity: Vec3, step: f32) -> bool {
    let Columns { free, pushed, .. } = columns;
    let tasks = velocity.par_chunks_mut(CHUNK).zip(free.par_chunks_mut(CHUNK));
    let tasks = tasks.zip(pushed.par_chunks_mut(CHUNK)).zip(asleep.par_chunks(CHUNK));
    let is_finite = tasks.map(|(((velocity, free), pushed), asleep)| {
        pushed.fill(Vec4::ZERO);
        let mut is_finite = true;
        for ((velocity, free), &is_asleep) in velocity.iter_mut().zip(free).zip(asleep) {
            if is_asleep {
                *free = Vec4::ZERO;
            } else {
                *velocity += gravity * step;
                *free = (*velocity * step).extend(0.0);
            }
            is_finite &= free.length_squared().is_finite();
        }
        is_finite
    });
    is_finite.reduce(|| true, |a, b| a && b)
}

/// Turns displacements into velocities, no faster than `clamp` diameters per step, and adds those of the stabilization to them. Guides that
/// would go no farther than `still` [m] stay.
pub(crate) fn finish(
    velocity: &mut [Vec3],
    radius: &[f32],
    columns: &mut Columns,
    [clamp, still]: [f32; 2],
    step: f32,
) {
    let Columns { moved, pushed, .. } = columns;
    let inverse = 1.0 / step;
    let tasks = velocity.par_chunks_mut(CHUNK).zip(radius.par_chunks(CHUNK));
    let ways = moved.par_chunks_mut(CHUNK).zip(pushed.par_chunks(CHUNK));
    tasks.zip(ways).for_each(|((velocity, radius), (moved, pushed))| {
        let ways = moved.iter_mut().zip(pushed);
        for ((velocity, radius), (moved, pushed)) in velocity.iter_mut().zip(radius).zip(ways) {
            let way = moved.truncate().clamp_length_max(clamp * 2.0 * radius);
            let all = way + pushed.truncate();
            let goes = if all.length() > still { 1.0 } else { 0.0 };
            *velocity = way * (goes * inverse);
            *moved = (all * goes).extend(0.0);
        }
    });
}
