//! Passes over pairs: planes, stiffnesses, impulses. Vector code is left to the compiler, which gets arrays of [`LANES`].

use glam::Vec4;
use rayon::prelude::*;

use super::pairs::{Base, LANES, Lane, Pairs, Plane};
use crate::laws::mass::Weight;
use crate::laws::{contact, friction};
use crate::{FrictionMode, PbdSettings};

/// Blocks of a task [-].
const TASK: usize = 64;

/// What a pass over pairs is told.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub friction: FrictionMode,
    /// Share of old impulses to start from [-], with the change of the time step in it.
    pub memory: f32,
    /// Factor on corrections [-].
    pub relaxation: f32,
    /// Whether inherited overlaps are left to the stabilisation.
    pub inherits: bool,
}

impl Rules {
    pub(crate) fn new(settings: &PbdSettings, step: f64, last_step: f64) -> Self {
        let remembers = settings.remembers();
        // An impulse in positions' terms goes with the square of the step.
        let scale = if last_step > 0.0 {
            (step / last_step).powi(2) as f32
        } else {
            0.0
        };
        Self {
            friction: settings.friction,
            memory: if remembers { scale } else { 0.0 },
            relaxation: settings.relaxation,
            inherits: remembers && settings.stabilisation > 0,
        }
    }
}

/// A pair counts as a contact up to this gap, of the sum of its radii [-]: passes may yet close it.
pub(crate) const SLACK: f32 = 0.02;

/// Differences of a vector column over a block of pairs.
#[inline(always)]
fn differences(base: &Base, of: &[Vec4]) -> [Lane; 3] {
    let mut d = [[0.0; LANES]; 3];
    for l in 0..LANES {
        let v = of[base.i[l] as usize] - of[base.j[l] as usize];
        (d[0][l], d[1][l], d[2][l]) = (v.x, v.y, v.z);
    }
    d
}

impl Pairs {
    /// Makes each pair a plane for the step. `at` [m] is where guides are since the search, `free` [m] how far they
    /// would go in the step. The normal is that of the start, which keeps angular momentum; the gap is exact for the free motion.
    pub(crate) fn place_planes(&mut self, at: &[Vec4], free: &[Vec4], rules: Rules) {
        let tasks = self.planes.par_chunks_mut(TASK).zip(self.bases.par_chunks(TASK));
        tasks
            .zip(self.impulse.par_chunks_mut(TASK * LANES))
            .for_each(|((planes, bases), impulse)| {
                vectorised(|| {
                    for ((plane, base), impulse) in planes.iter_mut().zip(bases).zip(impulse.as_chunks_mut().0) {
                        place_block(plane, base, impulse, at, free, rules);
                    }
                });
            });
    }

    /// Gives each contact its stiffness, and what the stabilisation's first pass pushes.
    pub(crate) fn stiffen(&mut self, weights: &[Weight]) {
        let tasks = self.planes.par_chunks_mut(TASK).zip(self.bases.par_chunks(TASK));
        let pairs = self
            .push
            .par_chunks_mut(TASK * LANES)
            .zip(self.impulse.par_chunks(TASK * LANES));
        tasks.zip(pairs).for_each(|((planes, bases), (push, impulse))| {
            vectorised(|| {
                let blocks = planes.iter_mut().zip(bases);
                let pairs = push.as_chunks_mut::<LANES>().0.iter_mut().zip(impulse.as_chunks().0);
                for ((plane, base), (push, impulse)) in blocks.zip(pairs) {
                    stiffen_block(plane, base, push, impulse, weights);
                }
            });
        });
    }

    /// A further pass of the stabilisation, with guides pushed by `pushed` [m] so far.
    pub(crate) fn push_again(&mut self, pushed: &[Vec4]) {
        let Self {
            bases, planes, push, ..
        } = self;
        let tasks = planes
            .par_chunks(TASK)
            .zip(bases.par_chunks(TASK))
            .zip(push.par_chunks_mut(TASK * LANES));
        tasks.for_each(|((planes, bases), push)| {
            for ((plane, base), push) in planes.iter().zip(bases).zip(push.as_chunks_mut::<LANES>().0) {
                let [x, y, z] = differences(base, pushed);
                for l in 0..LANES {
                    let gap = plane.start[l] + (plane.x[l] * x[l] + plane.y[l] * y[l] + plane.z[l] * z[l]);
                    let given = contact::accumulated(push[l].w, plane.stiffness[l], gap);
                    push[l] = Vec4::new(plane.x[l], plane.y[l], plane.z[l], 1.0) * given;
                }
            }
        });
    }

