//! Passes over guides: prediction, sums of impulses, velocities.

use barchan_world::{Friction, Guides};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::bodies::{BodyStep, Load};
use super::pairs::Pairs;
use super::solve::{Rules, SLACK};
use super::surface::Surface;
use super::walls::{Toucher, Wall};
use crate::Splitting;
use crate::laws::mass::Weight;

/// What the solver knows of each guide, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Where it is since the last search [m].
    pub at: Vec<Vec4>,
    /// How far it would go in this step [m].
    pub free: Vec<Vec4>,
    /// Where it was expected at the end of the step in which its neighbours were searched, since that search [m].
    pub searched: Vec<Vec4>,
    /// How far it goes in this step [m].
    pub moved: Vec<Vec4>,
    /// How far the stabilisation pushes it in this step [m].
    pub pushed: Vec<Vec4>,
    /// Inverse mass [1/kg], scaled with height if that is on.
    pub inverse_mass: Vec<f32>,
    pub weight: Vec<Weight>,
    /// How far it went in this frame [m].
    pub total: Vec<Vec3>,
    /// No body is nearer than this [m].
    pub clear: Vec<f32>,
}

impl Columns {
    /// Columns for `n` guides; those that are carried from step to step are zero.
    pub(crate) fn reset(&mut self, n: usize) {
        for column in [
            &mut self.at,
            &mut self.free,
            &mut self.searched,
            &mut self.moved,
            &mut self.pushed,
        ] {
            column.clear();
            column.resize(n, Vec4::ZERO);
        }
        self.inverse_mass.resize(n, 0.0);
        self.weight.resize(n, Weight::default());
        self.total.clear();
        self.total.resize(n, Vec3::ZERO);
        self.clear.clear();
        self.clear.resize(n, f32::NEG_INFINITY);
    }
}

/// Guides `chunk * CHUNK ..` and their contacts with bodies.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Guides that may touch a body before the next search, with the body.
    pub near: Vec<(u32, u32)>,
    pub walls: Vec<Wall>,
    /// Walls of the chunk's `k`-th guide are `first[k]..first[k + 1]`.
    pub first: Vec<u32>,
    /// What its guides give each body.
    pub loads: Vec<Load>,
}

