//! Pressure: the smallest that lets no guide be denser than settled sand, [Ihmsen14] written in volumes.
//!
//! With a = -1/ρ (Σ V (p + p_j) ∇W + m p ∇λ) and Dδ/Dt = Σ V (v - v_j)·∇W + (v - v_wall)·∇λ. Each is the adjoint of the
//! other, except for walls, which count the pressure in front of them m times.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use super::simd::vectorized;
use crate::laws::{kernel, prototype};
use barchan_simd::{Real, Simd};

/// Relaxation of the Jacobi passes [-].
const RELAXATION: f32 = 0.5;

/// The same where pressure and friction undo the same motion in one pass: both in full would overshoot and diverge.
pub(crate) const COUPLED_RELAXATION: f32 = 0.3;

/// Number of times that a wall counts the pressure of sand in front of it [-]: once for itself and once for the sand that it stands for, ∫ 2 p |∇λ| dx = p. Counted
/// once, a wall gives back half of the pressure: guides lie at their least distance from it, under up to twice the pressure of the sand behind them.
pub(crate) const MIRROR_SAND: f32 = 2.0;

/// The same of a liquid. Its compression is undone by speed, and then pressure must do the work that the density's rate takes: counted twice, walls stir it, and
/// the pressure at rest exceeds that of its depth by a fifth.
pub(crate) const MIRROR_LIQUID: f32 = 1.0;

/// Compression [-] above which guides are spread, and the part of it that each guide undoes for itself in a step [-]. Faster spreading lifts fresh fills off the ground
/// and presses sand against walls.
const SPREAD_THRESHOLD: f32 = 0.003;
const SPREAD_RATE: f32 = 0.02;

/// Result of a pressure solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Iterations [-].
    pub iterations: u32,
    /// Mean density error left, over guides under pressure [-].
    pub error: f32,
}

/// Sums over a chunk: density error, and guides under pressure; change of their stress [Pa], and their pressure [Pa].
pub(crate) type Errors = Vec<[f64; 4]>;

/// Target of a pressure solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub step: f32,
    pub density_error: f32,
    pub iterations: [u32; 2],
    /// True if velocities undo compression, and the most they undo in a step [-]. Otherwise guides are spread without
    /// changing velocities.
    pub is_undone: bool,
    pub gentle: f32,
    /// Relaxation of the passes of `Pcisph` [-].
    pub relaxation: f32,
}

/// Finds `pressure` [Pa] and `columns.push` for the velocities `columns.velocity`, from the pressure of the last step.
pub(crate) fn solve(
    pressure: &mut [f32],
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    goal: Goal,
    errors: &mut Errors,
) -> Outcome {
    prepare(columns, rows, space, goal);
    errors.resize(rows.len(), [0.0; 4]);
    charge(pressure, columns);
    let mut outcome = Outcome::default();
    while outcome.iterations < goal.iterations[1] {
        accelerate(columns, rows, space);
        update(pressure, columns, rows, space, goal.step, errors);
        outcome.iterations += 1;
        outcome.error = mean(errors);
        if outcome.iterations >= goal.iterations[0] && outcome.error <= goal.density_error {
            break;
        }
    }
    accelerate(columns, rows, space);
    outcome
}

/// Least that a step may add to the compression of a guide [-]: nothing, or less where it is too dense already. Else it may add all that is left.
#[inline(always)]
fn least_allowed(goal: Goal) -> f32 {
    if goal.is_undone { -goal.gentle } else { 0.0 }
}

/// The pressures [Pa] of eight guides after one pass of [Ihmsen13], predictive-corrective: p + ω (1 - δ*)/(Δt² a_ii), and `left`, the compression that guides may
/// still gain. δ* is the compression with guides where their velocities take them, to first order in the step: `rate` [1/s] is its rate.
#[inline(always)]
pub(crate) fn corrected<T: Real>(pressure: T, compression: T, rate: T, diagonal: T, goal: Goal) -> (T, T) {
    let zero = pressure.like(0.0);
    let allowed = (pressure.like(1.0) - compression).max(pressure.like(least_allowed(goal)));
    let left = allowed - pressure.like(goal.step) * rate;
    let a = pressure.like(goal.step * goal.step) * diagonal;
    let next = pressure + pressure.like(goal.relaxation) * left / a;
    // A guide that nothing presses has nothing to press against.
    let next = T::select(
        a.lt(pressure.like(-f32::MIN_POSITIVE)),
        next.max(zero),
        pressure.like(0.0),
    );
    (next, left)
}

