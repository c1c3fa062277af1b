//! Pairs of spheres that may touch before the next search, chunk by chunk, with what they remember.

use barchan_world::Wrench;
use glam::DMat3;
use rayon::prelude::*;

use super::CHUNK;
use super::block::{BRIDGED, History};
use super::levels::Near as Pairs;
use super::motion::Moved;
use super::near::Near;
use super::past::{NEW, Past};
use super::rules::Rules;
use super::simd::LANES;
use super::walls::Touch;

/// The contacts of the spheres of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Its first sphere, and their number.
    pub start: usize,
    pub len: usize,
    /// The number of its first grain, where grains have several spheres.
    pub first_grain: usize,
    /// Pairs of the chunk's `k`-th sphere begin at `first[k]`.
    pub first: Vec<u32>,
    /// Its sphere of each pair and the other one; the other has the higher number if it is in the chunk, too. Padded by pairs with nobody
    /// to whole blocks.
    pub own: Vec<u32>,
    pub other: Vec<u32>,
    pub history: Vec<History>,
    /// The same for rolling, where anything resists it.
    pub rolled: Vec<History>,
    /// Speeds of the springs, where the integrator needs them.
    pub speeds: Vec<[History; 2]>,
    /// The row with which pairs are padded: the last there is.
    pub nobody: u32,
    /// Bodies that its spheres may touch, in the spheres' order.
    pub near: Vec<Near>,
    /// Contacts with bodies of the last step, in the spheres' order, and of the one before.
    pub touches: Vec<Touch>,
    pub old_touches: Vec<Touch>,
    /// Contacts with bodies in a try.
    pub tries: Vec<Touch>,
    /// For each body, what it is touched by of one grain: Σ n nᵀ.
    pub crowds: Vec<DMat3>,
    /// What its spheres exert on each body.
    pub loads: Vec<Wrench>,
    /// Deepest overlap of the last step, of a radius [-].
    pub deepest: f64,
    /// What happened to its grains in the last step.
    pub moved: Moved,
}

impl Chunk {
    /// Pairs, padding left out [-].
    pub(crate) fn pairs(&self) -> usize {
        self.first.last().map_or(0, |&end| end as usize)
    }

    fn rebuild(&mut self, pairs: &Pairs, past: &Past, old: &[u32], grain_of: &[u32], rules: &Rules) {
        let nobody = old.len() as u32;
        self.first.clear();
        self.own.clear();
        self.other.clear();
        self.history.clear();
        self.rolled.clear();
        self.first.push(0);
        let inside = self.start as u32..(self.start + self.len) as u32;
        let is_own = |i: u32, j: u32| {
            let same_grain = || !grain_of.is_empty() && grain_of[i as usize] == grain_of[j as usize];
            !inside.contains(&j) || j > i && !same_grain()
        };
        let count = |i: u32| pairs.of(i as usize).iter().filter(|&&j| is_own(i, j)).count();
        let room = inside.clone().map(count).sum::<usize>().next_multiple_of(LANES);
        self.own.reserve_exact(room);
        self.other.reserve_exact(room);
        self.history.reserve_exact(room);
        for i in inside.clone() {
            for &j in pairs.of(i as usize).iter().filter(|&&j| is_own(i, j)) {
                self.own.push(i);
                self.other.push(j);
                let (mut history, rolled) = past.pair(old[i as usize], old[j as usize]);
                // Moist grains that start side by side have met before.
                if rules.bridge > 0.0 && old[i as usize] == NEW && old[j as usize] == NEW {
                    history[3] = BRIDGED as f32;
                }
                self.history.push(history);
                if rules.rolls {
                    self.rolled.push(rolled);
                }
            }
            self.first.push(self.own.len() as u32);
        }
        assert!(self.other.iter().all(|&j| j < nobody), "a sphere that is not there");
        self.nobody = nobody;
        let padded = self.own.len().next_multiple_of(LANES);
        self.own.resize(padded, self.start as u32);
        self.other.resize(padded, nobody);
        self.history.resize(padded, [0.0; 4]);
        self.rolled.resize(if rules.rolls { padded } else { 0 }, [0.0; 4]);
        self.speeds.clear();
        self.speeds
            .resize(if rules.is_adaptive { padded } else { 0 }, [[0.0; 4]; 2]);
    }
}

/// Makes chunks of `count` spheres, with room for what they push `bodies` bodies by. `first` is the first sphere of each grain, and their
/// number, where grains have several: a chunk then holds whole grains.
pub(crate) fn divide(chunks: &mut Vec<Chunk>, count: usize, first: &[u32], bodies: usize) {
    let mut used = 0;
    let mut add = |start: usize, end: usize, first_grain: usize| {
        if used == chunks.len() {
            chunks.push(Chunk::default());
        }
        let chunk = &mut chunks[used];
        (chunk.start, chunk.len, chunk.first_grain) = (start, end - start, first_grain);
        chunk.loads.clear();
        chunk.loads.resize(bodies, Wrench::default());
        chunk.crowds.clear();
        chunk.crowds.resize(bodies, DMat3::ZERO);
        used += 1;
    };
    if first.is_empty() {
        for start in (0..count).step_by(CHUNK) {
            add(start, count.min(start + CHUNK), 0);
        }
    } else {
        let grains = first.len() - 1;
        let mut begin = 0;
        for g in 1..=grains {
            let size = (first[g] - first[begin]) as usize;
            if g == grains || size + (first[g + 1] - first[g]) as usize > CHUNK {
                add(first[begin] as usize, first[g] as usize, begin);
                begin = g;
            }
        }
    }
    chunks.truncate(used);
}

/// Fills all chunks with the `pairs`; sphere `i` has number `old[i]` in what is remembered. Spheres of one grain are no pair.
pub(crate) fn rebuild(chunks: &mut [Chunk], pairs: &Pairs, past: &Past, old: &[u32], grain_of: &[u32], rules: &Rules) {
    chunks
        .par_iter_mut()
        .for_each(|chunk| chunk.rebuild(pairs, past, old, grain_of, rules));
}
