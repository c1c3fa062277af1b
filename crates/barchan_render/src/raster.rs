//! Finds the visible surface of each sample of an image.

use crate::bins::{Bins, Tiles};
use crate::lens::{Bounds, Lens, Sphere};
use crate::scene::{GROUND, SKY, Scene, Surface};
use crate::triangle::Triangle;
use glam::{Vec2, Vec4};
use rayon::prelude::*;

/// Side of a tile [px]. Its samples stay in the fastest caches.
pub(crate) const TILE: usize = 32;
/// Pixels per tile.
pub(crate) const TILE_PIXELS: usize = TILE * TILE;

/// Number of surfaces between two checks whether a tile is full.
const CHECK_INTERVAL: usize = 128;

/// The nearest surface of four samples per pixel, stored tile by tile.
pub(crate) struct Samples {
    pub columns: usize,
    pub rows: usize,
    /// Infinite where there is no surface [m].
    pub depth: Vec<Vec4>,
    /// Empty if only depths were drawn.
    pub ids: Vec<[u32; 4]>,
}

impl Samples {
    /// Draws the ground, the spheres and the opaque meshes.
    pub fn draw(lens: &Lens, scene: &Scene) -> Self {
        Self::draw_parts(lens, scene, scene.ground, true)
    }

    /// Draws only depths, of the spheres and the opaque meshes.
    pub fn draw_depths(lens: &Lens, scene: &Scene) -> Self {
        Self::draw_parts(lens, scene, None, false)
    }

    fn draw_parts(lens: &Lens, scene: &Scene, ground: Option<f32>, named: bool) -> Self {
        let [columns, rows] = lens.size.map(|pixels| pixels.div_ceil(TILE));
        let bins = Bins::build(scene.surfaces(), columns, rows, |id| {
            tiles(lens, seen_bounds(lens, scene, id as u32, true))
        });
        let mut depth = vec![Vec4::INFINITY; columns * rows * TILE_PIXELS];
        let mut ids = vec![[SKY; 4]; if named { columns * rows * TILE_PIXELS } else { 0 }];
        let mut names: Vec<&mut [[u32; 4]]> = ids.chunks_mut(TILE_PIXELS).collect();
        names.resize_with(columns * rows, Default::default);
        let parts = depth.par_chunks_mut(TILE_PIXELS).zip(names);
        parts.enumerate().for_each(|(tile, (depth, ids))| {
            let mut part = Part {
                lens,
                corner: [tile % columns * TILE, tile / columns * TILE],
                depth,
                ids,
            };
            if let Some(height) = ground {
                part.draw_ground(height);
            }
            part.draw_all(scene, bins.of(tile));
        });
        Self {
            columns,
            rows,
            depth,
            ids,
        }
    }

    /// Returns the index of a pixel.
    #[inline(always)]
    pub fn index(&self, x: usize, y: usize) -> usize {
        (y / TILE * self.columns + x / TILE) * TILE_PIXELS + y % TILE * TILE + x % TILE
    }
}

/// Returns the bounds of a surface on the image, if it is visible [px].
pub(crate) fn seen_bounds(lens: &Lens, scene: &Scene, id: u32, solid: bool) -> Option<Bounds> {
    match scene.surface(id) {
        Surface::Sphere(index) => {
            let ball = scene.ball(index)?;
            lens.see(&ball).map(|sphere| sphere.bounds())
        }
        Surface::Triangle(mesh, triangle) => {
            let shown = scene.meshes[mesh].is_solid() == solid;
            let corners = scene.corners(mesh, triangle).filter(|_| shown)?;
            Triangle::new(lens, corners).map(|triangle| triangle.bounds)
        }
    }
}

/// Returns the tiles that a part of the image touches.
pub(crate) fn tiles(lens: &Lens, bounds: Option<Bounds>) -> Tiles {
    let Some(bounds) = bounds else { return Tiles::default() };
    let span = |low: f32, high: f32, pixels: usize| {
        let (from, to) = pixel_range(low, high, 0, pixels);
        ((from / TILE) as u16, to.div_ceil(TILE) as u16)
    };
    let (x0, x1) = span(bounds.min.x, bounds.max.x, lens.size[0]);
    let (y0, y1) = span(bounds.min.y, bounds.max.y, lens.size[1]);
    Tiles { x0, x1, y0, y1 }
}

/// Returns the pixels of `start..start + count` that `low..high` touches, as a half-open range.
fn pixel_range(low: f32, high: f32, start: usize, count: usize) -> (usize, usize) {
    // Casts from float saturate, so any number is safe.
    let from = (low as usize).clamp(start, start + count);
    let to = ((high.max(-1.0) + 1.0) as usize).clamp(from, start + count);
    (from, to)
}

/// Returns the smallest depth of a surface [m].
fn nearest(lens: &Lens, scene: &Scene, id: u32) -> f32 {
    match scene.surface(id) {
        Surface::Sphere(index) => scene.ball(index).map_or(f32::INFINITY, |ball| lens.nearest(&ball)),
        Surface::Triangle(mesh, triangle) => scene.corners(mesh, triangle).map_or(f32::INFINITY, |corners| {
            corners
                .iter()
                .fold(f32::INFINITY, |least, &corner| least.min(lens.local(corner).z))
        }),
    }
}

