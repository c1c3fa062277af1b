//! Sixteen vectors at a time, as columns. Sums and products are left to the compiler; turning rows into columns is not, since it
//! makes loads of what it has just stored in pieces.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

/// Guides or candidates of a block [-].
pub(crate) const LANES: usize = 16;
pub(crate) type Lane = [f32; LANES];

/// How blocks are read.
pub(crate) trait Vectors {
    /// The vectors of `column` at the places `index`, as columns x, y, z, w.
    ///
    /// # Safety
    /// Every place is inside the column. It is not checked here, since that waits for the places to be written.
    unsafe fn gather(column: &[Vec4], index: &[u32; LANES]) -> [Lane; 4];

    /// The same for plain numbers.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn pick(column: &[f32], index: &[u32; LANES]) -> Lane;

    /// The same for vectors side by side.
    fn load(vectors: &[Vec4; LANES]) -> [Lane; 4];

    /// Takes a vector a lane, given as columns, from those of `sums` at the places `index`, lane after lane: places may be the same.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn take(sums: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]);

    /// Writes a vector a lane, given as columns, to the places `index` of `column`, lane after lane.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn put(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]);

    /// Writes `first + l` to the front of `out` for each lane `l` whose flag is not 0. Gives these lanes, a bit each.
    fn compress(flags: &[u32; LANES], first: u32, out: &mut [u32; LANES]) -> u16;
}

/// Any machine.
pub(crate) struct Portable;

impl Vectors for Portable {
    #[inline(always)]
    unsafe fn pick(column: &[f32], index: &[u32; LANES]) -> Lane {
        let mut picked = [0.0; LANES];
        for l in 0..LANES {
            picked[l] = column[index[l] as usize];
        }
        picked
    }

    #[inline(always)]
    unsafe fn gather(column: &[Vec4], index: &[u32; LANES]) -> [Lane; 4] {
        let mut vectors = [Vec4::ZERO; LANES];
        for l in 0..LANES {
            vectors[l] = column[index[l] as usize];
        }
        Self::load(&vectors)
    }

    #[inline(always)]
    fn load(vectors: &[Vec4; LANES]) -> [Lane; 4] {
        let mut columns = [[0.0; LANES]; 4];
        for (l, v) in vectors.iter().enumerate() {
            (columns[0][l], columns[1][l], columns[2][l], columns[3][l]) = (*v).into();
        }
        columns
    }

    #[inline(always)]
    unsafe fn take(sums: &mut [Vec4], index: &[u32; LANES], [x, y, z, w]: &[Lane; 4]) {
        for l in 0..LANES {
            sums[index[l] as usize] -= Vec4::new(x[l], y[l], z[l], w[l]);
        }
    }

    #[inline(always)]
    unsafe fn put(column: &mut [Vec4], index: &[u32; LANES], [x, y, z, w]: &[Lane; 4]) {
        for l in 0..LANES {
            column[index[l] as usize] = Vec4::new(x[l], y[l], z[l], w[l]);
        }
    }

    #[inline(always)]
    fn compress(flags: &[u32; LANES], first: u32, out: &mut [u32; LANES]) -> u16 {
        let (mut count, mut lanes) = (0, 0);
        for (l, &flag) in flags.iter().enumerate() {
            out[count.min(LANES - 1)] = first + l as u32;
            count += usize::from(flag != 0);
            lanes |= u16::from(flag != 0) << l;
        }
        lanes
    }
}

