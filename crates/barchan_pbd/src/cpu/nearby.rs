//! The search: which guides may touch before they leave their leeway.

use std::ops::Range;

use barchan_neighbors::{ContactRule, Error, Grid, Lists};
use barchan_world::Guides;
use glam::Vec3;
use rayon::prelude::*;

use super::guides::Columns;
use super::rules::SLACK;

/// Fast guides are searched for on their own if they are no more than one in so many [-].
const FEW: usize = 8;
/// Fast guides that are looked at by one thread at a time [-].
const PART: usize = 64;
/// Spheres are near if they overlap.
const OVERLAP: ContactRule = ContactRule {
    scale: 1.0,
    margin: 0.0,
};

/// Who is near whom. Slow guides are found in cells of their size; the few fast ones, in wider cells, by a search of their own, so
/// that a stream does not make the search dear for a whole bed.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    grid: Grid,
    wide: Grid,
    lists: Lists,
    fast_lists: Lists,
    fast: Vec<u32>,
    is_fast: Vec<bool>,
    parts: Vec<Vec<[u32; 2]>>,
    middles: Vec<Vec3>,
    fast_middles: Vec<Vec3>,
    /// How far from its middle each guide is felt [m]: at most, and in the search of the slow ones.
    reaches: Vec<f32>,
    slow_reaches: Vec<f32>,
    fast_reaches: Vec<f32>,
    /// Pairs that only the search of the fast ones has found, from both sides, sorted; those of guide `i` start at `starts[i]`.
    pairs: Vec<[u32; 2]>,
    others: Vec<u32>,
    starts: Vec<u32>,
}

impl Nearby {
    /// For guides in a domain with these periodic ranges [m].
    pub(crate) fn new(periods: [Option<Range<f32>>; 3]) -> Result<Self, Error> {
        Ok(Self {
            grid: Grid::periodic(periods.clone())?,
            wide: Grid::periodic(periods)?,
            ..Self::default()
        })
    }

    /// Guides in the order of cells of `side` [m].
    pub(crate) fn order(&mut self, positions: &[Vec3], side: f32) -> Result<&[u32], Error> {
        self.grid.build(positions, side.max(f32::MIN_POSITIVE))?;
        Ok(self.grid.order())
    }

    /// Where guides are around which they stay, and how far they are felt from there.
    fn look(&mut self, guides: &Guides, columns: &Columns) {
        let Guides { position, radius, .. } = guides;
        let Columns { middle, leeway, .. } = columns;
        self.middles.clear();
        self.middles
            .extend(position.iter().zip(middle).map(|(p, m)| *p + m.truncate()));
        self.reaches.clear();
        let reach = |(r, leeway): (&f32, &f32)| (1.0 + SLACK) * r + leeway;
        self.reaches.extend(radius.iter().zip(leeway).map(reach));
    }

    /// Finds all guides that may touch while each is within its leeway. One that needs more than `slow` [m] is fast.
    pub(crate) fn find(&mut self, guides: &Guides, columns: &Columns, slow: f32) -> Result<(), Error> {
        self.look(guides, columns);
        let Guides { position, radius, .. } = guides;
        let Columns { leeway, .. } = columns;
        self.fast.clear();
        self.fast
            .extend((0..).zip(leeway).filter(|&(_, &leeway)| leeway > slow).map(|(i, _)| i));
        self.pairs.clear();
        if FEW * self.fast.len() > position.len() {
            self.fast.clear();
        }
        if self.fast.is_empty() {
            let side = 2.0 * self.reaches.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            self.grid.build(&self.middles, side)?;
            self.lists.find_contacts(&self.grid, &self.reaches, OVERLAP)?;
        } else {
            self.slow_reaches.clear();
            self.slow_reaches.extend_from_slice(&self.reaches);
            for &i in &self.fast {
                self.slow_reaches[i as usize] = (1.0 + SLACK) * radius[i as usize] + slow;
            }
            let side = 2.0 * self.slow_reaches.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            self.grid.build(&self.middles, side)?;
            self.lists.find_contacts(&self.grid, &self.slow_reaches, OVERLAP)?;
            self.find_fast()?;
        }
        self.sort_pairs(position.len());
        Ok(())
    }

    /// Finds who is near each of the fast ones, in wide cells.
    fn find_wide(&mut self) -> Result<(), Error> {
        let side = 2.0 * self.reaches.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        self.wide.build(&self.middles, side)?;
        self.fast_middles.clear();
        self.fast_reaches.clear();
        for &i in &self.fast {
            self.fast_middles.push(self.middles[i as usize]);
            self.fast_reaches.push(self.reaches[i as usize]);
        }
        let (middles, reaches) = (&self.fast_middles, &self.fast_reaches);
        self.fast_lists
            .find_contacts_for(middles, reaches, &self.wide, &self.reaches, OVERLAP)
    }

