//! Contact search among spheres of very different sizes: one grid per half octave of reach, so that small or slow
//! spheres are not searched in cells made for large or fast ones, [Ogarko12].
//!
//! Only the spheres' numbers are stored, in the order of their cells; positions are read in place. Lists of all pairs
//! and sorted copies of positions would take much of all memory.

use std::ops::RangeInclusive;

use glam::DVec3;
use rayon::prelude::*;

use super::rows::Row;

/// Ratio of reaches between one level and the next [-].
const FACTOR: f64 = std::f64::consts::SQRT_2;
/// Number of levels [-].
const LEVELS: usize = 16;
/// Cells for each sphere [-], at most. Beyond, a grid closes upon itself: what is far apart may share a cell.
const CELLS: usize = 2;

/// Spheres, and how far they reach.
#[derive(Clone, Copy)]
pub(crate) struct Reaching<'a> {
    pub rows: &'a [Row],
    /// Longest liquid bridge, as a fraction of the reduced radius [-].
    pub bridge: f64,
}

impl Reaching<'_> {
    /// Range within which sphere `k` acts on others [m].
    #[inline(always)]
    fn touch(&self, k: usize) -> f64 {
        touch(self.rows[k].radius(), self.bridge)
    }

    /// Range within which sphere `k` may act until the next search [m].
    #[inline(always)]
    pub(crate) fn reach(&self, k: usize) -> f64 {
        (self.touch(k) + f64::from(self.rows[k].left)) * (1.0 + 1e-6)
    }
}

/// Range within which a sphere of `radius` [m] acts on others [m], where bridges last up to `bridge` of the reduced radius [-]: half of one is at most a quarter
/// of that times the radius.
#[inline(always)]
fn touch(radius: f64, bridge: f64) -> f64 {
    (1.0 + 0.25 * bridge) * radius
}

/// Shortest period [m] of an axis for spheres of at most `radius` [m]: half of it is as far as two act on each other, so that no sphere acts on two images
/// of another. Searches may look farther: they find the nearest image, and the other one acts only after that one has ceased to.
pub(crate) fn shortest_period(radius: f64, bridge: f64) -> f64 {
    4.0 * touch(radius, bridge)
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

/// An axis that closes upon itself after `period` [m], less than the `least` [m] that its spheres need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooNarrow {
    pub axis: usize,
    pub period: f64,
    pub least: f64,
}

/// Bounds of places, the farthest reach [m] and the largest radius [m].
#[derive(Clone, Copy)]
struct Extent {
    low: DVec3,
    high: DVec3,
    largest: f64,
    radius: f64,
}

impl Extent {
    const NOTHING: Self = Self {
        low: DVec3::MAX,
        high: DVec3::MIN,
        largest: 0.0,
        radius: 0.0,
    };

    fn with(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            largest: self.largest.max(other.largest),
            radius: self.radius.max(other.radius),
        }
    }
}

/// The grid of one level.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Number of its first cell.
    begin: usize,
    size: [i64; 3],
    /// Cells in a meter [1/m].
    inverse: DVec3,
    /// Farthest that its spheres reach [m].
    reach: f64,
}

impl Level {
    /// Number of the cell at `place` [m] along an axis, before it closes upon itself.
    #[inline(always)]
    fn cell(&self, place: f64, axis: usize) -> i64 {
        (place * self.inverse[axis]).floor() as i64
    }

    /// The same after it.
    #[inline(always)]
    fn closed(&self, cell: i64, axis: usize) -> i64 {
        // A division is worth avoiding.
        match (0..self.size[axis]).contains(&cell) {
            true => cell,
            false => cell.rem_euclid(self.size[axis]),
        }
    }

    #[inline(always)]
    fn key(&self, place: DVec3) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| self.closed(self.cell(place[axis], axis), axis));
        self.begin + ((z * self.size[1] + y) * self.size[0] + x) as usize
    }

    /// Cells from `low` to `high` [m] along an axis, as one or two runs.
    #[inline(always)]
    fn runs(&self, low: f64, high: f64, axis: usize) -> [[i64; 2]; 2] {
        let size = self.size[axis];
        let (first, last) = (self.cell(low, axis), self.cell(high, axis));
        if last.saturating_sub(first) >= size - 1 {
            return [[0, size], [0, 0]];
        }
        let start = self.closed(first, axis);
        let end = start + (last - first) + 1;
        [[start, end.min(size)], [0, (end - size).max(0)]]
    }
}