/// Packs a depth and an id into an integer with the same order.
fn sortable(depth: f32, id: u32) -> u64 {
    let bits = depth.to_bits();
    let ordered = if depth.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    };
    u64::from(ordered) << 32 | u64::from(id)
}

/// A tile being drawn.
struct Part<'a> {
    lens: &'a Lens,
    /// Upper left corner [px].
    corner: [usize; 2],
    depth: &'a mut [Vec4],
    ids: &'a mut [[u32; 4]],
}

impl Part<'_> {
    /// Draws from near to far, and stops when all remaining surfaces are hidden: most of a heap is.
    fn draw_all(&mut self, scene: &Scene, ids: impl Iterator<Item = u32>) {
        let mut order: Vec<u64> = ids.map(|id| sortable(nearest(self.lens, scene, id), id)).collect();
        order.sort_unstable();
        for some in order.chunks(CHECK_INTERVAL) {
            if sortable(self.farthest(), u32::MAX) < some[0] {
                return;
            }
            for &entry in some {
                self.draw(scene, entry as u32);
            }
        }
    }

    /// Returns the largest depth of the samples inside the image [m].
    fn farthest(&self) -> f32 {
        let [columns, rows] = [0, 1].map(|axis| (self.lens.size[axis] - self.corner[axis]).min(TILE));
        let rows = self.depth.chunks(TILE).take(rows);
        rows.flat_map(|row| &row[..columns])
            .fold(Vec4::NEG_INFINITY, |most, &depth| most.max(depth))
            .max_element()
    }

    fn draw(&mut self, scene: &Scene, id: u32) {
        match scene.surface(id) {
            Surface::Sphere(index) => match scene.ball(index).and_then(|ball| self.lens.see(&ball)) {
                Some(Sphere::Far(far)) => self.fill(far.bounds, id, |x, y| far.depth(x, y)),
                Some(near) => self.fill(near.bounds(), id, |x, y| near.depth(x, y)),
                None => {}
            },
            Surface::Triangle(mesh, triangle) => {
                let corners = scene.corners(mesh, triangle);
                if let Some(triangle) = corners.and_then(|corners| Triangle::new(self.lens, corners)) {
                    let corner = Vec2::from_array(self.corner.map(|c| c as f32));
                    let local = triangle.at(corner);
                    self.fill(triangle.bounds, id, |x, y| local.depth(x - corner.x, y - corner.y));
                }
            }
        }
    }

    /// Writes `id` to the samples within `bounds` where `depth` is the smallest so far. Of equal depths the first
    /// stays.
    #[inline(always)]
    fn fill(&mut self, bounds: Bounds, id: u32, depth: impl Fn(Vec4, Vec4) -> Vec4) {
        let [left, top] = self.corner;
        let (x0, x1) = pixel_range(bounds.min.x, bounds.max.x, left, TILE);
        let (y0, y1) = pixel_range(bounds.min.y, bounds.max.y, top, TILE);
        let near = Vec4::splat(self.lens.near);
        let nearest = Vec4::splat(bounds.nearest);
        for row in y0..y1 {
            let y = self.lens.lanes[1] + row as f32;
            let first = (row - top) * TILE;
            for column in x0..x1 {
                let pixel = first + column - left;
                if nearest.cmpge(self.depth[pixel]).all() {
                    continue;
                }
                let x = self.lens.lanes[0] + column as f32;
                let found = depth(x, y);
                let before = found.cmplt(self.depth[pixel]) & found.cmpgt(near);
                let lanes = before.bitmask();
                if lanes != 0 {
                    self.depth[pixel] = Vec4::select(before, found, self.depth[pixel]);
                    if let Some(slots) = self.ids.get_mut(pixel) {
                        for (lane, slot) in slots.iter_mut().enumerate() {
                            *slot = if lanes >> lane & 1 == 1 { id } else { *slot };
                        }
                    }
                }
            }
        }
    }

    /// Draws the plane z = `height` [m], where the lens looks down on it.
    fn draw_ground(&mut self, height: f32) {
        let drop = self.lens.origin.z - height;
        if drop <= 0.0 {
            return;
        }
        let (right, down, forward) = (self.lens.right.z, self.lens.down.z, self.lens.forward.z);
        let (scale, middle) = (self.lens.scale, self.lens.middle);
        let end = Bounds {
            min: Vec2::ZERO,
            max: 2.0 * middle,
            nearest: self.lens.near,
        };
        self.fill(end, GROUND, |x, y| {
            let slope = -((x - middle.x) * (scale * right) + (y - middle.y) * (scale * down) + forward);
            Vec4::select(slope.cmpgt(Vec4::ZERO), drop / slope, Vec4::INFINITY)
        });
    }
}

#[cfg(test)]
mod tests;
