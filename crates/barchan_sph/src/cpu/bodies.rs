//! Bodies for the time of a step.

use barchan_bodies::{carried, free_motion};
use barchan_world::{Bodies, Body, Motion, Pose, World};
use glam::{DMat3, DVec3, Vec3};

/// A body during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyStep {
    /// Number of the body.
    pub of: u32,
    /// Pose at the start of the step, and the pose predicted for its end if guides support the body as in the previous
    /// frame.
    from: Pose,
    to: Pose,
    /// Pose that guides see during the step.
    pub seen: Pose,
    /// From the world to its frame, as it is seen.
    into: DMat3,
    /// Center of mass in the pose `seen` [m].
    pub center: DVec3,
    pub is_present: bool,
    /// Length of the step [s].
    step: f64,
}

/// Acceleration [m/s²] that guides gave `body` in the last frame, no more than `gravity` [m/s²] is. A body that rests on sand must not seem to fall
/// into it step by step: sand would give way to what never comes.
fn carried_by(body: &Body, gravity: DVec3) -> DVec3 {
    (body.wrench.force / body.mass()).clamp_length_max(gravity.length())
}

impl BodyStep {
    /// The body `k` of `world` over the next `step` [s], as guides see it after the part `lead` [-] of the step.
    pub(crate) fn new(world: &World, k: usize, step: f64, lead: f64) -> Self {
        let body = &world.bodies[k];
        let to = match body.motion {
            Motion::Fixed => body.pose,
            Motion::Scripted { .. } => world.bodies.scripted_pose(k, world.time + step),
            Motion::Driven => carried(body, step),
            Motion::Dynamic => free_motion(body, world.gravity + carried_by(body, world.gravity), step).0,
        };
        let seen = match lead {
            0.0 => body.pose,
            _ => Pose {
                position: body.pose.position.lerp(to.position, lead),
                rotation: body.pose.rotation.slerp(to.rotation, lead),
            },
        };
        Self {
            of: k as u32,
            from: body.pose,
            to,
            seen,
            into: DMat3::from_quat(seen.rotation).transpose(),
            center: seen.point(body.mass_properties.center),
            is_present: body.is_present(world.time),
            step,
        }
    }

    /// The same seen elsewhere, by `shift` [m]; not at all without one.
    fn shifted(mut self, shift: Option<DVec3>) -> Self {
        self.seen.position += shift.unwrap_or_default();
        self.center += shift.unwrap_or_default();
        self.is_present &= shift.is_some();
        self
    }

    /// `place` [m] in its frame.
    pub(crate) fn local(&self, place: DVec3) -> DVec3 {
        self.into * (place - self.seen.position)
    }

    /// Mean velocity [m/s] over the step of its point `local` [m].
    pub(crate) fn velocity(&self, local: DVec3) -> Vec3 {
        ((self.to.point(local) - self.from.point(local)) / self.step).as_vec3()
    }

    /// Fastest that a point within `extent` [m] of its center of mass `center` [m], in its frame, moves [m/s].
    pub(crate) fn speed(&self, center: DVec3, extent: f64) -> f64 {
        let angle = self.from.rotation.angle_between(self.to.rotation);
        let turned = if angle > 1e-9 {
            2.0 * (0.5 * angle).sin() * extent
        } else {
            0.0
        };
        (self.from.point(center).distance(self.to.point(center)) + turned) / self.step
    }
}

/// Bodies of `world` over the next `step` [s], then their images through periodic faces.
pub(crate) fn place(seen: &mut Vec<BodyStep>, world: &World, step: f64, lead: f64) {
    seen.clear();
    seen.extend((0..world.bodies.len()).map(|k| BodyStep::new(world, k, step, lead)));
    if world.places_of_bodies() == 1 {
        return;
    }
    for (k, body) in world.bodies.iter().enumerate() {
        let own = seen[k];
        let mut shifts = world.shifts_of_body(body);
        seen[k] = own.shifted(shifts.next().flatten());
        seen.extend(shifts.map(|shift| own.shifted(shift)));
    }
}
