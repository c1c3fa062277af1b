//! From a grid to rows of neighbors: queries are taken in blocks that share their candidates.

use glam::Vec3;
use std::ops::Range;

use crate::grid::{Grid, Layout, MAX_RUNS, Runs};
use crate::kernel::{self, Block, Gathered, Segment, Test};
use barchan_simd::Level;

/// Queries that share their candidates [-], at most.
const BLOCK: usize = 32;
/// A block takes in further cells of its row until it has this many queries [-], which then pay for the copies.
const BLOCK_QUERIES: usize = 6;
/// Cells [-] of a block, at most: each adds nine cells of candidates to all its queries.
const BLOCK_CELLS: i64 = 8;

/// Query points of a search.
#[derive(Clone, Copy)]
pub(crate) enum Queries<'a> {
    /// The points of the searched grid themselves, in sorted order.
    Own,
    /// The points of another grid, in its sorted order.
    Sorted(&'a Grid),
    /// Points in the caller's order.
    Given(&'a [Vec3]),
}

/// One search.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) queries: Queries<'a>,
    pub(crate) test: Test,
    /// Radii [m] of the queries, in input order; empty where radii play no part.
    pub(crate) query_radii: &'a [f32],
    /// Radii [m] of the grid's points, in sorted order and padded; empty where radii play no part.
    pub(crate) radii: &'a [f32],
    pub(crate) level: Level,
}

/// Rows of neighbors of some consecutive queries.
#[derive(Debug, Default)]
pub struct Rows {
    ids: Vec<u32>,
    ends: Vec<usize>,
    indices: Vec<u32>,
}

impl Rows {
    /// Number of rows [-].
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Each query's input index and its neighbors, in sorted order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &[u32])> {
        self.ids.iter().enumerate().map(|(k, &id)| (id, self.row(k)))
    }

    /// Neighbors in all rows [-].
    pub fn pair_count(&self) -> usize {
        self.indices.len()
    }

    pub(crate) fn row(&self, k: usize) -> &[u32] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.indices[start..self.ends[k]]
    }

    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }
}

/// Queries that lie in the same few cells of a row.
struct Taken {
    count: usize,
    first_cell: [i64; 3],
    cells: i64,
}

/// Queries of another set, copied into columns.
#[derive(Default)]
struct Copied {
    x: [f32; BLOCK],
    y: [f32; BLOCK],
    z: [f32; BLOCK],
    radius: [f32; BLOCK],
}

