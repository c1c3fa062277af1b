//! Operations of an instruction set.

use fearless_simd::{f32x4, f32x8, f32x16, f64x8, u32x8, u32x16};

use crate::gather::{OUTSIDE, bound};
use crate::{Appender, PACKING, Portable, Real};

/// Proof of an instruction set, and its operations. Provided functions are portable and define the results.
pub trait Simd: fearless_simd::Simd {
    /// Numbers of one register, at most sixteen.
    type Register: Real;

    /// Lanes of a register [-].
    const LANES: usize;

    /// Set if [`Real::max`], [`Real::min`] and [`Real::mul_add`] are instructions.
    const IS_NATIVE: bool;

    /// Returns `value` in every lane of a register.
    fn splat(self, value: f32) -> Self::Register;

    /// Loads a register from `column[at..]`.
    ///
    /// # Panics
    /// Panics if the column ends within the register.
    fn load(self, column: &[f32], at: usize) -> Self::Register;

    /// Appends the numbers of `column[at..]` whose bit is set, except those equal to `skip`.
    ///
    /// # Panics
    /// Panics if the column ends within a register.
    fn append(self, column: &[u32], at: usize, bits: u32, skip: u32, out: &mut Appender<'_>);

    /// Appends those of 32 `values` whose bit is set.
    #[inline(always)]
    fn append32(self, values: &[u32; 32], bits: u32, out: &mut Appender<'_>) {
        let (parts, _) = values.as_chunks::<8>();
        for (k, part) in parts.iter().enumerate() {
            let bits = bits >> (8 * k);
            let packed = self.packed_integers8(self.integers8(part), bits);
            out.push::<8>(packed.into(), (bits & 0xff).count_ones() as usize);
        }
    }

    /// Applies `each` to registers one after the other. Sixteen lanes of many sums do not fit into the registers of AVX2 at once.
    fn by_register<const I: usize, const O: usize>(
        self,
        lanes: [f32x16<Self>; I],
        each: impl Fn([Self::Register; I]) -> [Self::Register; O],
    ) -> [f32x16<Self>; O];

    /// Calls `f` compiled for the instruction set; `f` must be `#[inline(always)]`.
    #[inline(always)]
    fn within<R>(self, f: impl FnOnce() -> R) -> R {
        self.vectorize(f)
    }

    /// Returns `value` in eight lanes.
    #[inline(always)]
    fn splat8(self, value: f32) -> f32x8<Self> {
        self.splat_f32x8(value)
    }

    /// Returns `value` in sixteen lanes.
    #[inline(always)]
    fn splat16(self, value: f32) -> f32x16<Self> {
        self.splat_f32x16(value)
    }

    /// Loads eight numbers.
    #[inline(always)]
    fn load8(self, values: &[f32; 8]) -> f32x8<Self> {
        fearless_simd::SimdFrom::simd_from(self, *values)
    }

    /// Loads sixteen numbers.
    #[inline(always)]
    fn load16(self, values: &[f32; 16]) -> f32x16<Self> {
        fearless_simd::SimdFrom::simd_from(self, *values)
    }

    /// Loads eight integers.
    #[inline(always)]
    fn integers8(self, values: &[u32; 8]) -> u32x8<Self> {
        fearless_simd::SimdFrom::simd_from(self, *values)
    }

    /// Loads sixteen integers.
    #[inline(always)]
    fn integers16(self, values: &[u32; 16]) -> u32x16<Self> {
        fearless_simd::SimdFrom::simd_from(self, *values)
    }

    /// Returns true if all of `values` are below `bound`.
    #[inline(always)]
    fn are_below8(self, values: &[u32; 8], bound: u32) -> bool {
        self.all_true_mask32x8(self.simd_lt_u32x8(self.integers8(values), self.splat_u32x8(bound)))
    }

    /// Returns true if all of `values` are below `bound`.
    #[inline(always)]
    fn are_below16(self, values: &[u32; 16], bound: u32) -> bool {
        self.all_true_mask32x16(self.simd_lt_u32x16(self.integers16(values), self.splat_u32x16(bound)))
    }

    /// Moves the lanes whose bit is set to the front; the others are unspecified.
    #[inline(always)]
    fn packed8(self, values: f32x8<Self>, bits: u32) -> f32x8<Self> {
        let lanes = PACKING[bits as usize & 0xff].to_le_bytes();
        self.load8(&lanes.map(|l| values[usize::from(l) & 7]))
    }

    /// Moves the lanes whose bit is set to the front; the others are unspecified.
    #[inline(always)]
    fn packed_integers8(self, values: u32x8<Self>, bits: u32) -> u32x8<Self> {
        let lanes = PACKING[bits as usize & 0xff].to_le_bytes();
        self.integers8(&lanes.map(|l| values[usize::from(l) & 7]))
    }

    /// Writes the lanes whose bit is set to the front of `out`; the rest of it is unspecified.
    #[inline(always)]
    fn pack16(self, values: f32x16<Self>, bits: u32, out: &mut [f32; 16]) {
        each_bit(bits, |n, l| out[n] = values[l]);
    }

    /// Writes the lanes whose bit is set to the front of `out`; the rest of it is unspecified.
    #[inline(always)]
    fn pack_integers16(self, values: u32x16<Self>, bits: u32, out: &mut [u32; 16]) {
        each_bit(bits, |n, l| out[n] = values[l]);
    }

    /// Returns vector `part` of the rows of `column` at `index`, as columns x, y, z, w.
    ///
    /// # Panics
    /// Panics if an index or the part is outside.
    #[inline(always)]
    fn gather8<T: AsRef<[f32; 4]>, const N: usize>(
        self,
        column: &[[T; N]],
        part: usize,
        index: &[u32; 8],
    ) -> [f32x8<Self>; 4] {
        assert!(part < N && self.are_below8(index, bound(column.len())), "{OUTSIDE}");
        let row = |l: usize| {
            // SAFETY: all indices are below the length.
            let row = unsafe { column.get_unchecked(index[l] as usize) };
            row[part].as_ref()
        };
        self.columns8([row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)])
    }

