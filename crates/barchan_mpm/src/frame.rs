//! Work once per frame, and the length of steps.

use barchan_geometry::text::short;
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, Body, BodyDistance, NEW_ROW, Renumbering, Spare, World,
};
use glam::DVec3;
use rayon::prelude::*;

use crate::MpmSolver;
use crate::cpu::bodies::{self, SeenBody};
use crate::cpu::lattice::{Lattice, key};
use crate::cpu::particles::{self, Particle, Past};
use crate::laws::Law;

/// Step where neither the settings, waves nor guides give one [s].
const LONGEST_STEP: f64 = 1.0 / 240.0;
/// Most steps of a frame [-]; a scene that needs more is broken.
const MAX_STEPS: f64 = 100_000.0;
/// Largest spacing of nodes in a checkpoint, in radii of the largest guide [-].
const MAX_SPACING: f64 = 1e3;
/// Gained volume of a guide that was emitted [-], before the mass around it bounds it.
const EMITTED: f32 = 10.0;
/// Guides that a thread visits at least [-].
const CHUNK: usize = 1024;

/// Memory to sort guides with.
#[derive(Debug, Default)]
pub(crate) struct Sorting {
    keys: Vec<(u64, u32)>,
    order: Vec<u32>,
    spare: Spare,
    numbers: Renumbering,
    old: Vec<u32>,
}

