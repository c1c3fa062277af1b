//! A signed distance, sampled once and looked up often.
//!
//! Samples lie on bricks of 9³ nodes that cover 8³ cells, so that all eight corners of a cell lie in one brick. There
//! are two sizes of bricks: fine ones, with one voxel between nodes, wherever the surface is within the band, and
//! coarse ones, with eight voxels between nodes, around any fine one. A dense lattice with 64 voxels between nodes
//! covers the rest of the bounds.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use barchan_simd::{Real, Simd, vectorized};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::text::{short, short_vector};
use crate::{Aabb, Shape};

/// Cells along the side of a brick.
const CELLS: i32 = 8;
/// Nodes along the side of a brick.
const NODES: i32 = CELLS + 1;
/// Nodes of a brick.
const BRICK: usize = (NODES * NODES * NODES) as usize;
/// Cells of a brick.
const BRICK_CELLS: usize = (CELLS * CELLS * CELLS) as usize;
/// Entry in a table of bricks where there is none.
const NONE: u32 = u32::MAX;
/// Half the diagonal of a cube of side one.
const HALF_DIAGONAL: f64 = 0.866_025_403_784_438_7;

/// Reason why a grid cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SdfGridError {
    /// The voxel or the band is not a positive number.
    #[error("voxel and band of a distance grid must be positive, got a voxel of {} m and a band of {} m", short(*.voxel), short(*.band))]
    Size {
        /// Voxel [m].
        voxel: f64,
        /// Band [m].
        band: f64,
    },
    /// The shape is unbounded or empty.
    #[error("a distance grid needs a shape with finite bounds, got {} to {} m", short_vector(*.min), short_vector(*.max))]
    Bounds {
        /// Smallest corner [m].
        min: DVec3,
        /// Largest corner [m].
        max: DVec3,
    },
    /// The samples would exceed the memory limit.
    #[error("a distance grid with voxels of {} m needs {needed:.3e} bytes, more than the limit of {limit}", short(*.voxel))]
    Memory {
        /// Voxel [m].
        voxel: f64,
        /// Bytes needed, at least up to the point at which the limit was exceeded.
        needed: f64,
        /// Memory limit [bytes].
        limit: usize,
    },
}

/// The distance of a [`Shape`], sampled in a band around its surface and interpolated.
///
/// Within the band the value is trilinear between samples a voxel apart. For an exact distance field its error is at
/// most voxel² / 8 times the sum of the field's two curvatures in magnitude away from creases, 0.375 voxels at the
/// edges and corners of a box, and [`error_bound`](Self::error_bound) for any valid [`Shape`]. Outside the band the
/// value has the right sign, at least the band's magnitude, and at most that of the true distance.
#[derive(Clone, Debug)]
pub struct SdfGrid {
    bounds: Aabb,
    voxel: f64,
    per_voxel: f64,
    band: f64,
    /// Position [m] of the first node.
    origin: DVec3,
    /// Fine cells from end to end.
    voxels: DVec3,
    /// Cells of the dense lattice, each as large as a coarse brick.
    top_cells: IVec3,
    top: Vec<f32>,
    /// Coarse brick of each cell of the dense lattice.
    coarse_of: Vec<u32>,
    coarse: Vec<Brick>,
    /// Fine brick of each cell of the coarse bricks.
    fine_of: Vec<[u32; BRICK_CELLS]>,
    fine: Vec<Brick>,
}

type Brick = [f32; BRICK];

/// Number of positions that are looked up together [-].
pub const LANES: usize = 16;
/// One number for each of them.
pub type Lane = [f32; LANES];

/// Eight corner values and the position between them.
struct Cell {
    corners: [f32; 8],
    at: Vec3,
    /// Distance [m] between the corners.
    side: f64,
}

/// Offset from one layer of a brick's nodes to the next, and from one row to the next.
const LAYER: usize = (NODES * NODES) as usize;
const ROW: usize = NODES as usize;

