use glam::{DVec2, DVec3};

use super::{ShapeError, error::positive, outward_from_axis, unit};
use crate::mesh::FlatSolid;
use crate::{Aabb, Shape};

/// A cylinder along z, centered on the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    radius: f64,
    half_height: f64,
}

impl Cylinder {
    /// Creates a cylinder of `radius` [m] and `height` [m].
    pub fn new(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self {
            radius: positive("radius", radius)?,
            half_height: 0.5 * positive("height", height)?,
        })
    }

    /// Returns the signed offset [m] of `p` from the side (x) and from the nearer end (y).
    fn beyond(&self, p: DVec3) -> DVec2 {
        DVec2::new(p.truncate().length() - self.radius, p.z.abs() - self.half_height)
    }
}

impl Shape for Cylinder {
    fn distance(&self, p: DVec3) -> f64 {
        let q = self.beyond(p);
        q.max(DVec2::ZERO).length() + q.max_element().min(0.0)
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let q = self.beyond(p);
        let end = DVec3::Z * p.z.signum();
        let side = outward_from_axis(p);
        let nearer = || if q.x > q.y { side } else { end };
        unit(side * q.x.max(0.0) + end * q.y.max(0.0)).unwrap_or_else(nearer)
    }

    fn bounds(&self) -> Aabb {
        let corner = DVec3::new(self.radius, self.radius, self.half_height);
        Aabb::new(-corner, corner)
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        FlatSolid::frustum([self.radius; 2], self.half_height, tolerance)
    }
}
