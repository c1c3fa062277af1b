//! Neighbor lists in compressed rows.

use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::grid::{bounding_box, check_count};
use crate::kernel::Test;
use crate::search::{Queries, Rows, Search};
use crate::sort::PAD;
use barchan_simd::Level;

use crate::{Error, Grid};

/// Chunks, the units of parallel work, that rows are dealt into [-], as far as [`CHUNK`] allows.
const CHUNKS: usize = 16;
/// Rows of one chunk [-], at least and at most.
const CHUNK: std::ops::RangeInclusive<usize> = 64..=1024;

/// Pairs of spheres are near if their centers are closer than `scale * (ri + rj) + margin`, computed in f32.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactRule {
    /// Factor on the sum of the radii [-], >= 0.
    pub scale: f32,
    /// Length added [m], >= 0.
    pub margin: f32,
}

impl ContactRule {
    /// Reach of a pair [m].
    pub fn reach(self, radius: f32, other: f32) -> f32 {
        self.scale * (radius + other) + self.margin
    }

    /// Reach of two of the largest spheres [m], which a grid must be built for.
    pub fn largest_reach(self, radii: &[f32]) -> Result<f32, Error> {
        let largest = self.largest(radii)?;
        Ok(self.reach(largest, largest))
    }

    fn largest(self, radii: &[f32]) -> Result<f32, Error> {
        let Self { scale, margin } = self;
        let good = |value: f32| value.is_finite() && value >= 0.0;
        if !good(scale) || !good(margin) {
            return Err(Error::Rule { scale, margin });
        }
        match radii.iter().position(|&radius| !good(radius)) {
            Some(index) => Err(Error::Radius {
                index,
                radius: radii[index],
            }),
            None => Ok(radii.iter().copied().fold(0.0, f32::max)),
        }
    }
}

/// Neighbor lists: one row per query, in the order of cells and, within a cell, of the input. All indices are the
/// caller's. Searching again reuses all memory.
#[derive(Debug)]
pub struct Lists {
    level: Level,
    count: usize,
    /// Rows in sorted order. Those beyond `count` are spare.
    chunks: Vec<Rows>,
    /// Rows of each chunk but the last [-].
    chunk: usize,
    /// Sorted place of each query.
    slots: Vec<AtomicU32>,
    radii: Vec<f32>,
}

/// All rows in one array, by input index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Csr {
    /// Row `i` is `indices[offsets[i]..offsets[i + 1]]`.
    pub offsets: Vec<usize>,
    /// Neighbors of all rows.
    pub indices: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self::new()
    }
}

impl Lists {
    /// No lists yet, to be found with the best instructions of this machine.
    pub fn new() -> Self {
        Self {
            level: Level::best(),
            count: 0,
            chunks: Vec::new(),
            chunk: *CHUNK.end(),
            slots: Vec::new(),
            radii: Vec::new(),
        }
    }