/// Returns the samples of `brick` from the smallest corner of its cell `first` to the largest.
#[inline(always)]
fn samples(brick: &Brick, first: IVec3) -> &[f32; LAYER + ROW + 2] {
    let first = index(first, IVec3::splat(NODES));
    brick[first..].first_chunk().expect("a cell's corners are in its brick")
}

impl Cell {
    /// Returns the cell `first` of `brick`, of `side` [m].
    #[inline(always)]
    fn of(brick: &Brick, first: IVec3, at: Vec3, side: f64) -> Self {
        let s = samples(brick, first);
        let corners = [
            s[0],
            s[1],
            s[ROW],
            s[ROW + 1],
            s[LAYER],
            s[LAYER + 1],
            s[LAYER + ROW],
            s[LAYER + ROW + 1],
        ];
        Self { corners, at, side }
    }

    #[inline(always)]
    fn value(&self) -> f32 {
        let Self { corners: c, at, .. } = self;
        let along = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let low = along(along(c[0], c[1], at.x), along(c[2], c[3], at.x), at.y);
        let high = along(along(c[4], c[5], at.x), along(c[6], c[7], at.x), at.y);
        along(low, high, at.z)
    }

    /// Returns the value and its slope in each direction, per side.
    #[inline(always)]
    fn value_and_slope(&self) -> (f32, Vec3) {
        let Self { corners: c, at, .. } = self;
        let along = |a: f32, b: f32, t: f32| a + (b - a) * t;
        // Along x first, then y, then z, with the differences interpolated as well.
        let x: [f32; 4] = std::array::from_fn(|k| along(c[2 * k], c[2 * k + 1], at.x));
        let dx: [f32; 4] = std::array::from_fn(|k| c[2 * k + 1] - c[2 * k]);
        let y = [along(x[0], x[1], at.y), along(x[2], x[3], at.y)];
        let dxy = [along(dx[0], dx[1], at.y), along(dx[2], dx[3], at.y)];
        let dy = [x[1] - x[0], x[3] - x[2]];
        let slope = Vec3::new(along(dxy[0], dxy[1], at.z), along(dy[0], dy[1], at.z), y[1] - y[0]);
        (along(y[0], y[1], at.z), slope)
    }
}

impl SdfGrid {
    /// Samples `shape` every `voxel` [m] wherever its surface may be within `band` [m]. The memory is computed before
    /// anything is allocated; more than `memory_limit` bytes is an error.
    pub fn build(shape: &dyn Shape, voxel: f64, band: f64, memory_limit: usize) -> Result<Self, SdfGridError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(voxel) || !positive(band) {
            return Err(SdfGridError::Size { voxel, band });
        }
        let bounds = shape.bounds();
        if bounds.is_empty() || !bounds.is_finite() {
            return Err(SdfGridError::Bounds {
                min: bounds.min,
                max: bounds.max,
            });
        }
        let within = |bytes: f64| {
            if bytes <= memory_limit as f64 {
                return Ok(());
            }
            Err(SdfGridError::Memory {
                voxel,
                needed: bytes,
                limit: memory_limit,
            })
        };

        let top_side = f64::from(CELLS * CELLS) * voxel;
        let covered = bounds.grown(band);
        let cells = (covered.size() / top_side).ceil().max(DVec3::ONE);
        let countable = cells.max_element() <= f64::from(i32::MAX / (CELLS * CELLS));
        let top_bytes = 4.0 * ((cells + 1.0).element_product() + cells.element_product());
        within(if countable { top_bytes } else { f64::INFINITY })?;
        let top_cells = cells.as_ivec3();
        let origin = covered.center() - 0.5 * top_side * cells;
        let near = |node: IVec3, side: f64| {
            let center = origin + voxel * node.as_dvec3() + 0.5 * side;
            shape.distance(center).abs() <= band + HALF_DIAGONAL * side
        };

