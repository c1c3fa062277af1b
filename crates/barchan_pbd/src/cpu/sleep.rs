//! Sleep of guides at rest.
//!
//! A guide that has hardly moved for a while is at rest. It sleeps if its island may and no guide near it is restless:
//! guides in contact with a restless one are awake, and so are several layers around fast ones, since an impact crosses
//! them within the frame. A sleeping guide is a fixed obstacle, and its contacts keep their impulses.
//!
//! An island is a set of guides that contacts may connect. It is awake as a whole while a body in contact with it
//! moves, while more than a few of its guides are restless, or while the load on bodies differs from its weight: a
//! change of load crosses the whole island, and if parts of it slept the forces on its walls would be those of
//! different times.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use barchan_bodies::seen_numbers;
use barchan_world::{Archive, ArchiveError, World, carry};
use glam::Vec3;
use rayon::prelude::*;

use super::CHUNK;
use super::contacts::Store;
use super::contacts::candidates::Candidates;
use super::contacts::near::Near;

/// Mean speed in a frame below which a guide may be at rest, in units of √(g d) [-].
const REST_SPEED: f32 = 1e-3;
/// Time for which a guide has been slow before it counts as at rest [s].
const REST_TIME: f32 = 0.5;
/// Speed above which a guide is restless, in units of √(g d) [-]: far above that of rest, or a large heap that still
/// settles would wake itself.
const RESTLESS_SPEED: f32 = 1.5e-2;
/// Most layers of guides that a fast guide keeps awake [-].
const MAX_AWAKE_LAYERS: f32 = 6.0;
/// Share of an island's guides [-] that may be restless while others sleep: now and then one slips.
const RESTLESS_SHARE: f32 = 0.01;
/// Largest resultant of weight and forces of bodies on an island whose guides sleep, as a fraction of its weight [-].
const MAX_IMBALANCE: f32 = 0.01;

/// Layers around a guide of `speed`, of √(g d) [-], that stay awake [-].
fn layers(speed: f32) -> f32 {
    if speed <= RESTLESS_SPEED {
        return 0.0;
    }
    (1.0 + speed.floor()).min(MAX_AWAKE_LAYERS)
}

/// State of rest of each guide, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// Time for which each guide has hardly moved [s]; of restless ones, the layers that they keep awake, negative.
    calm: Vec<f32>,
    /// Guides that sleep in this frame.
    pub asleep: Vec<bool>,
    /// Guides that slept in the last frame.
    pub slept: Vec<bool>,
    spare: Vec<f32>,
    /// Layers around it, and it among them, that each guide keeps awake in this frame; 0 for those that may sleep.
    layers: Vec<AtomicU8>,
    islands: Islands,
    /// Forces on each chunk, if any guide is at rest.
    balance: Vec<Balance>,
    /// Bodies that may move in this frame.
    moving: Vec<bool>,
}

/// Forces on the guides of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    /// Weight [N].
    pub weight: f32,
    /// Resultant of weight and forces of bodies [N].
    pub resultant: Vec3,
}

/// Islands of chunks: a forest whose roots stand for whole islands.
#[derive(Debug, Default)]
struct Islands {
    parent: Vec<u32>,
    /// Sums over the island; at roots.
    known: Vec<Island>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Island {
    guides: f32,
    restless: f32,
    balance: Balance,
    /// Set if a body at it moves.
    is_moved: bool,
}

impl Island {
    fn is_awake(&self) -> bool {
        self.is_moved
            || self.restless > RESTLESS_SHARE * self.guides
            || self.balance.resultant.length() > MAX_IMBALANCE * self.balance.weight
    }
}

impl Islands {
    /// Makes every chunk of guides an island of its own.
    fn reset(&mut self, calm: &[f32], balance: &[Balance]) {
        let chunks = calm.chunks(CHUNK).zip(balance).map(|(calm, &balance)| Island {
            guides: calm.len() as f32,
            restless: calm.iter().filter(|&&calm| calm < 0.0).count() as f32,
            balance,
            is_moved: false,
        });
        self.known.clear();
        self.known.extend(chunks);
        self.parent.clear();
        self.parent.extend(0..self.known.len() as u32);
    }

