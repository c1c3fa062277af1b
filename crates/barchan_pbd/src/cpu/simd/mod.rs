//! Blocks of sixteen vectors as columns, as many at a time as registers hold without being laid aside: sixteen with AVX-512, eight with AVX2. Sums and products are left to the compiler; turning rows into columns is not, since it
//! makes loads of what it has just stored in pieces.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Guides or candidates of a block [-].
pub(crate) const LANES: usize = 16;
pub(crate) type Lane = [f32; LANES];
/// The fewest lanes that are dealt with at a time [-].
pub(crate) const NARROWEST: usize = 8;

/// How blocks are read, `W` lanes at a time. Parts of a block follow each other lane by lane, so that results are the same bits for any `W`.
pub(crate) trait Vectors<const W: usize> {
    /// The vectors of `column` at the places `index`, as columns x, y, z, w.
    ///
    /// # Safety
    /// Every place is inside the column. It is not checked here, since that waits for the places to be written.
    unsafe fn gather(column: &[Vec4], index: &[u32; W]) -> [[f32; W]; 4];

    /// The same for plain numbers.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn pick(column: &[f32], index: &[u32; W]) -> [f32; W];

    /// The same for vectors side by side.
    fn load(vectors: &[Vec4; W]) -> [[f32; W]; 4];

    /// Differences of two blocks in x, y and z. Left to the compiler, this loop undoes the turning of its rows.
    fn minus(a: &[[f32; W]; 4], b: &[[f32; W]; 4]) -> [[f32; W]; 3];

    /// Takes a vector a lane, given as columns, from those of `sums` at the places `index`, lane after lane: places may be the same.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn take(sums: &mut [Vec4], index: &[u32; W], vectors: &[[f32; W]; 4]);

    /// Writes a vector a lane, given as columns, to the places `index` of `column`, lane after lane.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn put(column: &mut [Vec4], index: &[u32; W], vectors: &[[f32; W]; 4]);

    /// Writes `first + l` to the front of `out` for each lane `l` whose flag is not 0. Gives these lanes, a bit each.
    fn compress(flags: &[u32; W], first: u32, out: &mut [u32; W]) -> u16;
}

/// Any machine.
pub(crate) struct Portable;

impl<const W: usize> Vectors<W> for Portable {
    #[inline(always)]
    unsafe fn pick(column: &[f32], index: &[u32; W]) -> [f32; W] {
        let mut picked = [0.0; W];
        for l in 0..W {
            picked[l] = column[index[l] as usize];
        }
        picked
    }

    #[inline(always)]
    unsafe fn gather(column: &[Vec4], index: &[u32; W]) -> [[f32; W]; 4] {
        let mut vectors = [Vec4::ZERO; W];
        for l in 0..W {
            vectors[l] = column[index[l] as usize];
        }
        Self::load(&vectors)
    }

    #[inline(always)]
    fn load(vectors: &[Vec4; W]) -> [[f32; W]; 4] {
        let mut columns = [[0.0; W]; 4];
        for (l, v) in vectors.iter().enumerate() {
            (columns[0][l], columns[1][l], columns[2][l], columns[3][l]) = (*v).into();
        }
        columns
    }

    #[inline(always)]
    fn minus(a: &[[f32; W]; 4], b: &[[f32; W]; 4]) -> [[f32; W]; 3] {
        let mut d = [[0.0; W]; 3];
        for axis in 0..3 {
            for l in 0..W {
                d[axis][l] = a[axis][l] - b[axis][l];
            }
        }
        d
    }

    #[inline(always)]
    unsafe fn take(sums: &mut [Vec4], index: &[u32; W], [x, y, z, w]: &[[f32; W]; 4]) {
        for l in 0..W {
            sums[index[l] as usize] -= Vec4::new(x[l], y[l], z[l], w[l]);
        }
    }

    #[inline(always)]
    unsafe fn put(column: &mut [Vec4], index: &[u32; W], [x, y, z, w]: &[[f32; W]; 4]) {
        for l in 0..W {
            column[index[l] as usize] = Vec4::new(x[l], y[l], z[l], w[l]);
        }
    }

