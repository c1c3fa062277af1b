//! A step, stage by stage, after Algorithm 1 of [Ihmsen13].

use barchan_bodies::{Dynamics, Impulses, sum_loads};
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, Column, FARTHEST, Friction, Guides, Solver, Stopwatch, Table,
    World, Wrench, displace,
};
use glam::{Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use crate::cpu::bodies::SeenBody;
use crate::cpu::columns::{Columns, Past, Spare};
use crate::cpu::friction::{self, Bound, Held, Pass};
use crate::cpu::near::Near;
use crate::cpu::pairs::{self, Rows, Space};
use crate::cpu::pressure::{self, COUPLED_RELAXATION, Errors, Goal, Outcome};
use crate::cpu::surface::WallField;
use crate::cpu::walls::{self, ChunkWalls, Drag, WallSearch};
use crate::cpu::{CHUNK, memory};
use crate::frame::{REPORTED, search_error};
use crate::laws::{prototype, rest};
use crate::settings::SettingsError;
use crate::{Correction, Gradients, Prediction, Pressure, Rest, SphSettings, WallShear};

/// Largest rate at which velocities undo the compression of a liquid, in units of √(g/d) [-]: compressed liquid must
/// not fly apart, and the compression that few passes of `Pcisph` leave must not wind up.
const MAX_RECOVERY_IISPH: f32 = 0.5;
const MAX_RECOVERY_PCISPH: f32 = 0.05;

/// Relaxation of the stress where gradients are plain sums [-]: a pass in full diverges on a lattice.
const PLAIN_RELAXATION: f32 = 0.5;

/// Largest support in a checkpoint, in radii of the largest guide [-].
const MAX_SUPPORT: f32 = 1e3;

/// The SPH solver.
pub struct SphSolver {
    pub(crate) settings: SphSettings,
    pub(crate) motion: Dynamics,
    pub(crate) columns: Columns,
    pub(crate) past: Past,
    /// The ids of the guides in `past`.
    pub(crate) ids: Vec<u32>,
    pub(crate) old: Vec<u32>,
    pub(crate) near: Near,
    /// Speed of the fastest guide before the step [m/s].
    pub(crate) fastest: f32,
    pub(crate) rows: Vec<Rows>,
    pub(crate) space: Space,
    pub(crate) walls: Vec<ChunkWalls>,
    pub(crate) surfaces: Vec<WallField>,
    /// Kernel radius that the bodies' maps are made for [m].
    pub(crate) map_support: Option<f32>,
    pub(crate) bodies: Vec<SeenBody>,
    /// Reach of each body from its center [m].
    pub(crate) extents: Vec<f64>,
    pub(crate) body_friction: Vec<Friction>,
    /// Friction of each material with each [-].
    pub(crate) pair_friction: Vec<f32>,
    /// Speed of sound of artificial viscosity [m/s], once there are guides.
    pub(crate) sound: Option<f32>,
    pub(crate) bounds: Vec<Bound>,
    /// Loads of guides on bodies in this step [N s, N m s].
    pub(crate) loads: Vec<Wrench>,
    pub(crate) impulses: Impulses,
    pub(crate) errors: Errors,
    /// Origin of positions in the columns [m].
    pub(crate) center: Vec3,
    /// Largest kernel radius [m], smallest [m].
    pub(crate) supports: [f32; 2],
    pub(crate) periodic: Option<(barchan_world::Periodic, glam::DVec3)>,
    pub(crate) solved: Outcome,
    /// Gravity of the last frame [m/s²].
    pub(crate) gravity: Option<glam::DVec3>,
    /// Report of the last frame in which anything moved.
    pub(crate) last_report: AdvanceReport,
    /// Length of the step before [s].
    pub(crate) last_step: f32,
    pub(crate) passes: u64,
    pub(crate) clock: Stopwatch,
    pub(crate) spare: Spare,
}

impl SphSolver {
    /// Creates a solver for any world, whose bodies `motion` moves.
    pub fn new(settings: SphSettings, motion: Dynamics) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            motion,
            columns: Columns::default(),
            past: Past::default(),
            ids: Vec::new(),
            old: Vec::new(),
            near: Near::new(),
            fastest: 0.0,
            rows: Vec::new(),
            space: Space::default(),
            walls: Vec::new(),
            surfaces: Vec::new(),
            map_support: None,
            bodies: Vec::new(),
            extents: Vec::new(),
            body_friction: Vec::new(),
            pair_friction: Vec::new(),
            sound: None,
            bounds: Vec::new(),
            loads: Vec::new(),
            impulses: Impulses::default(),
            errors: Errors::new(),
            center: Vec3::ZERO,
            supports: [0.0; 2],
            periodic: None,
            solved: Outcome::default(),
            gravity: None,
            last_report: AdvanceReport::default(),
            last_step: 0.0,
            passes: 0,
            clock: Stopwatch::default(),
            spare: Spare::default(),
        })
    }

    /// One step of `step` [s].
    fn step(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        self.clock.enter("neighbours");
        self.drift(world, step as f32);
        self.find_neighbours(world, step as f32)?;
        self.clock.enter("density");
        pairs::build(
            &mut self.rows,
            &self.near.lists,
            &mut self.columns,
            &self.space,
            step as f32,
        );
        self.clock.enter("walls");
        self.find_walls(world, step as f32);
        self.clock.enter("predict");
        self.dampen(world, step as f32);
        self.predict(world, step as f32);
        self.clock.enter("pressure");
        self.columns.shift.fill(Vec4::ZERO);
        let is_spread = self.settings.pressure == Pressure::Pcisph || !self.is_smooth();
        let is_displaced = self.settings.correction == Correction::Displacement;
        pressure::stiffen(&mut self.columns, step as f32, is_spread && is_displaced);
        self.idealize(step as f32);
        match self.settings.pressure {
            Pressure::Iisph => {
                self.press(world, step as f32);
                self.clock.enter("friction");
                self.rub(world, step as f32);
            }
            Pressure::Pcisph => self.press_and_rub(world, step as f32),
        }
        self.clock.enter("move");
        self.move_guides(world, step as f32);
        self.clock.enter("bodies");
        self.move_bodies(world, step)
    }

    fn find_neighbours(&mut self, world: &World, step: f32) -> Result<(), AdvanceError> {
        self.columns.locate(&world.guides, self.center);
        let (positions, way) = (&world.guides.position, step * self.fastest);
        self.near
            .find(positions, &self.columns, self.supports, &self.space, way)
            .map_err(search_error)
    }

    /// Gives guides the responses of a prototype where the settings say so.
    fn idealize(&mut self, step: f32) {
        let is_prototype = self.settings.prediction == Prediction::Positions;
        let is_plain = self.settings.gradients == Gradients::Plain;
        if !is_prototype && !is_plain {
            return;
        }
        let squares = prototype::squares(self.settings.support);
        if is_prototype && self.settings.pressure == Pressure::Pcisph {
            pressure::idealize(&mut self.columns, squares);
        }
        if is_plain {
            friction::simplify(&mut self.columns, squares, step);
        }
    }

    /// Walls that guides are near, and what they add to densities.
    fn find_walls(&mut self, world: &World, step: f32) {
        let speed = self.body_speed(world) as f32;
        let (lead, last) = (self.settings.integration.lead(), self.last_step);
        self.last_step = step;
        let scene = WallSearch {
            world,
            bodies: &self.bodies,
            surfaces: &self.surfaces,
            friction: &self.body_friction,
            speed,
            support: self.settings.support,
            moved: (1.0 - lead) * last + lead * step,
            kind: self.settings.walls,
        };
        scene.find(&mut self.walls, &mut self.columns);
        if self.settings.wall_shear != WallShear::Coulomb {
            walls::carry(&self.walls, &mut self.columns);
        }
    }

    /// Returns the friction of walls, if it is not Coulomb's.
    fn drag(&self) -> Option<Drag> {
        let is_greatest = match self.settings.wall_shear {
            WallShear::Coulomb => return None,
            WallShear::Stress => false,
            WallShear::Dissipation => true,
        };
        Some(Drag {
            is_greatest,
            viscosity: self.settings.wall_viscosity,
            sound: self.sound.unwrap_or_default(),
        })
    }

    /// v* = v + Δt (g + further forces + friction of the last step), where the pressure is found first.
    fn predict(&mut self, world: &World, step: f32) {
        if !self.settings.warm_start {
            self.past.forget(self.settings.pressure);
        }
        let are_together = self.settings.pressure == Pressure::Pcisph;
        let pressure = are_together.then_some(&*self.past.pressure);
        friction::load(&self.past.stress, pressure, &mut self.columns);
        let fall = (world.gravity.as_vec3() * step).extend(0.0);
        let base = &mut self.columns.base;
        let guides = world.guides.velocity.par_iter().with_min_len(CHUNK);
        guides
            .zip(base.par_iter_mut())
            .for_each(|(v, base)| *base = v.extend(0.0) + fall);
        self.add_forces(world, step);
        if world.has_fixed_guides() {
            for i in (0..world.guides.len()).filter(|&i| world.is_fixed(i)) {
                self.columns.base[i] = Vec4::ZERO;
                // What lies too dense and cannot move would push others away for ever.
                self.columns.compression[i] = self.columns.compression[i].min(1.0);
            }
        }
        if are_together {
            return;
        }
        friction::accelerate(&mut self.columns, &self.rows, &self.space);
        let Columns {
            base, velocity, rub, ..
        } = &mut self.columns;
        let guides = velocity.par_iter_mut().with_min_len(CHUNK).zip(&*base);
        guides
            .zip(rub.par_iter().zip(&self.past.grip))
            .for_each(|((velocity, base), (rub, grip))| *velocity = *base + step * (*rub + *grip));
    }

    /// Returns true if nothing has friction.
    pub(crate) fn is_smooth(&self) -> bool {
        let is_smooth = |bound: &Bound| bound.slope == 0.0 && bound.intercept == 0.0;
        let never = self.settings.pressure == Pressure::Iisph && self.settings.friction_iterations == 0;
        never || self.bounds.iter().all(is_smooth)
    }

    /// Returns the target of the pressure for a step of `step` [s].
    fn goal(&self, world: &World, step: f32) -> Goal {
        let spacing = self.supports[1] / self.settings.support;
        let gentle = match self.settings.pressure {
            Pressure::Iisph => MAX_RECOVERY_IISPH,
            Pressure::Pcisph => MAX_RECOVERY_PCISPH,
        };
        let is_by_speed = self.settings.correction == Correction::Velocity;
        Goal {
            step,
            // Friction holds on to compression: a pressure that were to undo it by speed would wind up without end.
            is_undone: is_by_speed || self.is_smooth(),
            gentle: match is_by_speed {
                true => f32::INFINITY,
                false => gentle * (world.gravity.length() as f32 / spacing).sqrt() * step,
            },
            relaxation: match self.settings.prediction {
                Prediction::Rate => COUPLED_RELAXATION,
                Prediction::Positions => 1.0,
            },
            density_error: self.settings.density_error,
            iterations: self.settings.iterations,
        }
    }

    /// The pressure that lets nothing be denser than settled sand.
    fn press(&mut self, world: &World, step: f32) {
        let goal = self.goal(world, step);
        self.solved = pressure::solve(
            &mut self.past.pressure,
            &mut self.columns,
            &self.rows,
            &self.space,
            goal,
            &mut self.errors,
        );
        self.passes += u64::from(self.solved.iterations);
    }

    /// The friction that the pressure allows. Each disturbs the other, so the pressure goes on with it: found apart, they never let sand rest.
    fn rub(&mut self, world: &World, step: f32) {
        if self.is_smooth() {
            let drag = self.drag();
            let Past { pressure, grip, .. } = &mut self.past;
            return friction::integrate(pressure, grip, &mut self.columns, &mut self.walls, None, drag, step);
        }
        let goal = self.goal(world, step);
        friction::load(&self.past.stress, Some(&self.past.pressure), &mut self.columns);
        for pass in 0..self.settings.friction_iterations {
            self.integrate(step);
            self.rub_once(world, goal, pass == 0);
        }
        self.integrate(step);
    }

    /// Pressure and friction together, pass by pass.
    fn press_and_rub(&mut self, world: &World, step: f32) {
        let goal = self.goal(world, step);
        self.solved = Outcome::default();
        while self.solved.iterations < goal.iterations[1] {
            self.integrate(step);
            self.rub_once(world, goal, self.solved.iterations == 0);
            self.solved.iterations += 1;
            self.solved.error = pressure::mean(&self.errors);
            let most = self.settings.stress_error;
            let is_calm = most.is_none_or(|most| pressure::stress_change(&self.errors) <= most);
            if self.solved.iterations >= goal.iterations[0] && self.solved.error <= goal.density_error && is_calm {
                break;
            }
        }
        self.integrate(step);
        self.passes += u64::from(self.solved.iterations);
    }

    /// One pass of pressure to its `goal` and of frictional stress, which the first of a step turns with the material.
    fn rub_once(&mut self, world: &World, goal: Goal, is_first: bool) {
        self.errors.resize(self.rows.len(), [0.0; 4]);
        let settings = &self.settings;
        let is_ahead = settings.prediction == Prediction::Positions && settings.pressure == Pressure::Pcisph;
        if is_ahead {
            pressure::foresee(&mut self.columns, &self.rows, &self.space, goal.step);
        }
        let held = Held {
            pressure: &mut self.past.pressure,
            stress: &mut self.past.stress,
            errors: &mut self.errors,
        };
        let bounds = (&*world.guides.material, &*self.bounds);
        let pass = Pass {
            goal,
            is_first,
            spacing: 2.0 / settings.support,
            relaxation: match settings.gradients {
                Gradients::Exact => COUPLED_RELAXATION,
                Gradients::Plain => PLAIN_RELAXATION,
            },
            is_ahead,
            is_judged: settings.stress_error.is_some(),
            is_walled: settings.wall_shear != WallShear::Coulomb,
        };
        friction::update(held, &mut self.columns, &self.rows, &self.space, bounds, pass);
    }

    /// Velocities with pressure, friction and walls as they were loaded last.
    fn integrate(&mut self, step: f32) {
        let drag = self.drag();
        let Past { pressure, grip, .. } = &mut self.past;
        let rows = Some((&*self.rows, &self.space));
        friction::integrate(pressure, grip, &mut self.columns, &mut self.walls, rows, drag, step);
    }

    /// Leapfrog: positions go half of the way with the old velocities, before forces are found.
    fn drift(&self, world: &mut World, step: f32) {
        let half = self.settings.integration.lead() * step;
        if half > 0.0 {
            let Guides {
                position,
                offset,
                velocity,
                ..
            } = &mut world.guides;
            let guides = position.par_iter_mut().with_min_len(CHUNK).zip(offset).zip(velocity);
            guides.for_each(|((position, offset), velocity)| displace(position, offset, half * *velocity));
        }
    }

    /// Positions go with the new velocities: all of the way, which is symplectic Euler, or the half that is left.
    fn move_guides(&mut self, world: &mut World, step: f32) {
        let undone = self.undone(world, f64::from(step));
        if world.has_fixed_guides() {
            // Walls may have pushed them.
            for i in (0..world.guides.len()).filter(|&i| world.is_fixed(i)) {
                self.columns.velocity[i] = Vec4::ZERO;
                self.columns.shift[i] = Vec4::ZERO;
            }
        }
        if self.settings.rest == Rest::Single && self.settings.sleeping {
            self.hold_slow(world, step);
        }
        let Guides {
            position,
            offset,
            velocity,
            ..
        } = &mut world.guides;
        let rest = (1.0 - self.settings.integration.lead()) * step;
        let columns = position.par_iter_mut().with_min_len(CHUNK).zip(offset).zip(velocity);
        let Columns {
            velocity: new, shift, ..
        } = &mut self.columns;
        let chunks = shift
            .par_chunks_mut(CHUNK)
            .zip(new.par_chunks(CHUNK))
            .zip(&mut self.walls);
        chunks.for_each(|((shift, new), walls)| {
            for (k, (shift, new)) in shift.iter_mut().zip(new).enumerate() {
                let mut way = undone * shift.xyz();
                for plane in walls.of_mut(k) {
                    plane.keep_out(&mut way, new.xyz(), step);
                }
                *shift = way.extend(0.0);
            }
        });
        let new = self.columns.velocity.par_iter().zip(&self.columns.shift);
        let calm = self.past.calm.par_iter_mut().zip(&self.columns.half_support);
        let per_support = 2.0 / self.settings.support;
        let guides = columns.zip(new).zip(calm);
        guides.for_each(
            |((((position, offset), velocity), (new, shift)), (calm, half_support))| {
                *velocity = new.xyz();
                displace(position, offset, rest * *velocity + shift.xyz());
                *calm = calm.after(step * *velocity + shift.xyz(), step, per_support * half_support);
            },
        );
    }

    /// Stops guides that are slow and that no net force accelerates.
    fn hold_slow(&mut self, world: &World, step: f32) {
        let gravity = world.gravity.length() as f32;
        let per_support = 2.0 / self.settings.support;
        let Columns {
            velocity,
            shift,
            half_support,
            ..
        } = &mut self.columns;
        let guides = velocity.par_iter_mut().with_min_len(CHUNK).zip(shift).zip(half_support);
        guides
            .zip(&world.guides.velocity)
            .for_each(|(((velocity, shift), half_support), before)| {
                let acceleration = (velocity.xyz() - *before).length() / step;
                if rest::stays(
                    velocity.xyz().length(),
                    acceleration,
                    per_support * *half_support,
                    gravity,
                ) {
                    (*velocity, *shift) = (Vec4::ZERO, Vec4::ZERO);
                }
            });
    }

    /// Moves bodies by their keys, or by guides and gravity.
    fn move_bodies(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        let count = world.bodies.len();
        let chunks = self.walls.par_iter_mut().zip(world.guides.mass.par_chunks(CHUNK));
        chunks.for_each(|(walls, mass)| walls.sum_loads(mass, count));
        sum_loads(&mut self.loads, count, self.walls.iter().map(|walls| &*walls.loads));
        // Guides get the opposite.
        self.impulses.add(self.loads.iter().copied(), -1.0);
        self.impulses.step(&mut self.motion, world, step)
    }
}

