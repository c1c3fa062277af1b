//! Contact of a guide with a body, in the body's frame.

use std::sync::Arc;

use barchan_geometry::Aabb;
use barchan_neighbors::Grid;
use barchan_world::{Body, Boundary};
use glam::DVec3;

/// Planes of one body that a guide can touch at once: a corner has three.
const MAX_PLANES: usize = 3;
/// Cosine above which two normals belong to one face [-].
const SAME_FACE_COSINE: f64 = 0.9;
/// Distance beyond the contact range at which the search for other faces starts, as a fraction of the radius [-]: large
/// enough that the same face is not found again.
const PROBE_MARGIN: f64 = 1e-3;
/// Displacement in a step below which a path is short, as a fraction of the radius [-]: a face deviates from its plane
/// by no more than half the square.
const SHORT_PATH: f64 = 0.1;

/// A body's boundary, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct ContactSurface {
    boundary: Boundary,
    /// Around all that guides can touch [m]. For particles, around their centers.
    bounds: Aabb,
    /// Boundary particles by place, and their radius [m].
    particles: Option<(Arc<Grid>, f64)>,
    /// Largest radius of guides that `particles` was made for [m].
    largest: f64,
}

/// A plane that a guide's center, less its radius, must not cross.
pub(crate) struct Touch {
    /// Outward normal [-].
    pub normal: DVec3,
    /// Gap at the end of the free motion [m].
    pub gap: f64,
    /// Gap at the start of the step [m].
    pub start: f64,
    /// Contact point on the surface [m].
    pub point: DVec3,
}

impl ContactSurface {
    /// The boundary of `body` for guides of at most `largest` [m] radius, felt from `slack` of a radius [-] on.
    pub(crate) fn new(body: &Body, largest: f64, slack: f64) -> Self {
        let boundary = body.boundary.clone();
        let (bounds, particles) = match &boundary {
            Boundary::Field(_) | Boundary::Exact(_) => (body.shape.bounds(), None),
            Boundary::Particles { positions, radius, .. } => {
                let mut grid = Grid::new();
                let reach = (f64::from(*radius) + largest * (1.0 + slack)) as f32;
                grid.build(positions, reach).expect("boundary particles are finite");
                (
                    Aabb::of_points(positions.iter().map(|p| p.as_dvec3())),
                    Some((Arc::new(grid), f64::from(*radius))),
                )
            }
        };
        Self {
            boundary,
            bounds,
            particles,
            largest,
        }
    }

    /// Returns true if this is still the boundary of `body` for guides of at most `largest` [m].
    pub(crate) fn is_of(&self, body: &Body, largest: f64) -> bool {
        if self.particles.is_some() && self.largest < largest {
            return false;
        }
        match (&self.boundary, &body.boundary) {
            (Boundary::Field(a), Boundary::Field(b)) => Arc::ptr_eq(a, b),
            (Boundary::Exact(a), Boundary::Exact(b)) => Arc::ptr_eq(a, b),
            (Boundary::Particles { positions: a, .. }, Boundary::Particles { positions: b, .. }) => Arc::ptr_eq(a, b),
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

    /// No more than the distance [m] from `p` [m] to the surface; less than 0 inside.
    pub(crate) fn clearance(&self, p: DVec3) -> f64 {
        let to_bounds = (p - p.clamp(self.bounds.min, self.bounds.max)).length();
        match &self.boundary {
            Boundary::Field(grid) => grid.clearance(p).max(to_bounds),
            Boundary::Exact(shape) => shape.distance(p).max(to_bounds),
            Boundary::Particles { radius, .. } => to_bounds - f64::from(*radius),
        }
    }

    fn probe(&self, p: DVec3) -> (f64, DVec3) {
        match &self.boundary {
            Boundary::Field(grid) => grid.distance_and_normal(p),
            Boundary::Exact(shape) => (shape.distance(p), shape.normal(p)),
            Boundary::Particles { .. } => unreachable!("particles are asked by place"),
        }
    }

    fn distance(&self, p: DVec3) -> f64 {
        match &self.boundary {
            Boundary::Field(grid) => grid.distance(p),
            Boundary::Exact(shape) => shape.distance(p),
            Boundary::Particles { .. } => unreachable!("particles are asked by place"),
        }
    }

    /// Tells memory that `p` [m] is soon asked about.
    pub(crate) fn prefetch(&self, p: DVec3) {
        if let Boundary::Field(grid) = &self.boundary {
            grid.prefetch(p);
        }
    }

    /// Visits the planes that a guide of `radius` [m] going from `from` to `to` [m] touches or is within `slack` [m] of. Gives no more
    /// than the distance [m] from `to` to the surface.
    pub(crate) fn touches(&self, from: DVec3, to: DVec3, radius: f64, slack: f64, mut visit: impl FnMut(Touch)) -> f64 {
        if let Some((grid, own)) = &self.particles {
            let Boundary::Particles { positions, .. } = &self.boundary else {
                unreachable!("only particles have a grid")
            };
            grid.near(to.as_vec3(), |k, _| {
                let center = positions[k as usize].as_dvec3();
                let (length, normal) = (to.distance(center), (to - center).try_normalize().unwrap_or(DVec3::Z));
                let gap = length - own - radius;
                if gap < slack {
                    visit(Touch {
                        normal,
                        gap,
                        start: from.distance(center) - own - radius,
                        point: center + own * normal,
                    });
                }
            });
            return f64::NEG_INFINITY;
        }
        let is_short = (to - from).length_squared() < (SHORT_PATH * radius).powi(2);
        let mut nearest = f64::NEG_INFINITY;
        let mut normals = [DVec3::ZERO; MAX_PLANES];
        let mut probed = to;
        for k in 0..MAX_PLANES {
            if k > 0 && self.distance(probed) - radius > slack {
                return nearest;
            }
            let (mut distance, mut normal) = self.probe(probed);
            let mut start = None;
            if k == 0 {
                // A field knows more than it says where it is not asked for planes.
                nearest = match &self.boundary {
                    Boundary::Field(grid) if distance >= grid.band() => grid.clearance(to),
                    _ => distance,
                };
            }
            if k == 0 && distance < 0.0 {
                // The center is inside. A thin wall has its nearest face on the far side by now, if the guide went beyond
                // its middle: it is kept on the side that it came from.
                let (before, side) = self.probe(from);
                if side.dot(normal) < 0.0 {
                    (distance, normal) = (before + side.dot(to - from), side);
                }
                start = Some(before - radius);
            }
            // What is left between the surface and the guide where it really is: the probe was moved away from other faces.
            let gap = distance - radius + normal.dot(to - probed);
            if distance - radius > slack || normals[..k].iter().any(|n| n.dot(normal) > SAME_FACE_COSINE) {
                return nearest;
            }
            if gap < slack {
                let moved = normal.dot(to - from);
                visit(Touch {
                    normal,
                    gap,
                    // The first face is the nearest one; of others the distance at the start is not known. A short way
                    // is as good as straight along it.
                    start: start.unwrap_or_else(|| match k {
                        0 if !is_short => self.distance(from) - radius,
                        _ => gap - moved,
                    }),
                    point: to - normal * (gap + radius),
                });
            }
            normals[k] = normal;
            probed += normal * (radius + slack - distance + PROBE_MARGIN * radius);
        }
        nearest
    }
}