/// Machines with AVX-512. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Avx512, LANES, Lane, Vec4, Vectors};
    use std::arch::x86_64::*;

    /// Vectors k, k + 4, k + 8 and k + 12 of those at `places`, side by side.
    ///
    /// # Safety
    /// The machine has AVX-512, and the places are those of vectors.
    #[inline(always)]
    unsafe fn every_fourth(places: &[*const f32; LANES], k: usize) -> __m512 {
        // SAFETY: as promised above.
        unsafe {
            let v = _mm512_castps128_ps512(_mm_loadu_ps(places[k]));
            let v = _mm512_insertf32x4::<1>(v, _mm_loadu_ps(places[k + 4]));
            let v = _mm512_insertf32x4::<2>(v, _mm_loadu_ps(places[k + 8]));
            _mm512_insertf32x4::<3>(v, _mm_loadu_ps(places[k + 12]))
        }
    }

    /// Columns of the vectors at `places`.
    ///
    /// # Safety
    /// The machine has AVX-512, and the places are those of vectors.
    #[inline(always)]
    unsafe fn columns(places: &[*const f32; LANES]) -> [Lane; 4] {
        // SAFETY: as promised above.
        unsafe {
            let (a, b) = (every_fourth(places, 0), every_fourth(places, 1));
            let (c, d) = (every_fourth(places, 2), every_fourth(places, 3));
            // A transposition of 4 by 4 in each quarter.
            let (ab, cd) = (_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
            let (high_ab, high_cd) = (_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
            let x = _mm512_shuffle_ps::<0b01_00_01_00>(ab, cd);
            let y = _mm512_shuffle_ps::<0b11_10_11_10>(ab, cd);
            let z = _mm512_shuffle_ps::<0b01_00_01_00>(high_ab, high_cd);
            let w = _mm512_shuffle_ps::<0b11_10_11_10>(high_ab, high_cd);
            std::mem::transmute::<[__m512; 4], [Lane; 4]>([x, y, z, w])
        }
    }

    /// Visits the places `index` of `column`, each with its vector of those given as columns, lane after lane.
    ///
    /// # Safety
    /// The machine has AVX-512, and every place is inside the column.
    #[inline(always)]
    unsafe fn each_lane(
        column: &mut [Vec4],
        index: &[u32; LANES],
        vectors: &[Lane; 4],
        visit: impl Fn(*mut f32, __m128),
    ) {
        // SAFETY: as promised above.
        unsafe {
            let [x, y, z, w] = std::mem::transmute::<[Lane; 4], [__m512; 4]>(*vectors);
            let (xy, zw) = (_mm512_unpacklo_ps(x, y), _mm512_unpacklo_ps(z, w));
            let (high_xy, high_zw) = (_mm512_unpackhi_ps(x, y), _mm512_unpackhi_ps(z, w));
            // Vector 4 q + k is quarter q of the k-th of these.
            let every_fourth = [
                _mm512_shuffle_ps::<0b01_00_01_00>(xy, zw),
                _mm512_shuffle_ps::<0b11_10_11_10>(xy, zw),
                _mm512_shuffle_ps::<0b01_00_01_00>(high_xy, high_zw),
                _mm512_shuffle_ps::<0b11_10_11_10>(high_xy, high_zw),
            ];
            let places = column.as_mut_ptr();
            macro_rules! quarter {
                ($q:literal) => {
                    for (k, v) in every_fourth.iter().enumerate() {
                        let l = 4 * $q + k;
                        debug_assert!((index[l] as usize) < column.len());
                        visit(
                            places.add(index[l] as usize).cast(),
                            _mm512_extractf32x4_ps::<$q>(*v),
                        );
                    }
                };
            }
            quarter!(0);
            quarter!(1);
            quarter!(2);
            quarter!(3);
        }
    }

    impl Vectors for Avx512 {
        #[inline(always)]
        unsafe fn gather(column: &[Vec4], index: &[u32; LANES]) -> [Lane; 4] {
            // SAFETY: the type is only used where AVX-512 is; every place is inside the column, as promised.
            unsafe {
                let mut places = [std::ptr::null(); LANES];
                for l in 0..LANES {
                    debug_assert!((index[l] as usize) < column.len());
                    places[l] = column.as_ptr().add(index[l] as usize).cast();
                }
                columns(&places)
            }
        }

        #[inline(always)]
        unsafe fn pick(column: &[f32], index: &[u32; LANES]) -> Lane {
            // SAFETY: as above.
            unsafe {
                let places = _mm512_loadu_si512(index.as_ptr().cast());
                std::mem::transmute::<__m512, Lane>(_mm512_i32gather_ps::<4>(places, column.as_ptr().cast()))
            }
        }

        #[inline(always)]
        fn load(vectors: &[Vec4; LANES]) -> [Lane; 4] {
            // SAFETY: the type is only used where AVX-512 is.
            unsafe {
                let mut places = [std::ptr::null(); LANES];
                for l in 0..LANES {
                    places[l] = vectors.as_ptr().add(l).cast();
                }
                columns(&places)
            }
        }

        #[inline(always)]
        unsafe fn take(sums: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
            // SAFETY: the type is only used where AVX-512 is; every place is inside the column, as promised.
            unsafe {
                each_lane(sums, index, vectors, |place, v| {
                    _mm_storeu_ps(place, _mm_sub_ps(_mm_loadu_ps(place), v));
                });
            }
        }

        #[inline(always)]
        unsafe fn put(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
            // SAFETY: as above.
            unsafe { each_lane(column, index, vectors, |place, v| _mm_storeu_ps(place, v)) }
        }

        #[inline(always)]
        fn compress(flags: &[u32; LANES], first: u32, out: &mut [u32; LANES]) -> u16 {
            // SAFETY: the type is only used where AVX-512 is.
            unsafe {
                let flags = _mm512_loadu_si512(flags.as_ptr().cast());
                let mask = _mm512_test_epi32_mask(flags, flags);
                let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let lanes = _mm512_add_epi32(_mm512_set1_epi32(first as i32), steps);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask, lanes));
                mask
            }
        }
    }
}

