//! Contact of a sphere with a body, in the body's frame.

use barchan_bodies::{ParticleBoundary, carried, pose_after};
use barchan_world::{Body, BodyDistance, FaceSearch, Placement, Twist, World, extent};
use glam::DVec3;

/// Rounding of the reach of particles on bodies [-]: spheres in contact are found in single precision.
const ROUNDING: f64 = 1e-6;

/// A body's boundary as contacts see it.
#[derive(Debug)]
pub(crate) struct ContactSurface {
    distance: BodyDistance,
    /// The particles, where the boundary consists of them.
    particles: Option<ParticleBoundary>,
}

/// A body at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub at: Placement,
    pub twist: Twist,
    /// Mass [kg]; infinite if forces do not move it.
    pub mass: f64,
    pub is_present: bool,
}

impl Placed {
    /// Body `k` of `world` at `time` [s].
    pub(crate) fn new(world: &World, k: usize, time: f64) -> Self {
        let body = &world.bodies[k];
        Self {
            at: Placement::new(body, body.pose),
            twist: body.twist,
            mass: if body.is_dynamic() { body.mass() } else { f64::INFINITY },
            is_present: body.is_present(time),
        }
    }

    /// Body `k` of `world` after `after` [s] at its current velocity, or as prescribed.
    pub(crate) fn ahead(world: &World, k: usize, after: f64) -> Self {
        let pose = pose_after(world, k, after, |body| carried(body, after));
        Self {
            at: Placement::new(&world.bodies[k], pose),
            ..Self::new(world, k, world.time + after)
        }
    }

    /// Velocity [m/s] of its point at `position` [m].
    pub(crate) fn velocity_at(&self, position: DVec3) -> DVec3 {
        self.twist.linear + self.twist.angular.cross(position - self.at.center)
    }
}

impl ContactSurface {
    /// The boundary of `body` for spheres of at most `largest` [m] radius.
    pub(crate) fn new(body: &Body, largest: f64) -> Self {
        Self {
            distance: BodyDistance::new(body),
            particles: ParticleBoundary::new(body, |radius| (radius + largest) * (1.0 + ROUNDING)),
        }
    }

    /// Checks whether this is still the boundary of `body`.
    pub(crate) fn is_of(&self, body: &Body) -> bool {
        match &self.particles {
            Some(particles) => particles.is_of(body),
            None => self.distance.is_of(body),
        }
    }

    /// Largest distance of the boundary from `center` [m], or infinity.
    pub(crate) fn extent(&self, center: DVec3) -> f64 {
        match &self.particles {
            Some(particles) => extent(&particles.bounds.grown(particles.radius), center),
            None => self.distance.extent(center),
        }
    }

    /// Lower bound of the distance [m] from `p` [m] to the surface, negative inside.
    pub(crate) fn clearance(&self, p: DVec3) -> f64 {
        match &self.particles {
            Some(particles) => {
                let bounds = particles.bounds.grown(particles.radius);
                (p - p.clamp(bounds.min, bounds.max)).length()
            }
            None => self.distance.clearance(p),
        }
    }

    /// Visits the faces that a sphere of `radius` [m] at `p` [m] overlaps: outward normal [-] and overlap [m]. Returns a lower bound of the
    /// distance from `p` to the surface [m].
    pub(crate) fn touches(&self, p: DVec3, radius: f64, mut visit: impl FnMut(DVec3, f64)) -> f64 {
        if let Some(particles) = &self.particles {
            particles.near(p, |center| {
                let way = p - center;
                let overlap = particles.radius + radius - way.length();
                if overlap > 0.0 {
                    visit(way.try_normalize().unwrap_or(DVec3::Z), overlap);
                }
            });
            return f64::NEG_INFINITY;
        }
        let first = self.distance.distance_and_normal(p);
        if first.0 < radius {
            let search = FaceSearch {
                radius,
                slack: 0.0,
                away: 0.0,
            };
            self.distance
                .faces(p, search, first, |_, face| visit(face.normal, -face.gap));
        }
        first.0
    }
}
