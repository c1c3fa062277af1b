//! Eight neighbours at a time, as columns. Written out for AVX2, since the compiler leaves such loops as they are.

use barchan_simd::PACKING;
use glam::Vec4;

/// Neighbours of a block [-].
pub(crate) const LANES: usize = 8;
/// A number for each of them.
pub(crate) type Lane = [f32; LANES];

/// How neighbours are read, and eight numbers are reckoned with. Nothing is fused or reordered: every machine gives the same bits.
pub(crate) trait Vectors {
    /// Eight numbers.
    type Eight: Copy;

    fn splat(value: f32) -> Self::Eight;
    fn load(values: &Lane) -> Self::Eight;
    fn store(values: Self::Eight) -> Lane;
    fn add(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn sub(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn mul(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn div(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn max(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn min(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    fn sqrt(a: Self::Eight) -> Self::Eight;
    /// To whole numbers, halves to even ones.
    fn round(a: Self::Eight) -> Self::Eight;

    /// A bit for each lane in which a is below b.
    fn below(a: Self::Eight, b: Self::Eight) -> usize;
    /// `value` in lanes in which a is below b, 0 in others.
    fn kept_below(value: Self::Eight, a: Self::Eight, b: Self::Eight) -> Self::Eight;
    /// The lanes whose bit is set, side by side from the first on; the others are of no meaning.
    fn packed(a: Self::Eight, bits: usize) -> Self::Eight;
    /// The same of whole numbers.
    fn packed_index(index: &[u32; LANES], bits: usize) -> [u32; LANES];

    /// Whether all of `index` are below `count`.
    fn are_below(index: &[u32; LANES], count: u32) -> bool;

    /// Vector `part` of each of the rows at the places `index`, as columns x, y, z, w.
    ///
    /// # Safety
    /// Every place is inside the column.
    unsafe fn gather<const N: usize>(column: &[[Vec4; N]], part: usize, index: &[u32; LANES]) -> [Self::Eight; 4];

    /// Writes x, y, z, w as vector `part` of eight rows.
    fn scatter<const N: usize>(columns: [Self::Eight; 4], part: usize, rows: &mut [[Vec4; N]; LANES]);

    /// The sum of all lanes, in a fixed order.
    #[inline(always)]
    fn total(a: Self::Eight) -> f32 {
        let [a, b, c, d, e, f, g, h] = Self::store(a);
        ((a + e) + (b + f)) + ((c + g) + (d + h))
    }

    /// The sums of three.
    #[inline(always)]
    fn totals([x, y, z]: [Self::Eight; 3]) -> [f32; 3] {
        [Self::total(x), Self::total(y), Self::total(z)]
    }

    /// a·b, along three axes.
    #[inline(always)]
    fn dot(a: [Self::Eight; 3], b: [Self::Eight; 3]) -> Self::Eight {
        Self::add(
            Self::add(Self::mul(a[0], b[0]), Self::mul(a[1], b[1])),
            Self::mul(a[2], b[2]),
        )
    }
}

/// Any machine.
pub(crate) struct Portable;

impl Vectors for Portable {
    type Eight = Lane;

    #[inline(always)]
    fn splat(value: f32) -> Lane {
        [value; LANES]
    }

    #[inline(always)]
    fn load(values: &Lane) -> Lane {
        *values
    }

    #[inline(always)]
    fn store(values: Lane) -> Lane {
        values
    }

    #[inline(always)]
    fn add(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| a[l] + b[l])
    }

    #[inline(always)]
    fn sub(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| a[l] - b[l])
    }

    #[inline(always)]
    fn mul(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| a[l] * b[l])
    }

    #[inline(always)]
    fn div(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| a[l] / b[l])
    }

    #[inline(always)]
    fn max(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| if a[l] > b[l] { a[l] } else { b[l] })
    }

    #[inline(always)]
    fn min(a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| if a[l] < b[l] { a[l] } else { b[l] })
    }

    #[inline(always)]
    fn sqrt(a: Lane) -> Lane {
        a.map(f32::sqrt)
    }

    #[inline(always)]
    fn round(a: Lane) -> Lane {
        a.map(f32::round_ties_even)
    }