/// Mean density error over guides under pressure [-].
pub(crate) fn mean(errors: &Errors) -> f32 {
    let (error, count) = errors
        .iter()
        .fold((0.0, 0.0), |(e, n), chunk| (e + chunk[0], n + chunk[1]));
    (error / f64::max(count, 1.0)) as f32
}

/// Change of the stress in the last pass over the pressure [-], summed over guides under pressure.
pub(crate) fn stress_change(errors: &Errors) -> f32 {
    let (change, pressure) = errors
        .iter()
        .fold((0.0, 0.0), |(s, p), chunk| (s + chunk[2], p + chunk[3]));
    (change / f64::max(pressure, f64::MIN_POSITIVE)) as f32
}

/// Finds the rate of compression [1/s] that takes guides to the compression at the positions where `columns.velocity` takes them, [Ihmsen13] eq. (6), into
/// `columns.room`. Walls count to first order.
pub(crate) fn foresee(columns: &mut Columns, rows: &[Rows], space: &Space, step: f32) {
    let Columns {
        place,
        velocity,
        lump,
        compression,
        held,
        wall,
        inflow,
        room,
        ..
    } = columns;
    let chunks = room.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (room, rows))| {
        for (k, room) in room.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let own = lump[i];
            let mut ahead = own.y * kernel::peak(0.5 / own.x) + held[i];
            for (j, _) in rows.row(k) {
                let way = match space.is_open() {
                    true => space.between::<true>(place[i], place[j]),
                    false => space.between::<false>(place[i], place[j]),
                };
                let way = way + step * (velocity[i] - velocity[j]).with_w(0.0);
                let (value, _) = kernel::value_and_slope(way.length(), 1.0 / (own.x + lump[j].x));
                ahead += lump[j].y * value;
            }
            let against_walls = velocity[i].dot(wall[i]) - inflow[i];
            *room = (ahead - compression[i]) / step + against_walls;
        }
    });
}

/// Gives guides the stiffness of a prototype whose neighbors are `squares` [-] near, [Ihmsen13] eq. (7); those that never move keep their own.
pub(crate) fn idealize(columns: &mut Columns, squares: f32) {
    let Columns {
        diagonal,
        volume,
        inverse_density,
        ..
    } = columns;
    for ((diagonal, volume), inverse_density) in diagonal.iter_mut().zip(volume).zip(inverse_density) {
        if *inverse_density > 0.0 {
            *diagonal = prototype::diagonal(squares, volume.cbrt(), *inverse_density);
        }
    }
}

/// Places with `pressure` [Pa] beside them.
fn charge(pressure: &[f32], columns: &mut Columns) {
    let Columns { place, laden, .. } = columns;
    let guides = laden.par_iter_mut().with_min_len(CHUNK).zip(&*place).zip(pressure);
    guides.for_each(|((laden, place), &pressure)| *laden = place.with_w(pressure));
}

/// Finds the change of each guide's compression per its own pressure, with its walls; and beside its velocity `columns.base` the pressure q [Pa] that undoes a part
/// of its inherited compression, if that `is_spread`.
///
/// Inherited compression is undone by displacements, not by velocities, which would throw guides apart: Δx = -Δt²/ρ (Σ V (q + q_j) ∇W + 2 q ∇λ), one pass from no
/// pressure. Walls count twice as they do for the pressure of sand, so that even compression moves no guide along a wall's normal: Σ V ∇W = -∇λ there.
pub(crate) fn stiffen(columns: &mut Columns, step: f32, is_spread: bool) {
    let mirror = columns.mirror;
    let Columns {
        lean,
        wall,
        inverse_density,
        diagonal,
        compression,
        base,
        ..
    } = columns;
    let squared = step * step;
    let walls = wall.par_iter().zip(&*inverse_density);
    let guides = diagonal.par_iter_mut().with_min_len(CHUNK).zip(&*lean).zip(walls);
    let own = base.par_iter_mut().zip(&*compression);
    guides
        .zip(own)
        .for_each(|(((diagonal, lean), (wall, inverse_density)), (base, compression))| {
            *diagonal = -(*diagonal + inverse_density * (*lean + mirror * *wall).dot(*lean + *wall));
            let a = squared * *diagonal;
            base.w = if is_spread && a < -f32::MIN_POSITIVE {
                -SPREAD_RATE * (compression - 1.0 - SPREAD_THRESHOLD).max(0.0) / a
            } else {
                0.0
            };
        });
}