impl Cells {
    /// Sorts spheres into cells.
    pub(crate) fn build(&mut self, spheres: Reaching<'_>, periods: [f64; 3]) -> Result<(), TooNarrow> {
        self.periods = periods;
        let rows = spheres.rows;
        let reach = |k: usize| spheres.reach(k);
        let extent = (0..rows.len()).into_par_iter().map(|k| Extent {
            low: rows[k].place(),
            high: rows[k].place(),
            largest: reach(k),
            radius: rows[k].radius(),
        });
        let Extent {
            low,
            high,
            largest,
            radius,
        } = extent.reduce(|| Extent::NOTHING, Extent::with);
        self.check_periods(shortest_period(radius, spheres.bridge))?;
        let bounds: [f64; LEVELS] = std::array::from_fn(|k| largest * FACTOR.powi(-(k as i32)));
        let level = |k: usize| {
            let reach = reach(k);
            bounds[1..].iter().take_while(|&&bound| reach <= bound).count()
        };
        let mut counts = [0; LEVELS];
        (0..rows.len()).for_each(|k| counts[level(k)] += 1);
        self.low = low;
        self.levels.clear();
        let mut begin = 0;
        for (k, &count) in counts.iter().enumerate() {
            let level = self.level(high - low, bounds[k], begin, count);
            begin += (level.size[0] * level.size[1] * level.size[2]) as usize;
            self.levels.push(level);
        }
        let levels = &self.levels;
        let key = |k: usize| levels[level(k)].key(rows[k].place() - low);
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
        Ok(())
    }

    /// Refuses an axis that closes upon itself so soon, before `least` [m], that a sphere would meet another twice.
    fn check_periods(&self, least: f64) -> Result<(), TooNarrow> {
        // Radii are kept in single precision.
        let is_narrow = |&axis: &usize| self.periods[axis] > 0.0 && self.periods[axis] < least * (1.0 - 1e-6);
        match (0..3).find(is_narrow) {
            Some(axis) => Err(TooNarrow {
                axis,
                period: self.periods[axis],
                least,
            }),
            None => Ok(()),
        }
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

    /// Visits what sphere `i` may touch, in the order of its cells; those of the numbers `unasked`, which hold `i`, are left out.
    pub(crate) fn near(
        &self,
        spheres: Reaching<'_>,
        i: usize,
        unasked: RangeInclusive<u32>,
        mut visit: impl FnMut(u32),
    ) {
        let rows = spheres.rows;
        let (place, own) = (rows[i].place(), spheres.reach(i));
        let (start, count) = (*unasked.start(), unasked.end() - unasked.start());
        let is_periodic = self.periods != [0.0; 3];
        for level in &self.levels {
            let far = DVec3::splat(own + level.reach);
            let (low, high) = (place - self.low - far, place - self.low + far);
            let [xs, ys, zs] = [0, 1, 2].map(|axis| level.runs(low[axis], high[axis], axis));
            for z in zs.iter().flat_map(|run| run[0]..run[1]) {
                for y in ys.iter().flat_map(|run| run[0]..run[1]) {
                    let row = level.begin as i64 + (z * level.size[1] + y) * level.size[0];
                    for [first, end] in xs.into_iter().filter(|run| run[0] < run[1]) {
                        let cells = [first, end].map(|x| self.first[(row + x) as usize] as usize);
                        for &j in &self.order[cells[0]..cells[1]] {
                            if j.wrapping_sub(start) <= count {
                                continue;
                            }
                            let far = own + spheres.reach(j as usize);
                            let mut way = rows[j as usize].place() - place;
                            if is_periodic {
                                way = nearest(way, &self.periods);
                            }
                            if way.length_squared() < far * far {
                                visit(j);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The nearest image of a way [m].
pub(crate) fn nearest(mut way: DVec3, periods: &[f64; 3]) -> DVec3 {
    for (axis, &period) in periods.iter().enumerate().filter(|p| *p.1 > 0.0) {
        way[axis] -= period * (way[axis] / period).round();
    }
    way
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
            bridge: 0.0,
        };
        let mut cells = Cells::default();
        cells.build(spheres, periods).unwrap();
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
            cells.near(spheres, i, i as u32..=i as u32, |j| found.push(j as usize));
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
        // Two diameters of the largest: cells hold all of the axis, and each pair is still found once.
        check(1.0, [3.0, 0.8, 0.0], DVec3::new(3.0, 0.8, 1.0));
    }

    #[test]
    fn an_axis_on_which_a_sphere_would_meet_another_twice_is_refused() {
        let rows = [Row {
            radius: 0.3,
            ..Row::default()
        }];
        let spheres = Reaching {
            rows: &rows,
            bridge: 0.0,
        };
        let refused = Cells::default().build(spheres, [0.0, 1.0, 0.0]).unwrap_err();
        assert_eq!((refused.axis, refused.period), (1, 1.0));
        assert!(Cells::default().build(spheres, [0.0, 1.2, 0.0]).is_ok());
        // How far a fast sphere is looked for makes no period too short.
        let fast = [Row { left: 0.3, ..rows[0] }];
        let fast = Reaching {
            rows: &fast,
            bridge: 0.0,
        };
        assert!(Cells::default().build(fast, [0.0, 1.2, 0.0]).is_ok());
        let wet = Reaching { bridge: 1.0, ..spheres };
        assert!(Cells::default().build(wet, [0.0, 1.2, 0.0]).is_err());
        assert!(Cells::default().build(wet, [0.0, 1.5, 0.0]).is_ok());
    }

    #[test]
    fn spheres_far_apart_share_cells_but_do_not_meet() {
        check(0.0, [0.0; 3], DVec3::new(400.0, 0.5, 0.5));
    }
}