    #[inline(always)]
    fn below(a: Lane, b: Lane) -> usize {
        (0..LANES).map(|l| usize::from(a[l] < b[l]) << l).sum()
    }

    #[inline(always)]
    fn kept_below(value: Lane, a: Lane, b: Lane) -> Lane {
        std::array::from_fn(|l| if a[l] < b[l] { value[l] } else { 0.0 })
    }

    #[inline(always)]
    fn packed(a: Lane, bits: usize) -> Lane {
        PACKING[bits].to_le_bytes().map(|l| a[usize::from(l)])
    }

    #[inline(always)]
    fn packed_index(index: &[u32; LANES], bits: usize) -> [u32; LANES] {
        PACKING[bits].to_le_bytes().map(|l| index[usize::from(l)])
    }

    #[inline(always)]
    fn are_below(index: &[u32; LANES], count: u32) -> bool {
        index.iter().all(|&j| j < count)
    }

    #[inline(always)]
    unsafe fn gather<const N: usize>(column: &[[Vec4; N]], part: usize, index: &[u32; LANES]) -> [Lane; 4] {
        let vectors = index.map(|j| column[j as usize][part].to_array());
        std::array::from_fn(|axis| vectors.map(|v| v[axis]))
    }

    #[inline(always)]
    fn scatter<const N: usize>(columns: [Lane; 4], part: usize, rows: &mut [[Vec4; N]; LANES]) {
        for (l, row) in rows.iter_mut().enumerate() {
            row[part] = Vec4::from_array(columns.map(|column| column[l]));
        }
    }
}

