//! Guides that rest cost next to nothing.
//!
//! A guide that has hardly moved for a while is calm. It sleeps if no body near it moves and nobody near it is restless: what touches a
//! restless guide is awake, and around fast ones so are several layers, for a hit goes through them within the frame. Asleep, a guide is
//! a fixed obstacle, and its contacts keep the impulses that they had.

use barchan_world::{Archive, ArchiveError, Guides};
use rayon::prelude::*;

use super::guides::Columns;
use super::near::Near;
use super::nearby::Nearby;

/// A guide is calm below this speed, of √(g d) [-].
const CALM_SPEED: f32 = 1e-3;
/// And after this time [s].
const CALM_TIME: f32 = 0.5;
/// A guide is restless above this speed, of √(g d) [-]: far faster than calm, or a large heap would wake itself by going on to settle.
const RESTLESS_SPEED: f32 = 1.5e-2;
/// Most layers of guides that a fast one keeps awake [-].
const MOST_LAYERS: usize = 6;
/// Layers around guides at moving bodies that stay awake [-].
const BODY_LAYERS: f32 = 2.0;

/// Layers around a guide of `speed`, of √(g d) [-], that stay awake [-].
fn layers(speed: f32) -> f32 {
    if speed <= RESTLESS_SPEED {
        return 0.0;
    }
    (1.0 + speed.floor()).min(MOST_LAYERS as f32)
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
    /// Layers that each guide keeps awake in this frame, and who keeps how many.
    layers: Vec<u8>,
    by_layers: [Vec<u32>; MOST_LAYERS + 1],
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
            self.calm[near.guide as usize] = -BODY_LAYERS;
        }
        for &i in lost {
            self.calm[i as usize] = -1.0;
        }
        self.spread(nearby);
        let (calm, layers) = (&self.calm, &self.layers);
        let wakes = |j: &u32| layers[*j as usize] > 0;
        self.asleep.par_iter_mut().enumerate().for_each(|(i, asleep)| {
            *asleep = Self::is_calm(calm[i]) && layers[i] == 0 && !nearby.of(i).into_iter().flatten().any(wakes);
        });
    }

    /// Gives those around restless guides one layer less than these.
    fn spread(&mut self, nearby: &Nearby) {
        let Self {
            calm,
            layers,
            by_layers,
            ..
        } = self;
        layers.clear();
        layers.extend(calm.iter().map(|&calm| (-calm).max(0.0) as u8));
        by_layers.iter_mut().for_each(Vec::clear);
        for (i, &layers) in (0..).zip(&*layers).filter(|(_, layers)| **layers > 1) {
            by_layers[usize::from(layers)].push(i);
        }
        for most in (2..=MOST_LAYERS).rev() {
            let (fewer, these) = by_layers.split_at_mut(most);
            // Whoever came here later with more layers has been dealt with.
            for &i in &these[0] {
                if usize::from(layers[i as usize]) > most {
                    continue;
                }
                for &j in nearby.of(i as usize).into_iter().flatten() {
                    let layers = &mut layers[j as usize];
                    if usize::from(*layers) < most - 1 {
                        *layers = most as u8 - 1;
                        fewer[most - 1].push(j);
                    }
                }
            }
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
