//! The contact store: guides and bodies that may touch before the next search, the contacts of a step, and the impulses that outlive both.
//!
//! Candidates are searched with a margin that lasts three frames for slow guides. Later steps search again only for guides that left their
//! margin (`search`); pairs are kept chunk by chunk (`candidates`, `halo`), bodies per guide (`near`), and impulses follow their pair
//! through searches, sorts and checkpoints (`memory`).

mod blocks;
pub(crate) mod candidates;
pub(crate) mod halo;
pub(crate) mod margins;
pub(crate) mod memory;
pub(crate) mod near;
mod nearby;
mod search;

use barchan_world::{AdvanceError, Archive, ArchiveError, Guides, NEW_ROW, Periodic, World};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::bodies::Load;
use super::scene::{Contacts, Going, StepScene};
use super::sleep::Balance;
use super::walls::{ChunkWalls, walls_of};
use super::{CHUNK, make_room, rows, rules, scene, simd, walls};
use candidates::{Candidates, Geometry};
use halo::Imports;
use margins::Margins;
use memory::Memory;
use near::NearBodies;
use nearby::Nearby;
pub(crate) use search::longest_way;

/// Contacts of guides with each other and with bodies: candidates, those of this step, and those of before.
#[derive(Debug, Default)]
pub(crate) struct Store {
    lists: Lists,
    margins: Margins,
    nearby: Nearby,
    /// Pairs that may touch before the next search, and sums that chunks have for each other.
    pub(super) candidates: Vec<Candidates>,
    pub(super) imports: Imports,
    near: NearBodies,
    pub(super) contacts: Contacts,
    memory: Memory,
    /// Largest radius of a guide [m].
    largest: f32,
    /// Periodic ranges and origin of the world that `nearby` is for.
    domain: Option<(Periodic, DVec3)>,
    /// Guides that are searched for again, and their new pairs.
    who: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

/// State of the lists of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lists {
    /// Of other guides, or of guides in another order.
    #[default]
    Stale,
    /// Pairs and impulses without geometry, as a checkpoint has them.
    Bare,
    /// Of the guides as they are sorted now.
    Ready,
}

impl Store {
    /// Checks whether candidates can be kept over a frame of `duration` [s]: guides are as the last frame left them, and few will leave their
    /// skin.
    pub(crate) fn keeps(&self, world: &World, duration: f64) -> bool {
        let Guides { id, velocity, .. } = &world.guides;
        self.lists != Lists::Stale
            && self
                .domain
                .is_none_or(|domain| domain == (world.periodic, world.origin))
            && self.memory.ids == *id
            && self.margins.is_as_left(&world.guides)
            && search::is_few(self.margins.leaving(velocity, duration as f32), velocity.len())
    }

    /// Begins a frame with guides of at most `largest` [m] radius, in their order of now; `keeps`: as [`keeps`](Self::keeps) found.
    /// `has_new_bodies`: bodies are others than before.
    pub(crate) fn begin_frame(
        &mut self,
        world: &World,
        largest: f32,
        keeps: bool,
        has_new_bodies: bool,
    ) -> Result<(), AdvanceError> {
        self.largest = largest;
        let domain = (world.periodic, world.origin);
        if self.domain.replace(domain) != Some(domain) {
            self.nearby = search::nearby_in(world)?;
        }
        if keeps {
            self.memory.is_in_order(world.guides.len());
            self.margins.go_on();
            if self.lists == Lists::Bare {
                self.complete(world);
            }
        } else {
            self.lists = Lists::Stale;
            self.memory.follow(&world.guides.id);
            self.margins.reset(world.guides.len());
        }
        self.near.begin_frame(world, &self.memory.old, has_new_bodies);
        Ok(())
    }

    /// Number that each guide had in what is remembered; beyond all where it is new.
    pub(crate) fn old(&self) -> &[u32] {
        &self.memory.old
    }

    /// Checks whether these are the guides of the last frame.
    pub(crate) fn is_of(&self, guides: &Guides) -> bool {
        self.memory.ids == guides.id
    }

    /// Finds the contacts of the step: candidates that touch now or after displacements `free` [m], with the impulses that they had.
    pub(crate) fn contacts(&mut self, scene: &StepScene<'_>, free: &[Vec4]) {
        let used = scene.world.guides.len().div_ceil(CHUNK);
        std::mem::swap(&mut self.contacts.walls, &mut self.memory.walls);
        self.contacts.resize(used);
        let (margins, memory) = (&self.margins, &self.memory);
        let placing = rows::Placing {
            at: &margins.at,
            free,
            asleep: scene.asleep,
            friction: scene.pair_friction,
            rules: scene.rules,
        };
        let going = Going {
            margins,
            free,
            gone: &self.near.gone,
        };
        let Contacts { rows, walls, .. } = &mut self.contacts;
        let found = rows[..used].par_iter_mut().zip(walls.par_iter_mut());
        let candidates = self.candidates.par_iter().zip(self.near.of.par_iter_mut());
        let chunks = found.zip(candidates).enumerate();
        // One by one: chunks at bodies take far longer than others.
        chunks
            .with_max_len(1)
            .for_each(|(c, ((rows, walls), (candidates, near)))| {
                rows::place(rows, c, candidates, placing);
                scene.touch_all(c, going, near, memory, walls);
            });
        self.memory.is_in_order(scene.world.guides.len());
    }

    /// Moves guides by `moved` [m].
    pub(crate) fn advance(&mut self, guides: &mut Guides, moved: &[Vec4]) {
        self.margins.advance(guides, moved);
        self.near.advance(moved);
    }

