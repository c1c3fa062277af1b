//! Bodies for the time of a step.

use barchan_geometry::Aabb;
use barchan_world::{Bodies, Body, Motion, Pose, World, Wrench};
use glam::{DMat3, DQuat, DVec3, Mat3, Vec3};

use super::surface::ContactSurface;

/// A body during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyStep {
    /// Its number in the world; images have that of their body.
    pub of: u32,
    /// Pose at the start of the step.
    pub from: Pose,
    /// Pose at the end of the step if guides do not act on the body.
    pub to: Pose,
    /// From the world to its frame, at the start and at the end.
    into: [DMat3; 2],
    /// Bounding sphere at the start of the step [m].
    pub ball: (DVec3, f64),
    /// Center of mass at the start of the step [m].
    pub center: DVec3,
    pub is_present: bool,
    pub is_dynamic: bool,
    pub is_fixed: bool,
    /// 1/mass [1/kg]; 0 for bodies that nothing can move.
    pub inverse_mass: f32,
    /// 1/inertia in the world frame [1/(kg m²)]; 0 for bodies that nothing can rotate.
    pub inverse_inertia: Mat3,
    /// 1/mass of a piece of it [1/kg], where guides meet pieces.
    piece: Option<f32>,
    /// Number of contacts with guides that share the body's mass [-].
    pub contacts: f32,
    /// Displacement of the center by guides in this step [m].
    pub shift: Vec3,
    /// Rotation by guides in this step [rad].
    pub turn: Vec3,
}

/// Load of guides on a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// Sum of the impulses [kg m], and of their moments about the body's center [kg m²].
    pub sum: Wrench,
    /// Contacts [-].
    pub contacts: f64,
}

impl Load {
    pub(crate) fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        self.contacts += other.contacts;
    }
}

/// The pose that a body of this twist has after `step` [s]; `center` in its frame stays on a straight line.
pub(crate) fn drift(pose: Pose, center: DVec3, linear: DVec3, angular: DVec3, step: f64) -> Pose {
    let rotation = (DQuat::from_scaled_axis(angular * step) * pose.rotation).normalize();
    Pose {
        position: pose.point(center) + linear * step - rotation * center,
        rotation,
    }
}

impl BodyStep {
    /// The body `k` of `world` over the next `step` [s].
    pub(crate) fn new(world: &World, k: usize, step: f64) -> Self {
        let ball = world.bodies[k].shape.bounds();
        let (middle, half) = (ball.center(), 0.5 * ball.size().length());
        let body = &world.bodies[k];
        let center = body.mass_properties.center;
        let to = match body.motion {
            Motion::Fixed => body.pose,
            Motion::Scripted { .. } => world.bodies.scripted_pose(k, world.time + step),
            Motion::Driven => drift(body.pose, center, body.twist.linear, body.twist.angular, step),
            Motion::Dynamic => {
                let linear = body.twist.linear + world.gravity * step;
                drift(body.pose, center, linear, body.twist.angular, step)
            }
        };
        let is_dynamic = body.is_dynamic();
        let (inverse_mass, inverse_inertia) = match is_dynamic {
            true => (1.0 / body.mass(), inverse_inertia(body, to.rotation)),
            false => (0.0, DMat3::ZERO),
        };
        Self {
            of: k as u32,
            from: body.pose,
            to,
            into: [body.pose, to].map(|pose| DMat3::from_quat(pose.rotation).transpose()),
            ball: (body.pose.point(middle), half),
            center: to.point(center),
            is_present: body.is_present(world.time),
            is_dynamic,
            is_fixed: matches!(body.motion, Motion::Fixed),
            inverse_mass: inverse_mass as f32,
            inverse_inertia: inverse_inertia.as_mat3(),
            piece: None,
            contacts: 0.0,
            shift: Vec3::ZERO,
            turn: Vec3::ZERO,
        }
    }

