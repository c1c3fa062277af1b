//! Moves spheres apart until none overlap: energy minimization by FIRE ([Bitzek06]).
//!
//! Energy ½ Σ (overlap)² over pairs and walls, unit mass. Below the jamming density (0.64 for equal spheres) it reaches
//! zero.

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use barchan_neighbors::{ContactRule, Grid, Lists};
use barchan_simd::{Simd, vectorized};
use glam::Vec3;
use rayon::prelude::*;

/// Walls around the spheres.
pub(super) trait Walls: Sync {
    /// Returns the distance by which sphere `i` at `position` [m] sticks out [m] (negative inside), and the outward
    /// normal there.
    fn excess(&self, i: usize, position: Vec3) -> (f32, Vec3);
    /// Called with the positions [m] of the mobile spheres after each step.
    fn follow(&mut self, positions: &[Vec3]);
}

/// No walls.
pub(super) struct Free;

impl Walls for Free {
    fn excess(&self, _: usize, _: Vec3) -> (f32, Vec3) {
        (f32::NEG_INFINITY, Vec3::ZERO)
    }
    fn follow(&mut self, _: &[Vec3]) {}
}

/// Spheres to be moved apart; the first `mobile` of them move.
pub(super) struct Spheres {
    pub positions: Vec<Vec3>,
    pub radii: Vec<f32>,
    pub mobile: usize,
    /// Ranges [m] of the axes that are periodic.
    pub domain: [Option<[f32; 2]>; 3],
}

impl Spheres {
    /// Returns the lengths of the axes [m], infinite for those that are not periodic; `None` if no axis is periodic.
    fn periods(&self) -> Option<[f32; 3]> {
        let length = |range: Option<[f32; 2]>| range.map_or(f32::INFINITY, |[low, high]| high - low);
        self.domain.iter().any(Option::is_some).then(|| self.domain.map(length))
    }
}

/// Search margin of the neighbor lists beyond touching, in mean radii.
const SKIN: f32 = 0.3;
/// Longest step, in mean radii.
const MAX_STEP: f32 = 0.2;

/// FIRE's constants as published; time in units of the contact's √(m/k) = 1.
const STEP_START: f32 = 0.2;
const STEP_MAX: f32 = 0.8;
const STEP_GROWTH: f32 = 1.1;
const STEP_CUT: f32 = 0.5;
const MIX_START: f32 = 0.1;
const MIX_DECAY: f32 = 0.99;
const PATIENCE: u32 = 5;

/// Moves spheres until no overlap exceeds `tolerance` of the radii's sum, or `most` steps are done. Returns the worst
/// overlap of each mobile sphere.
pub(super) fn relax(
    spheres: &mut Spheres,
    walls: &mut impl Walls,
    tolerance: f32,
    most: u32,
    progress: &(dyn Fn(f64) + Sync),
) -> Vec<f32> {
    let mean_radius = spheres.radii.iter().sum::<f32>() / spheres.radii.len() as f32;
    let skin = SKIN * mean_radius;
    let mut velocities = vec![Vec3::ZERO; spheres.mobile];
    let mut forces = vec![(Vec3::ZERO, 0.0); spheres.mobile];
    let mut lists = Neighbors::new(spheres, skin);
    let (mut step, mut mix, mut downhill) = (STEP_START, MIX_START, 0);
    for done in 0..most {
        gather_forces(spheres, walls, &lists, &mut forces);
        let worst = forces.par_iter().map(|f| f.1).reduce(|| 0.0, f32::max);
        if worst <= tolerance {
            break;
        }
        let sums = sums(&velocities, &forces);
        if sums.power > 0.0 {
            let blend = mix * (sums.speed2 / sums.force2).sqrt() as f32;
            velocities
                .par_iter_mut()
                .zip(&forces)
                .for_each(|(v, f)| *v = (1.0 - mix) * *v + blend * f.0);
            downhill += 1;
            if downhill > PATIENCE {
                step = (step * STEP_GROWTH).min(STEP_MAX);
                mix *= MIX_DECAY;
            }
        } else {
            velocities.fill(Vec3::ZERO);
            step *= STEP_CUT;
            mix = MIX_START;
            downhill = 0;
        }
        let longest = MAX_STEP * mean_radius;
        spheres.positions[..spheres.mobile]
            .par_iter_mut()
            .zip(&mut velocities)
            .zip(&forces)
            .for_each(|((x, v), f)| {
                *v += step * f.0;
                *x += (step * *v).clamp_length_max(longest);
            });
        walls.follow(&spheres.positions[..spheres.mobile]);
        lists.refresh(spheres);
        progress(f64::from(done) / f64::from(most));
    }
    forces.iter().map(|f| f.1).collect()
}

struct Sums {
    power: f64,
    speed2: f64,
    force2: f64,
}