    #[inline(always)]
    fn compress(flags: &[u32; W], first: u32, out: &mut [u32; W]) -> u16 {
        let (mut count, mut lanes) = (0, 0);
        for (l, &flag) in flags.iter().enumerate() {
            out[count.min(W - 1)] = first + l as u32;
            count += usize::from(flag != 0);
            lanes |= u16::from(flag != 0) << l;
        }
        lanes
    }
}

/// Machines with AVX-512. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

/// Machines with AVX2. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

/// `W` values of a padded column from `first` on.
#[inline(always)]
pub(crate) fn block<T, const W: usize>(column: &[T], first: usize) -> &[T; W] {
    column[first..].first_chunk().expect("padded")
}

/// The same to be written.
#[inline(always)]
pub(crate) fn block_mut<T, const W: usize>(column: &mut [T], first: usize) -> &mut [T; W] {
    column[first..].first_chunk_mut().expect("padded")
}

/// [`barchan_neighbors::vectorised`] with the types above.
macro_rules! vectorised {
    ($($function:tt)*) => {
        barchan_neighbors::vectorised! {
            @ [::<$crate::cpu::simd::Avx512, 16>] [::<$crate::cpu::simd::Avx2, 8>] [::<$crate::cpu::simd::Portable, 16>] $($function)*
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function for every kind of machine that this one can be.
    macro_rules! on_each {
        ($test:ident) => {
            $test::<Portable, 16>();
            $test::<Portable, 8>();
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") {
                    $test::<Avx2, 8>();
                }
                if is_x86_feature_detected!("avx512f") {
                    $test::<Avx512, 16>();
                }
            }
        };
    }

    fn columns_are_read<V: Vectors<W>, const W: usize>() {
        let column: Vec<Vec4> = (0..40)
            .map(|k| Vec4::new(0.0, 1.0, 2.0, 3.0) + 4.0 * k as f32)
            .collect();
        let numbers: Vec<f32> = column.iter().map(|v| v.y).collect();
        let index = std::array::from_fn(|l| (7 * l as u32 + 3) % 40);
        // SAFETY: these places are inside.
        let (gathered, picked) = unsafe { (V::gather(&column, &index), V::pick(&numbers, &index)) };
        let loaded = V::load(column.first_chunk().unwrap());
        let away = V::minus(&gathered, &loaded);
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
    fn every_machine_reads_the_same_columns_and_finds_their_differences() {
        on_each!(columns_are_read);
    }

    fn vectors_find_their_places<V: Vectors<W>, const W: usize>() {
        let index = std::array::from_fn(|l| (5 * l as u32) % 7);
        let vectors: [[f32; W]; 4] = std::array::from_fn(|axis| std::array::from_fn(|l| (1 + l + 16 * axis) as f32));
        let mut sums = [Vec4::ONE; 7];
        let mut expected = sums;
        // SAFETY: these places are inside.
        unsafe { V::take(&mut sums, &index, &vectors) };
        for l in 0..W {
            expected[index[l] as usize] -= Vec4::from_array(vectors.map(|v| v[l]));
        }
        assert_eq!(sums, expected);
        // SAFETY: these places are inside.
        unsafe { V::put(&mut sums, &index, &vectors) };
        for l in 0..W {
            expected[index[l] as usize] = Vec4::from_array(vectors.map(|v| v[l]));
        }
        assert_eq!(sums, expected);
    }

    #[test]
    fn vectors_are_taken_from_and_put_to_their_places_even_if_some_are_the_same() {
        on_each!(vectors_find_their_places);
    }

    fn flags_are_listed<V: Vectors<W>, const W: usize>() {
        for pattern in [0u32, 0xffff, 0x8001, 0x5a3c, 0x00ff, 0xff00] {
            let flags = std::array::from_fn(|l| pattern >> l & 1);
            let mut out = [0; W];
            let lanes = V::compress(&flags, 100, &mut out);
            let expected: Vec<u32> = (0..W as u32)
                .filter(|l| pattern >> l & 1 == 1)
                .map(|l| 100 + l)
                .collect();
            assert_eq!(out[..expected.len()], expected);
            assert_eq!(u32::from(lanes), pattern & ((1 << W) - 1));
        }
    }

    #[test]
    fn every_machine_lists_the_same_flags() {
        on_each!(flags_are_listed);
    }
}
