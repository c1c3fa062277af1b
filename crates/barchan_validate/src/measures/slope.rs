//! The slope of a heap.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::{HeightMap, line, quantile, settled, spread};

/// Width of a ring, in diameters [-].
const RING: f64 = 1.5;
/// Side of a cell of the height map, in diameters [-].
const CELL: f64 = 2.0;
/// Shares of the height between which the flank is fitted [-].
const FLANK: [f64; 2] = [0.2, 0.8];
/// Number of sectors that are fitted separately.
const SECTORS: usize = 8;
/// Smallest height of a heap, in diameters [-].
const MIN_HEIGHT: f64 = 15.0;
/// Smallest radius of a heap's base, in diameters [-].
const MIN_RADIUS: f64 = 25.0;
/// Packing fraction of a settled heap [-].
const FRACTION: f64 = 0.6;

/// Measures of a heap.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// Angle of the flank [rad].
    pub angle: f64,
    /// Share of the flank's variance that a straight line explains [-].
    pub r2: f64,
    /// Angle [rad] of the tangent at half height.
    pub half_height: f64,
    /// Angle [rad] of the cone of equal volume on the same base.
    pub by_volume: f64,
    /// Scatter of the angle [rad] over eight sectors.
    pub sectors: f64,
    /// Center [m], seen from above.
    pub center: DVec2,
    /// Height [m]: mean of the three innermost rings.
    pub height: f64,
    /// Radius of the base [m]: intersection of the flank's line with the ground.
    pub radius: f64,
    /// Distances and heights [m] of the rings.
    pub profile: Vec<[f64; 2]>,
}

impl Slope {
    /// Returns the reason why the heap is too small to be measured, if it is.
    pub fn too_small(&self, diameter: f64) -> Option<String> {
        let (height, radius) = (self.height / diameter, self.radius / diameter);
        let small = height < MIN_HEIGHT || radius < MIN_RADIUS;
        small.then(|| format!("small: height {height:.1} d of 15, base {radius:.1} d of 25"))
    }
}

/// Measures the slope of a heap of guides of mean `diameter` [m] on the ground z = 0; `None` if there is no heap.
///
/// Guides in flight are ignored. A map of cells of 2 d takes the highest guide of each; its centroid is the center.
/// Medians over rings of 1.5 d give a profile, and a straight line through the points between 0.2 and 0.8 of the height
/// gives the angle.
pub fn slope(positions: &[DVec3], radii: &[f64], diameter: f64) -> Option<Slope> {
    let kept = settled(positions, diameter);
    let map = HeightMap::new(positions, radii, &kept, CELL * diameter);
    let center = map.center();
    let points: Vec<(DVec2, f64)> = map.points().map(|(p, height)| (p - center, height)).collect();
    let profile = rings(&points, RING * diameter, &|_| true);
    if profile.len() < 4 {
        return None;
    }
    let height = profile[..3].iter().map(|p| p[1]).sum::<f64>() / 3.0;
    let flank = flank(&profile, height, FLANK)?;
    let around = (0..SECTORS).filter_map(|k| {
        let within = |p: DVec2| ((p.to_angle() + PI) / TAU * SECTORS as f64) as usize % SECTORS == k;
        let sector = rings(&points, RING * diameter, &within);
        self::flank(&sector, height, FLANK).map(|f| (-f.slope).atan())
    });
    let radius = -flank.offset / flank.slope;
    let volume: f64 = kept
        .iter()
        .zip(radii)
        .filter(|k| *k.0)
        .map(|k| 4.0 / 3.0 * PI * k.1.powi(3) / FRACTION)
        .sum();
    let half = self::flank(&profile, height, [0.35, 0.65]).unwrap_or(flank);
    Some(Slope {
        angle: (-flank.slope).atan(),
        r2: flank.r2,
        half_height: (-half.slope).atan(),
        by_volume: (3.0 * volume / (PI * radius.powi(3))).atan(),
        sectors: spread(&around.collect::<Vec<_>>()),
        center,
        height,
        radius,
        profile,
    })
}

/// Returns the angle [rad] of the flank facing x, within 22.5° to both sides, of a heap of `height` [m] about `center`
/// [m].
pub fn flank_along_x(positions: &[DVec3], radii: &[f64], diameter: f64, center: DVec2, height: f64) -> Option<f64> {
    let map = HeightMap::new(positions, radii, &settled(positions, diameter), CELL * diameter);
    let points: Vec<(DVec2, f64)> = map.points().map(|(p, height)| (p - center, height)).collect();
    let within = |p: DVec2| p.to_angle().abs() < PI / SECTORS as f64;
    let profile = rings(&points, RING * diameter, &within);
    flank(&profile, height, FLANK).map(|line| (-line.slope).atan())
}

