//! Sixteen numbers at a time, in the instruction set of the machine, chosen at run time.
//!
//! Every operation rounds once, and products are fused with sums where the code says so, in every set: all give the same bits. Loops over arrays were tried first: the
//! compiler cut them into pieces of different width, at a third of the speed. Closures are not inlined into
//! code for another set, so there are none where speed counts.

/// Numbers that are worked on at a time.
pub(crate) const LANES: usize = 16;

/// Sixteen numbers, and what can be done with them.
///
/// # Safety
/// Every function needs a machine that has the instructions.
pub(crate) trait Isa {
    /// Sixteen numbers.
    type Lanes: Copy;
    /// As many of them as a register has.
    type Part: Part;
    /// Which of sixteen numbers come first.
    type Order: Copy;
    /// How many registers they are.
    const PARTS: usize;

    /// Sixteen numbers, register by register.
    fn parts(lanes: &Self::Lanes) -> &[Self::Part];
    /// The same, to be changed.
    fn parts_mut(lanes: &mut Self::Lanes) -> &mut [Self::Part];

    /// Sixteen times `value`.
    unsafe fn splat(value: f32) -> Self::Lanes;
    /// Numbers of memory.
    unsafe fn load(values: &[f32; LANES]) -> Self::Lanes;
    /// Into memory.
    unsafe fn store(a: Self::Lanes, to: &mut [f32; LANES]);
    unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    #[inline(always)]
    unsafe fn add(mut a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        for k in 0..Self::PARTS {
            let part = &mut Self::parts_mut(&mut a)[k];
            // SAFETY: the caller says that the machine has the instructions, here and below.
            *part = unsafe { part.add(Self::parts(&b)[k]) };
        }
        a
    }
    #[inline(always)]
    unsafe fn sub(mut a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        for k in 0..Self::PARTS {
            let part = &mut Self::parts_mut(&mut a)[k];
            // SAFETY: the caller says that the machine has the instructions, here and below.
            *part = unsafe { part.sub(Self::parts(&b)[k]) };
        }
        a
    }
    #[inline(always)]
    unsafe fn mul(mut a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        for k in 0..Self::PARTS {
            let part = &mut Self::parts_mut(&mut a)[k];
            // SAFETY: the caller says that the machine has the instructions, here and below.
            *part = unsafe { part.mul(Self::parts(&b)[k]) };
        }
        a
    }
    /// The greater, or `b` if one is no number.
    #[inline(always)]
    unsafe fn max(mut a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        for k in 0..Self::PARTS {
            let part = &mut Self::parts_mut(&mut a)[k];
            // SAFETY: the caller says that the machine has the instructions, here and below.
            *part = unsafe { part.max(Self::parts(&b)[k]) };
        }
        a
    }
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
    /// The order in which those whose bit is set come first.
    unsafe fn order(bits: u32) -> Self::Order;
    /// Writes the first of `values` in `order` to `out`.
    unsafe fn pack<T: Word>(order: Self::Order, values: &[T; LANES], out: &mut [T; LANES]);
}

/// A register of numbers.
///
/// # Safety
/// Every function needs a machine that has the instructions.
pub(crate) trait Part: Copy {
    /// As often as there is room for it.
    unsafe fn splat(value: f32) -> Self;
    unsafe fn add(self, b: Self) -> Self;
    unsafe fn sub(self, b: Self) -> Self;
    unsafe fn mul(self, b: Self) -> Self;
    /// `self b + c`, rounded once.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self b`, rounded once.
    unsafe fn mul_sub(self, b: Self, c: Self) -> Self;
    /// The greater, or `b` if one is no number.
    unsafe fn max(self, b: Self) -> Self;
}

/// Four bytes.
pub(crate) trait Word: Copy {}

impl Word for u32 {}
impl Word for f32 {}

/// One number after the other.
pub(crate) struct Plain;

impl Plain {
    #[inline(always)]
    fn zip(a: [f32; LANES], b: [f32; LANES], of: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
        std::array::from_fn(|k| of(a[k], b[k]))
    }
}

impl Part for [f32; LANES] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Plain::zip(self, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        Plain::zip(self, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        Plain::zip(self, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        std::array::from_fn(|k| self[k].mul_add(b[k], c[k]))
    }
    #[inline(always)]
    unsafe fn mul_sub(self, b: Self, c: Self) -> Self {
        std::array::from_fn(|k| (-self[k]).mul_add(b[k], c[k]))
    }
    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        Plain::zip(self, b, |a, b| if a > b { a } else { b })
    }
}

impl Isa for Plain {
    type Lanes = [f32; LANES];
    type Part = [f32; LANES];
    type Order = u32;
    const PARTS: usize = 1;

