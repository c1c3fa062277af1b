//! Union, subtraction and intersection, sharp or with a fillet.
//!
//! With a smooth radius c, the distance d of a union of distances a_i solves
//!
//! ```text
//! sum of max(0, d + c - a_i)^2 over i = c^2
//! ```
//!
//! which is the smallest a_i where the others are c or more above it. Where two faces meet at a right angle its surface
//! is a circular fillet of radius c, where three do, a sphere. Its gradient is a weighted mean of the gradients of the
//! a_i, so it is 1-Lipschitz, and therefore never exceeds the distance to its own surface. It does not depend on the
//! order of the shapes. Smoothing a union fills its inner edges, by at most c (1 - 1/sqrt(n)) where n shapes meet;
//! smoothing a subtraction or an intersection rounds its outer edges by the same amount.

use std::sync::Arc;

use glam::DVec3;

use super::box_tree::BoxTree;
use super::error::not_negative;
use super::{ShapeError, unit};
use crate::mesh::FlatSolid;
use crate::{Aabb, Shape, central_difference_normal};

/// The points inside any of the shapes.
#[derive(Clone, Debug)]
pub struct Union {
    parts: Vec<Part>,
    tree: BoxTree,
    bounds: Aabb,
    smooth: f64,
}

/// The points inside the first shape and outside all others.
#[derive(Clone, Debug)]
pub struct Subtract {
    first: Part,
    others: Vec<Part>,
    tree: BoxTree,
    smooth: f64,
}

/// The points inside all shapes.
#[derive(Clone, Debug)]
pub struct Intersect {
    parts: Vec<Part>,
    smooth: f64,
}

impl Union {
    /// Creates the union of `shapes`, its inner edges filled with radius `smooth` [m]; zero leaves them sharp.
    pub fn new(shapes: Vec<Arc<dyn Shape>>, smooth: f64) -> Result<Self, ShapeError> {
        let smooth = not_negative("smooth", smooth)?;
        if shapes.is_empty() {
            return Err(ShapeError::Empty { what: "union" });
        }
        let parts: Vec<Part> = shapes.into_iter().map(Part::new).collect();
        let filled = smooth * (1.0 - 1.0 / (parts.len().min(MAX_BLENDED) as f64).sqrt());
        let around = parts.iter().fold(Aabb::EMPTY, |b, part| b.union(&part.bounds));
        Ok(Self {
            tree: tree_of(&parts),
            bounds: around.grown(filled),
            parts,
            smooth,
        })
    }

    fn nearest(&self, p: DVec3) -> Least {
        let mut least = Least::new(self.smooth);
        self.tree
            .search(p, |index| least.consider(index, &self.parts[index], p));
        least
    }
}

impl Shape for Union {
    fn distance(&self, p: DVec3) -> f64 {
        self.nearest(p).blend().0
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let least = self.nearest(p);
        match least.blend() {
            (_, 1) => self.parts[least.first].normal(p),
            _ => central_difference_normal(self, p),
        }
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        flat_solids(&self.parts, self.smooth, tolerance).map(FlatSolid::Union)
    }
}

impl Subtract {
    /// Creates the first of `shapes` without the others, its new edges rounded with radius `smooth` [m]; zero leaves
    /// them sharp.
    pub fn new(shapes: Vec<Arc<dyn Shape>>, smooth: f64) -> Result<Self, ShapeError> {
        let smooth = not_negative("smooth", smooth)?;
        let mut parts = shapes.into_iter().map(Part::new);
        let first = parts.next().ok_or(ShapeError::Empty { what: "subtract" })?;
        let others: Vec<Part> = parts.collect();
        Ok(Self {
            first,
            tree: tree_of(&others),
            others,
            smooth,
        })
    }

    /// Offers the inverted first shape, and then the others: the complement of the solid.
    fn nearest(&self, p: DVec3) -> Least {
        let mut least = Least::new(self.smooth);
        least.offer(0, -self.first.distance(p));
        self.tree
            .search(p, |index| least.consider(index + 1, &self.others[index], p));
        least
    }
}

