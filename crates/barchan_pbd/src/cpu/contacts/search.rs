//! The search: contact candidates are found again for all guides, or for the few that left their skin.

use barchan_world::{AdvanceError, Stopwatch, World};
use glam::Vec4;
use rayon::prelude::*;

use super::candidates::{self, Geometry, Past};
use super::margins::Ahead;
use super::nearby::Nearby;
use super::rules::SLACK;
use super::scene::StepScene;
use super::{CHUNK, Lists, Store};

/// Deviation from its predicted path that a guide may have while its candidates hold, as a fraction of the largest
/// radius [-].
const MARGIN: f32 = 0.15;
/// Skin above which a guide is fast, as a fraction of the largest radius [-]: larger cells for all guides would cost
/// more than a search of their own for the fast ones.
const SLOW_SKIN: f32 = 0.6;
/// Largest skin of a guide, as a fraction of the largest radius [-].
const MAX_SKIN: f32 = 4.0;

/// Largest search distance, as a fraction of the shortest period [-]: a quarter, less rounding.
const FELT_PERIOD: f32 = 0.2499;

/// Guides that move no farther than this in a frame, as a fraction of the largest radius [-], are searched for this
/// many frames ahead [-].
const SLOW_WAY: f32 = 0.3;
const SLOW_FRAMES: f32 = 3.0;

/// Guides that left their skin are searched for on their own if there are at least this many guides per leaving one
/// [-]; otherwise all are searched for.
const MIN_GUIDES_PER_LEAVING: usize = 4;

/// Checks whether `leaving` of `all` guides are few enough to be searched for on their own.
pub(super) fn is_few(leaving: usize, all: usize) -> bool {
    leaving * MIN_GUIDES_PER_LEAVING <= all
}

impl Store {
    /// Finds pairs and near bodies again where those of the last search do not hold for this step, in which guides go by `free` [m]. The
    /// frame has `left` steps after it. Returns whether all guides were searched for.
    pub(crate) fn update(
        &mut self,
        scene: &StepScene<'_>,
        free: &[Vec4],
        left: u32,
        clock: &mut Stopwatch,
    ) -> Result<bool, AdvanceError> {
        clock.enter("search");
        let near_holds = self.near.follow(scene);
        let is_ready = self.lists == Lists::Ready;
        let holds = is_ready && (self.margins.hold(free) || self.mend(scene, free, left, clock)?);
        if !holds {
            self.search(scene, free, left, clock)?;
        }
        if !(holds && near_holds) {
            clock.enter("near bodies");
            self.near.find(scene, &self.margins, left + 1);
        }
        Ok(!holds)
    }

    /// Searches for the guides that leave their skin, if they are few: the candidates of the others still hold. Returns whether it did.
    fn mend(
        &mut self,
        scene: &StepScene<'_>,
        free: &[Vec4],
        left: u32,
        clock: &mut Stopwatch,
    ) -> Result<bool, AdvanceError> {
        clock.enter("mend");
        let Self {
            margins,
            candidates,
            who,
            pairs,
            ..
        } = self;
        let (world, radius) = (scene.world, &scene.world.guides.radius);
        margins.look_again(ahead(world, self.largest, (left + 1) as f32), free, who);
        // Pairs keep the image that they were found with: guides must stay nearer to it than to any other.
        let most = farthest(world, self.largest) + MARGIN * self.largest;
        let is_far = most.is_finite() && margins.farthest() > most;
        if !is_few(who.len(), radius.len()) || is_far {
            return Ok(false);
        }
        let is_known = |pair: [u32; 2]| candidates[pair[0] as usize / CHUNK].has(pair);
        self.nearby
            .find_again(who, radius, margins, is_known, pairs)
            .map_err(search_error)?;
        let geometry = Geometry::new(world, margins);
        let chunks = candidates.par_iter_mut().zip(&mut self.contacts.rows);
        chunks.enumerate().for_each(|(c, (candidates, rows))| {
            let new = of_chunk(pairs, c, |pair| pair[0]);
            if !new.is_empty() {
                candidates.insert(c, new, &geometry);
                rows.reserve(candidates);
            }
        });
        self.imports.find_more(candidates);
        self.near.find_again(scene, margins, who);
        Ok(true)
    }

