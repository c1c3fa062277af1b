//! The search: guides that may touch before they leave their skin.

use std::cell::RefCell;
use std::ops::Range;

use barchan_neighbors::{ContactRule, Error, Grid, Lists};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::blocks::{Blocks, Found, bound, find_near};
use super::margins::Margins;
use super::rules::SLACK;

/// Fast guides get a search of their own if there are at least this many guides per fast one [-].
const MIN_GUIDES_PER_FAST: usize = 8;
/// Fast guides per task [-].
const GUIDES_PER_TASK: usize = 16;
/// Spheres are near if they overlap.
const OVERLAP: ContactRule = ContactRule {
    scale: 1.0,
    margin: 0.0,
};

/// Neighbor search. Slow guides are searched in cells of their size; the few fast ones in wider cells, by a search of
/// their own, so that a stream does not make the search expensive for a whole bed.
#[derive(Debug, Default)]
pub(crate) struct Nearby {
    grid: Grid,
    wide: Grid,
    lists: Lists,
    fast_lists: Lists,
    fast: Vec<u32>,
    is_fast: Vec<bool>,
    is_periodic: bool,
    /// Center of the path of each guide, and its reach from there [m], in blocks; filled from the first partial search
    /// after a full one on. `before` has the same before the last search, NaN if unknown.
    spheres: Blocks,
    before: Vec<Vec4>,
    has_spheres: bool,
    collector: Collector,
    middles: Vec<Vec3>,
    fast_middles: Vec<Vec3>,
    /// Reach of each guide from the center of its path [m]: at most, and in the search of the slow ones.
    reaches: Vec<f32>,
    slow_reaches: Vec<f32>,
    fast_reaches: Vec<f32>,
    /// Pairs that only the search of the fast ones has found, from both sides, sorted; those of guide `i` start at `starts[i]`.
    pairs: Vec<[u32; 2]>,
    others: Vec<u32>,
    starts: Vec<u32>,
}

