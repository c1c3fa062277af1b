//! Contact of a guide with a body, in the body's frame.

use barchan_bodies::ParticleBoundary;
use barchan_world::{Body, BodyDistance, Face, FaceSearch, extent};
use glam::DVec3;

/// Distance beyond the contact range at which the search for other faces starts, as a fraction of the radius [-]: large
/// enough that the same face is not found again.
const PROBE_MARGIN: f64 = 1e-3;
/// Displacement in a step below which a path is short, as a fraction of the radius [-]: a face deviates from its plane
/// by no more than half the square.
const SHORT_PATH: f64 = 0.1;

/// A body's boundary as contacts see it.
#[derive(Clone, Debug)]
pub(crate) struct ContactSurface {
    distance: BodyDistance,
    /// The particles, where the boundary consists of them, and the largest radius of guides that they were prepared for [m].
    particles: Option<(ParticleBoundary, f64)>,
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
        let particles = ParticleBoundary::new(body, |radius| radius + largest * (1.0 + slack));
        Self {
            distance: BodyDistance::new(body),
            particles: particles.map(|particles| (particles, largest)),
        }
    }

    /// Returns true if this is still the boundary of `body` for guides of at most `largest` [m].
    pub(crate) fn is_of(&self, body: &Body, largest: f64) -> bool {
        match &self.particles {
            Some((particles, prepared)) => *prepared >= largest && particles.is_of(body),
            None => self.distance.is_of(body),
        }
    }

    /// Returns the largest distance of the boundary from `center` [m], or infinity; of centers where it consists of particles.
    pub(crate) fn extent(&self, center: DVec3) -> f64 {
        match &self.particles {
            Some((particles, _)) => extent(&particles.bounds, center),
            None => self.distance.extent(center),
        }
    }

    /// Returns a lower bound of the distance [m] from `p` [m] to the surface, negative inside.
    pub(crate) fn clearance(&self, p: DVec3) -> f64 {
        match &self.particles {
            Some((particles, _)) => {
                (p - p.clamp(particles.bounds.min, particles.bounds.max)).length() - particles.radius
            }
            None => self.distance.clearance(p),
        }
    }

    /// Prefetches the samples around `p` [m].
    pub(crate) fn prefetch(&self, p: DVec3) {
        if let Some(grid) = self.distance.field() {
            grid.prefetch(p);
        }
    }

    /// Visits the planes that a guide of `radius` [m] going from `from` to `to` [m] touches or is within `slack` [m] of. Gives no more
    /// than the distance [m] from `to` to the surface.
    pub(crate) fn touches(&self, from: DVec3, to: DVec3, radius: f64, slack: f64, mut visit: impl FnMut(Touch)) -> f64 {
        if let Some((particles, _)) = &self.particles {
            let own = particles.radius;
            particles.near(to, |center| {
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
        let (mut distance, mut normal) = self.distance.distance_and_normal(to);
        // A grid bounds the distance more tightly outside its band.
        let nearest = match self.distance.field() {
            Some(grid) if distance >= grid.band() => grid.clearance(to),
            _ => distance,
        };
        let mut start = None;
        if distance < 0.0 {
            // The center is inside. A thin wall has its nearest face on the far side by now, if the guide went beyond
            // its middle: it is kept on the side that it came from.
            let (before, side) = self.distance.distance_and_normal(from);
            if side.dot(normal) < 0.0 {
                (distance, normal) = (before + side.dot(to - from), side);
            }
            start = Some(before - radius);
        }
        let is_short = (to - from).length_squared() < (SHORT_PATH * radius).powi(2);
        let search = FaceSearch {
            radius,
            slack,
            away: PROBE_MARGIN * radius,
        };
        self.distance.faces(to, search, (distance, normal), |k, face| {
            let Face { normal, gap } = face;
            let moved = normal.dot(to - from);
            let start = match (k, start) {
                (0, Some(start)) => start,
                // The first face is the nearest one; of others the distance at the start is not known. A short way
                // is as good as straight along it.
                (0, None) if !is_short => self.distance.distance(from) - radius,
                _ => gap - moved,
            };
            visit(Touch {
                normal,
                gap,
                start,
                point: to - normal * (gap + radius),
            });
        });
        nearest
    }
}
