//! Pressure: the least that lets no guide be denser than settled sand, [Ihmsen14] written in volumes.
//!
//! With a = -1/ρ (Σ V (p + p_j) ∇W + 2 p ∇λ) and Dδ/Dt = Σ V (v - v_j)·∇W + (v - v_wall)·∇λ, each the adjoint of the other but for walls,
//! which mirror the pressure before them.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};

/// Relaxation of the Jacobi passes [-].
const RELAXATION: f32 = 0.5;

/// How often a wall counts the pressure before it [-].
pub(crate) const MIRROR: f32 = 1.0;

/// Compression [-] beyond which guides are spread, the part of it that a step undoes so [-], and the passes for it.
const DENSE: f32 = 0.01;
const SPREAD: f32 = 0.2;
const SPREAD_PASSES: u32 = 2;

/// How the passes went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Passes [-].
    pub iterations: u32,
    /// Mean density error left, over guides under pressure [-].
    pub error: f32,
}

/// Sums over a chunk: density error, and guides under pressure.
pub(crate) type Errors = Vec<[f64; 2]>;

/// What a pressure solve is to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub step: f32,
    pub density_error: f32,
    pub iterations: [u32; 2],
    /// Most compression that is undone by speed in a step [-].
    pub gentle: f32,
}

/// Finds `pressure` [Pa] and `columns.push` for the velocities `columns.velocity`, from the pressure of the last step.
pub(crate) fn solve(
    pressure: &mut Vec<f32>,
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    goal: Goal,
    errors: &mut Errors,
) -> Outcome {
    match space.is_open() {
        true => solve_in::<true>(pressure, columns, rows, space, goal, errors),
        false => solve_in::<false>(pressure, columns, rows, space, goal, errors),
    }
}

fn solve_in<const OPEN: bool>(
    pressure: &mut Vec<f32>,
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    goal: Goal,
    errors: &mut Errors,
) -> Outcome {
    prepare::<OPEN>(columns, rows, space, goal);
    errors.resize(rows.len(), [0.0; 2]);
    let mut outcome = Outcome::default();
    while outcome.iterations < goal.iterations[1] {
        accelerate::<OPEN>(pressure, columns, rows, space);
        update::<OPEN>(pressure, columns, rows, space, goal.step, errors);
        std::mem::swap(pressure, &mut columns.next);
        outcome.iterations += 1;
        let (error, count) = errors
            .iter()
            .fold((0.0, 0.0), |(e, n), chunk| (e + chunk[0], n + chunk[1]));
        outcome.error = (error / f64::max(count, 1.0)) as f32;
        if outcome.iterations >= goal.iterations[0] && outcome.error <= goal.density_error {
            break;
        }
    }
    accelerate::<OPEN>(pressure, columns, rows, space);
    outcome
}

/// Finds the way `columns.shift` [m] that undoes a part of what guides are too dense by. It is gone without speed:
/// what inherited compression gave guides as velocity would throw them apart.
pub(crate) fn spread(columns: &mut Columns, rows: &[Rows], space: &Space, step: f32, errors: &mut Errors) {
    match space.is_open() {
        true => spread_in::<true>(columns, rows, space, step, errors),
        false => spread_in::<false>(columns, rows, space, step, errors),
    }
}

fn spread_in<const OPEN: bool>(columns: &mut Columns, rows: &[Rows], space: &Space, step: f32, errors: &mut Errors) {
    let Columns { room, compression, .. } = columns;
    for (room, compression) in room.iter_mut().zip(compression) {
        *room = -SPREAD * (*compression - 1.0 - DENSE).max(0.0);
    }
    std::mem::swap(&mut columns.push, &mut columns.shift);
    // What was spread is spread: nothing to start from.
    let mut pressure = std::mem::take(&mut columns.spread);
    pressure.fill(0.0);
    let pressure = &mut pressure;
    for _ in 0..SPREAD_PASSES {
        accelerate::<OPEN>(pressure, columns, rows, space);
        update::<OPEN>(pressure, columns, rows, space, step, errors);
        std::mem::swap(pressure, &mut columns.next);
    }
    accelerate::<OPEN>(pressure, columns, rows, space);
    std::mem::swap(&mut columns.push, &mut columns.shift);
    std::mem::swap(pressure, &mut columns.spread);
    let squared = step * step;
    columns
        .shift
        .par_iter_mut()
        .with_min_len(CHUNK)
        .for_each(|shift| *shift *= squared);
}

/// Room that is left without pressure, and the diagonal.
fn prepare<const OPEN: bool>(columns: &mut Columns, rows: &[Rows], space: &Space, goal: Goal) {
    let Columns {
        place,
        velocity,
        compression,
        lean,
        wall,
        inflow,
        inverse_density,
        diagonal,
        room,
        ..
    } = columns;
    let chunks = room
        .par_chunks_mut(CHUNK)
        .zip(diagonal.par_chunks_mut(CHUNK))
        .zip(rows)
        .enumerate();
    chunks.for_each(|(c, ((room, diagonal), rows))| {
        for k in 0..room.len() {
            let i = c * CHUNK + k;
            let mut sum = Vec4::ZERO;
            for (j, slope) in rows.row(k) {
                sum += slope * space.between::<OPEN>(place[i], place[j]) * velocity[j];
            }
            let rate = velocity[i].dot(lean[i] + wall[i]) - sum.element_sum() - inflow[i];
            room[k] = (1.0 - compression[i]).max(-goal.gentle) - goal.step * rate;
            diagonal[k] = -(diagonal[k] + inverse_density[i] * (lean[i] + MIRROR * wall[i]).dot(lean[i] + wall[i]));
        }
    });
}

/// a of the guides by `pressure`.
fn accelerate<const OPEN: bool>(pressure: &[f32], columns: &mut Columns, rows: &[Rows], space: &Space) {
    let Columns {
        place,
        lean,
        wall,
        inverse_density,
        push,
        ..
    } = columns;
    let chunks = push.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (push, rows))| {
        for (k, push) in push.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = pressure[i] * (lean[i] + MIRROR * wall[i]);
            for (j, slope) in rows.row(k) {
                sum += slope * pressure[j] * space.between::<OPEN>(place[i], place[j]);
            }
            *push = -inverse_density[i] * sum;
        }
    });
}

/// p ← max(0, p + ω (room - Δt² A p)/(Δt² a_ii)), and the errors that are left.
fn update<const OPEN: bool>(
    pressure: &[f32],
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    step: f32,
    errors: &mut Errors,
) {
    let Columns {
        place,
        lean,
        wall,
        diagonal,
        room,
        push,
        next,
        ..
    } = columns;
    let squared = step * step;
    let chunks = next
        .par_chunks_mut(CHUNK)
        .zip(errors.par_iter_mut())
        .zip(rows)
        .enumerate();
    chunks.for_each(|(c, ((next, errors), rows))| {
        *errors = [0.0; 2];
        for (k, next) in next.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = Vec4::ZERO;
            for (j, slope) in rows.row(k) {
                sum += slope * space.between::<OPEN>(place[i], place[j]) * push[j];
            }
            let left = room[i] - squared * (push[i].dot(lean[i] + wall[i]) - sum.element_sum());
            let a = squared * diagonal[i];
            // A guide that nothing presses has nothing to press against.
            *next = if a < -f32::MIN_POSITIVE {
                (pressure[i] + RELAXATION * left / a).max(0.0)
            } else {
                0.0
            };
            if *next > 0.0 {
                errors[0] += f64::from((-left).max(0.0));
                errors[1] += 1.0;
            }
        }
    });
}
