//! Judging blocks of space by the distance at their centres.

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use crate::{Aabb, Shape};

/// What the distance at its centre says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// No point of it is deep enough.
    Outside,
    /// Some may be.
    Border,
    /// Every point is deep enough.
    Inside,
}

/// Whether the points of a cube (centre [m], half side [m]) lie at least `shallow` to `deep` [m] below the surface. Right
/// because the distance changes by no more than the distance moved.
pub(super) fn place(shape: &dyn Shape, center: DVec3, half: f64, shallow: f64, deep: f64) -> Place {
    let reach = half * 3f64.sqrt();
    let distance = shape.distance_within(center, reach + deep);
    // So near the surface the sign, which may be dear, decides nothing.
    if distance <= reach - shallow {
        return Place::Border;
    }
    match shape.is_inside(center) {
        false => Place::Outside,
        true if distance >= reach + deep => Place::Inside,
        true => Place::Border,
    }
}

/// All blocks of side `side` [m], counted from the least corner of `bounds`, that may hold points at least `shallow` [m]
/// deep, in a fixed order; `Inside` if all their points are at least `deep` [m] deep.
pub(super) fn blocks(shape: &dyn Shape, bounds: Aabb, side: f64, shallow: f64, deep: f64) -> Vec<(IVec3, Place)> {
    let count = (bounds.size() / side).ceil().max(DVec3::ONE);
    let levels = count.max_element().log2().ceil() as u32;
    let mut nodes = vec![(IVec3::ZERO, Place::Border)];
    for level in (0..=levels).rev() {
        let cells = 1i32 << level;
        nodes = nodes
            .into_par_iter()
            .flat_map_iter(|(parent, known)| {
                let children = if level == levels { 1 } else { 8 };
                (0..children).map(move |k| {
                    let corner = parent + cells * IVec3::new(k & 1, k >> 1 & 1, k >> 2);
                    (corner, known)
                })
            })
            .filter(|(corner, _)| corner.as_dvec3().cmplt(count).all())
            .map(|(corner, known)| {
                let half = 0.5 * side * f64::from(cells);
                let center = bounds.min + side * corner.as_dvec3() + half;
                let place = match known {
                    Place::Border => place(shape, center, half, shallow, deep),
                    known => known,
                };
                (corner, place)
            })
            .filter(|(_, place)| *place != Place::Outside)
            .collect();
    }
    nodes
}

/// An estimate of the volume [m³] deeper than `depth` [m], within a few per cent for shapes that are not thin: blocks wholly
/// inside in full, the eighths of border blocks by the distance at their centres.
pub(super) fn volume(shape: &dyn Shape, depth: f64) -> f64 {
    let bounds = shape.bounds();
    let side = bounds.size().max_element() / 48.0;
    if bounds.is_empty() || side <= 0.0 {
        return 0.0;
    }
    let parts: Vec<f64> = blocks(shape, bounds, side, depth, depth)
        .par_iter()
        .map(|&(corner, place)| match place {
            Place::Inside => 1.0,
            _ => (0..8)
                .map(|k| {
                    let part = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
                    let p = bounds.min + side * (corner.as_dvec3() + 0.25 + 0.5 * part);
                    (0.5 - (shape.distance(p) + depth) / (0.5 * side)).clamp(0.0, 1.0) / 8.0
                })
                .sum(),
        })
        .collect();
    parts.iter().sum::<f64>() * side.powi(3)
}
