//! When guides are left alone: see `cpu::sleep` for who sleeps.

use barchan_world::{AdvanceReport, World};
use glam::Vec3;
use rayon::prelude::*;

use crate::PbdSolver;
use crate::cpu::contacts::memory::NEW;
use crate::cpu::sleep::Balance;
use crate::cpu::walls::walls_of;
use crate::cpu::contacts::halo;
use crate::cpu::{CHUNK, images};

impl PbdSolver {
    /// Whether guides may sleep: their contacts must keep what they carry.
    pub(crate) fn sleeps(&self) -> bool {
        self.settings.sleeping && self.settings.remembers()
    }

    /// Finds which bodies may move, come or go in the next `duration` [s], or did in the one before.
    pub(crate) fn watch_bodies(&mut self, world: &World, duration: f64) {
        self.sleep.moving.clear();
        self.sleep
            .moving
            .extend(images::numbers(world).map(|k| world.may_move(k, duration)));
    }

    /// Lets guides that never move sleep for ever: sleepers are fixed obstacles.
    pub(crate) fn hold_fixed(&mut self, world: &World) {
        if world.has_fixed_guides() {
            for (i, asleep) in self.sleep.asleep.iter_mut().enumerate() {
                *asleep |= world.is_fixed(i);
            }
        }
    }

    /// A frame in which all guides sleep and nothing moves: none of them does anything.
    pub(crate) fn sleep_through(&mut self, world: &mut World, duration: f64) -> Option<AdvanceReport> {
        self.watch_bodies(world, duration);
        let is_same = self.ids == world.guides.id && self.spare.gravity.is_none_or(|g| g == world.gravity);
        if !(self.sleeps() && is_same && self.sleep.is_deep()) {
            return None;
        }
        self.spare.gravity = Some(world.gravity);
        world.wrap_guides();
        self.columns.total.clear();
        self.columns.total.resize(world.guides.len(), Vec3::ZERO);
        world.time += duration;
        Some(AdvanceReport {
            steps: 0,
            max_overlap: self.last_overlap,
            extras: Vec::new(),
            stages: Vec::new(),
        })
    }

    /// Finds weight and resultant of each chunk by the contacts with bodies of the last step, of length `step` [s].
    fn find_balance(&mut self, world: &World, step: f64) {
        let (gravity, walls) = (world.gravity.as_vec3(), &self.contacts.walls);
        let (old, masses) = (self.old.par_chunks(CHUNK), world.guides.mass.par_chunks(CHUNK));
        let chunks = old.zip(masses).map(|(old, mass)| {
            let mass: f32 = mass.iter().sum();
            let own = old.iter().flat_map(|&k| walls_of(walls, k));
            let carried: Vec3 = own.map(|wall| wall.impulse).sum();
            Balance {
                weight: mass * gravity.length(),
                resultant: mass * gravity + carried / (step * step) as f32,
            }
        });
        chunks.collect_into_vec(&mut self.sleep.balance);
    }

    /// Decides which guides sleep in this frame; the others go on as predicted. `searched`: what may touch has just been found anew.
    pub(crate) fn let_sleep(&mut self, world: &mut World, step: f64, searched: bool) {
        self.sleep.slept.clear();
        self.sleep.slept.extend_from_slice(&self.sleep.asleep);
        // Only whoever may sleep is asked: a loss wakes.
        let (sleep, nearby) = (&self.sleep, &self.nearby);
        let is_kept = |i: u32, j: u32| {
            !(sleep.may_sleep(i) || sleep.may_sleep(j))
                || nearby.of(i as usize).iter().any(|others| others.contains(&j))
        };
        let lost = match searched {
            true => halo::lost(&self.old_candidates, &self.spare.new, is_kept, NEW),
            false => Vec::new(),
        };
        if self.sleep.has_calm() {
            self.find_balance(world, step);
        }
        self.sleep.decide(&self.candidates, &self.near, &lost);
        self.hold_fixed(world);
        let gravity = world.gravity.as_vec3();
        for (i, velocity) in world.guides.velocity.iter_mut().enumerate() {
            match (self.sleep.slept[i], self.sleep.asleep[i]) {
                (true, false) => {
                    *velocity += gravity * step as f32;
                    self.columns.free[i] = (*velocity * step as f32).extend(0.0);
                }
                (_, true) => *velocity = Vec3::ZERO,
                (false, false) => {}
            }
        }
    }
}