    /// Lets the gaps know how the stabilisation moved guides, where inherited overlaps are solved for.
    pub(crate) fn shift_gaps(&mut self, pushed: &[Vec4]) {
        let tasks = self.planes.par_chunks_mut(TASK).zip(self.bases.par_chunks(TASK));
        tasks.for_each(|(planes, bases)| {
            for (plane, base) in planes.iter_mut().zip(bases) {
                let [x, y, z] = differences(base, pushed);
                for l in 0..LANES {
                    plane.gap[l] += plane.x[l] * x[l] + plane.y[l] * y[l] + plane.z[l] * z[l];
                }
            }
        });
    }

    /// One pass over contacts and friction, with guides moved by `moved` [m] in this step so far.
    pub(crate) fn solve(&mut self, moved: &[Vec4], rules: Rules) {
        match rules.friction {
            FrictionMode::Accumulated => self.solve_with(moved, &solve_accumulated),
            FrictionMode::Sommer => self.solve_with(moved, &|plane, base, u, p| {
                solve_printed(plane, base, u, p, |reach, _| reach);
            }),
            FrictionMode::Macklin => self.solve_with(moved, &|plane, base, u, p| {
                solve_printed(plane, base, u, p, |_, gap| (-gap).max(0.0));
            }),
        }
    }

    fn solve_with(&mut self, moved: &[Vec4], law: &(impl Fn(&Plane, &Base, &[Lane; 3], &mut [Lane; 3]) + Sync)) {
        let tasks = self.planes.par_chunks(TASK).zip(self.bases.par_chunks(TASK));
        tasks
            .zip(self.impulse.par_chunks_mut(TASK * LANES))
            .for_each(|((planes, bases), impulse)| {
                vectorised(|| {
                    for ((plane, base), impulse) in planes.iter().zip(bases).zip(impulse.as_chunks_mut::<LANES>().0) {
                        let u = differences(base, moved);
                        let mut p = lanes(impulse);
                        law(plane, base, &u, &mut p);
                        for l in 0..LANES {
                            impulse[l] = Vec4::new(p[0][l], p[1][l], p[2][l], 0.0);
                        }
                    }
                });
            });
    }

    /// Deepest overlap of two guides, of the mean of their radii [-].
    pub(crate) fn deepest(&self, at: &[Vec4]) -> f32 {
        let overlap = |base: &Base| {
            let [x, y, z] = differences(base, at);
            let mut deepest = 0.0f32;
            for l in 0..LANES {
                let (x, y, z) = (base.x[l] + x[l], base.y[l] + y[l], base.z[l] + z[l]);
                let depth = base.reach[l] - (x * x + y * y + z * z).sqrt();
                deepest = deepest.max(2.0 * depth / base.reach[l].max(f32::MIN_POSITIVE));
            }
            deepest
        };
        let chunks = self.bases.par_chunks(TASK);
        chunks
            .map(|bases| bases.iter().map(overlap).fold(0.0, f32::max))
            .reduce(|| 0.0, f32::max)
    }
}

/// Runs `work` with the widest vectors of this machine. Nothing is fused or reordered, so the bits are the same on any.
#[inline(always)]
fn vectorised(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2(work: impl FnOnce()) {
            work();
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the instructions were found.
            return unsafe { with_avx2(work) };
        }
    }
    work();
}

#[inline(always)]
fn lanes(vectors: &[Vec4; LANES]) -> [Lane; 3] {
    let mut lanes = [[0.0; LANES]; 3];
    for l in 0..LANES {
        (lanes[0][l], lanes[1][l], lanes[2][l]) = (vectors[l].x, vectors[l].y, vectors[l].z);
    }
    lanes
}

