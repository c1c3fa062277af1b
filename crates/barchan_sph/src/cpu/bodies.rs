//! Bodies for the time of a step.

use barchan_bodies::{carried, free_motion};
use barchan_world::{Bodies, Body, Motion, Pose, World};
use glam::{DMat3, DVec3, Vec3};

/// A body during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyStep {
    /// Where it is at the start, and where it will be at the end if guides hold it as they did in the last frame.
    pub from: Pose,
    pub to: Pose,
    /// From the world to its frame, at the start.
    into: DMat3,
    /// Its centre of mass at the start [m].
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
    /// The body `k` of `world` over the next `step` [s].
    pub(crate) fn new(world: &World, k: usize, step: f64) -> Self {
        let body = &world.bodies[k];
        let to = match body.motion {
            Motion::Fixed => body.pose,
            Motion::Scripted { .. } => world.bodies.scripted_pose(k, world.time + step),
            Motion::Driven => carried(body, step),
            Motion::Dynamic => free_motion(body, world.gravity + carried_by(body, world.gravity), step).0,
        };
        Self {
            from: body.pose,
            to,
            into: DMat3::from_quat(body.pose.rotation).transpose(),
            center: body.center(),
            is_present: body.is_present(world.time),
            step,
        }
    }

    /// `place` [m] in its frame.
    pub(crate) fn local(&self, place: DVec3) -> DVec3 {
        self.into * (place - self.from.position)
    }

    /// Mean velocity [m/s] over the step of its point `local` [m].
    pub(crate) fn velocity(&self, local: DVec3) -> Vec3 {
        ((self.to.point(local) - self.from.point(local)) / self.step).as_vec3()
    }

    /// Fastest that a point within `extent` [m] of its centre of mass `center` [m], in its frame, moves [m/s].
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