    #[inline(always)]
    fn parts(lanes: &Self::Lanes) -> &[Self::Part] {
        std::slice::from_ref(lanes)
    }
    #[inline(always)]
    fn parts_mut(lanes: &mut Self::Lanes) -> &mut [Self::Part] {
        std::slice::from_mut(lanes)
    }

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
    unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Self::zip(a, b, |a, b| a / b)
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
    unsafe fn order(bits: u32) -> Self::Order {
        bits
    }
    #[inline(always)]
    unsafe fn pack<T: Word>(order: Self::Order, values: &[T; LANES], out: &mut [T; LANES]) {
        let (mut bits, mut n) = (order, 0);
        while bits != 0 {
            out[n % LANES] = values[bits.trailing_zeros() as usize % LANES];
            bits &= bits - 1;
            n += 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use barchan_neighbors::PACKING;

    use super::{Isa, LANES, Part, Word};

    /// The permutation that brings the lanes `set` of eight to the front.
    #[inline(always)]
    unsafe fn permutation(set: usize) -> __m256i {
        // SAFETY: the caller says that the machine has the instructions.
        unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[set].cast_signed())) }
    }

    impl Part for __m256 {
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn add(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_add_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn sub(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_sub_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn mul(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_mul_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_fmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn mul_sub(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_fnmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn max(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm256_max_ps(self, b) }
        }
    }

    /// Twice eight numbers.
    pub(crate) struct Avx2;

    impl Isa for Avx2 {
        type Lanes = [__m256; 2];
        type Part = __m256;
        /// The permutations of both halves, and how many the first leaves.
        type Order = ([__m256i; 2], usize);
        const PARTS: usize = 2;

        #[inline(always)]
        fn parts(lanes: &Self::Lanes) -> &[Self::Part] {
            lanes
        }
        #[inline(always)]
        fn parts_mut(lanes: &mut Self::Lanes) -> &mut [Self::Part] {
            lanes
        }

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
        unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
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
        unsafe fn ranges([x, y, z]: &[Self::Lanes; 3]) -> [[f32; 3]; 2] {
            // All three at once: a third of the instructions of as many reductions.
            // SAFETY: as above.
            unsafe {
                let (mut low, mut high) = ([0.0; 4], [0.0; 4]);
                let (a, b, c) = (
                    _mm256_min_ps(x[0], x[1]),
                    _mm256_min_ps(y[0], y[1]),
                    _mm256_min_ps(z[0], z[1]),
                );
                let ab = _mm256_min_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let cc = _mm256_min_ps(_mm256_unpacklo_ps(c, c), _mm256_unpackhi_ps(c, c));
                let abc = _mm256_min_ps(_mm256_shuffle_ps::<0x44>(ab, cc), _mm256_shuffle_ps::<0xEE>(ab, cc));
                let least = _mm_min_ps(_mm256_castps256_ps128(abc), _mm256_extractf128_ps::<1>(abc));
                _mm_storeu_ps(low.as_mut_ptr(), least);
                let (a, b, c) = (
                    _mm256_max_ps(x[0], x[1]),
                    _mm256_max_ps(y[0], y[1]),
                    _mm256_max_ps(z[0], z[1]),
                );
                let ab = _mm256_max_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let cc = _mm256_max_ps(_mm256_unpacklo_ps(c, c), _mm256_unpackhi_ps(c, c));
                let abc = _mm256_max_ps(_mm256_shuffle_ps::<0x44>(ab, cc), _mm256_shuffle_ps::<0xEE>(ab, cc));
                let greatest = _mm_max_ps(_mm256_castps256_ps128(abc), _mm256_extractf128_ps::<1>(abc));
                _mm_storeu_ps(high.as_mut_ptr(), greatest);
                [[low[0], low[1], low[2]], [high[0], high[1], high[2]]]
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
        unsafe fn order(bits: u32) -> Self::Order {
            let (low, high) = (bits as usize & 0xff, bits as usize >> 8 & 0xff);
            // SAFETY: as above.
            unsafe { ([permutation(low), permutation(high)], low.count_ones() as usize) }
        }
        #[inline(always)]
        unsafe fn pack<T: Word>((halves, split): Self::Order, values: &[T; LANES], out: &mut [T; LANES]) {
            // SAFETY: sixteen words of four bytes each, here and there; the first half leaves no more than eight.
            unsafe {
                let first = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.as_ptr().cast()), halves[0]);
                let rest = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.as_ptr().add(8).cast()), halves[1]);
                _mm256_storeu_si256(out.as_mut_ptr().cast(), first);
                _mm256_storeu_si256(out.as_mut_ptr().add(split).cast(), rest);
            }
        }
    }

    impl Part for __m512 {
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn add(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_add_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn sub(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_sub_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn mul(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_mul_ps(self, b) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_fmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn mul_sub(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_fnmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn max(self, b: Self) -> Self {
            // SAFETY: the caller says that the machine has the instructions, here and below.
            unsafe { _mm512_max_ps(self, b) }
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
        type Part = __m512;
        type Order = __mmask16;
        const PARTS: usize = 1;

        #[inline(always)]
        fn parts(lanes: &Self::Lanes) -> &[Self::Part] {
            std::slice::from_ref(lanes)
        }
        #[inline(always)]
        fn parts_mut(lanes: &mut Self::Lanes) -> &mut [Self::Part] {
            std::slice::from_mut(lanes)
        }

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
        unsafe fn div(a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: as above.
            unsafe { _mm512_div_ps(a, b) }
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
        unsafe fn order(bits: u32) -> Self::Order {
            bits as __mmask16
        }
        #[inline(always)]
        unsafe fn pack<T: Word>(order: Self::Order, values: &[T; LANES], out: &mut [T; LANES]) {
            // SAFETY: sixteen words of four bytes each, here and there.
            unsafe {
                let kept = _mm512_maskz_compress_epi32(order, _mm512_loadu_si512(values.as_ptr().cast()));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), kept);
            }
        }
    }
}
