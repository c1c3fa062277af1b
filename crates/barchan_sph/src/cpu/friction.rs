//! Friction: the stress, bounded by pressure, that leaves the least strain rate, and what walls hold back.

use glam::{Mat3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use super::pressure::MIRROR;
use super::walls::Walls;
use crate::laws::cohesion;
use crate::laws::stress::{self, Sym};

/// Relaxation of the passes [-]: above 0.71 they diverge on a lattice.
pub(crate) const RELAXATION: f32 = 0.5;

/// s L of each guide, for `stress` [Pa].
pub(crate) fn load(stress: &[Sym], columns: &mut Columns) {
    let Columns { exact, traction, .. } = columns;
    let chunks = traction
        .par_chunks_mut(CHUNK)
        .zip(stress.par_chunks(CHUNK))
        .zip(exact.par_chunks(CHUNK));
    chunks.for_each(|((traction, stress), exact)| {
        for ((traction, stress), exact) in traction.iter_mut().zip(stress).zip(exact) {
            *traction = columns_of(stress.matrix() * exact.matrix());
        }
    });
}

fn columns_of(m: Mat3) -> [Vec4; 3] {
    [m.x_axis.extend(0.0), m.y_axis.extend(0.0), m.z_axis.extend(0.0)]
}

/// Acceleration of the guides by the stress that was loaded: a = 1/ρ Σ V (s L + s_j L_j) ∇W.
pub(crate) fn accelerate(columns: &mut Columns, rows: &[Rows], space: &Space) {
    match space.is_open() {
        true => accelerate_in::<true>(columns, rows, space),
        false => accelerate_in::<false>(columns, rows, space),
    }
}

fn accelerate_in<const OPEN: bool>(columns: &mut Columns, rows: &[Rows], space: &Space) {
    let Columns {
        place,
        lean,
        inverse_density,
        traction,
        rub,
        ..
    } = columns;
    let chunks = rub.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (rub, rows))| {
        for (k, rub) in rub.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let mut sum = times(&traction[i], lean[i]);
            for (j, slope) in rows.row(k) {
                sum += times(&traction[j], slope * space.between::<OPEN>(place[i], place[j]));
            }
            *rub = inverse_density[i] * sum;
        }
    });
}

#[inline(always)]
fn times(columns: &[Vec4; 3], v: Vec4) -> Vec4 {
    columns[0] * v.xxxx() + columns[1] * v.yyyy() + columns[2] * v.zzzz()
}

/// Velocities with pressure, friction and walls: `base` + Δt (push + rub), held back by walls.
pub(crate) fn integrate(pressure: &[f32], grip: &mut [Vec4], columns: &mut Columns, walls: &mut [Walls], step: f32) {
    let Columns {
        base,
        push,
        rub,
        velocity,
        volume,
        inverse_mass,
        ..
    } = columns;
    let chunks = velocity
        .par_chunks_mut(CHUNK)
        .zip(grip.par_chunks_mut(CHUNK))
        .zip(walls)
        .enumerate();
    chunks.for_each(|(c, ((velocity, grip), walls))| {
        for (k, velocity) in velocity.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let free = base[i] + step * (push[i] + rub[i]);
            let mut held = free.xyz();
            let mut gripped = Vec3::ZERO;
            for plane in walls.of_mut(k) {
                let pressed = MIRROR * volume[i] * inverse_mass[i] * pressure[i] * -plane.slope * step;
                gripped += plane.hold(&mut held, pressed, step);
            }
            *velocity = held.extend(0.0);
            grip[k] = (gripped / step).extend(0.0);
        }
    });
}

/// How a pass of the stress goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Part of the strain rate that it undoes [-].
    pub relaxation: f32,
    /// The step [s] over which the stress turns with the material, in the first pass of it.
    pub turned: Option<f32>,
}

/// What bounds a guide's stress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Y [-].
    pub slope: f32,
    /// What holds without pressure [Pa].
    pub intercept: f32,
}

