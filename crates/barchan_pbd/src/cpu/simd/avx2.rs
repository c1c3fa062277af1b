//! Machines with AVX2.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

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
unsafe fn each_lane(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4], visit: impl Fn(*mut f32, __m128)) {
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