impl Search<'_> {
    pub(crate) fn count(&self) -> usize {
        match self.queries {
            Queries::Own => self.grid.len(),
            Queries::Sorted(grid) => grid.len(),
            Queries::Given(points) => points.len(),
        }
    }

    /// Fills `rows` with the rows of the queries `slots`.
    pub(crate) fn fill(&self, slots: Range<usize>, rows: &mut Rows) {
        match (self.query_radii.is_empty(), self.grid.axes.is_periodic()) {
            (true, false) => self.fill_with::<false, false>(slots, rows),
            (true, true) => self.fill_with::<false, true>(slots, rows),
            (false, false) => self.fill_with::<true, false>(slots, rows),
            (false, true) => self.fill_with::<true, true>(slots, rows),
        }
    }

    fn fill_with<const RADII: bool, const PERIODIC: bool>(&self, slots: Range<usize>, rows: &mut Rows) {
        rows.ids.clear();
        rows.ends.clear();
        rows.indices.clear();
        let (mut gathered, mut runs, mut copied) = (Gathered::new(), Runs::default(), Copied::default());
        let mut slot = slots.start;
        while slot < slots.end {
            let taken = self.take(slot..slots.end, &mut copied, &mut rows.ids);
            let block = self.block::<RADII>(slot..slot + taken.count, &copied);
            self.grid.runs(taken.first_cell, taken.cells, &mut runs);
            let (indices, ends) = (&mut rows.indices, &mut rows.ends);
            if taken.count > 1 && self.gather::<RADII>(&runs, slot, &mut gathered) {
                kernel::gathered_rows::<RADII, PERIODIC>(self.level, &self.test, &block, &gathered, indices, ends);
            } else {
                let mut segments = [self.segment(0..0); MAX_RUNS];
                let used = runs
                    .iter()
                    .zip(&mut segments)
                    .map(|(run, segment)| *segment = self.segment(run))
                    .count();
                kernel::rows::<RADII, PERIODIC>(self.level, &self.test, &block, &segments[..used], indices, ends);
            }
            slot += taken.count;
        }
    }

    /// Takes queries that lie in the same few cells from the front of `slots`.
    fn take(&self, slots: Range<usize>, copied: &mut Copied, ids: &mut Vec<u32>) -> Taken {
        let most = slots.len().min(BLOCK);
        if let Queries::Own = self.queries {
            let taken = self.take_own(slots.start, most);
            ids.extend_from_slice(&self.grid.columns.id[slots.start..slots.start + taken.count]);
            return taken;
        }
        let mut first_cell = None;
        let mut count = 0;
        for slot in slots.start..slots.start + most {
            let (id, point) = match self.queries {
                Queries::Sorted(grid) => (grid.columns.id[slot], grid.columns.position(slot)),
                Queries::Given(points) => (slot as u32, points[slot]),
                Queries::Own => unreachable!("taken above"),
            };
            let point = self.grid.axes.wrap(point);
            let cell = self.grid.axes.cell(point);
            if *first_cell.get_or_insert(cell) != cell {
                break;
            }
            (copied.x[count], copied.y[count], copied.z[count]) = (point.x, point.y, point.z);
            copied.radius[count] = self.query_radii.get(id as usize).copied().unwrap_or_default();
            ids.push(id);
            count += 1;
        }
        Taken {
            count,
            first_cell: first_cell.unwrap_or_default(),
            cells: 1,
        }
    }

    fn take_own(&self, slot: usize, most: usize) -> Taken {
        let cell_of = |slot| self.grid.axes.cell(self.grid.columns.position(slot));
        let first_cell = cell_of(slot);
        let Layout::Box { low, size } = self.grid.layout else {
            let count = (1..most).find(|&k| cell_of(slot + k) != first_cell).unwrap_or(most);
            return Taken {
                count,
                first_cell,
                cells: 1,
            };
        };
        let key = self.grid.layout.key(first_cell) as usize;
        let bounds = &self.grid.columns.bounds[key + 1..];
        let most_cells = BLOCK_CELLS.min(size[0] - (first_cell[0] - low[0]));
        let mut cells = 1;
        while cells < most_cells && (bounds[cells as usize - 1] as usize) < slot + BLOCK_QUERIES {
            cells += 1;
        }
        Taken {
            count: most.min(bounds[cells as usize - 1] as usize - slot),
            first_cell,
            cells,
        }
    }

    fn block<'b, const RADII: bool>(&'b self, slots: Range<usize>, copied: &'b Copied) -> Block<'b> {
        let columns = &self.grid.columns;
        if let Queries::Own = self.queries {
            let radius = if RADII { &self.radii[slots.clone()] } else { &[] };
            let (x, y, z) = (
                &columns.x[slots.clone()],
                &columns.y[slots.clone()],
                &columns.z[slots.clone()],
            );
            return Block {
                x,
                y,
                z,
                radius,
                own: &columns.id[slots],
            };
        }
        let count = slots.len();
        let (x, y, z) = (&copied.x[..count], &copied.y[..count], &copied.z[..count]);
        Block {
            x,
            y,
            z,
            radius: &copied.radius[..count],
            own: &[],
        }
    }

    /// Copies the candidates side by side; false if they are too many.
    fn gather<const RADII: bool>(&self, runs: &Runs, slot: usize, gathered: &mut Gathered) -> bool {
        let own = matches!(self.queries, Queries::Own);
        gathered.clear();
        for run in runs.iter() {
            if !gathered.has_room(run.len()) {
                return false;
            }
            if own && run.contains(&slot) {
                gathered.set_own(gathered.len() + slot - run.start);
            }
            gathered.push::<RADII>(&self.grid.columns, self.radii, run);
        }
        gathered.finish();
        true
    }

    fn segment(&self, run: Range<usize>) -> Segment<'_> {
        let columns = &self.grid.columns;
        Segment {
            x: &columns.x[run.start..],
            y: &columns.y[run.start..],
            z: &columns.z[run.start..],
            radius: self.radii.get(run.start..).unwrap_or_default(),
            id: &columns.id[run.start..],
            len: run.len(),
        }
    }
}
