//! Effect of a body on a guide near it, in the body's frame.

use barchan_geometry::sdf_grid::SdfGrid;
use barchan_world::{Body, BodyDistance, Boundary};
use glam::DVec3;

use super::cover::Cover;
use super::map;
use crate::Walls;
use crate::laws::volume::Volumes;
use crate::laws::{kernel, wall};

/// A body's distance, and the part of kernels that it holds.
#[derive(Debug)]
pub(crate) struct WallField {
    distance: BodyDistance,
    held: Held,
}

/// Representation of the part of a kernel that lies in a body.
#[derive(Debug)]
enum Held {
    /// Its density map, where it is not plane everywhere.
    Density(Option<SdfGrid>),
    /// Its volume map, likewise, and volumes of plane walls.
    Volume(Option<SdfGrid>, Volumes),
    Particles(Box<Cover>),
}

/// A wall near a guide.
#[derive(Clone, Copy)]
pub(crate) struct WallFace {
    /// Outward normal [-], and distance of the guide's center [m].
    pub normal: DVec3,
    pub gap: f64,
    /// λ, the part of the guide's kernel that lies in the wall [-], and its gradient [1/m].
    pub held: f64,
    pub gradient: DVec3,
    /// Point at which the wall acts on the guide [m].
    pub point: DVec3,
}

impl WallField {
    /// The distance of `body`, for kernels of about `support` [m], and what it holds of them.
    pub(crate) fn new(body: &Body, kind: Walls, support: f64) -> Self {
        let distance = BodyDistance::new(body);
        let map = |volumes: Option<&Volumes>| map::build(distance.solid(), support, volumes);
        let held = match (kind, &body.boundary) {
            (Walls::Particles, Boundary::Particles { positions, .. }) => {
                Held::Particles(Box::new(Cover::new(positions.clone(), support as f32)))
            }
            (Walls::Volume, _) => {
                let volumes = Volumes::new();
                Held::Volume(map(Some(&volumes)), volumes)
            }
            _ => Held::Density(map(None)),
        };
        Self { distance, held }
    }

    /// Returns true if this is still the distance field of `body`.
    pub(crate) fn is_of(&self, body: &Body) -> bool {
        let is_held = match (&self.held, &body.boundary) {
            (Held::Particles(cover), Boundary::Particles { positions, .. }) => cover.is_of(positions),
            (Held::Particles(_), _) => false,
            (Held::Density(_) | Held::Volume(..), _) => true,
        };
        is_held && self.distance.is_of(body)
    }

    /// Largest distance of the body's points from `center` [m], or infinity.
    pub(crate) fn extent(&self, center: DVec3) -> f64 {
        self.distance.extent(center)
    }

    /// Returns the wall that a guide at `p` [m] with a kernel of radius `reach` [m] touches, or else a lower bound of
    /// the distance to it [m].
    pub(crate) fn face(&self, p: DVec3, reach: f64) -> Result<WallFace, f64> {
        let outside = self.distance.to_bounds(p);
        if outside >= reach {
            return Err(outside);
        }
        let (gap, normal) = self.distance.distance_and_normal(p);
        if gap >= reach {
            return Err(gap);
        }
        let touch = p - gap * normal;
        let mapped = |map: &Option<SdfGrid>| match map {
            Some(map) => map.distance_and_gradient(p),
            None => (gap, normal),
        };
        let (held, gradient, point) = match &self.held {
            Held::Density(map) => {
                let (plane, gradient) = mapped(map);
                let (value, slope) = wall::half_space((plane / reach) as f32);
                (value.into(), f64::from(slope) / reach * gradient, touch)
            }
            Held::Volume(map, volumes) => {
                let volume = reach.powi(3) * volumes.at(mapped(map).0 / reach);
                // Within the wall the nearest point is no direction.
                let gap = gap.max(0.0);
                let (value, slope) = kernel::value_and_slope(gap as f32, 1.0 / reach as f32);
                (
                    volume * f64::from(value),
                    volume * f64::from(slope) * gap * normal,
                    touch,
                )
            }
            // Each pushes along the line from it to the guide: together they act as one force there.
            Held::Particles(cover) => {
                let (value, gradient) = cover.held(p, reach as f32);
                (value, gradient, p)
            }
        };
        Ok(WallFace {
            normal,
            gap,
            held,
            gradient,
            point,
        })
    }
}
