//! Frames and steps in which guides sleep. `cpu::sleep` decides which guides do.

use barchan_world::{AdvanceReport, World};
use glam::Vec3;

use crate::PbdSolver;
use crate::step::Step;

impl PbdSolver {
    /// Checks whether guides may sleep: their contacts must keep what they carry.
    pub(crate) fn sleeps(&self) -> bool {
        self.settings.sleeping && self.settings.remembers()
    }

    /// Passes over a frame in which all guides sleep and nothing moves.
    pub(crate) fn sleep_through(&mut self, world: &mut World, duration: f64) -> Option<AdvanceReport> {
        self.sleep.watch_bodies(world, duration);
        let is_same = self.store.is_of(&world.guides) && self.frame.gravity.is_none_or(|g| g == world.gravity);
        if !(self.sleeps() && is_same && self.sleep.is_deep()) {
            return None;
        }
        self.frame.gravity = Some(world.gravity);
        world.wrap_guides();
        self.store.skip_frame(world.guides.len());
        world.time += duration;
        Some(AdvanceReport {
            steps: 0,
            max_overlap: self.last.overlap,
            extras: Vec::new(),
            stages: Vec::new(),
        })
    }

    /// Decides which guides sleep in this frame; the others go on as predicted. After the particle sleeping of [Macklin14].
    /// `searched`: all candidates have just been found again.
    pub(crate) fn fall_asleep(&mut self, world: &mut World, step: Step, searched: bool) {
        if !self.sleeps() {
            return;
        }
        self.clock.enter("sleep");
        self.sleep.update(world, &self.store, step.length, searched);
        let gravity = world.gravity.as_vec3();
        for (i, velocity) in world.guides.velocity.iter_mut().enumerate() {
            match (self.sleep.slept[i], self.sleep.asleep[i]) {
                (true, false) => {
                    *velocity += gravity * step.length as f32;
                    self.columns.free[i] = (*velocity * step.length as f32).extend(0.0);
                }
                (_, true) => *velocity = Vec3::ZERO,
                (false, false) => {}
            }
        }
    }
}
