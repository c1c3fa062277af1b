//! Sixteen numbers at a time, in the instruction set of the machine, chosen at run time.
//!
//! Every operation rounds once and none are fused, so that all sets give the same bits. Loops over arrays were tried first: the
//! compiler cut them into pieces of different width, at a third of the speed. Closures are not inlined into
//! code for another set, so there are none where speed counts.

/// Numbers that are worked on at a time.
pub(crate) const LANES: usize = 16;

/// Instruction set of the pass over grains. All give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// Whatever the machine has at least.
    Plain,
    /// AVX2.
    Avx2,
    /// AVX-512.
    Avx512,
}

impl Simd {
    /// Every set, narrowest first.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Avx2, Self::Avx512];

    /// The widest that this machine has.
    pub fn best() -> Self {
        let available = Self::ALL.into_iter().rev().find(|simd| simd.is_available());
        available.unwrap_or(Self::Plain)
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// Sixteen numbers, and what can be done with them.
///
/// # Safety
/// Every function needs a machine that has the instructions.
pub(crate) trait Isa {
    /// Sixteen numbers.
    type Lanes: Copy;

    /// Sixteen times `value`.
    unsafe fn splat(value: f32) -> Self::Lanes;
    /// Numbers of memory.
    unsafe fn load(values: &[f32; LANES]) -> Self::Lanes;
    /// Into memory.
    unsafe fn store(a: Self::Lanes, to: &mut [f32; LANES]);
    unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    unsafe fn sub(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    unsafe fn mul(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The greater, or `b` if one is no number.
    unsafe fn max(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The lesser, or `b` if one is no number.
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a` where `x <= y`, else `b`.
    unsafe fn where_le(x: Self::Lanes, y: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// Writes those of `values` whose `gap` is at most 0 to `out`, in their order, and gives their number.
    unsafe fn keep(gap: Self::Lanes, values: &[u32; LANES], out: &mut [u32; LANES]) -> usize;
}

/// One number after the other.
pub(crate) struct Plain;

impl Plain {
    #[inline(always)]
    fn zip(a: [f32; LANES], b: [f32; LANES], of: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
        std::array::from_fn(|k| of(a[k], b[k]))
    }
}

impl Isa for Plain {
    type Lanes = [f32; LANES];

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::Lanes {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn load(values: &[f32; LANES]) -> Self::Lanes {
        *values
    }
    #[inline(always)]
    unsafe fn store(a: Self::Lanes, to: &mut [f32; LANES]) {
        *to = a;
    }
    #[inline(always)]
    unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| a / b)
    }
    #[inline(always)]
    unsafe fn max(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    unsafe fn where_le(x: Self::Lanes, y: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        std::array::from_fn(|k| if x[k] <= y[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    unsafe fn keep(gap: Self::Lanes, values: &[u32; LANES], out: &mut [u32; LANES]) -> usize {
        let mut n = 0;
        for k in 0..LANES {
            out[n.min(LANES - 1)] = values[k];
            n += usize::from(gap[k] <= 0.0);
        }
        n
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Isa, LANES};

    /// Twice eight numbers.
    pub(crate) struct Avx2;

    impl Isa for Avx2 {
        type Lanes = [__m256; 2];

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self::Lanes {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { [_mm256_set1_ps(value); 2] }
        }
        #[inline(always)]
        unsafe fn load(values: &[f32; LANES]) -> Self::Lanes {
            // SAFETY: two halves of sixteen numbers.
            unsafe {
                [
                    _mm256_loadu_ps(values.as_ptr()),
                    _mm256_loadu_ps(values.as_ptr().add(8)),
                ]
            }
        }
        #[inline(always)]
        unsafe fn store(a: Self::Lanes, to: &mut [f32; LANES]) {
            // SAFETY: two halves of sixteen numbers.
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), a[0]);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), a[1]);
            }
        }
        #[inline(always)]
        unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn sub(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn mul(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn max(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])] }
        }
        #[inline(always)]
        unsafe fn where_le(x: Self::Lanes, y: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe {
                let low = _mm256_blendv_ps(b[0], a[0], _mm256_cmp_ps::<_CMP_LE_OQ>(x[0], y[0]));
                let high = _mm256_blendv_ps(b[1], a[1], _mm256_cmp_ps::<_CMP_LE_OQ>(x[1], y[1]));
                [low, high]
            }
        }
        #[inline(always)]
        unsafe fn keep(gap: Self::Lanes, values: &[u32; LANES], out: &mut [u32; LANES]) -> usize {
            // SAFETY: as above.
            let mut bits = unsafe {
                let low = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(gap[0], _mm256_setzero_ps()));
                let high = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(gap[1], _mm256_setzero_ps()));
                (low | high << 8).cast_unsigned()
            };
            let mut n = 0;
            while bits != 0 {
                out[n] = values[bits.trailing_zeros() as usize % LANES];
                bits &= bits - 1;
                n += 1;
            }
            n
        }
    }

    /// Sixteen numbers at once.
    pub(crate) struct Avx512;

    impl Isa for Avx512 {
        type Lanes = __m512;

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self::Lanes {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(values: &[f32; LANES]) -> Self::Lanes {
            // SAFETY: sixteen numbers.
            unsafe { _mm512_loadu_ps(values.as_ptr()) }
        }
        #[inline(always)]
        unsafe fn store(a: Self::Lanes, to: &mut [f32; LANES]) {
            // SAFETY: sixteen numbers.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), a) }
        }
        #[inline(always)]
        unsafe fn add(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_add_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn sub(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_sub_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn mul(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_div_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn max(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_max_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_min_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn where_le(x: Self::Lanes, y: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, y), b, a) }
        }
        #[inline(always)]
        unsafe fn keep(gap: Self::Lanes, values: &[u32; LANES], out: &mut [u32; LANES]) -> usize {
            // SAFETY: sixteen numbers.
            unsafe {
                let near = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(gap, _mm512_setzero_ps());
                let kept = _mm512_maskz_compress_epi32(near, _mm512_loadu_si512(values.as_ptr().cast()));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), kept);
                near.count_ones() as usize
            }
        }
    }
}
