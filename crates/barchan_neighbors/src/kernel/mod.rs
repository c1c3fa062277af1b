//! The pair test: rows of neighbours of a few queries among many candidates, for each instruction set.
//!
//! Every path tests `dx*dx + dy*dy + dz*dz < reach*reach` in f32, in this order, without fused operations, so that all
//! of them agree bit for bit.

mod scalar;
mod vector;

use std::ops::Range;

use barchan_simd::{Level, dispatch};

use crate::sort::{Columns, PAD};

/// Constants of the pair test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) reach: f32,
    pub(crate) scale: f32,
    pub(crate) margin: f32,
    pub(crate) lengths: [f32; 3],
}

/// Queries that share their candidates, as columns of one length.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) y: &'a [f32],
    pub(crate) z: &'a [f32],
    /// Empty where radii play no part.
    pub(crate) radius: &'a [f32],
    /// Candidates to leave out, the queries themselves; empty for another set.
    pub(crate) own: &'a [u32],
}

impl Block<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    /// The candidate to leave out. No point has the last index.
    fn skip(&self, q: usize) -> u32 {
        self.own.get(q).copied().unwrap_or(u32::MAX)
    }
}

/// Columns of candidates, of which the first `len` count. Each column is at least [`PAD`] longer than `len`, except
/// that `radius` may be empty where radii play no part.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) y: &'a [f32],
    pub(crate) z: &'a [f32],
    pub(crate) radius: &'a [f32],
    pub(crate) id: &'a [u32],
    pub(crate) len: usize,
}

/// Candidates that [`Gathered`] holds [-]. More would leave the level-1 cache, and their runs are long enough to be
/// searched in place.
pub(crate) const GATHERED: usize = 512;
/// Gathered candidates are filled up to a multiple of this [-].
const GROUP: usize = 32;
/// Room for the filling, for the last step of a copy, and for the padding of a segment.
const ROOM: usize = GATHERED + GROUP + PAD;

/// A column on its own cache lines.
#[repr(align(64))]
struct Aligned<T>([T; ROOM]);

/// Candidates copied side by side, so that all vectors are full and aligned.
pub(crate) struct Gathered {
    x: Aligned<f32>,
    y: Aligned<f32>,
    z: Aligned<f32>,
    radius: Aligned<f32>,
    id: Aligned<u32>,
    len: usize,
    /// Where the first query is among the candidates.
    own: Option<usize>,
}

impl Gathered {
    pub(crate) fn new() -> Self {
        Self {
            x: Aligned([f32::INFINITY; ROOM]),
            y: Aligned([0.0; ROOM]),
            z: Aligned([0.0; ROOM]),
            radius: Aligned([0.0; ROOM]),
            id: Aligned([0; ROOM]),
            len: 0,
            own: None,
        }
    }

    /// Forgets the candidates.
    pub(crate) fn clear(&mut self) {
        (self.len, self.own) = (0, None);
    }

    /// Whether a run of `len` candidates still fits.
    #[inline]
    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.len + len.next_multiple_of(STEP) <= GATHERED
    }

    /// Appends a run of sorted points.
    ///
    /// Runs start at multiples of a step, whose stores then seldom split a cache line. What lies between is infinitely
    /// far away.
    #[inline]
    pub(crate) fn push<const RADII: bool>(&mut self, columns: &Columns, radii: &[f32], run: Range<usize>) {
        let (at, copies) = (self.len, run.len().div_ceil(COPY));
        let from = run.start..run.start + copies * COPY;
        let to = at..at + copies * COPY;
        let (x, to_x) = (whole(&columns.x[from.clone()]), whole_mut(&mut self.x.0[to.clone()]));
        let (y, to_y) = (whole(&columns.y[from.clone()]), whole_mut(&mut self.y.0[to.clone()]));
        let (z, to_z) = (whole(&columns.z[from.clone()]), whole_mut(&mut self.z.0[to.clone()]));
        let (id, to_id) = (whole(&columns.id[from.clone()]), whole_mut(&mut self.id.0[to.clone()]));
        // One loop for all columns: its length is a surprise to the processor, once instead of four times.
        for k in 0..copies {
            (to_x[k], to_y[k], to_z[k], to_id[k]) = (x[k], y[k], z[k], id[k]);
        }
        if RADII {
            self.radius.0[to].copy_from_slice(&radii[from]);
        }
        self.x.0[at + run.len()..][..STEP].fill(f32::INFINITY);
        self.len = at + run.len().next_multiple_of(STEP);
    }

    /// Number of candidates so far [-].
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Says that the query block begins with the `first`-th candidate.
    pub(crate) fn set_own(&mut self, first: usize) {
        self.own = Some(first);
    }

    /// Fills the last group with candidates that are infinitely far away.
    pub(crate) fn finish(&mut self) {
        self.x.0[self.len..][..GROUP].fill(f32::INFINITY);
        self.len = self.len.next_multiple_of(GROUP);
    }

    fn segment(&self) -> Segment<'_> {
        Segment {
            x: &self.x.0,
            y: &self.y.0,
            z: &self.z.0,
            radius: &self.radius.0,
            id: &self.id.0,
            len: self.len,
        }
    }
}

/// Runs start at multiples of this [-].
const STEP: usize = 4;
/// Elements copied at once [-], which the padding of both sides allows.
const COPY: usize = 8;

#[inline]
fn whole<T>(column: &[T]) -> &[[T; COPY]] {
    column.as_chunks().0
}

#[inline]
fn whole_mut<T>(column: &mut [T]) -> &mut [[T; COPY]] {
    column.as_chunks_mut().0
}

/// Appends the row of each query among gathered candidates to `out`, and where it ends to `ends`.
pub(crate) fn gathered_rows<const RADII: bool, const PERIODIC: bool>(
    level: Level,
    test: &Test,
    block: &Block<'_>,
    candidates: &Gathered,
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    match level {
        Level::Scalar => rows::<RADII, PERIODIC>(level, test, block, &[candidates.segment()], out, ends),
        _ => {
            dispatch!(level, simd => vector::gathered_rows::<_, RADII, PERIODIC>(simd, test, block, candidates, out, ends));
        }
    }
}

/// Appends the row of each query to `out`, and where it ends to `ends`.
pub(crate) fn rows<const RADII: bool, const PERIODIC: bool>(
    level: Level,
    test: &Test,
    block: &Block<'_>,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    match level {
        Level::Scalar => scalar::rows::<RADII, PERIODIC>(test, block, segments, out, ends),
        _ => dispatch!(level, simd => vector::rows::<_, RADII, PERIODIC>(simd, test, block, segments, out, ends)),
    }
}
