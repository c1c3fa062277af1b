//! A random packing in a periodic cube, made once and cut by any shape.

use glam::DVec3;

use super::relax::{Free, Spheres, relax};
use crate::random::Stream;
use crate::sample::Radii;

/// Packing fraction aimed at, below jamming (0.64) by enough that relaxing is quick.
const FRACTION: f64 = 0.635;
/// Overlap left by relaxing, of the radii's sum; the cube is then spread until none is left.
const TOLERANCE: f32 = 4e-3;

/// Spheres in a cube that repeats along all three axes; none overlaps another or an image of it.
pub(super) struct PeriodicPacking {
    /// Side of the cube [m].
    pub side: f64,
    /// Centres [m], within the cube.
    pub positions: Vec<DVec3>,
    /// Radii [m].
    pub radii: Vec<f64>,
}

impl PeriodicPacking {
    /// Packs `count` spheres.
    pub fn new(radii: &Radii, count: usize, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Self {
        let radii: Vec<f64> = (0..count)
            .map(|k| radii.quantile((k as f64 + Stream::new(seed, k as u64).unit()) / count as f64))
            .collect();
        let volume: f64 = radii.iter().map(|r| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).sum();
        let side = (volume / FRACTION).cbrt();
        let mut spheres = Spheres {
            positions: (0..count)
                .map(|k| (Stream::new(!seed, k as u64).unit_cube() * side).as_vec3())
                .collect(),
            radii: radii.iter().map(|&r| r as f32).collect(),
            mobile: count,
            period: Some(side as f32),
        };
        relax(&mut spheres, &mut Free, TOLERANCE, 2000, progress);
        let mut packing = Self {
            side,
            positions: spheres.positions.iter().map(|p| p.as_dvec3().rem_euclid(DVec3::splat(side))).collect(),
            radii,
        };
        packing.spread();
        packing
    }
}
