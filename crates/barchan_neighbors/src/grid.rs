//! Points sorted into cells.

use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

use crate::Error;
use crate::axes::{Axes, Period, nearest_image};
use crate::sort::{Columns, Sorter};

/// A bounding box of at most this many cells per point [-] is addressed directly, a larger one by a hash.
const CELLS_PER_POINT: u128 = 4;
/// Cells [-] that any box may have, however few points there are.
const FREE_CELLS: u128 = 4096;
/// Logarithm of the side [-] of a group, a cube of cells that is hashed as one and lies in one piece of the table. Rows of
/// four cells instead, which scatter neighbors over all memory, took twice as long with a million points.
const GROUP_BITS: u32 = 2;
/// Logarithm of the number of cells of a group [-].
const GROUP_CELLS_BITS: u32 = 3 * GROUP_BITS;
/// A query block looks at up to 27 cells, each row of which may be split in two by a periodic boundary.
pub(crate) const MAX_RUNS: usize = 27;

/// Lookup of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cells {
    /// Directly while the bounding box is small enough, else by a table of about two places per point.
    #[default]
    Auto,
    /// Always by a hash table of `2^log2_size` places. Results are the same for any size.
    Table {
        /// Logarithm of the number of places [-], 6 to 31; other values are clamped.
        log2_size: u32,
    },
}

/// Points sorted into cells of the size of a reach, ready to be searched.
///
/// The domain is unbounded. Points may lie anywhere: where their bounding box has too many cells, cells are hashed.
/// Building again reuses all memory.
#[derive(Debug)]
pub struct Grid {
    periods: [Option<Period>; 3],
    cells: Cells,
    reach: f32,
    count: usize,
    pub(crate) axes: Axes,
    pub(crate) layout: Layout,
    pub(crate) columns: Columns,
    sorter: Sorter,
}

/// From cell coordinates to the key of the sort.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// Linear cell number in a box, x fastest.
    Box { low: [i64; 3], size: [i64; 3] },
    /// Hash of a group of cells modulo `groups` (a power of two), then the cell in its group, x fastest.
    Table { groups: u64 },
}

impl Default for Grid {
    fn default() -> Self {
        Self::new()
    }
}

impl Grid {
    /// An empty grid of an unbounded domain.
    pub fn new() -> Self {
        let periods = [None; 3];
        Self {
            periods,
            cells: Cells::Auto,
            reach: 1.0,
            count: 0,
            axes: Axes::new(1.0, periods),
            layout: Layout::Box {
                low: [0; 3],
                size: [1; 3],
            },
            columns: Columns::default(),
            sorter: Sorter::default(),
        }
    }

    /// An empty grid that is periodic along each axis with a range [m].
    ///
    /// A coordinate outside its range is replaced by its image, reduced in f64 and rounded to f32. Pairs are then
    /// tested at the minimum image, per axis and in f32: with `d = xi - xj` and `L = high - low`, it is `d - L` for
    /// `d > L/2`, `d + L` for `d < -L/2`, else `d`.
    pub fn periodic(ranges: [Option<Range<f32>>; 3]) -> Result<Self, Error> {
        let mut grid = Self::new();
        for (axis, range) in ranges.iter().enumerate() {
            grid.periods[axis] = range.as_ref().map(|range| Period::new(axis, range)).transpose()?;
        }
        Ok(grid)
    }

    /// The same grid with another way to find cells, from the next build on.
    pub fn with_cells(mut self, cells: Cells) -> Self {
        self.cells = cells;
        self
    }

    /// Sorts `points` [m] into cells for searches within `reach` [m]. On an error the grid is unchanged.
    pub fn build(&mut self, points: &[Vec3], reach: f32) -> Result<(), Error> {
        check_reach(reach)?;
        check_count(points.len())?;
        self.check_periods(reach)?;
        let (low, high) = bounding_box(points)?;

        let axes = Axes::new(reach, self.periods);
        let layout = self.choose_layout(&axes, points.len(), low, high);
        let key_count = layout.key_count();
        let place = |p| axes.wrap(p);
        let key = |p| layout.key(axes.cell(p));
        // One monomorphic loop each: the open box is the common case and must not test for the others.
        match (layout, axes.is_periodic()) {
            (Layout::Box { low, size }, false) => {
                let key = |p| box_key(axes.open_cell(p), low, size);
                self.sorter.sort(points, key_count, |p| p, key, &mut self.columns);
            }
            _ => self.sorter.sort(points, key_count, place, key, &mut self.columns),
        }
        (self.reach, self.count, self.axes, self.layout) = (reach, points.len(), axes, layout);
        Ok(())
    }

    /// Number of points [-].
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reach of the last build [m].
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// The sorted order: `order()[k]` is the input index of the `k`-th point. Cells follow each other x fastest, points
    /// of one cell keep their input order. A solver that permutes its columns by it makes later searches and gathers
    /// run through memory in order.
    pub fn order(&self) -> &[u32] {
        &self.columns.id[..self.count]
    }

