//! When guides have moved too far for their lists: what may touch is found anew, for all or for those few.

use barchan_world::{AdvanceError, Guides, World};
use rayon::prelude::*;

use crate::PbdSolver;
use crate::cpu::CHUNK;
use crate::cpu::bodies::BodyStep;
use crate::cpu::contacts::candidates::{self, Geometry, Past};
use crate::cpu::guides::{Ahead, Extremes};
use crate::cpu::contacts::memory::NEW;
use crate::cpu::rules::{Rules, SLACK};
use crate::frame::Spare;

/// Leeway that every guide has before lists end, of the largest radius [-].
const LEEWAY: f32 = 0.15;
/// A guide that needs more, of the largest radius [-], is fast: larger cells for all would cost more than a search of its own.
const SLOW_LEEWAY: f32 = 0.6;
/// The most that a guide has, of the largest radius [-].
const MOST_LEEWAY: f32 = 4.0;

/// Largest search distance, of the shortest period [-]: a quarter, less rounding.
const FELT_PERIOD: f32 = 0.2499;

/// Guides that go no farther than this in a frame, of the largest radius [-], are searched for so many frames ahead [-].
const NEAR: f32 = 0.3;
const FRAMES: f32 = 3.0;

/// Guides may be searched for anew, each among all, up to one in so many [-]; else all are.
const MENDED: usize = 4;

impl PbdSolver {
    /// Whether what may touch need not be found anew for all in the next `duration` [s]: nobody else has moved guides, and few
    /// will leave what was searched for.
    pub(crate) fn keeps_lists(&self, world: &World, duration: f64) -> bool {
        let Guides { id, velocity, .. } = &world.guides;
        self.ids == *id
            && self.columns.is_as_left(&world.guides)
            && self.columns.leaving(velocity, duration as f32) * MENDED <= velocity.len()
    }

    /// Finds pairs and near bodies anew, unless the last ones still hold for this step. The frame has `left` steps after it.
    pub(crate) fn search_if_needed(
        &mut self,
        world: &mut World,
        found: Extremes,
        step: f64,
        left: u32,
    ) -> Result<(), AdvanceError> {
        let travel = |body: &BodyStep| {
            let k = body.of as usize;
            body.travel(world.bodies[k].mass_properties.center, self.extents[k]) as f32
        };
        self.travels.clear();
        self.travels.extend(self.bodies.iter().map(travel));
        let body = self.travels.iter().copied().fold(0.0, f32::max);
        self.body_travel += body;
        let is_same = self
            .bodies
            .iter()
            .map(|b| b.is_present)
            .eq(self.spare.is_present.iter().copied());
        if !is_same {
            self.columns.apart.fill(f32::NEG_INFINITY);
            self.spare.is_present.clear();
            self.spare.is_present.extend(self.bodies.iter().map(|b| b.is_present));
        }
        let holds = self.has_lists && (found.holds || self.mend(world, left)?);
        if !holds {
            self.columns.fold(&mut world.guides);
            // As far ahead as the fastest guide allows.
            let most = self.most_leeway(world) / (0.5 * found.free.sqrt()).max(f32::MIN_POSITIVE);
            self.search(world, most.min((left + 1) as f32).max(1.0))?;
            self.has_lists = true;
        }
        if !holds || !is_same || self.body_travel > self.body_margin {
            self.clock.enter("near bodies");
            self.body_travel = body;
            self.body_margin = 1.1 * body * (left + 1) as f32;
            self.columns.gone.fill(0.0);
            let (margin, rules) = (self.body_margin, Rules::new(&self.settings, 0.0));
            let (scene, parts) = self.split(world, rules);
            scene.find_near(parts.near, parts.columns, margin);
        }
        if std::mem::take(&mut self.is_first_step) && self.sleeps() {
            self.clock.enter("sleep");
            self.let_sleep(world, step, !holds);
        }
        Ok(())
    }

    /// Finds anew what the guides may touch that leave their leeway, if they are few: what the others may touch still holds.
    fn mend(&mut self, world: &World, left: u32) -> Result<bool, AdvanceError> {
        self.clock.enter("mend");
        let Spare { u32: who, pairs, .. } = &mut self.spare;
        self.columns
            .look_again(ahead(world, self.largest, (left + 1) as f32), who);
        // Pairs keep the image that they were found with: guides must stay nearer to it than to any other.
        let most = farthest(world, self.largest) + LEEWAY * self.largest;
        let is_far = most.is_finite() && self.columns.farthest() > most;
        if who.len() * MENDED > world.guides.len() || is_far {
            return Ok(false);
        }
        let geometry = Geometry::new(world, &self.columns);
        let candidates = &self.candidates;
        let is_known = |pair: [u32; 2]| candidates[pair[0] as usize / CHUNK].has(pair);
        self.nearby
            .find_again(who, &world.guides, &self.columns, is_known, pairs)
            .map_err(search_error)?;
        let chunks = self.candidates.par_iter_mut().zip(&mut self.contacts.rows);
        chunks.enumerate().for_each(|(c, (candidates, rows))| {
            let new = of_chunk(pairs, c, |pair| pair[0]);
            if !new.is_empty() {
                candidates.insert(c, new, &geometry);
                rows.reserve(candidates);
            }
        });
        self.imports.find_more(&mut self.candidates);
        let (margin, rules) = (self.body_margin, Rules::new(&self.settings, 0.0));
        let who = std::mem::take(&mut self.spare.u32);
        let (scene, parts) = self.split(world, rules);
        scene.find_near_again(&who, parts.near, parts.columns, margin);
        self.spare.u32 = who;
        Ok(true)
    }