    /// Returns the root of chunk `c`.
    fn root(&mut self, c: u32) -> usize {
        let mut c = c as usize;
        while self.parent[c] as usize != c {
            self.parent[c] = self.parent[self.parent[c] as usize];
            c = self.parent[c] as usize;
        }
        c
    }

    /// Joins the islands of two chunks.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        if low < high {
            self.parent[high] = low as u32;
            let high = self.known[high];
            let low = &mut self.known[low];
            low.guides += high.guides;
            low.restless += high.restless;
            low.balance.weight += high.balance.weight;
            low.balance.resultant += high.balance.resultant;
            low.is_moved |= high.is_moved;
        }
    }
}

impl Sleep {
    /// Returns true if a guide is at rest.
    fn is_calm(calm: f32) -> bool {
        calm >= REST_TIME
    }

    /// Follows guides to their new positions: guide `i` had the number `old[i]`.
    pub(crate) fn sort(&mut self, old: &[u32]) {
        carry(&mut self.calm, old, &mut self.spare);
        self.slept.clear();
        let slept = |&k: &u32| self.asleep.get(k as usize).copied().unwrap_or(false);
        self.slept.extend(old.iter().map(slept));
        // Until the search is done, guides at rest may sleep.
        self.asleep.clear();
        self.asleep.extend(self.calm.iter().map(|&calm| Self::is_calm(calm)));
    }

    /// Finds which bodies may move, come or go in the next `duration` [s], or did in the one before.
    pub(crate) fn watch_bodies(&mut self, world: &World, duration: f64) {
        self.moving.clear();
        self.moving
            .extend(seen_numbers(world).map(|k| world.may_move(k, duration)));
    }

    /// Lets guides that never move sleep forever: sleepers are fixed obstacles.
    pub(crate) fn hold_fixed(&mut self, world: &World) {
        if world.has_fixed_guides() {
            for (i, asleep) in self.asleep.iter_mut().enumerate() {
                *asleep |= world.is_fixed(i);
            }
        }
    }

    /// Wakes all.
    pub(crate) fn wake_all(&mut self) {
        self.calm.fill(0.0);
        self.asleep.fill(false);
    }

    /// Returns true if any guide is at rest.
    fn has_calm(&self) -> bool {
        self.calm.iter().any(|&calm| Self::is_calm(calm))
    }

    /// Decides which guides sleep in this frame, whose first step has `step` [s]. `searched`: all candidates have just been found again.
    pub(crate) fn update(&mut self, world: &World, store: &Store, step: f64, searched: bool) {
        self.slept.clear();
        self.slept.extend_from_slice(&self.asleep);
        let lost = match searched {
            true => store.lost(|i| self.may_sleep(i)),
            false => Vec::new(),
        };
        if self.has_calm() {
            store.balance(world, step, &mut self.balance);
        }
        self.decide(&store.candidates, store.near(), &lost);
        self.hold_fixed(world);
    }

    /// Decides which guides sleep: not those that `lost` a contact that they leant on.
    fn decide(&mut self, candidates: &[Candidates], near: &[Vec<Near>], lost: &[u32]) {
        for &i in lost {
            self.calm[i as usize] = -1.0;
        }
        if !self.has_calm() {
            self.asleep.fill(false);
            return;
        }
        self.find_islands(candidates, near);
        self.spread(candidates);
        let guides = self.asleep.chunks_mut(CHUNK).zip(self.calm.chunks(CHUNK));
        for (c, ((asleep, calm), layers)) in (0..).zip(guides.zip(self.layers.chunks_mut(CHUNK))) {
            let root = self.islands.root(c);
            let is_awake = self.islands.known[root].is_awake();
            for ((asleep, calm), layers) in asleep.iter_mut().zip(calm).zip(layers) {
                *asleep = !is_awake && Self::is_calm(*calm) && *layers.get_mut() == 0;
            }
        }
    }

    /// Joins chunks whose guides may touch.
    fn find_islands(&mut self, candidates: &[Candidates], near: &[Vec<Near>]) {
        let islands = &mut self.islands;
        islands.reset(&self.calm, &self.balance);
        // Chunks outlive their guides.
        for (island, near) in islands.known.iter_mut().zip(near) {
            island.is_moved = near.iter().any(|near| self.moving[near.body as usize]);
        }
        for (c, chunk) in (0..islands.parent.len() as u32).zip(candidates) {
            for &j in chunk.halo.foreign() {
                islands.join(c, j / CHUNK as u32);
            }
        }
    }

