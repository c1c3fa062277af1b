//! Operations of AVX2 and AVX-512 that differ from the portable ones.

use std::arch::x86_64::*;

use fearless_simd::x86::{Avx2, Avx512};
use fearless_simd::{SimdFrom, SimdInto, SimdMask, f32x4, f32x8, f32x16, f64x4, f64x8, kernel, u8x32, u32x8, u32x16};

use crate::{Appender, PACKING, Simd, block};

/// The bytes 0 to 31.
const LANE_NUMBERS: [u8; 32] = {
    let mut numbers = [0; 32];
    let mut k = 0;
    while k < 32 {
        numbers[k] = k as u8;
        k += 1;
    }
    numbers
};

/// Implements functions of [`Simd`] by instructions of a token.
macro_rules! by {
    ($token:ident: $(fn $name:ident($simd:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? { $($body:tt)* })*) => {
        $(
            #[inline(always)]
            fn $name(self $(, $argument: $type)*) $(-> $result)? {
                kernel! {
                    #[inline(always)]
                    fn instructions($simd: $token $(, $argument: $type)*) $(-> $result)? { $($body)* }
                }
                instructions(self $(, $argument)*)
            }
        )*
    };
}

kernel! {
    /// Returns those of 32 numbers whose bit is set, then any.
    #[inline(always)]
    fn packed32(simd: Avx512, low: u32x16<Avx512>, high: u32x16<Avx512>, bits: u32) -> [u32x16<Avx512>; 2] {
        let lanes = _mm256_maskz_compress_epi8(bits, u8x32::simd_from(simd, LANE_NUMBERS).into());
        let first = _mm512_cvtepu8_epi32(_mm256_castsi256_si128(lanes));
        let rest = _mm512_cvtepu8_epi32(_mm256_extracti128_si256::<1>(lanes));
        [
            _mm512_permutex2var_epi32(low.into(), first, high.into()).simd_into(simd),
            _mm512_permutex2var_epi32(low.into(), rest, high.into()).simd_into(simd),
        ]
    }
}

/// Transposes 4 by 4 numbers in each quarter of a register.
macro_rules! transposed {
    ($unpack_low:ident, $unpack_high:ident, $shuffle:ident, $a:expr, $b:expr, $c:expr, $d:expr) => {{
        let (a, b, c, d) = ($a, $b, $c, $d);
        let (ab, cd) = ($unpack_low(a, b), $unpack_low(c, d));
        let (high_ab, high_cd) = ($unpack_high(a, b), $unpack_high(c, d));
        [
            $shuffle::<0b01_00_01_00>(ab, cd),
            $shuffle::<0b11_10_11_10>(ab, cd),
            $shuffle::<0b01_00_01_00>(high_ab, high_cd),
            $shuffle::<0b11_10_11_10>(high_ab, high_cd),
        ]
    }};
}

/// Rows k and k + 4 side by side.
macro_rules! every_fourth_of8 {
    ($simd:ident, $rows:ident, $k:literal) => {{
        let v = _mm256_castps128_ps256(f32x4::simd_from($simd, *$rows[$k]).into());
        _mm256_insertf128_ps::<1>(v, f32x4::simd_from($simd, *$rows[$k + 4]).into())
    }};
}

/// Rows k, k + 4, k + 8 and k + 12 side by side.
macro_rules! every_fourth {
    ($simd:ident, $rows:ident, $k:literal) => {{
        let v = _mm512_castps128_ps512(f32x4::simd_from($simd, *$rows[$k]).into());
        let v = _mm512_insertf32x4::<1>(v, f32x4::simd_from($simd, *$rows[$k + 4]).into());
        let v = _mm512_insertf32x4::<2>(v, f32x4::simd_from($simd, *$rows[$k + 8]).into());
        _mm512_insertf32x4::<3>(v, f32x4::simd_from($simd, *$rows[$k + 12]).into())
    }};
}

/// The permutation that brings the lanes of eight `bits` to the front.
macro_rules! order {
    ($bits:expr) => {
        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKING[$bits as usize & 0xff].cast_signed()))
    };
}

