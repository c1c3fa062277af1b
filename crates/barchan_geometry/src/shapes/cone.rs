use glam::{DVec2, DVec3};

use super::error::{allow, not_negative, positive};
use super::{Revolve, ShapeError};
use crate::mesh::FlatSolid;
use crate::{Aabb, Shape};

/// A cone or frustum along z; the ends lie half the height below and above the origin, like a cylinder's.
#[derive(Clone, Debug)]
pub struct Cone {
    solid: Revolve,
    /// Radii at the bottom and at the top [m].
    radii: [f64; 2],
    half_height: f64,
}

impl Cone {
    /// Creates a solid of `radius` [m] at the bottom, `top_radius` [m] at the top (zero: a tip) and `height` [m].
    pub fn new(radius: f64, top_radius: f64, height: f64) -> Result<Self, ShapeError> {
        let top_radius = not_negative("top_radius", top_radius)?;
        let allowed = "finite and above zero, or zero below a wider top";
        let fits = radius > 0.0 || radius == 0.0 && top_radius > 0.0;
        let radius = allow("radius", radius, fits, allowed)?;
        let half = 0.5 * positive("height", height)?;
        let profile = [(0.0, -half), (radius, -half), (top_radius, half), (0.0, half)];
        Ok(Self {
            solid: Revolve::new(&profile.map(|(r, z)| DVec2::new(r, z)))?,
            radii: [radius, top_radius],
            half_height: half,
        })
    }
}

impl Shape for Cone {
    fn distance(&self, p: DVec3) -> f64 {
        self.solid.distance(p)
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        self.solid.normal(p)
    }

    fn bounds(&self) -> Aabb {
        self.solid.bounds()
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        FlatSolid::frustum(self.radii, self.half_height, tolerance)
    }
}
