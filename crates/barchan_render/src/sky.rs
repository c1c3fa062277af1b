//! Ambient occlusion: the visible share of the sky, which gives a heap its shape.
//!
//! Spheres and opaque meshes are added to a coarse grid as optical depth. Then the sky's light is swept through the
//! grid along several directions, each in one pass from cell to cell. A cell stores the mean of the light and of the
//! light times its direction, which is all that the irradiance of a matte surface needs to first order,
//! [Ramamoorthi01].

use crate::scene::Scene;
use glam::{UVec3, Vec3, Vec4};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Approximate largest number of cells.
const MAX_CELLS: f32 = 400_000.0;
/// Largest number of cells along a side.
const MAX_SIDE: f32 = 320.0;
/// Directions that light comes from.
const DIRECTIONS: usize = 16;
/// Optical depth 1 in the grid's fixed-point numbers: sums of integers are the same in any order.
const UNIT: f32 = 4096.0;
/// Optical depth of solid matter in a cell [-].
const SOLID: f32 = 6.0;

/// The light of the sky in the cells of a grid.
pub(crate) struct SkyGrid {
    pub low: Vec3,
    pub cell: f32,
    pub size: UVec3,
    /// Mean over the upper half of the directions: of light times direction, and of light.
    pub light: Vec<Vec4>,
    /// Transmittance of each cell [-].
    pub clear: Vec<f32>,
    /// Height of the ground [m].
    pub floor: f32,
}

impl SkyGrid {
    /// Returns `None` if nothing can hide the sky.
    pub fn new(scene: &Scene) -> Option<Self> {
        let (low, high) = scene.focus?;
        let mut extent = high - low;
        // Objects on the ground darken the ground around them.
        let margin = Vec3::new(1.0, 1.0, 0.0) * (0.75 * extent.z).min(extent.max_element());
        let (mut low, mut high) = (low - margin, high + margin);
        if let Some(ground) = scene.ground {
            low.z = low.z.min(ground.max(low.z - extent.z));
        }
        extent = high - low;
        let longest = extent.max_element().max(f32::MIN_POSITIVE);
        let volume = extent.max(Vec3::splat(longest / MAX_SIDE)).element_product();
        let cell = (volume / MAX_CELLS)
            .cbrt()
            .max(2.0 * scene.typical_radius)
            .max(longest / MAX_SIDE);
        low -= cell;
        high += cell;
        let size = ((high - low) / cell).ceil().as_uvec3().max(UVec3::ONE);
        let mut grid = Self {
            low,
            cell,
            size,
            light: Vec::new(),
            clear: Vec::new(),
            floor: scene.ground.map_or(f32::NEG_INFINITY, |ground| ground + 0.5 * cell),
        };
        grid.clear = grid.transmittance(scene);
        let clear = &grid.clear;
        let directions: Vec<Vec3> = hemisphere(DIRECTIONS).collect();
        let swept: Vec<Vec<f32>> = directions.par_iter().map(|&d| sweep(clear, size, d)).collect();
        let mean = |k: usize| {
            let sum = swept.iter().zip(&directions).map(|(light, d)| light[k] * d.extend(1.0));
            sum.fold(Vec4::ZERO, |a, b| a + b) / DIRECTIONS as f32
        };
        grid.light = (0..grid.clear.len()).into_par_iter().map(mean).collect();
        Some(grid)
    }

    /// Returns irradiance / pi of a surface under a sky of radiance 1, and the open share of the sky [-].
    ///
    /// E / pi = m0 + 2 m1 . n with the means over the whole sphere, [Ramamoorthi01]; the means here cover one half of
    /// it.
    pub fn see(&self, point: Vec3, normal: Vec3) -> (f32, f32) {
        // Sampled outside the surface's own cell.
        let light = self.light(point + self.cell * normal);
        ((0.5 * light.w + light.truncate().dot(normal)).clamp(0.0, 1.0), light.w)
    }

