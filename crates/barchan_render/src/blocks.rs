//! Summaries of square blocks of pixels, with which shading skips samples whose outcome is certain.

use crate::raster::{Samples, TILE, TILE_PIXELS};
use glam::Vec2;
use rayon::prelude::*;

/// Side of a block [px].
const SIDE: usize = 8;
/// Blocks along a tile.
const PER_TILE: usize = TILE / SIDE;

/// One value per block, tile by tile.
pub(crate) struct Blocks<T> {
    columns: usize,
    /// Pixels along both axes.
    size: [usize; 2],
    /// Blocks beyond each side whose values are merged into that of a block.
    reach: usize,
    values: Vec<T>,
}

impl<T: Copy + Send + Sync> Blocks<T> {
    /// Merges the values of all pixels of each block. `value`: of a pixel by its index.
    pub fn new(
        samples: &Samples,
        size: [usize; 2],
        nothing: T,
        value: impl Fn(usize) -> T + Sync,
        merge: impl Fn(T, T) -> T + Sync,
    ) -> Self {
        let mut values = vec![nothing; samples.columns * samples.rows * PER_TILE * PER_TILE];
        let tiles = values.par_chunks_mut(PER_TILE * PER_TILE).enumerate();
        tiles.for_each(|(tile, blocks)| {
            for row in 0..TILE {
                for (column, block) in blocks[row / SIDE * PER_TILE..][..PER_TILE].iter_mut().enumerate() {
                    let first = tile * TILE_PIXELS + row * TILE + column * SIDE;
                    *block = (first..first + SIDE).fold(*block, |all, pixel| merge(all, value(pixel)));
                }
            }
        });
        Self {
            columns: samples.columns,
            size,
            reach: 0,
            values,
        }
    }

    /// Merges the values of all blocks within `reach` [px] of each block, along both axes.
    pub fn spread(self, reach: f32, nothing: T, merge: impl Fn(T, T) -> T) -> Self {
        let blocks = (reach / SIDE as f32).ceil() as usize;
        let size = self.size.map(|pixels| pixels.div_ceil(SIDE));
        let along = |values: &[T], axis: usize| {
            let mut merged = values.to_vec();
            for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                let at = [x, y][axis];
                let near = at.saturating_sub(blocks)..size[axis].min(at + blocks + 1);
                let of = |k: usize| values[if axis == 0 { self.index(k, y) } else { self.index(x, k) }];
                merged[self.index(x, y)] = near.map(of).fold(nothing, &merge);
            }
            merged
        };
        let values = along(&along(&self.values, 0), 1);
        Self {
            values,
            reach: blocks,
            ..self
        }
    }

    /// Returns the value of the block around a point [px]; `None` beyond the reach of all blocks.
    pub fn at(&self, place: Vec2) -> Option<T> {
        let nearest = |at: f32, size: usize| {
            let reach = (self.reach * SIDE) as f32;
            let inside = at >= -reach && at < size as f32 + reach;
            // Casts from float saturate.
            inside.then(|| (at.max(0.0) as usize).min(size - 1) / SIDE)
        };
        let (x, y) = (nearest(place.x, self.size[0])?, nearest(place.y, self.size[1])?);
        Some(self.values[self.index(x, y)])
    }

    /// Returns the index of a block.
    fn index(&self, x: usize, y: usize) -> usize {
        let tile = y / PER_TILE * self.columns + x / PER_TILE;
        tile * PER_TILE * PER_TILE + y % PER_TILE * PER_TILE + x % PER_TILE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec4;

    #[test]
    fn blocks_within_reach_cover_every_pixel_within_reach() {
        let (columns, rows) = (4, 3);
        let size = [110, 81];
        let samples = Samples {
            columns,
            rows,
            depth: (0..columns * rows * TILE_PIXELS)
                .map(|k| Vec4::splat(k as f32))
                .collect(),
            ids: Vec::new(),
        };
        let depth = |pixel: usize| samples.depth[pixel].x;
        let range = |pixel: usize| [depth(pixel); 2];
        let merge = |a: [f32; 2], b: [f32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        let nothing = [f32::INFINITY, f32::NEG_INFINITY];
        for (place, reach) in [
            (Vec2::new(3.2, 4.0), 5.0),
            (Vec2::new(60.5, 40.0), 12.0),
            (Vec2::new(109.0, 80.0), 9.5),
            (Vec2::new(-7.0, 30.0), 8.0),
            (Vec2::new(60.0, 88.0), 20.0),
        ] {
            let blocks = Blocks::new(&samples, size, nothing, range, merge).spread(reach, nothing, merge);
            let found = blocks.at(place).unwrap();
            let mut exact = nothing;
            for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                let center = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                if (center - place).abs().max_element() < reach - 0.5 {
                    exact = merge(exact, range(samples.index(x, y)));
                }
            }
            assert!(found[0] <= exact[0] && found[1] >= exact[1], "{place}");
            assert!(
                found != [0.0, (columns * rows * TILE_PIXELS - 1) as f32],
                "{place}: only those around"
            );
            assert!(blocks.at(Vec2::splat(-50.0)).is_none());
        }
    }
}
