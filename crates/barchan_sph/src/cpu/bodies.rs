//! Bodies for the time of a step.

use barchan_bodies::{BodyStep, free_motion, place_seen};
use barchan_world::{Body, Placement, Pose, World};
use glam::{DVec3, Vec3};

/// A body during a step, as guides see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenBody {
    /// The body over the step if guides support it as in the previous frame; images move as their body.
    pub over: BodyStep,
    /// The body, or an image of it, in the pose that guides see.
    pub seen: Placement,
    pub is_present: bool,
    /// Length of the step [s].
    step: f64,
}

/// Acceleration [m/s²] of `body` by guides in the last frame, no more than `gravity` [m/s²]. Each step assumes that a body is supported as in
/// the previous frame; otherwise sand would slowly yield under a resting body.
fn support_of(body: &Body, gravity: DVec3) -> DVec3 {
    (body.wrench.force / body.mass()).clamp_length_max(gravity.length())
}

impl SeenBody {
    /// Predicts body `k` of `world` over the next `step` [s]; guides see it after the part `lead` [-] of the step.
    fn new(world: &World, k: usize, step: f64, lead: f64) -> Self {
        let body = &world.bodies[k];
        let supported = |body: &Body| free_motion(body, world.gravity + support_of(body, world.gravity), step).0;
        let over = BodyStep::new(world, k, step, supported);
        let (from, to) = (over.from.pose, over.to.pose);
        let seen = match lead {
            0.0 => over.from,
            _ => Placement::new(
                body,
                Pose {
                    position: from.position.lerp(to.position, lead),
                    rotation: from.rotation.slerp(to.rotation, lead),
                },
            ),
        };
        Self {
            over,
            seen,
            is_present: over.is_present,
            step,
        }
    }

    /// Returns the same body seen displaced by `shift` [m]; absent without one.
    fn shifted(self, shift: Option<DVec3>) -> Self {
        Self {
            seen: self.seen.shifted(shift.unwrap_or_default()),
            is_present: self.is_present && shift.is_some(),
            ..self
        }
    }

    /// Mean velocity [m/s] over the step of its point `local` [m].
    pub(crate) fn velocity(&self, local: DVec3) -> Vec3 {
        (self.over.displacement(local) / self.step).as_vec3()
    }

    /// Largest speed [m/s] of a point within `extent` [m] of its center of mass.
    pub(crate) fn speed(&self, extent: f64) -> f64 {
        self.over.travel(extent) / self.step
    }
}

/// Places the bodies of `world` for the next `step` [s], then their images through periodic faces.
pub(crate) fn place(seen: &mut Vec<SeenBody>, world: &World, step: f64, lead: f64) {
    place_seen(seen, world, |k| SeenBody::new(world, k, step, lead), SeenBody::shifted);
}
