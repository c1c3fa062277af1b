//! Neighbours of each guide, with what stays the same over a step.

use barchan_neighbors::Lists;
use glam::{Mat3, Vec3, Vec3Swizzles, Vec4, Vec4Swizzles};
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

/// What a sum over neighbours gives.
#[derive(Default)]
struct Sums {
    compression: f32,
    lean: Vec4,
    /// M = -Σ V W'/r x xᵀ [-].
    moment: Sym,
    /// Σ V² |∇W|²/m [1/(kg m²)].
    squares: f32,
    /// Σ V ∇W·∇W [1/m⁵].
    weight: f32,
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
        volume,
        half_support,
        inverse_mass,
        inverse_density,
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
        for k in 0..compression.len() {
            let i = c * CHUNK + k;
            let mut sums = Sums {
                compression: volume[i] * kernel::peak(0.5 / half_support[i]),
                ..Sums::default()
            };
            for &j in lists.of(i) {
                let j = j as usize;
                let d = space.between::<OPEN>(place[i], place[j]);
                let squared = d.length_squared();
                let (value, slope) = kernel::value_and_slope(squared.sqrt(), 1.0 / (half_support[i] + half_support[j]));
                let slope = slope * volume[j];
                rows.other.push(j as u32);
                rows.slope.push(slope);
                sums.compression += volume[j] * value;
                sums.lean += slope * d;
                sums.squares += slope * slope * squared * inverse_mass[j];
                let d = d.xyz();
                sums.moment.diagonal -= slope * d * d;
                sums.moment.off -= slope * d.yzx() * d.zxy();
                sums.weight += slope * slope * squared / volume[j];
            }
            rows.ends.push(rows.other.len() as u32);
            compression[k] = sums.compression;
            lean[k] = sums.lean;
            diagonal[k] = volume[i] * sums.squares;
            exact[k] = inverse_or_identity(sums.moment);
            response[k] =
                1.0 / (step * softness(&sums, exact[k], volume[i], inverse_density[i])).max(f32::MIN_POSITIVE);
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
fn softness(sums: &Sums, exact: Sym, volume: f32, inverse_density: f32) -> f32 {
    let scale = exact.norm().powi(2) / 3.0;
    let own: Vec3 = exact.matrix() * sums.lean.xyz();
    2.0 / 3.0 * inverse_density * (volume * scale * sums.weight + own.length_squared())
}
