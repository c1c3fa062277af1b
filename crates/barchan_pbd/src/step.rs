//! A step, stage by stage, after Algorithm 1 of [Sommer22].

use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, Friction, Guides, Pose, SETTLED_FRACTION, Solver, Stopwatch,
    World, Wrench,
};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::cpu::bodies::{BodyStep, Load};
use crate::cpu::contacts::candidates::{Candidates, PairFriction};
use crate::cpu::guides::{self, Columns, Extremes};
use crate::cpu::contacts::halo::Imports;
use crate::cpu::images;
use crate::cpu::contacts::near::Near;
use crate::cpu::contacts::nearby::Nearby;
use crate::cpu::rows;
use crate::cpu::rules::Rules;
use crate::cpu::scene::{Before, Chunks, Contacts, Scene};
use crate::cpu::sleep::Sleep;
use crate::cpu::surface::Surface;
use crate::cpu::walls::Walls;
use crate::cpu::CHUNK;
use crate::cpu::contacts::memory;
use crate::frame::Spare;
use crate::laws::{depth, mass};
use crate::settings::SettingsError;
use crate::{PbdSettings, Rigid, RigidMotion};

/// Volume that a piece of a body takes, of its radius cubed [-]: a sphere in a dense packing.
const PIECE: f64 = 4.0 / 3.0 * std::f64::consts::PI / SETTLED_FRACTION;

/// The solver.
pub struct PbdSolver {
    pub(crate) settings: PbdSettings,
    pub(crate) motion: Box<dyn RigidMotion>,
    pub(crate) columns: Columns,
    pub(crate) nearby: Nearby,
    /// Guides and bodies that may touch before the next search.
    pub(crate) candidates: Vec<Candidates>,
    pub(crate) imports: Imports,
    pub(crate) near: Vec<Vec<Near>>,
    pub(crate) contacts: Contacts,
    /// The candidates of the last search, and the walls of the last step, to remember from.
    pub(crate) old_candidates: Vec<Candidates>,
    pub(crate) old_walls: Vec<Walls>,
    /// Number that each guide has in what is remembered, and the ids of the guides there.
    pub(crate) old: Vec<u32>,
    pub(crate) ids: Vec<u32>,
    pub(crate) sleep: Sleep,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) bodies: Vec<BodyStep>,
    pub(crate) loads: Vec<Load>,
    pub(crate) impulses: Vec<Wrench>,
    pub(crate) pair_friction: Vec<Friction>,
    pub(crate) body_friction: Vec<Friction>,
    /// Reach of each body from its centre [m].
    pub(crate) extents: Vec<f64>,
    /// How far each body goes in this step [m], the farthest since the last search [m], and how far they may then.
    pub(crate) travels: Vec<f32>,
    pub(crate) body_travel: f32,
    pub(crate) body_margin: f32,
    pub(crate) largest: f32,
    /// The last time step [s], and √(d/g) of the guides [s].
    pub(crate) last_step: f64,
    pub(crate) fall_time: f64,
    /// Whether the frame's first step is yet to come.
    pub(crate) is_first_step: bool,
    /// Whether candidates are those of the guides as they are sorted now, and whether they are yet without geometry.
    pub(crate) has_lists: bool,
    pub(crate) is_bare: bool,
    /// Where bodies were at the end of the last frame.
    pub(crate) poses: Vec<Pose>,
    /// Whether hardly any guide moves in this frame.
    pub(crate) is_at_rest: bool,
    pub(crate) is_settling: bool,
    /// Layers of guides that the most loaded ones carried at the end of the last frame [-].
    pub(crate) layers: f32,
    /// Deepest overlap at the end of the last frame, of a radius [-].
    pub(crate) last_overlap: f32,
    pub(crate) clock: Stopwatch,
    pub(crate) spare: Spare,
}

