//! Packing of guides.

use std::f64::consts::PI;

use barchan::neighbors::Grid;
use glam::DVec3;

/// Returns the volume [m³] of the part of a sphere below `height` [m] over its center.
fn below(radius: f64, height: f64) -> f64 {
    let t = (height / radius).clamp(-1.0, 1.0);
    PI * radius.powi(3) * (2.0 / 3.0 + t - t.powi(3) / 3.0)
}

/// Returns the packing fraction [-] in each of `layers` equal layers from `low` to `high` [m] over a ground of `area`
/// [m²] without walls. Overlaps count twice, so that they show.
pub fn fractions(positions: &[DVec3], radii: &[f64], area: f64, [low, high]: [f64; 2], layers: usize) -> Vec<f64> {
    let thickness = (high - low) / layers as f64;
    let layer = |k: usize| {
        let (from, to) = (low + k as f64 * thickness, low + (k + 1) as f64 * thickness);
        let part = |(p, &r): (&DVec3, &f64)| below(r, to - p.z) - below(r, from - p.z);
        positions.iter().zip(radii).map(part).sum::<f64>() / (area * thickness)
    };
    (0..layers).map(layer).collect()
}

/// Returns the mean number of contacts [-] of guides that bear load: those with at least two contacts, after all others
/// are removed. Contacts are pairs closer than the sum of their radii and `slack` [m]; guides outside of `within` only
/// count as partners.
pub fn coordination(positions: &[DVec3], radii: &[f64], slack: f64, within: &dyn Fn(DVec3) -> bool) -> f64 {
    let origin = positions.first().copied().unwrap_or_default();
    let local: Vec<_> = positions.iter().map(|p| (*p - origin).as_vec3()).collect();
    let reach = 2.0 * radii.iter().copied().fold(0.0, f64::max) + slack;
    let mut grid = Grid::new();
    grid.build(&local, reach as f32).expect("guides are finite");
    let partners: Vec<Vec<u32>> = (0..positions.len())
        .map(|i| {
            let mut found = Vec::new();
            grid.near(local[i], |j, _| {
                let k = j as usize;
                if k != i && positions[i].distance(positions[k]) < radii[i] + radii[k] + slack {
                    found.push(j);
                }
            });
            found
        })
        .collect();
    let mut carries = vec![true; positions.len()];
    let contacts = |carries: &[bool], i: usize| partners[i].iter().filter(|&&j| carries[j as usize]).count();
    loop {
        let rattlers: Vec<usize> = (0..positions.len())
            .filter(|&i| carries[i] && within(positions[i]) && contacts(&carries, i) < 2)
            .collect();
        if rattlers.is_empty() {
            break;
        }
        rattlers.iter().for_each(|&i| carries[i] = false);
    }
    let counted: Vec<usize> = (0..positions.len())
        .filter(|&i| carries[i] && within(positions[i]))
        .collect();
    let sum: usize = counted.iter().map(|&i| contacts(&carries, i)).sum();
    sum as f64 / counted.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic(n: i32, d: f64) -> Vec<DVec3> {
        let at = |k: i32| DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n));
        (0..n * n * n).map(|k| d * (at(k) + 0.5)).collect()
    }

    #[test]
    fn a_cubic_lattice_fills_a_sixth_of_pi_in_every_layer() {
        let (n, d) = (10, 0.02);
        let positions = cubic(n, d);
        let radii = vec![0.5 * d; positions.len()];
        let side = f64::from(n) * d;
        for found in fractions(&positions, &radii, side * side, [2.0 * d, 8.0 * d], 3) {
            assert!((found - PI / 6.0).abs() < 1e-9, "{found}");
        }
        // Layers that cut spheres add up to the same.
        let cut = fractions(&positions, &radii, side * side, [2.3 * d, 7.3 * d], 4);
        assert!((cut.iter().sum::<f64>() / 4.0 - PI / 6.0).abs() < 1e-9, "{cut:?}");
    }

    #[test]
    fn a_cubic_lattice_has_six_contacts_and_rattlers_have_none() {
        let d = 0.02;
        let mut positions = cubic(8, d);
        let inner = |p: DVec3| p.min_element() > 1.2 * d && p.max_element() < 6.8 * d;
        let with = coordination(&positions, &vec![0.5 * d; positions.len()], 0.01 * d, &inner);
        assert!((with - 6.0).abs() < 1e-9, "{with}");
        positions.push(DVec3::splat(4.0 * d) + 0.2 * d);
        let mut radii = vec![0.5 * d; positions.len()];
        radii[positions.len() - 1] = 0.01 * d;
        let rattling = coordination(&positions, &radii, 0.01 * d, &inner);
        assert!((rattling - 6.0).abs() < 1e-9, "{rattling}");
    }
}
