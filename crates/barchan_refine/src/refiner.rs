//! Refinement over a run.

use std::sync::Arc;

use barchan_geometry::sample::{Packing, SampleError};
use barchan_simd::Level;
use barchan_world::{
    Archive, ArchiveError, Bodies, BodyDistance, Column, Motion, Pose, RefineReport, Refiner, Stopwatch, Table, World,
};
use glam::{DQuat, DVec3, Vec3};
use thiserror::Error;

use crate::advect::{Known, Rule, advect};
use crate::boundary::BoundaryParticles;
use crate::clearance::Clearance;
use crate::cloud::Cloud;
use crate::contact::{Contacts, Obstacle, Pushing};
use crate::even::Evener;
use crate::field::{Field, Mover};
use crate::flight::Flights;
use crate::grains::{Grains, radius_of, typical_radius};
use crate::laws::{GATE, REACH, bulk_weight, exponent};
use crate::order::Sorter;
use crate::periodic::{with_images, wrap, wrap_movers};
use crate::play::Play;
use crate::repel::{NUDGE, Repeller};
use crate::seed::{self, Parent, Solids, Source};
use crate::separate::Separator;
use crate::settings::{Mode, RefineSettings, Seeding};

/// Largest weight from which on a grain can lie on resting guides: that of a guide 1.8 radii away [-].
const HOLD: f32 = 0.262_144;
/// Speed below which a grain comes to rest on resting guides [m/s].
const STOP: f32 = 0.02;
/// Share of what pulls at a resting grain up to which guides that move leave it where it is [-]. Without it, a guide that slips out of
/// a heap at rest takes the grains all around it along a little.
const LOOSE: f32 = 0.25;
/// Guides looked at, of those right after a sort, from which on grains are sorted again [-].
const UNSORTED: f64 = 1.08;
/// Most grains [-]: 16 GiB with 150 bytes each, frames being written included.
const MOST_GRAINS: f64 = 1.14e8;
/// Packing fraction of settled guides [-].
const FRACTION: f32 = barchan_world::SETTLED_FRACTION as f32;

/// Why there are no grains.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RefineError {
    /// A fill cannot be sampled.
    #[error("grains: {0}")]
    Sample(#[from] SampleError),
    /// More grains than there are numbers for them.
    #[error("about {count:.3e} grains; there may be {MOST_GRAINS:.3e}: take a larger radius")]
    TooMany {
        /// Number of grains [-].
        count: f64,
    },
}

/// Grains that follow the guides of a world.
pub struct GrainRefiner {
    settings: RefineSettings,
    level: Level,
    grains: Grains,
    next_id: u32,
    /// Guides with smaller ids have their grains.
    seeded: u32,
    play: Play,
    evener: Evener,
    flights: Flights,
    /// Poses of the bodies at the end of the last frame, and whether they were there.
    poses: Vec<(Pose, bool)>,
    contacts: Contacts,
    /// Clearance of each body, once it was queried.
    clearances: Vec<Arc<Clearance>>,
    distances: Vec<BodyDistance>,
    sorter: Sorter,
    /// Guides that each group looked at right after the last sort; nothing if grains are to be sorted.
    sorted: Vec<u32>,
    repeller: Repeller,
    separator: Separator,
    boundary: BoundaryParticles,
    field: Field,
    movers: Vec<Mover>,
    known: Known,
    /// Guides that there were, and numbers that were given to guides, at the end of the last frame.
    guides: (usize, u32),
}

impl GrainRefiner {
    /// Seeds grains in a world at its start.
    pub fn new(settings: RefineSettings, world: &World, sources: &[Source]) -> Result<Self, RefineError> {
        Self::watched(settings, world, sources, &|_| ())
    }

