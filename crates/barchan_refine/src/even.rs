//! Spreading of grains from regions that are too dense.
//!
//! Interpolated velocities are not free of divergence: over seconds of flow, grains gather in some regions and thin out
//! in others. Guides that move relative to each other, or did recently, get a small additional velocity from dense
//! regions to thinner ones, and carry the grains with it. The cost is that of counting grains in cells, every few
//! frames; regions that rest or move as one are skipped.

use std::ops::Range;

use barchan_simd::{Simd, vectorized};
use barchan_world::{Archive, ArchiveError, World};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

use crate::advect::LANES;
use crate::domain::Domain;
use crate::field::Mover;
use crate::grains::Grains;
use crate::laws::{CROWDED, REACH, agitated, spreading};

/// Frames from count to count.
const EVERY: u32 = 4;
/// Side of a cell, in radii of the largest guide [-].
const SIDE: f32 = 1.0;
/// Guides, and cells, of a task [-], at least.
const TASK: usize = 1024;
const CELLS: usize = 8192;

/// Counts grains, and keeps what follows from it.
#[derive(Debug, Default)]
pub(crate) struct Evener {
    /// Frames since the last count.
    age: u32,
    /// Gradient of the density, of that of settled grains [1/m], by the guides' ids.
    gradients: Vec<Vec3>,
    /// Recent speed of guides relative to their neighbors [m/s], by id.
    agitation: Vec<f32>,
    /// True for guides without agitation in the last frame. Only serves to skip work.
    was_calm: Vec<bool>,
    /// Number, velocities and squared speeds of the guides of each cell, added up.
    stirs: Vec<(f64, DVec3, f64)>,
    counts: Vec<u32>,
    density: Vec<f32>,
    slopes: Vec<Vec3>,
    spare: Vec<f32>,
}

impl Evener {
    /// Gives `movers`, guides in the world's order, the velocities that spread `grains` over a frame of `duration` [s]. A cubic meter
    /// holds `settled` of them where they are settled.
    pub fn advance(&mut self, world: &World, grains: &Grains, settled: f32, duration: f64, movers: &mut [Mover]) {
        let known = world.next_id as usize;
        self.gradients.resize(known, Vec3::ZERO);
        self.agitation.resize(known, 0.0);
        self.was_calm.resize(known, false);
        if self.age == 0 {
            self.stir(world, movers, EVERY as f32 * duration as f32);
        }
        let is_calm = |id: u32| self.agitation[id as usize] == 0.0;
        let rests = world.guides.id.iter().all(|&id| is_calm(id));
        if self.age == 0 && !rests {
            self.count(world, grains, settled);
        }
        let (agitation, was_calm, gradients) = (&self.agitation, &self.was_calm, &self.gradients);
        let guides = movers.par_iter_mut().zip(&world.guides.id).zip(&world.guides.radius);
        guides.with_min_len(TASK).for_each(|((mover, &id), &radius)| {
            let id = id as usize;
            if agitation[id] > 0.0 {
                mover.push(spreading(gradients[id], radius, agitation[id]));
            } else if !was_calm[id] {
                mover.watch();
            }
        });
        for &id in &world.guides.id {
            self.was_calm[id as usize] = self.agitation[id as usize] == 0.0;
        }
        if !rests {
            self.age = (self.age + 1) % EVERY;
        }
    }