        // First nodes, in voxels, of the coarse bricks, then of the fine bricks in each.
        let coarse_at: Vec<IVec3> = (0..count(top_cells))
            .into_par_iter()
            .map(|k| CELLS * CELLS * place(k, top_cells))
            .filter(|&node| near(node, top_side))
            .collect();
        let coarse_bytes = top_bytes + coarse_at.len() as f64 * (size_of::<Brick>() + 4 * BRICK_CELLS) as f64;
        within(coarse_bytes)?;
        let side = f64::from(CELLS) * voxel;
        let fine_in: Vec<Vec<IVec3>> = coarse_at
            .par_iter()
            .map(|&first| {
                (0..BRICK_CELLS)
                    .map(|k| first + CELLS * place(k, IVec3::splat(CELLS)))
                    .filter(|&node| near(node, side))
                    .collect()
            })
            .collect();
        let fine_count: usize = fine_in.iter().map(Vec::len).sum();
        within(coarse_bytes + fine_count as f64 * size_of::<Brick>() as f64)?;

        let sample = |node: IVec3| shape.distance(origin + voxel * node.as_dvec3()) as f32;
        let brick = |first: IVec3, step: i32| -> Brick {
            std::array::from_fn(|k| sample(first + step * place(k, IVec3::splat(NODES))))
        };
        let top_nodes = top_cells + 1;
        let mut grid = Self {
            bounds,
            voxel,
            per_voxel: 1.0 / voxel,
            band,
            origin,
            voxels: (CELLS * CELLS * top_cells).as_dvec3(),
            top_cells,
            top: (0..count(top_nodes))
                .into_par_iter()
                .map(|k| sample(CELLS * CELLS * place(k, top_nodes)))
                .collect(),
            coarse_of: vec![NONE; count(top_cells)],
            coarse: coarse_at.par_iter().map(|&first| brick(first, CELLS)).collect(),
            fine_of: vec![[NONE; BRICK_CELLS]; coarse_at.len()],
            fine: fine_in.par_iter().flatten().map(|&first| brick(first, 1)).collect(),
        };
        let mut next = 0;
        for (number, (&first, fine)) in coarse_at.iter().zip(&fine_in).enumerate() {
            grid.coarse_of[index(first / (CELLS * CELLS), top_cells)] = number as u32;
            for &node in fine {
                grid.fine_of[number][index((node - first) / CELLS, IVec3::splat(CELLS))] = next;
                next += 1;
            }
        }
        Ok(grid)
    }

    /// Returns the distance [m] between samples in the band.
    pub fn voxel(&self) -> f64 {
        self.voxel
    }

    /// Returns half the thickness [m] of the finely sampled layer around the surface.
    pub fn band(&self) -> f64 {
        self.band
    }

    /// Returns the memory of the samples [bytes].
    pub fn bytes(&self) -> usize {
        4 * (self.top.len() + self.coarse_of.len())
            + self.coarse.len() * (size_of::<Brick>() + 4 * BRICK_CELLS)
            + self.fine.len() * size_of::<Brick>()
    }

    /// Returns the largest error [m] of the value in the band relative to the shape's own distance, for any shape that
    /// changes by no more than the displacement: √3/2 voxels, half a cell's diagonal, reached by a solid that fits into
    /// a cell.
    ///
    /// With weights w and corners x of the cell of p, |Σ w d(x) - d(p)| ≤ Σ w |x - p| ≤ √(Σ w |x - p|²) ≤ √3/2 voxel.
    pub fn error_bound(&self) -> f64 {
        HALF_DIAGONAL * self.voxel
    }

    /// Returns the signed distance [m] at `p` [m].
    #[inline]
    pub fn distance(&self, p: DVec3) -> f64 {
        match self.find(p) {
            Ok((cell, true)) => f64::from(cell.value()),
            Ok((cell, false)) => self.outside_band(&cell, cell.value()),
            Err(outside) => outside.length().max(self.band),
        }
    }

    /// Returns a lower bound of the distance [m] from `p` [m] to the surface, negative inside: as
    /// [`distance`](Self::distance), but tighter outside the band.
    ///
    /// With the corners x of the cell of p, |d(p)| ≥ |d(x)| - |x - p| for each.
    pub fn clearance(&self, p: DVec3) -> f64 {
        match self.find(p) {
            Ok((cell, true)) => f64::from(cell.value()),
            Ok((cell, false)) => {
                let least = |k: usize| {
                    let corner = Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
                    f64::from(cell.corners[k].abs()) - cell.side * f64::from(corner.distance(cell.at))
                };
                let least = (0..8).map(least).fold(self.band, f64::max);
                least.copysign(f64::from(cell.corners[0]))
            }
            Err(outside) => outside.length().max(self.band),
        }
    }

    /// Returns the signed distance [m] at `p` [m] and its gradient [-]: in the band exactly that of the interpolated
    /// distance, so its length may differ from one.
    #[inline]
    pub fn distance_and_gradient(&self, p: DVec3) -> (f64, DVec3) {
        match self.find(p) {
            Ok((cell, in_band)) => {
                let (value, slope) = cell.value_and_slope();
                let distance = if in_band {
                    f64::from(value)
                } else {
                    self.outside_band(&cell, value)
                };
                (distance, slope.as_dvec3() / cell.side)
            }
            Err(outside) => (
                outside.length().max(self.band),
                outside.try_normalize().unwrap_or(DVec3::Z),
            ),
        }
    }

    /// Returns the signed distance [m] at `p` [m] and the unit vector [-] along its gradient; z where the gradient
    /// vanishes.
    #[inline]
    pub fn distance_and_normal(&self, p: DVec3) -> (f64, DVec3) {
        match self.find(p) {
            Ok((cell, true)) => {
                let (value, slope) = cell.value_and_slope();
                (f64::from(value), slope.as_dvec3().try_normalize().unwrap_or(DVec3::Z))
            }
            _ => {
                let (distance, gradient) = self.distance_and_gradient(p);
                (distance, gradient.try_normalize().unwrap_or(DVec3::Z))
            }
        }
    }

    /// Returns the smallest corner [m] of the samples, the origin of [`distances`](Self::distances).
    pub fn corner(&self) -> DVec3 {
        self.origin
    }

    /// Computes signed distances [m] at sixteen positions relative to [`corner`](Self::corner) [m], as columns x, y, z.
    /// Equal to [`distance`](Self::distance) except for rounding to single precision, and several times as fast.
    pub fn distances(&self, places: &[Lane; 3], out: &mut Lane) {
        distances(self, places, out);
    }

    /// Like [`distances`](Self::distances), with the gradients [-] of the distances, as columns.
    pub fn distances_and_gradients(&self, places: &[Lane; 3], out: &mut Lane, gradients: &mut [Lane; 3]) {
        distances_and_gradients(self, places, out, gradients);
    }

    /// Interpolation may exceed the true distance by half a cell's diagonal; the band is certain.
    fn outside_band(&self, cell: &Cell, value: f32) -> f64 {
        let value = f64::from(value);
        (value.abs() - HALF_DIAGONAL * cell.side).max(self.band).copysign(value)
    }

    /// Returns the finest cell around `p`, and true if it is in the band; outside the samples, the displacement [m] to
    /// `p` from the shape's bounds.
    #[inline]
    fn find(&self, p: DVec3) -> Result<(Cell, bool), DVec3> {
        // In f64, because a row may have more voxels than f32 can distinguish; only the remainder is rounded.
        let place = (p - self.origin) * self.per_voxel;
        if !(place.cmpge(DVec3::ZERO).all() && place.cmplt(self.voxels).all()) {
            return Err(p - p.clamp(self.bounds.min, self.bounds.max));
        }
        // Truncation: `floor` would be a call on a plain x86-64.
        let node = place.as_ivec3();
        let rest = (place - node.as_dvec3()).as_vec3();

        let in_top = node >> 6;
        let coarse = self.coarse_of[index(in_top, self.top_cells)];
        if coarse == NONE {
            let at = (rest + (node & 63).as_vec3()) / (CELLS * CELLS) as f32;
            return Ok((self.top_cell(in_top, at), false));
        }
        let in_coarse = (node >> 3) & 7;
        let fine = self.fine_of[coarse as usize][index(in_coarse, IVec3::splat(CELLS))];
        if fine == NONE {
            let at = (rest + (node & 7).as_vec3()) / CELLS as f32;
            let side = f64::from(CELLS) * self.voxel;
            return Ok((Cell::of(&self.coarse[coarse as usize], in_coarse, at, side), false));
        }
        Ok((Cell::of(&self.fine[fine as usize], node & 7, rest, self.voxel), true))
    }

    /// Prefetches the data that [`distance`](Self::distance) reads at `p` [m].
    #[inline]
    pub fn prefetch(&self, p: DVec3) {
        let place = (p - self.origin) * self.per_voxel;
        if !(place.cmpge(DVec3::ZERO).all() && place.cmplt(self.voxels).all()) {
            return;
        }
        let node = place.as_ivec3();
        if let Some(brick) = self.fine.get(self.fine_at(node) as usize) {
            let samples = samples(brick, node & (CELLS - 1));
            for k in [0, ROW + 1, LAYER, LAYER + ROW + 1] {
                fetch(&samples[k]);
            }
        }
    }

    /// Returns the fine brick around `node` [voxels].
    #[inline]
    fn fine_at(&self, node: IVec3) -> u32 {
        match self.coarse_of[index(node >> 6, self.top_cells)] {
            NONE => NONE,
            coarse => self.fine_of[coarse as usize][index((node >> 3) & 7, IVec3::splat(CELLS))],
        }
    }

    /// Returns the cell of the dense lattice whose smallest node is `first`.
    #[cold]
    fn top_cell(&self, first: IVec3, at: Vec3) -> Cell {
        let value = |k: usize| {
            let corner = first + place(k, IVec3::splat(2));
            self.top[index(corner, self.top_cells + 1)]
        };
        Cell {
            corners: std::array::from_fn(value),
            at,
            side: f64::from(CELLS * CELLS) * self.voxel,
        }
    }
}

