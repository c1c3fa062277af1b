//! Pairs of spheres that may touch before the next search, chunk by chunk, with what they remember.

use barchan_world::Wrench;
use glam::DMat3;
use rayon::prelude::*;

use super::CHUNK;
use super::block::{BRIDGED, History};
use super::cells::{Cells, Reaching};
use super::motion::Moved;
use super::near::Near;
use super::past::{NEW, Past};
use super::rules::Rules;
use super::share::{Groups, Meeting};
use super::simd::LANES;
use super::walls::Touch;

/// The pairs of the spheres of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
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
    /// Share of both masses that each pair stops [-], where grains have several spheres.
    pub shares: Vec<f64>,
    /// Those among which a share is to be found: they join the same two grains. The share of the others is 1.
    pub groups: Groups,
    /// The row with which pairs are padded: the last there is.
    pub nobody: u32,
}

/// What is known when pairs are found anew.
pub(crate) struct Known<'a> {
    pub cells: &'a Cells,
    pub spheres: Reaching<'a>,
    /// What contacts remember by numbers that spheres had before, where those have changed, and these numbers, where they differ.
    pub past: Option<&'a Past>,
    pub old: &'a [u32],
    /// The grain of each sphere, where grains have several.
    pub grain_of: &'a [u32],
    pub rules: &'a Rules,
}

impl Known<'_> {
    /// The number that sphere `k` had before.
    fn old(&self, k: u32) -> u32 {
        self.old.get(k as usize).copied().unwrap_or(k)
    }
}

impl Pairs {
    /// The pairs of the spheres of `chunk`, which go on as they are remembered.
    fn found(chunk: &Chunk, known: &Known<'_>) -> Self {
        let before = &chunk.pairs;
        let inside = chunk.start as u32..(chunk.start + chunk.len) as u32;
        let mut pairs = Self {
            first: Vec::with_capacity(chunk.len + 1),
            other: Vec::with_capacity(before.other.len() + before.other.len() / 8 + LANES),
            nobody: known.spheres.left.len() as u32,
            ..Self::default()
        };
        pairs.first.push(0);
        for i in inside.clone() {
            let grain = |k: u32| known.grain_of.get(k as usize);
            let found = |j: u32| {
                if grain(i).is_none() || grain(i) != grain(j) {
                    pairs.other.push(j);
                }
            };
            // Those before it in the chunk have found it.
            known.cells.near(known.spheres, i as usize, inside.start..=i, found);
            pairs.first.push(pairs.other.len() as u32);
        }
        assert!(
            pairs.other.iter().all(|&j| j < pairs.nobody),
            "a sphere that is not there"
        );
        let count = pairs.other.len();
        let padded = count.next_multiple_of(LANES);
        pairs.own.reserve_exact(padded);
        pairs.history.reserve_exact(padded);
        let rolled = if known.rules.rolls { padded } else { 0 };
        pairs.rolled.reserve_exact(rolled);
        for k in 0..chunk.len {
            let i = inside.start + k as u32;
            for c in pairs.first[k] as usize..pairs.first[k + 1] as usize {
                let j = pairs.other[c];
                let (mut history, rolled) = match known.past {
                    Some(past) => past.pair(known.old(i), known.old(j)),
                    None => before.of(k, j),
                };
                // Moist grains that start side by side have met before.
                if known.rules.bridge > 0.0 && known.old(i) == NEW && known.old(j) == NEW {
                    history[3] = BRIDGED as f32;
                }
                pairs.own.push(i);
                pairs.history.push(history);
                if known.rules.rolls {
                    pairs.rolled.push(rolled);
                }
            }
        }
        pairs.own.resize(padded, inside.start);
        pairs.other.resize(padded, pairs.nobody);
        pairs.history.resize(padded, [0.0; 4]);
        pairs.rolled.resize(rolled, [0.0; 4]);
        if !known.grain_of.is_empty() {
            pairs.shares.resize(padded, 1.0);
            pairs.groups = Groups::of(&pairs, known.grain_of);
        }
        let speeds = if known.rules.is_adaptive { padded } else { 0 };
        pairs.speeds.resize(speeds, [[0.0; 4]; 2]);
        pairs
    }

    /// What the `k`-th sphere remembers of sphere `j`, of sliding and of rolling.
    fn of(&self, k: usize, j: u32) -> (History, History) {
        let row = self.first[k] as usize..self.first[k + 1] as usize;
        let found = self.other[row.clone()].iter().position(|&other| other == j);
        found.map_or(([0.0; 4], [0.0; 4]), |c| {
            let c = row.start + c;
            (self.history[c], self.rolled.get(c).copied().unwrap_or_default())
        })
    }

    /// Visits what pairs remember that touch or have touched, each once: the number of its first sphere in the chunk, the other sphere, and
    /// what it remembers of sliding and of rolling.
    pub(crate) fn remembered(&self, start: usize) -> impl Iterator<Item = (usize, u32, History, Option<History>)> {
        let spheres = 0..self.first.len().saturating_sub(1);
        let all = spheres.flat_map(|k| (self.first[k] as usize..self.first[k + 1] as usize).map(move |c| (k, c)));
        all.filter_map(move |(k, c)| {
            let (history, rolled) = (self.history[c], self.rolled.get(c).copied());
            let nothing = history == [0.0; 4] && rolled.is_none_or(|rolled| rolled == [0.0; 4]);
            let is_first = self.other[c] as usize > start + k;
            (is_first && !nothing).then_some((k, self.other[c], history, rolled))
        })
    }
}

/// The contacts of the spheres of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Its first sphere, and their number.
    pub start: usize,
    pub len: usize,
    /// The number of its first grain, where grains have several spheres.
    pub first_grain: usize,
    pub pairs: Pairs,
    /// Bodies that its spheres may touch, in the spheres' order.
    pub near: Vec<Near>,
    /// Contacts with bodies of the last step, in the spheres' order, and of the one before.
    pub touches: Vec<Touch>,
    pub old_touches: Vec<Touch>,
    /// Contacts with bodies in a try.
    pub tries: Vec<Touch>,
    /// Contacts of two grains with each other.
    pub meetings: Vec<Meeting>,
    /// For each body, what it is touched by of one grain: Σ n nᵀ.
    pub crowds: Vec<DMat3>,
    /// What its spheres exert on each body.
    pub loads: Vec<Wrench>,
    /// Deepest overlap of the last step, and of the frame so far, of a radius [-].
    pub deepest: f64,
    pub deepest_yet: f64,
    /// What happened to its grains in the last step.
    pub moved: Moved,
}

impl Chunk {
    /// Pairs, padding left out [-].
    pub(crate) fn candidates(&self) -> usize {
        self.pairs.first.last().map_or(0, |&end| end as usize)
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
        chunk.deepest_yet = 0.0;
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

/// Finds the pairs of all chunks.
pub(crate) fn rebuild(chunks: &mut [Chunk], known: &Known<'_>) {
    chunks
        .par_iter_mut()
        .for_each(|chunk| chunk.pairs = Pairs::found(chunk, known));
}
