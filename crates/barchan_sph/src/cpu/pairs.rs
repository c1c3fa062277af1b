//! Neighbors of each guide, with the values that stay the same over a step.

use barchan_neighbors::Lists;
use barchan_simd::{Real, Simd, f32x8};
use glam::{Mat3A, Vec3, Vec3A, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::simd::{LANES, Lane, vectorized};
use crate::laws::kernel;
use crate::laws::stress::Sym;

/// Least determinant of M [-], and greatest norm of its inverse, with which gradients are corrected: guides with too few neighbors
/// have no gradient worth correcting.
const MIN_DETERMINANT: f32 = 0.01;
const MAX_NORM: f32 = 12.0;

/// Coordinate of lanes without a neighbor, in half kernel radii [-]: beyond any kernel.
const PADDING_POSITION: f32 = 1e3;

/// Rows of neighbors of some consecutive guides, in whole blocks. The last block of a row is filled up with the guide itself, of no
/// weight.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Blocks before the end of each row [-].
    ends: Vec<u32>,
    /// True neighbors in each row [-].
    counts: Vec<u32>,
    other: Vec<[u32; LANES]>,
    /// V W'/r of the other guide [1/m²].
    slope: Vec<Lane>,
    /// Ways [m] from the neighbors of one guide to it, along each axis.
    way: [Vec<Lane>; 3],
    /// Guides there are [-]: every neighbor's number is below.
    guides: usize,
}