impl Shape for Subtract {
    fn distance(&self, p: DVec3) -> f64 {
        -self.nearest(p).blend().0
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let least = self.nearest(p);
        match (least.blend(), least.first) {
            ((_, 1), 0) => self.first.normal(p),
            ((_, 1), index) => -self.others[index - 1].normal(p),
            _ => central_difference_normal(self, p),
        }
    }

    fn bounds(&self) -> Aabb {
        self.first.bounds
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        let parts = std::iter::once(&self.first).chain(&self.others);
        flat_solids(parts, self.smooth, tolerance).map(FlatSolid::Subtract)
    }
}

impl Intersect {
    /// Creates the intersection of all `shapes`, its new edges rounded with radius `smooth` [m]; zero leaves them
    /// sharp.
    pub fn new(shapes: Vec<Arc<dyn Shape>>, smooth: f64) -> Result<Self, ShapeError> {
        let smooth = not_negative("smooth", smooth)?;
        if shapes.is_empty() {
            return Err(ShapeError::Empty { what: "intersect" });
        }
        let parts = shapes.into_iter().map(Part::new).collect();
        Ok(Self { parts, smooth })
    }

    fn nearest(&self, p: DVec3) -> Least {
        let mut least = Least::new(self.smooth);
        for (index, part) in self.parts.iter().enumerate() {
            least.offer(index, -part.distance(p));
        }
        least
    }
}

impl Shape for Intersect {
    fn distance(&self, p: DVec3) -> f64 {
        -self.nearest(p).blend().0
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let least = self.nearest(p);
        match least.blend() {
            (_, 1) => self.parts[least.first].normal(p),
            _ => central_difference_normal(self, p),
        }
    }

    fn bounds(&self) -> Aabb {
        let shared = |b: Aabb, part: &Part| b.intersection(&part.bounds);
        self.parts.iter().fold(Aabb::UNBOUNDED, shared)
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        flat_solids(&self.parts, self.smooth, tolerance).map(FlatSolid::Intersect)
    }
}

/// Returns the polyhedra of all parts of a sharp composition, if each has one.
fn flat_solids<'a>(parts: impl IntoIterator<Item = &'a Part>, smooth: f64, tolerance: f64) -> Option<Vec<FlatSolid>> {
    if smooth > 0.0 {
        return None;
    }
    parts.into_iter().map(|part| part.shape.flat_solid(tolerance)).collect()
}

/// A shape and its box. Outside the box the distance is at least that to the box: this tightens loose bounds, keeps
/// fillets near the shapes, and saves queries of shapes far away.
#[derive(Clone, Debug)]
struct Part {
    shape: Arc<dyn Shape>,
    bounds: Aabb,
}

impl Part {
    fn new(shape: Arc<dyn Shape>) -> Self {
        let bounds = shape.bounds();
        Self { shape, bounds }
    }

    /// Returns `p` relative to the nearest point of the box; zero inside it.
    fn beyond_bounds(&self, p: DVec3) -> DVec3 {
        if self.bounds.is_empty() {
            return DVec3::ZERO;
        }
        p - p.clamp(self.bounds.min, self.bounds.max)
    }

    fn distance(&self, p: DVec3) -> f64 {
        self.distance_below(f64::INFINITY, p).unwrap_or(f64::INFINITY)
    }

    /// Returns the distance, or `None` if the box alone shows that it is more than `reach`. Inside the box there is no
    /// such bound: the distance may be negative, and so may `reach`.
    fn distance_below(&self, reach: f64, p: DVec3) -> Option<f64> {
        let outside = self.beyond_bounds(p).length();
        if outside == 0.0 {
            return Some(self.shape.distance(p));
        }
        (outside <= reach).then(|| self.shape.distance(p).max(outside))
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let beyond = self.beyond_bounds(p);
        if beyond != DVec3::ZERO && beyond.length() > self.shape.distance(p) {
            unit(beyond).unwrap_or(DVec3::Z)
        } else {
            self.shape.normal(p)
        }
    }
}

