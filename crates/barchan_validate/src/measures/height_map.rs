//! The surface of sand on a grid.

use barchan::neighbors::Grid;
use glam::{DVec2, DVec3};

/// Neighbours that a guide of the heap has at least, within 1.2 diameters.
const NEIGHBOURS: usize = 3;

/// Which guides belong to the heap and do not fly: those with at least three neighbours within 1.2 `diameter` [m].
pub fn settled(places: &[DVec3], diameter: f64) -> Vec<bool> {
    let origin = places.first().copied().unwrap_or_default();
    let local: Vec<_> = places.iter().map(|p| (*p - origin).as_vec3()).collect();
    let mut grid = Grid::new();
    grid.build(&local, (1.2 * diameter) as f32).expect("guides are finite");
    let has_neighbours = |p: &glam::Vec3| {
        let mut near = 0;
        grid.near(*p, |_, _| near += 1);
        // It finds itself, too.
        near > NEIGHBOURS
    };
    local.iter().map(has_neighbours).collect()
}

/// Heights [m] of the highest guides over square cells; none over empty ones.
#[derive(Clone, Debug)]
pub struct HeightMap {
    /// Side of a cell [m].
    pub cell: f64,
    /// Corner of the first cell [m].
    pub corner: DVec2,
    /// Cells along x and y.
    pub size: [usize; 2],
    /// Row by row.
    pub heights: Vec<Option<f64>>,
}

impl HeightMap {
    /// Of guides at `places` [m] with `radii` [m] that are `kept`.
    pub fn new(places: &[DVec3], radii: &[f64], kept: &[bool], cell: f64) -> Self {
        let kept_places = || places.iter().zip(kept).filter(|k| *k.1).map(|k| *k.0);
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
        for ((place, radius), _) in places.iter().zip(radii).zip(kept).filter(|k| *k.1) {
            let at = map.index(place.truncate()).expect("the map covers every guide");
            let top = place.z + radius;
            map.heights[at] = Some(map.heights[at].map_or(top, |height| height.max(top)));
        }
        map
    }

    /// The cell that holds `p` [m].
    pub fn index(&self, p: DVec2) -> Option<usize> {
        let at = ((p - self.corner) / self.cell).floor();
        let inside = at.x >= 0.0 && at.y >= 0.0 && at.x < self.size[0] as f64 && at.y < self.size[1] as f64;
        inside.then(|| at.y as usize * self.size[0] + at.x as usize)
    }

    /// Middle [m] of a cell.
    pub fn middle(&self, index: usize) -> DVec2 {
        let at = DVec2::new((index % self.size[0]) as f64, (index / self.size[0]) as f64);
        self.corner + (at + 0.5) * self.cell
    }

    /// Middles [m] and heights [m] of all cells that hold something.
    pub fn points(&self) -> impl Iterator<Item = (DVec2, f64)> + '_ {
        let filled = |(at, height): (usize, &Option<f64>)| height.map(|height| (self.middle(at), height));
        self.heights.iter().enumerate().filter_map(filled)
    }

    /// Centre of the volume below the surface [m], seen from above.
    pub fn centre(&self) -> DVec2 {
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
        let mut places: Vec<DVec3> = (0..27)
            .map(|k| 0.02 * DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)))
            .collect();
        places.push(DVec3::new(0.0, 0.0, 1.0));
        let kept = settled(&places, 0.02);
        assert_eq!(kept.iter().filter(|k| **k).count(), 27);
        assert!(!kept[27]);
    }

    #[test]
    fn a_map_holds_the_highest_of_each_cell() {
        let places = [
            DVec3::new(0.0, 0.0, 0.0),
            DVec3::new(0.5, 0.5, 2.0),
            DVec3::new(3.5, 0.2, 1.0),
            DVec3::new(0.0, 9.0, 9.0),
        ];
        let map = HeightMap::new(&places, &[0.1; 4], &[true, true, true, false], 1.0);
        assert_eq!(map.size, [4, 1]);
        let found: Vec<_> = map.points().collect();
        assert_eq!(found, [(DVec2::new(0.5, 0.5), 2.1), (DVec2::new(3.5, 0.5), 1.1)]);
        assert!((map.centre().x - (2.1 * 0.5 + 1.1 * 3.5) / 3.2).abs() < 1e-12);
    }
}
