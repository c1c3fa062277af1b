use glam::{DVec2, DVec3};

use super::error::{allow, positive};
use super::{ShapeError, outward_from_axis, unit};
use crate::{Aabb, Shape};

/// A torus about z, centered on the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    major: f64,
    minor: f64,
}

impl Torus {
    /// Creates a torus of radius `major` [m] to the center of a tube of radius `minor` [m]. The tube must be thinner
    /// than the ring: one that overlaps itself has an inner surface inside the solid, and is nearly always a swap of
    /// the two numbers.
    pub fn new(major: f64, minor: f64) -> Result<Self, ShapeError> {
        let major = positive("major", major)?;
        let fits = minor > 0.0 && minor < major;
        let allowed = format_args!("above zero and below major, {major}, or the ring would overlap itself");
        let minor = allow("minor", minor, fits, allowed)?;
        Ok(Self { major, minor })
    }

    /// Returns `p` relative to the center of the tube: outward from the axis (x) and up (y) [m].
    fn beyond_tube(&self, p: DVec3) -> DVec2 {
        DVec2::new(p.truncate().length() - self.major, p.z)
    }
}

impl Shape for Torus {
    fn distance(&self, p: DVec3) -> f64 {
        self.beyond_tube(p).length() - self.minor
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let q = self.beyond_tube(p);
        unit(outward_from_axis(p) * q.x + DVec3::Z * q.y).unwrap_or(DVec3::Z)
    }

    fn bounds(&self) -> Aabb {
        let reach = self.major + self.minor;
        let corner = DVec3::new(reach, reach, self.minor);
        Aabb::new(-corner, corner)
    }
}
