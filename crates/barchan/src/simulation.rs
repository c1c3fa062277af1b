//! The whole simulation, frame by frame.

use std::time::Instant;

use barchan_refine::{GrainRefiner, RefineError, Source};
use barchan_scene::{Refine, Scene, SceneError};
use barchan_world::spec::Setting;
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, BodyState, Column, Contact, Frame, Motion, RefineReport,
    Refiner, Solver, Stats, Table, Twist, World, Wrench,
};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::clumps;
use crate::fields;
use crate::forecast::{ForecastError, forecast};
use crate::overlap;
use crate::phase::{Phase, PhaseWatch};
use crate::pool;
use crate::registry::{self, SolverError};

/// Reason why a simulation could not be built or advanced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scene needs more guides or grains than memory holds.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
    /// The solver rejects its settings or the world.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The state became invalid.
    #[error(transparent)]
    Advance(#[from] AdvanceError),
    /// The refinement settings are invalid.
    #[error(transparent)]
    Refine(#[from] Box<RefineError>),
    /// The checkpoint does not fit the scene.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// Observer of the frames of settling, with the world of each.
pub type Record<'a> = dyn FnMut(Frame, &World) + 'a;

impl SimulationError {
    /// Returns the position of the error in the scene, as `scene.toml:3:1`, if it has one.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::Scene(error) => Some(error.place()),
            Self::Forecast(error) => Some(error.place()),
            _ => None,
        }
    }
}

/// A scene being simulated.
pub struct Simulation {
    world: World,
    solver: Box<dyn Solver>,
    refiner: Option<GrainRefiner>,
    frame_rate: f64,
    /// Frames since the start.
    frame: u64,
    /// Position of each guide at the start of the frame [m], within periodic ranges, by id.
    starts: Vec<DVec3>,
    report: AdvanceReport,
    /// Mean velocity over the last frame [m/s], in the world's order.
    velocities: Vec<Vec3>,
    guide_ms: f64,
    refine_report: RefineReport,
    grain_ms: f64,
    /// The scene whose solver takes over after a frame without sleeping.
    waking: Option<Box<Scene>>,
    /// Edge of the cells of fields [m], if they are recorded.
    field_cell: Option<f64>,
}

