//! Spheres in the layout of the contact loops.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

/// A sphere in one line of the cache. Only places need double precision: what is rounded here of velocities, a ten-millionth, only friction
/// and damping see, and the same in both partners. Radii and masses are the world's own numbers.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Row {
    /// Center, relative to the world's origin [m].
    pub position: [f64; 3],
    /// Radius [m].
    pub radius: f32,
    /// Mass [kg].
    pub mass: f32,
    /// Velocity expected at the end of the step [m/s].
    pub velocity: [f32; 3],
    /// Number of the material.
    pub material: f32,
    /// Angular velocity expected at the end of the step [rad/s].
    pub spin: [f32; 3],
    /// Distance that it may still move before the next search [m].
    pub left: f32,
}

/// Mass of what never moves [kg]: forces move it by nothing, and the reduced mass of a contact with it is that of its partner.
pub(crate) const FIXED_MASS: f32 = 1e30;

impl Row {
    /// Set if it never moves.
    #[inline(always)]
    pub(crate) fn is_fixed(&self) -> bool {
        self.mass >= FIXED_MASS
    }

    /// Row that pads blocks: beyond the reach of any contact.
    pub(crate) const PADDING: Self = Self {
        position: [1e30; 3],
        radius: 0.0,
        mass: 1.0,
        velocity: [0.0; 3],
        material: 0.0,
        spin: [0.0; 3],
        left: 0.0,
    };

    /// Center [m].
    #[inline(always)]
    pub(crate) fn place(&self) -> DVec3 {
        DVec3::from_array(self.position)
    }

    /// [m].
    #[inline(always)]
    pub(crate) fn radius(&self) -> f64 {
        f64::from(self.radius)
    }

    /// [kg].
    #[inline(always)]
    pub(crate) fn mass(&self) -> f64 {
        f64::from(self.mass)
    }

    /// [m/s].
    #[inline(always)]
    pub(crate) fn velocity(&self) -> DVec3 {
        Vec3::from_array(self.velocity).as_dvec3()
    }

    /// [rad/s].
    #[inline(always)]
    pub(crate) fn spin(&self) -> DVec3 {
        Vec3::from_array(self.spin).as_dvec3()
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