/// Returns `value` of a file, which may be anything, from 0 to `most`.
fn positive(value: f32, most: f32) -> f32 {
    if value > 0.0 { value.min(most) } else { 0.0 }
}

impl Solver for SphSolver {
    fn name(&self) -> &'static str {
        crate::SPEC.name
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        if let Some(report) = self.sleep_through(world, duration) {
            return Ok(report);
        }
        self.begin_frame(world)?;
        let (start, end) = (world.time, world.time + duration);
        let mut steps = 0;
        let mut left = duration;
        let (mut parts, mut done) = (0, 0.0);
        while left > 0.0 {
            let count = self.plan(world, left, parts, done)?;
            let step = left / f64::from(count);
            self.step(world, step)?;
            steps += 1;
            (parts, done) = (parts + 1, done + step);
            if parts == self.settings.step_divisor {
                (parts, done) = (0, 0.0);
            }
            left = if count == 1 { 0.0 } else { left - step };
            world.time = end - left;
        }
        world.time = start + duration;
        self.end_frame(world, duration, steps)
    }

    fn columns(&self) -> Vec<(&'static str, Column)> {
        let mut columns = vec![
            ("density", Column::F32(self.columns.compression.clone())),
            ("pressure", Column::F32(self.past.pressure.clone())),
        ];
        if self.settings.is_moist() {
            columns.push(("wetness", Column::F32(self.past.wetness.clone())));
        }
        columns
    }

    fn adopt(&mut self, _world: &World, columns: &Table) {
        let Some(Column::U32(ids)) = columns.column("id") else {
            return;
        };
        let numbers = |name: &str| match columns.column(name) {
            Some(Column::F32(values)) => Some(values.clone()),
            _ => None,
        };
        self.ids.clone_from(ids);
        self.past = Past::at_rest(ids.len());
        if let Some(pressure) = numbers("pressure") {
            self.past.pressure = pressure.into_iter().map(|p| positive(p, f32::MAX)).collect();
        }
        if let Some(wetness) = numbers("wetness") {
            self.past.wetness = wetness.into_iter().map(|w| positive(w, 1.0)).collect();
        }
    }

    fn save(&self, archive: &mut Archive) {
        memory::save(&self.past, &self.ids, archive);
        archive.put("sph.map_support", &[self.map_support.unwrap_or_default()]);
        archive.put("sph.sound", &[self.sound.unwrap_or_default()]);
        // What sleepers show, and how large they are.
        archive.put("sph.density", &self.columns.compression);
        archive.put("sph.supports", &self.supports);
        // What a frame reports in which all sleep.
        let extras = self.last_report.extras.iter().map(|&(_, value)| value);
        let report: Vec<f64> = [f64::from(self.last_report.max_overlap)]
            .into_iter()
            .chain(extras)
            .collect();
        archive.put("sph.report", &report);
        self.motion.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        (self.past, self.ids) = memory::load(archive, world.next_id)?;
        // A wall's density map has cells of a support's size.
        let largest = world.guides.radius.iter().copied().reduce(f32::max);
        let widest = largest.map_or(FARTHEST, |radius| MAX_SUPPORT * radius);
        let is_support = |h: &f32| (0.0..=widest).contains(h);
        self.map_support = Some(archive.get_one_fit("sph.map_support", is_support)?).filter(|&h| h > 0.0);
        self.columns.compression = archive.get_f32s("sph.density")?;
        let supports: Vec<f32> = archive.get_fit("sph.supports", is_support)?;
        self.supports = [0, 1].map(|k| supports.get(k).copied().unwrap_or_default());
        let report: Vec<f64> = archive.get_f64s("sph.report")?;
        if let Some((&max_overlap, extras)) = report.split_first() {
            self.last_report.max_overlap = max_overlap as f32;
            self.last_report.extras = REPORTED.into_iter().zip(extras.iter().copied()).collect();
        }
        self.sound = Some(archive.get_one_fit("sph.sound", |c: &f32| c.is_finite())?).filter(|&c| c > 0.0);
        self.motion.load(world, archive)
    }
}
