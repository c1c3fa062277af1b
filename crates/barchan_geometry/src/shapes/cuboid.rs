use glam::DVec3;

use super::error::{all_positive, allow};
use super::{ShapeError, unit};
use crate::mesh::primitives::cuboid;
use crate::mesh::{Face, FlatSolid, TriMesh};
use crate::{Aabb, Shape};

/// A box with its sides along the axes, centered on the origin; edges and corners may be rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half: DVec3,
    rounding: f64,
}

impl Cuboid {
    /// Creates a sharp box of side lengths `size` [m].
    pub fn new(size: DVec3) -> Result<Self, ShapeError> {
        Self::rounded(size, 0.0)
    }

    /// Creates a box of outer side lengths `size` [m] whose edges are rounded with radius `rounding` [m], at most half
    /// of the shortest side.
    pub fn rounded(size: DVec3, rounding: f64) -> Result<Self, ShapeError> {
        let half = 0.5 * all_positive("size", size)?;
        let most = half.min_element();
        let fits = (0.0..=most).contains(&rounding);
        let rounding = allow(
            "rounding",
            rounding,
            fits,
            format_args!("0 to {most}, half of the shortest side"),
        )?;
        Ok(Self { half, rounding })
    }

    /// Returns the signed offset [m] of `p` from each pair of faces of the core, the box that is offset by the
    /// rounding.
    fn beyond_core(&self, p: DVec3) -> DVec3 {
        p.abs() - (self.half - self.rounding)
    }
}

impl Shape for Cuboid {
    fn distance(&self, p: DVec3) -> f64 {
        let q = self.beyond_core(p);
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0) - self.rounding
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let q = self.beyond_core(p);
        let nearest_face = || DVec3::AXES[q.max_position()];
        unit(q.max(DVec3::ZERO)).unwrap_or_else(nearest_face) * p.signum()
    }

    fn bounds(&self) -> Aabb {
        Aabb::new(-self.half, self.half)
    }

    fn triangles(&self) -> Option<TriMesh> {
        (self.rounding == 0.0).then(|| cuboid(2.0 * self.half))
    }

    fn flat_solid(&self, _tolerance: f64) -> Option<FlatSolid> {
        let sides = |axis: DVec3| {
            [axis, -axis].map(|normal| Face {
                normal,
                offset: axis.dot(self.half),
            })
        };
        (self.rounding == 0.0).then(|| FlatSolid::Convex {
            faces: DVec3::AXES.into_iter().flat_map(sides).collect(),
            bounds: self.bounds(),
        })
    }
}
