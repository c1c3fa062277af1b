//! A step, stage by stage.

use std::cell::RefCell;

use barchan_bodies::{Dynamics, Impulses, sum_loads};
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, Column, Contact, Partner, Solver, Stopwatch, World, Wrench,
};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::DemSettings;
use crate::adaptive::Adaptive;
use crate::clumped;
use crate::cpu::cells::Cells;
use crate::cpu::contacts::{Chunk, Kept};
use crate::cpu::motion::{self, Moved};
use crate::cpu::particles::{self, Particle, Parts};
use crate::cpu::past::Past;
use crate::cpu::rows::Push;
use crate::cpu::rules::{Dampings, Rules};
use crate::cpu::surface::{ContactSurface, Placed};
use crate::cpu::walls::Solids;
use crate::cpu::{CHUNK, forces};
use crate::frame::MAX_OVERLAP;
use crate::settings::{Integrator, SettingsError};
use crate::state::State;

/// The DEM solver.
pub struct DemSolver {
    pub(crate) settings: DemSettings,
    pub(crate) dynamics: Dynamics,
    pub(crate) state: State,
    pub(crate) rules: Rules,
    pub(crate) dampings: Dampings,
    pub(crate) chunks: Vec<Chunk>,
    /// Contact histories by the spheres' previous numbers, if those have changed since.
    pub(crate) past: Option<Past>,
    /// Loads of spheres on each body now [N, N m], and their impulses since it last moved and in the frame so far [N s,
    /// N m s].
    pub(crate) loads: Vec<Wrench>,
    pub(crate) impulses: Impulses,
    /// Deepest overlap of the last frame's end, of a radius [-].
    pub(crate) deepest: f64,
    pub(crate) surfaces: Vec<ContactSurface>,
    pub(crate) bodies: Vec<Placed>,
    /// Reach of each body from its center [m], and how far its surface goes in this step at most [m].
    pub(crate) extents: Vec<f64>,
    pub(crate) travels: Vec<f64>,
    /// Displacement of bodies since the last search, and the largest allowed [m].
    pub(crate) body_travel: f64,
    pub(crate) body_margin: f64,
    pub(crate) cells: Cells,
    pub(crate) searches: u32,
    /// Rotation vectors of clumps [rad] before the first frame.
    pub(crate) first_turns: Vec<Vec3>,
    pub(crate) adaptive: Adaptive,
    /// True if contacts are kept at the end of frames.
    pub(crate) keeps_contacts: bool,
    pub(crate) clock: Stopwatch,
}

thread_local! {
    /// Per-thread force buffer for one chunk. It has no fixed size: a clump may have more spheres than a chunk should.
    static PUSHES: RefCell<Vec<Push>> = RefCell::default();
}

/// Time within a frame at which forces are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// At its start, where nothing has moved yet.
    Start,
    /// At the end of a step that another one follows.
    Middle,
    /// At its end.
    End,
}

impl Moment {
    /// For how long what acts there changes velocities [s], which are kept in the middle of a step of `step` [s] within a frame.
    fn time(self, step: f64) -> f64 {
        match self {
            Self::Start | Self::End => 0.5 * step,
            Self::Middle => step,
        }
    }
}

/// A sphere in double precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Center, in the world [m].
    pub position: DVec3,
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub angular_velocity: DVec3,
}

impl DemSolver {
    /// Creates a solver for `world`, whose bodies `dynamics` moves.
    pub fn new(settings: DemSettings, dynamics: Dynamics, world: &World) -> Result<Self, SettingsError> {
        let names: Vec<String> = world.materials.all.iter().map(|m| m.name.clone()).collect();
        settings.check(&names)?;
        settings.check_step(world)?;
        settings.check_periods(world)?;
        let first_turns = match settings.clumps.is_empty() {
            true => Vec::new(),
            false => clumped::first_turns(world, &settings),
        };
        let mut dampings = Dampings::default();
        Ok(Self {
            rules: Rules::new(&settings, world, &mut dampings),
            settings,
            dynamics,
            state: State::default(),
            dampings,
            chunks: Vec::new(),
            past: None,
            loads: Vec::new(),
            impulses: Impulses::default(),
            deepest: 0.0,
            surfaces: Vec::new(),
            bodies: Vec::new(),
            extents: Vec::new(),
            travels: Vec::new(),
            body_travel: 0.0,
            body_margin: 0.0,
            cells: Cells::default(),
            searches: 0,
            first_turns,
            adaptive: Adaptive::default(),
            keeps_contacts: false,
            clock: Stopwatch::default(),
        })
    }

