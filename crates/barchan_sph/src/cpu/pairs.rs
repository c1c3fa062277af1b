//! Neighbours of each guide, with what stays the same over a step.

use barchan_neighbors::Lists;
use glam::{Mat3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use crate::laws::kernel;
use crate::laws::stress::Sym;

/// Least determinant of M [-], and greatest norm of its inverse, with which gradients are corrected: guides with too few neighbours
/// have no gradient worth correcting.
const LEAST_DETERMINANT: f32 = 0.01;
const GREATEST_NORM: f32 = 12.0;

/// Rows of neighbours of some consecutive guides.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    ends: Vec<u32>,
    other: Vec<u32>,
    /// V W'/r of the other guide [1/m²].
    slope: Vec<f32>,
}

impl Rows {
    /// Neighbours of guide `k` of the chunk, with their slopes.
    #[inline(always)]
    pub(crate) fn row(&self, k: usize) -> impl Iterator<Item = (usize, f32)> {
        let start = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        let range = start..self.ends[k] as usize;
        let others = self.other[range.clone()].iter();
        others.zip(&self.slope[range]).map(|(&j, &slope)| (j as usize, slope))
    }
}

/// Differences of places where some axes may close upon themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Space {
    /// Length of each axis that does [m], and 1/length [1/m]; 0 for others.
    pub length: Vec4,
    pub per_length: Vec4,
}

impl Space {
    /// Whether no axis does.
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
}

/// Neighbours that are looked at together [-].
const LANES: usize = 8;

/// A number for each of them.
type Lanes = [f32; LANES];

/// What a sum over neighbours gives, a lane each.
#[derive(Default)]
struct Sums {
    compression: Lanes,
    /// Σ V ∇W [1/m].
    lean: [Lanes; 3],
    /// M = -Σ V W'/r x xᵀ [-]: xx, yy, zz, yz, zx, xy.
    moment: [Lanes; 6],
    /// Σ V |∇W|² [1/m⁵].
    weight: Lanes,
    /// Σ V |∇W|²/ρ [1/(kg m²)].
    squares: Lanes,
}

/// Some neighbours side by side.
#[derive(Default)]
struct Block {
    x: [Lanes; 3],
    half_support: Lanes,
    volume: Lanes,
    inverse_density: Lanes,
}

impl Block {
    /// Adds them to the sums, for a guide of `half_support` [m], and gives their slopes V W'/r [1/m²].
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]
    fn add(&self, half_support: f32, sums: &mut Sums) -> Lanes {
        let mut slopes = [0.0; LANES];
        for l in 0..LANES {
            let [x, y, z] = [self.x[0][l], self.x[1][l], self.x[2][l]];
            let squared = x * x + y * y + z * z;
            let per_support = 1.0 / (half_support + self.half_support[l]);
            let (value, slope) = kernel::value_and_slope(squared.sqrt(), per_support);
            let volume = self.volume[l];
            let weight = slope * slope * squared * volume;
            let slope = slope * volume;
            slopes[l] = slope;
            sums.compression[l] += volume * value;
            let [sx, sy, sz] = [slope * x, slope * y, slope * z];
            sums.lean[0][l] += sx;
            sums.lean[1][l] += sy;
            sums.lean[2][l] += sz;
            sums.moment[0][l] -= sx * x;
            sums.moment[1][l] -= sy * y;
            sums.moment[2][l] -= sz * z;
            sums.moment[3][l] -= sy * z;
            sums.moment[4][l] -= sz * x;
            sums.moment[5][l] -= sx * y;
            sums.weight[l] += weight;
            sums.squares[l] += weight * self.inverse_density[l];
        }
        slopes
    }
}

/// The sum of all lanes, in a fixed order.
fn total(lanes: Lanes) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