fn tree_of(parts: &[Part]) -> BoxTree {
    BoxTree::new(&parts.iter().map(|part| part.bounds).collect::<Vec<_>>())
}

/// Largest number of shapes that share one fillet; where more meet, the nearest do.
const MAX_BLENDED: usize = 8;

/// The smallest of the distances offered, in order.
struct Least {
    smooth: f64,
    values: [f64; MAX_BLENDED],
    count: usize,
    /// Index of the smallest; of equal ones, the first in the list.
    first: usize,
}

impl Least {
    fn new(smooth: f64) -> Self {
        let values = [f64::INFINITY; MAX_BLENDED];
        Self {
            smooth,
            values,
            count: 0,
            first: 0,
        }
    }

    /// Returns the distance [m] from which on further shapes change nothing.
    fn reach(&self) -> f64 {
        self.values[0] + self.smooth
    }

    /// Offers the distance of a part, unless its box is out of reach; returns the new reach [m].
    fn consider(&mut self, index: usize, part: &Part, p: DVec3) -> f64 {
        if let Some(distance) = part.distance_below(self.reach(), p) {
            self.offer(index, distance);
        }
        self.reach()
    }

    fn offer(&mut self, index: usize, value: f64) {
        let slot = self.values[..self.count].partition_point(|&v| v <= value);
        if slot < MAX_BLENDED {
            self.values[slot..].rotate_right(1);
            self.values[slot] = value;
            self.count = (self.count + 1).min(MAX_BLENDED);
        }
        if slot == 0 || value == self.values[0] && index < self.first {
            self.first = index;
        }
    }

    /// Returns the smooth minimum [m] (equation at the top of the file) and the number of distances in it.
    fn blend(&self) -> (f64, usize) {
        let least = self.values[0];
        let (mut count, mut sum, mut squares, mut level) = (1.0, 0.0, 0.0, self.smooth);
        // Infinite distances have nothing to blend.
        if least == f64::INFINITY {
            return (least, 1);
        }
        for above in self.values[1..self.count].iter().map(|v| v - least) {
            // It adds nothing to the sum, and neither do the larger ones after it.
            if above >= level {
                break;
            }
            count += 1.0;
            sum += above;
            squares += above * above;
            let root = sum * sum - count * (squares - self.smooth * self.smooth);
            level = (sum + root.max(0.0).sqrt()) / count;
        }
        (least + (level - self.smooth), count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cuboid, HalfSpace, Sphere, Transformed};
    use super::*;

    fn wall(axis: DVec3) -> Arc<dyn Shape> {
        Arc::new(HalfSpace::new(axis, 0.0).unwrap())
    }

    fn ball(radius: f64, at: DVec3) -> Arc<dyn Shape> {
        Arc::new(Transformed::moved(Arc::new(Sphere::new(radius).unwrap()), at).unwrap())
    }

    #[test]
    fn a_smooth_union_of_two_walls_has_a_circular_fillet() {
        let corner = Union::new(vec![wall(DVec3::X), wall(DVec3::Y)], 0.5).unwrap();
        for degrees in 180..=270 {
            let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
            let on_arc = DVec3::new(0.5 + 0.5 * cos, 0.5 + 0.5 * sin, 3.0);
            assert!(corner.distance(on_arc).abs() < 1e-15);
        }
        assert_eq!(corner.distance(DVec3::new(0.1, 0.7, 0.0)), 0.1);
    }

    #[test]
    fn a_smooth_intersection_of_three_walls_has_a_spherical_corner() {
        let corner = Intersect::new(vec![wall(DVec3::X), wall(DVec3::Y), wall(DVec3::Z)], 0.5).unwrap();
        for outward in [
            DVec3::ONE,
            DVec3::new(1.0, 2.0, 3.0),
            DVec3::new(0.1, 3.0, 0.2),
            DVec3::X,
        ] {
            let on_sphere = DVec3::splat(-0.5) + 0.5 * outward.normalize();
            assert!(corner.distance(on_sphere).abs() < 1e-15, "{outward}");
        }
    }

    #[test]
    fn a_smooth_subtraction_is_the_smooth_intersection_with_the_outside() {
        let cut = Subtract::new(vec![wall(DVec3::X), wall(DVec3::NEG_Y)], 0.3).unwrap();
        let kept = Intersect::new(vec![wall(DVec3::X), wall(DVec3::Y)], 0.3).unwrap();
        for p in [
            DVec3::new(-0.1, -0.2, 0.0),
            DVec3::new(0.1, -0.05, 0.0),
            DVec3::new(-1.0, 0.1, 0.0),
        ] {
            assert_eq!(cut.distance(p), kept.distance(p));
        }
    }

    #[test]
    fn the_triangles_of_a_box_cut_by_a_slope_are_its_surface() {
        let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -0.5, 1.1);
        let stretch = DVec3::new(1.0, 2.0, 0.5);
        let slope = Transformed::new(
            wall(DVec3::new(1.0, 1.0, 2.0)),
            DVec3::new(0.1, 0.2, -0.1),
            turn,
            stretch,
        )
        .unwrap();
        let cuboid = Arc::new(Cuboid::new(DVec3::new(2.0, 3.0, 1.0)).unwrap());
        let parts = || vec![Arc::new(slope.clone()) as Arc<dyn Shape>, cuboid.clone()];
        let cut = Intersect::new(parts(), 0.0).unwrap();
        let surface = cut.triangles().unwrap();
        let middle = |t: usize| surface.corners(t).into_iter().sum::<DVec3>() / 3.0;
        let places = surface
            .vertices
            .iter()
            .copied()
            .chain((0..surface.triangles.len()).map(middle));
        for p in places {
            assert!(cut.distance(p).abs() < 1e-12, "{p}");
        }
        let volume = crate::mass::of_shape(&cut, 1e-3).unwrap().volume;
        let found = crate::mesh::mass_properties(&surface).volume;
        assert!((found - volume).abs() < 2e-3 * volume, "{found} and {volume} m³");
        assert!(Intersect::new(parts(), 0.1).unwrap().triangles().is_none());
    }