/// Columns of eight rows of four doubles.
macro_rules! double_columns {
    ($simd:ident, $row:ident) => {{
        macro_rules! pair {
            ($k:literal) => {
                _mm512_insertf64x4::<1>(_mm512_castpd256_pd512($row!($k)), $row!($k + 4))
            };
        }
        // Rows 0 and 4, 1 and 5, 2 and 6, 3 and 7: a transposition of 4 by 4 in each half.
        let (a, b, c, d) = (pair!(0), pair!(1), pair!(2), pair!(3));
        let (ab, cd) = (_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d));
        let (high_ab, high_cd) = (_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d));
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            _mm512_permutex2var_pd(ab, low, cd).simd_into($simd),
            _mm512_permutex2var_pd(high_ab, low, high_cd).simd_into($simd),
            _mm512_permutex2var_pd(ab, high, cd).simd_into($simd),
            _mm512_permutex2var_pd(high_ab, high, high_cd).simd_into($simd),
        ]
    }};
}

/// Functions of eight lanes, the same with both sets.
macro_rules! eight_lanes {
    ($token:ident) => {
        by! { $token:
            fn columns8(simd, rows: [&[f32; 4]; 8]) -> [f32x8<$token>; 4] {
                let [a, b, c, d] = transposed!(
                    _mm256_unpacklo_ps, _mm256_unpackhi_ps, _mm256_shuffle_ps,
                    every_fourth_of8!(simd, rows, 0), every_fourth_of8!(simd, rows, 1),
                    every_fourth_of8!(simd, rows, 2), every_fourth_of8!(simd, rows, 3)
                );
                [a.simd_into(simd), b.simd_into(simd), c.simd_into(simd), d.simd_into(simd)]
            }
            fn rows8(simd, columns: [f32x8<$token>; 4]) -> [f32x4<$token>; 8] {
                let [x, y, z, w] = columns;
                let [a, b, c, d] = transposed!(
                    _mm256_unpacklo_ps, _mm256_unpackhi_ps, _mm256_shuffle_ps, x.into(), y.into(), z.into(), w.into()
                );
                [
                    _mm256_castps256_ps128(a).simd_into(simd),
                    _mm256_castps256_ps128(b).simd_into(simd),
                    _mm256_castps256_ps128(c).simd_into(simd),
                    _mm256_castps256_ps128(d).simd_into(simd),
                    _mm256_extractf128_ps::<1>(a).simd_into(simd),
                    _mm256_extractf128_ps::<1>(b).simd_into(simd),
                    _mm256_extractf128_ps::<1>(c).simd_into(simd),
                    _mm256_extractf128_ps::<1>(d).simd_into(simd),
                ]
            }
            fn packed8(simd, values: f32x8<$token>, bits: u32) -> f32x8<$token> {
                _mm256_permutevar8x32_ps(values.into(), order!(bits)).simd_into(simd)
            }
            fn packed_integers8(simd, values: u32x8<$token>, bits: u32) -> u32x8<$token> {
                _mm256_permutevar8x32_epi32(values.into(), order!(bits)).simd_into(simd)
            }
            fn sums8(simd, vectors: [f32x8<$token>; 3]) -> [f32; 3] {
                let [x, y, z]: [__m256; 3] = [vectors[0].into(), vectors[1].into(), vectors[2].into()];
                let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
                let y = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps::<1>(y));
                let z = _mm_add_ps(_mm256_castps256_ps128(z), _mm256_extractf128_ps::<1>(z));
                let sums = _mm_hadd_ps(_mm_hadd_ps(x, y), _mm_hadd_ps(z, z));
                let [x, y, z, _]: [f32; 4] = f32x4::simd_from(simd, sums).into();
                [x, y, z]
            }
        }
    };
}

impl Simd for Avx2 {
    type Register = f32x8<Self>;
    const LANES: usize = 8;
    const IS_NATIVE: bool = true;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Register {
        self.splat8(value)
    }

    #[inline(always)]
    fn load(self, column: &[f32], at: usize) -> Self::Register {
        self.load8(block(column, at))
    }

    #[inline(always)]
    fn append(self, column: &[u32], at: usize, bits: u32, skip: u32, out: &mut Appender<'_>) {
        use fearless_simd::Simd as _;
        let values = self.integers8(block(column, at));
        let kept = bits & SimdMask::to_bitmask(self.simd_ne_u32x8(values, self.splat_u32x8(skip))) as u32;
        out.push::<8>(self.packed_integers8(values, kept).into(), kept.count_ones() as usize);
    }