/// Sums in chunks of fixed size, so that sums do not depend on the number of threads.
fn sums(velocities: &[Vec3], forces: &[(Vec3, f32)]) -> Sums {
    let parts: Vec<[f64; 3]> = velocities
        .par_chunks(4096)
        .zip(forces.par_chunks(4096))
        .map(|(vs, fs)| {
            vs.iter().zip(fs).fold([0.0; 3], |[p, v2, f2], (v, (f, _))| {
                [
                    p + f64::from(v.dot(*f)),
                    v2 + f64::from(v.length_squared()),
                    f2 + f64::from(f.length_squared()),
                ]
            })
        })
        .collect();
    let [power, speed2, force2] = parts
        .iter()
        .fold([0.0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    Sums { power, speed2, force2 }
}

/// Neighbors whose forces are computed at once [-]; few spheres have more.
const LANES: usize = 16;
/// Spheres per task [-].
const TASK: usize = 256;

/// Computes the net force of each mobile sphere, and its worst overlap relative to the radii's sum.
fn gather_forces(spheres: &Spheres, walls: &impl Walls, lists: &Neighbors, forces: &mut [(Vec3, f32)]) {
    forces.par_chunks_mut(TASK).enumerate().for_each(|(task, forces)| {
        push_apart(spheres, lists, task * TASK, forces);
        for (i, (force, worst)) in (task * TASK..).zip(forces) {
            let (excess, normal) = walls.excess(i, spheres.positions[i]);
            if excess > 0.0 {
                *force -= excess * normal;
                *worst = worst.max(excess / (2.0 * spheres.radii[i]));
            }
        }
    });
}

vectorized! {
    /// Computes the part of [`gather_forces`] between spheres, for those from `first` on.
    fn push_apart(spheres: &Spheres, lists: &Neighbors, first: usize, forces: &mut [(Vec3, f32)]) = push_all_apart
}

#[inline(always)]
fn push_all_apart(_: impl Simd, spheres: &Spheres, lists: &Neighbors, first: usize, forces: &mut [(Vec3, f32)]) {
    let periods = spheres.periods();
    for (i, (force, worst)) in (first..).zip(forces) {
        let own = (spheres.positions[i], spheres.radii[i]);
        (*force, *worst) = (Vec3::ZERO, 0.0);
        for others in lists.of(i).chunks(LANES) {
            let (pushes, overlap) = pushes(spheres, periods, own, others);
            // Summed in scalar order; lanes that are empty or do not touch add zero.
            for l in 0..others.len() {
                *force += Vec3::new(pushes[0][l], pushes[1][l], pushes[2][l]);
            }
            *worst = worst.max(overlap);
        }
    }
}

/// Returns the forces of up to sixteen spheres on the one at `x` of radius `r`, as columns, and the worst overlap.
#[inline(always)]
fn pushes(
    spheres: &Spheres,
    periods: Option<[f32; 3]>,
    (x, r): (Vec3, f32),
    others: &[u32],
) -> ([[f32; LANES]; 3], f32) {
    let mut away = [[0.0; LANES]; 3];
    let mut touching = [0.0; LANES];
    for (l, &j) in others.iter().enumerate() {
        let position = spheres.positions[j as usize];
        for axis in 0..3 {
            away[axis][l] = x[axis] - position[axis];
        }
        touching[l] = r + spheres.radii[j as usize];
    }
    if let Some(periods) = periods {
        for (away, period) in away.iter_mut().zip(periods) {
            for away in away {
                // Spheres drift out of the domain by far less than its length.
                let images = if away.abs() < 0.5 * period { 0.0 } else { period };
                *away -= images.copysign(*away);
            }
        }
    }
    let mut overlaps = [0.0; LANES];
    for l in 0..LANES {
        let [x, y, z] = [away[0][l], away[1][l], away[2][l]];
        let squared = x * x + y * y + z * z;
        let length = squared.sqrt().max(1e-6 * touching[l]);
        let overlap = touching[l] - length;
        let is_apart = squared >= touching[l] * touching[l];
        let push = if is_apart { 0.0 } else { overlap / length };
        for axis in 0..3 {
            away[axis][l] *= push;
        }
        overlaps[l] = if is_apart { 0.0 } else { overlap / touching[l] };
    }
    (away, overlaps.into_iter().fold(0.0, |a, b| if b > a { b } else { a }))
}

/// Neighbor lists with a search margin, rebuilt when spheres have moved that far.
pub(super) struct Neighbors {
    grid: Grid,
    lists: Lists,
    rule: ContactRule,
    found_at: Vec<Vec3>,
}

impl Neighbors {
    /// Searches the spheres closer than `skin` [m] to touching.
    pub fn new(spheres: &Spheres, skin: f32) -> Self {
        let ranges = spheres.domain.map(|range| range.map(|[low, high]| low..high));
        let grid = Grid::periodic(ranges).expect("finite ranges");
        let mut found = Self {
            grid,
            lists: Lists::new(),
            rule: ContactRule {
                scale: 1.0,
                margin: skin,
            },
            found_at: Vec::new(),
        };
        found.find(spheres);
        found
    }

    fn find(&mut self, spheres: &Spheres) {
        let finite = "radii were checked and forces are finite";
        let reach = self.rule.largest_reach(&spheres.radii).expect(finite);
        self.grid.build(&spheres.positions, reach).expect(finite);
        self.lists
            .find_contacts(&self.grid, &spheres.radii, self.rule)
            .expect(finite);
        self.found_at.clear();
        self.found_at.extend_from_slice(&spheres.positions[..spheres.mobile]);
    }

    fn refresh(&mut self, spheres: &Spheres) {
        let moved = spheres.positions[..spheres.mobile]
            .par_iter()
            .zip(&self.found_at)
            .map(|(now, then)| now.distance_squared(*then))
            .reduce(|| 0.0, f32::max);
        if moved.sqrt() > 0.5 * self.rule.margin {
            self.find(spheres);
        }
    }

    /// Returns the neighbors of sphere `i`.
    pub fn of(&self, i: usize) -> &[u32] {
        self.lists.of(i)
    }
}
