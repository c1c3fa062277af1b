//! How densely guides lie.

use std::f64::consts::PI;

use barchan::neighbors::Grid;
use glam::DVec3;

/// Volume [m³] of the part of a sphere below `height` [m] over its centre.
fn below(radius: f64, height: f64) -> f64 {
    let t = (height / radius).clamp(-1.0, 1.0);
    PI * radius.powi(3) * (2.0 / 3.0 + t - t.powi(3) / 3.0)
}

/// Share of the volume [-] that spheres fill in each of `layers` equal layers from `low` to `high` [m] over a ground of `area` [m²]
/// without walls. What lies in two spheres counts twice, so that overlaps show.
pub fn fractions(places: &[DVec3], radii: &[f64], area: f64, [low, high]: [f64; 2], layers: usize) -> Vec<f64> {
    let thickness = (high - low) / layers as f64;
    let layer = |k: usize| {
        let (from, to) = (low + k as f64 * thickness, low + (k + 1) as f64 * thickness);
        let part = |(p, &r): (&DVec3, &f64)| below(r, to - p.z) - below(r, from - p.z);
        places.iter().zip(radii).map(part).sum::<f64>() / (area * thickness)
    };
    (0..layers).map(layer).collect()
}

/// Mean number of contacts [-] of guides that carry something: those with at least two contacts, after all others are taken away.
/// Contacts are pairs closer than their radii and `slack` [m]; guides outside of `within` are only counted as partners.
pub fn coordination(places: &[DVec3], radii: &[f64], slack: f64, within: &dyn Fn(DVec3) -> bool) -> f64 {
    let origin = places.first().copied().unwrap_or_default();
    let local: Vec<_> = places.iter().map(|p| (*p - origin).as_vec3()).collect();
    let reach = 2.0 * radii.iter().copied().fold(0.0, f64::max) + slack;
    let mut grid = Grid::new();
    grid.build(&local, reach as f32).expect("guides are finite");
    let partners: Vec<Vec<u32>> = (0..places.len())
        .map(|i| {
            let mut found = Vec::new();
            grid.near(local[i], |j, _| {
                let k = j as usize;
                if k != i && places[i].distance(places[k]) < radii[i] + radii[k] + slack {
                    found.push(j);
                }
            });
            found
        })
        .collect();
    let mut carries = vec![true; places.len()];
    let contacts = |carries: &[bool], i: usize| partners[i].iter().filter(|&&j| carries[j as usize]).count();
    loop {
        let rattlers: Vec<usize> = (0..places.len())
            .filter(|&i| carries[i] && within(places[i]) && contacts(&carries, i) < 2)
            .collect();
        if rattlers.is_empty() {
            break;
        }
        rattlers.iter().for_each(|&i| carries[i] = false);
    }
    let counted: Vec<usize> = (0..places.len()).filter(|&i| carries[i] && within(places[i])).collect();
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
        let places = cubic(n, d);
        let radii = vec![0.5 * d; places.len()];
        let side = f64::from(n) * d;
        for found in fractions(&places, &radii, side * side, [2.0 * d, 8.0 * d], 3) {
            assert!((found - PI / 6.0).abs() < 1e-9, "{found}");
        }
        // Layers that cut spheres add up to the same.
        let cut = fractions(&places, &radii, side * side, [2.3 * d, 7.3 * d], 4);
        assert!((cut.iter().sum::<f64>() / 4.0 - PI / 6.0).abs() < 1e-9, "{cut:?}");
    }

    #[test]
    fn a_cubic_lattice_has_six_contacts_and_rattlers_have_none() {
        let d = 0.02;
        let mut places = cubic(8, d);
        let inner = |p: DVec3| p.min_element() > 1.2 * d && p.max_element() < 6.8 * d;
        let with = coordination(&places, &vec![0.5 * d; places.len()], 0.01 * d, &inner);
        assert!((with - 6.0).abs() < 1e-9, "{with}");
        places.push(DVec3::splat(4.0 * d) + 0.2 * d);
        let mut radii = vec![0.5 * d; places.len()];
        radii[places.len() - 1] = 0.01 * d;
        let rattling = coordination(&places, &radii, 0.01 * d, &inner);
        assert!((rattling - 6.0).abs() < 1e-9, "{rattling}");
    }
}
