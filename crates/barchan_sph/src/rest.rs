//! Sleep of the whole scene.
//!
//! A guide that has hardly moved for a while is at rest. Once most guides are, none is fast and no body can move,
//! everything sleeps and a frame costs nothing, until a guide is added or removed, a body can move or gravity changes.

use barchan_world::{AdvanceReport, World};
use glam::Vec3;

use crate::SphSolver;
use crate::laws::rest::{self, Calm};

impl SphSolver {
    /// A frame of `duration` [s] through which all sleep.
    pub(crate) fn sleep_through(&mut self, world: &mut World, duration: f64) -> Option<AdvanceReport> {
        let is_same = self.ids == world.guides.id
            && self.gravity.is_none_or(|gravity| gravity == world.gravity)
            && !(0..world.bodies.len()).any(|k| world.may_move(k, duration));
        self.gravity = Some(world.gravity);
        // They must keep what they carry, and water goes its own ways.
        let sleeps = self.settings.sleeping && self.settings.warm_start && !self.settings.is_drying();
        if !(is_same && sleeps) {
            self.past.calm.fill(Calm::default());
            return None;
        }
        if !self.rests(world) {
            return None;
        }
        world.guides.velocity.fill(Vec3::ZERO);
        world.wrap_guides();
        world.time += duration;
        Some(self.last_report.clone())
    }

    /// Returns true if most guides are at rest and none is fast.
    fn rests(&self, world: &World) -> bool {
        let all = world.guides.len();
        let gravity = world.gravity.length() as f32;
        let spacing = self.supports[1] / self.settings.support;
        let calm = self.past.calm.iter().filter(|calm| calm.is_calm()).count();
        all > 0
            && self.columns.compression.len() == all
            && rest::are_most(calm, all)
            && !world
                .guides
                .velocity
                .iter()
                .any(|v| rest::is_fast(v.length(), spacing, gravity))
    }
}
