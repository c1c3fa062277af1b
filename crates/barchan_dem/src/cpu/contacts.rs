//! Contact candidates until the next search, chunk by chunk, with their histories.

use std::cell::RefCell;

use barchan_world::{NEW_ROW, Wrench};
use glam::DMat3;
use rayon::prelude::*;

use super::CHUNK;
use super::block::{BRIDGED, History};
use super::cells::{Cells, Reaching};
use super::motion::Moved;
use super::near::Near;
use super::past::Past;
use super::rules::Rules;
use super::share::{Groups, Meeting};
use super::simd::LANES;
use super::walls::Touch;

/// The pairs of the spheres of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// Pairs of the chunk's `k`-th sphere begin at `first[k]`.
    pub first: Vec<u32>,
    /// Number of the chunk's first sphere.
    pub start: u32,
    /// The chunk's sphere of each pair, counted from the first, and the other one, which has the higher number if it is
    /// in the chunk, too. Padded to whole blocks.
    pub own: Vec<u16>,
    pub other: Vec<u32>,
    pub history: Vec<History>,
    /// Rolling histories, if any material resists rolling.
    pub rolled: Vec<History>,
    /// Rates of the springs, if the integrator needs them.
    pub speeds: Vec<[History; 2]>,
    /// Share of both masses that each pair stops [-], if particles have several spheres.
    pub shares: Vec<f64>,
    /// Groups of pairs between the same two particles, which share their masses. The share of other pairs is 1.
    pub groups: Groups,
    /// Row of the padding pairs: the last one.
    pub padding: u32,
}

/// Inputs of the search.
pub(crate) struct Known<'a> {
    pub cells: &'a Cells,
    pub spheres: Reaching<'a>,
    /// Histories by the spheres' previous numbers, if those have changed, and the previous numbers, if they differ.
    pub past: Option<&'a Past>,
    pub old: &'a [u32],
    /// Particle of each sphere, if particles have several.
    pub particle_of: &'a [u32],
    pub rules: &'a Rules,
}

impl Known<'_> {
    /// The number that sphere `k` had before.
    fn old(&self, k: u32) -> u32 {
        self.old.get(k as usize).copied().unwrap_or(k)
    }
}

thread_local! {
    /// Pairs while they are found: they still need those they replace.
    static FOUND: RefCell<Found> = RefCell::default();
}

/// Pairs found for one chunk, in the layout of [`Pairs`].
#[derive(Default)]
struct Found {
    first: Vec<u32>,
    other: Vec<u32>,
    history: Vec<History>,
    rolled: Vec<History>,
}

impl Found {
    /// Finds who may touch the spheres from `start` on, `count` of them.
    fn meet(&mut self, start: usize, count: usize, known: &Known<'_>) {
        self.first.clear();
        self.other.clear();
        self.first.push(0);
        let inside = start as u32..(start + count) as u32;
        for i in inside.clone() {
            let particle = |k: u32| known.particle_of.get(k as usize);
            let found = |j: u32| {
                if particle(i).is_none() || particle(i) != particle(j) {
                    self.other.push(j);
                }
            };
            // Those before it in the chunk have found it.
            known.cells.near(known.spheres, i as usize, inside.start..=i, found);
            self.first.push(self.other.len() as u32);
        }
        let padding = known.spheres.rows.len() as u32;
        assert!(self.other.iter().all(|&j| j < padding), "a sphere that is not there");
        self.other.resize(self.other.len().next_multiple_of(LANES), padding);
    }

    /// Finds what pairs of the spheres from `start` on remember, in `before` or in what is known of the past.
    fn remember(&mut self, start: usize, before: &Pairs, known: &Known<'_>) {
        let padded = self.other.len();
        let rolled = if known.rules.rolls { padded } else { 0 };
        self.history.clear();
        self.history.reserve_exact(padded);
        self.rolled.clear();
        self.rolled.reserve_exact(rolled);
        for (k, row) in self.first.windows(2).enumerate() {
            let i = (start + k) as u32;
            for &j in &self.other[row[0] as usize..row[1] as usize] {
                let (mut history, rolled) = match known.past {
                    Some(past) => past.pair(known.old(i), known.old(j)),
                    None => before.of(k, j),
                };
                // Moist particles that start side by side have met before.
                if known.rules.bridge > 0.0 && known.old(i) == NEW_ROW && known.old(j) == NEW_ROW {
                    history[3] = BRIDGED as f32;
                }
                self.history.push(history);
                if known.rules.rolls {
                    self.rolled.push(rolled);
                }
            }
        }
        self.history.resize(padded, [0.0; 4]);
        self.rolled.resize(rolled, [0.0; 4]);
    }
}

/// Puts `new` in the place of what there was, in the same memory where that is neither too small nor much too large: lists of a bed at rest
/// soon stay where they are.
fn replace<T: Copy>(values: &mut Vec<T>, new: &[T]) {
    values.clear();
    if values.capacity() > new.len() + new.len() / 16 {
        values.shrink_to(new.len());
    }
    values.reserve_exact(new.len());
    values.extend_from_slice(new);
}

