//! Guides that rest cost next to nothing.
//!
//! A guide that has hardly moved for a while is calm. It sleeps if no body near it moves and nobody near it is restless: what touches a
//! restless guide is awake, and around fast ones so are several layers, for a hit goes through them within the frame. Asleep, a guide is
//! a fixed obstacle, and its contacts keep the impulses that they had.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use barchan_world::{Archive, ArchiveError, Guides};
use rayon::prelude::*;

use super::CHUNK;
use super::candidates::Candidates;
use super::guides::Columns;
use super::near::Near;

/// A guide is calm below this speed, of √(g d) [-].
const CALM_SPEED: f32 = 1e-3;
/// And after this time [s].
const CALM_TIME: f32 = 0.5;
/// A guide is restless above this speed, of √(g d) [-]: far faster than calm, or a large heap would wake itself by going on to settle.
const RESTLESS_SPEED: f32 = 1.5e-2;
/// Most layers of guides that a fast one keeps awake [-].
const MOST_LAYERS: f32 = 6.0;
/// Layers around guides at moving bodies that stay awake [-].
const BODY_LAYERS: f32 = 2.0;

/// Layers around a guide of `speed`, of √(g d) [-], that stay awake [-].
fn layers(speed: f32) -> f32 {
    if speed <= RESTLESS_SPEED {
        return 0.0;
    }
    (1.0 + speed.floor()).min(MOST_LAYERS)
}

/// Who is calm, and who sleeps, in the world's order.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// How long each guide has hardly moved [s]; of restless ones, the layers that they keep awake, negative.
    pub calm: Vec<f32>,
    /// Who sleeps in this frame.
    pub asleep: Vec<bool>,
    /// Who slept in the last frame.
    pub slept: Vec<bool>,
    spare: Vec<f32>,
    /// Layers around it, and it among them, that each guide keeps awake in this frame; 0 for those who may sleep.
    layers: Vec<AtomicU8>,
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
    pub(crate) fn decide(&mut self, candidates: &[Candidates], near: &[Vec<Near>], lost: &[u32]) {
        for near in near.iter().flatten().filter(|near| self.moving[near.body as usize]) {
            self.calm[near.guide as usize] = -BODY_LAYERS;
        }
        for &i in lost {
            self.calm[i as usize] = -1.0;
        }
        if !self.calm.iter().any(|&calm| Self::is_calm(calm)) {
            self.asleep.fill(false);
            return;
        }
        self.spread(candidates);
        let layers = self.layers.iter_mut().map(|layers| *layers.get_mut());
        for ((asleep, calm), layers) in self.asleep.iter_mut().zip(&self.calm).zip(layers) {
            *asleep = Self::is_calm(*calm) && layers == 0;
        }
    }

    /// Gives those around restless guides one layer less than these.
    fn spread(&mut self, candidates: &[Candidates]) {
        let Self { calm, layers, .. } = self;
        let own = |calm: f32| if calm < 0.0 { 1 + (-calm) as u8 } else { 0 };
        layers.clear();
        layers.extend(calm.iter().map(|&calm| AtomicU8::new(own(calm))));
        let most = calm.iter().map(|&calm| own(calm)).max().unwrap_or(0);
        let layers = &layers[..];
        for most in (2..=most).rev() {
            // Whoever has the most is not changed by this, and all others are given the same: any order will do.
            let give = |to: &AtomicU8| {
                if to.load(Relaxed) < most - 1 {
                    to.store(most - 1, Relaxed);
                }
            };
            candidates.par_iter().enumerate().for_each(|(c, chunk)| {
                // Chunks outlive their guides.
                let own = layers.get(c * CHUNK..).unwrap_or_default();
                for (i, row) in own.iter().zip(chunk.first.windows(2)) {
                    let others = &chunk.other[row[0] as usize..row[1] as usize];
                    let others = others.iter().map(|&j| &layers[j as usize]);
                    if i.load(Relaxed) == most {
                        others.for_each(give);
                    } else if others.clone().any(|j| j.load(Relaxed) == most) {
                        give(i);
                    }
                }
            });
        }
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
        let calm: Vec<f32> = archive.get_f32s("pbd.calm")?;
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
        let unit = (duration / fall_time) as f32;
        for ((calm, way), radius) in self.calm.iter_mut().zip(&columns.total).zip(&guides.radius) {
            let speed = way.length() / (2.0 * radius * unit);
            *calm = if speed <= CALM_SPEED {
                (calm.max(0.0) + duration as f32).min(2.0 * CALM_TIME)
            } else {
                -layers(speed)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn restless_guides_keep_awake_whoever_is_within_their_layers() {
        let n = 2 * CHUNK + 40;
        // A thin net: each guide may touch the next but two, and some farther on.
        let others = |i: usize| {
            [i + 3, i + 11 + i % 7]
                .into_iter()
                .filter(move |&j| j < n && !i.is_multiple_of(5))
        };
        let mut candidates = Vec::new();
        for first in (0..n).step_by(CHUNK) {
            let mut chunk = Candidates::default();
            chunk.clear();
            for i in first..n.min(first + CHUNK) {
                chunk.push_row(others(i).map(|j| (j as u32, Vec3::ZERO)));
            }
            candidates.push(chunk);
        }
        let calm = |i: usize| match i {
            100 => -4.0,
            303 | 304 => -1.0,
            500 => -2.0,
            _ if i.is_multiple_of(9) => 0.5 * CALM_TIME,
            _ => CALM_TIME,
        };
        let mut sleep = Sleep {
            calm: (0..n).map(calm).collect(),
            asleep: vec![true; n],
            ..Sleep::default()
        };
        sleep.decide(&candidates, &[], &[200]);
        let restless = [(100, 4), (303, 1), (304, 1), (500, 2), (200, 1)];
        let mut awake: Vec<bool> = (0..n).map(|i| i.is_multiple_of(9)).collect();
        for (from, layers) in restless {
            let mut reached = vec![from];
            for _ in 0..layers {
                let last = reached.clone();
                let touches = |i: usize| {
                    last.iter()
                        .any(|&k| others(k).any(|j| j == i) || others(i).any(|j| j == k))
                };
                reached.extend((0..n).filter(|&i| touches(i)));
            }
            reached.iter().for_each(|&i| awake[i] = true);
        }
        let asleep: Vec<bool> = awake.iter().map(|awake| !awake).collect();
        assert_eq!(sleep.asleep, asleep);
        assert!(awake.iter().filter(|awake| **awake).count() > n / 9 + 20);
        sleep.calm.fill(0.0);
        sleep.decide(&candidates, &[], &[]);
        assert!(!sleep.asleep.contains(&true));
    }
}