impl Rows {
    /// Neighbors of guide `k` of the chunk, with their slopes.
    #[inline(always)]
    pub(crate) fn row(&self, k: usize) -> impl Iterator<Item = (usize, f32)> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        let range = start..self.ends[k] as usize;
        let others = self.other[range.clone()].as_flattened().iter();
        let slopes = self.slope[range].as_flattened();
        others
            .zip(slopes)
            .take(self.counts[k] as usize)
            .map(|(&j, &slope)| (j as usize, slope))
    }

    /// The same in blocks.
    #[inline(always)]
    fn blocks(&self, k: usize) -> impl Iterator<Item = (&[u32; LANES], &Lane)> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        let range = start..self.ends[k] as usize;
        self.other[range.clone()].iter().zip(&self.slope[range])
    }

    /// Adds the neighbors of guide `i` among `candidates` as a row, with the ways to them in `way`, and gives their number.
    #[inline(always)]
    fn sieve<S: Simd, const OPEN: bool, const ALIKE: bool>(
        &mut self,
        simd: S,
        i: usize,
        candidates: &[u32],
        [place, lump]: [&[Vec4]; 2],
        space: &Space,
    ) -> usize {
        let (places, lumps) = (place.as_chunks::<1>().0, lump.as_chunks::<1>().0);
        let (start, most) = (self.other.len(), candidates.len().div_ceil(LANES) + 1);
        // Room for whole blocks of what is left out, too.
        self.other.resize(start + most, [i as u32; LANES]);
        for way in &mut self.way {
            way.resize(most.max(way.len()), [0.0; LANES]);
        }
        let [x_way, y_way, z_way] = self.way.each_mut().map(|way| way.as_flattened_mut());
        let row = self.other[start..].as_flattened_mut();
        let own = lump[i].x;
        let (whole, rest) = candidates.as_chunks::<LANES>();
        let mut last = [i as u32; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some((&last, (1 << rest.len()) - 1));
        let mut count = 0;
        for (others, live) in whole.iter().map(|others| (others, (1u32 << LANES) - 1)).chain(last) {
            let [x, y, z, _] = simd.gather8(places, 0, others);
            let halves = if ALIKE {
                simd.splat8(own)
            } else {
                simd.gather8(lumps, 0, others)[0]
            };
            let d = space.apart::<S, OPEN>(simd, place[i], [x, y, z]);
            let reach = simd.splat8(own) + halves;
            let bits = f32x8::bits(Real::dot(d, d).lt(reach * reach)) & live;
            *block_at(row, count) = simd.packed_integers8(simd.integers8(others), bits).into();
            *block_at(x_way, count) = <[f32; LANES]>::from(simd.packed8(d[0], bits));
            *block_at(y_way, count) = <[f32; LANES]>::from(simd.packed8(d[1], bits));
            *block_at(z_way, count) = <[f32; LANES]>::from(simd.packed8(d[2], bits));
            count += bits.count_ones() as usize;
        }
        *block_at(row, count) = [i as u32; LANES];
        // So far that it has no weight.
        *block_at(x_way, count) = [PADDING_POSITION * own; LANES];
        self.other.truncate(start + count.div_ceil(LANES));
        count
    }

    /// Makes sure that every neighbor has a place in `column`.
    #[inline(always)]
    fn check<T>(&self, column: &[T]) {
        assert!(column.len() >= self.guides, "a column for other guides");
    }

    /// Σ V ∇W w_j of guide `k` of the chunk, at `place`, for `column` of places, with w beside them.
    #[inline(always)]
    pub(crate) fn weighted<S: Simd, const OPEN: bool>(
        &self,
        simd: S,
        k: usize,
        space: &Space,
        place: Vec4,
        column: &[Vec4],
    ) -> Vec4 {
        self.check(column);
        let column = column.as_chunks::<1>().0;
        let mut sums = [simd.splat8(0.0); 3];
        for (others, slopes) in self.blocks(k) {
            let [x, y, z, weight] = simd.gather8(column, 0, others);
            let d = space.apart::<S, OPEN>(simd, place, [x, y, z]);
            let scale = simd.load8(slopes) * weight;
            for axis in 0..3 {
                sums[axis] += scale * d[axis];
            }
        }
        Vec3::from(simd.sums8(sums)).extend(0.0)
    }

    /// Σ V ∇W·v_j of guide `k`, for columns of places and of v.
    #[inline(always)]
    pub(crate) fn inflow<S: Simd, const OPEN: bool>(
        &self,
        simd: S,
        k: usize,
        space: &Space,
        place: Vec4,
        columns: [&[Vec4]; 2],
    ) -> f32 {
        self.check(columns[0]);
        self.check(columns[1]);
        let [places, vectors] = columns.map(|column| column.as_chunks::<1>().0);
        let mut sum = simd.splat8(0.0);
        for (others, slopes) in self.blocks(k) {
            let ([x, y, z, _], [vx, vy, vz, _]) = (simd.gather8(places, 0, others), simd.gather8(vectors, 0, others));
            let d = space.apart::<S, OPEN>(simd, place, [x, y, z]);
            sum += simd.load8(slopes) * Real::dot(d, [vx, vy, vz]);
        }
        simd.sum8(sum)
    }

    /// Columns of Σ V ∇W (v_j - v)ᵀ of guide `k`, whose own are `[place, v]`: row a, column b is along a of component b. And, if it is
    /// asked for what lies `BESIDE` each v, Σ V ∇W w_j.
    #[inline(always)]
    pub(crate) fn gradient<S: Simd, const OPEN: bool, const BESIDE: bool>(
        &self,
        simd: S,
        k: usize,
        space: &Space,
        [place, own]: [Vec4; 2],
        columns: [&[Vec4]; 2],
    ) -> ([[f32; 3]; 3], Vec4) {
        self.check(columns[0]);
        self.check(columns[1]);
        let [places, vectors] = columns.map(|column| column.as_chunks::<1>().0);
        let own = [simd.splat8(own.x), simd.splat8(own.y), simd.splat8(own.z)];
        let mut sums = [[simd.splat8(0.0); 3]; 4];
        for (others, slopes) in self.blocks(k) {
            let ([x, y, z, _], v) = (simd.gather8(places, 0, others), simd.gather8(vectors, 0, others));
            let d = space.apart::<S, OPEN>(simd, place, [x, y, z]);
            let slopes = simd.load8(slopes);
            let g = [slopes * d[0], slopes * d[1], slopes * d[2]];
            for a in 0..3 {
                for b in 0..3 {
                    sums[b][a] += g[a] * (v[b] - own[b]);
                }
                if BESIDE {
                    sums[3][a] += g[a] * v[3];
                }
            }
        }
        let [x, y, z, w] = sums;
        let beside = if BESIDE { simd.sums8(w) } else { [0.0; 3] };
        (
            [simd.sums8(x), simd.sums8(y), simd.sums8(z)],
            Vec3::from(beside).extend(0.0),
        )
    }

    /// Σ V T_j ∇W of guide `k`, for `tensors` whose columns carry a coordinate of the place each.
    #[inline(always)]
    pub(crate) fn divergence<S: Simd, const OPEN: bool>(
        &self,
        simd: S,
        k: usize,
        space: &Space,
        place: Vec4,
        tensors: &[[Vec4; 3]],
    ) -> Vec4 {
        self.check(tensors);
        let mut sums = [simd.splat8(0.0); 3];
        for (others, slopes) in self.blocks(k) {
            let [s, t, u] = [
                simd.gather8(tensors, 0, others),
                simd.gather8(tensors, 1, others),
                simd.gather8(tensors, 2, others),
            ];
            let d = space.apart::<S, OPEN>(simd, place, [s[3], t[3], u[3]]);
            let slopes = simd.load8(slopes);
            let g = [slopes * d[0], slopes * d[1], slopes * d[2]];
            for axis in 0..3 {
                sums[axis] += Real::dot([s[axis], t[axis], u[axis]], g);
            }
        }
        Vec3::from(simd.sums8(sums)).extend(0.0)
    }
}

