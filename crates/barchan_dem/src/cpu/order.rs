//! The order of spheres in memory: along a curve through space, so that a chunk is a compact piece of it.

use glam::DVec3;
use rayon::prelude::*;

/// Bits of a cell's number along each axis [-].
const BITS: u32 = 21;

/// Every third bit of the result is a bit of `cell`.
fn spread(cell: u64) -> u64 {
    let mut x = cell & ((1 << BITS) - 1);
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// Cells of the curve in one of those that tell whether an order is still good, along each axis, as bits [-].
const COARSE: u32 = 3;
/// Share of spheres [-] that may lie behind the one that follows them.
const TOLERATED: f64 = 0.1;

/// The place along Morton's curve through cells of side `side` [m].
fn key(place: DVec3, low: DVec3, side: f64) -> u64 {
    let [x, y, z] = ((place - low) / side).to_array().map(|c| spread(c as u64));
    x | y << 1 | z << 2
}

/// Whether `places` [m] are still about in the order of the curve, so that sorting them would not pay.
pub(crate) fn is_good(places: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64) -> bool {
    let low = places.clone().reduce(|| DVec3::MAX, DVec3::min);
    let coarse = |place: DVec3| key(place, low, side) >> (3 * COARSE);
    let count = places.len();
    let next = places.clone().skip(1);
    let is_behind = |&(a, b): &(DVec3, DVec3)| coarse(a) > coarse(b);
    let behind = places.zip(next).filter(is_behind).count();
    behind as f64 <= TOLERATED * count as f64
}

/// The numbers of `places` [m] in the order of Morton's curve through cells of side `side` [m]; those of one cell keep their order.
pub(crate) fn sorted(places: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64) -> Vec<u32> {
    let low = places.clone().reduce(|| DVec3::MAX, DVec3::min);
    let keys = places.enumerate().map(|(i, place)| (key(place, low, side), i as u32));
    let mut keyed: Vec<(u64, u32)> = keys.collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|keyed| keyed.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_cells_of_a_cube_follow_each_other() {
        let places: Vec<DVec3> = (0..64)
            .map(|k| DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)))
            .collect();
        let order = sorted(places.par_iter().copied(), 1.0);
        for eight in order.chunks(8) {
            let corner = (places[eight[0] as usize] / 2.0).floor();
            assert!(eight.iter().all(|k| (places[*k as usize] / 2.0).floor() == corner));
        }
        let mut seen = order;
        seen.sort_unstable();
        assert_eq!(seen, (0..64).collect::<Vec<u32>>());
    }
}
