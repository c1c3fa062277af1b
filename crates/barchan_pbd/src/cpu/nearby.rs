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
/// The cells of the last search serve while no more than one guide in so many has another way since [-].
const FRESH: usize = 64;
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
    is_periodic: bool,
    /// Whether the wide cells hold the middles, except for those of the guides whose ways are `newer`.
    has_wide: bool,
    newer: Vec<u32>,
    is_newer: Vec<bool>,
    collector: Collector,
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

/// How far from the middle of its way a guide of `radius` [m] is felt while it is within `leeway` [m] of it [m].
fn reach(radius: f32, leeway: f32) -> f32 {
    (1.0 + SLACK) * radius + leeway
}

impl Nearby {
    /// For guides in a domain with these periodic ranges [m].
    pub(crate) fn new(periods: [Option<Range<f32>>; 3]) -> Result<Self, Error> {
        Ok(Self {
            is_periodic: periods.iter().any(Option::is_some),
            grid: Grid::periodic(periods.clone())?,
            wide: Grid::periodic(periods)?,
            ..Self::default()
        })
    }

    /// Where guides are around which they stay, and how far they are felt from there.
    fn look(&mut self, guides: &Guides, columns: &Columns) {
        let Guides { position, radius, .. } = guides;
        let Columns { middle, leeway, .. } = columns;
        self.middles.clear();
        self.middles
            .extend(position.iter().zip(middle).map(|(p, m)| *p + m.truncate()));
        self.reaches.clear();
        let reaches = radius.iter().zip(leeway).map(|(r, leeway)| reach(*r, *leeway));
        self.reaches.extend(reaches);
    }

