//! Contact of a sphere with a body, in the body's frame.

use std::sync::Arc;

use barchan_bodies::carried;
use barchan_geometry::random::Stream;
use barchan_geometry::{Aabb, Shape};
use barchan_neighbors::Grid;
use barchan_world::{Bodies, Body, Boundary, Motion, Pose, Twist, World};
use glam::{DMat3, DVec3};

/// Faces of one body that a sphere can touch at once: a corner has three.
const MAX_FACES: usize = 3;
/// Two normals whose cosine is above this [-] are of one face.
const SAME_FACE_COSINE: f64 = 0.9;
/// Places at which a solid without end is compared with a half-space.
const PROBES: u64 = 16;

/// A body's boundary, ready to be asked.
#[derive(Debug)]
pub(crate) struct ContactSurface {
    boundary: Boundary,
    kind: Kind,
    bounds: Aabb,
}

#[derive(Debug)]
enum Kind {
    /// Everything below a plane: distance = normal · p - height.
    Plane { normal: DVec3, height: f64 },
    /// Its distance.
    Distance,
    /// Particles by place, of this radius [m].
    Particles { grid: Box<Grid>, radius: f64 },
}

/// A body where it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub pose: Pose,
    into: DMat3,
    /// A ball around it [m].
    ball: (DVec3, f64),
    /// Center of mass [m].
    pub center: DVec3,
    pub twist: Twist,
    /// Mass [kg]; infinite if forces do not move it.
    pub mass: f64,
    pub is_present: bool,
}

impl Placed {
    /// Body `k` of `world` at `time` [s].
    pub(crate) fn new(world: &World, k: usize, time: f64) -> Self {
        let body = &world.bodies[k];
        let bounds = body.shape.bounds();
        Self {
            pose: body.pose,
            into: DMat3::from_quat(body.pose.rotation).transpose(),
            ball: (body.pose.point(bounds.center()), 0.5 * bounds.size().length()),
            center: body.center(),
            twist: body.twist,
            mass: if body.is_dynamic() { body.mass() } else { f64::INFINITY },
            is_present: body.is_present(time),
        }
    }

    /// Returns body `k` of `world` at its pose after `after` [s], by its keys or at its current velocity.
    pub(crate) fn ahead(world: &World, k: usize, after: f64) -> Self {
        let body = &world.bodies[k];
        let time = world.time + after;
        let pose = match body.motion {
            Motion::Fixed => body.pose,
            Motion::Scripted { .. } => world.bodies.scripted_pose(k, time),
            Motion::Driven | Motion::Dynamic => carried(body, after),
        };
        let bounds = body.shape.bounds();
        Self {
            pose,
            into: DMat3::from_quat(pose.rotation).transpose(),
            ball: (pose.point(bounds.center()), 0.5 * bounds.size().length()),
            center: pose.point(body.mass_properties.center),
            ..Self::new(world, k, time)
        }
    }

    /// `place` [m] in its frame.
    pub(crate) fn local(&self, place: DVec3) -> DVec3 {
        self.into * (place - self.pose.position)
    }

    /// A direction of its frame, in the world.
    pub(crate) fn turned(&self, direction: DVec3) -> DVec3 {
        self.pose.rotation * direction
    }

    /// No more than the distance [m] from `place` [m] to it; less than 0 where it has no end.
    pub(crate) fn clearance(&self, place: DVec3) -> f64 {
        let (middle, radius) = self.ball;
        match radius.is_finite() {
            true => place.distance(middle) - radius,
            false => f64::NEG_INFINITY,
        }
    }

    /// Velocity [m/s] of its point at `place` [m].
    pub(crate) fn velocity_at(&self, place: DVec3) -> DVec3 {
        self.twist.linear + self.twist.angular.cross(place - self.center)
    }
}

impl ContactSurface {
    /// The boundary of `body` for spheres of at most `largest` [m] radius.
    pub(crate) fn new(body: &Body, largest: f64) -> Self {
        let boundary = body.boundary.clone();
        let mut bounds = body.shape.bounds();
        let kind = match &boundary {
            Boundary::Field(_) => Kind::Distance,
            Boundary::Exact(shape) => plane(&**shape).unwrap_or(Kind::Distance),
            Boundary::Particles { positions, radius, .. } => {
                let mut grid = Grid::new();
                let reach = (f64::from(*radius) + largest) * (1.0 + 1e-6);
                grid.build(positions, reach as f32)
                    .expect("boundary particles are finite");
                bounds = Aabb::of_points(positions.iter().map(|p| p.as_dvec3())).grown(f64::from(*radius));
                Kind::Particles {
                    grid: Box::new(grid),
                    radius: f64::from(*radius),
                }
            }
        };
        Self { boundary, kind, bounds }
    }

