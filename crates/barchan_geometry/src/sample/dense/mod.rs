//! Amorphous packing at the density of settled sand.
//!
//! A random packing is made once, in a periodic cube ([`periodic`]), and the shape is cut out of it. Spheres that the
//! surface would cut are kept if most of their volume lies inside, and pushed in, and the layers below make room
//! ([`wall`]), so that the packing is dense up to its walls.

mod periodic;
mod relax;
mod wall;

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use self::periodic::PeriodicPacking;
use super::octree::{self, Containment};
use super::seam::Seamless;
use super::{Particles, Radii};
use crate::Shape;

/// Packing fraction of the result, away from walls.
pub(super) const FRACTION: f64 = 0.605;

/// Largest number of spheres in the periodic cube for similar radii. More would only make the period longer.
const MAX_TILE: f64 = 10_000.0;
/// Smallest side of the periodic cube, in largest radii.
const MIN_TILE_SIDE: f64 = 12.0;
/// Smallest depth of the centers of spheres that are kept at the surface, in radii.
const MIN_KEPT_DEPTH: f64 = 0.4;
/// Depth of the layer that moves at the surface, in largest radii.
const SHELL: f64 = 4.0;

pub(super) fn fill(shape: &dyn Shape, radii: &Radii, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Particles {
    let tile = PeriodicPacking::new(radii, tile_count(shape, radii), seed, &|part| progress(0.5 * part));
    let mut cut = cut(shape, &tile, radii, &|_| true);
    wall::settle(shape, [None; 3], &mut cut, &|part| progress(0.5 + 0.5 * part));
    cut.all()
}

/// Fills a solid that continues through periodic faces.
pub(super) fn fill_seamless(
    shape: &Seamless<'_>,
    radii: &Radii,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Particles {
    let tile = PeriodicPacking::new(radii, tile_count(shape, radii), seed, &|part| progress(0.5 * part));
    let mut cut = cut(shape, &tile, radii, &|p| shape.is_within(p));
    wall::settle(shape, shape.periods, &mut cut, &|part| progress(0.5 + 0.5 * part));
    cut.all()
}

/// Moves `particles` of a solid that continues through periodic faces apart from the images of others. Removes those
/// beyond faces.
pub(super) fn close(
    shape: &Seamless<'_>,
    particles: Particles,
    radii: &Radii,
    progress: &(dyn Fn(f64) + Sync),
) -> Particles {
    let mut cut = Cut::default();
    for (&position, &radius) in particles.positions.iter().zip(&particles.radii) {
        if shape.is_within(position) {
            cut.add(position, radius, shape.distance(position), SHELL * radii.max());
        }
    }
    cut.near = cut.interior.len();
    wall::settle(shape, shape.periods, &mut cut, progress);
    cut.all()
}

/// Returns the number that the shape's bounds need, at most [`MAX_TILE`], but enough for a cube of [`MIN_TILE_SIDE`].
fn tile_count(shape: &dyn Shape, radii: &Radii) -> usize {
    let density = FRACTION / radii.mean_volume();
    let least = density * (MIN_TILE_SIDE * radii.max()).powi(3);
    (density * shape.bounds().volume()).min(MAX_TILE).max(least).ceil() as usize
}

/// A packing cut by a shape.
#[derive(Default)]
struct Cut {
    /// Spheres near the surface; some stick out.
    shell: Particles,
    /// Signed distances [m] of their centers.
    distances: Vec<f64>,
    /// Spheres below, of which the first `near` may touch the shell.
    interior: Particles,
    near: usize,
}

impl Cut {
    /// Adds a sphere at a signed `distance` [m] from the surface, whose layer is `shell` [m] deep.
    fn add(&mut self, position: DVec3, radius: f64, distance: f64, shell: f64) {
        if distance > -shell {
            self.shell.push(position, radius);
            self.distances.push(distance);
        } else {
            self.interior.push(position, radius);
        }
    }

    fn all(mut self) -> Particles {
        self.shell.append(self.interior);
        self.shell
    }
}

/// Cuts `shape` out of the packing; only centers that are `kept` stay.
fn cut(shape: &dyn Shape, tile: &PeriodicPacking, radii: &Radii, kept: &(dyn Fn(DVec3) -> bool + Sync)) -> Cut {
    let per_side = (tile.side / (4.0 * radii.max())).floor().max(1.0) as i32;
    let side = tile.side / f64::from(per_side);
    let bins = tile.bins(per_side);
    let origin = shape.bounds().min;
    let shell_depth = SHELL * radii.max();
    // Spheres that may touch the shell are tested individually.
    let deep = shell_depth + 3.0 * radii.max();
    let parts: Vec<Cut> = octree::blocks(shape, shape.bounds(), side, MIN_KEPT_DEPTH * radii.min(), deep)
        .par_iter()
        .map(|&(corner, containment)| {
            let mut part = Cut::default();
            let image = corner.div_euclid(IVec3::splat(per_side));
            let bin = corner.rem_euclid(IVec3::splat(per_side));
            let shift = origin + tile.side * image.as_dvec3();
            for &k in &bins[(bin.x + per_side * (bin.y + per_side * bin.z)) as usize] {
                let (position, radius) = (tile.positions[k as usize] + shift, tile.radii[k as usize]);
                let distance = match containment {
                    Containment::Inside => f64::NEG_INFINITY,
                    _ => shape.distance(position),
                };
                if distance <= -MIN_KEPT_DEPTH * radius && kept(position) {
                    part.add(position, radius, distance, shell_depth);
                }
            }
            part.near = if containment == Containment::Inside {
                0
            } else {
                part.interior.len()
            };
            part
        })
        .collect();
    let mut all = Cut::default();
    let (near, far): (Vec<Cut>, Vec<Cut>) = parts.into_iter().partition(|p| p.near > 0 || !p.shell.is_empty());
    for part in near {
        all.shell.append(part.shell);
        all.distances.extend(part.distances);
        all.interior.append(part.interior);
    }
    all.near = all.interior.len();
    for part in far {
        all.interior.append(part.interior);
    }
    all
}

/// Smallest remaining gap relative to the smaller radius [-]: spheres that overlap more are removed.
const MIN_GAP: f64 = -8e-3;

/// Returns the gap between two spheres of radii `a` and `b` [m] whose centers are `distance` [m] apart, relative to the
/// smaller radius [-]; negative if they overlap.
fn gap(distance: f64, a: f64, b: f64) -> f64 {
    (distance - a - b) / a.min(b)
}
