//! Local numbers of a chunk's guides and its halo: its own guides come first, then those of other chunks. A chunk sums
//! its impulses on the latter itself; the chunk that owns the guide fetches the sum.

use glam::Vec4;
use rayon::prelude::*;

use super::CHUNK;
use super::candidates::Candidates;
use super::rows::Rows;

/// Empty slot of the table.
const EMPTY: u32 = u32::MAX;

/// The guides of other chunks that a chunk deals with, and their numbers in it.
#[derive(Debug, Default)]
pub(crate) struct Halo {
    foreign: Vec<u32>,
    /// Number of them already imported by their chunks [-].
    imported: usize,
    /// Open addressing: guides and their numbers; no more than half of it is full.
    table: Vec<[u32; 2]>,
}

impl Halo {
    pub(crate) fn clear(&mut self) {
        self.foreign.clear();
        self.imported = 0;
        self.table.fill([EMPTY; 2]);
    }

    /// The number that guide `j` has in chunk `c`.
    pub(crate) fn number(&mut self, c: usize, j: u32) -> u32 {
        if j as usize / CHUNK == c {
            return j % CHUNK as u32;
        }
        if 2 * self.foreign.len() >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut place = j as usize & mask;
        loop {
            let [guide, number] = self.table[place];
            if guide == j {
                return number;
            }
            if guide == EMPTY {
                let number = (CHUNK + self.foreign.len()) as u32;
                self.table[place] = [j, number];
                self.foreign.push(j);
                return number;
            }
            place = (place + 1) & mask;
        }
    }

    /// Guides of other chunks that have a number here.
    pub(crate) fn foreign(&self) -> &[u32] {
        &self.foreign
    }

    fn grow(&mut self) {
        let size = (4 * self.foreign.len()).next_power_of_two().max(2 * CHUNK);
        self.table.clear();
        self.table.resize(size, [EMPTY; 2]);
        for (number, &j) in (CHUNK as u32..).zip(&self.foreign) {
            let mut place = j as usize & (size - 1);
            while self.table[place][0] != EMPTY {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = [j, number];
        }
    }

    /// Guides that have a number here [-], as many as numbers, whether all of them are there or not.
    pub(crate) fn len(&self) -> usize {
        CHUNK + self.foreign.len()
    }

    /// Copies a column of all guides to one of those of chunk `c`, by their numbers here.
    pub(crate) fn copy<T: Copy + Default>(&self, c: usize, column: &[T], own: &mut Vec<T>) {
        let chunk = &column[c * CHUNK..column.len().min((c + 1) * CHUNK)];
        own.clear();
        own.extend_from_slice(chunk);
        own.resize(CHUNK, T::default());
        own.extend(self.foreign.iter().map(|&j| column[j as usize]));
    }

    /// Makes `own` a column of what `of` says of the guides of chunk `c`, of `guides` in all, by their numbers here.
    pub(crate) fn collect<T: Copy + Default>(
        &self,
        c: usize,
        guides: usize,
        of: impl Fn(usize) -> T,
        own: &mut Vec<T>,
    ) {
        own.clear();
        own.extend((c * CHUNK..guides.min((c + 1) * CHUNK)).map(&of));
        own.resize(CHUNK, T::default());
        own.extend(self.foreign.iter().map(|&j| of(j as usize)));
    }
}

/// A sum that another chunk has for a guide.
#[derive(Clone, Copy, Debug)]
struct Import {
    /// The guide's number in its chunk.
    to: u32,
    chunk: u32,
    /// Its number there.
    number: u32,
}

/// Imports of each chunk: sums that other chunks hold for its guides.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    of: Vec<Vec<Import>>,
}

impl Imports {
    /// Finds which of `chunks`, all of them new, deal with guides of others.
    pub(crate) fn find(&mut self, chunks: &mut [Candidates]) {
        self.of.resize_with(chunks.len().max(self.of.len()), Vec::new);
        self.of.iter_mut().for_each(Vec::clear);
        self.find_more(chunks);
    }

    /// Finds which further guides of others `chunks` deal with since the last time.
    pub(crate) fn find_more(&mut self, chunks: &mut [Candidates]) {
        for (chunk, candidates) in (0..).zip(chunks) {
            let Halo { foreign, imported, .. } = &mut candidates.halo;
            for (number, &j) in (CHUNK..).zip(&*foreign).skip(*imported) {
                let import = Import {
                    to: j % CHUNK as u32,
                    chunk,
                    number: number as u32,
                };
                let of = &mut self.of[j as usize / CHUNK];
                if of.last().is_none_or(|last| last.chunk <= chunk) {
                    of.push(import);
                } else {
                    let place = of.partition_point(|import| import.chunk <= chunk);
                    of.insert(place, import);
                }
            }
            *imported = foreign.len();
        }
    }

    /// Makes `sums` what all chunks have for the guides of chunk `c`: its own sums, and those of others, in the order of chunks.
    #[inline]
    pub(crate) fn total(&self, c: usize, rows: &[Rows], sums: &mut [Vec4]) {
        sums.fill(Vec4::ZERO);
        for imports in self.of[c].chunk_by(|a, b| a.chunk == b.chunk) {
            let given = rows[imports[0].chunk as usize].sums();
            for import in imports {
                if let Some(given) = given.get(import.number as usize) {
                    sums[import.to as usize] += *given;
                }
            }
        }
        for (sum, own) in sums.iter_mut().zip(rows[c].sums()) {
            *sum += *own;
        }
    }
}

/// Guides left from pairs in contact that can no longer touch, or whose other guide was removed.
pub(crate) fn lost(
    before: &[Candidates],
    new: &[u32],
    is_near: impl Fn(u32, u32) -> bool + Sync,
    gone: u32,
) -> Vec<u32> {
    let of_chunk = |(c, chunk): (usize, &Candidates)| {
        let mut left = Vec::new();
        for (k, row) in chunk.first.windows(2).enumerate() {
            let i = new[c * CHUNK + k];
            for b in (row[0] as usize..row[1] as usize).filter(|&b| chunk.is_held(b)) {
                let j = new[chunk.other[b] as usize];
                if i == gone || j == gone || !is_near(i, j) {
                    left.extend([i, j].into_iter().filter(|&guide| guide != gone));
                }
            }
        }
        left
    };
    before.par_iter().enumerate().flat_map_iter(of_chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_has_one_number_and_columns_follow_it() {
        let column: Vec<u32> = (0..10 * CHUNK as u32).collect();
        let mut halo = Halo::default();
        let mut numbers = Vec::new();
        for j in (0..column.len()).step_by(3).chain((0..column.len()).step_by(5)) {
            numbers.push((j, halo.number(2, j as u32)));
        }
        let mut own = Vec::new();
        halo.copy(2, &column, &mut own);
        assert_eq!(own.len(), halo.len());
        for (j, number) in numbers {
            assert_eq!(own[number as usize], j as u32);
            assert_eq!(halo.number(2, j as u32), number);
        }
    }
}