    /// Writes `source`, in input order, to `sorted`, in sorted order.
    ///
    /// # Panics
    /// If a length differs from the number of points.
    pub fn permute<T: Copy + Send + Sync>(&self, source: &[T], sorted: &mut [T]) {
        assert_eq!(source.len(), self.count, "one source value per point");
        assert_eq!(sorted.len(), self.count, "one sorted value per point");
        sorted
            .par_iter_mut()
            .with_min_len(4096)
            .zip(self.order())
            .for_each(|(to, &i)| *to = source[i as usize]);
    }

    /// Visits the points nearer to `point` [m] than the reach: index and squared distance [m²], in cell order.
    /// A `point` that is not finite has no neighbors.
    pub fn near(&self, point: Vec3, mut visit: impl FnMut(u32, f32)) {
        if !point.is_finite() {
            return;
        }
        let point = self.axes.wrap(point);
        let lengths = self.axes.lengths();
        let mut runs = Runs::default();
        self.runs(self.axes.cell(point), 1, &mut runs);
        for slot in runs.iter().flatten() {
            let other = self.columns.position(slot);
            let dx = nearest_image(point.x, other.x, lengths[0]);
            let dy = nearest_image(point.y, other.y, lengths[1]);
            let dz = nearest_image(point.z, other.z, lengths[2]);
            let squared = dx * dx + dy * dy + dz * dz;
            if squared < self.reach * self.reach {
                visit(self.columns.id[slot], squared);
            }
        }
    }

    fn check_periods(&self, reach: f32) -> Result<(), Error> {
        for (axis, period) in self.periods.iter().enumerate() {
            if let Some(period) = period.map(Period::length).filter(|&length| length < 2.0 * reach) {
                return Err(Error::Period { axis, period, reach });
            }
        }
        Ok(())
    }

    fn choose_layout(&self, axes: &Axes, count: usize, low: Vec3, high: Vec3) -> Layout {
        let table = |log2_size: u32| Layout::Table {
            groups: 1 << (log2_size.clamp(GROUP_CELLS_BITS, 31) - GROUP_CELLS_BITS),
        };
        if let Cells::Table { log2_size } = self.cells {
            return table(log2_size);
        }
        if count == 0 {
            return Layout::Box {
                low: [0; 3],
                size: [1; 3],
            };
        }
        let (low, high) = (low.to_array(), high.to_array());
        let first = [0, 1, 2].map(|a| axes.axis[a].count.map_or_else(|| axes.axis[a].cell(low[a]), |_| 0));
        let last = [0, 1, 2].map(|a| {
            axes.axis[a]
                .count
                .unwrap_or_else(|| axes.axis[a].cell(high[a]).wrapping_add(1))
        });
        // Saturated coordinates give a negative or overflowing size: too large for a box.
        let size = [0, 1, 2].map(|a| {
            last[a]
                .checked_sub(first[a])
                .filter(|&s| s > 0)
                .map_or(u128::MAX, |s| s as u128)
        });
        let cells = size.iter().fold(1u128, |product, &s| product.saturating_mul(s));
        if cells <= CELLS_PER_POINT * count as u128 + FREE_CELLS {
            Layout::Box {
                low: first,
                size: size.map(|s| s as i64),
            }
        } else {
            table((2 * count).next_power_of_two().trailing_zeros())
        }
    }

    /// The runs of sorted points in the cells around `width` cells in a row, from `cell` upwards in x.
    pub(crate) fn runs(&self, cell: [i64; 3], width: i64, runs: &mut Runs) {
        runs.len = 0;
        match self.layout {
            Layout::Box { low, size } => self.box_runs(cell, width, low, size, runs),
            Layout::Table { .. } => self.table_runs(cell, runs),
        }
    }

    fn box_runs(&self, cell: [i64; 3], width: i64, low: [i64; 3], size: [i64; 3], runs: &mut Runs) {
        let [x, y, z] = [0, 1, 2].map(|a| cell[a].wrapping_sub(low[a]));
        let (first, last) = (x.wrapping_sub(1), x.wrapping_add(width));
        let whole = [(0, size[0] - 1), (0, -1)];
        let inside = (first.max(0), last.min(size[0] - 1));
        let spans = match self.axes.axis[0].count {
            Some(n) if last - first + 1 >= n => whole,
            Some(n) if first < 0 => [(n - 1, n - 1), inside],
            Some(n) if last >= n => [inside, (0, 0)],
            _ => [inside, (0, -1)],
        };
        for &dz in self.axes.axis[2].around(z).as_slice() {
            for &dy in self.axes.axis[1].around(y).as_slice() {
                if !(0..size[2]).contains(&dz) || !(0..size[1]).contains(&dy) {
                    continue;
                }
                let row = (dz * size[1] + dy) * size[0];
                for (first, last) in spans {
                    if first <= last {
                        runs.push(
                            self.columns.bounds[(row + first) as usize],
                            self.columns.bounds[(row + last + 1) as usize],
                        );
                    }
                }
            }
        }
    }

