//! Rigid bodies: poses, velocities and kinds of motion.

use std::sync::Arc;

use barchan_geometry::{MassProperties, Shape, TriMesh};
use glam::{DQuat, DVec3};

use crate::{Boundary, Friction, Keys};

/// Index of a body in [`World::bodies`](crate::World::bodies).
pub type BodyId = usize;

/// Transform from a body's frame to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the frame's origin [m].
    pub position: DVec3,
    /// Rotation of the frame.
    pub rotation: DQuat,
}

impl Pose {
    /// The world's own frame.
    pub const IDENTITY: Self = Self {
        position: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
    };

    /// Transforms a point [m] of the frame to the world.
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.position + self.rotation * local
    }

    /// Transforms a point [m] of the world to the frame.
    pub fn local(&self, point: DVec3) -> DVec3 {
        self.rotation.inverse() * (point - self.position)
    }

    /// Returns the pose in the world of `child`, given in this frame.
    pub fn then(&self, child: Self) -> Self {
        Self {
            position: self.point(child.position),
            rotation: self.rotation * child.rotation,
        }
    }
}

/// Linear and angular velocity of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the center of mass [m/s].
    pub linear: DVec3,
    /// Angular velocity [rad/s].
    pub angular: DVec3,
}

/// Force and torque on a body, or their time integrals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force [N], or impulse [N s].
    pub force: DVec3,
    /// Torque about the center of mass [N m], or angular impulse [N m s].
    pub torque: DVec3,
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

impl std::ops::Mul<f64> for Wrench {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self {
            force: self.force * factor,
            torque: self.torque * factor,
        }
    }
}

/// Largest magnitudes of force and torque over the steps of a frame, each on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peak {
    /// Force [N].
    pub force: f64,
    /// Torque about the center of mass [N m].
    pub torque: f64,
}

/// Kind of motion of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Fixed in place.
    Fixed,
    /// Moved by keys, in the frame of a parent or of the world.
    Scripted {
        /// The body whose frame the keys are given in; it comes earlier in the list.
        parent: Option<BodyId>,
        /// Poses over time.
        keys: Keys,
    },
    /// Moved by the program that runs the simulation, frame by frame.
    Driven,
    /// Moved by forces.
    Dynamic,
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name in scene files.
    pub name: String,
    /// Solid, in its frame.
    pub shape: Arc<dyn Shape>,
    /// Surface, in its frame, for rendering.
    pub surface: Arc<TriMesh>,
    /// Boundary for guides.
    pub boundary: Boundary,
    /// Kind of motion.
    pub motion: Motion,
    /// Friction of its surface.
    pub friction: Friction,
    /// Restitution of impacts with other bodies [-]; the larger of two bodies' values counts.
    pub restitution: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Volume, center and inertia of its solid, in its frame, for a density of 1 kg/m³.
    pub mass_properties: MassProperties,
    /// Time at which it appears [s].
    pub from: f64,
    /// Time at which it disappears [s].
    pub until: f64,
    /// Current pose.
    pub pose: Pose,
    /// Current linear and angular velocity.
    pub twist: Twist,
    /// Mean force and torque that guides exerted on it over the last frame.
    pub wrench: Wrench,
    /// Largest force [N] and torque [N m] that guides exerted on it in a step of the last frame.
    pub peak: Peak,
}

impl Body {
    /// Returns the mass [kg].
    pub fn mass(&self) -> f64 {
        self.density * self.mass_properties.volume
    }

    /// Returns the center of mass in the world [m].
    pub fn center(&self) -> DVec3 {
        self.pose.point(self.mass_properties.center)
    }

    /// Returns the velocity [m/s] of its point at `p` [m].
    pub fn velocity_at(&self, p: DVec3) -> DVec3 {
        self.twist.linear + self.twist.angular.cross(p - self.center())
    }

    /// Returns true if the body is present at `time` [s].
    pub fn is_present(&self, time: f64) -> bool {
        self.from <= time && time < self.until
    }

    /// Returns true if forces move the body.
    pub fn is_dynamic(&self) -> bool {
        self.motion == Motion::Dynamic
    }
}

/// Poses of bodies by their keys or parents.
pub trait Bodies {
    /// Returns the pose of body `id` at `time` [s] unless forces move it.
    fn scripted_pose(&self, id: BodyId, time: f64) -> Pose;
}

impl Bodies for [Body] {
    fn scripted_pose(&self, id: BodyId, time: f64) -> Pose {
        match &self[id].motion {
            Motion::Scripted { parent: None, keys } => keys.pose(time),
            Motion::Scripted {
                parent: Some(parent),
                keys,
            } => self.scripted_pose(*parent, time).then(keys.pose(time)),
            Motion::Fixed | Motion::Driven | Motion::Dynamic => self[id].pose,
        }
    }
}