    /// Searches for all guides, for this step and up to `left` more.
    fn search(
        &mut self,
        scene: &StepScene<'_>,
        free: &[Vec4],
        left: u32,
        clock: &mut Stopwatch,
    ) -> Result<(), AdvanceError> {
        clock.enter("search");
        let world = scene.world;
        // As far ahead as the fastest guide allows.
        let max_skin = (MAX_SKIN * self.largest).min(farthest(world, self.largest)).max(0.0);
        let longest = free
            .par_iter()
            .map(|free| free.length_squared())
            .reduce(|| 0.0, f32::max);
        let steps = max_skin / (0.5 * longest.sqrt()).max(f32::MIN_POSITIVE);
        let steps = steps.min((left + 1) as f32).max(1.0);
        self.margins.rebase(&world.guides);
        self.margins.look_ahead(ahead(world, self.largest, steps), free);
        self.nearby
            .find(&world.guides.radius, &self.margins, SLOW_SKIN * self.largest)
            .map_err(search_error)?;
        clock.enter("candidates");
        std::mem::swap(&mut self.candidates, &mut self.memory.candidates);
        self.memory.find_new();
        let past = scene.rules.remembers.then_some(Past {
            candidates: &self.memory.candidates,
            old: &self.memory.old,
            new: &self.memory.new,
        });
        let geometry = Geometry::new(world, &self.margins);
        candidates::build(&mut self.candidates, &self.nearby, &geometry, past);
        self.make_room(world.guides.len());
        self.lists = Lists::Ready;
        Ok(())
    }
}

/// Returns the purpose of a search for `steps` steps, with guides of at most `largest` [m] radius.
fn ahead(world: &World, largest: f32, steps: f32) -> Ahead {
    let is_open = world.periodic.iter().all(Option::is_none);
    Ahead {
        steps,
        frames: if is_open { SLOW_FRAMES } else { 1.0 },
        near: SLOW_WAY * largest,
        margin: MARGIN * largest,
        most: farthest(world, largest).max(0.0),
    }
}

/// Longest half of a way that guides of at most `largest` [m] radius can be searched along [m]: they must not be felt by two images of another at
/// once, so a period must be four times as long as they are felt. Infinite where nothing is periodic.
fn farthest(world: &World, largest: f32) -> f32 {
    let lengths = world.periodic.iter().flatten().map(|[low, high]| high - low);
    let shortest = lengths.fold(f64::INFINITY, f64::min) as f32;
    FELT_PERIOD * shortest - (1.0 + SLACK + MARGIN) * largest
}

/// Longest way of a guide in a step [m] in periodic ranges: half of it lies on either side of its middle.
pub(crate) fn longest_way(world: &World, largest: f32) -> f64 {
    2.0 * f64::from(farthest(world, largest))
}

/// Prepares the search in the world's domain.
pub(super) fn nearby_in(world: &World) -> Result<Nearby, AdvanceError> {
    let local = |axis: usize| {
        let range = world.periodic[axis]?;
        let at = |x: f64| (x - world.origin[axis]) as f32;
        Some(at(range[0])..at(range[1]))
    };
    Nearby::new([local(0), local(1), local(2)]).map_err(search_error)
}

/// The part of `all`, in the order of the guides that `of` names, that is of the guides of chunk `c`.
pub(super) fn of_chunk<T>(all: &[T], c: usize, of: impl Fn(&T) -> u32) -> &[T] {
    let end = |c: usize| all.partition_point(|x| (of(x) as usize) < c * CHUNK);
    &all[end(c)..end(c + 1)]
}

fn search_error(error: barchan_neighbors::Error) -> AdvanceError {
    AdvanceError::Scene {
        what: format!("guides cannot be searched: {error}"),
        advice: "check periodic ranges, radii and positions".to_owned(),
    }
}