    /// Finds the pairs of fast guides that the search of the slow ones has missed.
    fn find_fast(&mut self) -> Result<(), Error> {
        self.find_wide()?;
        self.is_fast.clear();
        self.is_fast.resize(self.middles.len(), false);
        for &i in &self.fast {
            self.is_fast[i as usize] = true;
        }
        let (lists, is_fast) = (std::mem::take(&mut self.lists), std::mem::take(&mut self.is_fast));
        self.collect(|fast_lists, k, i, pairs| {
            let known = lists.of(i as usize);
            for &j in fast_lists.of(k).iter().filter(|&j| *j != i && !known.contains(j)) {
                pairs.push([i, j]);
                // Of two fast ones, each finds the other.
                if !is_fast[j as usize] {
                    pairs.push([j, i]);
                }
            }
        });
        (self.lists, self.is_fast) = (lists, is_fast);
        Ok(())
    }

    fn sort_pairs(&mut self, guides: usize) {
        self.others.clear();
        self.others.extend(self.pairs.iter().map(|pair| pair[1]));
        self.starts.clear();
        self.starts.reserve(guides + 1);
        let mut pairs = (0..).zip(&self.pairs).peekable();
        for i in 0..=guides as u32 {
            while pairs.next_if(|(_, pair)| pair[0] < i).is_some() {}
            self.starts
                .push(pairs.peek().map_or(self.pairs.len() as u32, |&(k, _)| k));
        }
    }

    /// Makes `pairs` those of the guides `who`, whose ways are no longer what was searched for, with all that they may touch, except
    /// for those that are `known`. The lower number comes first, and pairs are in order.
    pub(crate) fn find_again(
        &mut self,
        who: &[u32],
        guides: &Guides,
        columns: &Columns,
        known: impl Fn([u32; 2]) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) -> Result<(), Error> {
        self.look(guides, columns);
        self.fast.clear();
        self.fast.extend_from_slice(who);
        self.find_wide()?;
        self.collect(|lists, k, i, pairs| {
            let others = lists.of(k).iter().filter(|&&j| j != i);
            pairs.extend(others.map(|&j| [i.min(j), i.max(j)]).filter(|&pair| !known(pair)));
        });
        std::mem::swap(pairs, &mut self.pairs);
        pairs.dedup();
        Ok(())
    }

    /// Lets `each` find pairs for the `k`-th fast guide, which is guide `i`, and sorts all of them.
    fn collect(&mut self, each: impl Fn(&Lists, usize, u32, &mut Vec<[u32; 2]>) + Sync) {
        let used = self.fast.len().div_ceil(PART);
        self.parts.resize_with(used.max(self.parts.len()), Vec::new);
        let lists = &self.fast_lists;
        let parts = self.parts[..used].par_iter_mut().zip(self.fast.par_chunks(PART));
        parts.enumerate().for_each(|(part, (pairs, fast))| {
            pairs.clear();
            for (k, &i) in (PART * part..).zip(fast) {
                each(lists, k, i, pairs);
            }
        });
        self.pairs.clear();
        for part in &self.parts[..used] {
            self.pairs.extend_from_slice(part);
        }
        self.pairs.sort_unstable();
    }

    /// The guides near guide `i`, in two parts.
    pub(crate) fn of(&self, i: usize) -> [&[u32]; 2] {
        let fast = self.starts[i] as usize..self.starts[i + 1] as usize;
        [self.lists.of(i), &self.others[fast]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::guides::Ahead;
    use barchan_neighbors::jittered_lattice;
    use barchan_world::Guide;
    use glam::Vec4;

    #[test]
    fn what_may_touch_is_found_once_from_both_sides_however_fast_some_are() {
        let mut guides = Guides::default();
        for (id, position) in (0..).zip(jittered_lattice(3000, 0.04, 0.4, 3)) {
            guides.push(Guide {
                id,
                position,
                radius: 0.015 + 0.001 * (id % 7) as f32,
                ..Guide::default()
            });
        }
        for every in [1, 3, 60, 5000] {
            let mut columns = Columns::default();
            columns.reset(guides.len());
            for i in 0..guides.len() {
                let is_fast = i % every == 0;
                columns.free[i] = Vec4::new(0.3, -0.2, 0.1, 0.0) * if is_fast { 0.4 } else { 0.002 };
            }
            columns.look_ahead(Ahead {
                steps: 2.0,
                frames: 1.0,
                near: 0.0,
                margin: 0.004,
            });
            let mut nearby = Nearby::default();
            nearby.find(&guides, &columns, 0.008).unwrap();
            for i in 0..guides.len() {
                let mut found: Vec<usize> = nearby.of(i).concat().iter().map(|&j| j as usize).collect();
                found.sort_unstable();
                let near = |&j: &usize| {
                    let reach = nearby.reaches[i] + nearby.reaches[j];
                    j != i && (nearby.middles[i] - nearby.middles[j]).length_squared() < reach * reach
                };
                let expected: Vec<usize> = (0..guides.len()).filter(near).collect();
                assert_eq!(found, expected, "{i}, every {every}");
            }
        }
    }
}
