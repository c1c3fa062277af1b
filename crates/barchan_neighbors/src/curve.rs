//! An order of points in memory: along Morton's curve through space, so that a chunk of them is a compact piece of it and finds its
//! neighbors in the cache.

use glam::DVec3;
use rayon::prelude::*;

/// Bits of a cell's number along each axis of the curve [-].
const BITS: u32 = 21;

/// The place of a cell along Morton's curve: the lowest bits of its numbers along x, y and z in turn, x lowest.
#[inline]
pub fn morton(cell: [i64; 3]) -> u64 {
    let spread = |number: i64| {
        let mut bits = number as u64 & ((1 << BITS) - 1);
        bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
        bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
        bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
        bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
        (bits | bits << 2) & 0x1249_2492_4924_9249
    };
    spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2
}

/// Cells of the curve per coarse cell, by which orders are judged, along each axis, as bits [-].
const COARSE: u32 = 3;
/// Share of points [-] that may lie behind the one that follows them in a good order.
const TOLERATED: f64 = 0.1;

/// Sorts points along the curve. Sorting again reuses all memory.
#[derive(Debug, Default)]
pub struct Curve {
    keyed: Vec<(u64, u32)>,
    order: Vec<u32>,
}

impl Curve {
    /// The numbers of `points` [m] in the order of the curve through cells of `side` [m]. Those of one cell keep their order.
    pub fn sort(&mut self, points: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64) -> &[u32] {
        let key = key_of(points.clone(), side);
        let keyed = points.enumerate().map(|(i, point)| (key(point), i as u32));
        keyed.collect_into_vec(&mut self.keyed);
        self.keyed.par_sort_unstable();
        self.order.clear();
        self.order.extend(self.keyed.iter().map(|&(_, i)| i));
        &self.order
    }
}

/// Returns true if `points` [m] are still roughly in the order of the curve through cells of `side` [m], so that
/// sorting them would not pay.
pub fn is_along_curve(points: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64) -> bool {
    let key = key_of(points.clone(), side);
    let coarse = |point: DVec3| key(point) >> (3 * COARSE);
    let count = points.len();
    let next = points.clone().skip(1);
    let behind = points.zip(next).filter(|&(a, b)| coarse(a) > coarse(b)).count();
    behind as f64 <= TOLERATED * count as f64
}

/// Returns the key function of the curve that starts at the lowest corner around `points` [m].
fn key_of(points: impl ParallelIterator<Item = DVec3>, side: f64) -> impl Fn(DVec3) -> u64 {
    let low = points.reduce(|| DVec3::MAX, DVec3::min);
    move |point| morton(((point - low) / side).to_array().map(|c| c as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_the_axes_take_turns() {
        assert_eq!(morton([0b11, 0b01, 0b10]), 0b101_011);
        assert_eq!(morton([-1, 0, 0]).count_ones(), BITS);
    }

    #[test]
    fn the_eight_cells_of_a_cube_follow_each_other() {
        let points: Vec<DVec3> = (0..64)
            .map(|k| DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)))
            .collect();
        let mut curve = Curve::default();
        let mut order = curve.sort(points.par_iter().copied(), 1.0).to_vec();
        for eight in order.chunks(8) {
            let corner = (points[eight[0] as usize] / 2.0).floor();
            assert!(eight.iter().all(|&k| (points[k as usize] / 2.0).floor() == corner));
        }
        let sorted: Vec<DVec3> = order.iter().map(|&k| points[k as usize]).collect();
        assert!(is_along_curve(sorted.par_iter().copied(), 0.1));
        assert!(!is_along_curve(points.par_iter().copied(), 0.1));
        order.sort_unstable();
        assert_eq!(order, (0..64).collect::<Vec<u32>>());
    }
}
