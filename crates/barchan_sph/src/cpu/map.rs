//! Density map of a body: the part of a kernel that lies in the body, at any position near it.
//!
//! The map stores not λ but the distance at which a plane wall would have the same λ. On flat walls that is the
//! distance itself, exact between samples and for kernels of any size. In edges, corners and curves it is smooth, while
//! the distance has a crease.

use std::f64::consts::{PI, TAU};

use barchan_geometry::sdf_grid::SdfGrid;
use barchan_geometry::{Aabb, Shape};
use glam::DVec3;

use crate::laws::volume::{self, Volumes};
use crate::laws::{kernel, wall};

/// Distance between samples, of the kernel's radius [-].
const VOXEL: f64 = 0.25;
/// Most memory for a map [bytes]; a body that needs more is taken as plane everywhere.
const MAX_MEMORY: usize = 256 << 20;
/// Shells and directions of the quadrature [-].
const SHELLS: usize = 5;
const DIRECTIONS: usize = 24;
/// Half the width over which a sample counts as partly inside, as a fraction of the kernel radius [-]: half the
/// distance of samples.
const HALF_TRANSITION: f64 = 0.15;
/// Deviation from a plane over the kernel that is left uncorrected, as a fraction of its radius [-].
const MAX_CURVATURE_ERROR: f64 = 0.03;
/// Depth in the solid that no guide exceeds, as a fraction of the kernel radius [-].
const MAX_DEPTH: f64 = 0.4;

/// The map of `solid` for kernels of about `support` [m], or none if it has no end or is too large: its density map, or its volume map if
/// `volumes` says how.
pub(crate) fn build(solid: &dyn Shape, support: f64, volumes: Option<&Volumes>) -> Option<SdfGrid> {
    let samples = match volumes {
        Some(_) => samples(|r| 0.75 / PI * f64::from(u8::from(r < 1.0))),
        None => samples(|r| f64::from(kernel::value_and_slope(r as f32, 1.0).0)),
    };
    let map = Map {
        solid,
        support,
        samples,
        volumes,
    };
    SdfGrid::build(&map, VOXEL * support, 1.05 * support, MAX_MEMORY).ok()
}

/// Points in the unit ball, each of which stands for the same part of the integral of `weight`, which is 1.
fn samples(weight: impl Fn(f64) -> f64) -> Vec<DVec3> {
    let mut all = Vec::with_capacity(SHELLS * DIRECTIONS);
    let (steps, mut mass, mut shell) = (4000, 0.0, 0);
    for k in 0..steps {
        let r = (f64::from(k) + 0.5) / f64::from(steps);
        mass += 4.0 * PI * r * r * weight(r) / f64::from(steps);
        while shell < SHELLS && mass >= (shell as f64 + 0.5) / SHELLS as f64 {
            // Even on each sphere, and turned from shell to shell, by the golden angle.
            let golden = PI * (3.0 - 5f64.sqrt());
            for n in 0..DIRECTIONS {
                let z = 1.0 - (2.0 * n as f64 + 1.0) / DIRECTIONS as f64;
                let angle = golden * n as f64 + TAU * shell as f64 / SHELLS as f64;
                let (sine, cosine) = angle.sin_cos();
                let flat = (1.0 - z * z).sqrt();
                all.push(r * DVec3::new(flat * cosine, flat * sine, z));
            }
            shell += 1;
        }
    }
    all
}

#[derive(Debug)]
struct Map<'a> {
    solid: &'a dyn Shape,
    support: f64,
    samples: Vec<DVec3>,
    volumes: Option<&'a Volumes>,
}

impl Map<'_> {
    /// Part of a sample at distance τ that counts as inside [-].
    fn inside(&self, tau: f64) -> f64 {
        match self.volumes {
            Some(_) => volume::extended(tau),
            None => (0.5 - tau / (2.0 * HALF_TRANSITION)).clamp(0.0, 1.0),
        }
    }
}

