//! Bodies over a step of a solver, and their images through periodic faces.

use barchan_world::{Bodies, Body, Motion, Placement, Pose, World};
use glam::DVec3;

use crate::motion::carried;

/// A body over a step.
#[derive(Clone, Copy, Debug)]
pub struct BodyStep {
    /// Number of the body in the world; images have that of their body.
    pub of: u32,
    /// The body at the start of the step.
    pub from: Placement,
    /// The body at the end of the step, as predicted.
    pub to: Placement,
    /// Set if the body is there.
    pub is_present: bool,
    /// Set if the body never moves.
    pub is_fixed: bool,
}

impl BodyStep {
    /// Predicts body `k` of `world` over the next `step` [s]; `dynamic` predicts a body that forces move.
    pub fn new(world: &World, k: usize, step: f64, dynamic: impl FnOnce(&Body) -> Pose) -> Self {
        let body = &world.bodies[k];
        Self {
            of: k as u32,
            from: Placement::new(body, body.pose),
            to: Placement::new(body, pose_after(world, k, step, dynamic)),
            is_present: body.is_present(world.time),
            is_fixed: matches!(body.motion, Motion::Fixed),
        }
    }

    /// Returns the same body displaced by `shift` [m]; absent without one.
    #[must_use]
    pub fn shifted(mut self, shift: Option<DVec3>) -> Self {
        self.is_present &= shift.is_some();
        let shift = shift.unwrap_or_default();
        (self.from, self.to) = (self.from.shifted(shift), self.to.shifted(shift));
        self
    }

    /// Returns the displacement [m] of the body's point `local` [m] in the step.
    #[inline]
    pub fn displacement(&self, local: DVec3) -> DVec3 {
        self.to.pose.point(local) - self.from.pose.point(local)
    }

    /// Returns the largest displacement [m] of a point within `extent` [m] of the center of mass.
    pub fn travel(&self, extent: f64) -> f64 {
        self.from.travel(&self.to, extent)
    }
}

/// Returns the pose of body `k` of `world` after `step` [s]: as its keys prescribe or its velocity carries it; `dynamic` predicts a body
/// that forces move.
pub fn pose_after(world: &World, k: usize, step: f64, dynamic: impl FnOnce(&Body) -> Pose) -> Pose {
    let body = &world.bodies[k];
    match body.motion {
        Motion::Fixed => body.pose,
        Motion::Scripted { .. } => world.bodies.scripted_pose(k, world.time + step),
        Motion::Driven => carried(body, step),
        Motion::Dynamic => dynamic(body),
    }
}

/// Returns the number of bodies and images that guides see.
pub fn seen_count(world: &World) -> usize {
    world.bodies.len() * world.places_of_bodies()
}

/// Returns the body of everything that guides see, in its order: the world's bodies, then the images of each.
pub fn seen_numbers(world: &World) -> impl Iterator<Item = usize> {
    let (bodies, images) = (world.bodies.len(), world.places_of_bodies() - 1);
    (0..bodies).chain((0..bodies * images).map(move |k| k / images))
}

/// Lists the world's bodies as `own` places them, then their images as `shifted` displaces them by a shift [m], or hides them without one.
pub fn place_seen<T: Copy>(
    seen: &mut Vec<T>,
    world: &World,
    own: impl Fn(usize) -> T,
    shifted: impl Fn(T, Option<DVec3>) -> T,
) {
    seen.clear();
    seen.extend((0..world.bodies.len()).map(own));
    if world.places_of_bodies() == 1 {
        return;
    }
    for (k, body) in world.bodies.iter().enumerate() {
        let own = seen[k];
        let mut shifts = world.shifts_of_body(body);
        seen[k] = shifted(own, shifts.next().flatten());
        seen.extend(shifts.map(|shift| shifted(own, shift)));
    }
}
