//! Friction: the stress, bounded by pressure, that minimizes the strain rate, and the friction of walls.

use glam::{Mat3A, Vec3, Vec3A, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use super::pressure::{self, Goal};
use super::simd::{LANES, scatter, vectorized};
use super::walls::{ChunkWalls, Drag};
use crate::laws::shear::{self, Motion};
use crate::laws::stress::Sym;
use crate::laws::{cohesion, prototype};
use barchan_simd::{Real, Simd, f32x8};

/// Groups of eight guides whose sums are computed before any of their stresses [-]: one by one, sums would wait for stresses.
const GROUPS: usize = 4;

/// Loads the guides with `stress` [Pa], and with `pressure` [Pa] where it is given: T = s L - p I, and what walls push back.
pub(crate) fn load(stress: &[Sym], pressure: Option<&[f32]>, columns: &mut Columns) {
    let mirror = columns.mirror;
    let Columns {
        place,
        exact,
        wall,
        inverse_density,
        traction,
        push,
        ..
    } = columns;
    let chunks = traction
        .par_chunks_mut(CHUNK)
        .zip(push.par_chunks_mut(CHUNK))
        .enumerate();
    chunks.for_each(|(c, (traction, push))| {
        for (k, (traction, push)) in traction.iter_mut().zip(push).enumerate() {
            let i = c * CHUNK + k;
            let pressure = pressure.map_or(0.0, |p| p[i]);
            *traction = tensor(stress[i].matrix() * exact[i].matrix(), pressure, place[i]);
            *push = -inverse_density[i] * mirror * pressure * wall[i];
        }
    });
}

/// Columns of s L - p I, with a coordinate of the guide's place beside each.
#[inline(always)]
fn tensor(m: Mat3A, pressure: f32, place: Vec4) -> [Vec4; 3] {
    [
        (m.x_axis - pressure * Vec3A::X).extend(place.x),
        (m.y_axis - pressure * Vec3A::Y).extend(place.y),
        (m.z_axis - pressure * Vec3A::Z).extend(place.z),
    ]
}

/// Acceleration of the guides by what was loaded: a = 1/ρ Σ V (T + T_j) ∇W.
pub(crate) fn accelerate(columns: &mut Columns, rows: &[Rows], space: &Space) {
    let mut rub = std::mem::take(&mut columns.rub);
    let chunks = rub.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (rub, rows))| accelerate_chunk(rub, c * CHUNK, columns, rows, space));
    columns.rub = rub;
}

/// The same of a chunk's guides.
fn accelerate_chunk(rub: &mut [Vec4], first: usize, columns: &Columns, rows: &Rows, space: &Space) {
    let Columns {
        place,
        lean,
        inverse_density,
        traction,
        ..
    } = columns;
    sum_divergence(rub, first, rows, space, place, traction);
    for (k, rub) in rub.iter_mut().enumerate() {
        let i = first + k;
        let [x, y, z] = traction[i];
        let lean = lean[i];
        let own = (x * lean.x + y * lean.y + z * lean.z).with_w(0.0);
        *rub = inverse_density[i] * (own + *rub);
    }
}

vectorized! {
    /// Σ V T_j ∇W of a chunk's guides.
    fn sum_divergence(
        sums: &mut [Vec4], first: usize, rows: &Rows, space: &Space, place: &[Vec4], tensors: &[[Vec4; 3]],
    ) = sum_divergence_in
}

#[inline(always)]
fn sum_divergence_in<S: Simd>(
    simd: S,
    sums: &mut [Vec4],
    first: usize,
    rows: &Rows,
    space: &Space,
    place: &[Vec4],
    tensors: &[[Vec4; 3]],
) {
    for (k, sum) in sums.iter_mut().enumerate() {
        let place = place[first + k];
        *sum = match space.is_open() {
            true => rows.divergence::<S, true>(simd, k, space, place, tensors),
            false => rows.divergence::<S, false>(simd, k, space, place, tensors),
        };
    }
}

