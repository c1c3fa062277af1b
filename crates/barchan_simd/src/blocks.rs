//! Blocks of rows as columns of `W` lanes, for loops over arrays.

#[cfg(target_arch = "x86_64")]
use fearless_simd::x86::{Avx2, Avx512};
use fearless_simd::{SimdFrom, f32x4};

use crate::{Portable, Simd};

/// Access to blocks of sixteen rows, `W` lanes at a time: as many as registers hold without spilling, sixteen with AVX-512 and eight with
/// AVX2. Parts of a block follow each other lane by lane, so that results are the same bits for any `W`.
///
/// Arithmetic between these functions is left to the compiler, which gets arrays of `W` numbers.
pub trait Blocks<const W: usize>: Simd {
    /// Returns the rows of `column` at `index` as columns x, y, z, w.
    ///
    /// # Panics
    /// Panics if an index is outside the column.
    fn gather(self, column: &[impl AsRef<[f32; 4]>], index: &[u32; W]) -> [[f32; W]; 4];

    /// Returns the numbers of `column` at `index`.
    ///
    /// # Panics
    /// Panics if an index is outside the column.
    fn pick(self, column: &[f32], index: &[u32; W]) -> [f32; W];

    /// Returns consecutive rows as columns x, y, z, w.
    fn load_rows(self, rows: &[impl AsRef<[f32; 4]>; W]) -> [[f32; W]; 4];

    /// Returns a - b in x, y and z. Left to the compiler, this loop undoes the transposition.
    fn minus(self, a: &[[f32; W]; 4], b: &[[f32; W]; 4]) -> [[f32; W]; 3];

    /// Subtracts one row per lane, given as columns, from the rows of `sums` at `index`, lane after lane: indices may be equal.
    ///
    /// # Panics
    /// Panics if an index is outside the column.
    fn subtract(self, sums: &mut [impl AsMut<[f32; 4]>], index: &[u32; W], columns: &[[f32; W]; 4]);

    /// Writes one row per lane, given as columns, to the rows of `column` at `index`, lane after lane.
    ///
    /// # Panics
    /// Panics if an index is outside the column.
    fn scatter(self, column: &mut [impl AsMut<[f32; 4]>], index: &[u32; W], columns: &[[f32; W]; 4]);

    /// Writes `first + l` to the front of `out` for each lane `l` whose flag is not 0, and returns these lanes, one bit each.
    fn compress(self, flags: &[u32; W], first: u32, out: &mut [u32; W]) -> u16;
}

/// Returns `W` values of a padded column from `first` on.
#[inline(always)]
pub fn block<T, const W: usize>(column: &[T], first: usize) -> &[T; W] {
    column[first..].first_chunk().expect("padded")
}

/// Returns `W` values of a padded column from `first` on, to be changed.
#[inline(always)]
pub fn block_mut<T, const W: usize>(column: &mut [T], first: usize) -> &mut [T; W] {
    column[first..].first_chunk_mut().expect("padded")
}