/// A block's worth of `values` from `start` on.
#[inline(always)]
fn block_at<T>(values: &mut [T], start: usize) -> &mut [T; LANES] {
    values[start..].first_chunk_mut().expect("there is room for a block")
}

/// Differences of places where some axes may close upon themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Space {
    /// Length of each periodic axis [m], and 1/length [1/m]; 0 for the others.
    pub length: Vec4,
    pub per_length: Vec4,
}

impl Space {
    /// Returns true if no axis is periodic.
    pub(crate) fn is_open(&self) -> bool {
        self.length == Vec4::ZERO
    }

    /// a - b [m], the nearest image of it.
    #[inline(always)]
    pub(crate) fn between<const OPEN: bool>(&self, a: Vec4, b: Vec4) -> Vec4 {
        let d = a - b;
        if OPEN {
            d
        } else {
            d - self.length * (d * self.per_length).round()
        }
    }

    /// The same for some b, as columns.
    #[inline(always)]
    fn apart<S: Simd, const OPEN: bool>(&self, simd: S, a: Vec4, b: [f32x8<S>; 3]) -> [f32x8<S>; 3] {
        let mut d = [
            simd.splat8(a.x) - b[0],
            simd.splat8(a.y) - b[1],
            simd.splat8(a.z) - b[2],
        ];
        if !OPEN {
            for (axis, d) in d.iter_mut().enumerate() {
                let turns = (*d * simd.splat8(self.per_length[axis])).round_ties_even();
                *d -= simd.splat8(self.length[axis]) * turns;
            }
        }
        d
    }
}

/// Sums over neighbors, one partial sum per lane.
struct Sums<S: Simd> {
    compression: f32x8<S>,
    /// Σ V ∇W [1/m].
    lean: [f32x8<S>; 3],
    /// M = -Σ V W'/r x xᵀ [-]: xx, yy, zz, yz, zx, xy.
    moment: [f32x8<S>; 6],
    /// Σ V |∇W|² [1/m⁵].
    weight: f32x8<S>,
    /// Σ V |∇W|²/ρ [1/(kg m²)].
    squares: f32x8<S>,
}