    /// The most that a guide may go from the middle of its way before the next search [m].
    fn most_leeway(&self, world: &World) -> f32 {
        (MOST_LEEWAY * self.largest).min(farthest(world, self.largest)).max(0.0)
    }

    /// Finds what may touch in the next `steps` steps if guides go on as they do.
    fn search(&mut self, world: &World, steps: f32) -> Result<(), AdvanceError> {
        self.columns.look_ahead(ahead(world, self.largest, steps));
        self.nearby
            .find(&world.guides, &self.columns, SLOW_LEEWAY * self.largest)
            .map_err(search_error)?;
        self.clock.enter("candidates");
        let geometry = Geometry::new(world, &self.columns);
        std::mem::swap(&mut self.candidates, &mut self.old_candidates);
        let remembered = self
            .old_candidates
            .iter()
            .map(|chunk| chunk.first.len().saturating_sub(1))
            .sum();
        self.spare.new.clear();
        self.spare.new.resize(remembered, NEW);
        for (i, &old) in (0..).zip(&self.old) {
            if let Some(new) = self.spare.new.get_mut(old as usize) {
                *new = i;
            }
        }
        let past = self.settings.remembers().then_some(Past {
            candidates: &self.old_candidates,
            old: &self.old,
            new: &self.spare.new,
        });
        candidates::build(&mut self.candidates, &self.nearby, &geometry, past);
        self.make_room(world.guides.len());
        Ok(())
    }

    /// Gets ready for contacts of these candidates.
    fn make_room(&mut self, guides: usize) {
        self.imports.find(&mut self.candidates);
        self.contacts.resize(guides.div_ceil(CHUNK));
        let chunks = self.contacts.rows.par_iter_mut().zip(&self.candidates);
        chunks.for_each(|(rows, candidates)| rows.reserve(candidates));
    }

    /// Makes the lists that were loaded whole again.
    pub(crate) fn complete_lists(&mut self, world: &World) {
        std::mem::swap(&mut self.candidates, &mut self.old_candidates);
        candidates::complete(
            &mut self.candidates,
            &self.old_candidates,
            &Geometry::new(world, &self.columns),
        );
        self.make_room(world.guides.len());
    }
}

/// Returns the purpose of a search for `steps` steps, with guides of at most `largest` [m] radius.
fn ahead(world: &World, largest: f32, steps: f32) -> Ahead {
    let is_open = world.periodic.iter().all(Option::is_none);
    Ahead {
        steps,
        frames: if is_open { FRAMES } else { 1.0 },
        near: NEAR * largest,
        margin: LEEWAY * largest,
        most: farthest(world, largest).max(0.0),
    }
}

/// Longest half of a way that guides of at most `largest` [m] radius can be searched along [m]: they must not be felt by two images of another at
/// once, so a period must be four times as long as they are felt. Infinite where nothing is periodic.
fn farthest(world: &World, largest: f32) -> f32 {
    let lengths = world.periodic.iter().flatten().map(|[low, high]| high - low);
    let shortest = lengths.fold(f64::INFINITY, f64::min) as f32;
    FELT_PERIOD * shortest - (1.0 + SLACK + LEEWAY) * largest
}

/// Longest way of a guide in a step [m] in periodic ranges: half of it lies on either side of its middle.
pub(crate) fn longest_way(world: &World, largest: f32) -> f64 {
    2.0 * f64::from(farthest(world, largest))
}

/// The part of `all`, in the order of the guides that `of` tells, that is of the guides of chunk `c`.
pub(crate) fn of_chunk<T>(all: &[T], c: usize, of: impl Fn(&T) -> u32) -> &[T] {
    let end = |c: usize| all.partition_point(|x| (of(x) as usize) < c * CHUNK);
    &all[end(c)..end(c + 1)]
}

pub(crate) fn search_error(error: barchan_neighbors::Error) -> AdvanceError {
    AdvanceError::Scene {
        what: format!("guides cannot be searched: {error}"),
        advice: "check periodic ranges, radii and positions".to_owned(),
    }
}