    /// Interpolates the light between cell centers; open sky outside.
    fn light(&self, point: Vec3) -> Vec4 {
        const OPEN: Vec4 = Vec4::new(0.0, 0.0, 0.5, 1.0);
        self.between(point).map_or(OPEN, |(first, part)| {
            let [row, plane] = self.strides();
            let along_x = |k: usize| self.light[k].lerp(self.light[k + 1], part.x);
            let along_y = |k: usize| along_x(k).lerp(along_x(k + row), part.y);
            along_y(first).lerp(along_y(first + plane), part.z)
        })
    }

    /// Returns the direction out of the matter around a point: the normal of a heap whose grains are too small to have
    /// their own.
    pub fn outward(&self, point: Vec3) -> Option<Vec3> {
        let clear = |point: Vec3| {
            self.between(point).map_or(1.0, |(first, part)| {
                let [row, plane] = self.strides();
                let along_x = |k: usize| self.clear[k] + part.x * (self.clear[k + 1] - self.clear[k]);
                let along_y = |k: usize| along_x(k) + part.y * (along_x(k + row) - along_x(k));
                along_y(first) + part.z * (along_y(first + plane) - along_y(first))
            })
        };
        // There is no way out below the ground, although its cells are empty.
        let above = |point: Vec3| point.with_z(point.z.max(self.floor));
        let step = |axis: Vec3| clear(above(point + axis)) - clear(above(point - axis));
        let rise = |axis: Vec3| step(self.cell * axis) + step(2.0 * self.cell * axis);
        Vec3::new(rise(Vec3::X), rise(Vec3::Y), rise(Vec3::Z)).try_normalize()
    }

    /// Returns the first of the eight cells around a point, and the interpolation weights; `None` outside.
    fn between(&self, point: Vec3) -> Option<(usize, Vec3)> {
        let at = (point - self.low) / self.cell - 0.5;
        let base = at.floor();
        let inside = base.cmpge(Vec3::ZERO).all() && (base + 1.0).cmplt(self.size.as_vec3()).all();
        inside.then(|| (self.index(base.as_uvec3()), at - base))
    }

    /// Returns the index offsets along y and z.
    fn strides(&self) -> [usize; 2] {
        [self.size.x as usize, (self.size.x * self.size.y) as usize]
    }

    /// Returns the transmittance of each cell [-].
    fn transmittance(&self, scene: &Scene) -> Vec<f32> {
        let cells = self.size.element_product() as usize;
        let depths: Vec<AtomicU32> = (0..cells).into_par_iter().map(|_| AtomicU32::new(0)).collect();
        let count = scene.spheres.positions.len();
        (0..count).into_par_iter().with_min_len(1024).for_each(|i| {
            if let Some((center, radius)) = scene.spheres.get(i) {
                self.pour_sphere(&depths, center, radius);
            }
        });
        for (index, mesh) in scene.meshes.iter().enumerate().filter(|(_, mesh)| mesh.is_solid()) {
            (0..mesh.triangles.len()).into_par_iter().for_each(|triangle| {
                if let Some(corners) = scene.corners(index, triangle) {
                    self.pour_triangle(&depths, corners);
                }
            });
        }
        depths
            .into_par_iter()
            .map(|depth| (-(depth.into_inner() as f32) / UNIT).exp())
            .collect()
    }

    fn index(&self, cell: UVec3) -> usize {
        ((cell.z * self.size.y + cell.y) * self.size.x + cell.x) as usize
    }

    /// Adds the cross section of a sphere, pi r², relative to the face of a cell; or fills the cells inside it.
    fn pour_sphere(&self, depths: &[AtomicU32], center: Vec3, radius: f32) {
        let at = (center - self.low) / self.cell - 0.5;
        let radius = radius / self.cell;
        let add = |cell: UVec3, depth: f32| {
            depths[self.index(cell)].fetch_add((depth * UNIT) as u32, Relaxed);
        };
        let last = self.size.as_vec3() - 1.0;
        if radius < 0.75 {
            let base = at.floor();
            if base.cmplt(Vec3::ZERO).any() || !base.cmplt(last).all() {
                return;
            }
            let part = at - base;
            let depth = std::f32::consts::PI * radius * radius;
            for k in 0..8 {
                let corner = UVec3::new(k & 1, k >> 1 & 1, k >> 2);
                let weight = Vec3::select(corner.cmpeq(UVec3::ONE), part, 1.0 - part).element_product();
                add(base.as_uvec3() + corner, depth * weight);
            }
            return;
        }
        let (from, to) = ((at - radius).ceil().max(Vec3::ZERO), (at + radius).floor().min(last));
        if from.cmpgt(to).any() {
            return;
        }
        let (from, to) = (from.as_uvec3(), to.as_uvec3());
        for z in from.z..=to.z {
            for y in from.y..=to.y {
                for x in from.x..=to.x {
                    let cell = UVec3::new(x, y, z);
                    let filled = (radius - cell.as_vec3().distance(at) + 0.5).clamp(0.0, 1.0);
                    add(cell, SOLID * filled);
                }
            }
        }
    }

