//! Signed distance of bodies, the query that all solvers and the refiner share.

use std::sync::Arc;

use barchan_geometry::random::Stream;
use barchan_geometry::sdf_grid::SdfGrid;
use barchan_geometry::{Aabb, Shape};
use glam::DVec3;

use crate::{Body, Boundary};

/// Faces of one body that a sphere can touch at once: a corner has three.
const MOST_FACES: usize = 3;
/// Cosine of the angle between two normals [-] above which they belong to one face.
const SAME_FACE: f64 = 0.9;
/// Positions at which an unbounded solid is compared with a half-space.
const PROBES: u64 = 16;

/// Signed distance of a body in the body's frame: interpolated on its grid, that of its shape, or that of a half-space.
///
/// Bodies whose boundary is particles have the distance of their shape here.
#[derive(Clone, Debug)]
pub struct BodyDistance {
    source: Source,
    bounds: Aabb,
}

#[derive(Clone, Debug)]
enum Source {
    Field(Arc<SdfGrid>),
    Exact(Arc<dyn Shape>),
    /// distance = normal · p - height.
    HalfSpace {
        normal: DVec3,
        height: f64,
        shape: Arc<dyn Shape>,
    },
}

/// A face of a body near a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal [-].
    pub normal: DVec3,
    /// Distance from the sphere's surface to the face [m]; negative where they overlap.
    pub gap: f64,
}

/// Extent of the search for the faces that a sphere touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceSearch {
    /// Radius of the sphere [m].
    pub radius: f64,
    /// Largest gap of a face that is visited [m].
    pub slack: f64,
    /// Distance beyond `slack` [m] that the query point is moved away from a face before it looks for another.
    pub away: f64,
}

impl BodyDistance {
    /// Creates the distance of `body`.
    pub fn new(body: &Body) -> Self {
        let source = match &body.boundary {
            Boundary::Field(grid) => Source::Field(grid.clone()),
            Boundary::Exact(shape) => half_space(shape).unwrap_or_else(|| Source::Exact(shape.clone())),
            Boundary::Particles { .. } => Source::Exact(body.shape.clone()),
        };
        Self {
            source,
            bounds: body.shape.bounds(),
        }
    }

    /// Checks whether this is still the distance of `body`.
    pub fn is_of(&self, body: &Body) -> bool {
        match (&self.source, &body.boundary) {
            (Source::Field(a), Boundary::Field(b)) => Arc::ptr_eq(a, b),
            (Source::Exact(a) | Source::HalfSpace { shape: a, .. }, Boundary::Exact(b)) => Arc::ptr_eq(a, b),
            (Source::Exact(a), Boundary::Particles { .. }) => Arc::ptr_eq(a, &body.shape),
            _ => false,
        }
    }

    /// Returns the solid whose distance this is: the grid's or the body's.
    pub fn solid(&self) -> &dyn Shape {
        match &self.source {
            Source::Field(grid) => &**grid,
            Source::Exact(shape) | Source::HalfSpace { shape, .. } => &**shape,
        }
    }

    /// Returns the grid, if the distance is interpolated.
    #[inline]
    pub fn field(&self) -> Option<&SdfGrid> {
        match &self.source {
            Source::Field(grid) => Some(grid),
            Source::Exact(_) | Source::HalfSpace { .. } => None,
        }
    }

    /// Returns the largest distance of a point of the body from `center` [m], infinite for unbounded bodies.
    pub fn extent(&self, center: DVec3) -> f64 {
        extent(&self.bounds, center)
    }

    /// Returns the distance [m] from `p` [m] to the body's bounds, 0 inside.
    #[inline]
    pub fn to_bounds(&self, p: DVec3) -> f64 {
        (p - p.clamp(self.bounds.min, self.bounds.max)).length()
    }

    /// Returns the signed distance [m] at `p` [m].
    #[inline]
    pub fn distance(&self, p: DVec3) -> f64 {
        match &self.source {
            Source::Field(grid) => grid.distance(p),
            Source::Exact(shape) => shape.distance(p),
            Source::HalfSpace { normal, height, .. } => normal.dot(p) - height,
        }
    }

    /// Returns the signed distance [m] and the outward unit normal [-] at `p` [m].
    #[inline]
    pub fn distance_and_normal(&self, p: DVec3) -> (f64, DVec3) {
        match &self.source {
            Source::Field(grid) => grid.distance_and_normal(p),
            Source::Exact(shape) => shape.distance_and_normal(p),
            Source::HalfSpace { normal, height, .. } => (normal.dot(p) - height, *normal),
        }
    }

    /// Returns a lower bound of the distance [m] from `p` [m] to the surface, negative inside.
    pub fn clearance(&self, p: DVec3) -> f64 {
        let distance = match &self.source {
            Source::Field(grid) => grid.clearance(p),
            Source::Exact(_) | Source::HalfSpace { .. } => self.distance(p),
        };
        distance.max(self.to_bounds(p))
    }

