//! Measures of a sample.

use barchan_neighbors::{ContactRule, Grid, Lists};
use glam::DVec3;
use rayon::prelude::*;

use crate::Aabb;

/// Returns the smallest distance of two centers relative to the sum of their radii [-]: 1 if they touch, less if they
/// overlap. `None` for fewer than two particles.
///
/// # Panics
/// If a position or radius [m] is not finite.
pub fn min_distance(positions: &[DVec3], radii: &[f64]) -> Option<f64> {
    if positions.len() < 2 {
        return None;
    }
    let origin = Aabb::of_points(positions.iter().copied()).center();
    let local: Vec<_> = positions.iter().map(|&p| (p - origin).as_vec3()).collect();
    let single: Vec<f32> = radii.iter().map(|&r| r as f32).collect();
    let (mut grid, mut lists) = (Grid::new(), Lists::new());
    // Most particles nearly touch; isolated ones widen the search.
    let mut rule = ContactRule {
        scale: 1.1,
        margin: 0.0,
    };
    loop {
        let finite = "positions and radii are finite";
        grid.build(&local, rule.largest_reach(&single).expect(finite))
            .expect(finite);
        lists.find_contacts(&grid, &single, rule).expect(finite);
        // The distance is computed from the caller's numbers, not from their single-precision images.
        let closest = lists
            .chunks()
            .par_iter()
            .map(|rows| {
                let ratio = |i: u32, j: u32| {
                    let (i, j) = (i as usize, j as usize);
                    positions[i].distance(positions[j]) / (radii[i] + radii[j])
                };
                let pairs = rows.iter().flat_map(|(i, near)| near.iter().map(move |&j| ratio(i, j)));
                pairs.fold(f64::INFINITY, f64::min)
            })
            .reduce(|| f64::INFINITY, f64::min);
        if closest.is_finite() {
            return Some(closest);
        }
        rule.scale *= 4.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_particles_far_apart_and_two_that_overlap() {
        let far = [DVec3::ZERO, DVec3::new(0.0, 0.0, 30.0)];
        assert_eq!(min_distance(&far, &[1.0, 2.0]), Some(10.0));
        let near = [DVec3::splat(1e4), DVec3::splat(1e4) + DVec3::X * 0.5];
        assert_eq!(min_distance(&near, &[0.25, 0.75]), Some(0.5));
        assert_eq!(min_distance(&far[..1], &[1.0]), None);
    }

    #[test]
    fn the_closest_pair_of_a_cloud_equals_brute_force() {
        let mut stream = crate::random::Stream::new(3, 0);
        let positions: Vec<DVec3> = (0..300).map(|_| stream.unit_cube()).collect();
        let radii: Vec<f64> = (0..300).map(|_| 0.01 + 0.02 * stream.unit()).collect();
        let mut brute = f64::INFINITY;
        for i in 0..300 {
            for j in 0..i {
                brute = brute.min(positions[i].distance(positions[j]) / (radii[i] + radii[j]));
            }
        }
        assert_eq!(min_distance(&positions, &radii), Some(brute));
    }
}
