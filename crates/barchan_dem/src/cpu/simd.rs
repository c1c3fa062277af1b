//! Eight contacts at a time, as columns. Sums and products are left to the compiler; turning rows into columns is not.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use super::rows::Row;

/// Contacts of a block [-].
pub(crate) const LANES: usize = 8;
pub(crate) type Lane = [f64; LANES];

/// A sphere's numbers, each for eight spheres: place, [`RADIUS`], velocity, [`MATERIAL`], spin, [`MASS`].
pub(crate) type Columns = [Lane; 12];

pub(crate) const RADIUS: usize = 3;
pub(crate) const VELOCITY: usize = 4;
pub(crate) const MATERIAL: usize = 7;
pub(crate) const SPIN: usize = 8;
pub(crate) const MASS: usize = 11;

/// How rows are read.
pub(crate) trait Vectors {
    /// The rows at the places `index`, as columns.
    ///
    /// # Safety
    /// Every place is inside `rows`.
    unsafe fn gather(rows: &[Row], index: &[u32; LANES]) -> Columns;
}

/// Any machine.
pub(crate) struct Portable;

impl Vectors for Portable {
    #[inline(always)]
    unsafe fn gather(rows: &[Row], index: &[u32; LANES]) -> Columns {
        let mut columns = [[0.0; LANES]; 12];
        for l in 0..LANES {
            let row = &rows[index[l] as usize];
            for axis in 0..3 {
                columns[axis][l] = row.position[axis];
                columns[VELOCITY + axis][l] = f64::from(row.velocity[axis]);
                columns[SPIN + axis][l] = f64::from(row.spin[axis]);
            }
            columns[RADIUS][l] = row.radius();
            columns[MASS][l] = row.mass();
            columns[MATERIAL][l] = f64::from(row.material);
        }
        columns
    }
}

/// Machines with AVX-512. Only for functions that are compiled for it: see [`vectorised`].
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Vectors for Avx512 {
    #[inline(always)]
    unsafe fn gather(rows: &[Row], index: &[u32; LANES]) -> Columns {
        use std::arch::x86_64::*;
        let mut columns = [[0.0; LANES]; 12];
        // SAFETY: the type is only used where AVX-512 is; every place is inside, and a row is three numbers, two halves of one, and
        // eight halves, the last of which pads it: 64 bytes, at a multiple of 64.
        unsafe {
            let place = |l: usize| rows.as_ptr().add(index[l] as usize).cast::<f64>();
            for part in 0..3 {
                let quad = |l: usize| match part {
                    0 => _mm256_load_pd(place(l)),
                    _ => _mm256_cvtps_pd(_mm_load_ps(place(l).add(2 + 2 * part).cast::<f32>())),
                };
                let pair = |l: usize| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(quad(l)), quad(l + 4));
                // Rows 0 and 4, 1 and 5, 2 and 6, 3 and 7: a transposition of 4 by 4 in each half.
                let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
                let (ab, cd) = (_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d));
                let (high_ab, high_cd) = (_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d));
                let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
                let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
                let out = columns.as_mut_ptr().add(4 * part).cast::<f64>();
                _mm512_storeu_pd(out, _mm512_permutex2var_pd(ab, low, cd));
                _mm512_storeu_pd(out.add(LANES), _mm512_permutex2var_pd(high_ab, low, high_cd));
                _mm512_storeu_pd(out.add(2 * LANES), _mm512_permutex2var_pd(ab, high, cd));
                _mm512_storeu_pd(out.add(3 * LANES), _mm512_permutex2var_pd(high_ab, high, high_cd));
            }
            let both = _mm512_castpd_si512(_mm512_loadu_pd(columns[RADIUS].as_ptr()));
            let single = |bits: __m512i| _mm512_cvtps_pd(_mm256_castsi256_ps(_mm512_cvtepi64_epi32(bits)));
            _mm512_storeu_pd(columns[RADIUS].as_mut_ptr(), single(both));
            _mm512_storeu_pd(columns[MASS].as_mut_ptr(), single(_mm512_srli_epi64::<32>(both)));
        }
        columns
    }
}

/// [`barchan_neighbors::vectorised`] with the types above.
macro_rules! vectorised {
    ($($function:tt)*) => {
        barchan_neighbors::vectorised! {
            [$crate::cpu::simd::Avx512, $crate::cpu::simd::Portable, $crate::cpu::simd::Portable] $($function)*
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered<V: Vectors>(rows: &[Row], index: &[u32; LANES], out: &mut Columns) {
        // SAFETY: the test gives places inside.
        *out = unsafe { V::gather(rows, index) };
    }
    vectorised! { fn on_this_machine(rows: &[Row], index: &[u32; LANES], out: &mut Columns) = gathered }

    #[test]
    fn every_machine_reads_the_same_columns() {
        let row = |k: usize| {
            let value = |c: usize| (100 * k + c) as f64;
            let single = |c: usize| value(c) as f32;
            Row {
                position: [value(0), value(1), value(2)],
                radius: single(RADIUS),
                mass: single(MASS),
                velocity: [single(4), single(5), single(6)],
                material: single(MATERIAL),
                spin: [single(8), single(9), single(10)],
                left: 0.0,
            }
        };
        let rows: Vec<Row> = (0..20).map(row).collect();
        let index = std::array::from_fn(|l| (7 * l as u32 + 3) % 20);
        let mut out = [[0.0; LANES]; 12];
        on_this_machine(&rows, &index, &mut out);
        for l in 0..LANES {
            for c in 0..12 {
                assert_eq!(out[c][l], (100 * index[l] as usize + c) as f64);
            }
        }
    }
}