impl PbdSolver {
    /// A solver for any world, whose bodies `motion` moves.
    pub fn new(settings: PbdSettings, motion: Box<dyn RigidMotion>) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            motion,
            columns: Columns::default(),
            nearby: Nearby::default(),
            candidates: Vec::new(),
            imports: Imports::default(),
            near: Vec::new(),
            contacts: Contacts::default(),
            old_candidates: Vec::new(),
            old_walls: Vec::new(),
            old: Vec::new(),
            ids: Vec::new(),
            sleep: Sleep::default(),
            surfaces: Vec::new(),
            bodies: Vec::new(),
            loads: Vec::new(),
            impulses: Vec::new(),
            pair_friction: Vec::new(),
            body_friction: Vec::new(),
            extents: Vec::new(),
            travels: Vec::new(),
            body_travel: f32::INFINITY,
            body_margin: 0.0,
            largest: 0.0,
            last_step: 0.0,
            fall_time: f64::INFINITY,
            is_first_step: true,
            has_lists: false,
            is_bare: false,
            poses: Vec::new(),
            is_at_rest: false,
            is_settling: false,
            layers: 0.0,
            last_overlap: 0.0,
            clock: Stopwatch::default(),
            spare: Spare::default(),
        })
    }

    /// How far each guide went in the last frame [m], in the world's order.
    pub fn frame_displacement(&self) -> &[Vec3] {
        &self.columns.total
    }

    /// All steps of a frame of `duration` [s]. Gives their number.
    fn steps(&mut self, world: &mut World, duration: f64) -> Result<u32, AdvanceError> {
        let (start, steps) = (world.time, self.plan(world, duration)?);
        let step = duration / f64::from(steps);
        self.rub(world, step);
        self.scale_impulses(step);
        for k in 0..steps {
            world.time = start + duration * f64::from(k) / f64::from(steps);
            self.step(world, step, steps - 1 - k)?;
        }
        world.time = start + duration;
        Ok(steps)
    }

    /// Converts remembered impulses to steps of `step` [s]: in terms of positions, they go with its square.
    fn scale_impulses(&mut self, step: f64) {
        if self.last_step > 0.0 && self.last_step != step && self.settings.remembers() {
            let factor = (step / self.last_step).powi(2) as f32;
            self.candidates
                .par_iter_mut()
                .for_each(|chunk| chunk.scale_impulses(factor));
            let walls = self.contacts.walls.iter_mut().flat_map(|walls| &mut walls.all);
            walls.for_each(|wall| wall.impulse *= factor);
        }
        self.last_step = step;
    }

    /// One step of `step` [s], after which the frame has `left` more.
    fn step(&mut self, world: &mut World, step: f64, left: u32) -> Result<(), AdvanceError> {
        let rules = Rules::new(
            &self.settings,
            depth::recovery((step / self.fall_time) as f32, self.layers),
        );
        self.clock.enter("predict");
        let found = self.predict(world, step)?;
        self.clock.enter("search");
        self.search_if_needed(world, found, step, left)?;
        self.clock.enter("contacts");
        self.contact(world, rules);
        self.clock.enter("stabilise");
        self.stabilise(world, rules);
        self.clock.enter("solve");
        let passes = self.settings.iterations.saturating_mul(self.diligence());
        for pass in 1..=passes {
            self.solve(world, rules, pass == passes);
        }
        self.clock.enter("finish");
        self.finish(world, step);
        self.clock.enter("bodies");
        self.move_bodies(world, step)
    }

    /// Velocities and free ways of guides, poses of bodies at the end of the step.
    fn predict(&mut self, world: &mut World, step: f64) -> Result<Extremes, AdvanceError> {
        let pieces = (self.settings.rigid == Rigid::ShapeMatching).then(|| f64::from(self.largest).powi(3) * PIECE);
        images::place(&mut self.bodies, world, step, pieces);
        let found = guides::predict(
            &mut world.guides.velocity,
            &mut self.columns,
            &self.sleep.asleep,
            world.gravity.as_vec3(),
            step as f32,
        );
        match found.is_finite {
            true => Ok(found),
            false => Err(self.not_finite(world)),
        }
    }

    /// Finds contacts, weighs guides by their number, and starts from the impulses of the last step.
    fn contact(&mut self, world: &World, rules: Rules) {
        std::mem::swap(&mut self.contacts.walls, &mut self.old_walls);
        self.contacts.resize(world.guides.len().div_ceil(CHUNK));
        let (scene, parts) = self.split(world, rules);
        scene.contact(parts.columns, parts.contacts, parts.chunks, parts.near, parts.before);
        if self.bodies.iter().any(|b| b.is_dynamic) {
            self.sum_loads();
        }
        for (number, old) in (0..).zip(&mut self.old) {
            *old = number;
        }
    }

    /// Gives contacts their stiffness, and moves guides out of inherited overlaps without giving them speed.
    fn stabilise(&mut self, world: &World, rules: Rules) {
        let passes = self.settings.stabilisation.saturating_mul(self.diligence());
        for pass in 0..passes.max(1) {
            let (scene, parts) = self.split(world, rules);
            scene.push(parts.columns, parts.contacts, parts.chunks, pass == 0);
        }
        if passes == 0 {
            self.columns.pushed.fill(Vec4::ZERO);
        } else if rules.left == 0.0 {
            let (scene, parts) = self.split(world, rules);
            scene.shift_gaps(parts.columns, parts.contacts, parts.chunks);
        }
    }

    /// One pass over all contacts, which moves guides and bodies.
    fn solve(&mut self, world: &World, rules: Rules, is_last: bool) {
        let loads = is_last || self.bodies.iter().any(|b| b.is_dynamic);
        let (scene, parts) = self.split(world, rules);
        scene.solve(parts.columns, parts.contacts, parts.chunks, loads);
        if loads {
            self.sum_loads();
        }
    }

    /// Sums the loads of all chunks, in their order, and moves the dynamic bodies by them.
    fn sum_loads(&mut self) {
        self.loads.clear();
        self.loads.resize(self.bodies.len(), Load::default());
        for chunk in &self.contacts.loads {
            for (sum, load) in self.loads.iter_mut().zip(chunk) {
                sum.add(load);
            }
        }
        let own = self.extents.len();
        images::gather(&mut self.loads, &self.bodies, own);
        for (body, load) in self.bodies[..own].iter_mut().zip(&self.loads) {
            body.share(mass::shared_by(load.contacts as f32, self.settings.calm_relaxation()));
            body.give(load);
        }
        images::follow(&mut self.bodies, own);
    }

    /// Moves guides, and leaves impulses for the next step.
    fn finish(&mut self, world: &mut World, step: f64) {
        let ways = [self.settings.velocity_clamp, self.still_way(world, step)];
        let Guides { velocity, radius, .. } = &mut world.guides;
        guides::finish(velocity, radius, &mut self.columns, ways, step as f32);
        if self.settings.remembers() {
            let chunks = self.candidates.par_iter_mut().zip(self.contacts.rows.par_iter());
            chunks.for_each(|(candidates, rows)| rows::keep(rows, candidates));
        }
    }

    /// What passes over guides see, and what they change.
    pub(crate) fn split<'a>(&'a mut self, world: &'a World, rules: Rules) -> (Scene<'a>, Parts<'a>) {
        let materials = world.materials.all.len();
        let scene = Scene {
            guides: &world.guides,
            origin: world.origin,
            bodies: &self.bodies,
            travels: &self.travels,
            surfaces: &self.surfaces,
            friction: &self.body_friction,
            pair_friction: PairFriction {
                of: &world.guides.material,
                table: &self.pair_friction,
                materials,
            },
            materials,
            splitting: self.settings.splitting,
            keeps_momentum: self.settings.keeps_momentum(),
            rules,
            asleep: &self.sleep.asleep,
        };
        let parts = Parts {
            columns: &mut self.columns,
            contacts: &mut self.contacts,
            chunks: Chunks {
                candidates: &self.candidates,
                imports: &self.imports,
            },
            near: &mut self.near,
            before: Before {
                walls: &self.old_walls,
                old: &self.old,
            },
        };
        (scene, parts)
    }
}

