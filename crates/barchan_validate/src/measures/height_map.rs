//! The surface of sand on a grid.

use barchan::neighbors::Grid;
use glam::{DVec2, DVec3};

/// Smallest number of neighbors of a guide in the heap, within 1.2 diameters.
const MIN_NEIGHBORS: usize = 3;

/// Marks the guides in the heap, not those in flight: guides with at least three neighbors within 1.2 `diameter` [m].
pub fn settled(positions: &[DVec3], diameter: f64) -> Vec<bool> {
    let origin = positions.first().copied().unwrap_or_default();
    let local: Vec<_> = positions.iter().map(|p| (*p - origin).as_vec3()).collect();
    let mut grid = Grid::new();
    grid.build(&local, (1.2 * diameter) as f32).expect("guides are finite");
    let has_neighbors = |p: &glam::Vec3| {
        let mut near = 0;
        grid.near(*p, |_, _| near += 1);
        // The search also returns the guide itself.
        near > MIN_NEIGHBORS
    };
    local.iter().map(has_neighbors).collect()
}

/// Heights [m] of the highest guides over square cells; `None` over empty ones.
#[derive(Clone, Debug)]
pub struct HeightMap {
    /// Side of a cell [m].
    pub cell: f64,
    /// Corner of the first cell [m].
    pub corner: DVec2,
    /// Cells along x and y.
    pub size: [usize; 2],
    /// Heights, row by row.
    pub heights: Vec<Option<f64>>,
}

impl HeightMap {
    /// Creates the map of the `kept` guides at `positions` [m] with `radii` [m].
    pub fn new(positions: &[DVec3], radii: &[f64], kept: &[bool], cell: f64) -> Self {
        let kept_places = || positions.iter().zip(kept).filter(|k| *k.1).map(|k| *k.0);
        let low = kept_places().fold(DVec3::INFINITY, DVec3::min);
        let high = kept_places().fold(DVec3::NEG_INFINITY, DVec3::max);
        let mut map = Self {
            cell,
            corner: low.truncate(),
            size: [0, 0],
            heights: Vec::new(),
        };
        if low.x > high.x {
            return map;
        }
        let cells = ((high - low).truncate() / cell).floor() + 1.0;
        map.size = [cells.x as usize, cells.y as usize];
        map.heights = vec![None; map.size[0] * map.size[1]];
        for ((position, radius), _) in positions.iter().zip(radii).zip(kept).filter(|k| *k.1) {
            let at = map.index(position.truncate()).expect("the map covers every guide");
            let top = position.z + radius;
            map.heights[at] = Some(map.heights[at].map_or(top, |height| height.max(top)));
        }
        map
    }

    /// Returns the cell that contains `p` [m].
    pub fn index(&self, p: DVec2) -> Option<usize> {
        let at = ((p - self.corner) / self.cell).floor();
        let inside = at.x >= 0.0 && at.y >= 0.0 && at.x < self.size[0] as f64 && at.y < self.size[1] as f64;
        inside.then(|| at.y as usize * self.size[0] + at.x as usize)
    }

    /// Returns the center [m] of a cell.
    pub fn cell_center(&self, index: usize) -> DVec2 {
        let at = DVec2::new((index % self.size[0]) as f64, (index / self.size[0]) as f64);
        self.corner + (at + 0.5) * self.cell
    }

    /// Returns centers [m] and heights [m] of all cells with sand.
    pub fn points(&self) -> impl Iterator<Item = (DVec2, f64)> + '_ {
        let filled = |(at, height): (usize, &Option<f64>)| height.map(|height| (self.cell_center(at), height));
        self.heights.iter().enumerate().filter_map(filled)
    }

    /// Returns the centroid of the volume below the surface [m], seen from above.
    pub fn center(&self) -> DVec2 {
        let (sum, weight) = self.points().fold((DVec2::ZERO, 0.0), |(sum, weight), (p, height)| {
            (sum + height.max(0.0) * p, weight + height.max(0.0))
        });
        sum / weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flyers_are_no_heap() {
        let mut positions: Vec<DVec3> = (0..27)
            .map(|k| 0.02 * DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)))
            .collect();
        positions.push(DVec3::new(0.0, 0.0, 1.0));
        let kept = settled(&positions, 0.02);
        assert_eq!(kept.iter().filter(|k| **k).count(), 27);
        assert!(!kept[27]);
    }

    #[test]
    fn a_map_holds_the_highest_of_each_cell() {
        let positions = [
            DVec3::new(0.0, 0.0, 0.0),
            DVec3::new(0.5, 0.5, 2.0),
            DVec3::new(3.5, 0.2, 1.0),
            DVec3::new(0.0, 9.0, 9.0),
        ];
        let map = HeightMap::new(&positions, &[0.1; 4], &[true, true, true, false], 1.0);
        assert_eq!(map.size, [4, 1]);
        let found: Vec<_> = map.points().collect();
        assert_eq!(found, [(DVec2::new(0.5, 0.5), 2.1), (DVec2::new(3.5, 0.5), 1.1)]);
        assert!((map.center().x - (2.1 * 0.5 + 1.1 * 3.5) / 3.2).abs() < 1e-12);
    }
}