/// Distance from the middle of its way up to which a guide of `radius` [m] is felt while it is within `skin` [m] of it [m].
fn reach(radius: f32, skin: f32) -> f32 {
    (1.0 + SLACK) * radius + skin
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

    /// Finds the middles of the ways of guides, and how far they are felt from there.
    fn look(&mut self, radius: &[f32], margins: &Margins) {
        let Margins { base, middle, skin, .. } = margins;
        self.middles.clear();
        let middles = base.iter().zip(middle);
        self.middles.extend(middles.map(|([p, _], m)| *p + m.truncate()));
        self.reaches.clear();
        let reaches = radius.iter().zip(skin).map(|(r, skin)| reach(*r, *skin));
        self.reaches.extend(reaches);
    }

    /// Finds all guides that may touch while each is within its skin. One that needs more than `slow` [m] is fast.
    pub(crate) fn find(&mut self, radius: &[f32], margins: &Margins, slow: f32) -> Result<(), Error> {
        self.look(radius, margins);
        self.has_spheres = false;
        self.fast.clear();
        self.fast.extend(
            (0..)
                .zip(&margins.skin)
                .filter(|&(_, &skin)| skin > slow)
                .map(|(i, _)| i),
        );
        self.pairs.clear();
        if MIN_GUIDES_PER_FAST * self.fast.len() > radius.len() {
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
        self.sort_pairs(radius.len());
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

    fn mark_fast(&mut self, guides: usize) {
        self.is_fast.clear();
        self.is_fast.resize(guides, false);
        for &i in &self.fast {
            self.is_fast[i as usize] = true;
        }
    }

    /// Finds the pairs of fast guides that the search of the slow ones has missed.
    fn find_fast(&mut self) -> Result<(), Error> {
        self.build_wide()?;
        self.find_wide()?;
        self.mark_fast(self.middles.len());
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
        radius: &[f32],
        margins: &Margins,
        known: impl Fn([u32; 2]) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) -> Result<(), Error> {
        self.fast.clear();
        self.fast.extend_from_slice(who);
        if self.is_periodic {
            // Periodic cells are sorted again.
            self.look(radius, margins);
            self.build_wide()?;
            self.find_wide()?;
        } else {
            self.look_again(radius, margins);
        }
        self.mark_fast(radius.len());
        let Self {
            fast_lists,
            is_fast,
            spheres,
            before,
            is_periodic,
            collector,
            ..
        } = self;
        let is_new = |i: u32, j: u32| {
            // Of two that are looked at, each finds the other.
            (j > i || j < i && !is_fast[j as usize]) && !known([i.min(j), i.max(j)])
        };
        collector.run(who, pairs, |k, i, pairs| {
            let mut add = |j: &u32| {
                if is_new(i, *j) {
                    pairs.push([i.min(*j), i.max(*j)]);
                }
            };
            if *is_periodic {
                fast_lists.of(k).iter().for_each(add);
                return;
            }
            FOUND.with_borrow_mut(|found| {
                find_near(spheres, spheres.get(i as usize), found);
                // Pairs that were near before are known; to look them up would take longer.
                let may_be_new = |j: &&u32| !overlap_well(before[i as usize], before[**j as usize]);
                found.as_slice().iter().filter(may_be_new).for_each(&mut add);
            });
        });
        if !*is_periodic {
            who.iter().for_each(|&i| before[i as usize] = spheres.get(i as usize));
        }
        Ok(())
    }

    /// Looks at the fast guides alone; the first time, at all.
    fn look_again(&mut self, radius: &[f32], margins: &Margins) {
        let sphere = |k: usize| {
            let middle = margins.base[k][0] + margins.middle[k].truncate();
            middle.extend(reach(radius[k], margins.skin[k]))
        };
        let Self {
            spheres, before, fast, ..
        } = self;
        if std::mem::replace(&mut self.has_spheres, true) {
            fast.iter().for_each(|&i| spheres.set(i as usize, sphere(i as usize)));
            bound(spheres);
        } else {
            spheres.build(radius.len(), sphere);
            before.clear();
            before.extend((0..radius.len()).map(sphere));
            fast.iter().for_each(|&i| before[i as usize] = Vec4::NAN);
        }
    }

    /// The guides near guide `i`, in two parts.
    pub(crate) fn of(&self, i: usize) -> [&[u32]; 2] {
        let fast = self.starts[i] as usize..self.starts[i + 1] as usize;
        [self.lists.of(i), &self.others[fast]]
    }
}

/// Returns true if two spheres overlap by more than rounding errors.
fn overlap_well(a: Vec4, b: Vec4) -> bool {
    let reach = a.w + b.w;
    (a - b).truncate().length_squared() < 0.999 * reach * reach
}

thread_local! {
    /// Neighbors of one guide.
    static FOUND: RefCell<Found> = RefCell::default();
}

/// Finds pairs for some guides, on all threads.
#[derive(Debug, Default)]
struct Collector {
    parts: Vec<Vec<[u32; 2]>>,
}

impl Collector {
    /// Makes `pairs`, sorted, what `each` finds for the `k`-th of the guides `who`, which is guide `i`.
    fn run(&mut self, who: &[u32], pairs: &mut Vec<[u32; 2]>, each: impl Fn(usize, u32, &mut Vec<[u32; 2]>) + Sync) {
        let used = who.len().div_ceil(GUIDES_PER_TASK);
        self.parts.resize_with(used.max(self.parts.len()), Vec::new);
        let parts = self.parts[..used].par_iter_mut().zip(who.par_chunks(GUIDES_PER_TASK));
        parts.enumerate().for_each(|(part, (pairs, who))| {
            pairs.clear();
            for (k, &i) in (GUIDES_PER_TASK * part..).zip(who) {
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
    use std::collections::HashSet;

    use super::*;
    use crate::cpu::contacts::margins::Ahead;
    use barchan_neighbors::jittered_lattice;
    use barchan_world::{Guide, Guides};
    use glam::Vec4;

    #[test]
    fn few_guides_with_new_ways_find_all_that_they_were_not_near_before() {
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
        let mut margins = Margins::default();
        margins.reset(n);
        margins.rebase(&guides);
        margins.skin.fill(0.006);
        let near = |margins: &Margins, i: usize, j: usize| {
            let middle = |i: usize| guides.position[i] + margins.middle[i].truncate();
            let reach = |i: usize| reach(guides.radius[i], margins.skin[i]);
            (middle(i) - middle(j)).length_squared() < (reach(i) + reach(j)).powi(2)
        };
        let pairs_near = |margins: &Margins, wanted: &dyn Fn(usize, usize) -> bool| {
            let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
            let found = all.filter(|&[i, j]| wanted(i, j) && near(margins, i, j));
            found.map(|pair| pair.map(|k| k as u32)).collect::<Vec<_>>()
        };
        let mut lists: HashSet<[u32; 2]> = pairs_near(&margins, &|_, _| true).into_iter().collect();
        let mut nearby = Nearby::default();
        let mut pairs = Vec::new();
        // More and more guides have another way, some of them again.
        for k in 0..12 {
            let who: Vec<u32> = (0..n as u32).filter(|i| i % 400 == k || i % 700 == k / 2).collect();
            for &i in &who {
                margins.middle[i as usize] = Vec4::new(0.02, -0.01, 0.001 * k as f32, 0.0);
                margins.skin[i as usize] = 0.005;
            }
            nearby
                .find_again(&who, &guides.radius, &margins, |pair| lists.contains(&pair), &mut pairs)
                .unwrap();
            let is_asked = |i: usize| who.contains(&(i as u32));
            let mut expected = pairs_near(&margins, &|i, j| is_asked(i) || is_asked(j));
            expected.retain(|pair| !lists.contains(pair));
            assert_eq!(pairs, expected, "time {k}");
            assert!(!expected.is_empty());
            lists.extend(expected);
        }
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
            let mut margins = Margins::default();
            margins.reset(guides.len());
            margins.rebase(&guides);
            let speed = |i: usize| if i.is_multiple_of(every) { 0.4 } else { 0.002 };
            let free = (0..guides.len()).map(|i| Vec4::new(0.3, -0.2, 0.1, 0.0) * speed(i));
            let ahead = Ahead {
                steps: 2.0,
                frames: 1.0,
                near: 0.0,
                margin: 0.004,
                most: f32::INFINITY,
            };
            margins.look_ahead(ahead, &free.collect::<Vec<_>>());
            let mut nearby = Nearby::default();
            nearby.find(&guides.radius, &margins, 0.008).unwrap();
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
