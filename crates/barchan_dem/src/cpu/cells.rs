//! Who may touch whom, among spheres of very different sizes: a grid for each octave of reach, so that small spheres are not searched in cells
//! made for large ones, [Ogarko12].
//!
//! Nothing is kept but the spheres' numbers in the order of their cells: places are read where they are. Lists of all pairs and sorted
//! copies of places would be a quarter of all memory.

use glam::DVec3;

use super::rows::Row;

/// Reaches that differ by less than this factor [-] share one grid.
const ALIKE: f64 = 2.5;
/// Octaves that are told apart [-].
const OCTAVES: usize = 12;
/// Cells for each sphere [-], at most. Beyond, a grid closes upon itself: what is far apart may share a cell.
const CELLS: usize = 2;

/// Spheres, and how far they reach.
#[derive(Clone, Copy)]
pub(crate) struct Reaching<'a> {
    pub rows: &'a [Row],
    /// How far each may go until the next search [m].
    pub left: &'a [f32],
    /// Longest bridge, of the reduced radius [-].
    pub bridge: f64,
}

impl Reaching<'_> {
    /// How far sphere `k` reaches [m]: half a bridge is at most a quarter of its length times the radius.
    #[inline(always)]
    pub(crate) fn reach(&self, k: usize) -> f64 {
        ((1.0 + 0.25 * self.bridge) * self.rows[k].radius() + f64::from(self.left[k])) * (1.0 + 1e-6)
    }

    /// Farthest that one of them reaches [m].
    pub(crate) fn farthest(&self) -> f64 {
        (0..self.left.len()).map(|k| self.reach(k)).fold(0.0, f64::max)
    }
}

/// Spheres by their cells.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    levels: Vec<Level>,
    /// Spheres of cell `c` are `order[first[c]..first[c + 1]]`.
    first: Vec<u32>,
    order: Vec<u32>,
    low: DVec3,
    /// Lengths of the axes that close upon themselves [m], 0 for the others.
    periods: [f64; 3],
}

/// The grid of one octave.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Number of its first cell.
    begin: usize,
    size: [i64; 3],
    /// Cells in a metre [1/m].
    inverse: DVec3,
    /// Farthest that its spheres reach [m].
    reach: f64,
}

impl Level {
    /// Number of the cell at `place` [m] along an axis, before it closes upon itself.
    fn cell(&self, place: f64, axis: usize) -> i64 {
        (place * self.inverse[axis]).floor() as i64
    }

    fn key(&self, place: DVec3) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| self.cell(place[axis], axis).rem_euclid(self.size[axis]));
        self.begin + ((z * self.size[1] + y) * self.size[0] + x) as usize
    }

    /// Cells from `low` to `high` [m] along an axis, as one or two runs.
    fn runs(&self, low: f64, high: f64, axis: usize) -> [[i64; 2]; 2] {
        let size = self.size[axis];
        let (first, last) = (self.cell(low, axis), self.cell(high, axis));
        if last.saturating_sub(first) >= size - 1 {
            return [[0, size], [0, 0]];
        }
        let start = first.rem_euclid(size);
        let end = start + (last - first) + 1;
        [[start, end.min(size)], [0, (end - size).max(0)]]
    }
}