    /// Finds all guides that may touch while each is within its leeway. One that needs more than `slow` [m] is fast.
    pub(crate) fn find(&mut self, guides: &Guides, columns: &Columns, slow: f32) -> Result<(), Error> {
        self.look(guides, columns);
        self.has_wide = false;
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

    /// Sorts all guides into wide cells.
    fn build_wide(&mut self) -> Result<(), Error> {
        let side = 2.0 * self.reaches.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        self.wide.build(&self.middles, side)
    }

    /// Finds who is near each of the fast ones, in wide cells.
    fn find_wide(&mut self) -> Result<(), Error> {
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

    fn mark_fast(&mut self) {
        self.is_fast.clear();
        self.is_fast.resize(self.middles.len(), false);
        for &i in &self.fast {
            self.is_fast[i as usize] = true;
        }
    }

    /// Finds the pairs of fast guides that the search of the slow ones has missed.
    fn find_fast(&mut self) -> Result<(), Error> {
        self.build_wide()?;
        self.find_wide()?;
        self.mark_fast();
        let (lists, fast_lists, is_fast) = (&self.lists, &self.fast_lists, &self.is_fast);
        self.collector.run(&self.fast, &mut self.pairs, |k, i, pairs| {
            let known = lists.of(i as usize);
            for &j in fast_lists.of(k).iter().filter(|&j| *j != i && !known.contains(j)) {
                pairs.push([i, j]);
                // Of two fast ones, each finds the other.
                if !is_fast[j as usize] {
                    pairs.push([j, i]);
                }
            }
        });
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
        self.fast.clear();
        self.fast.extend_from_slice(who);
        if !self.look_again(guides, columns) {
            self.look(guides, columns);
            self.build_wide()?;
            // Ways that are newer are compared as they are, without their images.
            self.has_wide = !self.is_periodic;
            self.newer.clear();
            self.is_newer.clear();
            self.is_newer.resize(guides.len(), false);
        }
        self.find_wide()?;
        self.mark_fast();
        let Self {
            fast_lists,
            is_fast,
            newer,
            is_newer,
            middles,
            reaches,
            collector,
            ..
        } = self;
        collector.run(who, pairs, |k, i, pairs| {
            let near = |&j: &u32| {
                let (i, j) = (i as usize, j as usize);
                let reach = reaches[i] + reaches[j];
                (middles[i] - middles[j]).length_squared() < reach * reach
            };
            let older = fast_lists.of(k).iter().filter(|&&j| !is_newer[j as usize]);
            let others = older.chain(newer.iter().filter(|j| near(j)));
            // Of two that are looked at, each finds the other.
            let others = others.filter(|&&j| j > i || (j < i && !is_fast[j as usize]));
            pairs.extend(others.map(|&j| [i.min(j), i.max(j)]).filter(|&pair| !known(pair)));
        });
        Ok(())
    }

    /// Looks at the fast guides alone, if the wide cells still serve.
    fn look_again(&mut self, guides: &Guides, columns: &Columns) -> bool {
        let n = guides.len();
        if !self.has_wide || self.middles.len() != n || FRESH * (self.newer.len() + self.fast.len()) > n {
            return false;
        }
        for &i in &self.fast {
            let k = i as usize;
            let reach = reach(guides.radius[k], columns.leeway[k]);
            if 2.0 * reach > self.wide.reach() {
                return false;
            }
            self.middles[k] = guides.position[k] + columns.middle[k].truncate();
            self.reaches[k] = reach;
            if !std::mem::replace(&mut self.is_newer[k], true) {
                self.newer.push(i);
            }
        }
        true
    }

    /// The guides near guide `i`, in two parts.
    pub(crate) fn of(&self, i: usize) -> [&[u32]; 2] {
        let fast = self.starts[i] as usize..self.starts[i + 1] as usize;
        [self.lists.of(i), &self.others[fast]]
    }
}

/// Finds pairs for some guides, on all threads.
#[derive(Debug, Default)]
struct Collector {
    parts: Vec<Vec<[u32; 2]>>,
}

impl Collector {
    /// Makes `pairs`, sorted, what `each` finds for the `k`-th of the guides `who`, which is guide `i`.
    fn run(&mut self, who: &[u32], pairs: &mut Vec<[u32; 2]>, each: impl Fn(usize, u32, &mut Vec<[u32; 2]>) + Sync) {
        let used = who.len().div_ceil(PART);
        self.parts.resize_with(used.max(self.parts.len()), Vec::new);
        let parts = self.parts[..used].par_iter_mut().zip(who.par_chunks(PART));
        parts.enumerate().for_each(|(part, (pairs, who))| {
            pairs.clear();
            for (k, &i) in (PART * part..).zip(who) {
                each(k, i, pairs);
            }
        });
        pairs.clear();
        for part in &self.parts[..used] {
            pairs.extend_from_slice(part);
        }
        pairs.sort_unstable();
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
    fn few_guides_with_new_ways_are_found_in_old_cells() {
        let mut guides = Guides::default();
        for (id, position) in (0..).zip(jittered_lattice(3000, 0.04, 0.4, 5)) {
            guides.push(Guide {
                id,
                position,
                radius: 0.018,
                ..Guide::default()
            });
        }
        let n = guides.len();
        let mut columns = Columns::default();
        columns.reset(n);
        columns.leeway.fill(0.006);
        let mut nearby = Nearby::default();
        let mut pairs = Vec::new();
        // The first time cells are made; then more and more guides have another way, some of them again, until cells are made anew.
        for k in 0..12 {
            let who: Vec<u32> = (0..n as u32).filter(|i| i % 400 == k || i % 700 == k / 2).collect();
            for &i in &who {
                columns.middle[i as usize] = Vec4::new(0.02, -0.01, 0.001 * k as f32, 0.0);
                columns.leeway[i as usize] = 0.005;
            }
            nearby
                .find_again(&who, &guides, &columns, |pair| pair[1] % 5 == 0, &mut pairs)
                .unwrap();
            let near = |i: usize, j: usize| {
                let middle = |i: usize| guides.position[i] + columns.middle[i].truncate();
                let reach = reach(guides.radius[i], columns.leeway[i]) + reach(guides.radius[j], columns.leeway[j]);
                (middle(i) - middle(j)).length_squared() < reach * reach
            };
            let is_asked = |i: usize| who.contains(&(i as u32));
            let mut expected = Vec::new();
            for i in 0..n {
                let others = (i + 1..n).filter(|&j| (is_asked(i) || is_asked(j)) && j % 5 != 0 && near(i, j));
                expected.extend(others.map(|j| [i as u32, j as u32]));
            }
            assert_eq!(pairs, expected, "time {k}");
            assert!(!expected.is_empty());
        }
        assert!(!nearby.newer.is_empty() && nearby.newer.len() < 12 * 11);
    }

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
