//! Who moves rigid bodies.

use barchan_world::{Archive, ArchiveError, Pose, World, Wrench};
use glam::DQuat;

use crate::cpu::bodies::inverse_inertia;

/// Integrates the dynamic bodies of a world.
pub trait RigidMotion: Send {
    /// Moves dynamic bodies on by `step` [s]; each gets its impulse [N s] and angular impulse [N m s] besides gravity.
    fn step(&mut self, world: &mut World, impulses: &[Wrench], step: f64);

    /// Stores what it needs to go on bit for bit.
    fn save(&self, archive: &mut Archive);

    /// Takes back what [`save`](Self::save) stored.
    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError>;
}

/// Bodies that touch neither each other nor joints: straight flight and torque-free rotation.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeBodies;

impl RigidMotion for FreeBodies {
    fn step(&mut self, world: &mut World, impulses: &[Wrench], step: f64) {
        let (gravity, time) = (world.gravity, world.time);
        for (body, impulse) in world.bodies.iter_mut().zip(impulses) {
            if !body.is_dynamic() || !body.is_present(time) {
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
            let center = body.mass_properties.center;
            body.pose = Pose {
                position: body.pose.point(center) + body.twist.linear * step - rotation * center,
                rotation,
            };
        }
    }

    fn save(&self, _: &mut Archive) {}

    fn load(&mut self, _: &World, _: &Archive) -> Result<(), ArchiveError> {
        Ok(())
    }
}