    #[test]
    fn the_order_of_the_shapes_changes_nothing() {
        let balls: Vec<_> = (0..12)
            .map(|k| {
                ball(
                    0.5,
                    DVec3::new((f64::from(k) * 2.4).cos(), (f64::from(k) * 2.4).sin(), 0.0),
                )
            })
            .collect();
        let mut reversed = balls.clone();
        reversed.reverse();
        let (one, other) = (Union::new(balls, 0.4).unwrap(), Union::new(reversed, 0.4).unwrap());
        for k in 0..100 {
            let p = DVec3::new(
                (f64::from(k) * 0.7).sin(),
                (f64::from(k) * 1.1).cos(),
                0.01 * f64::from(k),
            );
            assert_eq!(one.distance(p), other.distance(p));
        }
    }

    #[test]
    fn a_union_of_many_shapes_answers_as_all_of_them_would() {
        let point = |k: u64| 4.0 * crate::random::Stream::new(1, k).unit_cube();
        let balls: Vec<_> = (0..300).map(|k| ball(0.3, point(k))).chain([wall(DVec3::Z)]).collect();
        let all: Vec<Part> = balls.iter().cloned().map(Part::new).collect();
        let cube: Arc<dyn Shape> = Arc::new(Cuboid::new(DVec3::splat(9.0)).unwrap());
        for smooth in [0.0, 0.2] {
            let union = Union::new(balls.clone(), smooth).unwrap();
            let cut = Subtract::new([vec![cube.clone()], balls.clone()].concat(), smooth).unwrap();
            for k in 0..500 {
                let p = point(1000 + k) * 1.5 - 1.0;
                let mut least = Least::new(smooth);
                all.iter()
                    .enumerate()
                    .for_each(|(k, part)| least.offer(k, part.distance(p)));
                assert_eq!(union.nearest(p).blend(), least.blend());
                assert_eq!(union.nearest(p).first, least.first);
                let mut around = Least::new(smooth);
                around.offer(0, -cube.distance(p));
                all.iter()
                    .enumerate()
                    .for_each(|(k, part)| around.offer(k + 1, part.distance(p)));
                assert_eq!(cut.distance(p), -around.blend().0);
            }
        }
    }