impl Chunk {
    pub(crate) fn walls_of(&self, k: usize) -> &[Wall] {
        match self.first.get(k..k + 2) {
            Some(&[start, end]) => &self.walls[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Sums the loads of all walls, each times the momentum [-] that its guide really gets.
    fn sum_loads(&mut self, bodies: usize, factor: impl Fn(usize) -> f32) {
        self.loads.clear();
        self.loads.resize(bodies, Load::default());
        for wall in &self.walls {
            wall.load(factor(wall.guide as usize), &mut self.loads[wall.body as usize]);
        }
    }
}

/// What a pass over guides sees of the rest.
pub(crate) struct Scene<'a> {
    pub guides: &'a Guides,
    pub origin: DVec3,
    pub bodies: &'a [BodyStep],
    pub surfaces: &'a [Surface],
    /// Friction of each material on each body, a row a body.
    pub friction: &'a [Friction],
    pub materials: usize,
    pub splitting: Splitting,
    pub keeps_momentum: bool,
    pub rules: Rules,
}

impl Scene<'_> {
    fn place(&self, i: usize, at: Vec4) -> DVec3 {
        let Guides { position, offset, .. } = self.guides;
        self.origin + position[i].as_dvec3() + offset[i].as_dvec3() + at.truncate().as_dvec3()
    }

    /// Momentum that guide `i` really gets, of an impulse [-]: 1 unless masses are scaled or corrections averaged.
    fn momentum_factor(&self, i: usize, weight: Weight) -> f32 {
        if self.keeps_momentum {
            1.0
        } else {
            weight.response * self.guides.mass[i]
        }
    }

    /// Finds which guides are near which bodies: near enough to touch on their way in this step, or within `margin` [m] of it.
    /// A guide that was farther away than it and bodies went since is not asked again.
    pub(crate) fn find_near(&self, chunks: &mut [Chunk], columns: &mut Columns, margin: f64) {
        let Columns { clear, free, .. } = columns;
        let free = &*free;
        clear
            .par_chunks_mut(CHUNK)
            .zip(chunks)
            .enumerate()
            .for_each(|(c, (clear, chunk))| {
                chunk.near.clear();
                for (i, clear) in (c * CHUNK..).zip(clear) {
                    let felt = f64::from((1.0 + 2.0 * SLACK) * self.guides.radius[i] + free[i].length());
                    let reach = felt + margin;
                    if f64::from(*clear) > reach {
                        continue;
                    }
                    let place = self.place(i, Vec4::ZERO);
                    let mut nearest = f64::MAX;
                    for (b, (body, surface)) in self.bodies.iter().zip(self.surfaces).enumerate() {
                        if !body.is_present {
                            continue;
                        }
                        let mut clearance = body.clearance(place);
                        if clearance < reach {
                            clearance = surface.clearance(body.local_from(place));
                        }
                        if clearance < reach {
                            chunk.near.push((i as u32, b as u32));
                        }
                        nearest = nearest.min(clearance);
                    }
                    *clear = nearest as f32;
                }
            });
    }

    /// Finds the contacts with bodies, counts all contacts, weighs guides, and starts from the remembered impulses.
    /// `before` holds the walls of the last step, those of guide `i` under number `old[i]`.
    pub(crate) fn weigh(
        &self,
        columns: &mut Columns,
        chunks: &mut [Chunk],
        before: &[Chunk],
        old: &[u32],
        pairs: &Pairs,
    ) {
        let Columns {
            at,
            free,
            moved,
            inverse_mass,
            weight,
            ..
        } = columns;
        let (at, free, inverse_mass) = (&*at, &*free, &*inverse_mass);
        let columns = moved.par_chunks_mut(CHUNK).zip(weight.par_chunks_mut(CHUNK));
        columns
            .zip(chunks)
            .enumerate()
            .for_each(|(c, ((moved, weight), chunk))| {
                let mut near = 0;
                chunk.walls.clear();
                chunk.first.clear();
                chunk.first.push(0);
                for (k, (moved, weight)) in moved.iter_mut().zip(weight.iter_mut()).enumerate() {
                    let i = c * CHUNK + k;
                    while let Some(&(_, b)) = chunk.near.get(near).filter(|&&(guide, _)| guide as usize == i) {
                        let walls_before = if self.rules.memory > 0.0 {
                            walls_of(before, old[i])
                        } else {
                            &[]
                        };
                        self.touch(i, b, at[i], free[i], walls_before, &mut chunk.walls);
                        near += 1;
                    }
                    let own = &chunk.walls[chunk.first[k] as usize..];
                    chunk.first.push((chunk.first[k] as usize + own.len()) as u32);
                    let sum = pairs.sum_and_count(i);
                    let contacts = sum.w + own.len() as f32;
                    *weight = self.splitting.weight(inverse_mass[i], contacts, self.rules.relaxation);
                    let remembered: Vec3 = own.iter().map(|w| w.impulse).sum();
                    *moved = free[i] + (sum + remembered.extend(0.0)) * weight.response;
                }
                let factor = |i: usize| self.momentum_factor(i, weight[i - c * CHUNK]);
                chunk.sum_loads(self.bodies.len(), factor);
            });
    }

    /// Adds the planes of body `b` that guide `i` may touch in this step.
    fn touch(&self, i: usize, b: u32, at: Vec4, free: Vec4, before: &[Wall], walls: &mut Vec<Wall>) {
        let body = &self.bodies[b as usize];
        let place = self.place(i, at);
        let from = body.local_from(place);
        let to = body.local_to(place + free.truncate().as_dvec3());
        let radius = self.guides.radius[i];
        let toucher = Toucher {
            guide: i as u32,
            radius,
            free: free.truncate(),
            friction: self.friction[b as usize * self.materials + usize::from(self.guides.material[i])],
        };
        let slack = f64::from(2.0 * SLACK * radius);
        self.surfaces[b as usize].touches(from, to, f64::from(radius), slack, |touch| {
            let mut wall = Wall::new(&touch, &toucher, b, body, self.rules);
            wall.remember(before, self.rules.memory);
            walls.push(wall);
        });
    }

    /// One pass of the stabilisation over bodies, then the sum of what pushes each guide.
    pub(crate) fn push(&self, columns: &mut Columns, chunks: &mut [Chunk], pairs: &Pairs) {
        let Columns { pushed, weight, .. } = columns;
        let weight = &*weight;
        pushed
            .par_chunks_mut(CHUNK)
            .zip(chunks)
            .enumerate()
            .for_each(|(c, (pushed, chunk))| {
                for (k, pushed) in pushed.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let mut sum = pairs.sum(&pairs.push, i);
                    for wall in &mut chunk.walls[chunk.first[k] as usize..chunk.first[k + 1] as usize] {
                        wall.stabilise(pushed.truncate(), weight[i]);
                        sum += (wall.normal * wall.push).extend(0.0);
                    }
                    *pushed = sum * weight[i].response;
                }
            });
    }