    /// Measures how differently guides move that are near each other. What moves as one is not stirred, however fast.
    fn stir(&mut self, world: &World, movers: &[Mover], duration: f32) {
        let side = REACH * world.guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let domain = Domain::over(movers.len(), |i| movers[i].place(), side, 8 * movers.len() + 4096);
        self.stirs.clear();
        self.stirs.resize(domain.len(), Default::default());
        for mover in movers {
            let (count, velocity, squared) = &mut self.stirs[domain.index(domain.cell(mover.place()))];
            let own = Vec3::from_array(mover.velocity).as_dvec3();
            *count += 1.0;
            *velocity += own;
            *squared += own.length_squared();
        }
        let (stirs, before) = (&self.stirs, &self.agitation);
        let stirred = |(mover, &id): (&Mover, &u32)| {
            let first = domain.cell(mover.place() - 0.5 * side);
            let (mut count, mut velocity, mut squared) = (0.0, DVec3::ZERO, 0.0);
            for corner in 0..8 {
                let cell = first + IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2);
                if cell.cmplt(domain.size()).all() {
                    let (n, v, s) = stirs[domain.index(cell)];
                    (count, velocity, squared) = (count + n, velocity + v, squared + s);
                }
            }
            let variance: f64 = squared / count - (velocity / count).length_squared();
            // Whoever stays is not stirred by a neighbor that slips.
            let speed = match mover.velocity == [0.0; 3] {
                true => 0.0,
                false => variance.max(0.0).sqrt() as f32,
            };
            agitated(before[id as usize], speed, duration)
        };
        let guides = movers.par_iter().zip(&world.guides.id);
        guides.with_min_len(TASK).map(stirred).collect_into_vec(&mut self.spare);
        for (&agitation, &id) in self.spare.iter().zip(&world.guides.id) {
            self.agitation[id as usize] = agitation;
        }
    }

    fn count(&mut self, world: &World, grains: &Grains, settled: f32) {
        let guides = &world.guides;
        // Without grains the settled density is zero, and no density is a share of it.
        if grains.is_empty() {
            self.gradients.fill(Vec3::ZERO);
            return;
        }
        let side = SIDE * guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let domain = Domain::steady(guides.len(), |i| guides.position[i], side, 16 * guides.len() + 4096);
        let n = grains.len();
        let (slice, cells) = (n.div_ceil(rayon::current_num_threads()), domain.len());
        self.counts.clear();
        self.counts.resize(n.div_ceil(slice) * cells, 0);
        self.counts.par_chunks_mut(cells).enumerate().for_each(|(s, counts)| {
            count_cells(&domain, grains, s * slice..((s + 1) * slice).min(n), counts);
        });
        let scale = 1.0 / (settled * domain.side().powi(3));
        let counts = &self.counts;
        let density = |k: usize| scale * counts[k..].iter().step_by(cells).sum::<u32>() as f32;
        let all = (0..cells).into_par_iter().with_min_len(CELLS);
        all.map(density).collect_into_vec(&mut self.density);
        self.smooth(&domain);
        let density = &self.density;
        let slopes = guides.position.par_iter().with_min_len(TASK);
        slopes
            .map(|&place| gradient(&domain, density, domain.cell(place)))
            .collect_into_vec(&mut self.slopes);
        for (&slope, &id) in self.slopes.iter().zip(&guides.id) {
            self.gradients[id as usize] = slope;
        }
    }

    /// Takes a quarter, a half and a quarter of the cells along each axis.
    fn smooth(&mut self, domain: &Domain) {
        let size = domain.size();
        for stride in [1, size.x as usize, (size.x * size.y) as usize] {
            std::mem::swap(&mut self.spare, &mut self.density);
            self.density.resize(self.spare.len(), 0.0);
            let before = &self.spare;
            let inner = stride..before.len().saturating_sub(stride);
            let parts = self.density.par_chunks_mut(CELLS).zip(before.par_chunks(CELLS));
            parts.enumerate().for_each(|(part, (density, own))| {
                density.copy_from_slice(own);
                let first = CELLS * part;
                let (start, end) = (inner.start.max(first), inner.end.min(first + own.len()));
                if start >= end {
                    return;
                }
                let sides = before[start - stride..].iter().zip(&before[start + stride..]);
                for (density, (low, high)) in density[start - first..end - first].iter_mut().zip(sides) {
                    *density = 0.5 * *density + 0.25 * (low + high);
                }
            });
        }
    }

    pub fn save(&self, archive: &mut Archive) {
        archive.put("grains.gradients", &self.gradients);
        archive.put("grains.agitation", &self.agitation);
        archive.put("grains.count_age", &[self.age]);
    }

    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        self.gradients = archive.get_f32s("grains.gradients")?;
        self.agitation = archive.get_f32s("grains.agitation")?;
        self.was_calm.clear();
        self.age = archive.get_one_fit("grains.count_age", |age| *age < EVERY)?;
        Ok(())
    }
}

vectorized! {
    /// Adds the grains of `part` to the `counts` of their cells.
    fn count_cells(domain: &Domain, grains: &Grains, part: Range<usize>, counts: &mut [u32]) = add_up
}

#[inline(always)]
fn add_up(simd: impl Simd, domain: &Domain, grains: &Grains, part: Range<usize>, counts: &mut [u32]) {
    let columns = [0, 1, 2].map(|axis| grains.position[axis][part.clone()].as_chunks::<LANES>());
    let blocks = columns[0].0.iter().zip(columns[1].0).zip(columns[2].0);
    for ((x, y), z) in blocks {
        for index in domain.indices(simd, [x, y, z]) {
            counts[index as usize] += 1;
        }
    }
    for i in part.end - columns[0].1.len()..part.end {
        counts[domain.index(domain.cell(grains.place(i)))] += 1;
    }
}

/// Gradient [1/m] of what is too much, in the cell; none at the border, whose cells hold what is outside.
fn gradient(domain: &Domain, density: &[f32], cell: IVec3) -> Vec3 {
    if cell.cmple(IVec3::ONE).any() || cell.cmpge(domain.size() - 2).any() {
        return Vec3::ZERO;
    }
    let at = |way: IVec3| density[domain.index(cell + way)].max(CROWDED);
    let slope = |way: IVec3| at(way) - at(-way);
    Vec3::new(slope(IVec3::X), slope(IVec3::Y), slope(IVec3::Z)) / (2.0 * domain.side())
}