/// Room that is left without pressure.
fn prepare(columns: &mut Columns, rows: &[Rows], space: &Space, goal: Goal) {
    let Columns {
        place,
        velocity,
        compression,
        lean,
        wall,
        inflow,
        room,
        ..
    } = columns;
    let chunks = room.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (room, rows))| {
        sum_inflow(room, c * CHUNK, rows, space, [place, velocity]);
        for (k, room) in room.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let rate = velocity[i].dot(lean[i] + wall[i]) - *room - inflow[i];
            *room = (1.0 - compression[i]).max(least_allowed(goal)) - goal.step * rate;
        }
    });
}

vectorized! {
    /// Σ V ∇W·v_j of a chunk's guides, for columns of places and of v.
    fn sum_inflow(sums: &mut [f32], first: usize, rows: &Rows, space: &Space, columns: [&[Vec4]; 2]) = sum_inflow_in
}

#[inline(always)]
fn sum_inflow_in<S: Simd>(simd: S, sums: &mut [f32], first: usize, rows: &Rows, space: &Space, columns: [&[Vec4]; 2]) {
    for (k, sum) in sums.iter_mut().enumerate() {
        let place = columns[0][first + k];
        *sum = match space.is_open() {
            true => rows.inflow::<S, true>(simd, k, space, place, columns),
            false => rows.inflow::<S, false>(simd, k, space, place, columns),
        };
    }
}

/// a of the guides by the pressures in `columns.laden`, into `columns.push`.
fn accelerate(columns: &mut Columns, rows: &[Rows], space: &Space) {
    let mirror = columns.mirror;
    let Columns {
        laden,
        lean,
        wall,
        inverse_density,
        push,
        ..
    } = columns;
    let chunks = push.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (push, rows))| {
        sum_weighted(push, c * CHUNK, rows, space, laden);
        for (k, push) in push.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            *push = -inverse_density[i] * (laden[i].w * (lean[i] + mirror * wall[i]) + *push);
        }
    });
}

vectorized! {
    /// Σ V ∇W w_j of a chunk's guides, for a column of places with w beside them.
    fn sum_weighted(sums: &mut [Vec4], first: usize, rows: &Rows, space: &Space, column: &[Vec4]) = sum_weighted_in
}

#[inline(always)]
fn sum_weighted_in<S: Simd>(simd: S, sums: &mut [Vec4], first: usize, rows: &Rows, space: &Space, column: &[Vec4]) {
    for (k, sum) in sums.iter_mut().enumerate() {
        let place = column[first + k];
        *sum = match space.is_open() {
            true => rows.weighted::<S, true>(simd, k, space, place, column),
            false => rows.weighted::<S, false>(simd, k, space, place, column),
        };
    }
}

/// p ← max(0, p + ω (room - Δt² A p)/(Δt² a_ii)), and the errors that are left.
fn update(pressure: &mut [f32], columns: &mut Columns, rows: &[Rows], space: &Space, step: f32, errors: &mut Errors) {
    let Columns {
        place,
        lean,
        wall,
        diagonal,
        room,
        push,
        laden,
        ..
    } = columns;
    let squared = step * step;
    let chunks = pressure
        .par_chunks_mut(CHUNK)
        .zip(laden.par_chunks_mut(CHUNK))
        .zip(errors.par_iter_mut())
        .zip(rows)
        .enumerate();
    chunks.for_each(|(c, (((pressure, laden), errors), rows))| {
        *errors = [0.0; 4];
        let mut sums = [0.0; CHUNK];
        let sums = &mut sums[..pressure.len()];
        sum_inflow(sums, c * CHUNK, rows, space, [place, push]);
        for (k, pressure) in pressure.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let left = room[i] - squared * (push[i].dot(lean[i] + wall[i]) - sums[k]);
            let a = squared * diagonal[i];
            // A guide that nothing presses has nothing to press against.
            *pressure = if a < -f32::MIN_POSITIVE {
                (*pressure + RELAXATION * left / a).max(0.0)
            } else {
                0.0
            };
            laden[k].w = *pressure;
            if *pressure > 0.0 {
                errors[0] += f64::from((-left).max(0.0));
                errors[1] += 1.0;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::wall::half_space;

    #[test]
    fn a_wall_gives_back_the_pressure_of_the_layers_in_front_of_it() {
        // Layers of settled sand at 0.58, 1.58, ... spacings, under a kernel of two spacings.
        let slopes = (0..2).map(|k| -0.5 * half_space(0.5 * (0.58 + k as f32)).1);
        let part = MIRROR_SAND * slopes.sum::<f32>();
        assert!((part - 1.0).abs() < 0.15, "{part}");
    }
}
