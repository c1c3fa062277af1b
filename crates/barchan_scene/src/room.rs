//! Tests for room in a shape, by halving blocks of space and bounding each by the distance at its center.

use barchan_geometry::{Aabb, Shape};
use glam::DVec3;

/// Blocks looked at before the search gives up.
const PATIENCE: usize = 200_000;

/// Returns true if a ball of `radius` [m] fits into a bounded `shape`, to a hundredth of the radius.
pub(crate) fn fits(shape: &dyn Shape, radius: f64) -> bool {
    is_deeper(shape.bounds(), 0.99 * radius, 0.01 * radius, |p| shape.distance(p)).unwrap_or(true)
}

/// Returns true if two bounded shapes have a point in common that lies at least `depth` [m] inside both.
pub(crate) fn overlap(a: &dyn Shape, b: &dyn Shape, depth: f64) -> bool {
    common_depth(a, b, depth).unwrap_or(true)
}

/// The same, but no if the search gives up.
pub(crate) fn is_overlap_found(a: &dyn Shape, b: &dyn Shape, depth: f64) -> bool {
    common_depth(a, b, depth).unwrap_or(false)
}

fn common_depth(a: &dyn Shape, b: &dyn Shape, depth: f64) -> Option<bool> {
    let common = a.bounds().intersection(&b.bounds());
    is_deeper(common, depth, 0.5 * depth, |p| a.distance(p).max(b.distance(p)))
}

/// Returns true if some point of `bounds` is at least `depth` [m] inside, searched down to blocks of radius `finest`
/// [m]; none if the search gives up.
fn is_deeper(bounds: Aabb, depth: f64, finest: f64, distance: impl Fn(DVec3) -> f64) -> Option<bool> {
    if bounds.is_empty() {
        return Some(false);
    }
    let mut blocks = vec![bounds];
    let mut looked = 0;
    // The deepest side first: where a block is deep, its parts are.
    while let Some(block) = blocks.pop() {
        let inside = -distance(block.center());
        if inside >= depth {
            return Some(true);
        }
        let reach = 0.5 * block.size().length();
        looked += 1;
        if looked > PATIENCE {
            return None;
        }
        if inside + reach < depth || reach < finest {
            continue;
        }
        let size = block.size();
        let axis = if size.x >= size.y.max(size.z) {
            DVec3::X
        } else if size.y >= size.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let half = 0.5 * size * axis;
        blocks.push(Aabb::new(block.min, block.max - half));
        blocks.push(Aabb::new(block.min + half, block.max));
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barchan_geometry::shapes::{Cuboid, Sphere, Transformed};

    use super::*;

    #[test]
    fn a_ball_fits_up_to_the_radius_of_the_largest_inside() {
        let slab = Cuboid::new(DVec3::new(2.0, 1.0, 0.3)).unwrap();
        assert!(fits(&slab, 0.149));
        assert!(!fits(&slab, 0.155));
    }

    #[test]
    fn touching_shapes_do_not_overlap_and_sunk_ones_do() {
        let ball = |x: f64| Transformed::moved(Arc::new(Sphere::new(1.0).unwrap()), DVec3::X * x).unwrap();
        assert!(!overlap(&ball(0.0), &ball(2.0), 0.01));
        assert!(overlap(&ball(0.0), &ball(1.9), 0.01));
        assert!(!overlap(&ball(0.0), &ball(1.9), 0.06));
    }
}