    /// Does the same and reports the share done, 0 to 1, to `progress`.
    pub fn watched(
        settings: RefineSettings,
        world: &World,
        sources: &[Source],
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, RefineError> {
        let mut refiner = Self::empty(settings, world);
        let settings = &refiner.settings;
        let (grains, next_id) = (&mut refiner.grains, &mut refiner.next_id);
        let expected: f64 = match settings.per_guide {
            Some(count) => f64::from(count) * world.guides.len() as f64,
            None => {
                let cubes: f64 = world.guides.radius.iter().map(|&r| f64::from(r).powi(3)).sum();
                4.0 / 3.0 * std::f64::consts::PI * cubes / settings.radii.mean_volume()
            }
        };
        if expected > MOST_GRAINS {
            return Err(RefineError::TooMany { count: expected });
        }
        for source in sources {
            if let Source::Grains { table, .. } = source {
                seed::take(grains, next_id, world, table);
            }
        }
        let solids = Solids::of(world);
        for (k, source) in sources.iter().enumerate() {
            let filled = |share: f64| progress((k as f64 + share) / sources.len() as f64);
            filled(0.0);
            match (source, settings.seeding) {
                (
                    Source::Shape {
                        shape,
                        packing,
                        material,
                        velocity,
                    },
                    Seeding::Volume,
                ) => fill_if_room(seed::fill(
                    grains,
                    next_id,
                    world,
                    settings,
                    (&**shape, *packing, *material, *velocity),
                    &filled,
                ))?,
                (Source::Guides(ids), Seeding::Volume) => {
                    if let Some(cloud) = Cloud::new(world, ids) {
                        let material = world.guides.id.iter().position(|id| ids.contains(id));
                        let material = material.map_or(0, |i| world.guides.material[i]);
                        fill_if_room(seed::fill(
                            grains,
                            next_id,
                            world,
                            settings,
                            (&cloud, Packing::Dense, material, Vec3::ZERO),
                            &filled,
                        ))?;
                    }
                }
                (Source::Points(ids), Seeding::Volume) => {
                    for parent in parents(world).filter(|parent| ids.contains(&parent.id)) {
                        seed::about(grains, next_id, world, &solids, settings, parent);
                    }
                }
                (_, Seeding::Support) | (Source::Grains { .. }, _) => {}
            }
        }
        if settings.seeding == Seeding::Support {
            let has_grains = |parent: &Parent| {
                let given =
                    |source: &Source| matches!(source, Source::Grains { guides, .. } if guides.contains(&parent.id));
                sources.iter().any(given)
            };
            for parent in parents(world).filter(|parent| !has_grains(parent)) {
                seed::about(grains, next_id, world, &solids, settings, parent);
            }
        }
        refiner.seeded = world.next_id;
        Ok(refiner)
    }

    /// Creates a refiner without grains, for a world that is about to be loaded.
    pub fn empty(settings: RefineSettings, world: &World) -> Self {
        Self {
            settings,
            level: Level::best(),
            grains: Grains::default(),
            next_id: 0,
            seeded: 0,
            play: Play::default(),
            evener: Evener::default(),
            flights: Flights::default(),
            poses: poses(world),
            contacts: Contacts::default(),
            clearances: Vec::new(),
            distances: Vec::new(),
            sorter: Sorter::default(),
            sorted: Vec::new(),
            repeller: Repeller::default(),
            separator: Separator::default(),
            boundary: BoundaryParticles::default(),
            field: Field::default(),
            movers: Vec::new(),
            known: Known::default(),
            guides: (0, 0),
        }
    }

    /// The same with another instruction set.
    ///
    /// # Panics
    /// If the machine does not have it.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        assert!(level.is_available(), "{level:?} on a machine without it");
        self.level = level;
        self
    }

    /// Returns the grains.
    pub fn grains(&self) -> &Grains {
        &self.grains
    }

    /// Returns the settings.
    pub fn settings(&self) -> &RefineSettings {
        &self.settings
    }

    /// Returns the radius of the grain `id` [m].
    pub fn radius(&self, id: u32) -> f64 {
        radius_of(&self.settings.radii, self.settings.seed, id)
    }

    /// The rule of step `k` of a frame.
    fn rule(&self, world: &World, step: f64, steps: f64, k: u32) -> Rule {
        let fall = match (self.settings.mode, k) {
            // Guides go at their mean velocity over the frame; grains that fall beside them, too.
            (Mode::Gated, 0) => steps * step,
            (Mode::Gated, _) => 0.0,
            _ => step,
        };
        Rule {
            mode: self.settings.mode,
            step: step as f32,
            fall: (world.gravity * fall).as_vec3(),
            seed: self.settings.seed,
            inverse_bulk: 1.0 / bulk_weight(FRACTION),
            gate: GATE,
            exponent: match self.settings.mode {
                Mode::Gated => exponent(step),
                _ => 1.0,
            },
            hold: HOLD,
            stop: STOP * STOP,
            loose: LOOSE,
            // No weight is above 1, so their squares add up to no more than they do; what rounding may add is far less.
            dense: 1.001 * GATE.high * bulk_weight(FRACTION),
        }
    }

