//! Bodies for the time of a step.

use std::ops::AddAssign;

use barchan_bodies::{BodyStep, Mobility, carried_at};
use barchan_geometry::Aabb;
use barchan_world::{Body, Twist, World, Wrench};
use glam::{DVec3, Mat3, Vec3};

use super::surface::ContactSurface;

/// A body during a step, as guides push it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushedBody {
    pub step: BodyStep,
    pub is_dynamic: bool,
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

impl AddAssign for Load {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.contacts += other.contacts;
    }
}

impl PushedBody {
    /// Predicts body `k` of `world` over the next `step` [s], as if guides did not act on it: a dynamic body keeps its rotation rate and
    /// falls at the velocity that it has at the end of the step.
    pub(crate) fn new(world: &World, k: usize, step: f64) -> Self {
        let body = &world.bodies[k];
        let falling = |body: &Body| {
            let twist = Twist {
                linear: body.twist.linear + world.gravity * step,
                ..body.twist
            };
            carried_at(body, &twist, step)
        };
        let step = BodyStep::new(world, k, step, falling);
        let mobility = Mobility::at(body, &step.to.pose);
        Self {
            step,
            is_dynamic: body.is_dynamic(),
            inverse_mass: mobility.inverse_mass as f32,
            inverse_inertia: mobility.inverse_inertia.as_mat3(),
            piece: None,
            contacts: 0.0,
            shift: Vec3::ZERO,
            turn: Vec3::ZERO,
        }
    }

    /// The same body, seen `shift` [m] from here; nowhere without one.
    pub(crate) fn seen(self, shift: Option<DVec3>) -> Self {
        Self {
            step: self.step.shifted(shift),
            ..self
        }
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
}

/// Farthest that the surface is from its body's center of mass [m], no farther than guides are.
pub(crate) fn extent(surface: &ContactSurface, body: &Body, guides: Aabb) -> f64 {
    let own = surface.extent(body.mass_properties.center);
    let here = body.center();
    own.min(barchan_world::extent(&guides, here))
}
