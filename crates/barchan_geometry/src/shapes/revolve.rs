use glam::{DVec2, DVec3};

use super::error::{finite, not_negative};
use super::{ShapeError, outward_from_axis, profile::Profile};
use crate::{Aabb, Shape};

/// A profile revolved about z: vases, hourglasses, funnels, pipes. The cost of a query is proportional to the number of
/// the profile's edges.
#[derive(Clone, Debug)]
pub struct Revolve {
    profile: Profile,
    radius: f64,
    bottom: f64,
    top: f64,
}

impl Revolve {
    /// Creates the solid inside the closed polygon of `points` [m], each a distance from the axis (x) and a height (y),
    /// in either orientation. The first point may be repeated at the end. Edges on the axis are inside the solid.
    pub fn new(points: &[DVec2]) -> Result<Self, ShapeError> {
        for point in points {
            not_negative("profile", point.x)?;
            finite("profile", point.y)?;
        }
        let profile = Profile::new(points)?;
        let extreme =
            |pick: fn(f64, f64) -> f64, of: fn(&DVec2) -> f64| points.iter().map(of).reduce(pick).unwrap_or(0.0);
        Ok(Self {
            profile,
            radius: extreme(f64::max, |p| p.x),
            bottom: extreme(f64::min, |p| p.y),
            top: extreme(f64::max, |p| p.y),
        })
    }
}

/// Returns distance from the axis and height [m].
fn half_plane(p: DVec3) -> DVec2 {
    DVec2::new(p.truncate().length(), p.z)
}

impl Shape for Revolve {
    fn distance(&self, p: DVec3) -> f64 {
        self.profile.distance(half_plane(p))
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let normal = self.profile.normal(half_plane(p));
        outward_from_axis(p) * normal.x + DVec3::Z * normal.y
    }

    fn bounds(&self) -> Aabb {
        Aabb::new(
            DVec3::new(-self.radius, -self.radius, self.bottom),
            DVec3::new(self.radius, self.radius, self.top),
        )
    }
}
