//! The order of guides in memory: along a curve through space, so that a chunk is a compact piece of it and finds its neighbours in the
//! cache.

use glam::Vec3;
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

/// Fills `order` with the numbers of `places` [m], along Morton's curve through cells of `side` [m]. Those of one cell keep their order.
pub(crate) fn sort(places: &[Vec3], side: f32, keyed: &mut Vec<(u64, u32)>, order: &mut Vec<u32>) {
    let low = places.par_iter().copied().reduce(|| Vec3::MAX, Vec3::min);
    let key = |(i, place): (usize, &Vec3)| {
        let [x, y, z] = ((*place - low) / side).to_array().map(|c| spread(c as u64));
        (x | y << 1 | z << 2, i as u32)
    };
    places.par_iter().enumerate().map(key).collect_into_vec(keyed);
    keyed.par_sort_unstable();
    order.clear();
    order.extend(keyed.iter().map(|k| k.1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_cells_of_a_cube_follow_each_other() {
        let places: Vec<Vec3> = (0..64)
            .map(|k| Vec3::new((k % 4) as f32, (k / 4 % 4) as f32, (k / 16) as f32))
            .collect();
        let (mut keyed, mut order) = (Vec::new(), Vec::new());
        sort(&places, 1.0, &mut keyed, &mut order);
        for eight in order.chunks(8) {
            let corner = (places[eight[0] as usize] / 2.0).floor();
            assert!(eight.iter().all(|&k| (places[k as usize] / 2.0).floor() == corner));
        }
        order.sort_unstable();
        assert_eq!(order, (0..64).collect::<Vec<u32>>());
    }
}