#[inline(always)]
fn place_block(plane: &mut Plane, base: &Base, impulse: &mut [Vec4; LANES], at: &[Vec4], free: &[Vec4], rules: Rules) {
    let d = differences(base, at);
    let u = differences(base, free);
    let mut p = lanes(impulse);
    let mut active = [0.0; LANES];
    for l in 0..LANES {
        let (x, y, z) = (base.x[l] + d[0][l], base.y[l] + d[1][l], base.z[l] + d[2][l]);
        let length = (x * x + y * y + z * z).sqrt();
        // Coincident centres part along z: any direction will do, as long as it is always the same.
        let apart = length > 1e-12;
        let inverse = 1.0 / length.max(1e-12);
        let (nx, ny, nz) = (x * inverse, y * inverse, if apart { z * inverse } else { 1.0 });
        let (cx, cy, cz) = (x + u[0][l], y + u[1][l], z + u[2][l]);
        let start = length - base.reach[l];
        let predicted = (cx * cx + cy * cy + cz * cz).sqrt() - base.reach[l];
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let pressed = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
        let kept = if pressed > 0.0 { rules.memory } else { 0.0 };
        let inherited = if rules.inherits { start.min(0.0) } else { 0.0 };
        (plane.x[l], plane.y[l], plane.z[l]) = (nx, ny, nz);
        plane.gap[l] = predicted - along - inherited;
        plane.start[l] = start;
        let near = predicted.min(start) < SLACK * base.reach[l];
        active[l] = if near || kept > 0.0 { 1.0 } else { 0.0 };
        (p[0][l], p[1][l], p[2][l]) = (p[0][l] * kept, p[1][l] * kept, p[2][l] * kept);
    }
    for l in 0..LANES {
        // Padding has a reach of 0 and is never in contact.
        let active = if base.reach[l] > 0.0 { active[l] } else { 0.0 };
        impulse[l] = Vec4::new(p[0][l], p[1][l], p[2][l], active);
    }
}

#[inline(always)]
fn stiffen_block(
    plane: &mut Plane,
    base: &Base,
    push: &mut [Vec4; LANES],
    impulse: &[Vec4; LANES],
    weights: &[Weight],
) {
    let (mut shares, mut given) = ([0.0; LANES], [0.0; LANES]);
    for l in 0..LANES {
        shares[l] = weights[base.i[l] as usize].share + weights[base.j[l] as usize].share;
    }
    for l in 0..LANES {
        let is_contact = impulse[l].w > 0.0 && shares[l] > 0.0;
        plane.stiffness[l] = if is_contact { 1.0 / shares[l] } else { 0.0 };
        given[l] = contact::accumulated(0.0, plane.stiffness[l], plane.start[l]);
    }
    for l in 0..LANES {
        push[l] = Vec4::new(plane.x[l], plane.y[l], plane.z[l], 1.0) * given[l];
    }
}

/// Normal and tangential impulses of the whole step, each within its bound.
#[inline(always)]
fn solve_accumulated(plane: &Plane, base: &Base, u: &[Lane; 3], p: &mut [Lane; 3]) {
    for l in 0..LANES {
        let (nx, ny, nz, k) = (plane.x[l], plane.y[l], plane.z[l], plane.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let before = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
        let normal = contact::accumulated(before, k, plane.gap[l] + along);
        // Tangential impulse less its stiffness times the tangential motion: both are what is left without the normal part.
        let off = before - k * along;
        let tx = p[0][l] - k * u[0][l] - off * nx;
        let ty = p[1][l] - k * u[1][l] - off * ny;
        let tz = p[2][l] - k * u[2][l] - off * nz;
        let f = friction::coulomb(
            tx * tx + ty * ty + tz * tz,
            normal,
            base.mu_static[l],
            base.mu_kinetic[l],
        );
        p[0][l] = normal * nx + f * tx;
        p[1][l] = normal * ny + f * ty;
        p[2][l] = normal * nz + f * tz;
    }
}

/// Corrections of this pass alone, as [Sommer22] and [Macklin14] print them, added to those before.
#[inline(always)]
fn solve_printed(plane: &Plane, base: &Base, u: &[Lane; 3], p: &mut [Lane; 3], length: impl Fn(f32, f32) -> f32) {
    for l in 0..LANES {
        let (nx, ny, nz, k) = (plane.x[l], plane.y[l], plane.z[l], plane.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let gap = plane.gap[l] + along;
        let normal = contact::printed(0.0, k, gap);
        let (tx, ty, tz) = (u[0][l] - along * nx, u[1][l] - along * ny, u[2][l] - along * nz);
        let squared = tx * tx + ty * ty + tz * tz;
        let f = friction::of_length(
            squared,
            length(base.reach[l], gap),
            base.mu_static[l],
            base.mu_kinetic[l],
        );
        let rub = if gap < 0.0 { -k * f } else { 0.0 };
        p[0][l] += normal * nx + rub * tx;
        p[1][l] += normal * ny + rub * ty;
        p[2][l] += normal * nz + rub * tz;
    }
}
