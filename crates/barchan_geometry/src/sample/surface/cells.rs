//! Points in cubic cells, 4³ of them per block, with hashed blocks: a surface touches few blocks of its box, and
//! neighbors in space are neighbors in memory.

use std::ops::ControlFlow;

use barchan_neighbors::morton;
use glam::{DVec3, I64Vec3};

const EMPTY: u64 = u64::MAX;
const END: u32 = u32::MAX;

/// A growing set of points with fast search around any position.
pub(super) struct Cells {
    inverse_side: f64,
    /// Open addressing: the block's key and its index.
    table: Vec<(u64, u32)>,
    /// The newest point of each cell of a block.
    blocks: Vec<[u32; 64]>,
    /// The previous point in the same cell.
    next: Vec<u32>,
    pub points: Vec<DVec3>,
}

impl Cells {
    /// Creates cells of `side` [m] with room for `count` points.
    pub fn new(side: f64, count: usize) -> Self {
        Self {
            inverse_side: 1.0 / side,
            table: vec![(EMPTY, END); 64],
            blocks: Vec::new(),
            next: Vec::with_capacity(count),
            points: Vec::with_capacity(count),
        }
    }

    pub fn of_points(side: f64, points: &[DVec3]) -> Self {
        let mut cells = Self::new(side, points.len());
        points.iter().for_each(|&p| cells.insert(p));
        cells
    }

    /// Returns the key of the cell around `p`: its Morton code, so that near keys are near in space. Cells two million
    /// apart share a key, which costs time but not correctness, because every visitor measures distances.
    pub fn key(&self, p: DVec3) -> u64 {
        morton(self.cell(p).to_array())
    }

    fn cell(&self, p: DVec3) -> I64Vec3 {
        (p * self.inverse_side).floor().as_i64vec3()
    }

    pub fn insert(&mut self, p: DVec3) {
        if 2 * self.blocks.len() >= self.table.len() {
            self.grow();
        }
        let key = self.key(p);
        let slot = self.slot(key >> 6);
        if self.table[slot].0 == EMPTY {
            self.table[slot] = (key >> 6, self.blocks.len() as u32);
            self.blocks.push([END; 64]);
        }
        let index = u32::try_from(self.points.len()).expect("fewer points than u32 counts");
        let newest = &mut self.blocks[self.table[slot].1 as usize][(key & 63) as usize];
        self.next.push(*newest);
        self.points.push(p);
        *newest = index;
    }

    /// Visits the indices of all points within `reach` [m] of `p`, and some beyond, until `visit` breaks. The cell of
    /// `p` comes first, so that close points are found early.
    pub fn near(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let (own, first, last) = (self.cell(p), self.cell(p - reach), self.cell(p + reach));
        if let Some(block) = self.block(own >> 2) {
            self.visit_cell(block[local(own)], &mut visit)?;
        }
        let (first_block, last_block): (I64Vec3, I64Vec3) = (first >> 2, last >> 2);
        for z in first_block.z..=last_block.z {
            for y in first_block.y..=last_block.y {
                for x in first_block.x..=last_block.x {
                    let number = I64Vec3::new(x, y, z);
                    if let Some(block) = self.block(number) {
                        let from = first.max(number << 2);
                        let to = last.min((number << 2) + 3i64);
                        self.visit_cells(block, from, to, own, &mut visit)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_cells(
        &self,
        block: &[u32; 64],
        from: I64Vec3,
        to: I64Vec3,
        except: I64Vec3,
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for z in from.z..=to.z {
            for y in from.y..=to.y {
                for x in from.x..=to.x {
                    let cell = I64Vec3::new(x, y, z);
                    if cell != except {
                        self.visit_cell(block[local(cell)], visit)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_cell(&self, newest: u32, visit: &mut impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut index = newest;
        while index != END {
            visit(index as usize)?;
            index = self.next[index as usize];
        }
        ControlFlow::Continue(())
    }

    fn block(&self, number: I64Vec3) -> Option<&[u32; 64]> {
        let first: I64Vec3 = number << 2;
        let (_, block) = self.table[self.slot(morton(first.to_array()) >> 6)];
        self.blocks.get(block as usize)
    }

    /// Returns the slot of a block's `key`, or the free one where it belongs.
    fn slot(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        // All axes contribute to the highest bits of the product.
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.table.len().ilog2())) as usize;
        while self.table[slot].0 != key && self.table[slot].0 != EMPTY {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let bigger = vec![(EMPTY, END); 2 * self.table.len()];
        for entry in std::mem::replace(&mut self.table, bigger) {
            if entry.0 != EMPTY {
                let slot = self.slot(entry.0);
                self.table[slot] = entry;
            }
        }
    }
}

/// Returns one of eight groups of a cell's key: cells of one group are at least a side apart (odd or even on each
/// axis).
pub(super) fn phase(key: u64) -> u8 {
    (key & 7) as u8
}

/// Returns the index of a cell in its block: the six lowest bits of its Morton code.
fn local(cell: I64Vec3) -> usize {
    let pairs = |n: i64| (n & 1) | (n & 2) << 2;
    (pairs(cell.x) | pairs(cell.y) << 1 | pairs(cell.z) << 2) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn every_point_within_reach_is_visited_once_also_after_growing() {
        let (side, reach) = (0.3, 0.4);
        let mut stream = Stream::new(3, 0);
        let points: Vec<DVec3> = (0..2000).map(|_| 4.0 * stream.unit_cube() - 2.0).collect();
        let mut cells = Cells::new(side, 0);
        points.iter().for_each(|&p| cells.insert(p));
        for &p in points.iter().step_by(37) {
            let mut seen = vec![0; points.len()];
            let _ = cells.near(p, reach, |i| {
                seen[i] += 1;
                ControlFlow::Continue(())
            });
            for (q, n) in points.iter().zip(seen) {
                assert!(n <= 1 && (n == 1 || q.distance(p) > reach), "{n} at {q}");
            }
        }
    }

    #[test]
    fn points_of_different_cells_of_one_phase_are_a_side_apart() {
        let cells = Cells::new(0.5, 0);
        let mut stream = Stream::new(4, 0);
        let points: Vec<DVec3> = (0..400).map(|_| 3.0 * stream.unit_cube() - 1.5).collect();
        let mut pairs = 0;
        for p in &points {
            for q in &points {
                let (a, b) = (cells.key(*p), cells.key(*q));
                if a != b && phase(a) == phase(b) {
                    pairs += 1;
                    assert!(p.distance(*q) >= 0.5);
                }
            }
        }
        assert!(pairs > 1000);
    }

    #[test]
    fn a_cells_number_in_its_block_is_the_end_of_its_key() {
        for cell in [[0, 0, 0], [1, 2, 3], [-1, -6, 5], [1 << 20, 3, -(1 << 20)]] {
            let cell = I64Vec3::from_array(cell);
            assert_eq!(local(cell) as u64, morton(cell.to_array()) & 63, "{cell}");
        }
    }
}