vectorized! {
    fn distances(grid: &SdfGrid, places: &[Lane; 3], out: &mut Lane) = look_up
}

vectorized! {
    fn distances_and_gradients(grid: &SdfGrid, places: &[Lane; 3], distances: &mut Lane, gradients: &mut [Lane; 3]) = look_up_both
}

/// The fine cells of sixteen positions, where there are any.
struct Cells {
    corners: [Lane; 8],
    /// Position between the corners.
    at: [Lane; 3],
    is_fine: [bool; LANES],
}

/// Values are loaded one by one, because those of neighbors are not contiguous; the rest is left to the compiler.
#[inline(always)]
fn cells<S: Simd>(simd: S, grid: &SdfGrid, places: &[Lane; 3]) -> Cells {
    let per_voxel = grid.per_voxel as f32;
    let (mut node, mut at) = ([[0i32; LANES]; 3], [[0.0f32; LANES]; 3]);
    let mut is_fine = [true; LANES];
    for axis in 0..3 {
        let last = grid.voxels[axis] as f32 - 1.0;
        let place = simd.load16(&places[axis]) * per_voxel;
        // NaN becomes 0; lattices of more nodes than an i32 counts are rejected.
        let within = Real::min(Real::max(place, place.like(0.0)), place.like(last));
        node[axis] = simd.cvt_i32_f32x16(within).into();
        let place: Lane = place.into();
        for l in 0..LANES {
            is_fine[l] &= place[l] >= 0.0 && place[l] <= last;
            at[axis][l] = place[l] - node[axis][l] as f32;
        }
    }
    let mut corners = [[0.0; LANES]; 8];
    for l in 0..LANES {
        let node = IVec3::new(node[0][l], node[1][l], node[2][l]);
        let fine = if is_fine[l] { grid.fine_at(node) } else { NONE };
        is_fine[l] = fine != NONE;
        if let Some(brick) = grid.fine.get(fine as usize) {
            let values = samples(brick, node & (CELLS - 1));
            for (corner, place) in [0, ROW, LAYER, LAYER + ROW].into_iter().enumerate() {
                corners[2 * corner][l] = values[place];
                corners[2 * corner + 1][l] = values[place + 1];
            }
        }
    }
    Cells { corners, at, is_fine }
}

