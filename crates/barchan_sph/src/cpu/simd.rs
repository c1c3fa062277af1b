//! Eight neighbors at a time, as columns.

pub(crate) use barchan_simd::vectorized;
use barchan_simd::{Simd, f32x8};
use glam::Vec4;

/// Neighbors of a block [-].
pub(crate) const LANES: usize = 8;
/// One number for each of them.
pub(crate) type Lane = [f32; LANES];

/// Writes x, y, z, w as vector `part` of eight rows.
#[inline(always)]
pub(crate) fn scatter<S: Simd, const N: usize>(
    simd: S,
    columns: [f32x8<S>; 4],
    part: usize,
    rows: &mut [[Vec4; N]; LANES],
) {
    for (row, vector) in rows.iter_mut().zip(simd.rows8(columns)) {
        row[part] = Vec4::from_array(vector.into());
    }
}
