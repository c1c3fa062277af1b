//! Who moves rigid bodies.

use barchan_bodies::{Dynamics, twist_between};
use barchan_world::{AdvanceError, Archive, ArchiveError, Motion, Pose, World, Wrench};
use glam::DQuat;

use crate::cpu::bodies::{BodyStep, inverse_inertia};

/// Moves the bodies of a world.
pub trait RigidMotion: Send {
    /// Moves bodies from the world's time on by `step` [s]. Dynamic ones get their impulse [N s] and, about their centre of
    /// mass, angular impulse [N m s] besides gravity; scripted ones go where their keys say, driven ones where their twist
    /// carries them.
    fn step(&mut self, world: &mut World, impulses: &[Wrench], step: f64) -> Result<(), AdvanceError>;

    /// Stores what it needs to go on bit for bit.
    fn save(&self, archive: &mut Archive);

    /// Takes back what [`save`](Self::save) stored.
    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError>;
}

/// Bodies that neither touch each other nor have joints: straight flight and torque-free rotation.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeBodies;

impl RigidMotion for FreeBodies {
    fn step(&mut self, world: &mut World, impulses: &[Wrench], step: f64) -> Result<(), AdvanceError> {
        let (gravity, time) = (world.gravity, world.time);
        for (k, impulse) in impulses.iter().enumerate() {
            let told = BodyStep::new(world, k, step);
            let body = &mut world.bodies[k];
            let center = body.mass_properties.center;
            if !body.is_dynamic() {
                if let Motion::Scripted { .. } = body.motion {
                    body.twist = twist_between(body, &told.from, &told.to, step);
                }
                body.pose = told.to;
                continue;
            }
            if !body.is_present(time) {
                continue;
            }
            let inverse = |rotation: DQuat| inverse_inertia(body, rotation);
            let momentum = inverse(body.pose.rotation).inverse() * body.twist.angular + impulse.torque;
            // Midpoint rule for the rotation; the angular momentum is kept exactly.
            let mut angular = inverse(body.pose.rotation) * momentum;
            for _ in 0..4 {
                let middle = DQuat::from_scaled_axis(0.5 * step * angular) * body.pose.rotation;
                angular = inverse(middle) * momentum;
            }
            let rotation = (DQuat::from_scaled_axis(step * angular) * body.pose.rotation).normalize();
            body.twist.angular = inverse_inertia(body, rotation) * momentum;
            body.twist.linear += gravity * step + impulse.force / body.mass();
            body.pose = Pose {
                position: body.pose.point(center) + body.twist.linear * step - rotation * center,
                rotation,
            };
        }
        Ok(())
    }

    fn save(&self, _: &mut Archive) {}

    fn load(&mut self, _: &World, _: &Archive) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// Bodies that touch each other and have joints.
impl RigidMotion for Dynamics {
    fn step(&mut self, world: &mut World, impulses: &[Wrench], step: f64) -> Result<(), AdvanceError> {
        Self::step(self, world, impulses, step)
    }

    fn save(&self, archive: &mut Archive) {
        Self::save(self, archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        Self::load(self, world, archive)
    }
}