    /// Grains of guides that are new, where they were at the start of the frame.
    fn seed_new(&mut self, world: &World, velocities: &[Vec3], duration: f64) {
        if self.seeded == world.next_id {
            return;
        }
        let solids = Solids::of(world);
        let before = self.grains.len();
        for (parent, velocity) in parents(world).zip(velocities) {
            if parent.id >= self.seeded {
                let parent = Parent {
                    place: parent.place - velocity.as_dvec3() * duration,
                    velocity: *velocity,
                    ..parent
                };
                let (grains, next_id) = (&mut self.grains, &mut self.next_id);
                seed::about(grains, next_id, world, &solids, &self.settings, parent);
            }
        }
        self.seeded = world.next_id;
        self.contacts.forget_from(before);
        self.known.forget_from(before);
    }

    /// Grains in a cubic meter where they are dense [1/m³].
    fn density(&self, world: &World) -> f32 {
        let volume: f32 = world.guides.radius.iter().map(|r| 4.2 * r * r * r / FRACTION).sum();
        self.grains.len() as f32 / volume.max(f32::MIN_POSITIVE)
    }

    fn sort_if_needed(&mut self, world: &World) {
        if self.sorted.is_empty() && !world.guides.is_empty() {
            let density = self.density(world);
            self.sorter.sort(&mut self.grains, density);
            self.contacts.forget();
            self.known.forget();
        }
    }

    /// Sees whether groups that move look at many more guides than right after the last sort.
    fn judge_order(&mut self) {
        if self.sorted.is_empty() {
            self.sorted.clone_from(&self.known.looked);
            return;
        }
        let usual = self.sorted.iter().map(|n| u64::from(*n)).sum::<u64>() / self.sorted.len() as u64;
        let (mut looked, mut wanted) = (0, 0);
        for (k, &now) in self.known.looked.iter().enumerate() {
            let then = self.sorted.get(k).map_or(usual, |n| u64::from(*n));
            if u64::from(now) != then {
                looked += u64::from(now);
                wanted += then;
            }
        }
        if looked as f64 > UNSORTED * wanted as f64 {
            self.sorted.clear();
        }
    }

    fn step(&mut self, world: &World, rule: &Rule, obstacles: &[Obstacle], clock: &mut Stopwatch) {
        clock.enter("sort");
        self.sort_if_needed(world);
        clock.enter("guides");
        match world.periodic.iter().any(Option::is_some) {
            true => self.field.build(&with_images(world, &self.movers)),
            false => self.field.build(&self.movers),
        }
        clock.enter("advect");
        advect(&mut self.grains, &mut self.known, &self.field, rule, self.level);
        self.judge_order();
        if self.settings.separate && self.settings.mode == Mode::Gated {
            clock.enter("separate");
            let radius = typical_radius(&self.settings.radii) as f32;
            self.separator
                .advance(&mut self.grains, &mut self.known.fastest, radius, rule.step);
        }
        if self.settings.repel {
            clock.enter("repel");
            let known = &self.known.fastest;
            self.repeller
                .advance(&mut self.grains, known, typical_radius(&self.settings.radii) as f32);
        }
        clock.enter("bodies");
        let settings = &self.settings;
        let pushing = Pushing {
            obstacles,
            origin: world.origin,
            step: f64::from(rule.step),
            radius: &|id| radius_of(&settings.radii, settings.seed, id),
            largest_radius: settings.radii.max(),
            nudge: match settings.repel {
                true => NUDGE * typical_radius(&settings.radii),
                false => 0.0,
            },
        };
        self.contacts
            .resolve(&mut self.grains, &mut self.known.fastest, &pushing);
        wrap(world, &mut self.grains);
    }

    /// Guides go on by a step.
    fn move_guides(&mut self, world: &World, step: f32) {
        for mover in &mut self.movers {
            for axis in 0..3 {
                mover.position[axis] += step * mover.velocity[axis];
            }
        }
        wrap_movers(world, &mut self.movers);
    }

    /// Takes the guides as they are, for the modes as printed, and the particles of bodies where these move grains.
    fn take_guides(&mut self, world: &World, velocities: &[Vec3], duration: f64) {
        self.movers.clear();
        self.movers.extend(velocities.iter().enumerate().map(|(i, velocity)| {
            let start = world.place(i) - world.origin - velocity.as_dvec3() * duration;
            Mover::as_printed(start.as_vec3(), *velocity, world.guides.radius[i])
        }));
        if self.settings.mode.has_boundary_particles() {
            self.boundary.append(world, &self.poses, duration, &mut self.movers);
        }
    }

