//! A box of cells. Points outside belong to the cells at its border, so that a few points far away cost nothing.

use barchan_simd::{Real, Simd};
use glam::{IVec3, Vec3};

use crate::advect::LANES;

/// Cells along each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    low: Vec3,
    per_cell: f32,
    last: Vec3,
    size: IVec3,
}

/// Cells by which a steady box grows [-].
const STEADY: f32 = 8.0;
/// Points that the box is made from, at most.
const SAMPLES: usize = 512;

impl Domain {
    /// Cells of at least `side` [m] over most of `count` points, at most `most` of them.
    pub fn over(count: usize, point: impl Fn(usize) -> Vec3, side: f32, most: usize) -> Self {
        let (low, high) = bulk(&sampled(count, point), side);
        Self::within(low, high, side, most)
    }

    /// The same of cells on a lattice that does not move with the points, for tables that are worth keeping: the box begins and
    /// ends at every eighth cell, and sides come in steps.
    pub fn steady(count: usize, point: impl Fn(usize) -> Vec3, side: f32, most: usize) -> Self {
        let side = ((side.log2() * 8.0).ceil() / 8.0).exp2();
        let (low, high) = bulk(&sampled(count, point), side);
        let step = STEADY * side;
        Self::within((low / step).floor() * step, (high / step).ceil() * step, side, most)
    }

    fn within(low: Vec3, high: Vec3, mut side: f32, most: usize) -> Self {
        loop {
            let cells = ((high - low) / side).floor() + 1.0;
            if cells.element_product() <= most as f32 {
                return Self {
                    low,
                    per_cell: 1.0 / side,
                    last: cells - 1.0,
                    size: cells.as_ivec3(),
                };
            }
            side *= 1.25;
        }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.size.to_array().into_iter().map(|n| n as usize).product()
    }

    /// Returns the side of a cell [m].
    pub fn side(&self) -> f32 {
        1.0 / self.per_cell
    }

    /// Returns the number of cells along each axis.
    pub fn size(&self) -> IVec3 {
        self.size
    }

    /// The cell of `p` [m]. A place that is no number is in the first.
    #[inline(always)]
    pub fn cell(&self, p: Vec3) -> IVec3 {
        let place = (p - self.low) * self.per_cell;
        // Casts cut off, and what is below zero was clamped before.
        place.max(Vec3::ZERO).min(self.last).as_ivec3()
    }

    /// Numbers of the cells of sixteen places, given as columns.
    #[inline(always)]
    pub fn indices<S: Simd>(&self, simd: S, [x, y, z]: [&[f32; LANES]; 3]) -> [u32; LANES] {
        let mut index = simd.splat_i32x16(0);
        for (axis, column) in [x, y, z].into_iter().enumerate().rev() {
            let (low, last, size) = (self.low[axis], self.last[axis], self.size[axis]);
            let place = (simd.load16(column) - low) * self.per_cell;
            // NaN becomes 0.
            let cell = place.max(place.like(0.0)).min(place.like(last));
            index = index * size + simd.cvt_i32_f32x16(cell);
        }
        <[i32; LANES]>::from(index).map(i32::cast_unsigned)
    }

    /// Number of a cell, x fastest.
    #[inline(always)]
    pub fn index(&self, cell: IVec3) -> usize {
        ((cell.z * self.size.y + cell.y) * self.size.x + cell.x) as usize
    }
}

/// Every so many of `count` points.
fn sampled(count: usize, point: impl Fn(usize) -> Vec3) -> Vec<Vec3> {
    (0..count).step_by(count.div_ceil(SAMPLES).max(1)).map(point).collect()
}

/// A box around `points` but for the outermost of them, if those are far.
fn bulk(points: &[Vec3], side: f32) -> (Vec3, Vec3) {
    let (mut low, mut high) = (Vec3::ZERO, Vec3::ZERO);
    for axis in 0..3 {
        let mut values: Vec<f32> = points.iter().map(|p| p[axis]).filter(|x| x.is_finite()).collect();
        let Some(first) = values.iter().copied().reduce(f32::min) else {
            continue;
        };
        let last = values.iter().copied().fold(first, f32::max);
        let (tail, end) = (values.len() / 64, values.len() - 1 - values.len() / 64);
        let inner = *values.select_nth_unstable_by(tail, f32::total_cmp).1;
        let outer = *values.select_nth_unstable_by(end, f32::total_cmp).1;
        let room = 0.5 * (outer - inner) + 2.0 * side;
        low[axis] = (inner - room).max(first);
        high[axis] = (outer + room).min(last);
    }
    (low, high)
}