    /// Sets the angular velocity of guide `id` to `angular_velocity` [rad/s] from the next frame on.
    pub fn spin(&mut self, id: u32, angular_velocity: DVec3) {
        self.state.asked.push((id, angular_velocity));
    }

    /// Returns guide `id` at the end of the last frame, in double precision.
    pub fn sphere(&self, world: &World, id: u32) -> Option<Sphere> {
        let i = self.state.ids.iter().position(|&known| known == id)?;
        let (place, velocity) = self.state.guide(i);
        Some(Sphere {
            position: world.origin + place,
            velocity,
            angular_velocity: self.state.spin(i, &self.settings.clumps),
        })
    }

    /// Steps of `step` [s] through a frame. Forces are found once more at its start, so that nothing of them must be kept between frames, and
    /// whatever was changed meanwhile counts.
    fn advance_fixed(&mut self, world: &mut World, steps: u32, step: f64) -> Result<(), AdvanceError> {
        let start = world.time;
        self.rules.set_step(step, Moment::Start);
        self.clock.enter("search");
        self.travels.clear();
        for k in 0..world.bodies.len() {
            let speed = self.body_speed(world, k, step * f64::from(steps));
            self.travels.push(speed * step);
        }
        self.search(world, step)?;
        self.clock.enter("forces");
        self.push(world, Moment::Start, step);
        self.sum_loads();
        self.load_bodies(Moment::Start.time(step));
        for k in 1..=steps {
            world.time = start + step * f64::from(k - 1);
            let moment = if k == steps { Moment::End } else { Moment::Middle };
            self.rules.set_step(step, moment);
            self.rules.keeps_contacts = self.keeps_contacts && moment == Moment::End;
            self.step(world, moment, step)?;
        }
        self.impulses.push(&self.dynamics, world);
        Ok(())
    }

    /// One step of `step` [s] from the world's time on.
    fn step(&mut self, world: &mut World, moment: Moment, step: f64) -> Result<(), AdvanceError> {
        self.clock.enter("move");
        let moved = self.advance_spheres(step);
        if !moved.is_finite {
            return Err(self.not_finite(world));
        }
        self.clock.enter("bodies");
        let bodies_hold = self.move_bodies(world, step)?;
        if moved.left < 0.0 || !bodies_hold {
            self.clock.enter("search");
            self.search(world, step)?;
        }
        self.clock.enter("forces");
        self.push(world, moment, step);
        self.sum_loads();
        self.load_bodies(moment.time(step));
        Ok(())
    }

    /// Moves spheres, and expects their velocities at the end of the step.
    fn advance_spheres(&mut self, step: f64) -> Moved {
        if self.settings.has_particles() {
            return self.advance_particles(step);
        }
        let State {
            rows,
            motions,
            pulls,
            ways,
            ..
        } = &mut self.state;
        let count = motions.len();
        let columns = rows[..count]
            .par_chunks_mut(CHUNK)
            .zip(motions.par_chunks(CHUNK))
            .zip(pulls.par_chunks(CHUNK))
            .zip(ways.par_chunks_mut(CHUNK));
        columns
            .map(|(((rows, motions), pulls), ways)| motion::advance(rows, motions, pulls, ways, step))
            .reduce(|| Moved::NOT, Moved::with)
    }