    /// Turns eight rows of four numbers into columns. Rows are references: the compiler would keep copies in memory.
    #[inline(always)]
    fn columns8(self, rows: [&[f32; 4]; 8]) -> [f32x8<Self>; 4] {
        let mut columns = [[0.0; 8]; 4];
        for l in 0..8 {
            for axis in 0..4 {
                columns[axis][l] = rows[l][axis];
            }
        }
        columns.map(|column| self.load8(&column))
    }

    /// Turns columns of eight into rows of four numbers.
    #[inline(always)]
    fn rows8(self, columns: [f32x8<Self>; 4]) -> [f32x4<Self>; 8] {
        let mut rows = [self.splat_f32x4(0.0); 8];
        for l in 0..8 {
            for axis in 0..4 {
                rows[l][axis] = columns[axis][l];
            }
        }
        rows
    }

    /// Turns sixteen rows of four numbers into columns.
    #[inline(always)]
    fn columns16(self, rows: [&[f32; 4]; 16]) -> [f32x16<Self>; 4] {
        let mut columns = [[0.0; 16]; 4];
        for l in 0..16 {
            for axis in 0..4 {
                columns[axis][l] = rows[l][axis];
            }
        }
        columns.map(|column| self.load16(&column))
    }

    /// Turns columns of sixteen into rows of four numbers.
    #[inline(always)]
    fn rows16(self, columns: [f32x16<Self>; 4]) -> [f32x4<Self>; 16] {
        let mut rows = [self.splat_f32x4(0.0); 16];
        for l in 0..16 {
            for axis in 0..4 {
                rows[l][axis] = columns[axis][l];
            }
        }
        rows
    }

    /// Turns eight rows of four double-precision numbers into columns.
    #[inline(always)]
    fn double_columns8(self, rows: [&[f64; 4]; 8]) -> [f64x8<Self>; 4] {
        let mut columns = [[0.0; 8]; 4];
        for l in 0..8 {
            for axis in 0..4 {
                columns[axis][l] = rows[l][axis];
            }
        }
        columns.map(|column| fearless_simd::SimdFrom::simd_from(self, column))
    }

    /// Turns eight rows of four numbers into columns of double precision.
    #[inline(always)]
    fn widened_columns8(self, rows: [&[f32; 4]; 8]) -> [f64x8<Self>; 4] {
        let mut columns = [[0.0; 8]; 4];
        for l in 0..8 {
            for axis in 0..4 {
                columns[axis][l] = f64::from(rows[l][axis]);
            }
        }
        columns.map(|column| fearless_simd::SimdFrom::simd_from(self, column))
    }

    /// Returns the sums over the lanes of three vectors: the halves of a vector, then neighbors, then pairs of them.
    #[inline(always)]
    fn sums8(self, vectors: [f32x8<Self>; 3]) -> [f32; 3] {
        vectors.map(|vector| {
            let [a, b, c, d, e, f, g, h] = vector.into();
            ((a + e) + (b + f)) + ((c + g) + (d + h))
        })
    }

    /// Returns the sum over eight lanes in the order of [`sums8`](Self::sums8).
    #[inline(always)]
    fn sum8(self, vector: f32x8<Self>) -> f32 {
        let [a, b, c, d, e, f, g, h] = vector.into();
        ((a + e) + (b + f)) + ((c + g) + (d + h))
    }

