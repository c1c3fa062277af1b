//! Gather of rows as columns of `W` lanes, for loops over arrays.

#[cfg(target_arch = "x86_64")]
use fearless_simd::x86::{Avx2, Avx512};
use fearless_simd::{SimdFrom, f32x4};

use crate::{Portable, Simd};

/// Access to blocks of sixteen rows, `W` lanes at a time: as many as registers hold without spilling, sixteen with AVX-512 and eight with
/// AVX2. Parts of a block follow each other lane by lane, so that results are the same bits for any `W`.
///
/// Arithmetic between these functions is left to the compiler, which gets arrays of `W` numbers.
pub trait Gather<const W: usize>: Simd {
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
        $token:ident, $lanes:literal, [$($l:literal)*], $columns:ident, $rows:ident, $load:ident, $integers:ident, $splat:ident, $are_below:ident,
        $ne:ident, $bitmask:ident, $pack:expr
    ) => {
        impl Gather<$lanes> for $token {
            #[inline(always)]
            fn gather(self, column: &[impl AsRef<[f32; 4]>], index: &[u32; $lanes]) -> [[f32; $lanes]; 4] {
                assert!(self.$are_below(index, bound(column.len())), "{OUTSIDE}");
                // SAFETY: all indices are below the length.
                let row = |l: usize| unsafe { column.get_unchecked(index[l] as usize) };
                self.$columns([$(row($l).as_ref()),*]).map(Into::into)
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
                self.$columns(from.each_ref().map(AsRef::as_ref)).map(Into::into)
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
                $(
                    // SAFETY: all indices are below the length.
                    let row = unsafe { sums.get_unchecked_mut(index[$l] as usize) }.as_mut();
                    *row = (f32x4::simd_from(self, *row) - rows[$l]).into();
                )*
            }

            #[inline(always)]
            fn scatter(self, column: &mut [impl AsMut<[f32; 4]>], index: &[u32; $lanes], columns: &[[f32; $lanes]; 4]) {
                assert!(self.$are_below(index, bound(column.len())), "{OUTSIDE}");
                let [x, y, z, w] = columns;
                let rows = self.$rows([self.$load(x), self.$load(y), self.$load(z), self.$load(w)]);
                $(
                    // SAFETY: all indices are below the length.
                    *unsafe { column.get_unchecked_mut(index[$l] as usize) }.as_mut() = rows[$l].into();
                )*
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

pub(crate) const OUTSIDE: &str = "an index outside the column";

/// Bound of indices into a column of `len` rows.
#[inline(always)]
pub(crate) fn bound(len: usize) -> u32 {
    len.min(u32::MAX as usize) as u32
}

blocks!(
    Portable,
    16,
    [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
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
    [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
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
    [0 1 2 3 4 5 6 7],
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, dispatch};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Row([f32; 4]);

    impl AsRef<[f32; 4]> for Row {
        fn as_ref(&self) -> &[f32; 4] {
            &self.0
        }
    }

    impl AsMut<[f32; 4]> for Row {
        fn as_mut(&mut self) -> &mut [f32; 4] {
            &mut self.0
        }
    }

    #[inline(always)]
    fn columns_are_read<S: Gather<W>, const W: usize>(simd: S) {
        let column: Vec<Row> = (0..40)
            .map(|k| Row([0.0, 1.0, 2.0, 3.0].map(|axis| 4.0 * k as f32 + axis)))
            .collect();
        let numbers: Vec<f32> = column.iter().map(|v| v.0[1]).collect();
        let index = std::array::from_fn(|l| (7 * l as u32 + 3) % 40);
        let (gathered, picked) = (simd.gather(&column, &index), simd.pick(&numbers, &index));
        let loaded = simd.load_rows(column.first_chunk().unwrap());
        let away = simd.minus(&gathered, &loaded);
        for l in 0..W {
            assert_eq!(picked[l], 4.0 * index[l] as f32 + 1.0);
            for axis in 0..4 {
                assert_eq!(gathered[axis][l], 4.0 * index[l] as f32 + axis as f32);
                assert_eq!(loaded[axis][l], 4.0 * l as f32 + axis as f32);
            }
            assert_eq!(away.map(|d| d[l]), [4.0 * (index[l] as f32 - l as f32); 3]);
        }
    }

    #[test]
    fn every_level_reads_the_same_columns_and_computes_their_differences() {
        for level in Level::available() {
            dispatch!(level, simd => columns_are_read(simd));
        }
    }

    #[inline(always)]
    fn rows_are_written<S: Gather<W>, const W: usize>(simd: S) {
        let index = std::array::from_fn(|l| (5 * l as u32) % 7);
        let columns: [[f32; W]; 4] = std::array::from_fn(|axis| std::array::from_fn(|l| (1 + l + 16 * axis) as f32));
        let mut sums = [Row([1.0; 4]); 7];
        let mut expected = sums;
        simd.subtract(&mut sums, &index, &columns);
        for l in 0..W {
            for (sum, column) in expected[index[l] as usize].0.iter_mut().zip(&columns) {
                *sum -= column[l];
            }
        }
        assert_eq!(sums, expected);
        simd.scatter(&mut sums, &index, &columns);
        for l in 0..W {
            expected[index[l] as usize] = Row(columns.map(|column| column[l]));
        }
        assert_eq!(sums, expected);
    }

    #[test]
    fn rows_are_subtracted_and_written_even_if_some_indices_are_equal() {
        for level in Level::available() {
            dispatch!(level, simd => rows_are_written(simd));
        }
    }

    #[inline(always)]
    fn flags_are_listed<S: Gather<W>, const W: usize>(simd: S) {
        for pattern in [0u32, 0xffff, 0x8001, 0x5a3c, 0x00ff, 0xff00] {
            let flags = std::array::from_fn(|l| pattern >> l & 1);
            let mut out = [0; W];
            let lanes = simd.compress(&flags, 100, &mut out);
            let expected: Vec<u32> = (0..W as u32)
                .filter(|l| pattern >> l & 1 == 1)
                .map(|l| 100 + l)
                .collect();
            assert_eq!(out[..expected.len()], expected);
            assert_eq!(u32::from(lanes), pattern & ((1 << W) - 1));
        }
    }

    #[test]
    fn every_level_lists_the_same_flags() {
        for level in Level::available() {
            dispatch!(level, simd => flags_are_listed(simd));
        }
    }

    #[inline(always)]
    fn gathers_outside<S: Gather<W> + std::panic::RefUnwindSafe, const W: usize>(simd: S) -> bool {
        let column = [Row([0.0; 4]); 20];
        let mut index = [19; W];
        let _ = simd.gather(&column, &index);
        index[W - 2] = 20;
        std::panic::catch_unwind(|| simd.gather(&column, &index)).is_err()
            && std::panic::catch_unwind(|| simd.pick(&[0.0; 20], &index)).is_err()
            && std::panic::catch_unwind(|| simd.subtract(&mut [Row([0.0; 4]); 20], &index, &[[0.0; W]; 4])).is_err()
            && std::panic::catch_unwind(|| simd.scatter(&mut [Row([0.0; 4]); 20], &index, &[[0.0; W]; 4])).is_err()
    }

    #[test]
    fn an_index_outside_the_column_panics() {
        for level in Level::available() {
            assert!(dispatch!(level, simd => gathers_outside(simd)), "{level:?}");
        }
    }
}