impl<S: Simd> Sums<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        let zero = simd.splat8(0.0);
        Self {
            compression: zero,
            lean: [zero; 3],
            moment: [zero; 6],
            weight: zero,
            squares: zero,
        }
    }

    /// Adds neighbors at `d` [m], seen within 1/`per_support` [m], of `volume` [m³] and `inverse_density` [m³/kg], and gives their slopes
    /// V W'/r [1/m²].
    #[inline(always)]
    fn add(&mut self, d: [f32x8<S>; 3], per_support: f32x8<S>, volume: f32x8<S>, inverse_density: f32x8<S>) -> Lane {
        let squared = Real::dot(d, d);
        let (value, slope) = kernel::value_and_slope(squared.sqrt(), per_support);
        let weight = slope * slope * squared * volume;
        let slope = slope * volume;
        self.compression += volume * value;
        let g = [slope * d[0], slope * d[1], slope * d[2]];
        for axis in 0..3 {
            self.lean[axis] += g[axis];
            self.moment[axis] -= g[axis] * d[axis];
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            self.moment[3 + axis] -= g[next] * d[last];
        }
        self.weight += weight;
        self.squares += weight * inverse_density;
        <[f32; LANES]>::from(slope)
    }
}

/// Fills `rows`, and what columns know of the neighbors alone: compression, lean, exactness and responses.
pub(crate) fn build(rows: &mut Vec<Rows>, lists: &Lists, columns: &mut Columns, space: &Space, step: f32) {
    rows.resize_with(columns.place.len().div_ceil(CHUNK), Rows::default);
    let Columns {
        place,
        lump,
        compression,
        lean,
        diagonal,
        exact,
        response,
        are_alike,
        ..
    } = columns;
    let are_alike = *are_alike;
    let chunks = rows
        .par_iter_mut()
        .zip(compression.par_chunks_mut(CHUNK))
        .zip(lean.par_chunks_mut(CHUNK))
        .zip(diagonal.par_chunks_mut(CHUNK))
        .zip(exact.par_chunks_mut(CHUNK))
        .zip(response.par_chunks_mut(CHUNK))
        .enumerate();
    chunks.for_each(|(c, (((((rows, compression), lean), diagonal), exact), response))| {
        let own = Own {
            compression,
            lean,
            diagonal,
            exact,
            response,
            are_alike,
            step,
        };
        build_rows(rows, c * CHUNK, lists, [place, lump], space, own);
    });
}

/// Results of the neighbor sums of one chunk's guides.
struct Own<'a> {
    compression: &'a mut [f32],
    lean: &'a mut [Vec4],
    diagonal: &'a mut [f32],
    exact: &'a mut [Sym],
    response: &'a mut [f32],
    /// True if all guides have the same size and density.
    are_alike: bool,
    /// Step [s].
    step: f32,
}

vectorized! {
    fn build_rows(
        rows: &mut Rows, first: usize, lists: &Lists, columns: [&[Vec4]; 2], space: &Space, own: Own<'_>,
    ) = build_in
}

#[inline(always)]
fn build_in<S: Simd>(
    simd: S,
    rows: &mut Rows,
    first: usize,
    lists: &Lists,
    columns: [&[Vec4]; 2],
    space: &Space,
    own: Own<'_>,
) {
    match (space.is_open(), own.are_alike) {
        (true, true) => build_chunk::<S, true, true>(simd, rows, first, lists, columns, space, own),
        (true, false) => build_chunk::<S, true, false>(simd, rows, first, lists, columns, space, own),
        (false, true) => build_chunk::<S, false, true>(simd, rows, first, lists, columns, space, own),
        (false, false) => build_chunk::<S, false, false>(simd, rows, first, lists, columns, space, own),
    }
}

