//! A step, stage by stage, after Algorithm 1 of [Sommer22].

use barchan_neighbors::{Grid, Lists};
use barchan_world::{AdvanceError, AdvanceReport, Archive, ArchiveError, Friction, Solver, World, Wrench};
use glam::Vec3;

use crate::cpu::bodies::{BodyStep, Load};
use crate::cpu::guides::{self, Chunk, Columns, Extremes, Scene};
use crate::cpu::pairs::Pairs;
use crate::cpu::solve::Rules;
use crate::cpu::surface::Surface;
use crate::cpu::{CHUNK, memory};
use crate::frame::{Clock, Spare};
use crate::laws::mass;
use crate::settings::SettingsError;
use crate::{PbdSettings, RigidMotion};

/// The solver.
pub struct PbdSolver {
    pub(crate) settings: PbdSettings,
    pub(crate) motion: Box<dyn RigidMotion>,
    pub(crate) columns: Columns,
    pub(crate) grid: Grid,
    pub(crate) lists: Lists,
    pub(crate) pairs: Pairs,
    /// The pairs of the last search, and the walls of the last step, to remember from.
    pub(crate) old_pairs: Pairs,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) old_chunks: Vec<Chunk>,
    /// Number that each guide has in what is remembered, and the ids of the guides there.
    pub(crate) old: Vec<u32>,
    pub(crate) ids: Vec<u32>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) bodies: Vec<BodyStep>,
    pub(crate) loads: Vec<Load>,
    pub(crate) impulses: Vec<Wrench>,
    pub(crate) pair_friction: Vec<Friction>,
    pub(crate) body_friction: Vec<Friction>,
    /// Reach of each body from its centre [m].
    pub(crate) extents: Vec<f64>,
    /// What lists allow for [m], and how far bodies went since they were found [m].
    pub(crate) margin: f64,
    pub(crate) body_travel: f64,
    pub(crate) largest: f32,
    /// The last time step [s].
    pub(crate) last_step: f64,
    pub(crate) clock: Clock,
    pub(crate) spare: Spare,
}

/// The scene that a pass over guides sees, and what it changes.
pub(crate) struct Parts<'a> {
    pub scene: Scene<'a>,
    pub columns: &'a mut Columns,
    pub chunks: &'a mut [Chunk],
    pairs: &'a Pairs,
    old_chunks: &'a [Chunk],
    old: &'a [u32],
}

