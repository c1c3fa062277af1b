//! Eight contacts at a time, as columns. Sums and products are left to the compiler; turning rows into columns is not.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use barchan_simd::Simd;
pub(crate) use barchan_simd::vectorized;

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

/// Returns the rows at `index` as columns.
#[inline(always)]
pub(crate) fn gather<S: Simd>(simd: S, rows: &[Row], index: &[u32; LANES]) -> Columns {
    match S::LANES == 2 * LANES {
        true => transposed(simd, index.map(|k| &rows[k as usize])),
        false => one_by_one(index.map(|k| &rows[k as usize])),
    }
}

/// Number by number: faster than transpositions in registers of four doubles.
#[inline(always)]
fn one_by_one(rows: [&Row; LANES]) -> Columns {
    let mut columns = [[0.0; LANES]; 12];
    for (l, row) in rows.into_iter().enumerate() {
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

/// Four columns at a time.
#[inline(always)]
fn transposed<S: Simd>(simd: S, rows: [&Row; LANES]) -> Columns {
    let mut columns = [[0.0; LANES]; 12];
    // A row is three doubles, radius and mass in the bits of a fourth, and eight floats, the last of which pads it.
    let [x, y, z, both] = simd.double_columns8(rows.map(|row| &bytemuck::cast_ref::<Row, [[f64; 4]; 2]>(row)[0]));
    (columns[0], columns[1], columns[2]) = (x.into(), y.into(), z.into());
    let [u, v, w, material] = simd.widened_columns8(rows.map(|row| &bytemuck::cast_ref::<Row, [[f32; 4]; 4]>(row)[2]));
    (columns[4], columns[5], columns[6], columns[7]) = (u.into(), v.into(), w.into(), material.into());
    let [x, y, z, _] = simd.widened_columns8(rows.map(|row| &bytemuck::cast_ref::<Row, [[f32; 4]; 4]>(row)[3]));
    (columns[8], columns[9], columns[10]) = (x.into(), y.into(), z.into());
    let both = <[f64; LANES]>::from(both).map(f64::to_bits);
    for l in 0..LANES {
        columns[RADIUS][l] = f64::from(f32::from_bits(both[l] as u32));
        columns[MASS][l] = f64::from(f32::from_bits((both[l] >> 32) as u32));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_simd::{Level, dispatch};

    #[test]
    fn every_level_reads_the_same_columns() {
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
        for level in Level::available() {
            let found = dispatch!(level, simd => gather(simd, &rows, &index));
            for l in 0..LANES {
                for c in 0..12 {
                    assert_eq!(found[c][l], (100 * index[l] as usize + c) as f64, "{level:?}");
                }
            }
        }
    }
}