impl Cells {
    /// Sorts spheres into cells.
    pub(crate) fn build(&mut self, spheres: Reaching<'_>, periods: [f64; 3]) {
        self.periods = periods;
        let rows = &spheres.rows[..spheres.left.len()];
        let reach = |k: usize| spheres.reach(k);
        let bounds = |(low, high): (DVec3, DVec3), row: &Row| (low.min(row.place()), high.max(row.place()));
        let (low, high) = rows.iter().fold((DVec3::MAX, DVec3::MIN), bounds);
        let reaches = (0..rows.len()).map(reach);
        let (smallest, largest) = reaches.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), r| {
            (low.min(r), high.max(r))
        });
        let is_alike = largest <= ALIKE * smallest;
        let octave = |k: usize| match is_alike {
            true => 0,
            false => ((largest / reach(k).max(f64::MIN_POSITIVE)).log2() as usize).min(OCTAVES - 1),
        };
        let mut counts = [0; OCTAVES];
        match is_alike {
            true => counts[0] = rows.len(),
            false => (0..rows.len()).for_each(|k| counts[octave(k)] += 1),
        }
        self.low = low;
        self.levels.clear();
        let mut begin = 0;
        for (k, &count) in counts.iter().enumerate() {
            let reach = largest * 0.5f64.powi(k as i32);
            let level = self.level(high - low, reach, begin, count);
            begin += (level.size[0] * level.size[1] * level.size[2]) as usize;
            self.levels.push(level);
        }
        let levels = &self.levels;
        let key = |k: usize| levels[octave(k)].key(rows[k].place() - low);
        self.first.clear();
        self.first.resize(begin + 2, 0);
        for k in 0..rows.len() {
            self.first[key(k) + 2] += 1;
        }
        for c in 2..self.first.len() {
            self.first[c] += self.first[c - 1];
        }
        self.order.clear();
        self.order.resize(rows.len(), 0);
        for k in 0..rows.len() {
            let place = &mut self.first[key(k) + 1];
            self.order[*place as usize] = k as u32;
            *place += 1;
        }
        // Levels without spheres are not asked.
        let mut counts = counts.iter();
        self.levels.retain(|_| *counts.next().expect("one a level") > 0);
    }

    /// A grid for `count` spheres of `reach` [m] in a box of `size` [m].
    fn level(&self, size: DVec3, reach: f64, begin: usize, count: usize) -> Level {
        let most = if count == 0 { 1 } else { (CELLS * count + 64) as i64 };
        let per_metre = 0.5 / reach.max(f64::MIN_POSITIVE);
        let wanted = |axis: usize| match self.periods[axis] > 0.0 {
            true => (self.periods[axis] * per_metre) as i64,
            false => ((size[axis].max(0.0) * per_metre) as i64).saturating_add(1),
        };
        let mut cells = [0, 1, 2].map(|axis| wanted(axis).max(1));
        while cells.iter().fold(1, |all: i64, &n| all.saturating_mul(n)) > most {
            let widest = if cells[0] >= cells[1].max(cells[2]) {
                0
            } else {
                1 + usize::from(cells[2] > cells[1])
            };
            cells[widest] = (cells[widest] / 2).max(1);
        }
        let inverse = [0, 1, 2].map(|axis| match self.periods[axis] > 0.0 {
            true => cells[axis] as f64 / self.periods[axis],
            false => per_metre,
        });
        Level {
            begin,
            size: cells,
            inverse: inverse.into(),
            reach,
        }
    }

    /// Visits the `wanted` spheres that sphere `i` may touch, in the order of their cells.
    pub(crate) fn near(
        &self,
        spheres: Reaching<'_>,
        i: usize,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32),
    ) {
        let rows = spheres.rows;
        let (place, own) = (rows[i].place(), spheres.reach(i));
        for level in &self.levels {
            let far = DVec3::splat(own + level.reach);
            let (low, high) = (place - self.low - far, place - self.low + far);
            let [xs, ys, zs] = [0, 1, 2].map(|axis| level.runs(low[axis], high[axis], axis));
            for z in zs.iter().flat_map(|run| run[0]..run[1]) {
                for y in ys.iter().flat_map(|run| run[0]..run[1]) {
                    let row = level.begin as i64 + (z * level.size[1] + y) * level.size[0];
                    for [start, end] in xs.into_iter().filter(|run| run[0] < run[1]) {
                        let cells = (row + start) as usize..(row + end) as usize;
                        let inside = self.first[cells.start] as usize..self.first[cells.end] as usize;
                        for &j in self.order[inside].iter().filter(|&&j| wanted(j)) {
                            let far = own + spheres.reach(j as usize);
                            if self.way(place, rows[j as usize].place()).length_squared() < far * far {
                                visit(j);
                            }
                        }
                    }
                }
            }
        }
    }

    /// From one place to another [m], the short way round.
    #[inline(always)]
    fn way(&self, from: DVec3, to: DVec3) -> DVec3 {
        let mut way = to - from;
        for axis in 0..3 {
            if self.periods[axis] > 0.0 {
                way[axis] -= self.periods[axis] * (way[axis] / self.periods[axis]).round();
            }
        }
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::random::Stream;

    /// Compares what is found among 600 spheres with all pairs.
    fn check(octaves: f64, periods: [f64; 3], scale: DVec3) {
        let row = |k: u64| Row {
            position: (scale * Stream::new(3, k).unit_cube()).to_array(),
            radius: 0.2 * 0.5f32.powf((octaves * Stream::new(4, k).unit()) as f32),
            ..Row::default()
        };
        let rows: Vec<Row> = (0..600).map(row).collect();
        let spheres = Reaching {
            rows: &rows,
            left: &[0.0; 600],
            bridge: 0.0,
        };
        let mut cells = Cells::default();
        cells.build(spheres, periods);
        let mut pairs = 0;
        for i in 0..rows.len() {
            let touches = |&j: &usize| {
                let mut way = rows[j].place() - rows[i].place();
                for axis in 0..3 {
                    let image = |x: f64| [-1.0, 0.0, 1.0].map(|n| (x + n * periods[axis]).abs());
                    way[axis] = image(way[axis]).into_iter().fold(f64::INFINITY, f64::min);
                }
                j != i && way.length() < spheres.reach(i) + spheres.reach(j)
            };
            let expected: Vec<usize> = (0..rows.len()).filter(touches).collect();
            let mut found = Vec::new();
            cells.near(spheres, i, |j| j as usize != i, |j| found.push(j as usize));
            found.sort_unstable();
            assert_eq!(found, expected, "sphere {i}");
            pairs += found.len();
        }
        assert!(pairs > 300, "{pairs}");
    }

    #[test]
    fn what_touches_is_found_once_and_nothing_else() {
        check(7.0, [0.0; 3], DVec3::ONE);
        check(1.0, [0.0; 3], DVec3::new(3.0, 2.0, 1.0));
        check(7.0, [0.0, 1.0, 0.0], DVec3::ONE);
        check(1.0, [3.0, 2.0, 1.0], DVec3::new(3.0, 2.0, 1.0));
    }

    #[test]
    fn spheres_far_apart_share_cells_but_do_not_meet() {
        check(0.0, [0.0; 3], DVec3::new(400.0, 0.5, 0.5));
    }
}