    /// Visits up to three faces within reach of a sphere around `p` [m], with their numbers from 0 on. `first` is the distance [m] and the
    /// normal [-] of the nearest one.
    #[inline]
    pub fn faces(&self, p: DVec3, search: FaceSearch, first: (f64, DVec3), mut visit: impl FnMut(usize, Face)) {
        let FaceSearch { radius, slack, away } = search;
        let (mut distance, mut normal) = first;
        let mut normals = [DVec3::ZERO; MOST_FACES];
        let mut probed = p;
        for k in 0..MOST_FACES {
            if k > 0 {
                if self.distance(probed) - radius > slack {
                    return;
                }
                (distance, normal) = self.distance_and_normal(probed);
            }
            if distance - radius > slack || normals[..k].iter().any(|n| n.dot(normal) > SAME_FACE) {
                return;
            }
            // The query point was moved away from the faces before this one.
            let gap = distance - radius + normal.dot(p - probed);
            if gap < slack {
                visit(k, Face { normal, gap });
            }
            if let Source::HalfSpace { .. } = self.source {
                return;
            }
            normals[k] = normal;
            // Another face shows itself where the sphere just leaves those found.
            probed += normal * (radius + slack - distance + away);
        }
    }
}

/// Returns the largest distance of a point of `bounds` from `center` [m], infinite for unbounded ones.
pub fn extent(bounds: &Aabb, center: DVec3) -> f64 {
    (bounds.max - center).abs().max((bounds.min - center).abs()).length()
}

/// Returns the half-space that `shape` is, if it is one.
fn half_space(shape: &Arc<dyn Shape>) -> Option<Source> {
    let (at_origin, normal) = shape.distance_and_normal(DVec3::ZERO);
    let size = 1.0 + at_origin.abs();
    let mut probes = (0..PROBES).map(|k| (2.0 * Stream::new(0, k).unit_cube() - DVec3::ONE) * size);
    let same = probes.all(|p| (shape.distance(p) - at_origin - normal.dot(p)).abs() <= 1e-9 * size);
    (same && !shape.bounds().is_finite()).then(|| Source::HalfSpace {
        normal,
        height: -at_origin,
        shape: shape.clone(),
    })
}

#[cfg(test)]
mod tests {
    use barchan_geometry::shapes::{Cuboid, HalfSpace, Sphere};

    use super::*;
    use crate::images::tests::body;

    const SEARCH: FaceSearch = FaceSearch {
        radius: 0.1,
        slack: 0.0,
        away: 0.0,
    };

    fn faces(distance: &BodyDistance, p: DVec3) -> Vec<Face> {
        let mut found = Vec::new();
        distance.faces(p, SEARCH, distance.distance_and_normal(p), |_, face| found.push(face));
        found
    }

    #[test]
    fn a_half_space_is_recognized_and_has_the_distance_of_its_shape() {
        let ground = body(HalfSpace::new(DVec3::new(0.3, -0.2, 0.9), 0.7).unwrap(), 0.0);
        let distance = BodyDistance::new(&ground);
        assert!(matches!(distance.source, Source::HalfSpace { .. }));
        for k in 0..100 {
            let p = 10.0 * (Stream::new(3, k).unit_cube() - 0.5);
            assert_eq!(distance.distance_and_normal(p), ground.shape.distance_and_normal(p));
            assert_eq!(distance.distance(p), ground.shape.distance(p));
        }
        let ball = BodyDistance::new(&body(Sphere::new(0.5).unwrap(), 0.0));
        assert!(matches!(ball.source, Source::Exact(_)));
    }

    #[test]
    fn a_sphere_touches_as_many_faces_as_it_overlaps() {
        let cuboid = BodyDistance::new(&body(Cuboid::new(DVec3::ONE).unwrap(), 0.0));
        let above = faces(&cuboid, DVec3::new(0.0, 0.0, 0.55));
        assert_eq!(above.len(), 1);
        assert!((above[0].gap + 0.05).abs() < 1e-12 && above[0].normal == DVec3::Z);
        assert!(faces(&cuboid, DVec3::new(0.0, 0.0, 0.61)).is_empty());
        let ground = BodyDistance::new(&body(HalfSpace::new(DVec3::Z, 0.0).unwrap(), 0.0));
        assert_eq!(faces(&ground, DVec3::new(3.0, 4.0, 0.02)).len(), 1);
    }

    #[test]
    fn in_a_corner_of_walls_three_faces_are_found() {
        /// Everything but the octant where all coordinates are positive.
        #[derive(Debug)]
        struct Corner;
        impl Shape for Corner {
            fn distance(&self, p: DVec3) -> f64 {
                p.min_element()
            }
            fn bounds(&self) -> Aabb {
                Aabb::UNBOUNDED
            }
        }
        let corner = BodyDistance::new(&body(Corner, 0.0));
        assert!(matches!(corner.source, Source::Exact(_)));
        let found = faces(&corner, DVec3::new(0.05, 0.06, 0.07));
        assert_eq!(found.len(), 3);
        for (face, (axis, gap)) in found
            .iter()
            .zip([(DVec3::X, -0.05), (DVec3::Y, -0.04), (DVec3::Z, -0.03)])
        {
            assert!(
                face.normal.distance(axis) < 1e-6 && (face.gap - gap).abs() < 1e-6,
                "{face:?}"
            );
        }
    }
}
