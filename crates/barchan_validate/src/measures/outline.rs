//! Outline of sand of any shape: what two runs of one scene are compared by.

use glam::{DVec2, DVec3};

use super::{HeightMap, front, settled, slope};

/// Side of a cell of the height map, in diameters [-].
const CELL: f64 = 2.0;

/// Extent of the sand that touches sand; guides in flight do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outline {
    /// Height of the highest guide above the bottom of the lowest one [m].
    pub height: f64,
    /// Mean distance of the front from the center at the start, over 16 azimuths [m].
    pub run_out: f64,
    /// Angle of the flank [rad], if the sand is a heap.
    pub angle: Option<f64>,
}

impl Outline {
    /// Measures guides of mean `diameter` [m] at `positions` [m] with `radii` [m], which spread from `center` [m].
    pub fn new(positions: &[DVec3], radii: &[f64], diameter: f64, center: DVec2) -> Self {
        let kept = settled(positions, diameter);
        let resting = || positions.iter().zip(radii).zip(&kept).filter(|k| *k.1).map(|k| k.0);
        let low = resting().map(|(p, r)| p.z - r).fold(f64::INFINITY, f64::min);
        let high = resting().map(|(p, r)| p.z + r).fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self::default();
        }
        let on_ground: Vec<DVec3> = positions.iter().map(|p| *p - low * DVec3::Z).collect();
        let map = HeightMap::new(&on_ground, radii, &kept, CELL * diameter);
        Self {
            height: high - low,
            run_out: front(&map, center, 0.0),
            angle: slope(&on_ground, radii, diameter).map(|slope| slope.angle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_on_a_shelf_has_its_height_its_radius_and_its_angle_and_a_flyer_has_none() {
        let (d, angle, height, shelf) = (0.02, 30f64.to_radians(), 0.4, 3.0);
        let radius = height / angle.tan();
        let cells = (radius / d) as i32 + 1;
        let mut positions = Vec::new();
        for i in -cells..=cells {
            for j in -cells..=cells {
                let p = d * DVec2::new(f64::from(i), f64::from(j));
                let top = height - p.length() * angle.tan();
                let layers = (top / d).floor().max(0.0) as i32;
                positions.extend((0..layers).map(|k| p.extend(shelf + d * (f64::from(k) + 0.5))));
            }
        }
        positions.push(DVec3::new(9.0, 0.0, 9.0));
        let radii = vec![0.5 * d; positions.len()];
        let found = Outline::new(&positions, &radii, d, DVec2::ZERO);
        // The guide at the tip touches too few to count.
        assert!((found.height - height).abs() < 1.5 * d, "{found:?}");
        assert!((found.run_out - radius).abs() < 3.0 * d, "{found:?} of {radius}");
        assert!((found.angle.unwrap() - angle).abs() < 2f64.to_radians(), "{found:?}");
        assert_eq!(Outline::new(&[], &[], d, DVec2::ZERO), Outline::default());
    }
}
