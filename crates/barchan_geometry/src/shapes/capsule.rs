use glam::DVec3;

use super::error::{allow, positive};
use super::{ShapeError, outward_from_axis, unit};
use crate::{Aabb, Shape};

/// A cylinder along z with hemispherical ends, centered on the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    radius: f64,
    half_core: f64,
}

impl Capsule {
    /// Creates a capsule of `radius` [m] and `height` [m] from tip to tip, at least twice the radius (then it is a
    /// ball).
    pub fn new(radius: f64, height: f64) -> Result<Self, ShapeError> {
        let radius = positive("radius", radius)?;
        let least = 2.0 * radius;
        let allowed = format_args!("finite and at least {least}, twice the radius, for it includes the caps");
        let height = allow("height", height, height >= least, allowed)?;
        let half_core = 0.5 * height - radius;
        Ok(Self { radius, half_core })
    }

    /// Returns `p` relative to the nearest point of the core, the segment between the caps' centers.
    fn beyond_core(&self, p: DVec3) -> DVec3 {
        p - DVec3::Z * p.z.clamp(-self.half_core, self.half_core)
    }
}

impl Shape for Capsule {
    fn distance(&self, p: DVec3) -> f64 {
        self.beyond_core(p).length() - self.radius
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        unit(self.beyond_core(p)).unwrap_or_else(|| outward_from_axis(p))
    }

    fn bounds(&self) -> Aabb {
        let corner = DVec3::new(self.radius, self.radius, self.half_core + self.radius);
        Aabb::new(-corner, corner)
    }
}