impl MpmSolver {
    /// Sorts guides, and prepares what stays the same over a frame.
    pub(crate) fn begin_frame(&mut self, world: &mut World) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        world.wrap_guides();
        world.wrap_bodies();
        let spacing = match self.spacing {
            Some(spacing) => spacing,
            None => {
                self.spacing = mean_spacing(world).map(|spacing| self.settings.cell * spacing);
                self.spacing.unwrap_or(1.0)
            }
        };
        self.lattice = Lattice::new(world, spacing);
        self.sort(world);
        let largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
        let diameter = self.settings.grain_diameter.unwrap_or(2.0 * largest);
        self.laws.clear();
        let materials = world.materials.all.iter().enumerate();
        self.laws
            .extend(materials.map(|(k, material)| self.settings.law(k, material, diameter)));
        self.mark_new(world);
        particles::take(&mut self.particles, world, &self.lattice, &self.pasts.rows);
        self.blocks.sort(&mut self.particles, &self.lattice);
        self.find_bodies(world);
        Ok(())
    }

    /// Puts guides in the order of their blocks, and what is remembered with them.
    fn sort(&mut self, world: &mut World) {
        let Sorting {
            keys,
            order,
            spare,
            numbers,
            old,
        } = &mut self.sorting;
        let (guides, lattice) = (&world.guides, &self.lattice);
        let place = |i: usize| guides.position[i].as_dvec3() + guides.offset[i].as_dvec3();
        let keyed = |i: usize| (key(lattice.split(place(i)).0), i as u32);
        (0..guides.len()).into_par_iter().map(keyed).collect_into_vec(keys);
        keys.par_sort_unstable();
        order.clear();
        order.extend(keys.iter().map(|&(_, i)| i));
        world.guides.gather(order, spare);
        numbers.find(&world.guides.id, &self.pasts.ids, old);
        self.pasts.sort(&world.guides.id, old);
    }

    /// Guides of emitters come loose: they bear nothing until they are as dense as settled material.
    fn mark_new(&mut self, world: &World) {
        let filled = world.fill_ends.last().copied().unwrap_or_default();
        for (i, &old) in self.sorting.old.iter().enumerate() {
            let is_loose = matches!(
                self.laws[usize::from(world.guides.material[i])],
                Law::Sand(_) | Law::Water(_)
            );
            if old == NEW_ROW && world.guides.id[i] >= filled && is_loose {
                self.pasts.rows[i].plastic = EMITTED;
            }
        }
    }

    fn find_bodies(&mut self, world: &World) {
        let is_same = |(distance, body): (&BodyDistance, &Body)| distance.is_of(body);
        if self.distances.len() != world.bodies.len() || !self.distances.iter().zip(&world.bodies).all(is_same) {
            self.distances = world.bodies.iter().map(BodyDistance::new).collect();
        }
        let guides = self
            .particles
            .iter()
            .map(|particle| world.origin + particle.place(&self.lattice));
        let (low, high) = guides.fold((DVec3::MAX, DVec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
        let all = barchan_geometry::Aabb::new(low, high);
        self.extents.clear();
        self.extents
            .extend(world.bodies.iter().zip(&self.distances).map(|(body, distance)| {
                // No farther than guides are.
                let own = distance.extent(body.mass_properties.center);
                own.min(barchan_world::extent(&all, body.center()))
            }));
        self.frictions.clear();
        for (k, body) in world.bodies.iter().enumerate() {
            self.frictions.extend(world.materials.frictions_on(k, body));
        }
        self.accelerations.resize(world.bodies.len(), world.gravity);
        self.impulses.begin_frame(world);
    }

    /// Fastest that a wall moves in this step [m/s].
    fn body_speed(&self, world: &World) -> f64 {
        if self.particles.is_empty() {
            return 0.0;
        }
        let speed = |(body, extent): (&SeenBody, &f64)| body.speed(*extent);
        let own = self.bodies.iter().take(world.bodies.len());
        own.zip(&self.extents).map(speed).fold(0.0, f64::max)
    }

    /// Speed of the fastest wave [m/s].
    fn wave_speed(&self, world: &World) -> f64 {
        let squared = |particle: &Particle| {
            let m = usize::from(particle.material);
            let law = &self.laws[m];
            let density = world.materials.all[m].density as f32;
            law.stiffening(particle.past.plastic) * law.elastic().wave_modulus() / density
        };
        let particles = self.particles.par_iter().with_min_len(CHUNK);
        f64::from(particles.map(squared).reduce(|| 0.0, f32::max)).sqrt()
    }

    /// Steps that the `left` [s] of a frame take if nothing changes: Δt ≤ step, Δt ≤ cfl h/(c + v). Each of these steps is made in
    /// `step_divisor` parts, of which `parts` that lasted `done` [s] are behind.
    pub(crate) fn plan(&mut self, world: &World, left: f64, parts: u32, done: f64) -> Result<u32, AdvanceError> {
        let particles = self.particles.par_iter().with_min_len(CHUNK);
        let squares = particles.map(|particle| particle.velocity.length_squared());
        let fastest = squares.reduce(|| 0.0, |a, b| if a > b || a.is_nan() { a } else { b });
        if !fastest.is_finite() {
            return Err(self.not_finite(world));
        }
        let fastest = f64::from(fastest.sqrt());
        let whole = left + done;
        let asked = (whole / self.settings.step.unwrap_or(LONGEST_STEP) * (1.0 - 1e-9))
            .ceil()
            .max(1.0);
        bodies::place(&mut self.bodies, world, whole / asked, &self.accelerations);
        let waves = self.wave_speed(world);
        let speed = waves + fastest + world.gravity.length() * whole / asked + self.body_speed(world);
        let needed = match self.particles.is_empty() {
            true => 0.0,
            false => (speed * whole / (self.settings.cfl * f64::from(self.lattice.finest()))).ceil(),
        };
        let count = asked.max(needed);
        if count.is_nan() || count > MAX_STEPS {
            return Err(AdvanceError::Scene {
                what: format!(
                    "at {:.4} s waves of {} m/s and guides of {} m/s take {} steps per frame",
                    world.time,
                    short(waves),
                    short(fastest),
                    short(count)
                ),
                advice:
                    "lower `youngs_modulus`, raise `frame_rate`, or lower gravity and the speed of bodies and emitters"
                        .to_owned(),
            });
        }
        let count = (count as u32).saturating_mul(self.settings.step_divisor) - parts;
        bodies::place(&mut self.bodies, world, left / f64::from(count), &self.accelerations);
        Ok(count)
    }

    /// Gives guides back to the world, and reports the frame.
    pub(crate) fn end_frame(
        &mut self,
        world: &mut World,
        duration: f64,
        steps: u32,
    ) -> Result<AdvanceReport, AdvanceError> {
        self.clock.enter("report");
        if self
            .particles
            .iter()
            .any(|p| !(p.velocity.is_finite() && p.moved.is_finite()))
        {
            return Err(self.not_finite(world));
        }
        particles::give_back(&self.particles, world, &mut self.pasts.rows);
        self.impulses.end_frame(world, duration);
        let smallest = world.guides.radius.iter().copied().fold(f32::INFINITY, f32::min);
        let deepest = self.walls[..self.wall_count]
            .iter()
            .map(|walls| walls.deepest)
            .fold(0.0, f32::max);
        let squeezed = |past: &Past| -0.5 * (past.strain[0] + past.strain[1] + past.strain[2]);
        let densest = self.pasts.rows.iter().map(squeezed).fold(0.0, f32::max);
        Ok(AdvanceReport {
            steps,
            max_overlap: if deepest > 0.0 { deepest / smallest } else { 0.0 },
            extras: vec![("max_compression", f64::from(densest))],
            stages: self.clock.take(),
        })
    }

    fn not_finite(&self, world: &World) -> AdvanceError {
        let is_lost = |p: &&Particle| !(p.velocity.is_finite() && p.moved.is_finite());
        let guide = self
            .particles
            .iter()
            .find(is_lost)
            .map(|p| world.guides.id[p.row as usize]);
        AdvanceError::Unstable {
            time: world.time,
            guide: guide.unwrap_or_default(),
            what: "has no finite position or velocity".to_owned(),
            advice: "lower `cfl`".to_owned(),
        }
    }

    pub(crate) fn load_spacing(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
        let most = if largest > 0.0 {
            MAX_SPACING * f64::from(largest)
        } else {
            f64::INFINITY
        };
        let least = if largest > 0.0 {
            f64::from(largest) / MAX_SPACING
        } else {
            0.0
        };
        let is_fit = |&spacing: &f64| spacing == 0.0 || (spacing.is_finite() && (least..=most).contains(&spacing));
        self.spacing = Some(archive.get_one_fit("mpm.spacing", is_fit)?).filter(|&spacing| spacing > 0.0);
        Ok(())
    }
}

/// Side of the cube that holds the mean share of a guide in the bulk [m], if there are guides.
fn mean_spacing(world: &World) -> Option<f64> {
    let guides = world.guides.mass.iter().zip(&world.guides.material);
    let volumes = guides.map(|(&mass, &m)| f64::from(mass) / world.materials.all[usize::from(m)].density);
    let count = world.guides.len();
    (count > 0).then(|| (volumes.sum::<f64>() / count as f64).cbrt())
}
