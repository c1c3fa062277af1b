//! Pressure: the least that lets no guide be denser than settled sand, [Ihmsen14] written in volumes.
//!
//! With a = -1/ρ (Σ V (p + p_j) ∇W + 2 p ∇λ) and Dδ/Dt = Σ V (v - v_j)·∇W + (v - v_wall)·∇λ, each the adjoint of the other but for walls,
//! which mirror the pressure before them.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::laws::kernel;

/// Relaxation of the Jacobi passes [-].
const RELAXATION: f32 = 0.5;

/// The same where pressure and friction undo the same motion in one pass: both in full would overshoot and diverge.
pub(crate) const TOGETHER: f32 = 0.3;

/// How often a wall counts the pressure before it [-].
pub(crate) const MIRROR: f32 = 1.0;

/// Compression [-] beyond which guides are spread, and the part of it that each undoes for itself in a step [-].
const DENSE: f32 = 0.01;
const SPREAD: f32 = 0.15;

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
        outcome.error = mean(errors);
        if outcome.iterations >= goal.iterations[0] && outcome.error <= goal.density_error {
            break;
        }
    }
    accelerate::<OPEN>(pressure, columns, rows, space);
    outcome
}

/// One pass of [Ihmsen13]'s pressure, predictive-corrective: p ← max(0, p + ω (1 - δ*)/(Δt² a_ii)), where δ* is the compression with
/// guides where `columns.velocity` takes them. Gives the mean error before it.
pub(crate) fn correct(
    pressure: &mut [f32],
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    goal: Goal,
    errors: &mut Errors,
) -> f32 {
    errors.resize(rows.len(), [0.0; 2]);
    let Columns {
        place, velocity, ahead, ..
    } = columns;
    let guides = ahead.par_iter_mut().with_min_len(CHUNK).zip(&*place).zip(&*velocity);
    guides.for_each(|((ahead, place), velocity)| *ahead = *place + goal.step * *velocity);
    match space.is_open() {
        true => correct_in::<true>(pressure, columns, rows, space, goal, errors),
        false => correct_in::<false>(pressure, columns, rows, space, goal, errors),
    }
    mean(errors)
}

fn correct_in<const OPEN: bool>(
    pressure: &mut [f32],
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    goal: Goal,
    errors: &mut Errors,
) {
    let Columns {
        ahead,
        lump,
        velocity,
        wall,
        inflow,
        held,
        compression,
        diagonal,
        ..
    } = columns;
    let squared = goal.step * goal.step;
    let chunks = pressure
        .par_chunks_mut(CHUNK)
        .zip(errors.par_iter_mut())
        .zip(rows)
        .enumerate();
    chunks.for_each(|(c, ((pressure, errors), rows))| {
        *errors = [0.0; 2];
        for (k, pressure) in pressure.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let [half_support, volume, ..] = lump[i].to_array();
            let mut sum = volume * kernel::peak(0.5 / half_support) + held[i];
            for (j, _) in rows.row(k) {
                let [other, volume, ..] = lump[j].to_array();
                let distance = space.between::<OPEN>(ahead[i], ahead[j]).length();
                sum += volume * kernel::value_and_slope(distance, 1.0 / (half_support + other)).0;
            }
            sum += goal.step * (velocity[i].dot(wall[i]) - inflow[i]);
            let left = 1.0 + (compression[i] - 1.0 - goal.gentle).max(0.0) - sum;
            let a = squared * diagonal[i];
            *pressure = if a < -f32::MIN_POSITIVE {
                (*pressure + TOGETHER * left / a).max(0.0)
            } else {
                0.0
            };
            if *pressure > 0.0 {
                errors[0] += f64::from((-left).max(0.0));
                errors[1] += 1.0;
            }
        }
    });
}

/// Mean density error over guides under pressure [-].
fn mean(errors: &Errors) -> f32 {
    let (error, count) = errors
        .iter()
        .fold((0.0, 0.0), |(e, n), chunk| (e + chunk[0], n + chunk[1]));
    (error / f64::max(count, 1.0)) as f32
}

/// Acceleration of the guides by `pressure` [Pa], into `columns.push`.
pub(crate) fn push(pressure: &[f32], columns: &mut Columns, rows: &[Rows], space: &Space) {
    match space.is_open() {
        true => accelerate::<true>(pressure, columns, rows, space),
        false => accelerate::<false>(pressure, columns, rows, space),
    }
}

/// Finds the way `columns.shift` [m] that undoes a part of what guides are too dense by. It is gone without speed: what inherited
/// compression gave guides as velocity would throw them apart. One pass from no pressure at all: what was spread is spread.
pub(crate) fn spread(columns: &mut Columns, rows: &[Rows], space: &Space, step: f32) {
    let squared = step * step;
    let excess = |compression: f32| (compression - 1.0 - DENSE).max(0.0);
    if columns
        .compression
        .iter()
        .all(|&compression| excess(compression) == 0.0)
    {
        columns.shift.fill(Vec4::ZERO);
        return;
    }
    let mut pressure = std::mem::take(&mut columns.next);
    for ((p, compression), diagonal) in pressure.iter_mut().zip(&columns.compression).zip(&columns.diagonal) {
        *p = match squared * diagonal {
            a if a < -f32::MIN_POSITIVE => -SPREAD * excess(*compression) / a,
            _ => 0.0,
        };
    }
    std::mem::swap(&mut columns.push, &mut columns.shift);
    push(&pressure, columns, rows, space);
    std::mem::swap(&mut columns.push, &mut columns.shift);
    columns.next = pressure;
    let shifts = columns.shift.par_iter_mut().with_min_len(CHUNK);
    shifts.for_each(|shift| *shift *= squared);
}

/// The change of each guide's compression per its own pressure, with its walls.
pub(crate) fn stiffen(columns: &mut Columns) {
    let Columns {
        lean,
        wall,
        inverse_density,
        diagonal,
        ..
    } = columns;
    let walls = wall.par_iter().zip(&*inverse_density);
    let guides = diagonal.par_iter_mut().with_min_len(CHUNK).zip(&*lean).zip(walls);
    guides.for_each(|((diagonal, lean), (wall, inverse_density))| {
        *diagonal = -(*diagonal + inverse_density * (*lean + MIRROR * *wall).dot(*lean + *wall));
    });
}

/// Room that is left without pressure.
fn prepare<const OPEN: bool>(columns: &mut Columns, rows: &[Rows], space: &Space, goal: Goal) {
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
        for (k, room) in room.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = Vec4::ZERO;
            for (j, slope) in rows.row(k) {
                sum += slope * space.between::<OPEN>(place[i], place[j]) * velocity[j];
            }
            let rate = velocity[i].dot(lean[i] + wall[i]) - sum.element_sum() - inflow[i];
            *room = (1.0 - compression[i]).max(-goal.gentle) - goal.step * rate;
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
