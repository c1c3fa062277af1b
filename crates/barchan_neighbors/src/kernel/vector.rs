//! A register of candidates at a time.

use barchan_simd::{Appender, Real, Simd, block};

use super::{Block, GROUP, Gathered, ROOM, Segment, Test};
use crate::sort::PAD;

/// Constants of the test.
struct Constants<S: Simd> {
    scale: S::Register,
    margin: S::Register,
    squared_reach: S::Register,
    lengths: [S::Register; 3],
}

impl<S: Simd> Constants<S> {
    #[inline(always)]
    fn new(simd: S, test: &Test) -> Self {
        let [x, y, z] = test.lengths;
        Self {
            scale: simd.splat(test.scale),
            margin: simd.splat(test.margin),
            squared_reach: simd.splat(test.reach * test.reach),
            lengths: [simd.splat(x), simd.splat(y), simd.splat(z)],
        }
    }

    /// Returns one bit per candidate near the query.
    #[inline(always)]
    fn near<const RADII: bool, const PERIODIC: bool>(&self, query: &Query<S>, candidates: &Query<S>) -> u32 {
        let [x, y, z] = query.position;
        let [cx, cy, cz] = candidates.position;
        let dx = nearest_image::<_, PERIODIC>(x - cx, self.lengths[0]);
        let dy = nearest_image::<_, PERIODIC>(y - cy, self.lengths[1]);
        let dz = nearest_image::<_, PERIODIC>(z - cz, self.lengths[2]);
        let squared = dx * dx + dy * dy + dz * dz;
        let limit = match RADII {
            true => {
                let reach = self.scale * (query.radius + candidates.radius) + self.margin;
                reach * reach
            }
            false => self.squared_reach,
        };
        S::Register::bits(squared.lt(limit))
    }
}

/// Positions and radii of points, one per lane.
struct Query<S: Simd> {
    position: [S::Register; 3],
    radius: S::Register,
}

impl<S: Simd> Query<S> {
    /// One query in all lanes.
    #[inline(always)]
    fn all<const RADII: bool>(simd: S, block: &Block<'_>, q: usize) -> Self {
        Self {
            position: [simd.splat(block.x[q]), simd.splat(block.y[q]), simd.splat(block.z[q])],
            radius: simd.splat(if RADII { block.radius[q] } else { 0.0 }),
        }
    }

    /// Candidates from `c` on.
    #[inline(always)]
    fn load<const RADII: bool>(simd: S, [x, y, z, radius]: [&[f32]; 4], c: usize) -> Self {
        Self {
            position: [simd.load(x, c), simd.load(y, c), simd.load(z, c)],
            radius: if RADII { simd.load(radius, c) } else { simd.splat(0.0) },
        }
    }
}

#[inline(always)]
fn nearest_image<T: Real, const PERIODIC: bool>(d: T, length: T) -> T {
    if !PERIODIC {
        return d;
    }
    let half = length * length.like(0.5);
    let lowered = T::select(half.lt(d), d - length, d);
    T::select(d.lt(d.like(0.0) - half), d + length, lowered)
}

/// Rows among gathered candidates: the bits of 32 tests at a time, then one selection. Stores that split a cache line cost as much as the
/// tests here, so the fewer stores the better.
#[inline(always)]
pub(super) fn gathered_rows<S: Simd, const RADII: bool, const PERIODIC: bool>(
    simd: S,
    test: &Test,
    queries: &Block<'_>,
    candidates: &Gathered,
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let constants = Constants::new(simd, test);
    let len = candidates.len;
    assert!(len.is_multiple_of(GROUP) && len <= ROOM);
    let columns: [&[f32]; 4] = [&candidates.x.0, &candidates.y.0, &candidates.z.0, &candidates.radius.0];
    for q in 0..queries.len() {
        let query = Query::all::<RADII>(simd, queries, q);
        let own = candidates.own.map_or(usize::MAX, |first| first + q);
        let mut row = Appender::new(out, len + GROUP);
        for group in (0..len).step_by(GROUP) {
            let mut bits = 0;
            for lane in (0..GROUP).step_by(S::LANES) {
                let near = Query::load::<RADII>(simd, columns, group + lane);
                bits |= constants.near::<RADII, PERIODIC>(&query, &near) << lane;
            }
            let own_bit = own.wrapping_sub(group);
            let hits = bits & !(u32::from(own_bit < GROUP) << (own_bit % GROUP));
            simd.append32(block(&candidates.id.0, group), hits, &mut row);
        }
        drop(row);
        ends.push(out.len());
    }
}

/// Rows among candidates in place.
#[inline(always)]
pub(super) fn rows<S: Simd, const RADII: bool, const PERIODIC: bool>(
    simd: S,
    test: &Test,
    queries: &Block<'_>,
    segments: &[Segment<'_>],
    out: &mut Vec<u32>,
    ends: &mut Vec<usize>,
) {
    let constants = Constants::new(simd, test);
    let most = segments.iter().map(|s| s.len).sum::<usize>() + GROUP;
    for q in 0..queries.len() {
        let query = Query::all::<RADII>(simd, queries, q);
        let skip = queries.skip(q);
        let mut row = Appender::new(out, most);
        for s in segments {
            // Slices of one length: one check serves all columns.
            let padded = s.len + PAD;
            let radius = if RADII { &s.radius[..padded] } else { s.radius };
            let columns = [&s.x[..padded], &s.y[..padded], &s.z[..padded], radius];
            let ids = &s.id[..padded];
            for c in (0..s.len).step_by(S::LANES) {
                let live = u32::MAX >> (32 - (s.len - c).min(S::LANES));
                let near = Query::load::<RADII>(simd, columns, c);
                let hits = constants.near::<RADII, PERIODIC>(&query, &near) & live;
                simd.append(ids, c, hits, skip, &mut row);
            }
        }
        drop(row);
        ends.push(out.len());
    }
}
