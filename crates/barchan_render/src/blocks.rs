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
    size: [usize; 2],
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
            values,
        }
    }

    /// Returns the values of all blocks within `reach` of a point [px], along both axes.
    pub fn around(&self, place: Vec2, reach: f32) -> impl Iterator<Item = T> {
        let range = |at: f32, size: usize| {
            // Casts from float saturate.
            let (from, to) = ((at - reach).max(0.0) as usize, (at + reach).max(-1.0) + 1.0);
            (from / SIDE)..(to as usize).min(size).div_ceil(SIDE)
        };
        let (x, y) = (range(place.x, self.size[0]), range(place.y, self.size[1]));
        y.flat_map(move |y| x.clone().map(move |x| (x, y))).map(|(x, y)| {
            let tile = y / PER_TILE * self.columns + x / PER_TILE;
            self.values[tile * PER_TILE * PER_TILE + y % PER_TILE * PER_TILE + x % PER_TILE]
        })
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
        let blocks = Blocks::new(&samples, size, nothing, range, merge);
        for (place, reach) in [
            (Vec2::new(3.2, 4.0), 5.0),
            (Vec2::new(60.5, 40.0), 12.0),
            (Vec2::new(109.0, 80.0), 9.5),
            (Vec2::new(-20.0, 30.0), 30.0),
        ] {
            let found = blocks.around(place, reach).fold(nothing, merge);
            let mut exact = nothing;
            for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                let center = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                if (center - place).abs().max_element() < reach - 0.5 {
                    exact = merge(exact, range(samples.index(x, y)));
                }
            }
            assert!(found[0] <= exact[0] && found[1] >= exact[1], "{place}");
            assert!(blocks.around(place, reach).count() < 48, "{place}: only those around");
        }
        assert_eq!(blocks.around(Vec2::splat(-50.0), 9.0).count(), 0);
    }
}