/// Velocities with pressure, friction and walls: `base` + Δt (push + rub), held back by walls. Where there are `rows`, `rub` is found first.
pub(crate) fn integrate(
    pressure: &[f32],
    grip: &mut [Vec4],
    columns: &mut Columns,
    walls: &mut [ChunkWalls],
    rows: Option<(&[Rows], &Space)>,
    drag: Option<Drag>,
    step: f32,
) {
    let mut velocity = std::mem::take(&mut columns.velocity);
    let mut rub = std::mem::take(&mut columns.rub);
    let columns_now = &*columns;
    let Columns {
        base,
        push,
        volume,
        inverse_mass,
        inverse_density,
        half_support,
        traction,
        ..
    } = columns_now;
    let per_step = 1.0 / step;
    let chunks = velocity
        .par_chunks_mut(CHUNK)
        .zip(rub.par_chunks_mut(CHUNK))
        .zip(grip.par_chunks_mut(CHUNK))
        .zip(walls)
        .enumerate();
    chunks.for_each(|(c, (((velocity, rub), grip), walls))| {
        if let Some((rows, space)) = rows {
            accelerate_chunk(rub, c * CHUNK, columns_now, &rows[c], space);
        }
        for (k, velocity) in velocity.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let free = base[i] + step * (push[i] + rub[k]);
            let planes = walls.of_mut(k);
            if planes.is_empty() {
                *velocity = free;
                grip[k] = Vec4::ZERO;
                continue;
            }
            let mut held = free.xyz();
            let mut gripped = Vec3::ZERO;
            for plane in planes {
                let pressed = columns_now.mirror * volume[i] * inverse_mass[i] * pressure[i] * -plane.slope * step;
                // Without a pressure there is no stress: single guides rub as discrete elements do.
                match drag.as_ref().filter(|_| pressure[i] > 0.0) {
                    None => gripped += plane.hold(&mut held, pressed, step),
                    Some(drag) => {
                        let gradient = plane.slope * plane.normal;
                        let [x, y, z] = traction[i];
                        let stress = (x * gradient.x + y * gradient.y + z * gradient.z).xyz() + pressure[i] * gradient;
                        let rubbed = inverse_density[i] * stress;
                        gripped += plane.drag(&mut held, pressed, rubbed, drag, 2.0 * half_support[i], step);
                    }
                }
            }
            *velocity = held.extend(free.w);
            grip[k] = (per_step * gripped).extend(0.0);
        }
    });
    columns.velocity = velocity;
    columns.rub = rub;
}

/// Gives guides gradients as plain sums, and the response of a prototype whose neighbors are `squares` [-] near, [Ihmsen13] eq. (12), in steps of
/// `step` [s].
pub(crate) fn simplify(columns: &mut Columns, squares: f32, step: f32) {
    columns.exact.fill(Sym::of(Mat3A::IDENTITY));
    let Columns {
        response,
        volume,
        inverse_density,
        ..
    } = columns;
    for ((response, volume), inverse_density) in response.iter_mut().zip(volume).zip(inverse_density) {
        if *inverse_density > 0.0 {
            *response = prototype::response(squares, volume.cbrt(), *inverse_density, step);
        }
    }
}

/// Parameters of one pass over pressure and stress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Target of the pressure.
    pub goal: Goal,
    /// True for the first pass of a step, which rotates the stress with the material and spreads guides that are too
    /// dense.
    pub is_first: bool,
    /// Spacing of settled guides, as a fraction of half their kernel radius [-].
    pub spacing: f32,
    /// Relaxation of the stress [-].
    pub relaxation: f32,
    /// True if the compression at predicted positions counts, whose rate is `columns.room`.
    pub is_ahead: bool,
    /// True if the change of the stress is summed.
    pub is_judged: bool,
    /// True if walls strain guides, whose `columns.carried` is known.
    pub is_walled: bool,
}

/// Yield bound of a guide's stress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Slope Y [-].
    pub slope: f32,
    /// Bound at zero pressure [Pa].
    pub intercept: f32,
    /// Increase of Y in fast flow [-].
    pub gain: f32,
}

/// Pressure and stress of some guides, and their density errors.
pub(crate) struct Held<'a> {
    pub pressure: &'a mut [f32],
    pub stress: &'a mut [Sym],
    pub errors: &'a mut [[f64; 4]],
}