/// Machines with AVX2. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Avx2, LANES, Lane, PACKING, Vec4, Vectors};
    use std::arch::x86_64::*;

    /// The permutation that brings the lanes of `bits` to the front.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn order(bits: usize) -> __m256i {
        // SAFETY: as promised above.
        unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[bits].cast_signed())) }
    }

    /// The vectors at `low` and `high`, side by side. No closure, which would be compiled without AVX2.
    ///
    /// # Safety
    /// The machine has AVX2, and the places are those of vectors.
    #[inline(always)]
    unsafe fn pair(low: *const Vec4, high: *const Vec4) -> __m256 {
        // SAFETY: as promised above.
        unsafe {
            _mm256_insertf128_ps::<1>(
                _mm256_castps128_ps256(_mm_loadu_ps(low.cast())),
                _mm_loadu_ps(high.cast()),
            )
        }
    }

    /// The sum of both halves.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn halved(a: __m256) -> __m128 {
        // SAFETY: as promised above.
        unsafe { _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a)) }
    }

    /// Functions of eight numbers by an instruction each.
    macro_rules! instructions {
        ($($name:ident($($a:ident),*) = $instruction:expr;)*) => {
            $(
                #[inline(always)]
                fn $name($($a: __m256),*) -> __m256 {
                    // SAFETY: the type is only used where AVX2 is.
                    unsafe { $instruction }
                }
            )*
        };
    }

    impl Vectors for Avx2 {
        type Eight = __m256;

        instructions! {
            add(a, b) = _mm256_add_ps(a, b);
            sub(a, b) = _mm256_sub_ps(a, b);
            mul(a, b) = _mm256_mul_ps(a, b);
            div(a, b) = _mm256_div_ps(a, b);
            max(a, b) = _mm256_max_ps(a, b);
            min(a, b) = _mm256_min_ps(a, b);
            sqrt(a) = _mm256_sqrt_ps(a);
            round(a) = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        }

        #[inline(always)]
        fn splat(value: f32) -> __m256 {
            // SAFETY: the type is only used where AVX2 is.
            unsafe { _mm256_set1_ps(value) }
        }

        #[inline(always)]
        fn load(values: &Lane) -> __m256 {
            // SAFETY: as above; there are eight.
            unsafe { _mm256_loadu_ps(values.as_ptr()) }
        }

        #[inline(always)]
        fn store(values: __m256) -> Lane {
            // SAFETY: both are eight numbers side by side.
            unsafe { std::mem::transmute::<__m256, Lane>(values) }
        }

        #[inline(always)]
        fn below(a: __m256, b: __m256) -> usize {
            // SAFETY: the type is only used where AVX2 is.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) as usize }
        }

        #[inline(always)]
        fn kept_below(value: __m256, a: __m256, b: __m256) -> __m256 {
            // SAFETY: the type is only used where AVX2 is.
            unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b), value) }
        }

        #[inline(always)]
        fn packed(a: __m256, bits: usize) -> __m256 {
            // SAFETY: as above.
            unsafe { _mm256_permutevar8x32_ps(a, order(bits)) }
        }

        #[inline(always)]
        fn packed_index(index: &[u32; LANES], bits: usize) -> [u32; LANES] {
            // SAFETY: as above; both are eight numbers side by side.
            unsafe {
                let packed = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(index.as_ptr().cast()), order(bits));
                std::mem::transmute::<__m256i, [u32; LANES]>(packed)
            }
        }

        #[inline(always)]
        fn are_below(index: &[u32; LANES], count: u32) -> bool {
            // SAFETY: as above.
            unsafe {
                let index = _mm256_loadu_si256(index.as_ptr().cast());
                let most = _mm256_max_epu32(index, _mm256_set1_epi32(count.cast_signed()));
                _mm256_movemask_epi8(_mm256_cmpeq_epi32(most, index)) == 0
            }
        }

        #[inline(always)]
        fn totals([x, y, z]: [__m256; 3]) -> [f32; 3] {
            // SAFETY: the type is only used where AVX2 is.
            unsafe {
                let (x, y, z) = (halved(x), halved(y), halved(z));
                let sums = _mm_hadd_ps(_mm_hadd_ps(x, y), _mm_hadd_ps(z, z));
                let [x, y, z, _] = std::mem::transmute::<__m128, [f32; 4]>(sums);
                [x, y, z]
            }
        }

        #[inline(always)]
        unsafe fn gather<const N: usize>(column: &[[Vec4; N]], part: usize, index: &[u32; LANES]) -> [__m256; 4] {
            assert!(part < N);
            // SAFETY: the type is only used where AVX2 is; every place is inside the column, as promised, and `part` inside the row.
            unsafe {
                let first = column.as_ptr().cast::<Vec4>().add(part);
                let (a, e) = (first.add(index[0] as usize * N), first.add(index[4] as usize * N));
                let (b, f) = (first.add(index[1] as usize * N), first.add(index[5] as usize * N));
                let (c, g) = (first.add(index[2] as usize * N), first.add(index[6] as usize * N));
                let (d, h) = (first.add(index[3] as usize * N), first.add(index[7] as usize * N));
                // A transposition of 4 by 4 in each half.
                let (a, b, c, d) = (pair(a, e), pair(b, f), pair(c, g), pair(d, h));
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

        #[inline(always)]
        fn scatter<const N: usize>([x, y, z, w]: [__m256; 4], part: usize, rows: &mut [[Vec4; N]; LANES]) {
            // SAFETY: the type is only used where AVX2 is; halves and vectors are four numbers each.
            unsafe {
                let (xy, zw) = (_mm256_unpacklo_ps(x, y), _mm256_unpacklo_ps(z, w));
                let (high_xy, high_zw) = (_mm256_unpackhi_ps(x, y), _mm256_unpackhi_ps(z, w));
                let halves = [
                    _mm256_shuffle_ps::<0b01_00_01_00>(xy, zw),
                    _mm256_shuffle_ps::<0b11_10_11_10>(xy, zw),
                    _mm256_shuffle_ps::<0b01_00_01_00>(high_xy, high_zw),
                    _mm256_shuffle_ps::<0b11_10_11_10>(high_xy, high_zw),
                ];
                for (l, both) in halves.into_iter().enumerate() {
                    _mm_storeu_ps((&raw mut rows[l][part]).cast(), _mm256_castps256_ps128(both));
                    _mm_storeu_ps((&raw mut rows[l + 4][part]).cast(), _mm256_extractf128_ps::<1>(both));
                }
            }
        }
    }
}