    #[inline(always)]
    fn by_register<const I: usize, const O: usize>(
        self,
        lanes: [f32x16<Self>; I],
        each: impl Fn([Self::Register; I]) -> [Self::Register; O],
    ) -> [f32x16<Self>; O] {
        use fearless_simd::Simd as _;
        let halves = lanes.map(|lanes| self.split_f32x16(lanes));
        let low = each(halves.map(|(low, _)| low));
        let high = each(halves.map(|(_, high)| high));
        let mut all = [self.splat_f32x16(0.0); O];
        for k in 0..O {
            all[k] = self.combine_f32x8(low[k], high[k]);
        }
        all
    }

    eight_lanes!(Avx2);

    by! { Avx2:
        fn pack16(simd, values: f32x16<Avx2>, bits: u32, out: &mut [f32; 16]) {
            use fearless_simd::Simd as _;
            let (low, high) = simd.split_f32x16(values);
            let first: f32x8<Avx2> = _mm256_permutevar8x32_ps(low.into(), order!(bits)).simd_into(simd);
            let rest: f32x8<Avx2> = _mm256_permutevar8x32_ps(high.into(), order!(bits >> 8)).simd_into(simd);
            let split = ((bits & 0xff).count_ones() as usize).min(8);
            out[..8].copy_from_slice(&*first);
            out[split..split + 8].copy_from_slice(&*rest);
        }
        fn pack_integers16(simd, values: u32x16<Avx2>, bits: u32, out: &mut [u32; 16]) {
            use fearless_simd::Simd as _;
            let (low, high) = simd.split_u32x16(values);
            let first: u32x8<Avx2> = _mm256_permutevar8x32_epi32(low.into(), order!(bits)).simd_into(simd);
            let rest: u32x8<Avx2> = _mm256_permutevar8x32_epi32(high.into(), order!(bits >> 8)).simd_into(simd);
            let split = ((bits & 0xff).count_ones() as usize).min(8);
            out[..8].copy_from_slice(&*first);
            out[split..split + 8].copy_from_slice(&*rest);
        }
        fn ranges16(simd, vectors: [f32x16<Avx2>; 3]) -> [[f32; 3]; 2] {
            use fearless_simd::Simd as _;
            // All three at once: a third of the instructions of as many reductions.
            macro_rules! reduced {
                ($whole:ident, $half:ident) => {{
                    let [x, y, z] = vectors.map(|vector| simd.split_f32x16(vector));
                    let a = $whole(x.0.into(), x.1.into());
                    let b = $whole(y.0.into(), y.1.into());
                    let c = $whole(z.0.into(), z.1.into());
                    let ab = $whole(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                    let cc = $whole(_mm256_unpacklo_ps(c, c), _mm256_unpackhi_ps(c, c));
                    let abc = $whole(_mm256_shuffle_ps::<0x44>(ab, cc), _mm256_shuffle_ps::<0xEE>(ab, cc));
                    let all = $half(_mm256_castps256_ps128(abc), _mm256_extractf128_ps::<1>(abc));
                    let [x, y, z, _]: [f32; 4] = f32x4::simd_from(simd, all).into();
                    [x, y, z]
                }};
            }
            [reduced!(_mm256_min_ps, _mm_min_ps), reduced!(_mm256_max_ps, _mm_max_ps)]
        }
    }
}

impl Simd for Avx512 {
    type Register = f32x16<Self>;
    const LANES: usize = 16;
    const IS_NATIVE: bool = true;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Register {
        self.splat16(value)
    }

    #[inline(always)]
    fn load(self, column: &[f32], at: usize) -> Self::Register {
        self.load16(block(column, at))
    }

    #[inline(always)]
    fn append(self, column: &[u32], at: usize, bits: u32, skip: u32, out: &mut Appender<'_>) {
        use fearless_simd::Simd as _;
        let values = self.integers16(block(column, at));
        let kept = bits & SimdMask::to_bitmask(self.simd_ne_u32x16(values, self.splat_u32x16(skip))) as u32;
        let mut packed = [0; 16];
        self.pack_integers16(values, kept, &mut packed);
        out.push(packed, kept.count_ones() as usize);
    }

    #[inline(always)]
    fn by_register<const I: usize, const O: usize>(
        self,
        lanes: [f32x16<Self>; I],
        each: impl Fn([Self::Register; I]) -> [Self::Register; O],
    ) -> [f32x16<Self>; O] {
        each(lanes)
    }