    #[test]
    fn distances_too_large_for_a_number_do_not_panic() {
        let far = |x: f64| ball(1.0, DVec3::X * x);
        for (parts, smooth) in [(vec![far(0.0), far(0.5)], 1e308), (vec![far(0.0), far(1e308)], 0.0)] {
            let union = Union::new(parts.clone(), smooth).unwrap();
            let cut = Subtract::new(parts.clone(), smooth).unwrap();
            let common = Intersect::new(parts, smooth).unwrap();
            for p in [
                DVec3::ZERO,
                DVec3::splat(1e307),
                DVec3::splat(-1e308),
                union.bounds().center(),
            ] {
                for shape in [&union as &dyn Shape, &cut, &common] {
                    shape.distance(p);
                    shape.normal(p);
                }
            }
            assert!(union.distance(DVec3::splat(-1e308)) > 0.0);
        }
    }

    #[test]
    fn a_union_answers_like_its_nearest_shape_and_a_subtraction_opens_a_hole() {
        let (near, far) = (ball(1.0, DVec3::ZERO), ball(1.0, 5.0 * DVec3::X));
        let union = Union::new(vec![near.clone(), far.clone()], 0.0).unwrap();
        assert_eq!(union.distance(4.5 * DVec3::X), -0.5);
        assert_eq!(union.distance(2.0 * DVec3::X), 1.0);
        assert_eq!(union.bounds(), Aabb::new(DVec3::splat(-1.0), DVec3::new(6.0, 1.0, 1.0)));
        let nested = Union::new(vec![near.clone(), ball(4.0, DVec3::ZERO)], 0.0).unwrap();
        assert_eq!(nested.distance(0.5 * DVec3::X), -3.5);
        let gone = Subtract::new(vec![near.clone(), ball(4.0, DVec3::ZERO)], 0.0).unwrap();
        assert_eq!(gone.distance(2.0 * DVec3::X), 2.0);
        let hole = Subtract::new(vec![near, ball(0.5, DVec3::ZERO)], 0.0).unwrap();
        assert_eq!(hole.distance(DVec3::ZERO), 0.5);
        assert_eq!(hole.distance(0.625 * DVec3::X), -0.125);
    }

    #[test]
    fn compositions_of_nothing_and_impossible_radii_are_refused() {
        assert!(matches!(
            Union::new(vec![], 0.0),
            Err(ShapeError::Empty { what: "union" })
        ));
        assert!(matches!(
            Subtract::new(vec![], 0.0),
            Err(ShapeError::Empty { what: "subtract" })
        ));
        assert!(matches!(
            Intersect::new(vec![], 0.0),
            Err(ShapeError::Empty { what: "intersect" })
        ));
        for smooth in [-0.1, f64::NAN, f64::INFINITY] {
            let union = Union::new(vec![wall(DVec3::X)], smooth);
            assert!(
                matches!(union, Err(ShapeError::Value { what: "smooth", .. })),
                "{union:?}"
            );
        }
    }

    #[test]
    fn shapes_that_share_nothing_have_no_inside() {
        let none = Intersect::new(vec![ball(1.0, DVec3::ZERO), ball(1.0, 5.0 * DVec3::X)], 0.0).unwrap();
        assert!(none.bounds().is_empty());
        let with_ball = Union::new(vec![Arc::new(none), ball(1.0, DVec3::ZERO)], 0.1).unwrap();
        assert!(with_ball.distance(DVec3::ZERO) < 0.0);
        assert!(with_ball.distance(2.5 * DVec3::X) > 0.0);
    }
}
