//! Spheres as contacts see them.

use glam::DVec3;

/// A sphere: three times four numbers, so that a contact reads it in three loads.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Row {
    /// Centre, relative to the world's origin [m].
    pub position: [f64; 3],
    /// [m].
    pub radius: f64,
    /// Velocity expected at the end of the step [m/s].
    pub velocity: [f64; 3],
    /// [kg].
    pub mass: f64,
    /// Angular velocity expected at the end of the step [rad/s].
    pub spin: [f64; 3],
    /// Number of the material.
    pub material: f64,
}

impl Row {
    /// Nobody touches it: what pads blocks.
    pub(crate) const FAR: Self = Self {
        position: [1e30; 3],
        radius: 0.0,
        velocity: [0.0; 3],
        mass: 1.0,
        spin: [0.0; 3],
        material: 0.0,
    };

    /// Centre [m].
    #[inline(always)]
    pub(crate) fn place(&self) -> DVec3 {
        DVec3::from_array(self.position)
    }
}

/// Force [N] and torque [N m] on a sphere, each with a number that pads it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Push {
    pub force: [f64; 4],
    pub torque: [f64; 4],
}

impl Push {
    #[inline(always)]
    pub(crate) fn add(&mut self, force: [f64; 3], torque: [f64; 3]) {
        for axis in 0..3 {
            self.force[axis] += force[axis];
            self.torque[axis] += torque[axis];
        }
    }

    #[inline(always)]
    pub(crate) fn subtract(&mut self, force: [f64; 3], torque: [f64; 3]) {
        for axis in 0..3 {
            self.force[axis] -= force[axis];
            self.torque[axis] += torque[axis];
        }
    }
}