    /// Returns the least and the greatest lane of three vectors without NaN.
    #[inline(always)]
    fn ranges16(self, vectors: [f32x16<Self>; 3]) -> [[f32; 3]; 2] {
        let lanes: [[f32; 16]; 3] = vectors.map(Into::into);
        [
            lanes.map(|lanes| lanes.into_iter().fold(f32::INFINITY, f32::min)),
            lanes.map(|lanes| lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        ]
    }

    /// Returns the greatest lane of a vector without NaN.
    #[inline(always)]
    fn greatest16(self, vector: f32x16<Self>) -> f32 {
        self.reduce_max_f32x16(vector)
    }
}

impl Simd for Portable {
    type Register = f32;
    const LANES: usize = 1;
    const IS_NATIVE: bool = false;

    #[inline(always)]
    fn splat(self, value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn load(self, column: &[f32], at: usize) -> f32 {
        column[at]
    }

    #[inline(always)]
    fn append(self, column: &[u32], at: usize, bits: u32, skip: u32, out: &mut Appender<'_>) {
        let value = column[at];
        out.push([value], usize::from(bits & 1 == 1 && value != skip));
    }

    #[inline(always)]
    fn by_register<const I: usize, const O: usize>(
        self,
        lanes: [f32x16<Self>; I],
        each: impl Fn([f32; I]) -> [f32; O],
    ) -> [f32x16<Self>; O] {
        let mut all = [[0.0; 16]; O];
        for l in 0..16 {
            let given = each(lanes.map(|lanes| lanes[l]));
            for k in 0..O {
                all[k][l] = given[k];
            }
        }
        all.map(|lanes| self.load16(&lanes))
    }
}

/// Visits the set bits among the lowest sixteen, with the number of those before.
#[inline(always)]
fn each_bit(bits: u32, mut visit: impl FnMut(usize, usize)) {
    let (mut bits, mut n) = (bits & 0xffff, 0);
    while bits != 0 {
        visit(n % 16, bits.trailing_zeros() as usize % 16);
        bits &= bits - 1;
        n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, dispatch};

    const VALUES: [[f32; 8]; 2] = [
        [0.0, 1.0, 3.0, 0.1, 7.7, 5.0, 1e-20, f32::NAN],
        [-0.0, 0.3, 3.0, -0.1, 1e-9, -5.5, f32::NAN, 0.7],
    ];

    /// Every operation of [`Real`] on two numbers.
    #[inline(always)]
    fn operations<T: Real>(a: T, b: T) -> [T; 14] {
        [
            a + b,
            a - b,
            a * b,
            a / b,
            a.max(b),
            b.max(a),
            a.min(b),
            b.min(a),
            a.sqrt(),
            a.mul_add(b, a),
            a.neg_mul_add(b, a),
            (a * a.like(2.5)).round_ties_even(),
            T::select(a.lt(b) | b.le(a), a, b),
            a.map(|x| 2.0 * x),
        ]
    }

    #[inline(always)]
    fn both_widths<S: Simd>(simd: S) -> [[u32; 24]; 14] {
        let [a, b] = VALUES;
        let eight = operations(simd.load8(&a), simd.load8(&b));
        let twice = |x: [f32; 8]| std::array::from_fn(|l| x[l % 8]);
        let sixteen = operations(simd.load16(&twice(a)), simd.load16(&twice(b)));
        std::array::from_fn(|k| {
            let (eight, sixteen): ([f32; 8], [f32; 16]) = (eight[k].into(), sixteen[k].into());
            std::array::from_fn(|l| if l < 8 { eight[l] } else { sixteen[l - 8] }).map(bits)
        })
    }

    /// Bits of a number, of which NaN has only one.
    fn bits(x: f32) -> u32 {
        if x.is_nan() { u32::MAX } else { x.to_bits() }
    }

    #[test]
    fn every_level_and_width_computes_the_same_bits_as_plain_numbers() {
        let [a, b] = VALUES;
        for level in Level::available() {
            let found = dispatch!(level, simd => both_widths(simd));
            for l in 0..24 {
                let expected = operations(a[l % 8], b[l % 8]);
                for k in 0..14 {
                    assert_eq!(found[k][l], bits(expected[k]), "{level:?}, operation {k}, lane {l}");
                }
            }
        }
    }

    #[inline(always)]
    fn masks<S: Simd>(simd: S) -> [u32; 4] {
        let [a, b] = VALUES.map(|values| simd.load8(&values));
        let twice = |x: [f32; 8]| simd.load16(&std::array::from_fn(|l| x[l % 8]));
        let [c, d] = VALUES.map(twice);
        [
            f32x8::bits(a.lt(b)),
            f32x8::bits(a.le(b) & b.le(a)),
            f32x16::bits(c.lt(d)),
            f32x16::bits(c.le(d)),
        ]
    }

    #[test]
    fn masks_have_a_bit_per_lane() {
        for level in Level::available() {
            let found = dispatch!(level, simd => masks(simd));
            assert_eq!(found, [0b0, 0b101, 0b0, 0b101_0000_0101], "{level:?}");
        }
    }

    #[inline(always)]
    fn transposed<S: Simd>(simd: S) {
        let rows: [[f32; 4]; 16] = std::array::from_fn(|l| std::array::from_fn(|axis| (10 * l + axis) as f32));
        let columns = simd.columns16(rows.each_ref());
        let eight = simd.columns8(*rows.each_ref().first_chunk().unwrap());
        let doubles = rows.map(|row| row.map(f64::from));
        let double = simd.double_columns8(std::array::from_fn(|l| &doubles[l]));
        let widened = simd.widened_columns8(std::array::from_fn(|l| &rows[l]));
        for l in 0..16 {
            for axis in 0..4 {
                assert_eq!(columns[axis][l], rows[l][axis]);
                if l < 8 {
                    assert_eq!(eight[axis][l], rows[l][axis]);
                    assert_eq!(double[axis][l], doubles[l][axis]);
                    assert_eq!(widened[axis][l], doubles[l][axis]);
                }
            }
        }
        assert_eq!(simd.rows16(columns).map(<[f32; 4]>::from), rows);
        assert_eq!(simd.rows8(eight).map(<[f32; 4]>::from), rows[..8]);
    }

    #[test]
    fn rows_become_columns_and_rows_again() {
        for level in Level::available() {
            dispatch!(level, simd => transposed(simd));
        }
    }

    #[inline(always)]
    fn packed<S: Simd>(simd: S, bits: u32) {
        let values: [f32; 16] = std::array::from_fn(|l| 1.0 + l as f32);
        let integers = values.map(|x| x as u32);
        let selected = |lanes: usize| {
            (0..lanes)
                .filter(|l| bits >> l & 1 == 1)
                .map(|l| values[l])
                .collect::<Vec<_>>()
        };
        let (mut out, mut out_integers) = ([0.0; 16], [0; 16]);
        simd.pack16(simd.load16(&values), bits, &mut out);
        simd.pack_integers16(simd.integers16(&integers), bits, &mut out_integers);
        let expected = selected(16);
        assert_eq!(out[..expected.len()], expected);
        assert_eq!(out_integers.map(|x| x as f32)[..expected.len()], expected);
        let eight: [f32; 8] = simd
            .packed8(simd.load8(values.first_chunk().unwrap()), bits & 0xff)
            .into();
        let integers = simd.integers8(integers.first_chunk().unwrap());
        let eight_integers: [u32; 8] = simd.packed_integers8(integers, bits & 0xff).into();
        let expected = selected(8);
        assert_eq!(eight[..expected.len()], expected);
        assert_eq!(eight_integers.map(|x| x as f32)[..expected.len()], expected);
    }

    #[test]
    fn selected_lanes_come_first_in_their_order() {
        for level in Level::available() {
            for bits in [0, 0xffff, 0x8001, 0x5a3c, 0x00ff, 0xff00, 0x1234] {
                dispatch!(level, simd => packed(simd, bits));
            }
        }
    }

    #[inline(always)]
    fn reductions<S: Simd>(simd: S) -> ([f32; 3], f32, [[f32; 3]; 2], f32) {
        let value = |k: usize| (k as f32 * 0.37).sin();
        let eight = [0, 8, 16].map(|first| simd.load8(&std::array::from_fn(|l| value(first + l))));
        let sixteen = [0, 16, 32].map(|first| simd.load16(&std::array::from_fn(|l| value(first + l))));
        let (sums, ranges) = (simd.sums8(eight), simd.ranges16(sixteen));
        (sums, simd.sum8(eight[2]), ranges, simd.greatest16(sixteen[0]))
    }

    #[test]
    fn sums_and_ranges_are_the_same_bits_on_every_level() {
        let mut expected = None;
        for level in Level::available() {
            let found = dispatch!(level, simd => reductions(simd));
            assert_eq!(found.0[2], found.1);
            assert_eq!(*expected.get_or_insert(found), found, "{level:?}");
        }
    }

    #[inline(always)]
    fn squares<S: Simd>(simd: S, values: &[f32; 16]) -> [f32; 16] {
        let [squares] = simd.by_register(
            [simd.load16(values)],
            #[inline(always)]
            |[x]| [x * x],
        );
        assert!(
            simd.are_below16(&[3; 16], 4) && !simd.are_below16(&[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3], 4)
        );
        assert!(simd.are_below8(&[3; 8], 4) && !simd.are_below8(&[3, 3, 3, 3, u32::MAX, 3, 3, 3], 4));
        squares.into()
    }

    #[test]
    fn registers_hold_all_lanes_in_order() {
        let values = std::array::from_fn(|l| l as f32);
        for level in Level::available() {
            assert_eq!(dispatch!(level, simd => squares(simd, &values)), values.map(|x| x * x));
        }
    }
}
