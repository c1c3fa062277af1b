//! Machines with AVX-512.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

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
unsafe fn each_lane(column: &mut [Vec4], index: &[u32; LANES], vectors: &[Lane; 4], visit: impl Fn(*mut f32, __m128)) {
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

impl Vectors<LANES> for Avx512 {
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
    fn minus(a: &[Lane; 4], b: &[Lane; 4]) -> [Lane; 3] {
        // SAFETY: the type is only used where AVX-512 is.
        unsafe {
            let minus =
                |axis: usize| _mm512_sub_ps(_mm512_loadu_ps(a[axis].as_ptr()), _mm512_loadu_ps(b[axis].as_ptr()));
            std::mem::transmute::<[__m512; 3], [Lane; 3]>([minus(0), minus(1), minus(2)])
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
