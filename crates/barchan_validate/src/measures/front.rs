//! Run-out of sand.

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use super::HeightMap;

/// Number of directions in which the front is measured.
const AZIMUTHS: usize = 16;

/// Returns the mean over 16 azimuths of the largest radius [m] about `center` [m] that the map reaches in one piece; 0
/// for an empty map. A single guide ahead is not the front.
pub fn front(map: &HeightMap, center: DVec2, least_height: f64) -> f64 {
    let connected = connected(map, least_height);
    let mut reach = [0f64; AZIMUTHS];
    for (at, _) in connected.iter().enumerate().filter(|c| *c.1) {
        let offset = map.cell_center(at) - center;
        let azimuth = ((offset.to_angle() + PI) / TAU * AZIMUTHS as f64) as usize % AZIMUTHS;
        // The outer edge of the cell, not its center.
        reach[azimuth] = reach[azimuth].max(offset.length() + 0.5 * map.cell);
    }
    reach.iter().sum::<f64>() / AZIMUTHS as f64
}

/// Marks the cells connected by their sides to the highest one, through cells of at least `least_height` [m].
fn connected(map: &HeightMap, least_height: f64) -> Vec<bool> {
    let mut seen = vec![false; map.heights.len()];
    let high = |at: usize| map.heights[at].is_some_and(|height| height >= least_height);
    let top = (0..seen.len()).max_by(|&a, &b| {
        let height = |at: usize| map.heights[at].unwrap_or(f64::NEG_INFINITY);
        height(a).total_cmp(&height(b))
    });
    let mut border: Vec<usize> = top.into_iter().filter(|&at| high(at)).collect();
    border.iter().for_each(|&at| seen[at] = true);
    while let Some(at) = border.pop() {
        let (x, y) = (at % map.size[0], at / map.size[0]);
        let beside = [
            (x > 0).then(|| at - 1),
            (x + 1 < map.size[0]).then(|| at + 1),
            (y > 0).then(|| at - map.size[0]),
            (y + 1 < map.size[1]).then(|| at + map.size[0]),
        ];
        for next in beside.into_iter().flatten() {
            if high(next) && !seen[next] {
                seen[next] = true;
                border.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_disc_reaches_to_its_rim_and_islands_do_not_count() {
        let mut positions = Vec::new();
        for i in -60..=60 {
            for j in -60..=60 {
                let p = DVec3::new(f64::from(i), f64::from(j), 0.5) * 0.01;
                if p.truncate().length() <= 0.5 {
                    positions.push(p);
                }
            }
        }
        positions.push(DVec3::new(2.0, 0.0, 0.005));
        positions.push(DVec3::new(0.0, 0.0, 0.02));
        let kept = vec![true; positions.len()];
        let map = HeightMap::new(&positions, &vec![0.005; positions.len()], &kept, 0.02);
        let found = front(&map, DVec2::ZERO, 0.0);
        assert!((found - 0.5).abs() < 0.02, "{found}");
        assert_eq!(front(&map, DVec2::ZERO, 1.0), 0.0, "nothing is as high");
    }
}
