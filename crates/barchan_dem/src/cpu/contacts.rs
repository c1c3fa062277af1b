//! Pairs of spheres that may touch before the next search, chunk by chunk, with what they remember.

use barchan_neighbors::Lists;
use barchan_world::Wrench;
use rayon::prelude::*;

use super::CHUNK;
use super::block::History;
use super::near::Near;
use super::past::Past;
use super::simd::LANES;
use super::walls::Touch;

/// The contacts of the spheres of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Its first sphere, and their number.
    pub start: usize,
    pub len: usize,
    /// Pairs of the chunk's `k`-th sphere begin at `first[k]`.
    pub first: Vec<u32>,
    /// Its sphere of each pair and the other one; the other has the higher number if it is in the chunk, too. Padded by pairs with nobody
    /// to whole blocks.
    pub own: Vec<u32>,
    pub other: Vec<u32>,
    pub history: Vec<History>,
    /// The row with which pairs are padded: the last there is.
    pub nobody: u32,
    /// Bodies that its spheres may touch, in the spheres' order.
    pub near: Vec<Near>,
    /// Contacts with bodies of the last step, in the spheres' order, and of the one before.
    pub touches: Vec<Touch>,
    pub old_touches: Vec<Touch>,
    /// What its spheres exert on each body.
    pub loads: Vec<Wrench>,
    /// Deepest overlap of the last step, of a radius [-].
    pub deepest: f64,
}

impl Chunk {
    /// Pairs, padding left out [-].
    pub(crate) fn pairs(&self) -> usize {
        self.first.last().map_or(0, |&end| end as usize)
    }

    fn rebuild(&mut self, lists: &Lists, past: &Past, old: &[u32], nobody: u32) {
        self.first.clear();
        self.own.clear();
        self.other.clear();
        self.history.clear();
        self.first.push(0);
        let inside = self.start as u32..(self.start + self.len) as u32;
        for i in inside.clone() {
            for &j in lists.of(i as usize) {
                if inside.contains(&j) && j < i {
                    continue;
                }
                self.own.push(i);
                self.other.push(j);
                self.history.push(past.pair(old[i as usize], old[j as usize]));
            }
            self.first.push(self.own.len() as u32);
        }
        assert!(self.other.iter().all(|&j| j < nobody), "a sphere that is not there");
        self.nobody = nobody;
        let padded = self.own.len().next_multiple_of(LANES);
        self.own.resize(padded, self.start as u32);
        self.other.resize(padded, nobody);
        self.history.resize(padded, [0.0; 4]);
    }
}

/// Makes chunks of `count` spheres, with room for what they push `bodies` bodies by.
pub(crate) fn divide(chunks: &mut Vec<Chunk>, count: usize, bodies: usize) {
    chunks.resize_with(count.div_ceil(CHUNK), Chunk::default);
    for (c, chunk) in chunks.iter_mut().enumerate() {
        chunk.start = c * CHUNK;
        chunk.len = CHUNK.min(count - chunk.start);
        chunk.loads.clear();
        chunk.loads.resize(bodies, Wrench::default());
    }
}

/// Fills all chunks with the pairs of `lists`; sphere `i` has number `old[i]` in what is remembered.
pub(crate) fn rebuild(chunks: &mut [Chunk], lists: &Lists, past: &Past, old: &[u32]) {
    let nobody = old.len() as u32;
    chunks
        .par_iter_mut()
        .for_each(|chunk| chunk.rebuild(lists, past, old, nobody));
}