/// Fills `rows`, and what columns know of the neighbours alone: compression, lean, exactness and responses.
pub(crate) fn build(rows: &mut Vec<Rows>, lists: &Lists, columns: &mut Columns, space: &Space, step: f32) {
    rows.resize_with(columns.place.len().div_ceil(CHUNK), Rows::default);
    match space.is_open() {
        true => build_in::<true>(rows, lists, columns, space, step),
        false => build_in::<false>(rows, lists, columns, space, step),
    }
}

fn build_in<const OPEN: bool>(rows: &mut [Rows], lists: &Lists, columns: &mut Columns, space: &Space, step: f32) {
    let Columns {
        place,
        lump,
        compression,
        lean,
        diagonal,
        exact,
        response,
        ..
    } = columns;
    let chunks = rows
        .par_iter_mut()
        .zip(compression.par_chunks_mut(CHUNK))
        .zip(lean.par_chunks_mut(CHUNK))
        .zip(diagonal.par_chunks_mut(CHUNK))
        .zip(exact.par_chunks_mut(CHUNK))
        .zip(response.par_chunks_mut(CHUNK))
        .enumerate();
    chunks.for_each(|(c, (((((rows, compression), lean), diagonal), exact), response))| {
        rows.ends.clear();
        rows.other.clear();
        rows.slope.clear();
        let mut block = Block::default();
        for k in 0..compression.len() {
            let i = c * CHUNK + k;
            let [half_support, volume, inverse_density, _] = lump[i].to_array();
            let mut sums = Sums::default();
            let others = lists.of(i);
            rows.other.extend_from_slice(others);
            for others in others.chunks(LANES) {
                // A lane without a neighbour has no volume.
                block.volume = [0.0; LANES];
                for (l, &j) in others.iter().enumerate() {
                    let d = space.between::<OPEN>(place[i], place[j as usize]);
                    [block.x[0][l], block.x[1][l], block.x[2][l], _] = d.to_array();
                    [block.half_support[l], block.volume[l], block.inverse_density[l], _] = lump[j as usize].to_array();
                }
                let slopes = block.add(half_support, &mut sums);
                rows.slope.extend_from_slice(&slopes[..others.len()]);
            }
            rows.ends.push(rows.other.len() as u32);
            let [xx, yy, zz, yz, zx, xy] = sums.moment.map(total);
            let moment = Sym {
                diagonal: Vec3::new(xx, yy, zz),
                off: Vec3::new(yz, zx, xy),
            };
            compression[k] = volume * kernel::peak(0.5 / half_support) + total(sums.compression);
            lean[k] = Vec3::from(sums.lean.map(total)).extend(0.0);
            diagonal[k] = volume * total(sums.squares);
            exact[k] = inverse_or_identity(moment);
            let softness = softness(total(sums.weight), lean[k], exact[k], volume, inverse_density);
            response[k] = 1.0 / (step * softness).max(f32::MIN_POSITIVE);
        }
    });
}

/// M⁻¹, or nothing to correct where there are too few neighbours.
fn inverse_or_identity(moment: Sym) -> Sym {
    let m = moment.matrix();
    if m.determinant() > LEAST_DETERMINANT {
        let inverse = Sym::of(m.inverse());
        if inverse.norm() < GREATEST_NORM {
            return inverse;
        }
    }
    Sym::of(Mat3::IDENTITY)
}

/// D/Δt [1/(Pa s²)]: how fast a stress at a guide, and the same at its neighbours, undoes the strain rate there.
///
/// D = 2Δt/(3ρ) (V Σ V |L∇W|² + |L Σ V ∇W|²), [Alduan11] with the corrected gradient L∇W and the guide's own motion, which counts where
/// neighbours are missing. |L∇W|² is taken as |L|²/3 |∇W|².
fn softness(weight: f32, lean: Vec4, exact: Sym, volume: f32, inverse_density: f32) -> f32 {
    let scale = exact.norm().powi(2) / 3.0;
    let own: Vec3 = exact.matrix() * lean.xyz();
    2.0 / 3.0 * inverse_density * (volume * scale * weight + own.length_squared())
}
