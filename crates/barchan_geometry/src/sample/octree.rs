//! Classifies blocks of space by the distance at their centers.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use crate::{Aabb, Shape};

/// Classification of a block by the distance at its center.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Containment {
    /// No point of it is deep enough.
    Outside,
    /// Some points may be deep enough.
    Border,
    /// Every point is deep enough.
    Inside,
}

/// Classifies a cube (center [m], half side [m]): outside if no point is `shallow` [m] below the surface, inside if all
/// are at least `deep` [m] below. Correct because the distance changes by no more than the displacement.
pub(super) fn classify(shape: &dyn Shape, center: DVec3, half: f64, shallow: f64, deep: f64) -> Containment {
    let reach = half * 3f64.sqrt();
    let distance = shape.distance_within(center, reach + deep);
    // So near the surface the sign, which may be expensive, decides nothing.
    if distance <= reach - shallow {
        return Containment::Border;
    }
    match shape.is_inside(center) {
        false => Containment::Outside,
        true if distance >= reach + deep => Containment::Inside,
        true => Containment::Border,
    }
}

/// Returns all blocks of side `side` [m], counted from the smallest corner of `bounds`, that may contain points at
/// least `shallow` [m] deep, in a fixed order; `Inside` if all their points are at least `deep` [m] deep.
pub(super) fn blocks(shape: &dyn Shape, bounds: Aabb, side: f64, shallow: f64, deep: f64) -> Vec<(IVec3, Containment)> {
    let count = (bounds.size() / side).ceil().max(DVec3::ONE);
    let levels = count.max_element().log2().ceil() as u32;
    let mut nodes = vec![(IVec3::ZERO, Containment::Border)];
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
                let containment = match known {
                    Containment::Border => classify(shape, center, half, shallow, deep),
                    known => known,
                };
                (corner, containment)
            })
            .filter(|(_, containment)| *containment != Containment::Outside)
            .collect();
    }
    nodes
}

/// Estimates the volume [m³] deeper than `depth` [m], within a few percent for shapes that are not thin: blocks
/// entirely inside in full, the octants of border blocks by the distance at their centers.
pub(super) fn volume(shape: &dyn Shape, depth: f64) -> f64 {
    let bounds = shape.bounds();
    let side = bounds.size().max_element() / 48.0;
    if bounds.is_empty() || side <= 0.0 {
        return 0.0;
    }
    let parts: Vec<f64> = blocks(shape, bounds, side, depth, depth)
        .par_iter()
        .map(|&(corner, containment)| match containment {
            Containment::Inside => 1.0,
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

/// Largest number of blocks that [`room_for`] visits.
const MAX_BLOCKS: usize = 200_000;
/// Rounding of depths [-].
const ROUNDING: f64 = 1e-9;

/// Finds a point at least `depth` [m] deep, if there is one: the blocks that may contain the deepest point are divided
/// first.
pub(super) fn room_for(shape: &dyn Shape, depth: f64) -> Option<DVec3> {
    let bounds = shape.bounds();
    if bounds.is_empty() || !bounds.is_finite() {
        return None;
    }
    let enough = depth * (1.0 - ROUNDING);
    let block = |center: DVec3, half: DVec3| Block {
        center,
        half,
        // No point of it is deeper: the distance changes by no more than the displacement.
        deepest: half.length() - shape.distance(center),
    };
    let mut open = BinaryHeap::from([block(bounds.center(), 0.5 * bounds.size())]);
    for _ in 0..MAX_BLOCKS {
        let best = open.pop().filter(|block| block.deepest >= enough)?;
        if best.deepest - best.half.length() >= enough {
            return Some(best.center);
        }
        let half = 0.5 * best.half;
        // Only the longest sides, so that blocks of thin shapes become cubes.
        let split = best.half.cmpgt(DVec3::splat(0.6 * best.half.max_element()));
        let half = DVec3::select(split, half, best.half);
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0;
        let children = (0..8).filter(|k| (0..3).all(|axis| split.test(axis) || k >> axis & 1 == 0));
        open.extend(children.map(|k| {
            let shift = DVec3::select(split, half * corner(k), DVec3::ZERO);
            block(best.center + shift, half)
        }));
    }
    None
}

/// A part of space that may contain a deep point.
struct Block {
    center: DVec3,
    /// Half of its sides [m].
    half: DVec3,
    /// Upper bound of the depth in it [m].
    deepest: f64,
}

impl Ord for Block {
    fn cmp(&self, other: &Self) -> Ordering {
        self.deepest.total_cmp(&other.deepest)
    }
}

impl PartialOrd for Block {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Block {}
