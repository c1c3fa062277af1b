//! Sixteen numbers at a time, in the instruction set of the machine, chosen at run time.
//!
//! Every operation rounds once, and products are fused with sums where the code says so, in every set: all give the same bits. Loops over arrays were tried first: the
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
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && Self::Avx2.is_available()
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
    /// `a b + c`, rounded once.
    unsafe fn mul_add(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
    /// `c - a b`, rounded once.
    unsafe fn mul_sub(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
    /// The greater, or `b` if one is no number.
    unsafe fn max(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The lesser, or `b` if one is no number.
    unsafe fn min(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a` where `x <= y`, else `b`.
    unsafe fn where_le(x: Self::Lanes, y: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The least.
    unsafe fn least(a: Self::Lanes) -> f32;
    /// The greatest.
    unsafe fn greatest(a: Self::Lanes) -> f32;
    /// The least of each of three, and the greatest of each.
    #[inline(always)]
    unsafe fn ranges([x, y, z]: &[Self::Lanes; 3]) -> [[f32; 3]; 2] {
        // SAFETY: the caller says that the machine has the instructions.
        unsafe {
            [
                [Self::least(*x), Self::least(*y), Self::least(*z)],
                [Self::greatest(*x), Self::greatest(*y), Self::greatest(*z)],
            ]
        }
    }
    /// Which are at most 0, a bit each.
    unsafe fn at_most_zero(a: Self::Lanes) -> u32;
    /// Writes those of `values` whose bit is set to `out`, in their order.
    unsafe fn pack<T: Word>(bits: u32, values: &[T; LANES], out: &mut [T; LANES]);
}

/// Four bytes.
pub(crate) trait Word: Copy {}

impl Word for u32 {}
impl Word for f32 {}

/// [`Isa::pack`], bit by bit.
#[inline(always)]
fn pack<T: Word>(mut bits: u32, values: &[T; LANES], out: &mut [T; LANES]) {
    let mut n = 0;
    while bits != 0 {
        out[n % LANES] = values[bits.trailing_zeros() as usize % LANES];
        bits &= bits - 1;
        n += 1;
    }
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
    unsafe fn mul_add(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
        std::array::from_fn(|k| a[k].mul_add(b[k], c[k]))
    }
    #[inline(always)]
    unsafe fn mul_sub(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
        std::array::from_fn(|k| (-a[k]).mul_add(b[k], c[k]))
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
    unsafe fn least(a: Self::Lanes) -> f32 {
        a.into_iter().fold(f32::INFINITY, f32::min)
    }
    #[inline(always)]
    unsafe fn greatest(a: Self::Lanes) -> f32 {
        a.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
    #[inline(always)]
    unsafe fn at_most_zero(a: Self::Lanes) -> u32 {
        (0..LANES).fold(0, |bits, k| bits | u32::from(a[k] <= 0.0) << k)
    }
    #[inline(always)]
    unsafe fn pack<T: Word>(bits: u32, values: &[T; LANES], out: &mut [T; LANES]) {
        pack(bits, values, out);
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Isa, LANES, Word, pack};

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
        unsafe fn mul_add(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
        }
        #[inline(always)]
        unsafe fn mul_sub(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_fnmadd_ps(a[0], b[0], c[0]), _mm256_fnmadd_ps(a[1], b[1], c[1])] }
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
        unsafe fn least(a: Self::Lanes) -> f32 {
            // SAFETY: as above.
            unsafe {
                let halves = _mm256_min_ps(a[0], a[1]);
                let four = _mm_min_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
                let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)))
            }
        }
        #[inline(always)]
        unsafe fn greatest(a: Self::Lanes) -> f32 {
            // SAFETY: as above.
            unsafe {
                let halves = _mm256_max_ps(a[0], a[1]);
                let four = _mm_max_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
                let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
            }
        }
        #[inline(always)]
        unsafe fn at_most_zero(a: Self::Lanes) -> u32 {
            // SAFETY: as above.
            unsafe {
                let low = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a[0], _mm256_setzero_ps()));
                let high = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a[1], _mm256_setzero_ps()));
                (low | high << 8).cast_unsigned()
            }
        }
        #[inline(always)]
        unsafe fn pack<T: Word>(bits: u32, values: &[T; LANES], out: &mut [T; LANES]) {
            pack(bits, values, out);
        }
    }

    /// Sixteen numbers at once.
    pub(crate) struct Avx512;

    /// The lesser of each number and the one eight farther on, then the same of the negatives.
    #[inline(always)]
    unsafe fn halved(a: __m512) -> __m512 {
        // SAFETY: the caller says that the machine has the instructions.
        unsafe {
            let negative = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
            _mm512_min_ps(
                _mm512_shuffle_f32x4::<0x44>(a, negative),
                _mm512_shuffle_f32x4::<0xEE>(a, negative),
            )
        }
    }

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
        unsafe fn mul_add(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_ps(a, b, c) }
        }
        #[inline(always)]
        unsafe fn mul_sub(a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_fnmadd_ps(a, b, c) }
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
        unsafe fn least(a: Self::Lanes) -> f32 {
            // SAFETY: as above.
            unsafe { _mm512_reduce_min_ps(a) }
        }
        #[inline(always)]
        unsafe fn greatest(a: Self::Lanes) -> f32 {
            // SAFETY: as above.
            unsafe { _mm512_reduce_max_ps(a) }
        }
        #[inline(always)]
        unsafe fn ranges([x, y, z]: &[Self::Lanes; 3]) -> [[f32; 3]; 2] {
            // All six at once, the greatest as the least of the negatives: half the instructions of six reductions.
            // SAFETY: as above.
            unsafe {
                let (x, y, z) = (halved(*x), halved(*y), halved(*z));
                let xy = _mm512_min_ps(_mm512_shuffle_f32x4::<0x88>(x, y), _mm512_shuffle_f32x4::<0xDD>(x, y));
                let zz = _mm512_min_ps(_mm512_shuffle_f32x4::<0x88>(z, z), _mm512_shuffle_f32x4::<0xDD>(z, z));
                let pairs = _mm512_min_ps(_mm512_unpacklo_ps(xy, zz), _mm512_unpackhi_ps(xy, zz));
                let all = _mm512_min_ps(pairs, _mm512_permute_ps::<0x4E>(pairs));
                let mut out = [0.0; LANES];
                _mm512_storeu_ps(out.as_mut_ptr(), all);
                [[out[0], out[8], out[1]], [-out[4], -out[12], -out[5]]]
            }
        }
        #[inline(always)]
        unsafe fn at_most_zero(a: Self::Lanes) -> u32 {
            // SAFETY: as above.
            unsafe { u32::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, _mm512_setzero_ps())) }
        }
        #[inline(always)]
        unsafe fn pack<T: Word>(bits: u32, values: &[T; LANES], out: &mut [T; LANES]) {
            // SAFETY: sixteen words of four bytes each, here and there.
            unsafe {
                let kept = _mm512_maskz_compress_epi32(bits as u16, _mm512_loadu_si512(values.as_ptr().cast()));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), kept);
            }
        }
    }
}
