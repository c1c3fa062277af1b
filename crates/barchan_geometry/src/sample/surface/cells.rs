//! Points in cubic cells, found by hashing: a surface touches few of the cells of its box.

use std::ops::ControlFlow;

use glam::{DVec3, I64Vec3};

const EMPTY: u64 = u64::MAX;
const END: u32 = u32::MAX;
/// Bits of a cell's number along an axis. Numbers wrap: cells two million apart share a key, which costs time, not truth,
/// because every visitor measures distances.
const AXIS_BITS: u32 = 21;
const AXIS_MASK: i64 = (1 << AXIS_BITS) - 1;

/// A growing set of points, each found again from any place near it.
pub(super) struct Cells {
    inverse_side: f64,
    /// Open addressing: the cell's key and its newest point.
    table: Vec<(u64, u32)>,
    used: usize,
    /// The point that came before in the same cell.
    next: Vec<u32>,
    pub points: Vec<DVec3>,
}

impl Cells {
    /// Cells of `side` [m] with room for `count` points.
    pub fn new(side: f64, count: usize) -> Self {
        Self {
            inverse_side: 1.0 / side,
            table: vec![(EMPTY, END); (2 * count).next_power_of_two().max(64)],
            used: 0,
            next: Vec::with_capacity(count),
            points: Vec::with_capacity(count),
        }
    }

    pub fn of_points(side: f64, points: &[DVec3]) -> Self {
        let mut cells = Self::new(side, points.len());
        points.iter().for_each(|&p| cells.insert(p));
        cells
    }

    /// The key of the cell around `p`: z, y, x from the highest bits.
    pub fn key(&self, p: DVec3) -> u64 {
        pack(self.cell(p))
    }

    fn cell(&self, p: DVec3) -> I64Vec3 {
        (p * self.inverse_side).floor().as_i64vec3()
    }

    pub fn insert(&mut self, p: DVec3) {
        if 2 * self.used >= self.table.len() {
            self.grow();
        }
        let key = self.key(p);
        let slot = self.slot(key);
        let index = u32::try_from(self.points.len()).expect("fewer points than u32 counts");
        if self.table[slot].0 == EMPTY {
            self.table[slot] = (key, END);
            self.used += 1;
        }
        self.next.push(self.table[slot].1);
        self.points.push(p);
        self.table[slot].1 = index;
    }

    /// Visits the numbers of all points within `reach` [m] of `p`, and some beyond, until `visit` breaks. The cell of `p`
    /// comes first: who is close is found early.
    pub fn near(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let (own, first, last) = (self.cell(p), self.cell(p - reach), self.cell(p + reach));
        self.visit_cell(own, &mut visit)?;
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                for x in first.x..=last.x {
                    let cell = I64Vec3::new(x, y, z);
                    if cell != own {
                        self.visit_cell(cell, &mut visit)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_cell(&self, cell: I64Vec3, visit: &mut impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut index = self.table[self.slot(pack(cell))].1;
        while index != END {
            visit(index as usize)?;
            index = self.next[index as usize];
        }
        ControlFlow::Continue(())
    }

    /// The slot of `key`, or the free one where it belongs.
    fn slot(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        // The highest bits of the product are the ones that all axes reach.
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

/// One of eight groups of a cell's key, such that cells of one group are at least a side apart.
pub(super) fn phase(key: u64) -> u8 {
    ((key & 1) | (key >> AXIS_BITS & 1) << 1 | (key >> (2 * AXIS_BITS) & 1) << 2) as u8
}

fn pack(cell: I64Vec3) -> u64 {
    let c = cell & AXIS_MASK;
    (c.x | c.y << AXIS_BITS | c.z << (2 * AXIS_BITS)) as u64
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
}