/// [`barchan_neighbors::vectorised`] with the types above. AVX-512 serves for its 32 registers: lanes are eight.
macro_rules! vectorised {
    ($($function:tt)*) => {
        barchan_neighbors::vectorised! {
            [$crate::cpu::simd::Avx2, $crate::cpu::simd::Avx2, $crate::cpu::simd::Portable] $($function)*
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered<V: Vectors>(column: &[[Vec4; 3]], index: &[u32; LANES], out: &mut [[Lane; 4]; 3]) {
        for (part, out) in out.iter_mut().enumerate() {
            // SAFETY: the test gives places inside.
            let gathered = unsafe { V::gather(column, part, index) };
            for (out, lane) in out.iter_mut().zip(gathered) {
                *out = V::store(lane);
            }
        }
    }
    vectorised! { fn on_this_machine(column: &[[Vec4; 3]], index: &[u32; LANES], out: &mut [[Lane; 4]; 3]) = gathered }

    fn scattered<V: Vectors>(columns: &[Lane; 4], part: usize, rows: &mut [[Vec4; 3]; LANES]) {
        let [x, y, z, w] = columns;
        V::scatter([V::load(x), V::load(y), V::load(z), V::load(w)], part, rows);
    }
    vectorised! { fn scattered_here(columns: &[Lane; 4], part: usize, rows: &mut [[Vec4; 3]; LANES]) = scattered }

    fn reckoned<V: Vectors>(values: &[Lane; 2], out: &mut [Lane; 10], sums: &mut [f32; 4]) {
        let [a, b] = [V::load(&values[0]), V::load(&values[1])];
        let results = [
            V::add(a, b),
            V::sub(a, b),
            V::mul(a, b),
            V::div(a, b),
            V::max(a, b),
            V::sqrt(a),
            V::round(V::mul(a, V::splat(0.5))),
            V::min(a, b),
            V::packed(a, V::below(b, a)),
            V::kept_below(a, b, a),
        ];
        *out = results.map(V::store);
        let [x, y, z] = V::totals([a, b, V::mul(a, b)]);
        *sums = [x, y, z, V::total(b)];
    }
    vectorised! { fn reckoned_here(values: &[Lane; 2], out: &mut [Lane; 10], sums: &mut [f32; 4]) = reckoned }

    #[test]
    fn every_machine_reckons_the_same_bits() {
        let values = [
            [0.0, 1.0, 3.0, 0.1, 7.7, 5.0, 1e-20, 1e20],
            [2.0, 0.3, 3.0, -0.1, 1e-9, -5.5, 4.0, 0.7],
        ];
        let (mut here, mut portable) = ([[0.0; LANES]; 10], [[0.0; LANES]; 10]);
        let (mut sums_here, mut sums) = ([0.0; 4], [0.0; 4]);
        reckoned_here(&values, &mut here, &mut sums_here);
        reckoned::<Portable>(&values, &mut portable, &mut sums);
        assert_eq!(
            here.map(|lane| lane.map(f32::to_bits)),
            portable.map(|lane| lane.map(f32::to_bits))
        );
        assert_eq!(sums_here.map(f32::to_bits), sums.map(f32::to_bits));
        assert_eq!(sums[1], sums[3]);
        assert_eq!(here[0][1], 1.3);
        assert_eq!(here[6][..4], [0.0, 0.0, 2.0, 0.0]);
    }

    #[test]
    fn every_machine_reads_the_same_columns() {
        let value = |row: usize, part: usize, axis: usize| (100 * row + 10 * part + axis) as f32;
        let vector = |row, part| Vec4::from_array(std::array::from_fn(|axis| value(row, part, axis)));
        let column: Vec<[Vec4; 3]> = (0..20)
            .map(|row| std::array::from_fn(|part| vector(row, part)))
            .collect();
        let index = std::array::from_fn(|l| (7 * l as u32 + 3) % 20);
        let mut out = [[[0.0; LANES]; 4]; 3];
        on_this_machine(&column, &index, &mut out);
        let mut rows = [[Vec4::ZERO; 3]; LANES];
        for (part, columns) in out.iter().enumerate() {
            scattered_here(columns, part, &mut rows);
            for (axis, lane) in columns.iter().enumerate() {
                for l in 0..LANES {
                    assert_eq!(lane[l], value(index[l] as usize, part, axis));
                }
            }
        }
        assert_eq!(rows, index.map(|j| column[j as usize]));
    }
}
