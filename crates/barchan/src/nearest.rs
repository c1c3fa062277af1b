//! Nearest-neighbor search.

use glam::Vec3;

/// Slices up to this length are searched linearly.
const LEAF: usize = 8;

/// An implicit k-d tree: the median of a slice splits it along x, those of its halves along y, of their halves along z,
/// and so on.
pub(crate) struct Nearest {
    /// The points, with their indices.
    points: Vec<(Vec3, u32)>,
}

impl Nearest {
    /// Builds the tree of the finite points.
    pub fn new(points: &[Vec3]) -> Self {
        let finite = points.iter().copied().zip(0..).filter(|point| point.0.is_finite());
        let mut points: Vec<(Vec3, u32)> = finite.collect();
        part(&mut points, 0);
        Self { points }
    }

    /// Returns the index of the point nearest to `position`, the smallest one of several; `None` if there is no point.
    pub fn find(&self, position: Vec3) -> Option<usize> {
        let mut best = (f32::INFINITY, u32::MAX);
        search(&self.points, 0, position, &mut best);
        (best.1 != u32::MAX).then_some(best.1 as usize)
    }
}

fn part(points: &mut [(Vec3, u32)], axis: usize) {
    if points.len() <= LEAF {
        return;
    }
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
    let (low, high) = points.split_at_mut(middle);
    rayon::join(|| part(low, (axis + 1) % 3), || part(&mut high[1..], (axis + 1) % 3));
}

/// Improves `best`, squared distance [m²] and index, with the points of a slice.
fn search(points: &[(Vec3, u32)], axis: usize, position: Vec3, best: &mut (f32, u32)) {
    let mut see = |&(point, index): &(Vec3, u32)| {
        let found = (point.distance_squared(position), index);
        if found < *best {
            *best = found;
        }
    };
    if points.len() <= LEAF {
        points.iter().for_each(see);
        return;
    }
    let middle = points.len() / 2;
    see(&points[middle]);
    let beyond = position[axis] - points[middle].0[axis];
    let (low, high) = (&points[..middle], &points[middle + 1..]);
    let (near, far) = if beyond < 0.0 { (low, high) } else { (high, low) };
    search(near, (axis + 1) % 3, position, best);
    if beyond * beyond <= best.0 {
        search(far, (axis + 1) % 3, position, best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_is_that_of_brute_force() {
        let part = |k: u32, step: f64| (f64::from(k) * step).fract() as f32;
        let point = |k: u32| {
            Vec3::new(
                part(k, 0.754_877_666),
                part(k, 0.569_840_29),
                0.1 * part(k, 0.618_033_988),
            )
        };
        let mut points: Vec<Vec3> = (0..700).map(point).collect();
        // A duplicate, and one that is never nearest.
        points.extend([points[3], Vec3::NAN]);
        let tree = Nearest::new(&points);
        for k in 1000..1500 {
            let position = 3.0 * point(k) - 1.0;
            let distance = |i: &usize| points[*i].distance_squared(position);
            let expected = (0..701).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(tree.find(position), expected);
        }
        assert_eq!(tree.find(points[3]), Some(3));
        assert_eq!(Nearest::new(&[]).find(Vec3::ZERO), None);
    }
}