impl Simulation {
    /// Builds the scene's world, solver and grains, and settles fills.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        Self::watched(scene, &|_| ())
    }

    /// Like [`Simulation::new`], and reports progress to `watch`.
    pub fn watched(scene: &Scene, watch: &PhaseWatch) -> Result<Self, SimulationError> {
        registry::check_settings(scene)?;
        forecast(scene)?;
        let world = build(scene, watch)?;
        Self::settled(scene, world, watch, None)
    }

    /// Like [`Simulation::watched`], and passes the frames of settling to `record`: from a negative time up to time 0,
    /// before fills receive their velocities.
    pub fn recorded(scene: &Scene, watch: &PhaseWatch, record: &mut Record<'_>) -> Result<Self, SimulationError> {
        forecast(scene)?;
        let world = build(scene, watch)?;
        Self::settled(scene, world, watch, Some(record))
    }

    /// Like [`Simulation::new`], but `prepare` may first change the world that was built, and the scene with it.
    pub fn prepared(scene: &mut Scene, prepare: impl FnOnce(&mut Scene, &mut World)) -> Result<Self, SimulationError> {
        registry::check_settings(scene)?;
        forecast(scene)?;
        let mut world = build(scene, &|_| ())?;
        prepare(scene, &mut world);
        Self::settled(scene, world, &|_| (), None)
    }

    fn settled(
        scene: &Scene,
        mut world: World,
        watch: &PhaseWatch,
        record: Option<&mut Record<'_>>,
    ) -> Result<Self, SimulationError> {
        let solver = settle(scene, &mut world, watch, record)?;
        check_finite(&world)?;
        world.place_scripted_bodies(0.0);
        let seeded = |share| watch(Phase::Seeding { share });
        let refiner = rayon::scope(|_| registry::refiner(scene, &world, &seeded)).map_err(Box::new)?;
        let mut simulation = Self::of_world(scene, world, refiner, solver)?;
        simulation.report.max_overlap = simulation.first_overlap(scene);
        Ok(simulation)
    }

    /// Returns the deepest overlap of the state that was just built or settled [-].
    fn first_overlap(&self, scene: &Scene) -> f32 {
        let facts = scene.facts();
        let clumps = match facts.clumps {
            true => clumps::of_scene(scene, &self.world),
            false => Vec::new(),
        };
        let (world, columns) = (&self.world, self.solver.columns());
        rayon::scope(|_| overlap::deepest(world, &clumps, &columns, facts.continuum))
    }

    /// Restores the scene's simulation from `archive`. The world is built from the scene, but nothing is filled or
    /// settled again.
    pub fn resume(scene: &Scene, archive: &Archive) -> Result<Self, SimulationError> {
        Self::resume_watched(scene, archive, &|_| ())
    }

    /// Like [`Simulation::resume`], and reports progress to `watch`.
    pub fn resume_watched(scene: &Scene, archive: &Archive, watch: &PhaseWatch) -> Result<Self, SimulationError> {
        let mut world = in_pool(|| scene.build_unfilled_watched(&|step| watch(Phase::Building(step))))?;
        world.load(archive)?;
        check_radii(scene, &world)?;
        let empty = |refine| GrainRefiner::empty(registry::refine_settings(refine, scene.seed), &world);
        let mut refiner = scene.refine.as_ref().map(empty);
        if let Some(refiner) = &mut refiner {
            refiner.load(&world, archive)?;
        }
        let mut simulation = Self::of_world(scene, world, refiner, None)?;
        simulation.solver.load(&simulation.world, archive)?;
        let time = simulation.world.time;
        let is_now = |frame: &u64| (*frame as f64 / scene.frame_rate - time).abs() <= TIME_ROUNDING * time.max(1.0);
        simulation.frame = archive.get_one_fit("simulation.frame", is_now)?;
        Ok(simulation)
    }

    fn of_world(
        scene: &Scene,
        world: World,
        refiner: Option<GrainRefiner>,
        solver: Option<Box<dyn Solver>>,
    ) -> Result<Self, SimulationError> {
        let solver = solver.map_or_else(|| registry::solver(scene, &world), Ok)?;
        Ok(Self {
            velocities: world.guides.velocity.clone(),
            world,
            solver,
            refiner,
            frame_rate: scene.frame_rate,
            frame: 0,
            starts: Vec::new(),
            report: AdvanceReport::default(),
            guide_ms: 0.0,
            refine_report: RefineReport::default(),
            grain_ms: 0.0,
            waking: None,
            field_cell: scene.output.fields.then(|| fields::cell(scene)),
        })
    }

    /// Applies the solver settings of `scene`, which must have the same bodies, and changed materials of the world.
    /// Sleeping guides wake; contacts keep their warm start.
    pub fn retune(&mut self, scene: &Scene) -> Result<(), SimulationError> {
        let mut awake = scene.clone();
        awake.solver_settings.set("sleeping", Setting::Flag(false));
        self.exchange_solver(&awake)?;
        self.waking = Some(Box::new(scene.clone()));
        Ok(())
    }

    fn exchange_solver(&mut self, scene: &Scene) -> Result<(), SimulationError> {
        let mut archive = Archive::default();
        self.solver.save(&mut archive);
        let mut solver = registry::solver(scene, &self.world)?;
        solver.load(&self.world, &archive)?;
        self.solver = solver;
        Ok(())
    }

    /// Replaces the grains: seeds new ones in the volume of the guides, or none.
    pub fn reseed_grains(&mut self, refine: Option<&Refine>, seed: u64) -> Result<(), SimulationError> {
        let all = Source::Guides(0..self.world.next_id);
        let seeded = |refine| GrainRefiner::new(registry::refine_settings(refine, seed), &self.world, &[all]);
        self.refiner = refine.map(seeded).transpose().map_err(Box::new)?;
        self.grain_ms = 0.0;
        Ok(())
    }

    /// Returns the number of frames since the start.
    pub fn frame_number(&self) -> u64 {
        self.frame
    }

    /// Returns the current state.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the current state for modification, for example to drive bodies.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Advances by one frame.
    pub fn advance(&mut self) -> Result<(), SimulationError> {
        // Computed from the frame number, so that times never drift.
        let now = self.frame as f64 / self.frame_rate;
        let next = (self.frame + 1) as f64 / self.frame_rate;
        self.world.time = now;
        let start = Instant::now();
        self.world.drain();
        self.world.emit(next - now);
        remember_starts(&self.world, &mut self.starts);
        // Frees the velocities of the last frame, to save memory during the step.
        self.velocities = Vec::new();
        let (solver, world) = (&mut self.solver, &mut self.world);
        let report = pool::awake(|| solver.advance(world, next - now));
        let spent = start.elapsed();
        self.velocities = mean_velocities(&self.world, &self.starts, next - now);
        self.report = report?;
        self.world.time = next;
        if let Some(scene) = self.waking.take() {
            self.exchange_solver(&scene)?;
        }
        self.guide_ms = 1e3 * spent.as_secs_f64();
        self.frame += 1;
        let start = Instant::now();
        if let Some(refiner) = &mut self.refiner {
            let (world, velocities) = (&self.world, &self.velocities);
            self.refine_report = pool::awake(|| refiner.advance(world, velocities, next - now));
            self.grain_ms = 1e3 * start.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Returns the current frame, to be written or shown.
    pub fn frame(&self) -> Frame {
        let mut frame = self.frame_without_grains();
        frame.grains = self.refiner.as_ref().map(|refiner| refiner.table(&self.world));
        frame
    }

    /// Returns the current frame without the grains, which may be many.
    pub fn frame_without_grains(&self) -> Frame {
        let mut frame = guides_frame(&self.world, &*self.solver, &self.velocities, &self.report);
        if let Some(contacts) = self.solver.contacts(&self.world) {
            frame.fields = (self.field_cell).map(|cell| fields::fields(&self.world, &self.velocities, &contacts, cell));
            frame.contacts = Some(Contact::table(&contacts));
        }
        frame.number = self.frame;
        frame.stats.guide_ms = self.guide_ms;
        frame.stats.grains = self.refiner.as_ref().map_or(0, Refiner::len);
        frame.stats.grain_ms = self.grain_ms;
        frame
    }

    /// Returns the time for the guides of the last frame [ms].
    pub fn guide_ms(&self) -> f64 {
        self.guide_ms
    }

    /// Returns the refiner, if the scene has grains.
    pub fn refiner(&self) -> Option<&GrainRefiner> {
        self.refiner.as_ref()
    }

    /// Returns the time for the grains of the last frame [ms].
    pub fn grain_ms(&self) -> f64 {
        self.grain_ms
    }

    /// Returns the refiner's report on the last frame.
    pub fn refine_report(&self) -> &RefineReport {
        &self.refine_report
    }

    /// Returns the mean velocities of the guides over the last frame [m/s], in the world's order.
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocities
    }

    /// Returns the solver's report on the last frame.
    pub fn report(&self) -> &AdvanceReport {
        &self.report
    }

    /// Saves the state needed to continue bit-identically.
    pub fn save(&self) -> Archive {
        let mut archive = Archive::default();
        self.world.save(&mut archive);
        self.solver.save(&mut archive);
        if let Some(refiner) = &self.refiner {
            refiner.save(&mut archive);
        }
        archive.put("simulation.frame", &[self.frame]);
        archive
    }
}