    fn table_runs(&self, cell: [i64; 3], runs: &mut Runs) {
        let mut seen = [0; MAX_RUNS];
        let mut len = 0;
        for &z in self.axes.axis[2].around(cell[2]).as_slice() {
            for &y in self.axes.axis[1].around(cell[1]).as_slice() {
                for &x in self.axes.axis[0].around(cell[0]).as_slice() {
                    let key = self.layout.key([x, y, z]);
                    // Two cells may share a place: walked twice, its points would be found twice.
                    if !seen[..len].contains(&key) {
                        seen[len] = key;
                        len += 1;
                        let k = key as usize;
                        runs.push(self.columns.bounds[k], self.columns.bounds[k + 1]);
                    }
                }
            }
        }
    }
}

impl Layout {
    fn key_count(self) -> usize {
        match self {
            Self::Box { size: [x, y, z], .. } => (x * y * z) as usize,
            Self::Table { groups } => (groups << GROUP_CELLS_BITS) as usize,
        }
    }

    #[inline]
    pub(crate) fn key(self, cell: [i64; 3]) -> u32 {
        match self {
            Self::Box { low, size } => box_key(cell, low, size),
            Self::Table { groups } => {
                let group = hash(cell.map(|c| c >> GROUP_BITS)) & (groups - 1);
                let [x, y, z] = cell.map(|c| (c & ((1 << GROUP_BITS) - 1)) as u32);
                (group as u32) << GROUP_CELLS_BITS | (z << GROUP_BITS | y) << GROUP_BITS | x
            }
        }
    }
}

#[inline]
fn box_key(cell: [i64; 3], low: [i64; 3], size: [i64; 3]) -> u32 {
    (((cell[2] - low[2]) * size[1] + (cell[1] - low[1])) * size[0] + (cell[0] - low[0])) as u32
}

/// Hash of a group: (73856093 x) xor (19349663 y) xor (83492791 z) in wrapping integers, [Teschner03].
fn hash([x, y, z]: [i64; 3]) -> u64 {
    (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791)) as u64
}

/// Runs of sorted points, adjacent ones joined.
#[derive(Debug)]
pub(crate) struct Runs {
    run: [(u32, u32); MAX_RUNS],
    len: usize,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            run: [(0, 0); MAX_RUNS],
            len: 0,
        }
    }
}

impl Runs {
    fn push(&mut self, start: u32, end: u32) {
        if start == end {
            return;
        }
        match self.run[..self.len].last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => {
                self.run[self.len] = (start, end);
                self.len += 1;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.run[..self.len]
            .iter()
            .map(|&(start, end)| start as usize..end as usize)
    }
}

pub(crate) fn check_count(count: usize) -> Result<(), Error> {
    if count < u32::MAX as usize {
        Ok(())
    } else {
        Err(Error::TooMany { count })
    }
}

pub(crate) fn check_reach(reach: f32) -> Result<(), Error> {
    if reach.is_finite() && reach > 0.0 {
        Ok(())
    } else {
        Err(Error::Reach { reach })
    }
}

/// Smallest and largest coordinates [m], or the first point that is not finite.
pub(crate) fn bounding_box(points: &[Vec3]) -> Result<(Vec3, Vec3), Error> {
    let (low, high, sum) = points
        .par_chunks(16_384)
        .map(|points| {
            // 0 * x is NaN for x infinite or NaN, and stays so in the sum.
            points
                .iter()
                .fold((Vec3::MAX, Vec3::MIN, Vec3::ZERO), |(low, high, sum), &p| {
                    (low.min(p), high.max(p), sum + p * 0.0)
                })
        })
        .reduce(
            || (Vec3::MAX, Vec3::MIN, Vec3::ZERO),
            |a, b| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2),
        );
    if sum.is_finite() {
        return Ok((low, high));
    }
    let index = points.iter().position(|p| !p.is_finite()).unwrap_or_default();
    Err(Error::Position {
        index,
        position: points[index],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_outlier_costs_no_memory() {
        let mut points = crate::jittered_lattice(1000, 0.01, 0.4, 1);
        points.push(Vec3::splat(1e6));
        let mut grid = Grid::new();
        grid.build(&points, 0.02).expect("finite points");
        assert!(matches!(grid.layout, Layout::Table { .. }));
        assert_eq!(grid.columns.bounds.len(), 2049);
    }

    #[test]
    fn a_compact_cloud_is_addressed_directly() {
        let mut grid = Grid::new();
        grid.build(&crate::jittered_lattice(1000, 0.01, 0.4, 1), 0.02)
            .expect("finite points");
        assert!(matches!(grid.layout, Layout::Box { .. }));
    }

    #[test]
    fn more_points_than_indices_are_refused() {
        let count = u32::MAX as usize;
        assert_eq!(check_count(count), Err(Error::TooMany { count }));
        assert_eq!(check_count(count - 1), Ok(()));
    }
}