    /// Gives those around restless guides one layer less than these.
    fn spread(&mut self, candidates: &[Candidates]) {
        let Self { calm, layers, .. } = self;
        let own = |calm: f32| if calm < 0.0 { 1 + (-calm) as u8 } else { 0 };
        layers.clear();
        layers.extend(calm.iter().map(|&calm| AtomicU8::new(own(calm))));
        let most = calm.iter().map(|&calm| own(calm)).max().unwrap_or(0);
        let layers = &layers[..];
        for most in (2..=most).rev() {
            // Guides with the most layers are not changed by this, and all others are given the same: any order will do.
            let give = |to: &AtomicU8| {
                if to.load(Relaxed) < most - 1 {
                    to.store(most - 1, Relaxed);
                }
            };
            candidates.par_iter().enumerate().for_each(|(c, chunk)| {
                // Chunks outlive their guides.
                let own = layers.get(c * CHUNK..).unwrap_or_default();
                for (i, row) in own.iter().zip(chunk.first.windows(2)) {
                    let others = &chunk.other[row[0] as usize..row[1] as usize];
                    let others = others.iter().map(|&j| &layers[j as usize]);
                    if i.load(Relaxed) == most {
                        others.for_each(give);
                    } else if others.clone().any(|j| j.load(Relaxed) == most) {
                        give(i);
                    }
                }
            });
        }
    }

    /// Checks whether guide `i` may sleep by its own motion.
    fn may_sleep(&self, i: u32) -> bool {
        self.calm.get(i as usize).is_some_and(|&calm| Self::is_calm(calm))
    }

    /// Checks whether any body may move in this frame.
    pub(crate) fn has_moving(&self) -> bool {
        self.moving.contains(&true)
    }

    /// Checks whether all sleep, and nothing moves that could wake them.
    pub(crate) fn is_deep(&self) -> bool {
        !self.asleep.is_empty() && self.asleep.iter().all(|&asleep| asleep) && !self.has_moving()
    }

    /// Stores which guides are at rest and which sleep.
    pub(crate) fn save(&self, archive: &mut Archive) {
        let asleep: Vec<u8> = self.asleep.iter().map(|&asleep| u8::from(asleep)).collect();
        archive.put("pbd.calm", &self.calm);
        archive.put("pbd.asleep", &asleep);
    }

    /// Restores them, for `guides` guides.
    pub(crate) fn load(guides: usize, archive: &Archive) -> Result<Self, ArchiveError> {
        let calm: Vec<f32> = archive.get_f32s("pbd.calm")?;
        let asleep: Vec<u8> = archive.get("pbd.asleep")?;
        if calm.len() != guides || asleep.len() != guides {
            return Err(ArchiveError::Ragged {
                prefix: "pbd.calm".to_owned(),
            });
        }
        Ok(Self {
            calm,
            asleep: asleep.into_iter().map(|asleep| asleep > 0).collect(),
            ..Self::default()
        })
    }

