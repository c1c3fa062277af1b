//! From a grid to rows of neighbours: queries are taken in blocks that share their candidates.

use glam::Vec3;
use std::ops::Range;

use crate::grid::{Grid, Layout, MAX_RUNS, Runs};
use crate::kernel::{self, BLOCK, Block, Segment, Simd, Test};
use crate::sort::PAD;

/// Candidates [-] of a block that are copied side by side. The copies of more would leave the level-1 cache, and their
/// runs are long enough to be searched in place.
const GATHERED: usize = 512;
/// A block takes in further cells of its row until it has this many queries [-], which then pay for the copies.
const BLOCK_QUERIES: u32 = 6;
/// Cells [-] of a block, at most: each adds nine cells of candidates to all its queries.
const BLOCK_CELLS: i64 = 4;

/// Who asks.
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
    pub(crate) simd: Simd,
}

/// Rows of neighbours of some consecutive queries.
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

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Each query's input index and its neighbours, in sorted order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &[u32])> {
        self.ids.iter().enumerate().map(|(k, &id)| (id, self.row(k)))
    }

    /// Neighbours in all rows [-].
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

/// Candidates copied side by side.
struct Gathered {
    x: [f32; GATHERED + 2 * PAD],
    y: [f32; GATHERED + 2 * PAD],
    z: [f32; GATHERED + 2 * PAD],
    radius: [f32; GATHERED + 2 * PAD],
    id: [u32; GATHERED + 2 * PAD],
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
        let mut gathered = Gathered {
            x: [0.0; GATHERED + 2 * PAD],
            y: [0.0; GATHERED + 2 * PAD],
            z: [0.0; GATHERED + 2 * PAD],
            radius: [0.0; GATHERED + 2 * PAD],
            id: [0; GATHERED + 2 * PAD],
        };
        let (mut block, mut runs) = (Block::default(), Runs::default());
        let mut slot = slots.start;
        while slot < slots.end {
            let (cell, width) = self.take_block(slot..slots.end, &mut block, &mut rows.ids);
            slot += block.len;
            self.grid.runs(cell, width, &mut runs);
            if runs.points <= GATHERED && block.len > 1 {
                let segment = gathered.fill::<RADII>(self, &runs);
                kernel::rows::<RADII, PERIODIC>(
                    self.simd,
                    &self.test,
                    &block,
                    &[segment],
                    &mut rows.indices,
                    &mut rows.ends,
                );
            } else {
                let mut segments = [self.segment(0..0); MAX_RUNS];
                let mut len = 0;
                for run in runs.iter() {
                    segments[len] = self.segment(run.start as usize..run.end as usize);
                    len += 1;
                }
                let segments = &segments[..len];
                kernel::rows::<RADII, PERIODIC>(
                    self.simd,
                    &self.test,
                    &block,
                    segments,
                    &mut rows.indices,
                    &mut rows.ends,
                );
            }
        }
    }

    /// Takes queries that lie in the same few cells from the front of `slots`; gives the first cell and their number.
    fn take_block(&self, slots: Range<usize>, block: &mut Block, ids: &mut Vec<u32>) -> ([i64; 3], i64) {
        block.len = 0;
        let (id, point) = self.query(slots.start);
        let cell = self.grid.axes.cell(point);
        self.push(block, id, point, ids);
        if let (Queries::Own, Layout::Box { low, size }) = (self.queries, self.grid.layout) {
            let (end, width) = self.own_block(slots.start as u32, cell, cell[0] - low[0], size[0]);
            let end = slots.end.min(slots.start + BLOCK).min(end as usize);
            for slot in slots.start + 1..end {
                let (id, point) = self.query(slot);
                self.push(block, id, point, ids);
            }
            return (cell, width);
        }
        for slot in slots.start + 1..slots.end.min(slots.start + BLOCK) {
            let (id, point) = self.query(slot);
            if self.grid.axes.cell(point) != cell {
                break;
            }
            self.push(block, id, point, ids);
        }
        (cell, 1)
    }

    /// Where a block that starts at `slot` ends, and how many cells of its row it takes.
    fn own_block(&self, slot: u32, cell: [i64; 3], x: i64, row: i64) -> (u32, i64) {
        let key = self.grid.layout.key(cell) as usize;
        let bounds = &self.grid.columns.bounds[key + 1..];
        let most = BLOCK_CELLS.min(row - x);
        let mut width = 1;
        while width < most && bounds[width as usize - 1] - slot < BLOCK_QUERIES {
            width += 1;
        }
        (bounds[width as usize - 1], width)
    }

    fn query(&self, slot: usize) -> (u32, Vec3) {
        match self.queries {
            Queries::Own => (self.grid.columns.id[slot], self.grid.columns.position(slot)),
            Queries::Sorted(grid) => (grid.columns.id[slot], self.grid.axes.wrap(grid.columns.position(slot))),
            Queries::Given(points) => (slot as u32, self.grid.axes.wrap(points[slot])),
        }
    }

    fn push(&self, block: &mut Block, id: u32, point: Vec3, ids: &mut Vec<u32>) {
        let q = block.len;
        (block.x[q], block.y[q], block.z[q]) = (point.x, point.y, point.z);
        // No point has the last index, so another set skips nothing.
        block.skip[q] = if matches!(self.queries, Queries::Own) {
            id
        } else {
            u32::MAX
        };
        if let Some(&radius) = self.query_radii.get(id as usize) {
            block.radius[q] = radius;
        }
        block.len += 1;
        ids.push(id);
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

impl Gathered {
    fn fill<const RADII: bool>(&mut self, search: &Search<'_>, runs: &Runs) -> Segment<'_> {
        let mut at = 0;
        for run in runs.iter() {
            let from = search.segment(run.start as usize..run.end as usize);
            copy(from.x, &mut self.x[at..], from.len);
            copy(from.y, &mut self.y[at..], from.len);
            copy(from.z, &mut self.z[at..], from.len);
            copy(from.id, &mut self.id[at..], from.len);
            if RADII {
                copy(from.radius, &mut self.radius[at..], from.len);
            }
            at += from.len;
        }
        // Whole vectors only: the rest of the last one is infinitely far away.
        self.x[at..at + PAD].fill(f32::INFINITY);
        let len = at.next_multiple_of(PAD);
        Segment {
            x: &self.x,
            y: &self.y,
            z: &self.z,
            radius: &self.radius,
            id: &self.id,
            len,
        }
    }
}

/// Copies at least `len` elements, in steps of fixed size, which the padding of both sides allows.
#[inline]
fn copy<T: Copy>(from: &[T], to: &mut [T], len: usize) {
    const STEP: usize = 8;
    let steps = len.div_ceil(STEP);
    for (to, from) in to[..steps * STEP]
        .chunks_exact_mut(STEP)
        .zip(from[..steps * STEP].chunks_exact(STEP))
    {
        to.copy_from_slice(from);
    }
}