impl Pairs {
    /// Finds the pairs of the spheres from `start` on, `count` of them; those that there were go on.
    fn find(&mut self, start: usize, count: usize, known: &Known<'_>) {
        FOUND.with_borrow_mut(|found| {
            found.meet(start, count, known);
            found.remember(start, self, known);
            self.take_over(start, found, known);
        });
    }

    /// Pairs as they were found, padded to whole blocks.
    fn take_over(&mut self, start: usize, found: &Found, known: &Known<'_>) {
        self.start = start as u32;
        self.padding = known.spheres.rows.len() as u32;
        replace(&mut self.first, &found.first);
        replace(&mut self.other, &found.other);
        replace(&mut self.history, &found.history);
        replace(&mut self.rolled, &found.rolled);
        let padded = self.other.len();
        self.own.clear();
        self.own.shrink_to(self.other.capacity());
        self.own.reserve_exact(padded);
        for (k, row) in (0..).zip(self.first.windows(2)) {
            self.own.resize(row[1] as usize, k);
        }
        self.own.resize(padded, 0);
        if !known.particle_of.is_empty() {
            self.shares.clear();
            self.shares.resize(padded, 1.0);
            self.groups = Groups::of(self, known.particle_of);
        }
        self.speeds.clear();
        let speeds = if known.rules.is_adaptive { padded } else { 0 };
        self.speeds.resize(speeds, [[0.0; 4]; 2]);
    }

    /// Returns the histories of sliding and rolling between the `k`-th sphere and sphere `j`.
    fn of(&self, k: usize, j: u32) -> (History, History) {
        let row = self.first[k] as usize..self.first[k + 1] as usize;
        let found = self.other[row.clone()].iter().position(|&other| other == j);
        found.map_or(([0.0; 4], [0.0; 4]), |c| {
            let c = row.start + c;
            (self.history[c], self.rolled.get(c).copied().unwrap_or_default())
        })
    }

    /// Both spheres of pair `c`.
    pub(crate) fn spheres(&self, c: usize) -> [u32; 2] {
        [self.start + u32::from(self.own[c]), self.other[c]]
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
    /// First sphere, and number of spheres.
    pub start: usize,
    pub len: usize,
    /// Number of the first particle, if particles have several spheres.
    pub first_particle: usize,
    pub pairs: Pairs,
    /// Bodies that its spheres may touch, in the spheres' order.
    pub near: Vec<Near>,
    /// Contacts with bodies in the last step, in the spheres' order, and in the previous one.
    pub touches: Vec<Touch>,
    pub old_touches: Vec<Touch>,
    /// Contacts with bodies in a trial stage.
    pub tries: Vec<Touch>,
    /// Contacts of two particles with each other.
    pub meetings: Vec<Meeting>,
    /// Sum over one particle's contacts with each body: Σ n nᵀ.
    pub crowds: Vec<DMat3>,
    /// Load of its spheres on each body.
    pub loads: Vec<Wrench>,
    /// Deepest overlap of the last step, and of the frame so far, as a fraction of a radius [-].
    pub deepest: f64,
    pub deepest_yet: f64,
    /// Motion of its particles in the last step.
    pub moved: Moved,
    /// Contacts at the end of the last frame, if they are kept.
    pub kept: Vec<Kept>,
}

/// A contact that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Sphere.
    pub sphere: u32,
    /// The other sphere, or the index of a body.
    pub other: u32,
    pub is_body: bool,
    /// Point of contact, relative to the world's origin [m].
    pub point: [f64; 3],
    /// Normal, from the sphere to the other [-].
    pub normal: [f64; 3],
    /// Overlap [m].
    pub overlap: f64,
    /// Force on the sphere [N].
    pub force: [f64; 3],
}

impl Chunk {
    /// Pairs, padding left out [-].
    pub(crate) fn candidates(&self) -> usize {
        self.pairs.first.last().map_or(0, |&end| end as usize)
    }
}

/// Makes chunks of `count` spheres, with room for what they push `bodies` bodies by. `first` is the first sphere of each particle, and their
/// number, where particles have several: a chunk then holds whole particles.
pub(crate) fn divide(chunks: &mut Vec<Chunk>, count: usize, first: &[u32], bodies: usize) {
    let mut used = 0;
    let mut add = |start: usize, end: usize, first_particle: usize| {
        if used == chunks.len() {
            chunks.push(Chunk::default());
        }
        let chunk = &mut chunks[used];
        (chunk.start, chunk.len, chunk.first_particle) = (start, end - start, first_particle);
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
        let particles = first.len() - 1;
        let mut begin = 0;
        for g in 1..=particles {
            let size = (first[g] - first[begin]) as usize;
            if g == particles || size + (first[g + 1] - first[g]) as usize > CHUNK {
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
        .for_each(|chunk| chunk.pairs.find(chunk.start, chunk.len, known));
}