    /// Counts how long guides of these radii [m] have hardly moved, after a frame of `duration` [s] in which they went by `ways` [m]; `fall_time` is
    /// √(d/g) [s].
    pub(crate) fn count(&mut self, ways: &[Vec3], radius: &[f32], duration: f64, fall_time: f64) {
        let unit = (duration / fall_time) as f32;
        for ((calm, way), radius) in self.calm.iter_mut().zip(ways).zip(radius) {
            let speed = way.length() / (2.0 * radius * unit);
            *calm = if speed <= REST_SPEED {
                (calm.max(0.0) + duration as f32).min(2.0 * REST_TIME)
            } else {
                -layers(speed)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates of `n` guides, of which guide `i` may touch `others(i)`.
    fn chunks<I: Iterator<Item = usize>>(n: usize, others: impl Fn(usize) -> I) -> Vec<Candidates> {
        let mut all = Vec::new();
        for first in (0..n).step_by(CHUNK) {
            let mut chunk = Candidates::default();
            chunk.clear();
            for i in first..n.min(first + CHUNK) {
                chunk.push_row(others(i).map(|j| (j as u32, Vec3::ZERO)));
                for j in others(i).filter(|&j| j / CHUNK != first / CHUNK) {
                    chunk.halo.number(first / CHUNK, j as u32);
                }
            }
            all.push(chunk);
        }
        all
    }

    /// Chunks of `n` guides that bodies carry.
    fn balanced(n: usize) -> Vec<Balance> {
        let carried = Balance {
            weight: 1.0,
            resultant: Vec3::ZERO,
        };
        vec![carried; n.div_ceil(CHUNK)]
    }

    #[test]
    fn restless_guides_keep_awake_whoever_is_within_their_layers() {
        let n = 2 * CHUNK + 40;
        // A thin net: each guide may touch the next but two, and some farther on.
        let others = |i: usize| {
            [i + 3, i + 11 + i % 7]
                .into_iter()
                .filter(move |&j| j < n && !i.is_multiple_of(5))
        };
        let candidates = chunks(n, others);
        let calm = |i: usize| match i {
            100 => -4.0,
            303 | 304 => -1.0,
            500 => -2.0,
            _ if i.is_multiple_of(9) => 0.5 * REST_TIME,
            _ => REST_TIME,
        };
        let mut sleep = Sleep {
            calm: (0..n).map(calm).collect(),
            asleep: vec![true; n],
            balance: balanced(n),
            ..Sleep::default()
        };
        sleep.decide(&candidates, &[], &[200]);
        let restless = [(100, 4), (303, 1), (304, 1), (500, 2), (200, 1)];
        let mut awake: Vec<bool> = (0..n).map(|i| i.is_multiple_of(9)).collect();
        for (from, layers) in restless {
            let mut reached = vec![from];
            for _ in 0..layers {
                let last = reached.clone();
                let touches = |i: usize| {
                    last.iter()
                        .any(|&k| others(k).any(|j| j == i) || others(i).any(|j| j == k))
                };
                reached.extend((0..n).filter(|&i| touches(i)));
            }
            reached.iter().for_each(|&i| awake[i] = true);
        }
        let asleep: Vec<bool> = awake.iter().map(|awake| !awake).collect();
        assert_eq!(sleep.asleep, asleep);
        assert!(awake.iter().filter(|awake| **awake).count() > n / 9 + 20);
        sleep.calm.fill(0.0);
        sleep.decide(&candidates, &[], &[]);
        assert!(!sleep.asleep.contains(&true));
    }

    #[test]
    fn an_island_that_is_moved_flows_or_is_not_carried_is_awake_as_a_whole_and_others_sleep() {
        let n = 4 * CHUNK + 40;
        // Chunks 0, 1 and 3 are one island.
        let links = [[3, CHUNK + 7], [CHUNK + 9, 3 * CHUNK + 1]];
        let others = |i: usize| links.into_iter().filter(move |link| link[0] == i).map(|link| link[1]);
        let candidates = chunks(n, others);
        let near = |body: u32| {
            let near = Near {
                guide: 3 * CHUNK as u32,
                body,
                clear: 0.0,
            };
            [vec![], vec![], vec![], vec![near], vec![]]
        };
        let asleep = |near: [Vec<Near>; 5], restless: usize, resultant: f32| {
            let mut sleep = Sleep {
                calm: vec![REST_TIME; n],
                asleep: vec![false; n],
                moving: vec![false, true],
                balance: balanced(n),
                ..Sleep::default()
            };
            sleep.calm[CHUNK..CHUNK + restless].fill(-1.0);
            sleep.balance[0].resultant.x = resultant;
            sleep.decide(&candidates, &near, &[]);
            sleep.asleep
        };
        let woken: Vec<bool> = (0..n).map(|i| ![0, 1, 3].contains(&(i / CHUNK))).collect();
        assert!(
            asleep(near(0), 0, 0.9 * 3.0 * MAX_IMBALANCE)
                .iter()
                .all(|&asleep| asleep)
        );
        assert_eq!(asleep(near(1), 0, 0.0), woken);
        assert_eq!(asleep(near(0), 0, 1.1 * 3.0 * MAX_IMBALANCE), woken);
        let few = (RESTLESS_SHARE * 3.0 * CHUNK as f32) as usize;
        assert!(asleep(near(0), few, 0.0)[..CHUNK].iter().all(|&asleep| asleep));
        assert_eq!(asleep(near(0), few + 1, 0.0), woken);
    }
}
