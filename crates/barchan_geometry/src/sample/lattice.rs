//! Jittered close packing: a face-centered cubic lattice, stretched a little and jittered within the gaps.

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::octree::{self, Containment};
use super::{Particles, Periods, Radii};
use crate::random::Stream;
use crate::{Aabb, Shape};

/// Stretch of the lattice relative to a diameter, and largest displacement relative to a radius. 0.08 lowers the
/// packing fraction from 0.74 to 0.588, the density of settled sand.
const JITTER: f64 = 0.08;

/// Lattice cubes along a block's side.
const BLOCK: i32 = 4;

/// Fills `shape`, which continues through the faces of `periods`.
pub(super) fn fill(
    shape: &dyn Shape,
    radii: &Radii,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
    periods: Periods,
) -> Particles {
    let largest = radii.max();
    // The cube of the lattice has four sites and √2 spacings along its side.
    let cube = 2f64.sqrt() * 2.0 * largest * (1.0 + JITTER);
    // Layers lie half a cube apart along each axis. The first touches the lower side, and the remainder of a layer is
    // divided between both ends.
    let bounds = shape.bounds();
    let wall = largest * (1.0 + JITTER);
    let spare = (bounds.size() - 2.0 * wall).max(DVec3::ZERO);
    let layers = (spare / (0.5 * cube)).floor();
    let mut first = bounds.min + wall + 0.5 * (spare - 0.5 * cube * layers);
    for axis in (0..3).filter(|&axis| periods[axis].is_some()) {
        first[axis] = bounds.min[axis] + 0.25 * cube;
    }
    // Sites are at a quarter and three quarters of a cell, so that jitter never leaves it.
    let cells = Aabb::new(first - 0.25 * cube, bounds.max);
    let deep = largest * (1.0 + JITTER);
    let blocks = octree::blocks(shape, cells, f64::from(BLOCK) * cube, radii.min(), deep);
    progress(0.1);
    let parts: Vec<Particles> = blocks
        .par_iter()
        .map(|&(corner, containment)| {
            let mut part = Particles::default();
            for k in 0..BLOCK.pow(3) {
                let cell = BLOCK * corner + IVec3::new(k % BLOCK, k / BLOCK % BLOCK, k / (BLOCK * BLOCK));
                for site in 0..4u64 {
                    let offset = match site {
                        0 => DVec3::ZERO,
                        1 => DVec3::new(0.5, 0.5, 0.0),
                        2 => DVec3::new(0.5, 0.0, 0.5),
                        _ => DVec3::new(0.0, 0.5, 0.5),
                    };
                    let mut stream = Stream::of_cell(seed, cell, site);
                    let radius = radii.quantile(stream.unit());
                    let shake = JITTER * largest * in_unit_ball(&mut stream);
                    let p = first + cube * (cell.as_dvec3() + offset) + shake;
                    if containment == Containment::Inside || shape.distance(p) < -radius {
                        part.push(p, radius);
                    }
                }
            }
            part
        })
        .collect();
    let mut all = Particles::default();
    for part in parts {
        all.append(part);
    }
    all
}

fn in_unit_ball(stream: &mut Stream) -> DVec3 {
    loop {
        let p = 2.0 * stream.unit_cube() - 1.0;
        if p.length_squared() <= 1.0 {
            return p;
        }
    }
}