    /// Fills the cells that a triangle crosses.
    fn pour_triangle(&self, depths: &[AtomicU32], corners: [Vec3; 3]) {
        let [a, b, c] = corners;
        let steps = |edge: Vec3| (2.0 * edge.length() / self.cell).min(4.0 * MAX_SIDE).ceil() as u32 + 1;
        let (rows, columns) = (steps(b - a).max(steps(c - a)), steps(c - b));
        for row in 0..=rows {
            let down = row as f32 / rows as f32;
            let (left, right) = (a.lerp(b, down), a.lerp(c, down));
            for column in 0..=columns {
                let point = left.lerp(right, column as f32 / columns as f32);
                let cell = ((point - self.low) / self.cell).floor();
                if cell.cmpge(Vec3::ZERO).all() && cell.cmplt(self.size.as_vec3()).all() {
                    depths[self.index(cell.as_uvec3())].fetch_max((SOLID * UNIT) as u32, Relaxed);
                }
            }
        }
    }
}

/// Returns directions spread evenly over the upper half: a sunflower pattern on the sphere.
fn hemisphere(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |k| {
        let z = (k as f32 + 0.5) / count as f32;
        let turn = k as f32 * 2.399_963_2;
        let radius = (1.0 - z * z).sqrt();
        Vec3::new(radius * turn.cos(), radius * turn.sin(), z)
    })
}

/// Returns the light of radiance 1 from `direction` that reaches each cell, slice by slice along the direction's
/// longest axis.
fn sweep(clear: &[f32], size: UVec3, direction: Vec3) -> Vec<f32> {
    let size = size.to_array().map(|n| n as usize);
    let stride = [1, size[0], size[0] * size[1]];
    let main = direction.abs().max_position();
    let (fast, slow) = if main == 0 { (1, 2) } else { (0, 3 - main) };
    let toward = direction / direction[main].abs();
    // The previous slice is sampled at a shift of (whole + part) cells; a border of open sky lies around it.
    let shift = |axis: usize| (toward[axis].floor() as isize, toward[axis] - toward[axis].floor());
    let ((whole_fast, part_fast), (whole_slow, part_slow)) = (shift(fast), shift(slow));
    let width = size[fast] + 3;
    let mut before = vec![1.0f32; width * (size[slow] + 3)];
    let mut after = before.clone();
    let mut light = vec![1.0f32; clear.len()];
    for step in 0..size[main] {
        let slice = if direction[main] > 0.0 {
            size[main] - 1 - step
        } else {
            step
        };
        for row in 0..size[slow] {
            let cells = slice * stride[main] + row * stride[slow];
            let from = ((row + 1).wrapping_add_signed(whole_slow)) * width + 1usize.wrapping_add_signed(whole_fast);
            let (near, far) = (
                &before[from..from + size[fast] + 1],
                &before[from + width..from + width + size[fast] + 1],
            );
            let to = &mut after[(row + 1) * width + 1..][..size[fast]];
            for (k, out) in to.iter_mut().enumerate() {
                let a = near[k] + part_fast * (near[k + 1] - near[k]);
                let b = far[k] + part_fast * (far[k + 1] - far[k]);
                let arriving = a + part_slow * (b - a);
                let cell = cells + k * stride[fast];
                light[cell] = arriving;
                *out = arriving * clear[cell];
            }
        }
        std::mem::swap(&mut before, &mut after);
    }
    light
}