    /// The same for particles of several spheres.
    fn advance_particles(&mut self, step: f64) -> Moved {
        let count = self.state.spheres();
        let parts = Parts {
            chunks: &mut self.chunks,
            particles: &mut self.state.particles,
            rows: &mut self.state.rows[..count],
            ways: &mut self.state.ways,
        };
        let clumps = &self.settings.clumps;
        parts.each(&|parts| particles::advance(parts, clumps, step));
        self.chunks
            .iter()
            .map(|chunk| chunk.moved)
            .fold(Moved::NOT, Moved::with)
    }

    /// Moves bodies by the impulses of spheres since they last moved, or by their keys. Returns true if the last search still holds.
    pub(crate) fn move_bodies(&mut self, world: &mut World, step: f64) -> Result<bool, AdvanceError> {
        self.impulses.step(&mut self.dynamics, world, step)?;
        let mut holds = true;
        let mut farthest = 0.0f64;
        self.travels.clear();
        for (k, placed) in self.bodies.iter_mut().enumerate() {
            let now = Placed::new(world, k, world.time + step);
            holds &= now.is_present == placed.is_present;
            let turn = now.twist.angular.length() * step;
            // A body without end only slides: what turns it is not known.
            let turned = if turn > 0.0 { turn * self.extents[k] } else { 0.0 };
            self.travels.push((now.at.center - placed.at.center).length() + turned);
            farthest = farthest.max(self.travels[k]);
            *placed = now;
        }
        self.body_travel += farthest;
        Ok(holds && self.body_travel <= self.body_margin)
    }

    /// Finds what acts on spheres, and brings their velocities to the middle of the next step, or to the end of the frame.
    fn push(&mut self, world: &World, moment: Moment, step: f64) {
        let time = moment.time(step);
        if self.settings.has_particles() {
            return self.push_particles(world, time);
        }
        let State {
            rows,
            motions,
            pulls,
            ways,
            ..
        } = &mut self.state;
        let (rows, rules, gravity) = (&*rows, &self.rules, world.gravity);
        let solids = Solids {
            origin: world.origin,
            surfaces: &self.surfaces,
            bodies: &self.bodies,
            travels: &self.travels,
            particle_of: &[],
        };
        let columns = motions
            .par_chunks_mut(CHUNK)
            .zip(pulls.par_chunks_mut(CHUNK))
            .zip(ways.par_chunks(CHUNK));
        let chunks = self.chunks.par_iter_mut().zip(columns);
        chunks.for_each(|(chunk, ((motions, pulls), ways))| {
            // On the stack: forces are forgotten once they have acted.
            let mut pushes = [Push::default(); CHUNK];
            let pushes = &mut pushes[..chunk.len];
            chunk.touch(rows, ways, &solids, false);
            forces::push_chunk(chunk, rows, pushes, rules, &solids);
            let own = &rows[chunk.start..chunk.start + chunk.len];
            motion::finish(own, motions, pulls, pushes, gravity, time);
        });
    }

    /// The same for particles of several spheres, whose velocities are changed for `time` [s].
    pub(crate) fn push_particles(&mut self, world: &World, time: f64) {
        let State {
            rows,
            ways,
            particles,
            particle_of,
            ..
        } = &mut self.state;
        let (rows, rules, clumps) = (&*rows, &self.rules, &self.settings.clumps);
        let solids = Solids {
            origin: world.origin,
            surfaces: &self.surfaces,
            bodies: &self.bodies,
            travels: &self.travels,
            particle_of,
        };
        let parts = Parts {
            chunks: &mut self.chunks,
            particles,
            rows: &mut [],
            ways,
        };
        parts.each(&|parts| {
            let chunk = &mut parts.chunks[0];
            chunk.touch(rows, parts.ways, &solids, rules.is_trial);
            chunk.share_pairs(rows, &rules.periods);
            PUSHES.with_borrow_mut(|pushes| {
                let chunk = &mut parts.chunks[0];
                pushes.clear();
                pushes.resize(chunk.len, Push::default());
                forces::push_chunk(chunk, rows, pushes, rules, &solids);
                particles::finish(parts, pushes, rows, clumps, world.gravity, time);
            });
        });
    }