    /// Leaves the impulses of the step with their candidates, for the next one.
    pub(crate) fn remember(&mut self) {
        let chunks = self.candidates.par_iter_mut().zip(self.contacts.rows.par_iter());
        chunks.for_each(|(candidates, rows)| rows::keep(rows, candidates));
    }

    /// Multiplies all impulses by `factor` [-].
    pub(crate) fn scale_impulses(&mut self, factor: f32) {
        let chunks = self.candidates.par_iter_mut();
        chunks.for_each(|chunk| chunk.scale_impulses(factor));
        let walls = self.contacts.walls.iter_mut().flat_map(|walls| &mut walls.all);
        walls.for_each(|wall| wall.impulse *= factor);
    }

    /// Ends a frame.
    pub(crate) fn end_frame(&mut self, world: &World) {
        self.margins.add_up();
        self.near.end_frame(world);
    }

    /// Notes a frame in which none of `n` guides moves.
    pub(crate) fn skip_frame(&mut self, n: usize) {
        self.margins.stay(n);
    }

    /// Displacement of each guide over the last frame [m].
    pub(crate) fn displacement(&self) -> &[Vec3] {
        &self.margins.total
    }

    /// Impulses that each chunk has for bodies.
    pub(crate) fn loads(&self) -> &[Vec<Load>] {
        &self.contacts.loads
    }

    /// Deepest overlap, of a radius [-], and the guide that has it.
    pub(crate) fn deepest(&self, radius: &[f32]) -> (f32, u32) {
        let deeper = |a: (f32, u32), b: (f32, u32)| match b.0 > a.0 || b.0 == a.0 && b.1 < a.1 {
            true => b,
            false => a,
        };
        let chunks = self.candidates.par_iter().enumerate();
        let pairs = chunks
            .map(|(c, chunk)| chunk.deepest(c * CHUNK, &self.margins.at))
            .reduce(|| (0.0, 0), deeper);
        let walls = self.contacts.walls.iter().flat_map(|c| &c.all);
        let walls = walls.map(|w| (-w.start / radius[w.guide as usize], w.guide));
        walls.fold(pairs, deeper)
    }

    /// Visits each chunk: its sum of impulses between guides [kg m], and its contacts with bodies.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (f32, &ChunkWalls)> {
        let chunks = self.candidates.iter().zip(&self.contacts.walls);
        chunks.map(|(chunk, walls)| (chunk.impulses(), walls))
    }

    /// Finds weight and resultant of each chunk by the contacts with bodies of the last step, of length `step` [s].
    pub(crate) fn balance(&self, world: &World, step: f64, balance: &mut Vec<Balance>) {
        let (gravity, walls) = (world.gravity.as_vec3(), &self.contacts.walls);
        let old = self.memory.old.par_chunks(CHUNK);
        let chunks = old.zip(world.guides.mass.par_chunks(CHUNK)).map(|(old, mass)| {
            let mass: f32 = mass.iter().sum();
            let own = old.iter().flat_map(|&k| walls_of(walls, k));
            let carried: Vec3 = own.map(|wall| wall.impulse).sum();
            Balance {
                weight: mass * gravity.length(),
                resultant: mass * gravity + carried / (step * step) as f32,
            }
        });
        chunks.collect_into_vec(balance);
    }

    /// Guides that lost a contact that carried them by the search of this step. Only pairs with one that `may_sleep` are looked at.
    pub(crate) fn lost(&self, may_sleep: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
        let is_kept = |i: u32, j: u32| {
            let near = self.nearby.of(i as usize);
            !(may_sleep(i) || may_sleep(j)) || near.iter().any(|others| others.contains(&j))
        };
        halo::lost(&self.memory.candidates, &self.memory.new, is_kept, NEW_ROW)
    }

    /// Guides near bodies, chunk by chunk.
    pub(super) fn near(&self) -> &[Vec<near::Near>] {
        &self.near.of
    }

    /// Completes lists that were loaded.
    fn complete(&mut self, world: &World) {
        std::mem::swap(&mut self.candidates, &mut self.memory.candidates);
        let geometry = Geometry::new(world, &self.margins);
        candidates::complete(&mut self.candidates, &self.memory.candidates, &geometry);
        self.make_room(world.guides.len());
        self.lists = Lists::Ready;
    }

    /// Makes room for contacts of these candidates.
    fn make_room(&mut self, guides: usize) {
        self.imports.find(&mut self.candidates);
        self.contacts.resize(guides.div_ceil(CHUNK));
        let chunks = self.contacts.rows.par_iter_mut().zip(&self.candidates);
        chunks.for_each(|(rows, candidates)| rows.reserve(candidates));
    }

    /// Stores what it takes to go on bit for bit.
    pub(crate) fn save(&self, archive: &mut Archive) {
        archive.put("pbd.ids", &self.memory.ids);
        memory::save_pairs(&self.candidates, archive);
        memory::save_margins(&self.margins, archive);
        memory::save_walls(&self.contacts.walls, archive);
    }

    /// Restores it.
    pub(crate) fn load(world: &World, archive: &Archive) -> Result<Self, ArchiveError> {
        let ids: Vec<u32> = archive.get_ids("pbd.ids", world.next_id)?;
        let bodies = world.bodies.len() * world.places_of_bodies();
        let mut store = Self {
            lists: Lists::Bare,
            candidates: memory::load_pairs(ids.len(), archive)?,
            margins: memory::load_margins(ids.len(), archive)?,
            ..Self::default()
        };
        store.contacts.walls = memory::load_walls(ids.len(), bodies, archive)?;
        store.memory.ids = ids;
        Ok(store)
    }

    /// Number of guides that it is for.
    pub(crate) fn len(&self) -> usize {
        self.memory.ids.len()
    }
}