/// Minimum number of guides per task [-].
const MIN_TASK: usize = 1024;

/// Builds a world on a thread of the pool: packing runs many short parallel loops.
fn in_pool(make: impl FnOnce() -> Result<World, SceneError> + Send) -> Result<World, SceneError> {
    rayon::scope(|_| make())
}

/// Checks that the initial state of every guide is finite in single precision.
fn check_finite(world: &World) -> Result<(), AdvanceError> {
    let guides = &world.guides;
    let is_finite = |i: usize| guides.position[i].is_finite() && guides.velocity[i].is_finite();
    match (0..guides.len()).find(|&i| !is_finite(i)) {
        None => Ok(()),
        Some(i) => Err(AdvanceError::Unstable {
            time: world.time,
            guide: guides.id[i],
            what: format!("moves at {} m/s", guides.velocity[i].length()),
            advice: "fill it nearer to the origin, or slower".to_owned(),
        }),
    }
}

/// Relative tolerance of times in a checkpoint [-].
const TIME_ROUNDING: f64 = 1e-9;
/// Relative tolerance of radii in a checkpoint [-].
const RADIUS_ROUNDING: f64 = 1e-3;

/// Checks that every guide of a checkpoint has a radius that the scene allows.
fn check_radii(scene: &Scene, world: &World) -> Result<(), ArchiveError> {
    let least = scene.smallest_radius().unwrap_or(f64::INFINITY) * (1.0 - RADIUS_ROUNDING);
    let most = scene.largest_radius().unwrap_or(0.0) * (1.0 + RADIUS_ROUNDING);
    match world
        .guides
        .radius
        .iter()
        .find(|&&r| !(least..=most).contains(&f64::from(r)))
    {
        None => Ok(()),
        Some(radius) => Err(ArchiveError::Unfit {
            name: "guides.radius".to_owned(),
            found: format!("a radius of {radius} m"),
        }),
    }
}

fn build(scene: &Scene, watch: &PhaseWatch) -> Result<World, SceneError> {
    in_pool(|| scene.build_watched(&|step| watch(Phase::Building(step))))
}

fn remember_starts(world: &World, starts: &mut Vec<DVec3>) {
    starts.resize(world.next_id as usize, DVec3::ZERO);
    for i in 0..world.guides.len() {
        let place = world.place(i);
        starts[world.guides.id[i] as usize] = place + world.shift_into_ranges(place);
    }
}

/// Returns the displacements over the frame divided by its duration: the velocity stored by a position-based solver is
/// not the motion. Solvers leave guides outside periodic ranges until the next frame, so the displacement includes
/// every period that a guide crossed.
fn mean_velocities(world: &World, starts: &[DVec3], duration: f64) -> Vec<Vec3> {
    let displacement = |i: usize| world.place(i) - starts[world.guides.id[i] as usize];
    let velocity = |i: usize| (displacement(i) / duration).as_vec3();
    let guides = (0..world.guides.len()).into_par_iter();
    guides.with_min_len(MIN_TASK).map(velocity).collect()
}