/// One pass: s ← s + ω D⁻¹ ε̇, without its trace, back to the cone of `pressure`.
pub(crate) fn update(
    stress: &mut [Sym],
    pressure: &[f32],
    columns: &mut Columns,
    rows: &[Rows],
    space: &Space,
    bounds: (&[u8], &[Bound]),
    pass: Pass,
) {
    match space.is_open() {
        true => update_in::<true>(stress, pressure, columns, rows, space, bounds, pass),
        false => update_in::<false>(stress, pressure, columns, rows, space, bounds, pass),
    }
}

fn update_in<const OPEN: bool>(
    stress: &mut [Sym],
    pressure: &[f32],
    columns: &mut Columns,
    rows: &[Rows],
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
        response,
        traction,
        ..
    } = columns;
    let chunks = stress
        .par_chunks_mut(CHUNK)
        .zip(traction.par_chunks_mut(CHUNK))
        .zip(rows)
        .enumerate();
    chunks.for_each(|(c, ((stress, traction), rows))| {
        for (k, stress) in stress.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let bound = bounds[usize::from(material[i])];
            let mut limit = bound.slope * pressure[i];
            if bound.intercept > 0.0 {
                limit += bound.intercept * lump[i].w * cohesion::intact(compression[i]);
            }
            if limit <= 0.0 {
                *stress = Sym::default();
                traction[k] = [Vec4::ZERO; 3];
                continue;
            }
            let mut sum = [Vec4::ZERO; 3];
            for (j, slope) in rows.row(k) {
                let x = slope * space.between::<OPEN>(place[i], place[j]);
                let v = velocity[j] - velocity[i];
                sum[0] += x.xxxx() * v;
                sum[1] += x.yyyy() * v;
                sum[2] += x.zzzz() * v;
            }
            // Rows of A = Σ V ∇W (v_j - v)ᵀ; ∇v = L A.
            let a = Mat3::from_cols(sum[0].xyz(), sum[1].xyz(), sum[2].xyz()).transpose();
            let l = exact[i].matrix();
            let gradient = l * a;
            if let Some(step) = pass.turned {
                *stress = stress::turned(*stress, gradient, step);
            }
            let trial = stress.plus(pass.relaxation * response[i], Sym::of(gradient)).deviator();
            *stress = stress::returned(trial, limit);
            traction[k] = columns_of(stress.matrix() * l);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::pairs;
    use barchan_neighbors::{Grid, Lists, jittered_lattice};
    use barchan_world::{Friction, Material, Materials, World};
    use glam::DVec3;

    const STEP: f32 = 1e-3;

    /// A block of guides that move with `velocity`, all under the same pressure, after some passes of friction. Gives their stress, and
    /// the greatest that an unopposed strain rate of 1/s makes.
    fn rubbed(velocity: impl Fn(Vec3) -> Vec3, passes: u32) -> (Vec<Sym>, Vec<Vec4>, f32) {
        let sand = Material {
            name: "sand".to_owned(),
            density: 1600.0,
            grain_density: 2650.0,
            friction: Friction {
                r#static: 0.5,
                kinetic: 0.5,
            },
            angle_of_repose: None,
        };
        let materials = Materials {
            all: vec![sand],
            ..Materials::default()
        };
        let mut world = World::new(DVec3::ZERO, materials, 1);
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
        let (mut stress, pressure) = (vec![Sym::default(); n], vec![1e6; n]);
        let bounds = [Bound {
            slope: 1e6,
            intercept: 0.0,
        }];
        let mut walls: Vec<Walls> = rows.iter().map(|_| Walls::none(256)).collect();
        let mut grip = vec![Vec4::ZERO; n];
        columns.push.fill(Vec4::ZERO);
        for _ in 0..passes {
            let bounds = (&*world.guides.material, &bounds[..]);
            let pass = Pass {
                relaxation: RELAXATION,
                turned: None,
            };
            update(&mut stress, &pressure, &mut columns, &rows, &space, bounds, pass);
            accelerate(&mut columns, &rows, &space);
            integrate(&[0.0].repeat(n), &mut grip, &mut columns, &mut walls, STEP);
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
