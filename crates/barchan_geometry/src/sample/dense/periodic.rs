//! A random packing in a periodic cube, made once and cut by any shape.

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::FRACTION;
use super::relax::{Free, Neighbors, Spheres, relax};
use crate::random::Stream;
use crate::sample::Radii;

/// Overlap left by the relaxation relative to the radii's sum; the cube is then stretched until none is left.
const TOLERANCE: f32 = 4e-3;
/// Largest number of relaxation steps; equal spheres at [`FRACTION`] take a few hundred.
const MAX_STEPS: u32 = 4000;

/// Spheres in a cube that is periodic along all three axes; none overlaps another or its images.
pub(super) struct PeriodicPacking {
    /// Side of the cube [m].
    pub side: f64,
    /// Centers [m], within the cube.
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
        let side = (volume / FRACTION).cbrt() * f64::from(1.0 - TOLERANCE);
        let mut spheres = Spheres {
            positions: (0..count)
                .map(|k| (Stream::new(!seed, k as u64).unit_cube() * side).as_vec3())
                .collect(),
            radii: radii.iter().map(|&r| r as f32).collect(),
            mobile: count,
            domain: [Some([0.0, side as f32]); 3],
        };
        relax(&mut spheres, &mut Free, TOLERANCE, MAX_STEPS, progress);
        let mut packing = Self {
            side,
            positions: spheres
                .positions
                .iter()
                .map(|p| p.as_dvec3().rem_euclid(DVec3::splat(side)))
                .collect(),
            radii,
        };
        packing.spread();
        packing
    }

    /// Stretches the cube until the closest pair just touches.
    fn spread(&mut self) {
        let spheres = Spheres {
            positions: self.positions.iter().map(|p| p.as_vec3()).collect(),
            radii: self.radii.iter().map(|&r| r as f32).collect(),
            mobile: self.positions.len(),
            domain: [Some([0.0, self.side as f32]); 3],
        };
        let lists = Neighbors::new(&spheres, 0.0);
        let closest = |i: usize| {
            let touching = |j: usize| self.radii[i] + self.radii[j];
            let ratios = lists.of(i).iter().map(|&j| j as usize).map(|j| {
                let away = self.positions[i] - self.positions[j];
                (away - self.side * (away / self.side).round()).length() / touching(j)
            });
            ratios.fold(1.0, f64::min)
        };
        let ratio = (0..self.positions.len())
            .into_par_iter()
            .map(closest)
            .reduce(|| 1.0, f64::min);
        self.side /= ratio;
        for p in &mut self.positions {
            *p /= ratio;
        }
    }

    /// Returns the spheres of each cell, for `per_side`³ cells, x fastest.
    pub fn bins(&self, per_side: i32) -> Vec<Vec<u32>> {
        let mut bins = vec![Vec::new(); per_side.pow(3) as usize];
        for (k, p) in (0u32..).zip(&self.positions) {
            let cell = (*p / self.side * f64::from(per_side)).floor().as_ivec3();
            let cell = cell.clamp(IVec3::ZERO, IVec3::splat(per_side - 1));
            bins[(cell.x + per_side * (cell.y + per_side * cell.z)) as usize].push(k);
        }
        bins
    }
}
