//! Guides that rest cost next to nothing.
//!
//! A guide that has hardly moved for a while is calm. It sleeps if all that may touch it before the frame ends are calm too and no
//! body near it moves: between what moves and what sleeps there is always a layer of calm guides that are simulated. Asleep, a guide is a
//! fixed obstacle, and its contacts keep the impulses that they had.

use barchan_world::{Archive, ArchiveError, Guides};
use rayon::prelude::*;

use super::guides::Columns;
use super::near::Near;
use super::nearby::Nearby;

/// A guide is calm below this speed, of √(g d) [-].
const CALM_SPEED: f32 = 3e-3;
/// And after this time [s].
const CALM_TIME: f32 = 0.5;

/// Who is calm, and who sleeps, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// How long each guide has hardly moved [s].
    pub calm: Vec<f32>,
    /// Who sleeps in this frame.
    pub asleep: Vec<bool>,
    /// Who slept in the last frame.
    pub slept: Vec<bool>,
    spare: Vec<f32>,
    /// Whether each body may move in this frame.
    pub moving: Vec<bool>,
}

impl Sleep {
    /// Whether a guide is calm.
    fn is_calm(calm: f32) -> bool {
        calm >= CALM_TIME
    }

    /// Follows guides to their new places: guide `i` had the number `old[i]`.
    pub(crate) fn sort(&mut self, old: &[u32]) {
        self.spare.clear();
        self.spare
            .extend(old.iter().map(|&k| self.calm.get(k as usize).copied().unwrap_or(0.0)));
        std::mem::swap(&mut self.calm, &mut self.spare);
        let slept = |&k: &u32| self.asleep.get(k as usize).copied().unwrap_or(false);
        self.slept.clear();
        self.slept.extend(old.iter().map(slept));
        // Until the search tells, whoever is calm may sleep.
        self.asleep.clear();
        self.asleep.extend(self.calm.iter().map(|&calm| Self::is_calm(calm)));
    }

    /// Wakes all.
    pub(crate) fn wake_all(&mut self) {
        self.calm.fill(0.0);
        self.asleep.fill(false);
    }

    /// Decides who sleeps in this frame: not those who lost a contact that they leant on.
    pub(crate) fn decide(&mut self, nearby: &Nearby, near: &[Vec<Near>], lost: &[u32]) {
        for near in near.iter().flatten().filter(|near| self.moving[near.body as usize]) {
            self.calm[near.guide as usize] = 0.0;
        }
        for &i in lost {
            self.calm[i as usize] = 0.0;
        }
        let calm = &self.calm;
        let is_calm = |i: usize| Self::is_calm(calm[i]);
        self.asleep.par_iter_mut().enumerate().for_each(|(i, asleep)| {
            *asleep = is_calm(i) && nearby.of(i).into_iter().flatten().all(|&j| is_calm(j as usize));
        });
    }

    /// Whether guide `i` may sleep as far as it knows.
    pub(crate) fn may_sleep(&self, i: u32) -> bool {
        self.calm.get(i as usize).is_some_and(|&calm| Self::is_calm(calm))
    }

    /// Whether all sleep, and nothing moves that could wake them.
    pub(crate) fn is_deep(&self) -> bool {
        !self.asleep.is_empty() && self.asleep.iter().all(|&asleep| asleep) && !self.moving.iter().any(|&m| m)
    }

    /// Stores who is calm and who sleeps.
    pub(crate) fn save(&self, archive: &mut Archive) {
        let asleep: Vec<u8> = self.asleep.iter().map(|&asleep| u8::from(asleep)).collect();
        archive.put("pbd.calm", &self.calm);
        archive.put("pbd.asleep", &asleep);
    }

    /// Takes them back, for `guides` guides.
    pub(crate) fn load(guides: usize, archive: &Archive) -> Result<Self, ArchiveError> {
        let calm: Vec<f32> = archive.get("pbd.calm")?;
        let asleep: Vec<u8> = archive.get("pbd.asleep")?;
        if calm.len() != guides || asleep.len() != guides {
            return Err(ArchiveError::Ragged {
                prefix: "pbd.calm".to_owned(),
            });
        }
        Ok(Self {
            calm,
            asleep: asleep.into_iter().map(|asleep| asleep > 0).collect(),
            ..Self::default()
        })
    }

    /// Counts how long guides have hardly moved, after a frame of `duration` [s]; `fall_time` is √(d/g) [s].
    pub(crate) fn count(&mut self, columns: &Columns, guides: &Guides, duration: f64, fall_time: f64) {
        let allowed = CALM_SPEED * (duration / fall_time) as f32;
        for ((calm, way), radius) in self.calm.iter_mut().zip(&columns.total).zip(&guides.radius) {
            let is_slow = way.length_squared() <= (2.0 * radius * allowed).powi(2);
            *calm = if is_slow {
                (*calm + duration as f32).min(2.0 * CALM_TIME)
            } else {
                0.0
            };
        }
    }
}