    // Only the list of packed lanes is left to a kernel, which may not be inlined: the fields of `out` stay in registers.
    #[inline(always)]
    fn append32(self, values: &[u32; 32], bits: u32, out: &mut Appender<'_>) {
        let count = bits.count_ones() as usize;
        let [first, rest] = packed32(
            self,
            self.integers16(block(values, 0)),
            self.integers16(block(values, 16)),
            bits,
        );
        out.push::<16>(first.into(), count);
        if count > 16 {
            out.push::<16>(rest.into(), count - 16);
        }
    }

    eight_lanes!(Avx512);

    by! { Avx512:
        fn pack16(simd, values: f32x16<Avx512>, bits: u32, out: &mut [f32; 16]) {
            let packed: f32x16<Avx512> = _mm512_maskz_compress_ps(bits as u16, values.into()).simd_into(simd);
            *out = packed.into();
        }
        fn pack_integers16(simd, values: u32x16<Avx512>, bits: u32, out: &mut [u32; 16]) {
            let packed: u32x16<Avx512> = _mm512_maskz_compress_epi32(bits as u16, values.into()).simd_into(simd);
            *out = packed.into();
        }
        fn columns16(simd, rows: [&[f32; 4]; 16]) -> [f32x16<Avx512>; 4] {
            let [a, b, c, d] = transposed!(
                _mm512_unpacklo_ps, _mm512_unpackhi_ps, _mm512_shuffle_ps,
                every_fourth!(simd, rows, 0), every_fourth!(simd, rows, 1), every_fourth!(simd, rows, 2), every_fourth!(simd, rows, 3)
            );
            [a.simd_into(simd), b.simd_into(simd), c.simd_into(simd), d.simd_into(simd)]
        }
        fn rows16(simd, columns: [f32x16<Avx512>; 4]) -> [f32x4<Avx512>; 16] {
            let [x, y, z, w] = columns;
            // Row 4 q + k is quarter q of the k-th of these.
            let [a, b, c, d] = transposed!(
                _mm512_unpacklo_ps, _mm512_unpackhi_ps, _mm512_shuffle_ps, x.into(), y.into(), z.into(), w.into()
            );
            macro_rules! row {
                ($q:literal, $v:ident) => {
                    _mm512_extractf32x4_ps::<$q>($v).simd_into(simd)
                };
            }
            [
                row!(0, a), row!(0, b), row!(0, c), row!(0, d),
                row!(1, a), row!(1, b), row!(1, c), row!(1, d),
                row!(2, a), row!(2, b), row!(2, c), row!(2, d),
                row!(3, a), row!(3, b), row!(3, c), row!(3, d),
            ]
        }
        fn double_columns8(simd, rows: [&[f64; 4]; 8]) -> [f64x8<Avx512>; 4] {
            macro_rules! row {
                ($k:expr) => {
                    f64x4::simd_from(simd, *rows[$k]).into()
                };
            }
            double_columns!(simd, row)
        }
        fn widened_columns8(simd, rows: [&[f32; 4]; 8]) -> [f64x8<Avx512>; 4] {
            macro_rules! row {
                ($k:expr) => {
                    _mm256_cvtps_pd(f32x4::simd_from(simd, *rows[$k]).into())
                };
            }
            double_columns!(simd, row)
        }
        fn ranges16(simd, vectors: [f32x16<Avx512>; 3]) -> [[f32; 3]; 2] {
            // All six at once, the greatest as the least of the negatives: half the instructions of six reductions.
            macro_rules! halved {
                ($vector:expr) => {{
                    let a: __m512 = $vector.into();
                    let negative = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
                    _mm512_min_ps(
                        _mm512_shuffle_f32x4::<0x44>(a, negative),
                        _mm512_shuffle_f32x4::<0xEE>(a, negative),
                    )
                }};
            }
            let (x, y, z) = (halved!(vectors[0]), halved!(vectors[1]), halved!(vectors[2]));
            let xy = _mm512_min_ps(_mm512_shuffle_f32x4::<0x88>(x, y), _mm512_shuffle_f32x4::<0xDD>(x, y));
            let zz = _mm512_min_ps(_mm512_shuffle_f32x4::<0x88>(z, z), _mm512_shuffle_f32x4::<0xDD>(z, z));
            let pairs = _mm512_min_ps(_mm512_unpacklo_ps(xy, zz), _mm512_unpackhi_ps(xy, zz));
            let all = _mm512_min_ps(pairs, _mm512_permute_ps::<0x4E>(pairs));
            let out: [f32; 16] = f32x16::simd_from(simd, all).into();
            [[out[0], out[8], out[1]], [-out[4], -out[12], -out[5]]]
        }
    }
}