#[inline(always)]
fn along(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// Implements [`SdfGrid::distances`].
#[inline(always)]
fn look_up<S: Simd>(simd: S, grid: &SdfGrid, places: &[Lane; 3], out: &mut Lane) {
    let Cells { corners, at, is_fine } = cells(simd, grid, places);
    for l in 0..LANES {
        let c = |k: usize| corners[k][l];
        let [x, y, z] = [at[0][l], at[1][l], at[2][l]];
        let low = along(along(c(0), c(1), x), along(c(2), c(3), x), y);
        let high = along(along(c(4), c(5), x), along(c(6), c(7), x), y);
        out[l] = along(low, high, z);
    }
    for l in 0..LANES {
        if !is_fine[l] {
            out[l] = grid.distance(grid.origin + place_of(places, l)) as f32;
        }
    }
}

/// Implements [`SdfGrid::distances_and_gradients`].
#[inline(always)]
fn look_up_both<S: Simd>(simd: S, grid: &SdfGrid, places: &[Lane; 3], distances: &mut Lane, gradients: &mut [Lane; 3]) {
    let Cells { corners, at, is_fine } = cells(simd, grid, places);
    let per_voxel = grid.per_voxel as f32;
    for l in 0..LANES {
        let c = |k: usize| corners[k][l];
        let [x, y, z] = [at[0][l], at[1][l], at[2][l]];
        let [x0, x1] = [along(c(0), c(1), x), along(c(2), c(3), x)];
        let [x2, x3] = [along(c(4), c(5), x), along(c(6), c(7), x)];
        let [y0, y1] = [along(x0, x1, y), along(x2, x3, y)];
        let dx0 = along(c(1) - c(0), c(3) - c(2), y);
        let dx1 = along(c(5) - c(4), c(7) - c(6), y);
        distances[l] = along(y0, y1, z);
        gradients[0][l] = along(dx0, dx1, z) * per_voxel;
        gradients[1][l] = along(x1 - x0, x3 - x2, z) * per_voxel;
        gradients[2][l] = (y1 - y0) * per_voxel;
    }
    for l in 0..LANES {
        if !is_fine[l] {
            let (distance, gradient) = grid.distance_and_gradient(grid.origin + place_of(places, l));
            distances[l] = distance as f32;
            for axis in 0..3 {
                gradients[axis][l] = gradient[axis] as f32;
            }
        }
    }
}

fn place_of(places: &[Lane; 3], l: usize) -> DVec3 {
    DVec3::new(places[0][l].into(), places[1][l].into(), places[2][l].into())
}

/// The contract holds within [`SdfGrid::error_bound`].
impl Shape for SdfGrid {
    fn distance(&self, p: DVec3) -> f64 {
        self.distance(p)
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        self.distance_and_normal(p).1
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }
}

/// Prefetches `number`, where there is an instruction for that.
#[inline(always)]
fn fetch(number: &f32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, which changes nothing but the cache.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(number).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = number;
}

fn count(size: IVec3) -> usize {
    size.to_array().into_iter().map(|n| n as usize).product()
}

/// Returns the coordinates of index `k` in a box of `size`, x fastest.
fn place(k: usize, size: IVec3) -> IVec3 {
    let (x, y) = (size.x as usize, size.y as usize);
    IVec3::new((k % x) as i32, (k / x % y) as i32, (k / x / y) as i32)
}

/// Returns the index of `place` in a box of `size`, x fastest.
#[inline]
fn index(place: IVec3, size: IVec3) -> usize {
    (place.z as usize * size.y as usize + place.y as usize) * size.x as usize + place.x as usize
}