/// Returns mean distances and median heights of rings of `width` [m] about the center, of the points that are `within`.
fn rings(points: &[(DVec2, f64)], width: f64, within: &dyn Fn(DVec2) -> bool) -> Vec<[f64; 2]> {
    let mut rings: Vec<Vec<(f64, f64)>> = Vec::new();
    for (p, height) in points.iter().filter(|p| within(p.0)) {
        let ring = (p.length() / width) as usize;
        rings.resize_with(rings.len().max(ring + 1), Vec::new);
        rings[ring].push((p.length(), *height));
    }
    let filled = rings.iter().filter(|ring| !ring.is_empty());
    filled
        .map(|ring| {
            let distance = ring.iter().map(|p| p.0).sum::<f64>() / ring.len() as f64;
            let mut heights: Vec<f64> = ring.iter().map(|p| p.1).collect();
            [distance, quantile(&mut heights, 0.5)]
        })
        .collect()
}

fn flank(profile: &[[f64; 2]], height: f64, [low, high]: [f64; 2]) -> Option<super::Line> {
    let inside = |p: &&[f64; 2]| low * height < p[1] && p[1] < high * height;
    let flank: Vec<[f64; 2]> = profile.iter().filter(inside).copied().collect();
    // A flank must fall outward.
    line(&flank).filter(|line| flank.len() > 2 && line.slope < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::geometry::random::Stream;

    /// A cone of `angle` [rad] and `height` [m] of guides at random positions, with guides in flight around it.
    fn cone(angle: f64, height: f64, d: f64, center: DVec2) -> Vec<DVec3> {
        let mut stream = Stream::new(7, 0);
        let radius = height / angle.tan();
        let size = DVec3::new(2.0 * radius, 2.0 * radius, height);
        let candidates = 1.2 * size.x * size.y * size.z / d.powi(3);
        let mut positions: Vec<DVec3> = (0..candidates as usize)
            .map(|_| (stream.unit_cube() - DVec3::new(0.5, 0.5, 0.0)) * size)
            .filter(|p| p.z + 0.5 * d < height - p.truncate().length() * angle.tan())
            .map(|p| p + center.extend(0.0))
            .collect();
        for _ in 0..40 {
            let p = (stream.unit_cube() - DVec3::new(0.5, 0.5, -1.0)) * 3.0 * radius;
            positions.push(p + center.extend(0.0));
        }
        positions
    }

    #[test]
    fn a_cone_of_31_degrees_measures_31_with_noise_and_flyers() {
        for (degrees, center) in [
            (31.0f64, DVec2::ZERO),
            (31.0, DVec2::new(1000.0, -500.0)),
            (20.0, DVec2::ZERO),
        ] {
            let d = 0.02;
            let positions = cone(degrees.to_radians(), 20.0 * d, d, center);
            let radii = vec![0.5 * d; positions.len()];
            let found = slope(&positions, &radii, d).unwrap();
            let measured = found.angle.to_degrees();
            assert!((measured - degrees).abs() < 0.7, "{measured} of {degrees}, {found:?}");
            assert!((found.half_height.to_degrees() - degrees).abs() < 2.0, "{found:?}");
            assert!(found.r2 > 0.98, "{}", found.r2);
            assert!(found.sectors.to_degrees() < 1.5, "{}", found.sectors.to_degrees());
            let east = flank_along_x(&positions, &radii, d, found.center, found.height).unwrap();
            assert!((east.to_degrees() - degrees).abs() < 1.5, "{}", east.to_degrees());
            assert_eq!(found.too_small(d), None);
            assert!(found.too_small(2.0 * d).is_some());
        }
    }

    #[test]
    fn a_slab_is_no_heap() {
        let positions: Vec<DVec3> = (0..8000)
            .map(|k| 0.02 * DVec3::new(f64::from(k % 40), f64::from(k / 40 % 40), f64::from(k / 1600)))
            .collect();
        let found = slope(&positions, &vec![0.01; positions.len()], 0.02);
        assert!(found.is_none_or(|s| s.angle.to_degrees() < 5.0));
    }
}