/// One pass: the pressure, and s ← s + ω D⁻¹ ε̇, without its trace, back to the cone of that pressure.
pub(crate) fn update(
    held: Held<'_>,
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    bounds: (&[u8], &[Bound]),
    pass: Pass,
) {
    let mut traction = std::mem::take(&mut columns.traction);
    let mut push = std::mem::take(&mut columns.push);
    let mut shift = std::mem::take(&mut columns.shift);
    let chunks = held
        .pressure
        .par_chunks_mut(CHUNK)
        .zip(held.stress.par_chunks_mut(CHUNK))
        .zip(traction.par_chunks_mut(CHUNK))
        .zip(push.par_chunks_mut(CHUNK))
        .zip(shift.par_chunks_mut(CHUNK))
        .zip(held.errors)
        .zip(rows)
        .enumerate();
    let columns_now = &*columns;
    chunks.for_each(
        |(c, ((((((pressure, stress), traction), push), shift), errors), rows))| {
            *errors = [0.0; 4];
            let mut chunk = Chunk {
                first: c * CHUNK,
                pressure,
                stress,
                traction,
                push,
                shift,
                errors,
            };
            update_chunk(&mut chunk, columns_now, rows, space, bounds, pass);
        },
    );
    columns.traction = traction;
    columns.push = push;
    columns.shift = shift;
}

/// Values that a pass changes, of consecutive guides from `first` on.
struct Chunk<'a> {
    first: usize,
    pressure: &'a mut [f32],
    stress: &'a mut [Sym],
    traction: &'a mut [[Vec4; 3]],
    push: &'a mut [Vec4],
    shift: &'a mut [Vec4],
    errors: &'a mut [f64; 4],
}

vectorized! {
    fn update_chunk(
        chunk: &mut Chunk<'_>, columns: &Columns, rows: &Rows, space: &Space, bounds: (&[u8], &[Bound]), pass: Pass,
    ) = update_in
}

#[inline(always)]
fn update_in<S: Simd>(
    simd: S,
    chunk: &mut Chunk<'_>,
    columns: &Columns,
    rows: &Rows,
    space: &Space,
    (material, bounds): (&[u8], &[Bound]),
    pass: Pass,
) {
    let Columns {
        place,
        lump,
        velocity,
        compression,
        exact,
        lean,
        wall,
        ..
    } = columns;
    let squared = pass.goal.step * pass.goal.step;
    let count = chunk.stress.len();
    let mut motions = [Motion::default(); GROUPS];
    for start in (0..count).step_by(GROUPS * LANES) {
        let batch = start..count.min(start + GROUPS * LANES);
        for (n, k) in batch.clone().enumerate() {
            let i = chunk.first + k;
            let (own, columns_of) = ([place[i], velocity[i]], [&**place, &**velocity]);
            let (mut a, spread) = match (space.is_open(), pass.is_first) {
                (true, true) => rows.gradient::<S, true, true>(simd, k, space, own, columns_of),
                (true, false) => rows.gradient::<S, true, false>(simd, k, space, own, columns_of),
                (false, true) => rows.gradient::<S, false, true>(simd, k, space, own, columns_of),
                (false, false) => rows.gradient::<S, false, false>(simd, k, space, own, columns_of),
            };
            if pass.is_first {
                let own = velocity[i].w * (lean[i] + columns.mirror * wall[i]);
                chunk.shift[k] = -columns.inverse_density[i] * squared * (own + spread);
            }
            if pass.is_walled {
                for (b, column) in a.iter_mut().enumerate() {
                    for (axis, value) in column.iter_mut().enumerate() {
                        *value += columns.carried[i].col(b)[axis] - wall[i][axis] * velocity[i][b];
                    }
                }
            }
            let (motion, l) = (&mut motions[n / LANES], n % LANES);
            for (b, column) in a.iter().enumerate() {
                for (row, value) in motion.strain.iter_mut().zip(column) {
                    row[b][l] = *value;
                }
            }
            motion.exact.set(l, exact[i]);
            motion.stress.set(l, chunk.stress[k]);
            let bound = bounds[usize::from(material[i])];
            motion.slope[l] = bound.slope;
            motion.gain[l] = bound.gain;
            motion.intercept[l] = match bound.intercept {
                0.0 => 0.0,
                most => most * lump[i].w * cohesion::intact(compression[i]),
            };
        }
        for (motion, start) in motions.iter_mut().zip(batch.step_by(LANES)) {
            answer(simd, chunk, start, columns, motion, pass);
        }
    }
}