/// Returns the frame of the guides and bodies of `world`, which moved with `velocities` [m/s] in a frame with the
/// solver's `report`.
fn guides_frame(world: &World, solver: &dyn Solver, velocities: &[Vec3], report: &AdvanceReport) -> Frame {
    let guides = &world.guides;
    let mut table = Table::default();
    table.push("id", Column::U32(guides.id.clone()));
    let positions = (0..guides.len()).map(|i| world.wrapped(world.place(i)).as_vec3());
    table.push("position", Column::Vec3(positions.collect()));
    table.push("velocity", Column::Vec3(velocities.to_vec()));
    table.push("radius", Column::F32(guides.radius.clone()));
    table.push("material", Column::U8(guides.material.clone()));
    for (name, column) in solver.columns() {
        // Guides may have been added since the last step; the solver's columns then appear in the next frame.
        if column.len() == guides.len() {
            table.push(name, column);
        }
    }
    let mut stats = Stats::of_guides(world, velocities);
    stats.steps = report.steps;
    stats.max_overlap = report.max_overlap;
    let extras = report.extras.iter();
    stats.extras = extras.map(|&(name, value)| (name.to_owned(), value)).collect();
    let present = world.bodies.iter().filter(|body| body.is_present(world.time));
    Frame {
        number: 0,
        time: world.time,
        guides: table,
        bodies: present.map(BodyState::of).collect(),
        stats,
        ..Frame::default()
    }
}

/// Settles the guides of a new world from a negative time up to time 0, then sets the velocities of their fills.
/// Dynamic bodies are fixed meanwhile. Returns the solver with its warm start, unless fills then move: a solver that
/// considers guides at rest would not release them.
fn settle(
    scene: &Scene,
    world: &mut World,
    watch: &PhaseWatch,
    mut record: Option<&mut Record<'_>>,
) -> Result<Option<Box<dyn Solver>>, SimulationError> {
    let duration = scene.settle();
    if duration <= 0.0 {
        world.time = 0.0;
        return Ok(None);
    }
    let held: Vec<Motion> = world.bodies.iter().map(|body| body.motion.clone()).collect();
    let twists: Vec<Twist> = world.bodies.iter().map(|body| body.twist).collect();
    for body in world.bodies.iter_mut().filter(|body| body.is_dynamic()) {
        body.motion = Motion::Fixed;
        body.twist = Twist::default();
    }
    world.place_scripted_bodies(-duration);
    // Guides settle from rest.
    world.guides.velocity.fill(Vec3::ZERO);
    watch(Phase::Settling { time: 0.0, duration });
    let mut solver = registry::solver(scene, world)?;
    let frames = (duration * scene.frame_rate).ceil();
    let mut starts = Vec::new();
    if let Some(record) = &mut record {
        world.time = -duration;
        record(
            guides_frame(world, &*solver, &world.guides.velocity, &AdvanceReport::default()),
            world,
        );
    }
    for k in 0..frames as u64 {
        world.time = duration * (k as f64 / frames - 1.0);
        watch(Phase::Settling {
            time: duration * (k as f64 / frames),
            duration,
        });
        if record.is_some() {
            remember_starts(world, &mut starts);
        }
        let (start, solver) = (Instant::now(), &mut solver);
        let report = rayon::scope(|_| solver.advance(world, duration / frames))?;
        if let Some(record) = &mut record {
            world.time = duration * ((k + 1) as f64 / frames - 1.0);
            let velocities = mean_velocities(world, &starts, duration / frames);
            let mut frame = guides_frame(world, &**solver, &velocities, &report);
            frame.number = k + 1;
            frame.stats.guide_ms = 1e3 * start.elapsed().as_secs_f64();
            record(frame, world);
        }
    }
    world.time = 0.0;
    for ((body, motion), twist) in world.bodies.iter_mut().zip(held).zip(twists) {
        body.motion = motion;
        body.twist = twist;
        body.wrench = Wrench::default();
    }
    give_velocities(scene, world);
    let is_at_rest = scene.fills.iter().all(|fill| fill.velocity == DVec3::ZERO);
    Ok(is_at_rest.then_some(solver))
}

/// Sets the initial velocities of each fill.
fn give_velocities(scene: &Scene, world: &mut World) {
    let World { guides, fill_ends, .. } = world;
    for (velocity, id) in guides.velocity.iter_mut().zip(&guides.id) {
        let fill = fill_ends.partition_point(|end| end <= id);
        *velocity = scene.fills.get(fill).map_or(Vec3::ZERO, |fill| fill.velocity.as_vec3());
    }
}