    /// Sums what all chunks press bodies with, in their order.
    pub(crate) fn sum_loads(&mut self) {
        let bodies = self.bodies.len();
        sum_loads(&mut self.loads, bodies, self.chunks.iter().map(|chunk| &*chunk.loads));
    }

    /// Lets loads act on bodies for `time` [s], as long as on the spheres: what these lose, bodies gain.
    pub(crate) fn load_bodies(&mut self, time: f64) {
        self.impulses.add(self.loads.iter().copied(), time);
    }
}

impl Solver for DemSolver {
    fn name(&self) -> &'static str {
        crate::SPEC.name
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        self.begin_frame(world)?;
        let (start, steps) = (world.time, self.plan(world, duration)?);
        let step = duration / f64::from(steps);
        if self.settings.integrator == Integrator::Rkf45 {
            let steps = self.advance_adaptive(world, duration, step)?;
            world.time = start + duration;
            return self.end_frame(world, duration, steps);
        }
        self.advance_fixed(world, steps, step)?;
        world.time = start + duration;
        self.end_frame(world, duration, steps)
    }

    /// Computed on demand: stored, they would take as much memory as positions.
    fn columns(&self) -> Vec<(&'static str, Column)> {
        let State { ids, particles, .. } = &self.state;
        let spin = |i: usize| self.state.spin(i, &self.settings.clumps).as_vec3();
        let mut columns = vec![("angular_velocity", Column::Vec3((0..ids.len()).map(spin).collect()))];
        let turn = |particle: &Particle| particle.rotation.to_scaled_axis().as_vec3();
        let turns = match particles.is_empty() {
            true => self.first_turns.clone(),
            false => particles.iter().map(turn).collect(),
        };
        if !turns.is_empty() {
            columns.push(("rotation", Column::Vec3(turns)));
        }
        columns
    }

    fn record_contacts(&mut self) -> bool {
        self.keeps_contacts = true;
        true
    }

    fn contacts(&self, world: &World) -> Option<Vec<Contact>> {
        if !self.keeps_contacts || self.chunks.is_empty() {
            return None;
        }
        let State { ids, particle_of, .. } = &self.state;
        let id = |sphere: u32| ids[particle_of.get(sphere as usize).copied().unwrap_or(sphere) as usize];
        let contact = |kept: &Kept| {
            let partner = match kept.is_body {
                true => Partner::Body(kept.other),
                false => Partner::Guide(id(kept.other)),
            };
            Contact {
                guide: id(kept.sphere),
                partner,
                point: world.wrapped(world.origin + DVec3::from_array(kept.point)),
                normal: DVec3::from_array(kept.normal),
                overlap: kept.overlap,
                force: DVec3::from_array(kept.force),
            }
        };
        Some(
            self.chunks
                .iter()
                .flat_map(|chunk| chunk.kept.iter().map(contact))
                .collect(),
        )
    }

    fn save(&self, archive: &mut Archive) {
        self.state.save(archive);
        match &self.past {
            Some(past) => past.save(archive),
            None => {
                let mut past = Past::default();
                self.chunks.iter().for_each(|chunk| past.add(chunk));
                past.save(archive);
            }
        }
        self.impulses.save("dem.owed", archive);
        archive.put("dem.deepest", &[self.deepest]);
        archive.put("dem.step", &[self.adaptive.next]);
        self.dynamics.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let state = State::load(world, &self.settings, archive)?;
        let bodies = world.bodies.len() * world.places_of_bodies();
        let past = Past::load(archive, state.spheres(), bodies)?;
        self.impulses = Impulses::load("dem.owed", archive)?;
        self.deepest = archive.get_one_fit("dem.deepest", |deepest| (0.0..=MAX_OVERLAP).contains(deepest))?;
        self.adaptive.next =
            archive.get_one_fit("dem.step", |step: &f64| *step == 0.0 || (1e-12..1e9).contains(step))?;
        // As the saved dynamics knew it: bodies may have been held while sand settled.
        self.dynamics.load(world, archive)?;
        (self.state, self.past) = (state, Some(past));
        Ok(())
    }
}