    /// Lets the gaps to bodies know how the stabilisation moved guides.
    pub(crate) fn shift_gaps(&self, columns: &Columns, chunks: &mut [Chunk]) {
        for wall in chunks.iter_mut().flat_map(|c| &mut c.walls) {
            wall.shift(columns.pushed[wall.guide as usize].truncate());
        }
    }

    /// One pass over the contacts with bodies, then the sum of all impulses on each guide.
    pub(crate) fn gather(&self, columns: &mut Columns, chunks: &mut [Chunk], pairs: &Pairs, loads: bool) {
        let Columns {
            moved, free, weight, ..
        } = columns;
        let (free, weight) = (&*free, &*weight);
        moved
            .par_chunks_mut(CHUNK)
            .zip(chunks)
            .enumerate()
            .for_each(|(c, (moved, chunk))| {
                for (k, moved) in moved.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    let mut sum = pairs.sum(&pairs.impulse, i);
                    for wall in &mut chunk.walls[chunk.first[k] as usize..chunk.first[k + 1] as usize] {
                        wall.solve(
                            moved.truncate(),
                            weight[i],
                            &self.bodies[wall.body as usize],
                            self.rules,
                        );
                        sum += wall.impulse.extend(0.0);
                    }
                    *moved = free[i] + sum * weight[i].response;
                }
                if loads {
                    chunk.sum_loads(self.bodies.len(), |i| self.momentum_factor(i, weight[i]));
                }
            });
    }
}

/// The walls that guide number `i` of the last step had.
fn walls_of(chunks: &[Chunk], i: u32) -> &[Wall] {
    chunks
        .get(i as usize / CHUNK)
        .map_or(&[], |chunk| chunk.walls_of(i as usize % CHUNK))
}

/// What a pass over guides found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extremes {
    /// Farthest that a guide will be from where it was searched for [m²].
    pub since_search: f32,
    /// Longest free way in a step [m²].
    pub free: f32,
    /// Whether all is finite.
    pub is_finite: bool,
}

/// Speeds guides up by `gravity` [m/s²] and predicts their way in `step` [s].
pub(crate) fn predict(velocity: &mut [Vec3], columns: &mut Columns, gravity: Vec3, step: f32) -> Extremes {
    let Columns {
        at,
        free,
        pushed,
        searched,
        ..
    } = columns;
    let tasks = velocity
        .par_chunks_mut(CHUNK)
        .zip(at.par_chunks(CHUNK).zip(searched.par_chunks(CHUNK)));
    let tasks = tasks.zip(free.par_chunks_mut(CHUNK)).zip(pushed.par_chunks_mut(CHUNK));
    tasks
        .map(|(((velocity, (at, searched)), free), pushed)| {
            pushed.fill(Vec4::ZERO);
            let mut found = Extremes {
                is_finite: true,
                ..Extremes::default()
            };
            for (((velocity, at), searched), free) in velocity.iter_mut().zip(at).zip(searched).zip(free) {
                *velocity += gravity * step;
                *free = (*velocity * step).extend(0.0);
                found.since_search = found.since_search.max((*at + *free - *searched).length_squared());
                let squared = free.length_squared();
                found.free = found.free.max(squared);
                found.is_finite &= squared.is_finite();
            }
            found
        })
        .reduce(
            || Extremes {
                is_finite: true,
                ..Extremes::default()
            },
            |a, b| Extremes {
                since_search: a.since_search.max(b.since_search),
                free: a.free.max(b.free),
                is_finite: a.is_finite && b.is_finite,
            },
        )
}

/// Turns ways into velocities, no faster than `clamp` diameters a step, and moves guides.
pub(crate) fn finish(velocity: &mut [Vec3], radius: &[f32], columns: &mut Columns, clamp: f32, step: f32) {
    let Columns { at, moved, pushed, .. } = columns;
    let (inverse, moved, pushed) = (1.0 / step, &*moved, &*pushed);
    velocity
        .par_chunks_mut(CHUNK)
        .zip(at.par_chunks_mut(CHUNK))
        .enumerate()
        .for_each(|(c, (velocity, at))| {
            for (k, (velocity, at)) in velocity.iter_mut().zip(at).enumerate() {
                let i = c * CHUNK + k;
                let way = moved[i].truncate().clamp_length_max(clamp * 2.0 * radius[i]);
                *velocity = way * inverse;
                *at += way.extend(0.0) + pushed[i].truncate().extend(0.0);
            }
        });
}