impl Shape for Map<'_> {
    /// The distance [m] of a plane wall with the λ of the solid. The quadrature counts only the difference from a plane wall at the true
    /// distance, so that its own error cancels.
    fn distance(&self, p: DVec3) -> f64 {
        let h = self.support;
        let (distance, normal) = self.solid.distance_and_normal(p);
        if distance >= h || distance < -MAX_DEPTH * h {
            return distance;
        }
        let off = |way: DVec3| (self.solid.distance(p + way) - distance - normal.dot(way)).abs() / h;
        let bent = [DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .map(|axis| off(0.6 * h * axis).max(off(-0.6 * h * axis)))
            .fold(0.0, f64::max);
        if bent < MAX_CURVATURE_ERROR {
            return distance;
        }
        let tau = distance / h;
        let excess: f64 = self
            .samples
            .iter()
            .map(|&x| self.inside(self.solid.distance(p + h * x) / h) - self.inside(tau + normal.dot(x)))
            .sum();
        let excess = excess / self.samples.len() as f64;
        h * match self.volumes {
            Some(volumes) => volumes.distance_of(volumes.at(tau) + 4.0 / 3.0 * PI * excess),
            None => wall::distance_of(f64::from(wall::half_space(tau as f32).0) + excess),
        }
    }

    fn bounds(&self) -> Aabb {
        self.solid.bounds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::shapes::{Cuboid, Sphere, Subtract};
    use std::sync::Arc;

    /// λ of `solid` at `p` by brute force, for a kernel of radius 1.
    fn brute(solid: &dyn Shape, p: DVec3) -> f64 {
        let n = 60;
        let mut sum = 0.0;
        for k in 0..n * n * n {
            let at = |k: i32| (f64::from(k % n) + 0.5) / f64::from(n) * 2.0 - 1.0;
            let x = DVec3::new(at(k), at(k / n), at(k / n / n));
            if solid.distance(p + x) < 0.0 {
                sum += f64::from(kernel::value_and_slope(x.length() as f32, 1.0).0);
            }
        }
        sum * (2.0 / f64::from(n)).powi(3)
    }

    #[test]
    fn edges_corners_and_balls_hold_what_they_hold_of_the_kernel() {
        let block: Arc<dyn Shape> = Arc::new(Cuboid::new(DVec3::splat(8.0)).unwrap());
        let hole: Arc<dyn Shape> = Arc::new(Cuboid::new(DVec3::splat(4.0)).unwrap());
        let room: Arc<dyn Shape> = Arc::new(Subtract::new(vec![block.clone(), hole], 0.0).unwrap());
        let ball: Arc<dyn Shape> = Arc::new(Sphere::new(1.5).unwrap());
        let places = [
            (&room, DVec3::new(1.7, 0.0, 0.0)),
            (&room, DVec3::new(1.7, 1.7, 0.0)),
            (&room, DVec3::new(1.7, 1.5, 0.2)),
            (&room, DVec3::new(1.71, 1.71, 1.71)),
            (&block, DVec3::new(4.2, 4.1, 0.0)),
            (&ball, DVec3::new(1.1, 1.1, 0.6)),
        ];
        for (solid, p) in places {
            let map = build(&**solid, 1.0, None).unwrap();
            let lambda = f64::from(wall::half_space(map.distance(p) as f32).0);
            let expected = brute(&**solid, p);
            // Samples lie a quarter of the kernel apart, and edges are creased.
            assert!((lambda - expected).abs() < 0.05, "{p}: {lambda} {expected}");
        }
    }

    #[test]
    fn a_volume_map_holds_what_walls_have_of_a_ball() {
        let block: Arc<dyn Shape> = Arc::new(Cuboid::new(DVec3::splat(8.0)).unwrap());
        let ball: Arc<dyn Shape> = Arc::new(Sphere::new(1.5).unwrap());
        let volumes = Volumes::new();
        let (n, places) = (
            60,
            [(&block, DVec3::new(4.2, 4.1, 0.0)), (&ball, DVec3::new(1.1, 1.1, 0.6))],
        );
        for (solid, p) in places {
            let mut sum = 0.0;
            for k in 0..n * n * n {
                let at = |k: i32| (f64::from(k % n) + 0.5) / f64::from(n) * 2.0 - 1.0;
                let x = DVec3::new(at(k), at(k / n), at(k / n / n));
                if x.length() < 1.0 {
                    sum += volume::extended(solid.distance(p + x)) * (2.0 / f64::from(n)).powi(3);
                }
            }
            let map = build(&**solid, 1.0, Some(&volumes)).unwrap();
            let volume = volumes.at(map.distance(p));
            assert!((volume / sum - 1.0).abs() < 0.08, "{p}: {volume} {sum}");
        }
    }
}