/// Computes the pressure and the stress of eight guides from number `start` of the chunk on in response to their `motion`.
#[inline(always)]
fn answer<S: Simd>(simd: S, chunk: &mut Chunk<'_>, start: usize, columns: &Columns, motion: &mut Motion, pass: Pass) {
    let Columns {
        place,
        velocity,
        wall,
        inverse_density,
        lump,
        ..
    } = columns;
    let i = chunk.first + start;
    let count = LANES.min(chunk.pressure.len() - start);
    assert!(i < place.len() && [velocity, wall, lump].iter().all(|column| column.len() == place.len()));
    let guides = std::array::from_fn(|l| (i + l).min(place.len() - 1) as u32);
    let ([x, y, z, _], [u, v, w, _], [wall_x, wall_y, wall_z, _], [_, _, own_inverse_density, _]) = (
        simd.gather8(place.as_chunks::<1>().0, 0, &guides),
        simd.gather8(velocity.as_chunks::<1>().0, 0, &guides),
        simd.gather8(wall.as_chunks::<1>().0, 0, &guides),
        simd.gather8(lump.as_chunks::<1>().0, 0, &guides),
    );
    let [[xx, _, _], [_, yy, _], [_, _, zz]] = &motion.strain;
    let apart = simd.load8(xx) + simd.load8(yy) + simd.load8(zz);
    // In the order of a scalar product of four.
    let against_wall = u * wall_x + w * wall_z + v * wall_y;
    let rate = match pass.is_ahead {
        true => eight(simd, &columns.room, i),
        false => against_wall - apart - eight(simd, &columns.inflow, i),
    };
    let (pressure, left) = pressure::corrected(
        eight(simd, chunk.pressure, start),
        eight(simd, &columns.compression, i),
        rate,
        eight(simd, &columns.diagonal, i),
        pass.goal,
    );
    let inverse_density = eight(simd, inverse_density, i);
    let wave = (pressure * own_inverse_density)
        .max(simd.splat8(f32::MIN_POSITIVE))
        .sqrt();
    let spacing = simd.splat8(pass.spacing) * eight(simd, &columns.half_support, i);
    motion.inertia = <[f32; LANES]>::from(spacing / wave);
    motion.response = <[f32; LANES]>::from(simd.splat8(pass.relaxation) * eight(simd, &columns.response, i));
    motion.pressure = <[f32; LANES]>::from(pressure);
    let turn = pass.is_first.then_some(pass.goal.step);
    let (stress, loaded) = shear::answered(simd, motion, turn);
    let mut traction = [[Vec4::ZERO; 3]; LANES];
    for (b, place) in [x, y, z].into_iter().enumerate() {
        let mut column = [
            simd.load8(&loaded[0][b]),
            simd.load8(&loaded[1][b]),
            simd.load8(&loaded[2][b]),
            place,
        ];
        column[b] -= pressure;
        scatter(simd, column, b, &mut traction);
    }
    let pushed = simd.splat8(-columns.mirror) * inverse_density * pressure;
    let (pushed, left) = (<[f32; LANES]>::from(pushed), <[f32; LANES]>::from(left));
    for l in 0..count {
        let k = start + l;
        // No branch: who is under pressure cannot be foreseen.
        let counts = f64::from(u8::from(motion.pressure[l] > 0.0));
        chunk.errors[0] += counts * f64::from((-left[l]).max(0.0));
        chunk.errors[1] += counts;
        if pass.is_judged {
            chunk.errors[2] += counts * f64::from(stress.get(l).minus(chunk.stress[k]).norm());
            chunk.errors[3] += counts * f64::from(motion.pressure[l]);
        }
        chunk.pressure[k] = motion.pressure[l];
        chunk.push[k] = pushed[l] * wall[i + l];
        chunk.stress[k] = stress.get(l);
        chunk.traction[k] = traction[l];
    }
}