macro_rules! blocks {
    (
        $token:ident, $lanes:literal, $columns:ident, $rows:ident, $load:ident, $integers:ident, $splat:ident, $are_below:ident,
        $ne:ident, $bitmask:ident, $pack:expr
    ) => {
        impl Blocks<$lanes> for $token {
            #[inline(always)]
            fn gather(self, column: &[impl AsRef<[f32; 4]>], index: &[u32; $lanes]) -> [[f32; $lanes]; 4] {
                assert!(self.$are_below(index, bound(column.len())), "{OUTSIDE}");
                let mut rows = [fearless_simd::Simd::splat_f32x4(self, 0.0); $lanes];
                for l in 0..$lanes {
                    // SAFETY: all indices are below the length.
                    let row = unsafe { column.get_unchecked(index[l] as usize) };
                    rows[l] = f32x4::simd_from(self, *row.as_ref());
                }
                self.$columns(rows).map(Into::into)
            }

            #[inline(always)]
            fn pick(self, column: &[f32], index: &[u32; $lanes]) -> [f32; $lanes] {
                assert!(self.$are_below(index, bound(column.len())), "{OUTSIDE}");
                let mut picked = [0.0; $lanes];
                for l in 0..$lanes {
                    // SAFETY: all indices are below the length.
                    picked[l] = unsafe { *column.get_unchecked(index[l] as usize) };
                }
                picked
            }

            #[inline(always)]
            fn load_rows(self, from: &[impl AsRef<[f32; 4]>; $lanes]) -> [[f32; $lanes]; 4] {
                let mut rows = [fearless_simd::Simd::splat_f32x4(self, 0.0); $lanes];
                for l in 0..$lanes {
                    rows[l] = f32x4::simd_from(self, *from[l].as_ref());
                }
                self.$columns(rows).map(Into::into)
            }

            #[inline(always)]
            fn minus(self, a: &[[f32; $lanes]; 4], b: &[[f32; $lanes]; 4]) -> [[f32; $lanes]; 3] {
                [
                    (self.$load(&a[0]) - self.$load(&b[0])).into(),
                    (self.$load(&a[1]) - self.$load(&b[1])).into(),
                    (self.$load(&a[2]) - self.$load(&b[2])).into(),
                ]
            }

            #[inline(always)]
            fn subtract(self, sums: &mut [impl AsMut<[f32; 4]>], index: &[u32; $lanes], columns: &[[f32; $lanes]; 4]) {
                assert!(self.$are_below(index, bound(sums.len())), "{OUTSIDE}");
                let [x, y, z, w] = columns;
                let rows = self.$rows([self.$load(x), self.$load(y), self.$load(z), self.$load(w)]);
                for l in 0..$lanes {
                    // SAFETY: all indices are below the length.
                    let row = unsafe { sums.get_unchecked_mut(index[l] as usize) }.as_mut();
                    *row = (f32x4::simd_from(self, *row) - rows[l]).into();
                }
            }

            #[inline(always)]
            fn scatter(self, column: &mut [impl AsMut<[f32; 4]>], index: &[u32; $lanes], columns: &[[f32; $lanes]; 4]) {
                assert!(self.$are_below(index, bound(column.len())), "{OUTSIDE}");
                let [x, y, z, w] = columns;
                let rows = self.$rows([self.$load(x), self.$load(y), self.$load(z), self.$load(w)]);
                for l in 0..$lanes {
                    // SAFETY: all indices are below the length.
                    *unsafe { column.get_unchecked_mut(index[l] as usize) }.as_mut() = rows[l].into();
                }
            }

            #[inline(always)]
            fn compress(self, flags: &[u32; $lanes], first: u32, out: &mut [u32; $lanes]) -> u16 {
                use fearless_simd::Simd as _;
                let set = self.$ne(self.$integers(flags), self.$splat(0));
                let bits = self.$bitmask(set) as u32;
                let steps = self.$integers(&std::array::from_fn(|l| l as u32));
                $pack(self, steps + self.$splat(first), bits, out);
                bits as u16
            }
        }
    };
}

const OUTSIDE: &str = "an index outside the column";

/// Bound of indices into a column of `len` rows.
#[inline(always)]
fn bound(len: usize) -> u32 {
    len.min(u32::MAX as usize) as u32
}

blocks!(
    Portable,
    16,
    columns16,
    rows16,
    load16,
    integers16,
    splat_u32x16,
    are_below16,
    simd_ne_u32x16,
    to_bitmask_mask32x16,
    Simd::pack_integers16
);
#[cfg(target_arch = "x86_64")]
blocks!(
    Avx512,
    16,
    columns16,
    rows16,
    load16,
    integers16,
    splat_u32x16,
    are_below16,
    simd_ne_u32x16,
    to_bitmask_mask32x16,
    Simd::pack_integers16
);
#[cfg(target_arch = "x86_64")]
blocks!(
    Avx2,
    8,
    columns8,
    rows8,
    load8,
    integers8,
    splat_u32x8,
    are_below8,
    simd_ne_u32x8,
    to_bitmask_mask32x8,
    |simd: Self, values, bits, out: &mut [u32; 8]| *out = simd.packed_integers8(values, bits).into()
);