/// Machines with AVX2. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Avx2, LANES, Lane, Vec4, Vectors};
    use barchan_neighbors::PACKING;
    use std::arch::x86_64::*;

    /// The vectors at `low` and `high`, side by side.
    ///
    /// # Safety
    /// The machine has AVX2, and the places are those of vectors.
    #[inline(always)]
    unsafe fn pair(low: *const f32, high: *const f32) -> __m256 {
        // SAFETY: as promised above.
        unsafe { _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high)) }
    }

    /// A transposition of 4 by 4 in each half.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn transposed([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        // SAFETY: as promised above.
        unsafe {
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            let (high_ab, high_cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd),
                _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd),
                _mm256_shuffle_ps::<0b01_00_01_00>(high_ab, high_cd),
                _mm256_shuffle_ps::<0b11_10_11_10>(high_ab, high_cd),
            ]
        }
    }

    /// Columns of the vectors at the places `index` from `base` on.
    ///
    /// # Safety
    /// The machine has AVX2, and the places are those of vectors.
    #[inline(always)]
    unsafe fn columns(base: *const Vec4, index: &[u32; LANES]) -> [Lane; 4] {
        let mut halves = [[[0.0f32; LANES / 2]; 2]; 4];
        for half in 0..2 {
            // SAFETY: as promised above.
            unsafe {
                let at = |l: usize| base.add(index[8 * half + l] as usize).cast::<f32>();
                let rows = [
                    pair(at(0), at(4)),
                    pair(at(1), at(5)),
                    pair(at(2), at(6)),
                    pair(at(3), at(7)),
                ];
                for (axis, column) in transposed(rows).into_iter().enumerate() {
                    halves[axis][half] = std::mem::transmute::<__m256, [f32; LANES / 2]>(column);
                }
            }
        }
        // SAFETY: two halves of sixteen numbers, side by side.
        unsafe { std::mem::transmute::<[[[f32; LANES / 2]; 2]; 4], [Lane; 4]>(halves) }
    }

    /// Visits the places `index` of `column`, each with its vector of those given as columns, lane after lane.
    ///
    /// # Safety
    /// The machine has AVX2, and every place is inside the column.
    #[inline(always)]
    unsafe fn each_lane(
        column: &mut [Vec4],
        index: &[u32; LANES],
        vectors: &[Lane; 4],
        visit: impl Fn(*mut f32, __m128),
    ) {
        let places = column.as_mut_ptr();
        for half in 0..2 {
            // SAFETY: as promised above.
            unsafe {
                // Written out: a closure would be compiled without AVX2.
                let [x, y, z, w] = vectors;
                let rows = transposed([
                    _mm256_loadu_ps(x.as_ptr().add(8 * half)),
                    _mm256_loadu_ps(y.as_ptr().add(8 * half)),
                    _mm256_loadu_ps(z.as_ptr().add(8 * half)),
                    _mm256_loadu_ps(w.as_ptr().add(8 * half)),
                ]);
                for k in 0..4 {
                    visit(
                        places.add(index[8 * half + k] as usize).cast(),
                        _mm256_castps256_ps128(rows[k]),
                    );
                }
                for k in 0..4 {
                    visit(
                        places.add(index[8 * half + 4 + k] as usize).cast(),
                        _mm256_extractf128_ps::<1>(rows[k]),
                    );
                }
            }
        }
    }

    impl Vectors for Avx2 {
        #[inline(always)]
        unsafe fn gather(column: &[Vec4], index: &[u32; LANES]) -> [Lane; 4] {
            debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
            // SAFETY: the type is only used where AVX2 is; every place is inside the column, as promised.
            unsafe { columns(column.as_ptr(), index) }
        }

        #[inline(always)]
        unsafe fn pick(column: &[f32], index: &[u32; LANES]) -> Lane {
            debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
            let mut picked = [0.0; LANES];
            for l in 0..LANES {
                // SAFETY: as above.
                picked[l] = unsafe { *column.get_unchecked(index[l] as usize) };
            }
            picked
        }

        #[inline(always)]
        fn load(vectors: &[Vec4; LANES]) -> [Lane; 4] {
            // SAFETY: the type is only used where AVX2 is, and there are sixteen vectors.
            unsafe {
                columns(
                    vectors.as_ptr(),
                    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
                )
            }
        }

        #[inline(always)]
        unsafe fn take(sums: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
            debug_assert!(index.iter().all(|&k| (k as usize) < sums.len()));
            // SAFETY: the type is only used where AVX2 is; every place is inside the column, as promised.
            unsafe {
                each_lane(sums, index, vectors, |place, v| {
                    _mm_storeu_ps(place, _mm_sub_ps(_mm_loadu_ps(place), v));
                });
            }
        }

        #[inline(always)]
        unsafe fn put(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
            debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
            // SAFETY: as above.
            unsafe { each_lane(column, index, vectors, |place, v| _mm_storeu_ps(place, v)) }
        }

        #[inline(always)]
        fn compress(flags: &[u32; LANES], first: u32, out: &mut [u32; LANES]) -> u16 {
            let (mut lanes, mut count) = (0, 0);
            for half in 0..2 {
                // SAFETY: the type is only used where AVX2 is; eight numbers from at most the eighth on are inside.
                unsafe {
                    let flags = _mm256_loadu_si256(flags.as_ptr().add(8 * half).cast());
                    let unset = _mm256_cmpeq_epi32(flags, _mm256_setzero_si256());
                    let set = !_mm256_movemask_ps(_mm256_castsi256_ps(unset)) as u32 & 0xff;
                    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[set as usize].cast_signed()));
                    let base = _mm256_set1_epi32((first + 8 * half as u32).cast_signed());
                    _mm256_storeu_si256(out.as_mut_ptr().add(count).cast(), _mm256_add_epi32(base, order));
                    lanes |= (set as u16) << (8 * half);
                    count += set.count_ones() as usize;
                }
            }
            lanes
        }
    }
}

