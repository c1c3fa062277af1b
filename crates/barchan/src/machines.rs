//! Bodies, joints and motors of a simulation by name, for programs that drive machines.

use barchan_world::{Body, Joint, Motor};

use crate::Simulation;

impl Simulation {
    /// Returns the body called `name`.
    pub fn body(&self, name: &str) -> Option<&Body> {
        self.world().bodies.iter().find(|body| body.name == name)
    }

    /// Returns the body called `name`, to set the velocity of a driven one.
    pub fn body_mut(&mut self, name: &str) -> Option<&mut Body> {
        self.world_mut().bodies.iter_mut().find(|body| body.name == name)
    }

    /// Returns the joint called `name`: its position, its speed, and the force and torque that it transmits.
    pub fn joint(&self, name: &str) -> Option<&Joint> {
        self.world().joints.iter().find(|joint| joint.name == name)
    }

    /// Returns the motor of the joint called `name`, to set its target or its limit for the next frame.
    pub fn motor_mut(&mut self, name: &str) -> Option<&mut Motor> {
        let mut joints = self.world_mut().joints.iter_mut();
        joints.find(|joint| joint.name == name)?.motor.as_mut()
    }
}