    /// Discards the state of the last step if guides were removed.
    fn watch_guides(&mut self, world: &World) {
        let (count, given) = self.guides;
        if world.guides.len() < count + (world.next_id - given) as usize {
            self.known.forget();
        }
        self.guides = (world.guides.len(), world.next_id);
    }

    /// Bodies on the part of their way from the share `from` to the share `to` of the frame.
    fn obstacles(&self, world: &World, from: f64, to: f64) -> Vec<Obstacle> {
        let present = |k: &usize| world.bodies[*k].is_present(world.time);
        let reach = world.guides.position.iter().map(|p| p.length()).fold(0.0, f32::max);
        (0..world.bodies.len())
            .filter(present)
            .flat_map(|k| {
                let body = &world.bodies[k];
                let mut start = match self.poses[k] {
                    (pose, true) => pose,
                    (_, false) => body.pose,
                };
                if body.is_dynamic() {
                    // It may have been brought back into a periodic range meanwhile.
                    start.position = world.nearest_image(start.position, body.pose.position);
                }
                let at = move |s: f64, shift: DVec3| Pose {
                    position: start.position.lerp(body.pose.position, s) + shift,
                    rotation: start.rotation.slerp(body.pose.rotation, s),
                };
                let about = body.center().distance(world.origin) + f64::from(reach);
                let places = world.shifts_of_body(body).flatten();
                let known = (&self.distances[k], &self.clearances[k]);
                places.map(move |shift| Obstacle::new(world, k, known, [at(from, shift), at(to, shift)], 2.0 * about))
            })
            .collect()
    }

    /// Prepares the distances of bodies.
    fn survey(&mut self, world: &World) {
        let largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
        for body in &world.bodies[self.clearances.len()..] {
            let reach = f64::from(REACH * largest);
            self.clearances
                .push(Arc::new(Clearance::new(&body.shape, f64::from(largest), reach)));
        }
        let are_known = self.distances.len() == world.bodies.len();
        if !are_known || !self.distances.iter().zip(&world.bodies).all(|(d, body)| d.is_of(body)) {
            self.distances = world.bodies.iter().map(BodyDistance::new).collect();
        }
    }

    /// Takes away what lies in sinks.
    fn drain(&mut self, world: &World) {
        if world.sinks.is_empty() {
            return;
        }
        let inside = |i: usize| {
            let place = world.origin + self.grains.place(i).as_dvec3();
            world
                .sinks
                .iter()
                .any(|s| s.shape.bounds().contains(place) && s.shape.distance(place) < 0.0)
        };
        let keep: Vec<bool> = (0..self.grains.len()).map(|i| !inside(i)).collect();
        if keep.contains(&false) {
            self.grains.retain(&keep);
            self.contacts.forget();
            self.known.forget();
        }
    }
}

impl Refiner for GrainRefiner {
    fn len(&self) -> usize {
        self.grains.len()
    }

    fn advance(&mut self, world: &World, velocities: &[Vec3], duration: f64) -> RefineReport {
        let mut clock = Stopwatch::default();
        clock.enter("guides");
        let steps = (duration / self.settings.step * (1.0 - 1e-9)).ceil().max(1.0);
        match self.settings.mode {
            Mode::Gated => self.play.advance(world, velocities, duration, &mut self.movers),
            _ => self.take_guides(world, velocities, duration),
        }
        self.watch_guides(world);
        clock.enter("seed");
        self.seed_new(world, velocities, duration);
        if self.settings.spread && self.settings.mode == Mode::Gated {
            clock.enter("spread");
            let density = self.density(world);
            self.evener
                .advance(world, &self.grains, density, duration, &mut self.movers);
        }
        if self.settings.flight && self.settings.mode == Mode::Gated {
            clock.enter("flight");
            self.flights
                .advance(world, velocities, duration, steps as f32, &mut self.movers);
        }
        let present: Vec<bool> = world.bodies.iter().map(|b| b.is_present(world.time)).collect();
        if !present.iter().eq(self.poses.iter().map(|(_, present)| present)) {
            self.contacts.forget();
        }
        self.survey(world);
        for k in 0..steps as u32 {
            let share = |k: u32| f64::from(k) / steps;
            let rule = self.rule(world, duration / steps, steps, k);
            if k > 0 {
                self.move_guides(world, rule.step);
            }
            let obstacles = match self.settings.mode.has_boundary_particles() {
                true => Vec::new(),
                false => self.obstacles(world, share(k), share(k + 1)),
            };
            self.step(world, &rule, &obstacles, &mut clock);
        }
        clock.enter("sinks");
        self.drain(world);
        self.poses = poses(world);
        RefineReport {
            steps: steps as u32,
            stages: clock.take(),
        }
    }

