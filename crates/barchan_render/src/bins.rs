//! Sorts many small items into the tiles of an image.

use rayon::prelude::*;

/// Smallest number of items per chunk: fewer would not pay for the chunk's table of tiles.
const MIN_CHUNK: usize = 4096;
/// Largest number of chunks, for the same reason.
const MAX_CHUNKS: usize = 256;

/// A rectangle of tiles, `x0..x1` by `y0..y1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub x0: u16,
    pub x1: u16,
    pub y0: u16,
    pub y1: u16,
}

impl Tiles {
    fn each(self, columns: usize) -> impl Iterator<Item = usize> {
        let row = move |y| (self.x0..self.x1).map(move |x| usize::from(y) * columns + usize::from(x));
        (self.y0..self.y1).flat_map(row)
    }
}

/// Items per tile. Chunks of items are sorted independently, so that threads share nothing; the chunks do not depend on
/// the number of threads.
pub(crate) struct Bins {
    chunks: Vec<Chunk>,
}

struct Chunk {
    /// First item of each tile, and the end of the last.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Bins {
    /// Sorts `count` items into `columns` x `rows` tiles; `tiles_of` returns the tiles that an item touches.
    pub fn build(count: usize, columns: usize, rows: usize, tiles_of: impl Fn(usize) -> Tiles + Sync) -> Self {
        let length = MIN_CHUNK.max(count.div_ceil(MAX_CHUNKS));
        let chunk = |k: usize| {
            let range = k * length..count.min((k + 1) * length);
            let touched: Vec<Tiles> = range.clone().map(&tiles_of).collect();
            let mut starts = vec![0u32; columns * rows + 1];
            for tile in touched.iter().flat_map(|tiles| tiles.each(columns)) {
                starts[tile + 1] += 1;
            }
            for tile in 1..starts.len() {
                starts[tile] += starts[tile - 1];
            }
            let mut items = vec![0; starts[columns * rows] as usize];
            let mut next = starts.clone();
            for (item, tiles) in range.zip(&touched) {
                for tile in tiles.each(columns) {
                    items[next[tile] as usize] = item as u32;
                    next[tile] += 1;
                }
            }
            Chunk { starts, items }
        };
        Self {
            chunks: (0..count.div_ceil(length)).into_par_iter().map(chunk).collect(),
        }
    }

    /// Returns the items that touch `tile`, in ascending order.
    pub fn of(&self, tile: usize) -> impl Iterator<Item = u32> {
        let slice = move |c: &'_ Chunk| c.starts[tile] as usize..c.starts[tile + 1] as usize;
        self.chunks.iter().flat_map(move |c| c.items[slice(c)].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tile_lists_in_order_what_touches_it() {
        let tiles_of = |i: usize| Tiles {
            x0: (i % 5) as u16,
            x1: (i % 5 + i % 3) as u16,
            y0: (i % 4) as u16,
            y1: 4,
        };
        let count = 3 * MIN_CHUNK + 7;
        let bins = Bins::build(count, 8, 4, tiles_of);
        for tile in 0..32 {
            let (x, y) = ((tile % 8) as u16, (tile / 8) as u16);
            let touches = |&i: &u32| {
                let t = tiles_of(i as usize);
                (t.x0..t.x1).contains(&x) && (t.y0..t.y1).contains(&y)
            };
            let expected: Vec<u32> = (0..count as u32).filter(touches).collect();
            assert_eq!(bins.of(tile).collect::<Vec<_>>(), expected);
        }
    }
}
