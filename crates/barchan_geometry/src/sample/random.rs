//! Randomized grid sampling ([Sommer22] section 3.1; parallel Poisson disks after [Bowers10]).
//!
//! The cell side 2r/√3 makes the cell's diagonal 2r, so a cell contains at most one center. Each trial offers every
//! free cell one random candidate, which stays if it overlaps nothing and lies deep enough. Where Sommer runs 27 groups
//! of single cells in parallel, this code runs 8 groups of blocks of 8³ cells: equally independent, but each task works
//! in cache.
//!
//! Different radii are placed from large to small, in narrow slices, each slice up to its share of the particles: drawn
//! all at once, the small ones would prevail. An octave of radii shares a grid.

use std::collections::HashMap;
use std::ops::Range;

use glam::{DVec3, IVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::octree::{self, Containment};
use super::{Particles, Radii};
use crate::Shape;
use crate::random::Stream;

/// Candidates offered to each cell, visit by visit, at most [`LANES`] at a time. 10 in total reach a packing fraction
/// of 0.33, 40 would reach 0.355; the limit is 0.384. Once most candidates fail, several per visit find the same room
/// at lower cost.
const VISITS: [Range<u64>; 4] = [0..1, 1..2, 2..6, 6..10];
/// Candidates that are compared with a sphere at once.
const LANES: usize = 4;
/// Cells along a block's side.
const BLOCK: i32 = 8;
/// Packing fraction of mixed radii.
const MIXED_FRACTION: f64 = 0.33;
/// Ratio of the largest to the smallest radius placed at once.
const SLICE_RATIO: f64 = 1.1;
/// Largest number of trials for a slice of mixed radii to reach its share.
const MIXED_TRIALS: u64 = 24;

pub(super) fn fill(shape: &dyn Shape, radii: &Radii, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Particles {
    let mut placed = Particles::default();
    if radii.min() == radii.max() {
        let all = Slice::of(radii, radii.min(), radii.max());
        let mut level = Level::new(shape, radii, all, seed, &placed);
        for (visit, trials) in VISITS.into_iter().enumerate() {
            level.offer(all, trials, 1.0);
            progress((visit + 1) as f64 / VISITS.len() as f64);
        }
        level.append_to(&mut placed);
        return placed;
    }
    let total = MIXED_FRACTION * octree::volume(shape, radii.min()) / radii.mean_volume();
    for octave in slices(radii, radii.min(), radii.max(), 2.0) {
        let mut level = Level::new(shape, radii, octave, seed, &placed);
        for slice in slices(radii, octave.min, octave.max, SLICE_RATIO) {
            level.place(slice, (total * slice.share).round() as usize);
            progress(1.0 - slice.share_below);
        }
        level.append_to(&mut placed);
    }
    placed
}

/// A range of radii [m] and the share of particles in it and below it.
#[derive(Clone, Copy, Debug)]
struct Slice {
    min: f64,
    max: f64,
    share_below: f64,
    share: f64,
}

impl Slice {
    fn of(radii: &Radii, min: f64, max: f64) -> Self {
        let share_below = radii.share_below(min);
        // Up to and including `max`.
        let share_above = 1.0 - radii.share_below(max.next_up());
        Self {
            min,
            max,
            share_below,
            share: 1.0 - share_above - share_below,
        }
    }

    fn draw(&self, radii: &Radii, stream: &mut Stream) -> f64 {
        if self.min == self.max {
            return self.min;
        }
        let share = self.share_below + self.share * stream.unit();
        radii.quantile(share).clamp(self.min, self.max)
    }
}

/// Returns slices from `max` down to `min` [m], at most a factor `ratio` wide, without empty ones.
fn slices(radii: &Radii, min: f64, max: f64, ratio: f64) -> Vec<Slice> {
    let mut found = Vec::new();
    let mut top = max;
    loop {
        let last = top <= ratio * min;
        let bottom = if last { min } else { top / ratio };
        let slice = Slice::of(radii, bottom, top);
        if slice.share > 0.0 {
            found.push(slice);
        }
        if last {
            return found;
        }
        top = bottom.next_down();
    }
}

/// A sphere, relative to its block's corner [m].
#[derive(Clone, Copy, Debug)]
struct BlockSphere {
    center: Vec3,
    radius: f32,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// In blocks, from the smallest corner of the bounds.
    corner: IVec3,
    /// Cells that accept no more candidates: bit x + 8y of word z.
    closed: [u64; BLOCK as usize],
    /// Cells in which every point is deep enough, in the same order.
    sure: [u64; BLOCK as usize],
    /// Cells whose deep points are known to lie inside, in the same order.
    inside: [u64; BLOCK as usize],
    placed: Vec<BlockSphere>,
    /// Radii of `placed` [m], as they were drawn.
    radii: Vec<f64>,
    /// Larger spheres, of earlier octaves, that reach into the block.
    obstacles: Vec<BlockSphere>,
}

struct Level<'a> {
    shape: &'a dyn Shape,
    radii: &'a Radii,
    octave: Slice,
    seed: u64,
    origin: DVec3,
    /// Cell side [m].
    side: f64,
    blocks: Vec<Block>,
    by_corner: HashMap<IVec3, u32>,
}

impl<'a> Level<'a> {
    fn new(shape: &'a dyn Shape, radii: &'a Radii, octave: Slice, seed: u64, larger: &Particles) -> Self {
        let side = 2.0 * octave.min / 3f64.sqrt();
        let origin = shape.bounds().min;
        let corners = octree::blocks(shape, shape.bounds(), side * f64::from(BLOCK), octave.min, octave.max);
        let blocks: Vec<Block> = corners
            .par_iter()
            .map(|&(corner, containment)| {
                let mut block = Block {
                    corner,
                    ..Block::default()
                };
                match containment {
                    Containment::Inside => block.sure = [u64::MAX; BLOCK as usize],
                    _ => block.judge(shape, octave, origin, side),
                }
                block
            })
            .filter(|block| block.closed != [u64::MAX; BLOCK as usize])
            .collect();
        let by_corner = (0u32..).zip(&blocks).map(|(k, b)| (b.corner, k)).collect();
        let mut level = Self {
            shape,
            radii,
            octave,
            seed,
            origin,
            side,
            blocks,
            by_corner,
        };
        level.add_obstacles(larger);
        level
    }

    fn block_side(&self) -> f64 {
        self.side * f64::from(BLOCK)
    }

    fn corner_of(&self, block: &Block) -> DVec3 {
        self.origin + self.block_side() * block.corner.as_dvec3()
    }

    fn add_obstacles(&mut self, larger: &Particles) {
        for (&position, &radius) in larger.positions.iter().zip(&larger.radii) {
            let reach = radius + self.octave.max;
            let low = ((position - reach - self.origin) / self.block_side())
                .floor()
                .as_ivec3();
            let high = ((position + reach - self.origin) / self.block_side())
                .floor()
                .as_ivec3();
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        if let Some(&k) = self.by_corner.get(&IVec3::new(x, y, z)) {
                            let corner = self.corner_of(&self.blocks[k as usize]);
                            self.blocks[k as usize].obstacles.push(BlockSphere {
                                center: (position - corner).as_vec3(),
                                radius: radius as f32,
                            });
                        }
                    }
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.blocks.iter().map(|b| b.placed.len()).sum()
    }

    fn open_cells(&self) -> usize {
        let open = |block: &Block| block.closed.iter().map(|w| w.count_zeros() as usize).sum::<usize>();
        self.blocks.iter().map(open).sum()
    }

    /// Places `wanted` spheres of a slice, by offering to as many cells as seem necessary.
    fn place(&mut self, slice: Slice, wanted: usize) {
        let before = self.len();
        let mut acceptance = 1.0;
        for trial in 0..MIXED_TRIALS {
            let missing = (before + wanted).saturating_sub(self.len());
            let open = self.open_cells();
            if missing == 0 || open == 0 {
                return;
            }
            let part = (missing as f64 / (open as f64 * acceptance)).min(1.0);
            self.offer(slice, trial..trial + 1, part);
            let accepted = self.len() + missing - before - wanted;
            acceptance = (accepted as f64 / (part * open as f64)).clamp(1e-3, 1.0);
        }
    }

    /// Offers the candidates of some `trials` from `slice` to a random `part` of the open cells.
    fn offer(&mut self, slice: Slice, trials: Range<u64>, part: f64) {
        for color in 0..8 {
            let parity = IVec3::new(color & 1, color >> 1 & 1, color >> 2);
            // Blocks of one color never touch: taking them out allows each to be written while all others are read.
            let mut taken: Vec<(usize, Block)> = self
                .blocks
                .iter_mut()
                .enumerate()
                .filter(|(_, block)| (block.corner & IVec3::ONE) == parity)
                .map(|(k, block)| (k, std::mem::take(block)))
                .collect();
            let level = &*self;
            taken.par_iter_mut().for_each_init(Halo::default, |halo, (_, block)| {
                level.offer_to_block(block, halo, slice, trials.clone(), part);
            });
            for (k, block) in taken {
                self.blocks[k] = block;
            }
        }
    }

    fn offer_to_block(&self, block: &mut Block, halo: &mut Halo, slice: Slice, trials: Range<u64>, part: f64) {
        if block.closed == [u64::MAX; BLOCK as usize] {
            return;
        }
        halo.gather(self, block);
        for z in 0..BLOCK {
            for y in 0..BLOCK {
                for x in 0..BLOCK {
                    if block.closed[z as usize] & 1u64 << (x + BLOCK * y) == 0 {
                        self.offer_to_cell(block, halo, IVec3::new(x, y, z), slice, trials.clone(), part);
                    }
                }
            }
        }
    }

    fn offer_to_cell(
        &self,
        block: &mut Block,
        halo: &mut Halo,
        cell: IVec3,
        slice: Slice,
        trials: Range<u64>,
        part: f64,
    ) {
        let mut candidates = Candidates::default();
        for trial in trials {
            // Slices of one level must not repeat each other's candidates.
            let draw = trial ^ slice.min.to_bits().rotate_left(17);
            let mut stream = Stream::of_cell(self.seed, block.corner * BLOCK + cell, draw);
            if part >= 1.0 || stream.unit() < part {
                let center = (cell.as_vec3() + stream.unit_cube_coarse()) * self.side as f32;
                candidates.push(center, slice.draw(self.radii, &mut stream));
            }
        }
        let free = halo.free(cell, &candidates);
        let (z, bit) = (cell.z as usize, 1u64 << (cell.x + BLOCK * cell.y));
        for k in (0..candidates.count).filter(|k| free & 1 << k != 0) {
            let radius = candidates.radii[k];
            let candidate = candidates.sphere(k);
            if block.obstacles.iter().any(|&o| overlap(o, candidate)) {
                continue;
            }
            let p = self.corner_of(block) + candidate.center.as_dvec3();
            if block.sure[z] & bit != 0 || self.is_deep(block, z, bit, p, radius) {
                block.closed[z] |= bit;
                block.placed.push(candidate);
                block.radii.push(radius);
                halo.add(cell, candidate);
            }
            if block.closed[z] & bit != 0 {
                return;
            }
        }
    }

    /// Returns true if a border cell's candidate lies deep enough. Two points of a cell that are both farther from the
    /// surface than the smallest radius, half the cell's diagonal, lie on the same side of it: one evaluation of the
    /// sign suffices for the cell.
    fn is_deep(&self, block: &mut Block, z: usize, bit: u64, p: DVec3, radius: f64) -> bool {
        if self.shape.distance_within(p, radius) < radius {
            return false;
        }
        if block.inside[z] & bit != 0 {
            return true;
        }
        let inside = self.shape.is_inside(p);
        let known = if inside { &mut block.inside } else { &mut block.closed };
        known[z] |= bit;
        inside
    }

    fn append_to(self, all: &mut Particles) {
        for block in &self.blocks {
            let corner = self.corner_of(block);
            for (sphere, &radius) in block.placed.iter().zip(&block.radii) {
                all.push(corner + sphere.center.as_dvec3(), radius);
            }
        }
    }
}

impl Block {
    /// Closes the cells that lie outside and marks those that lie entirely inside, by halving the block.
    fn judge(&mut self, shape: &dyn Shape, octave: Slice, origin: DVec3, side: f64) {
        let mut stack = vec![(IVec3::ZERO, BLOCK)];
        while let Some((corner, cells)) = stack.pop() {
            let half = 0.5 * side * f64::from(cells);
            let center = origin + side * (self.corner * BLOCK + corner).as_dvec3() + half;
            let containment = if cells == BLOCK {
                Containment::Border
            } else {
                octree::classify(shape, center, half, octave.min, octave.max)
            };
            match containment {
                // Single cells are left to their candidates.
                Containment::Border if cells > 2 => {
                    let step = cells / 2;
                    stack.extend((0..8).map(|k| (corner + step * IVec3::new(k & 1, k >> 1 & 1, k >> 2), step)));
                }
                Containment::Border => {}
                Containment::Outside => mark(&mut self.closed, corner, cells),
                Containment::Inside => mark(&mut self.sure, corner, cells),
            }
        }
    }
}

/// Sets the bits of a cube of cells.
fn mark(bits: &mut [u64; BLOCK as usize], corner: IVec3, cells: i32) {
    for z in corner.z..corner.z + cells {
        for y in corner.y..corner.y + cells {
            bits[z as usize] |= ((1u64 << cells) - 1)
                .checked_shl((corner.x + BLOCK * y) as u32)
                .unwrap_or(0);
        }
    }
}

/// Slightly more than touching [-], so that rounding to f32 never leaves an overlap.
const CLEARANCE: f32 = 1.0 + 4.0 * f32::EPSILON * BLOCK as f32;

fn overlap(a: BlockSphere, b: BlockSphere) -> bool {
    let reach = (a.radius + b.radius) * CLEARANCE;
    a.center.distance_squared(b.center) < reach * reach
}

/// Cells around a block that its spheres may reach: two radii of up to twice the smallest one, in cells of 2/√3 of it.
const REACH: i32 = 4;
const HALO: i32 = BLOCK + 2 * REACH;

/// The spheres in and around one block, on a small grid.
#[derive(Default)]
struct Halo {
    spheres: Vec<BlockSphere>,
    /// Bit x of row y + HALO z: the cell contains a sphere.
    rows: Vec<u16>,
    /// Index of the sphere in each cell.
    number: Vec<u16>,
    /// Number of cells within which a sphere may overlap a candidate.
    reach: i32,
    /// Offsets in y and z to the rows within reach, nearest first.
    near_rows: Vec<(i32, i32)>,
}

impl Halo {
    fn gather(&mut self, level: &Level, block: &Block) {
        self.spheres.clear();
        self.rows.clear();
        self.rows.resize((HALO * HALO) as usize, 0);
        self.number.resize((HALO * HALO * HALO) as usize, 0);
        let reach = (2.0 * level.octave.max / level.side).ceil() as i32;
        if self.reach != reach {
            self.reach = reach;
            let rows = (-reach..=reach).flat_map(|z| (-reach..=reach).map(move |y| (y, z)));
            self.near_rows = rows.collect();
            self.near_rows.sort_by_key(|(y, z)| y * y + z * z);
        }
        let per_meter = (1.0 / level.side) as f32;
        for &sphere in &block.placed {
            self.add(
                (sphere.center * per_meter)
                    .as_ivec3()
                    .clamp(IVec3::ZERO, IVec3::splat(BLOCK - 1)),
                sphere,
            );
        }
        for k in (0..27).filter(|&k| k != 13) {
            let step = IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
            let Some(&other) = level.by_corner.get(&(block.corner + step)) else {
                continue;
            };
            let shift = step.as_vec3() * level.block_side() as f32;
            for sphere in &level.blocks[other as usize].placed {
                let cell = (sphere.center * per_meter)
                    .as_ivec3()
                    .clamp(IVec3::ZERO, IVec3::splat(BLOCK - 1))
                    + BLOCK * step;
                let near =
                    cell.cmpge(IVec3::splat(-self.reach)).all() && cell.cmplt(IVec3::splat(BLOCK + self.reach)).all();
                if near {
                    self.add(
                        cell,
                        BlockSphere {
                            center: sphere.center + shift,
                            radius: sphere.radius,
                        },
                    );
                }
            }
        }
    }

    fn add(&mut self, cell: IVec3, sphere: BlockSphere) {
        let at = cell + REACH;
        let row = (at.y + HALO * at.z) as usize;
        self.rows[row] |= 1 << at.x;
        self.number[row * HALO as usize + at.x as usize] = self.spheres.len() as u16;
        self.spheres.push(sphere);
    }

    /// Returns the candidates of a cell that overlap no sphere, one bit each.
    fn free(&self, cell: IVec3, candidates: &Candidates) -> u32 {
        let at = cell + REACH;
        let first = at.x - self.reach;
        let window = (1u32 << (2 * self.reach + 1)) - 1;
        let mut free = (1u32 << candidates.count) - 1;
        // Near rows first: most candidates fail there.
        for &(y, z) in &self.near_rows {
            let row = (at.y + y + HALO * (at.z + z)) as usize;
            let mut held = u32::from(self.rows[row]) >> first & window;
            while held != 0 {
                let x = first as usize + held.trailing_zeros() as usize;
                let sphere = self.spheres[usize::from(self.number[row * HALO as usize + x])];
                free &= !candidates.overlapping(sphere);
                held &= held - 1;
            }
            if free == 0 {
                return 0;
            }
        }
        free
    }
}

/// The candidates of one visit to a cell, one per lane.
#[derive(Default)]
struct Candidates {
    count: usize,
    x: Vec4,
    y: Vec4,
    z: Vec4,
    radius: Vec4,
    /// As they were drawn [m].
    radii: [f64; LANES],
}

impl Candidates {
    fn push(&mut self, center: Vec3, radius: f64) {
        let k = self.count;
        (self.x[k], self.y[k], self.z[k]) = (center.x, center.y, center.z);
        self.radius[k] = radius as f32;
        self.radii[k] = radius;
        self.count += 1;
    }

    fn sphere(&self, k: usize) -> BlockSphere {
        BlockSphere {
            center: Vec3::new(self.x[k], self.y[k], self.z[k]),
            radius: self.radius[k],
        }
    }

    /// Returns the candidates that overlap `other`, one bit each.
    fn overlapping(&self, other: BlockSphere) -> u32 {
        let (dx, dy, dz) = (
            self.x - other.center.x,
            self.y - other.center.y,
            self.z - other.center.z,
        );
        let reach = (self.radius + other.radius) * CLEARANCE;
        (dx * dx + dy * dy + dz * dz).cmplt(reach * reach).bitmask()
    }
}
