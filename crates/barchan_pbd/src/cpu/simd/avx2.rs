//! Machines with AVX2.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use super::{Avx2, Vec4, Vectors};
use barchan_simd::PACKING;
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

/// Lanes of a register [-].
const W: usize = 8;

/// Columns of the vectors at the places `index` from `base` on.
///
/// # Safety
/// The machine has AVX2, and the places are those of vectors.
#[inline(always)]
unsafe fn columns(base: *const Vec4, index: &[u32; W]) -> [[f32; W]; 4] {
    // SAFETY: as promised above.
    unsafe {
        let at = |l: usize| base.add(index[l] as usize).cast::<f32>();
        let rows = [
            pair(at(0), at(4)),
            pair(at(1), at(5)),
            pair(at(2), at(6)),
            pair(at(3), at(7)),
        ];
        std::mem::transmute::<[__m256; 4], [[f32; W]; 4]>(transposed(rows))
    }
}

/// Visits the places `index` of `column`, each with its vector of those given as columns, lane after lane.
///
/// # Safety
/// The machine has AVX2, and every place is inside the column.
#[inline(always)]
unsafe fn each_lane(column: &mut [Vec4], index: &[u32; W], vectors: &[[f32; W]; 4], visit: impl Fn(*mut f32, __m128)) {
    let places = column.as_mut_ptr();
    // SAFETY: as promised above.
    unsafe {
        let rows = transposed(std::mem::transmute::<[[f32; W]; 4], [__m256; 4]>(*vectors));
        for k in 0..4 {
            visit(places.add(index[k] as usize).cast(), _mm256_castps256_ps128(rows[k]));
        }
        for k in 0..4 {
            visit(
                places.add(index[4 + k] as usize).cast(),
                _mm256_extractf128_ps::<1>(rows[k]),
            );
        }
    }
}

impl Vectors<W> for Avx2 {
    #[inline(always)]
    unsafe fn gather(column: &[Vec4], index: &[u32; W]) -> [[f32; W]; 4] {
        debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
        // SAFETY: the type is only used where AVX2 is; every place is inside the column, as promised.
        unsafe { columns(column.as_ptr(), index) }
    }

    #[inline(always)]
    unsafe fn pick(column: &[f32], index: &[u32; W]) -> [f32; W] {
        debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
        let mut picked = [0.0; W];
        for l in 0..W {
            // SAFETY: as above.
            picked[l] = unsafe { *column.get_unchecked(index[l] as usize) };
        }
        picked
    }

    #[inline(always)]
    fn load(vectors: &[Vec4; W]) -> [[f32; W]; 4] {
        // SAFETY: the type is only used where AVX2 is, and there are eight vectors.
        unsafe { columns(vectors.as_ptr(), &[0, 1, 2, 3, 4, 5, 6, 7]) }
    }

    #[inline(always)]
    fn minus(a: &[[f32; W]; 4], b: &[[f32; W]; 4]) -> [[f32; W]; 3] {
        // SAFETY: the type is only used where AVX2 is.
        unsafe {
            let minus =
                |axis: usize| _mm256_sub_ps(_mm256_loadu_ps(a[axis].as_ptr()), _mm256_loadu_ps(b[axis].as_ptr()));
            std::mem::transmute::<[__m256; 3], [[f32; W]; 3]>([minus(0), minus(1), minus(2)])
        }
    }

    #[inline(always)]
    unsafe fn take(sums: &mut [Vec4], index: &[u32; W], vectors: &[[f32; W]; 4]) {
        debug_assert!(index.iter().all(|&k| (k as usize) < sums.len()));
        // SAFETY: the type is only used where AVX2 is; every place is inside the column, as promised.
        unsafe {
            each_lane(sums, index, vectors, |place, v| {
                _mm_storeu_ps(place, _mm_sub_ps(_mm_loadu_ps(place), v));
            });
        }
    }

    #[inline(always)]
    unsafe fn put(column: &mut [Vec4], index: &[u32; W], vectors: &[[f32; W]; 4]) {
        debug_assert!(index.iter().all(|&k| (k as usize) < column.len()));
        // SAFETY: as above.
        unsafe { each_lane(column, index, vectors, |place, v| _mm_storeu_ps(place, v)) }
    }

    #[inline(always)]
    fn compress(flags: &[u32; W], first: u32, out: &mut [u32; W]) -> u16 {
        // SAFETY: the type is only used where AVX2 is.
        unsafe {
            let flags = _mm256_loadu_si256(flags.as_ptr().cast());
            let unset = _mm256_cmpeq_epi32(flags, _mm256_setzero_si256());
            let set = !_mm256_movemask_ps(_mm256_castsi256_ps(unset)) as u32 & 0xff;
            let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[set as usize].cast_signed()));
            let base = _mm256_set1_epi32(first.cast_signed());
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_add_epi32(base, order));
            set as u16
        }
    }
}
