use glam::DVec3;

use super::{ShapeError, error::positive, unit};
use crate::{Aabb, Shape};

/// A ball around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f64,
}

impl Sphere {
    /// Creates a ball of `radius` [m].
    pub fn new(radius: f64) -> Result<Self, ShapeError> {
        let radius = positive("radius", radius)?;
        Ok(Self { radius })
    }
}

impl Shape for Sphere {
    fn distance(&self, p: DVec3) -> f64 {
        p.length() - self.radius
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        unit(p).unwrap_or(DVec3::Z)
    }

    fn bounds(&self) -> Aabb {
        Aabb::new(DVec3::splat(-self.radius), DVec3::splat(self.radius))
    }
}
