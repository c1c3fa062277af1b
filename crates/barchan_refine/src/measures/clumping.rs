//! Clumping of points.

use barchan_neighbors::Grid;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Mean distance to the nearest of random points of density ρ, times ρ^(1/3): Γ(4/3) (3/(4π))^(1/3) [-].
const RANDOM_NEAREST: f64 = 0.553_960_278;

/// Points that are needed to say anything.
const LEAST: usize = 100;

/// Distribution of points relative to random ones, which have a ratio of 1, a variation of 0.36 and counts of Fano
/// factor 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clumping {
    /// Mean distance to the nearest point, over that of random points of the same density [-] (Clark and Evans).
    pub ratio: f64,
    /// Standard deviation of that distance over its mean [-].
    pub variation: f64,
    /// Variance of the counts in cubes over their mean [-], for sides of 2, 3 and 5 spacings.
    pub fano: [f64; 3],
    /// Points per cubic meter of the dense region [1/m³].
    pub density: f64,
}

/// Returns the distance [m] of each of `points` [m] to the nearest other one; infinity if none is within `reach` [m].
pub fn nearest_distances(points: &[Vec3], reach: f32) -> Vec<f32> {
    let mut grid = Grid::new();
    grid.build(points, reach).expect("finite points and a positive reach");
    points
        .par_iter()
        .enumerate()
        .map(|(i, &p)| {
            let mut nearest = f32::INFINITY;
            grid.near(p, |j, squared| {
                if j as usize != i {
                    nearest = nearest.min(squared);
                }
            });
            nearest.sqrt()
        })
        .collect()
}

/// Returns the share of `distances` below `limit` [-].
pub fn share_below(distances: &[f32], limit: f64) -> f64 {
    let below = distances.iter().filter(|&&d| f64::from(d) < limit).count();
    below as f64 / distances.len().max(1) as f64
}

/// Measures the clumping of `points` [m] in the region that `is_dense` selects; returns none if that is almost empty.
/// `spacing` [m] is about the cube root of the volume per point.
pub fn clumping(points: &[Vec3], spacing: f64, is_dense: &(dyn Fn(Vec3) -> bool + Sync)) -> Option<Clumping> {
    // Density from the counts in cubes that are dense throughout.
    let counts = |side: f64| cube_counts(points, side as f32, is_dense);
    let first = counts(3.0 * spacing);
    let total: f64 = first.iter().map(|&n| f64::from(n)).sum();
    if total < LEAST as f64 {
        return None;
    }
    let density = total / (first.len() as f64 * (3.0 * spacing).powi(3));
    let spacing = density.cbrt().recip();
    let distances = nearest_distances(points, (2.0 * spacing) as f32);
    let dense: Vec<f64> = points
        .par_iter()
        .zip(&distances)
        .filter(|(p, d)| d.is_finite() && is_dense(**p))
        .map(|(_, &d)| f64::from(d))
        .collect();
    let (mean, deviation) = moments(&dense);
    let fano = [2.0, 3.0, 5.0].map(|sides| {
        let counts: Vec<f64> = counts(sides * spacing).into_iter().map(f64::from).collect();
        let (mean, deviation) = moments(&counts);
        deviation * deviation / mean
    });
    Some(Clumping {
        ratio: mean / (RANDOM_NEAREST * spacing),
        variation: deviation / mean,
        fano,
        density,
    })
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Numbers of points in the cubes of `side` [m] that are dense throughout. They lie on eight lattices, half a side apart: on one
/// alone, the few large cubes of a small scene tell less of clumps than of chance.
fn cube_counts(points: &[Vec3], side: f32, is_dense: &(dyn Fn(Vec3) -> bool + Sync)) -> Vec<u32> {
    let (low, high) = points
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), &p| (a.min(p), b.max(p)));
    if points.is_empty() {
        return Vec::new();
    }
    let shift = |c: usize| 0.5 * side * Vec3::new((c & 1) as f32, (c >> 1 & 1) as f32, (c >> 2) as f32);
    (0..8)
        .flat_map(|c| lattice_counts(points, [low + shift(c), high], side, is_dense))
        .collect()
}

/// The same on one lattice that begins at `low` [m].
fn lattice_counts(
    points: &[Vec3],
    [low, high]: [Vec3; 2],
    side: f32,
    is_dense: &(dyn Fn(Vec3) -> bool + Sync),
) -> Vec<u32> {
    let cells = ((high - low) / side).floor().as_ivec3().min(IVec3::splat(1024));
    if cells.min_element() < 1 {
        return Vec::new();
    }
    let mut counts = vec![0u32; (cells.x * cells.y * cells.z) as usize];
    for &p in points {
        let cell = ((p - low) / side).floor().as_ivec3();
        if cell.cmpge(IVec3::ZERO).all() && cell.cmplt(cells).all() {
            counts[((cell.z * cells.y + cell.y) * cells.x + cell.x) as usize] += 1;
        }
    }
    let is_full = |k: usize| {
        let k = k as i32;
        let cell = IVec3::new(k % cells.x, k / cells.x % cells.y, k / cells.x / cells.y);
        let corner = low + cell.as_vec3() * side;
        (0..9).all(|c| {
            let at = match c {
                8 => Vec3::splat(0.5),
                _ => Vec3::new((c & 1) as f32, (c >> 1 & 1) as f32, (c >> 2) as f32),
            };
            is_dense(corner + at * side)
        })
    };
    (0..counts.len())
        .into_par_iter()
        .filter(|&k| is_full(k))
        .map(|k| counts[k])
        .collect()
}