    /// The same body, seen `shift` [m] from here; nowhere without one.
    pub(crate) fn seen(mut self, shift: Option<DVec3>) -> Self {
        self.is_present &= shift.is_some();
        let shift = shift.unwrap_or_default();
        for place in [
            &mut self.from.position,
            &mut self.to.position,
            &mut self.ball.0,
            &mut self.center,
        ] {
            *place += shift;
        }
        self
    }

    /// The same body, in pieces of `volume` [m³] and `density` [kg/m³] where guides meet it.
    pub(crate) fn in_pieces(mut self, volume: f64, density: f64) -> Self {
        let piece = (1.0 / (density * volume)) as f32;
        self.piece = self.is_dynamic.then_some(piece.max(self.inverse_mass));
        self
    }

    /// Shares it among `contacts` [-]; pieces are not shared.
    pub(crate) fn share(&mut self, contacts: f32) {
        self.contacts = if self.piece.is_some() { 1.0 } else { contacts };
    }

    /// `place` [m] in its frame at the start.
    pub(crate) fn local_from(&self, place: DVec3) -> DVec3 {
        self.into[0] * (place - self.from.position)
    }

    /// `place` [m] in its frame at the end.
    pub(crate) fn local_to(&self, place: DVec3) -> DVec3 {
        self.into[1] * (place - self.to.position)
    }

    /// No more than the distance [m] from `place` [m] to the ball around it; less than 0 inside, or if it has no end.
    pub(crate) fn clearance(&self, place: DVec3) -> f64 {
        let (middle, radius) = self.ball;
        if radius.is_finite() {
            place.distance(middle) - radius
        } else {
            -1.0
        }
    }

    /// Moves it as `load` does.
    pub(crate) fn give(&mut self, load: &Load) {
        self.shift = -self.inverse_mass * load.sum.force.as_vec3();
        self.turn = -(self.inverse_inertia * load.sum.torque.as_vec3());
    }

    /// Returns the displacement by guides of the body's point at `arm` [m] from its center [m].
    pub(crate) fn given(&self, arm: Vec3) -> Vec3 {
        self.shift + self.turn.cross(arm)
    }

    /// Inverse mass [1/kg] that it shows at `arm` [m], along `normal` and at most across it.
    pub(crate) fn inverse_masses(&self, arm: Vec3, normal: Vec3) -> [f32; 2] {
        if !self.is_dynamic {
            return [0.0; 2];
        }
        if let Some(piece) = self.piece {
            return [piece; 2];
        }
        let turned = |axis: Vec3| {
            let moment = arm.cross(axis);
            moment.dot(self.inverse_inertia * moment)
        };
        let along = turned(normal);
        let all = turned(Vec3::X) + turned(Vec3::Y) + turned(Vec3::Z);
        [self.inverse_mass + along, self.inverse_mass + (all - along).max(0.0)]
    }

    /// Farthest that any of its points within `extent` [m] of its center goes in the step [m].
    pub(crate) fn travel(&self, center: DVec3, extent: f64) -> f64 {
        let angle = self.from.rotation.angle_between(self.to.rotation);
        let turned = if angle > 1e-9 {
            2.0 * (0.5 * angle).sin() * extent
        } else {
            0.0
        };
        self.from.point(center).distance(self.to.point(center)) + turned
    }
}

/// 1/inertia in the world [1/(kg m²)] of a body turned by `rotation`.
pub(crate) fn inverse_inertia(body: &Body, rotation: DQuat) -> DMat3 {
    let turn = DMat3::from_quat(rotation);
    turn * (body.density * body.mass_properties.inertia).inverse() * turn.transpose()
}

/// Farthest that the surface is from its body's center of mass [m], no farther than guides are.
pub(crate) fn extent(surface: &ContactSurface, body: &Body, guides: Aabb) -> f64 {
    let own = surface.extent(body.mass_properties.center);
    let here = body.center();
    let farthest = (guides.max - here).abs().max((guides.min - here).abs()).length();
    own.min(farthest)
}