/// Eight numbers of `column` from `start` on, the last one again where it ends.
#[inline(always)]
fn eight<S: Simd>(simd: S, column: &[f32], start: usize) -> f32x8<S> {
    match column[start..].first_chunk() {
        Some(lane) => simd.load8(lane),
        None => simd.load8(&std::array::from_fn(|l| column[(start + l).min(column.len() - 1)])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::pairs;
    use crate::cpu::pressure::COUPLED_RELAXATION;
    use barchan_neighbors::{Grid, Lists, jittered_lattice};
    use glam::DVec3;

    const STEP: f32 = 1e-3;

    /// A block of guides that move with `velocity`, after some passes of friction that nothing bounds. Gives their stress, and
    /// the greatest that an unopposed strain rate of 1/s makes.
    fn rubbed(velocity: impl Fn(Vec3) -> Vec3, passes: u32) -> (Vec<Sym>, Vec<Vec4>, f32) {
        let mut world = barchan_testing::world(DVec3::ZERO, barchan_testing::friction(0.5));
        let spacing = 0.04;
        for p in jittered_lattice(1000, spacing, 0.1, 3) {
            world.add_guide(p.as_dvec3(), DVec3::ZERO, 0.02, 1600.0 * spacing.powi(3), 0);
        }
        let mut columns = Columns::default();
        columns.reset(&world, 2.0);
        columns.locate(&world.guides, Vec3::ZERO);
        let (mut grid, mut lists, mut rows) = (Grid::new(), Lists::new(), Vec::new());
        grid.build(&world.guides.position, 2.0 * columns.half_support[0])
            .unwrap();
        lists.find(&grid);
        let space = Space::default();
        pairs::build(&mut rows, &lists, &mut columns, &space, STEP);
        for (v, p) in columns.base.iter_mut().zip(&world.guides.position) {
            *v = velocity(*p).extend(0.0);
        }
        columns.velocity.clone_from(&columns.base);
        let n = world.guides.len();
        let (mut stress, mut pressure) = (vec![Sym::default(); n], vec![1e-6; n]);
        let mut errors = vec![[0.0; 4]; rows.len()];
        // A pressure that neither changes nor pushes, and bounds nothing.
        columns.diagonal.fill(-1e30);
        let goal = Goal {
            step: STEP,
            density_error: 1e-3,
            iterations: [1, 1],
            gentle: 0.0,
            is_undone: false,
            relaxation: COUPLED_RELAXATION,
        };
        let bounds = [Bound {
            slope: 1e18,
            intercept: 0.0,
            gain: 0.0,
        }];
        let mut walls: Vec<ChunkWalls> = rows.iter().map(|_| ChunkWalls::none(256)).collect();
        let mut grip = vec![Vec4::ZERO; n];
        columns.push.fill(Vec4::ZERO);
        for _ in 0..passes {
            let bounds = (&*world.guides.material, &bounds[..]);
            let pass = Pass {
                goal,
                is_first: false,
                spacing: 1.0,
                relaxation: COUPLED_RELAXATION,
                is_ahead: false,
                is_judged: false,
                is_walled: false,
            };
            let held = Held {
                pressure: &mut pressure,
                stress: &mut stress,
                errors: &mut errors,
            };
            update(held, &mut columns, &rows, &space, bounds, pass);
            let rows = Some((&*rows, &space));
            integrate(&[0.0].repeat(n), &mut grip, &mut columns, &mut walls, rows, None, STEP);
        }
        let stiffest = columns.response.iter().copied().fold(0.0, f32::max);
        (stress, columns.velocity, stiffest)
    }

    #[test]
    fn a_block_that_moves_and_turns_as_one_feels_no_friction() {
        let (stress, _, stiffest) = rubbed(|p| Vec3::new(3.0, -1.0, 2.0) + Vec3::new(1.0, 2.0, -1.5).cross(p), 1);
        let largest = stress.iter().map(|s| s.norm()).fold(0.0, f32::max);
        assert!(largest < 1e-4 * stiffest, "{largest} of {stiffest}");
        let (stress, _, stiffest) = rubbed(|p| Vec3::new(p.z, 0.0, 0.0), 1);
        let least = stress.iter().map(|s| s.norm()).fold(f32::INFINITY, f32::min);
        assert!(least > 1e-2 * stiffest, "shear is felt: {least} of {stiffest}");
    }

    #[test]
    fn passes_of_unbounded_friction_stop_shear_and_never_add_energy() {
        let shear = |p: Vec3| Vec3::new((20.0 * p.z).sin(), (25.0 * p.x).cos(), (15.0 * p.y).sin());
        let energy = |v: &[Vec4]| v.iter().map(|v| f64::from(v.length_squared())).sum::<f64>();
        let mut last = energy(&rubbed(shear, 0).1);
        for passes in [1, 2, 4, 8, 16, 32] {
            let now = energy(&rubbed(shear, passes).1);
            assert!(now < 1.001 * last, "{passes} passes: {now} after {last}");
            last = now;
        }
    }
}