impl PbdSolver {
    /// A solver for any world, whose bodies `motion` moves.
    pub fn new(settings: PbdSettings, motion: Box<dyn RigidMotion>) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            motion,
            columns: Columns::default(),
            grid: Grid::new(),
            lists: Lists::new(),
            pairs: Pairs::default(),
            old_pairs: Pairs::default(),
            chunks: Vec::new(),
            old_chunks: Vec::new(),
            old: Vec::new(),
            ids: Vec::new(),
            surfaces: Vec::new(),
            bodies: Vec::new(),
            loads: Vec::new(),
            impulses: Vec::new(),
            pair_friction: Vec::new(),
            body_friction: Vec::new(),
            extents: Vec::new(),
            margin: 0.0,
            body_travel: f64::INFINITY,
            largest: 0.0,
            last_step: 0.0,
            clock: Clock::default(),
            spare: Spare::default(),
        })
    }

    /// How far each guide went in the last frame [m], in the world's order.
    pub fn frame_displacement(&self) -> &[Vec3] {
        &self.columns.total
    }

    /// One step of `step` [s].
    fn step(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        let rules = Rules::new(&self.settings, step, self.last_step);
        self.clock.enter("predict");
        let found = self.predict(world, step)?;
        self.clock.enter("search");
        self.search_if_needed(world, found)?;
        self.clock.enter("contacts");
        self.pairs.place_planes(&self.columns.at, &self.columns.free, rules);
        self.clock.enter("weigh");
        self.weigh(world, rules);
        self.clock.enter("stabilise");
        self.stabilise(world, rules);
        self.clock.enter("solve");
        for pass in 1..=self.settings.iterations {
            self.pairs.solve(&self.columns.moved, rules);
            self.gather(world, rules, pass == self.settings.iterations);
        }
        self.clock.enter("finish");
        self.finish(world, step);
        self.clock.enter("bodies");
        self.move_bodies(world, step)?;
        self.last_step = step;
        Ok(())
    }

    /// Velocities and free ways of guides, poses of bodies at the end of the step.
    fn predict(&mut self, world: &mut World, step: f64) -> Result<Extremes, AdvanceError> {
        self.bodies.clear();
        self.bodies
            .extend((0..world.bodies.len()).map(|k| BodyStep::new(world, k, step)));
        let found = guides::predict(
            &mut world.guides.velocity,
            &mut self.columns,
            world.gravity.as_vec3(),
            step as f32,
        );
        match found.is_finite {
            true => Ok(found),
            false => Err(self.not_finite(world)),
        }
    }

    fn weigh(&mut self, world: &World, rules: Rules) {
        std::mem::swap(&mut self.chunks, &mut self.old_chunks);
        let near = self.old_chunks.iter_mut().zip(&mut self.chunks);
        near.for_each(|(old, new)| std::mem::swap(&mut old.near, &mut new.near));
        for chunk in &mut self.chunks[world.guides.len().div_ceil(CHUNK)..] {
            chunk.walls.clear();
            chunk.loads.clear();
        }
        let parts = self.split(world, rules);
        parts
            .scene
            .weigh(parts.columns, parts.chunks, parts.old_chunks, parts.old, parts.pairs);
        if self.bodies.iter().any(|b| b.is_dynamic) {
            self.sum_loads();
        }
        self.pairs.stiffen(&self.columns.weight);
        for (number, old) in (0..).zip(&mut self.old) {
            *old = number;
        }
    }

    /// Moves guides out of inherited overlaps, without giving them speed.
    fn stabilise(&mut self, world: &World, rules: Rules) {
        for pass in 0..self.settings.stabilisation {
            if pass > 0 {
                self.pairs.push_again(&self.columns.pushed);
            }
            let parts = self.split(world, rules);
            parts.scene.push(parts.columns, parts.chunks, parts.pairs);
        }
        if !rules.inherits && self.settings.stabilisation > 0 {
            self.pairs.shift_gaps(&self.columns.pushed);
            let parts = self.split(world, rules);
            parts.scene.shift_gaps(parts.columns, parts.chunks);
        }
    }

    /// Sums impulses on guides and bodies.
    fn gather(&mut self, world: &World, rules: Rules, is_last: bool) {
        let loads = is_last || self.bodies.iter().any(|b| b.is_dynamic);
        let parts = self.split(world, rules);
        parts.scene.gather(parts.columns, parts.chunks, parts.pairs, loads);
        if loads {
            self.sum_loads();
        }
    }

    /// Sums the loads of all chunks, in their order, and moves the dynamic bodies by them.
    fn sum_loads(&mut self) {
        self.loads.clear();
        self.loads.resize(self.bodies.len(), Load::default());
        for chunk in &self.chunks {
            for (sum, load) in self.loads.iter_mut().zip(&chunk.loads) {
                sum.add(load);
            }
        }
        for (body, load) in self.bodies.iter_mut().zip(&self.loads) {
            body.contacts = mass::shared_by(load.contacts as f32, self.settings.relaxation);
            body.give(load);
        }
    }

    fn finish(&mut self, world: &mut World, step: f64) {
        let guides = &mut world.guides;
        let clamp = self.settings.velocity_clamp;
        guides::finish(
            &mut guides.velocity,
            &guides.radius,
            &mut self.columns,
            clamp,
            step as f32,
        );
    }

    /// What passes over guides need, in parts that can be borrowed at once.
    pub(crate) fn split<'a>(&'a mut self, world: &'a World, rules: Rules) -> Parts<'a> {
        let scene = Scene {
            guides: &world.guides,
            origin: world.origin,
            bodies: &self.bodies,
            surfaces: &self.surfaces,
            friction: &self.body_friction,
            materials: world.materials.all.len(),
            splitting: self.settings.splitting,
            keeps_momentum: self.settings.keeps_momentum(),
            rules,
        };
        Parts {
            scene,
            columns: &mut self.columns,
            chunks: &mut self.chunks,
            pairs: &self.pairs,
            old_chunks: &self.old_chunks,
            old: &self.old,
        }
    }
}

impl Solver for PbdSolver {
    fn name(&self) -> &'static str {
        "pbd"
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        self.begin_frame(world)?;
        let (start, steps) = (world.time, self.plan(world, duration)?);
        let step = duration / f64::from(steps);
        for k in 0..steps {
            world.time = start + duration * f64::from(k) / f64::from(steps);
            self.step(world, step)?;
        }
        world.time = start + duration;
        self.end_frame(world, duration, steps)
    }

    fn save(&self, archive: &mut Archive) {
        archive.put("pbd.ids", &self.ids);
        archive.put("pbd.last_step", &[self.last_step]);
        self.pairs.save(archive);
        memory::save_walls(&self.chunks, archive);
        self.motion.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let ids: Vec<u32> = archive.get("pbd.ids")?;
        let last_step = archive.get_one("pbd.last_step")?;
        let pairs = Pairs::load(archive)?;
        let chunks = memory::load_walls(ids.len(), archive)?;
        self.motion.load(world, archive)?;
        (self.ids, self.last_step, self.pairs, self.chunks) = (ids, last_step, pairs, chunks);
        Ok(())
    }
}
