use glam::DVec3;

use super::{ShapeError, error::finite, unit};
use crate::mesh::{Face, FlatSolid};
use crate::{Aabb, Shape};

/// All points on one side of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    normal: DVec3,
    offset: f64,
}

impl HalfSpace {
    /// Creates the solid behind the plane with `normal` [-] (of any length) at `offset` [m] from the origin along it.
    pub fn new(normal: DVec3, offset: f64) -> Result<Self, ShapeError> {
        for component in normal.to_array() {
            finite("normal", component)?;
        }
        Ok(Self {
            normal: unit(normal).ok_or(ShapeError::ZeroDirection { what: "normal" })?,
            offset: finite("offset", offset)?,
        })
    }
}

impl Shape for HalfSpace {
    fn distance(&self, p: DVec3) -> f64 {
        self.normal.dot(p) - self.offset
    }

    fn normal(&self, _: DVec3) -> DVec3 {
        self.normal
    }

    /// Unbounded, except across a plane normal to an axis.
    fn bounds(&self) -> Aabb {
        let mut bounds = Aabb::UNBOUNDED;
        for axis in 0..3 {
            if self.normal[axis] == 1.0 {
                bounds.max[axis] = self.offset;
            } else if self.normal[axis] == -1.0 {
                bounds.min[axis] = -self.offset;
            }
        }
        bounds
    }

    fn flat_solid(&self, _tolerance: f64) -> Option<FlatSolid> {
        let face = Face {
            normal: self.normal,
            offset: self.offset,
        };
        Some(FlatSolid::Convex {
            faces: vec![face],
            bounds: self.bounds(),
        })
    }
}