    fn table(&self, world: &World) -> Table {
        let grains = &self.grains;
        let n = grains.len();
        let mut table = Table::default();
        table.push("id", Column::U32(grains.id.clone()));
        let place = |i: usize| world.wrapped(world.origin + grains.place(i).as_dvec3()).as_vec3();
        table.push("position", Column::Vec3((0..n).map(place).collect()));
        table.push("velocity", Column::Vec3((0..n).map(|i| grains.rate(i)).collect()));
        let radius = |&id: &u32| self.radius(id) as f32;
        table.push("radius", Column::F32(grains.id.iter().map(radius).collect()));
        table.push("material", Column::U8(grains.material.clone()));
        table
    }

    fn save(&self, archive: &mut Archive) {
        self.grains.save(archive);
        self.play.save(archive);
        self.evener.save(archive);
        self.flights.save(archive);
        self.separator.save(archive);
        archive.put("grains.counters", &[u64::from(self.next_id), u64::from(self.seeded)]);
        archive.put("grains.sorted", &self.sorted);
        let pose = |(pose, present): &(Pose, bool)| {
            let mut numbers = [0.0; 8];
            numbers[..3].copy_from_slice(&pose.position.to_array());
            numbers[3..7].copy_from_slice(&pose.rotation.to_array());
            numbers[7] = f64::from(u8::from(*present));
            numbers
        };
        let poses: Vec<[f64; 8]> = self.poses.iter().map(pose).collect();
        archive.put("grains.poses", &poses);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let most = [u64::from(u32::MAX), u64::from(world.next_id)];
        let counters: [u64; 2] = archive.get_one_fit("grains.counters", |[next_id, seeded]: &[u64; 2]| {
            *next_id <= most[0] && *seeded <= most[1]
        })?;
        let grains = Grains::load(archive, counters[0] as u32, world.materials.all.len())?;
        let poses: Vec<[f64; 8]> = archive.get_f64s("grains.poses")?;
        if poses.len() != self.poses.len() {
            return Err(ArchiveError::Unfit {
                name: "grains.poses".to_owned(),
                found: format!("{} bodies where the scene has {}", poses.len(), self.poses.len()),
            });
        }
        self.play.load(archive)?;
        self.evener.load(archive)?;
        self.flights.load(archive)?;
        self.separator.load(archive)?;
        let pose = |numbers: &[f64; 8]| {
            let pose = Pose {
                position: DVec3::from_slice(&numbers[..3]),
                rotation: DQuat::from_slice(&numbers[3..7]),
            };
            (pose, numbers[7] != 0.0)
        };
        self.poses = poses.iter().map(pose).collect();
        self.grains = grains;
        self.contacts.forget();
        self.known.forget();
        (self.next_id, self.seeded) = (counters[0] as u32, counters[1] as u32);
        self.sorted = archive.get("grains.sorted")?;
        Ok(())
    }
}

/// Takes a shape without room for a grain as one without grains, as with guides that are too small for them.
fn fill_if_room(filled: Result<(), SampleError>) -> Result<(), SampleError> {
    match filled {
        Err(SampleError::NoRoom { .. }) => Ok(()),
        other => other,
    }
}

fn parents(world: &World) -> impl Iterator<Item = Parent> {
    let guides = &world.guides;
    (0..guides.len()).map(|i| Parent {
        place: world.place(i),
        velocity: guides.velocity[i],
        radius: f64::from(guides.radius[i]),
        material: guides.material[i],
        id: guides.id[i],
    })
}

fn poses(world: &World) -> Vec<(Pose, bool)> {
    let pose = |k: usize| match world.bodies[k].motion {
        Motion::Scripted { .. } => world.bodies.scripted_pose(k, world.time),
        _ => world.bodies[k].pose,
    };
    (0..world.bodies.len())
        .map(|k| (pose(k), world.bodies[k].is_present(world.time)))
        .collect()
}