/// What passes over guides change or read.
pub(crate) struct Parts<'a> {
    pub columns: &'a mut Columns,
    contacts: &'a mut Contacts,
    chunks: Chunks<'a>,
    pub near: &'a mut [Vec<Near>],
    before: Before<'a>,
}

impl Solver for PbdSolver {
    fn name(&self) -> &'static str {
        "pbd"
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        if let Some(report) = self.sleep_through(world, duration) {
            return Ok(report);
        }
        self.begin_frame(world, duration)?;
        match self.steps(world, duration) {
            Ok(steps) => self.end_frame(world, duration, steps),
            Err(error) => {
                self.columns.leave(&mut world.guides);
                Err(error)
            }
        }
    }

    fn save(&self, archive: &mut Archive) {
        archive.put("pbd.ids", &self.ids);
        archive.put("pbd.last_step", &[self.last_step]);
        archive.put("pbd.last_overlap", &[self.last_overlap]);
        archive.put("pbd.layers", &[self.layers]);
        self.sleep.save(archive);
        memory::save_pairs(&self.candidates, archive);
        memory::save_ways(&self.columns, archive);
        memory::save_walls(&self.contacts.walls, archive);
        self.motion.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let ids: Vec<u32> = archive.get_ids("pbd.ids", world.next_id)?;
        let is_fit = |number: f64| (0.0..1e9).contains(&number);
        let last_step = archive.get_one_fit("pbd.last_step", |step| is_fit(*step))?;
        self.last_overlap = archive.get_one_fit("pbd.last_overlap", |overlap: &f32| overlap.is_finite())?;
        self.layers = archive.get_one_fit("pbd.layers", |layers: &f32| is_fit(f64::from(*layers)))?;
        let sleep = Sleep::load(ids.len(), archive)?;
        let candidates = memory::load_pairs(ids.len(), archive)?;
        let bodies = world.bodies.len() * world.places_of_bodies();
        let walls = memory::load_walls(ids.len(), bodies, archive)?;
        memory::load_ways(ids.len(), &mut self.columns, archive)?;
        self.motion.load(world, archive)?;
        self.is_bare = true;
        (self.ids, self.last_step, self.sleep) = (ids, last_step, sleep);
        (self.candidates, self.contacts.walls) = (candidates, walls);
        Ok(())
    }
}
