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

/// Fills `keyed` with the numbers of `places` [m] in the order of Morton's curve through cells of side `side` [m]; those of one cell
/// keep their order.
pub(crate) fn sort(places: impl IndexedParallelIterator<Item = DVec3> + Clone, side: f64, keyed: &mut Vec<(u64, u32)>) {
    let low = places.clone().reduce(|| DVec3::MAX, DVec3::min);
    let key = |(i, place): (usize, DVec3)| {
        let cell = (place - low) / side;
        let [x, y, z] = cell.to_array().map(|c| spread(c as u64));
        (x | y << 1 | z << 2, i as u32)
    };
    places.enumerate().map(key).collect_into_vec(keyed);
    keyed.par_sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_cells_of_a_cube_follow_each_other() {
        let places: Vec<DVec3> = (0..64)
            .map(|k| DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)))
            .collect();
        let mut keyed = Vec::new();
        sort(places.par_iter().copied(), 1.0, &mut keyed);
        let mut seen: Vec<u32> = keyed.iter().map(|k| k.1).collect();
        for eight in keyed.chunks(8) {
            let corner = (places[eight[0].1 as usize] / 2.0).floor();
            assert!(eight.iter().all(|k| (places[k.1 as usize] / 2.0).floor() == corner));
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..64).collect::<Vec<u32>>());
    }
}