#[inline(always)]
fn build_chunk<S: Simd, const OPEN: bool, const ALIKE: bool>(
    simd: S,
    rows: &mut Rows,
    first: usize,
    lists: &Lists,
    [place, lump]: [&[Vec4]; 2],
    space: &Space,
    own: Own<'_>,
) {
    rows.ends.clear();
    rows.counts.clear();
    rows.other.clear();
    rows.slope.clear();
    rows.guides = place.len();
    assert!(lump.len() == place.len() && lists.len() == place.len());
    let lumps = lump.as_chunks::<1>().0;
    for k in 0..own.compression.len() {
        let i = first + k;
        let [half_support, volume, inverse_density, _] = lump[i].to_array();
        let mut sums = Sums::none(simd);
        let start = rows.slope.len();
        let count = rows.sieve::<S, OPEN, ALIKE>(simd, i, lists.of(i), [place, lump], space);
        rows.slope.resize(rows.other.len(), [0.0; LANES]);
        let [x, y, z] = &rows.way;
        let ways = x.iter().zip(y).zip(z);
        let row = rows.other[start..].iter().zip(&mut rows.slope[start..]);
        for ((others, slope), ((x, y), z)) in row.zip(ways) {
            let [halves, volumes, inverse_densities] = if ALIKE {
                [
                    simd.splat8(half_support),
                    simd.splat8(volume),
                    simd.splat8(inverse_density),
                ]
            } else {
                let [halves, volumes, inverse_densities, _] = simd.gather8(lumps, 0, others);
                [halves, volumes, inverse_densities]
            };
            let per_support = simd.splat8(1.0) / (simd.splat8(half_support) + halves);
            let d = [simd.load8(x), simd.load8(y), simd.load8(z)];
            *slope = sums.add(d, per_support, volumes, inverse_densities);
        }
        rows.ends.push(rows.other.len() as u32);
        rows.counts.push(count as u32);
        let [xx, yy, zz, yz, zx, xy] = sums.moment;
        let moment = Sym {
            diagonal: simd.sums8([xx, yy, zz]).into(),
            off: simd.sums8([yz, zx, xy]).into(),
        };
        own.compression[k] = volume * kernel::peak(0.5 / half_support) + simd.sum8(sums.compression);
        let lean = Vec3::from(simd.sums8(sums.lean)).extend(0.0);
        own.lean[k] = lean;
        own.diagonal[k] = volume * simd.sum8(sums.squares);
        let exact = inverse_or_identity(moment);
        own.exact[k] = exact;
        let softness = softness(simd.sum8(sums.weight), lean, exact, volume, inverse_density);
        // No answer is beyond what a stress can hold.
        own.response[k] = 1.0 / (own.step * softness).max(1e-30);
    }
}

/// M⁻¹, or nothing to correct where there are too few neighbors.
#[inline(always)]
fn inverse_or_identity(moment: Sym) -> Sym {
    let (determinant, adjugate) = moment.determinant_and_adjugate();
    let inverse = adjugate.times(1.0 / determinant);
    if determinant > MIN_DETERMINANT && inverse.norm() < MAX_NORM {
        inverse
    } else {
        Sym::of(Mat3A::IDENTITY)
    }
}

/// D/Δt [1/(Pa s²)]: how fast a stress at a guide, and the same at its neighbors, undoes the strain rate there.
///
/// D = 2Δt/(3ρ) (V Σ V |L∇W|² + |L Σ V ∇W|²), [Alduan11] with the corrected gradient L∇W and the guide's own motion, which counts where
/// neighbors are missing. |L∇W|² is taken as |L|²/3 |∇W|².
#[inline(always)]
fn softness(weight: f32, lean: Vec4, exact: Sym, volume: f32, inverse_density: f32) -> f32 {
    let scale = exact.norm().powi(2) / 3.0;
    let own = exact.matrix() * Vec3A::from_vec4(lean);
    2.0 / 3.0 * inverse_density * (volume * scale * weight + own.length_squared())
}
