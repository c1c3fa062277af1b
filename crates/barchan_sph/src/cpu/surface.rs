//! What a guide feels of a body, in the body's frame.

use std::sync::Arc;

use barchan_geometry::sdf_grid::SdfGrid;
use barchan_geometry::{Aabb, Shape};
use barchan_world::{Body, Boundary};
use glam::DVec3;

use super::map;

/// A body's distance, ready to be asked.
#[derive(Debug)]
pub(crate) struct Surface {
    field: Field,
    /// Its density map, where it is not plane everywhere.
    map: Option<SdfGrid>,
    /// Around all of it [m].
    bounds: Aabb,
}

#[derive(Debug)]
enum Field {
    Grid(Arc<SdfGrid>),
    Exact(Arc<dyn Shape>),
}

/// A wall near a guide.
#[derive(Clone, Copy)]
pub(crate) struct Face {
    /// Outward [-], and distance of the guide's centre [m].
    pub normal: DVec3,
    pub gap: f64,
    /// The plane wall that holds as much of the guide's kernel: its distance [m], and the gradient of that [-].
    pub plane: f64,
    pub gradient: DVec3,
}

impl Surface {
    /// The distance of `body`, for kernels of about `support` [m].
    pub(crate) fn new(body: &Body, support: f64) -> Self {
        let field = match &body.boundary {
            Boundary::Field(grid) => Field::Grid(grid.clone()),
            Boundary::Exact(shape) => Field::Exact(shape.clone()),
            Boundary::Particles { .. } => Field::Exact(body.shape.clone()),
        };
        let map = match &field {
            Field::Grid(grid) => map::build(&**grid, support),
            Field::Exact(shape) => map::build(&**shape, support),
        };
        Self {
            field,
            map,
            bounds: body.shape.bounds(),
        }
    }

    /// Whether this is still the distance of `body`.
    pub(crate) fn is_of(&self, body: &Body) -> bool {
        match (&self.field, &body.boundary) {
            (Field::Grid(a), Boundary::Field(b)) => Arc::ptr_eq(a, b),
            (Field::Exact(a), Boundary::Exact(b)) => Arc::ptr_eq(a, b),
            (Field::Exact(a), Boundary::Particles { .. }) => Arc::ptr_eq(a, &body.shape),
            _ => false,
        }
    }

    /// Farthest that the body reaches from `center` [m], or infinity.
    pub(crate) fn extent(&self, center: DVec3) -> f64 {
        (self.bounds.max - center)
            .abs()
            .max((self.bounds.min - center).abs())
            .length()
    }

    fn probe(&self, p: DVec3) -> (f64, DVec3) {
        match &self.field {
            Field::Grid(grid) => grid.distance_and_normal(p),
            Field::Exact(shape) => shape.distance_and_normal(p),
        }
    }

    /// What a guide at `p` [m] sees within `reach` [m]; else no more than the distance [m] to it.
    pub(crate) fn face(&self, p: DVec3, reach: f64) -> Result<Face, f64> {
        let outside = (p - p.clamp(self.bounds.min, self.bounds.max)).length();
        if outside >= reach {
            return Err(outside);
        }
        let (gap, normal) = self.probe(p);
        if gap >= reach {
            return Err(gap);
        }
        let (plane, gradient) = match &self.map {
            Some(map) => map.distance_and_gradient(p),
            None => (gap, normal),
        };
        Ok(Face {
            normal,
            gap,
            plane,
            gradient,
        })
    }
}
