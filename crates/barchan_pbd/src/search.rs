//! When guides have moved too far for their lists: what may touch is found anew, for all or for those few.

use barchan_world::{AdvanceError, World};

use crate::PbdSolver;
use crate::cpu::CHUNK;
use crate::cpu::bodies::BodyStep;
use crate::cpu::candidates::{self, Geometry, Past};
use crate::cpu::guides::Extremes;
use crate::cpu::memory::NEW;
use crate::cpu::rules::{Rules, SLACK};
use crate::frame::Spare;

/// Leeway that every guide has before lists end, of the largest radius [-].
const LEEWAY: f32 = 0.2;
/// A guide that needs more, of the largest radius [-], is fast: larger cells for all would cost more than a search of its own.
const SLOW_LEEWAY: f32 = 0.6;
/// The most that a guide has, of the largest radius [-].
const MOST_LEEWAY: f32 = 4.0;

/// Guides that may be searched for anew [-], each among all, before all are.
const MOST_MENDED: usize = 32;

impl PbdSolver {
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
        if self.body_travel <= self.body_margin && is_same && (found.holds || self.mend(world, left)) {
            return Ok(());
        }
        if !is_same {
            self.columns.apart.fill(f32::NEG_INFINITY);
        }
        self.spare.is_present.clear();
        self.spare.is_present.extend(self.bodies.iter().map(|b| b.is_present));
        self.columns.fold(&mut world.guides);
        // As far ahead as the fastest guide allows.
        let most = self.most_leeway(world) / (0.5 * found.free.sqrt()).max(f32::MIN_POSITIVE);
        let steps = most.min((left + 1) as f32).max(1.0);
        self.body_travel = body;
        self.body_margin = 1.1 * body * steps;
        self.search(world, steps)?;
        if std::mem::take(&mut self.is_first_search) && self.sleeps() {
            self.let_sleep(world, step);
        }
        Ok(())
    }

    /// Finds anew what the guides that left their leeway may touch, if they are few: what the others may touch still holds.
    fn mend(&mut self, world: &World, left: u32) -> bool {
        let Spare {
            u32: who, pairs, some, ..
        } = &mut self.spare;
        let (steps, margin) = ((left + 1) as f32, LEEWAY * self.largest);
        self.columns.look_again(steps, margin, who);
        if who.len() > MOST_MENDED {
            return false;
        }
        let geometry = Geometry::new(world);
        pairs.clear();
        for &i in who.iter() {
            let found = self
                .nearby
                .find_again(i as usize, &world.guides, &self.columns, geometry.periods.as_vec3());
            pairs.extend(found.map(|j| [i.min(j), i.max(j)]));
        }
        pairs.sort_unstable();
        for of_chunk in pairs.chunk_by(|a, b| a[0] as usize / CHUNK == b[0] as usize / CHUNK) {
            let c = of_chunk[0][0] as usize / CHUNK;
            some.clear();
            some.extend_from_slice(of_chunk);
            self.candidates[c].insert(c, some, &geometry);
            self.contacts.rows[c].reserve(&self.candidates[c]);
        }
        self.imports.find(&self.candidates);
        let (margin, rules) = (self.body_margin, Rules::new(&self.settings, 1.0, 1.0));
        let who = std::mem::take(&mut self.spare.u32);
        let (scene, parts) = self.split(world, rules);
        for i in who.iter().map(|&i| i as usize) {
            scene.find_near_again(i, &mut parts.near[i / CHUNK], parts.columns, margin);
        }
        self.spare.u32 = who;
        true
    }

    /// The most that a guide may go before the next search [m]: a period must be four times as long as it is then felt.
    fn most_leeway(&self, world: &World) -> f32 {
        let shortest = world.periodic.iter().flatten().map(|[low, high]| high - low);
        let shortest = shortest.fold(f64::INFINITY, f64::min) as f32;
        let felt = (1.0 + SLACK + LEEWAY) * self.largest;
        (MOST_LEEWAY * self.largest).min(0.24 * shortest - felt).max(0.0)
    }

    /// Finds what may touch in the next `steps` steps if guides go on as they do.
    fn search(&mut self, world: &World, steps: f32) -> Result<(), AdvanceError> {
        self.columns.look_ahead(steps, LEEWAY * self.largest);
        self.nearby
            .find(&world.guides, &self.columns, SLOW_LEEWAY * self.largest)
            .map_err(search_error)?;
        self.clock.enter("candidates");
        let geometry = Geometry::new(world);
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
        self.imports.find(&self.candidates);
        self.contacts.resize(world.guides.len().div_ceil(CHUNK));
        for (rows, candidates) in self.contacts.rows.iter_mut().zip(&self.candidates) {
            rows.reserve(candidates);
        }
        self.clock.enter("near bodies");
        self.columns.gone.fill(0.0);
        let (margin, rules) = (self.body_margin, Rules::new(&self.settings, 1.0, 1.0));
        let (scene, parts) = self.split(world, rules);
        scene.find_near(parts.near, parts.columns, margin);
        Ok(())
    }
}

pub(crate) fn search_error(error: barchan_neighbors::Error) -> AdvanceError {
    AdvanceError::Scene {
        what: format!("guides cannot be searched: {error}"),
        advice: "check periodic ranges, radii and positions".to_owned(),
    }
}
