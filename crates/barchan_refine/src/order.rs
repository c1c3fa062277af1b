//! Order of grains in memory: along a space-filling curve, so that consecutive grains are near each other.

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::domain::Domain;
use crate::grains::Grains;

/// Grains of a slice that is counted on its own [-], at least.
const SLICE: usize = 1 << 15;
/// Most slices [-]: the sums over their counts are not shared among threads.
const SLICES: usize = 8;
/// Target mean number of grains per cell [-].
const PER_CELL: f32 = 8.0;

/// Sorts grains, and keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    domain: Option<Domain>,
    /// Place of each cell of the domain on the curve.
    rank: Vec<u32>,
    keys: Vec<u32>,
    counts: Vec<u32>,
    order: Vec<AtomicU32>,
    spare: Vec<f32>,
}

impl Sorter {
    /// Sorts `grains`, of which a cubic meter holds `density` in dense regions.
    pub fn sort(&mut self, grains: &mut Grains, density: f32) {
        let n = grains.len();
        if n == 0 {
            return;
        }
        let side = (PER_CELL / density).cbrt();
        let domain = Domain::steady(n, |i| grains.place(i), side, n + 4096);
        if self.domain.map(|d| d.size()) != Some(domain.size()) {
            self.rank = ranks(domain.size());
        }
        self.domain = Some(domain);
        self.count(grains, &domain);
        self.deal(n);
        self.move_columns(grains);
    }

    /// Keys of all grains, and how many of each key there are in each slice.
    fn count(&mut self, grains: &Grains, domain: &Domain) {
        let n = grains.len();
        let (slice, cells) = (slice(n), self.rank.len());
        self.keys.resize(n, 0);
        self.counts.clear();
        self.counts.resize(n.div_ceil(slice) * cells, 0);
        let rank = &self.rank;
        self.keys
            .par_chunks_mut(slice)
            .zip(self.counts.par_chunks_mut(cells))
            .enumerate()
            .for_each(|(s, (keys, counts))| {
                for (i, key) in (s * slice..).zip(keys) {
                    let p = Vec3::new(grains.position[0][i], grains.position[1][i], grains.position[2][i]);
                    *key = rank[domain.index(domain.cell(p))];
                    counts[*key as usize] += 1;
                }
            });
        let mut sum = 0;
        for key in 0..cells {
            for count in self.counts[key..].iter_mut().step_by(cells) {
                sum += std::mem::replace(count, sum);
            }
        }
    }

    /// Finds who goes where. Equal keys keep their order.
    fn deal(&mut self, n: usize) {
        let (slice, cells) = (slice(n), self.rank.len());
        if self.order.len() < n {
            self.order.resize_with(n, AtomicU32::default);
        }
        let order = &self.order;
        self.keys
            .par_chunks(slice)
            .zip(self.counts.par_chunks_mut(cells))
            .enumerate()
            .for_each(|(s, (keys, next))| {
                for (i, &key) in ((s * slice) as u32..).zip(keys) {
                    let at = &mut next[key as usize];
                    // Slices write to places that only the counts know to be disjoint.
                    order[*at as usize].store(i, Relaxed);
                    *at += 1;
                }
            });
    }

    fn move_columns(&mut self, grains: &mut Grains) {
        let order = &self.order[..grains.len()];
        for column in grains.position.iter_mut().chain(&mut grains.velocity) {
            permute(column, &mut self.spare, order);
        }
        let mut spare = std::mem::take(&mut self.keys);
        permute(&mut grains.id, &mut spare, order);
        self.keys = spare;
        if grains.material.iter().any(|m| *m != grains.material[0]) {
            permute(&mut grains.material, &mut Vec::new(), order);
        }
    }
}

/// Grains of a slice of `n`; the order does not depend on it.
fn slice(n: usize) -> usize {
    n.div_ceil(rayon::current_num_threads().min(SLICES)).max(SLICE)
}

fn permute<T: Copy + Default + Send + Sync>(column: &mut Vec<T>, spare: &mut Vec<T>, order: &[AtomicU32]) {
    spare.resize(column.len(), T::default());
    spare
        .par_iter_mut()
        .with_min_len(4096)
        .zip(order)
        .for_each(|(to, from)| *to = column[from.load(Relaxed) as usize]);
    std::mem::swap(column, spare);
}

/// Place of each cell of a box of `size`, x fastest, on a Hilbert curve through it.
fn ranks(size: IVec3) -> Vec<u32> {
    let bits = 32 - (size.max_element().max(2) - 1).leading_zeros();
    let mut cells: Vec<(u64, u32)> = (0..(size.x * size.y * size.z) as u32)
        .into_par_iter()
        .map(|k| {
            let (x, y) = (size.x as u32, size.y as u32);
            (hilbert([k % x, k / x % y, k / x / y], bits), k)
        })
        .collect();
    cells.par_sort_unstable();
    let mut rank = vec![0; cells.len()];
    for (place, (_, cell)) in (0..).zip(cells) {
        rank[cell as usize] = place;
    }
    rank
}

/// Place of a cell on the Hilbert curve through a cube of `2^bits` cells a side [Skilling04].
fn hilbert(mut cell: [u32; 3], bits: u32) -> u64 {
    let mut bit = 1 << (bits - 1);
    while bit > 1 {
        let below = bit - 1;
        for k in 0..3 {
            if cell[k] & bit != 0 {
                cell[0] ^= below;
            } else {
                let swap = (cell[0] ^ cell[k]) & below;
                cell[0] ^= swap;
                cell[k] ^= swap;
            }
        }
        bit >>= 1;
    }
    cell[1] ^= cell[0];
    cell[2] ^= cell[1];
    let mut flip = 0;
    let mut bit = 1 << (bits - 1);
    while bit > 1 {
        if cell[2] & bit != 0 {
            flip ^= bit - 1;
        }
        bit >>= 1;
    }
    let mut place = 0;
    for level in (0..bits).rev() {
        for c in cell {
            place = place << 1 | u64::from((c ^ flip) >> level & 1);
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_every_cell_of_a_cube_once_and_steps_to_a_neighbour_each_time() {
        let side = 8u32;
        let mut cells: Vec<[u32; 3]> = (0..side.pow(3))
            .map(|k| [k % side, k / side % side, k / side / side])
            .collect();
        cells.sort_by_key(|&cell| hilbert(cell, 3));
        for pair in cells.windows(2) {
            let step: u32 = (0..3).map(|k| pair[0][k].abs_diff(pair[1][k])).sum();
            assert_eq!(step, 1, "{pair:?}");
        }
    }

    #[test]
    fn a_sort_moves_every_column_and_loses_no_grain() {
        let mut grains = Grains::default();
        for id in 0..20_000u32 {
            let h = |k: u32| (id.wrapping_mul(2_654_435_761).wrapping_add(k * 40_503) >> 12 & 1023) as f32;
            let p = Vec3::new(h(1), h(2), h(3)) * 1e-3;
            grains.push(p, -p, id, (id % 3) as u8);
        }
        let before = grains.clone();
        Sorter::default().sort(&mut grains, 20_000.0);
        assert_ne!(grains.id, before.id);
        let mut seen = vec![false; grains.len()];
        for i in 0..grains.len() {
            let id = grains.id[i] as usize;
            assert!(!std::mem::replace(&mut seen[id], true));
            assert_eq!(grains.place(i), before.place(id));
            assert_eq!(grains.rate(i), before.rate(id));
            assert_eq!(grains.material[i], before.material[id]);
        }
    }
}
