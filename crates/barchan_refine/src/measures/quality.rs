//! Measures of one state of grains.

use barchan_world::{SETTLED_FRACTION, World};
use glam::Vec3;

use super::{Clumping, MassError, clumping, edge_fano, inside_bodies, is_filled, mass_error, nearest_distances};
use crate::grains::Grains;

/// Filling from which on material is dense, of that of settled material [-].
const DENSE: f32 = 0.9;

/// Quality of a state of grains.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Clumping in the region of dense guides; none if that is almost empty.
    pub clumping: Option<Clumping>,
    /// Agreement of their mass with that of the guides; none without guides.
    pub mass: Option<MassError>,
    /// Share of the grains deeper in a body than half a radius [-].
    pub inside: f64,
    /// Fano factor of the grains at edges over that of the guides [-]; none if there are next to no edges.
    pub edge_fano: Option<f64>,
    /// Distance of each grain to the nearest other one [m]; infinity if none is near.
    pub nearest: Vec<f32>,
}

impl Quality {
    /// Measures `grains` of about `radius` [m], which share the guides' mass.
    pub fn of(world: &World, grains: &Grains, radius: f64) -> Self {
        let guides = &world.guides;
        let places: Vec<Vec3> = (0..grains.len()).map(|i| grains.place(i)).collect();
        let largest = guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        // The volume that belongs to a grain.
        let volume = |r: f32| 4.0 / 3.0 * std::f64::consts::PI * f64::from(r).powi(3) / SETTLED_FRACTION;
        let all: f64 = guides.radius.iter().map(|&r| volume(r)).sum();
        let spacing = (all / places.len().max(1) as f64).cbrt();
        let dense = is_filled(world, DENSE);
        let share = guides.mass.iter().sum::<f32>() / places.len().max(1) as f32;
        let of_guides: Vec<(Vec3, f32)> = guides
            .position
            .iter()
            .copied()
            .zip(guides.mass.iter().copied())
            .collect();
        let of_grains: Vec<(Vec3, f32)> = places.iter().map(|&p| (p, share)).collect();
        Self {
            clumping: (spacing > 0.0).then(|| clumping(&places, spacing, &dense)).flatten(),
            mass: mass_error(&of_guides, &of_grains, 4.0 * largest),
            edge_fano: edge_fano(world, grains),
            inside: inside_bodies(world, grains, 0.5 * radius),
            nearest: nearest_distances(&places, (4.0 * radius) as f32),
        }
    }

    /// Returns the mean distance to the nearest other grain [m], of those that have one near.
    pub fn mean_nearest(&self) -> f64 {
        let near: Vec<f64> = self
            .nearest
            .iter()
            .filter(|d| d.is_finite())
            .map(|&d| f64::from(d))
            .collect();
        near.iter().sum::<f64>() / near.len().max(1) as f64
    }
}