    /// The same with given instructions; with the best available ones if this machine lacks them.
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = if level.is_available() { level } else { Level::best() };
        self
    }

    /// Finds the neighbors of each point of `grid`, itself left out: all within the reach of the grid.
    pub fn find(&mut self, grid: &Grid) {
        self.run(grid, Queries::Own, None);
    }

    /// Finds the points of `grid` near each of `points` [m]. Consecutive points in one cell are searched together, so
    /// sorted points are the fastest.
    pub fn find_for(&mut self, points: &[Vec3], grid: &Grid) -> Result<(), Error> {
        check_count(points.len())?;
        bounding_box(points)?;
        self.run(grid, Queries::Given(points), None);
        Ok(())
    }

    /// Finds the points of `grid` near each point of `sorted`, in the order of the latter: the fastest way for two large
    /// sets, best with the same reach in both.
    pub fn find_between(&mut self, sorted: &Grid, grid: &Grid) {
        self.run(grid, Queries::Sorted(sorted), None);
    }

    /// Finds the pairs of spheres of `radii` [m] at the points of `grid` that are near by `rule`.
    pub fn find_contacts(&mut self, grid: &Grid, radii: &[f32], rule: ContactRule) -> Result<(), Error> {
        check_radii(grid.len(), radii)?;
        let largest = rule.largest(radii)?;
        self.run_contacts(grid, Queries::Own, radii, radii, rule, (largest, largest))
    }

    /// Finds the spheres of `radii` [m] at the points of `grid` that are near the spheres of `query_radii` [m] at
    /// `points` [m] by `rule`.
    pub fn find_contacts_for(
        &mut self,
        points: &[Vec3],
        query_radii: &[f32],
        grid: &Grid,
        radii: &[f32],
        rule: ContactRule,
    ) -> Result<(), Error> {
        check_count(points.len())?;
        bounding_box(points)?;
        check_radii(points.len(), query_radii)?;
        check_radii(grid.len(), radii)?;
        let largest = (rule.largest(query_radii)?, rule.largest(radii)?);
        self.run_contacts(grid, Queries::Given(points), query_radii, radii, rule, largest)
    }

    /// Number of rows [-].
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Neighbors in all rows [-]: each pair of one set counts twice.
    pub fn pair_count(&self) -> usize {
        self.chunks().iter().map(Rows::pair_count).sum()
    }

    /// Neighbors of query `index`.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn of(&self, index: usize) -> &[u32] {
        let slot = self.slots[..self.count][index].load(Relaxed) as usize;
        self.chunks[slot / self.chunk].row(slot % self.chunk)
    }

    /// The rows in sorted order, in chunks to work on in parallel.
    pub fn chunks(&self) -> &[Rows] {
        &self.chunks[..self.count.div_ceil(self.chunk)]
    }

    /// Each query's index and its neighbors, in sorted order.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.chunks().iter().flat_map(Rows::iter)
    }

    /// A copy in one array, by input index.
    pub fn to_csr(&self) -> Csr {
        let mut csr = Csr {
            offsets: Vec::with_capacity(self.count + 1),
            indices: Vec::with_capacity(self.pair_count()),
        };
        csr.offsets.push(0);
        for i in 0..self.count {
            csr.indices.extend_from_slice(self.of(i));
            csr.offsets.push(csr.indices.len());
        }
        csr
    }

    fn run_contacts(
        &mut self,
        grid: &Grid,
        queries: Queries<'_>,
        query_radii: &[f32],
        radii: &[f32],
        rule: ContactRule,
        largest: (f32, f32),
    ) -> Result<(), Error> {
        let needed = rule.reach(largest.0, largest.1);
        if needed > grid.reach() {
            return Err(Error::GridReach {
                built: grid.reach(),
                needed,
            });
        }
        self.radii.resize(grid.len() + PAD, 0.0);
        grid.permute(radii, &mut self.radii[..grid.len()]);
        self.run(grid, queries, Some((query_radii, rule)));
        Ok(())
    }

    fn run(&mut self, grid: &Grid, queries: Queries<'_>, spheres: Option<(&[f32], ContactRule)>) {
        let rule = spheres.map_or(
            ContactRule {
                scale: 0.0,
                margin: 0.0,
            },
            |(_, rule)| rule,
        );
        let search = Search {
            grid,
            queries,
            test: Test {
                reach: grid.reach(),
                scale: rule.scale,
                margin: rule.margin,
                lengths: grid.axes.lengths(),
            },
            query_radii: spheres.map_or(&[], |(radii, _)| radii),
            radii: if spheres.is_some() { &self.radii } else { &[] },
            level: self.level,
        };
        self.count = search.count();
        self.chunk = (self.count / CHUNKS).clamp(*CHUNK.start(), *CHUNK.end());
        let used = self.count.div_ceil(self.chunk);
        if self.chunks.len() < used {
            self.chunks.resize_with(used, Rows::default);
        }
        if self.slots.len() < self.count {
            self.slots.resize_with(self.count, AtomicU32::default);
        }
        let (count, size, slots) = (self.count, self.chunk, &self.slots);
        self.chunks[..used]
            .par_iter_mut()
            .enumerate()
            .for_each(|(chunk, rows)| {
                let first = chunk * size;
                search.fill(first..count.min(first + size), rows);
                for (slot, &id) in (first as u32..).zip(rows.ids()) {
                    slots[id as usize].store(slot, Relaxed);
                }
            });
    }
}

fn check_radii(points: usize, radii: &[f32]) -> Result<(), Error> {
    if points == radii.len() {
        Ok(())
    } else {
        Err(Error::RadiusCount {
            points,
            radii: radii.len(),
        })
    }
}