/// Sixteen values of a padded column from `first` on.
#[inline(always)]
pub(crate) fn block<T>(column: &[T], first: usize) -> &[T; LANES] {
    column[first..].first_chunk().expect("padded")
}

/// Differences of two blocks, axis by axis.
#[inline(always)]
pub(crate) fn minus<const N: usize>(a: &[Lane; 4], b: &[Lane; 4]) -> [Lane; N] {
    let mut d = [[0.0; LANES]; N];
    for axis in 0..N {
        for l in 0..LANES {
            d[axis][l] = a[axis][l] - b[axis][l];
        }
    }
    d
}

/// [`barchan_neighbors::vectorised`] with the types above.
macro_rules! vectorised {
    ($($function:tt)*) => {
        barchan_neighbors::vectorised! {
            [$crate::cpu::simd::Avx512, $crate::cpu::simd::Avx2, $crate::cpu::simd::Portable] $($function)*
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered<V: Vectors>(column: &[Vec4], index: &[u32; LANES], out: &mut [[Lane; 4]; 2], picked: &mut Lane) {
        let numbers: Vec<f32> = column.iter().map(|v| v.y).collect();
        // SAFETY: the test gives places inside.
        unsafe {
            *out = [V::gather(column, index), V::load(column.first_chunk().unwrap())];
            *picked = V::pick(&numbers, index);
        }
    }
    vectorised! {
        fn on_this_machine(column: &[Vec4], index: &[u32; LANES], out: &mut [[Lane; 4]; 2], picked: &mut Lane) = gathered
    }

    #[test]
    fn every_machine_reads_the_same_columns() {
        let column: Vec<Vec4> = (0..40)
            .map(|k| Vec4::new(0.0, 1.0, 2.0, 3.0) + 4.0 * k as f32)
            .collect();
        let index = std::array::from_fn(|l| (7 * l as u32 + 3) % 40);
        let mut out = [[[0.0; LANES]; 4]; 2];
        let mut picked = [0.0; LANES];
        on_this_machine(&column, &index, &mut out, &mut picked);
        for l in 0..LANES {
            assert_eq!(picked[l], 4.0 * index[l] as f32 + 1.0);
            for axis in 0..4 {
                assert_eq!(out[0][axis][l], 4.0 * index[l] as f32 + axis as f32);
                assert_eq!(out[1][axis][l], 4.0 * l as f32 + axis as f32);
            }
        }
    }

    fn taken<V: Vectors>(sums: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
        // SAFETY: the test gives places inside.
        unsafe { V::take(sums, index, vectors) }
    }
    vectorised! { fn taken_here(sums: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) = taken }

    fn put<V: Vectors>(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) {
        // SAFETY: the test gives places inside.
        unsafe { V::put(column, index, vectors) }
    }
    vectorised! { fn put_here(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4]) = put }

    #[test]
    fn vectors_are_taken_from_and_put_to_their_places_even_if_some_are_the_same() {
        let index = std::array::from_fn(|l| (5 * l as u32) % 7);
        let vectors: [Lane; 4] = std::array::from_fn(|axis| std::array::from_fn(|l| (1 + l + 16 * axis) as f32));
        let mut sums = [Vec4::ONE; 7];
        let mut expected = sums;
        taken_here(&mut sums, &index, &vectors);
        for l in 0..LANES {
            expected[index[l] as usize] -= Vec4::from_array(vectors.map(|v| v[l]));
        }
        assert_eq!(sums, expected);
        put_here(&mut sums, &index, &vectors);
        for l in 0..LANES {
            expected[index[l] as usize] = Vec4::from_array(vectors.map(|v| v[l]));
        }
        assert_eq!(sums, expected);
    }

    fn compressed<V: Vectors>(flags: &[u32; LANES], out: &mut [u32; LANES], lanes: &mut u16) {
        *lanes = V::compress(flags, 100, out);
    }
    vectorised! { fn compressed_here(flags: &[u32; LANES], out: &mut [u32; LANES], lanes: &mut u16) = compressed }

    #[test]
    fn every_machine_lists_the_same_flags() {
        for pattern in [0u32, 0xffff, 0x8001, 0x5a3c] {
            let flags = std::array::from_fn(|l| pattern >> l & 1);
            let (mut out, mut lanes) = ([0; LANES], 0);
            compressed_here(&flags, &mut out, &mut lanes);
            let expected: Vec<u32> = (0..16).filter(|l| pattern >> l & 1 == 1).map(|l| 100 + l).collect();
            assert_eq!(out[..expected.len()], expected);
            assert_eq!(u32::from(lanes), pattern);
        }
    }
}