    /// Returns true if this is still the boundary of `body`.
    pub(crate) fn is_of(&self, body: &Body) -> bool {
        match (&self.boundary, &body.boundary) {
            (Boundary::Field(a), Boundary::Field(b)) => Arc::ptr_eq(a, b),
            (Boundary::Exact(a), Boundary::Exact(b)) => Arc::ptr_eq(a, b),
            (Boundary::Particles { positions: a, .. }, Boundary::Particles { positions: b, .. }) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Farthest that the body reaches from `center` [m], or infinity.
    pub(crate) fn extent(&self, center: DVec3) -> f64 {
        let corner = (self.bounds.max - center).abs().max((self.bounds.min - center).abs());
        corner.length()
    }

    /// No more than the distance [m] from `p` [m] to the surface; less than 0 inside.
    pub(crate) fn clearance(&self, p: DVec3) -> f64 {
        let to_bounds = (p - p.clamp(self.bounds.min, self.bounds.max)).length();
        match &self.kind {
            Kind::Plane { .. } | Kind::Distance => self.probe(p).0.max(to_bounds),
            Kind::Particles { .. } => to_bounds,
        }
    }

    /// Distance [m] and outward normal [-] at `p` [m].
    fn probe(&self, p: DVec3) -> (f64, DVec3) {
        match (&self.kind, &self.boundary) {
            (Kind::Plane { normal, height }, _) => (normal.dot(p) - height, *normal),
            (_, Boundary::Field(grid)) => grid.distance_and_normal(p),
            (_, Boundary::Exact(shape)) => (shape.distance(p), shape.normal(p)),
            (_, Boundary::Particles { .. }) => unreachable!("particles are asked by place"),
        }
    }

    /// Visits the faces that a sphere of `radius` [m] at `p` [m] overlaps: outward normal [-] and overlap [m]. Gives no more than the
    /// distance from `p` to the surface [m].
    pub(crate) fn touches(&self, p: DVec3, radius: f64, mut visit: impl FnMut(DVec3, f64)) -> f64 {
        if let (Kind::Particles { grid, radius: own }, Boundary::Particles { positions, .. }) =
            (&self.kind, &self.boundary)
        {
            grid.near(p.as_vec3(), |k, _| {
                let way = p - positions[k as usize].as_dvec3();
                let overlap = own + radius - way.length();
                if overlap > 0.0 {
                    visit(way.try_normalize().unwrap_or(DVec3::Z), overlap);
                }
            });
            return f64::NEG_INFINITY;
        }
        let (nearest, normal) = self.probe(p);
        if nearest >= radius {
            return nearest;
        }
        visit(normal, radius - nearest);
        if let Kind::Plane { .. } = self.kind {
            return nearest;
        }
        // Another face shows itself where the sphere just touches those found.
        let mut normals = [normal, DVec3::ZERO, DVec3::ZERO];
        let mut probed = p + normal * (radius - nearest);
        for k in 1..MAX_FACES {
            let (distance, normal) = self.probe(probed);
            let overlap = radius - distance - normal.dot(p - probed);
            if distance >= radius || normals[..k].iter().any(|n| n.dot(normal) > SAME_FACE_COSINE) {
                break;
            }
            if overlap > 0.0 {
                visit(normal, overlap);
            }
            normals[k] = normal;
            probed += normal * (radius - distance);
        }
        nearest
    }
}

/// The half-space that `shape` is, if it is one.
fn plane(shape: &dyn Shape) -> Option<Kind> {
    let (at_origin, normal) = (shape.distance(DVec3::ZERO), shape.normal(DVec3::ZERO));
    let size = 1.0 + at_origin.abs();
    let mut probes = (0..PROBES).map(|k| (2.0 * Stream::new(0, k).unit_cube() - DVec3::ONE) * size);
    let same = probes.all(|p| (shape.distance(p) - at_origin - normal.dot(p)).abs() <= 1e-9 * size);
    (same && !shape.bounds().is_finite()).then_some(Kind::Plane {
        normal,
        height: -at_origin,
    })
}
