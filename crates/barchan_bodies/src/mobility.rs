//! Response of a body to an impulse.

use barchan_world::{Body, Pose, Twist, Wrench};
use glam::{DMat3, DVec3};

/// Response of a body to an impulse, in its current pose. All zero for bodies that forces do not move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mobility {
    /// Center of mass in the world [m].
    pub center: DVec3,
    /// One over the mass [1/kg].
    pub inverse_mass: f64,
    /// Inverse of the inertia about the center of mass, in the world's axes [1/(kg m²)].
    pub inverse_inertia: DMat3,
}

impl Mobility {
    /// Returns the mobility of a body in its current pose.
    pub fn of(body: &Body) -> Self {
        Self::at(body, &body.pose)
    }

    /// Returns the mobility of a body in `pose`.
    pub fn at(body: &Body, pose: &Pose) -> Self {
        let center = pose.point(body.mass_properties.center);
        if !body.is_dynamic() {
            return Self {
                center,
                inverse_mass: 0.0,
                inverse_inertia: DMat3::ZERO,
            };
        }
        let axes = DMat3::from_quat(pose.rotation);
        Self {
            center,
            inverse_mass: 1.0 / body.mass(),
            inverse_inertia: axes * inverse_inertia(body) * axes.transpose(),
        }
    }

    /// Inverse of the mass [1/kg] that a push along the unit vector `normal` at `point` [m] feels:
    /// w = 1/m + (r × n)·I⁻¹(r × n).
    pub fn inverse_mass_at(&self, point: DVec3, normal: DVec3) -> f64 {
        let arm = (point - self.center).cross(normal);
        self.inverse_mass + arm.dot(self.inverse_inertia * arm)
    }

    /// An impulse [N s] at `point` [m], as [`Dynamics::step`](crate::Dynamics::step) takes it.
    pub fn impulse_at(&self, point: DVec3, impulse: DVec3) -> Wrench {
        Wrench {
            force: impulse,
            torque: (point - self.center).cross(impulse),
        }
    }

    /// The change of motion that an impulse [N s] and angular impulse about the center [N m s] make.
    pub fn response(&self, impulse: Wrench) -> Twist {
        Twist {
            linear: self.inverse_mass * impulse.force,
            angular: self.inverse_inertia * impulse.torque,
        }
    }
}

/// Inverse inertia of a dynamic body about its center of mass, in its own axes [1/(kg m²)].
pub(crate) fn inverse_inertia(body: &Body) -> DMat3 {
    inertia(body).inverse()
}

/// Inertia of a body about its center of mass, in its own axes [kg m²].
pub(crate) fn inertia(body: &Body) -> DMat3 {
    body.mass_properties.inertia * body.density
}
