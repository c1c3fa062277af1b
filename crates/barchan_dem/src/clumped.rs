//! State of particles that may have several spheres.

use barchan_geometry::clump::Clump;
use barchan_geometry::random::Stream;
use barchan_world::{Archive, ArchiveError, NEW_ROW, World, permute};
use glam::{DQuat, DVec3, Vec3};

use crate::DemSettings;
use crate::cpu::particles::{Particle, SPHERE};
use crate::cpu::rows::{FIXED_MASS, Row};
use crate::state::{State, far, is_published};

impl DemSettings {
    /// Returns the clump of guide `id`, or [`SPHERE`].
    fn kind(&self, id: u32) -> u32 {
        let said = self.clumped.iter().find(|(ids, _)| ids.contains(&id));
        said.filter(|(_, kind)| *kind < self.clumps.len())
            .map_or(SPHERE, |(_, kind)| *kind as u32)
    }
}

impl State {
    /// Updates the particles from the world's guides: known ones keep their state unless they were moved from outside. New ones get a random rotation.
    pub(crate) fn follow_particles(&mut self, world: &World, settings: &DemSettings) {
        let renumbered = self.renumber(world);
        let before = std::mem::take(&mut self.particles);
        let old = |i: usize| renumbered.as_ref().map_or(i, |old| old[i] as usize);
        let particle = |i: usize| {
            let fresh = fresh(world, settings, i);
            match before.get(old(i)) {
                Some(known) if is_published(world, i, known.position, known.velocity) => *known,
                Some(known) => Particle {
                    rotation: known.rotation,
                    momentum: known.momentum,
                    ..fresh
                },
                None => fresh,
            }
        };
        self.particles = (0..world.guides.len()).map(particle).collect();
        self.old = renumbered.unwrap_or_default();
        for (id, spin) in self.asked.drain(..) {
            if let Some(i) = self.ids.iter().position(|&known| known == id) {
                self.particles[i].set_spin(&settings.clumps, spin);
            }
        }
    }

    /// Puts particle `order[k]` at place `k`, if there is an order, and its spheres after those of the particle before.
    pub(crate) fn gather_particles(&mut self, order: Option<&[u32]>, world: &World, clumps: &[Clump]) {
        if let Some(order) = order {
            permute(&mut self.ids, order);
            permute(&mut self.particles, order);
            match self.old.is_empty() {
                true => self.old.extend_from_slice(order),
                false => permute(&mut self.old, order),
            }
        }
        let old_first = std::mem::take(&mut self.first);
        let old_particles = std::mem::take(&mut self.old);
        self.first.push(0);
        self.rows.clear();
        self.particle_of.clear();
        for (g, particle) in self.particles.iter().enumerate() {
            let (start, count) = (self.rows.len(), particle.count(clumps));
            let material = world.guides.material[g];
            self.rows.extend((0..count).map(|k| particle.row(clumps, k, material)));
            self.ways.resize(self.rows.len(), 0.0);
            let (rows, ways) = (&mut self.rows[start..], &mut self.ways[start..]);
            particle.place(clumps, rows, ways, particle.velocity, particle.spin(clumps));
            if let Some(&old) = old_particles.get(g) {
                let known = old_first.get(old as usize).filter(|_| old != NEW_ROW);
                let numbers = (0..count as u32).map(|k| known.map_or(NEW_ROW, |first| first + k));
                self.old.extend(numbers);
            }
            self.particle_of.extend((0..count).map(|_| g as u32));
            self.first.push(self.rows.len() as u32);
        }
        self.rows.push(Row::PADDING);
    }

    pub(crate) fn load_particles(
        world: &World,
        settings: &DemSettings,
        archive: &Archive,
    ) -> Result<Self, ArchiveError> {
        let ids: Vec<u32> = archive.get("dem.ids")?;
        let all: Vec<[f64; 13]> = archive.get_fit("dem.grains", |n: &[f64; 13]| {
            n.iter().all(|x| x.abs() <= far()) && DQuat::from_slice(&n[9..]).is_normalized()
        })?;
        if ids.len() != all.len() || ids != world.guides.id {
            return Err(ArchiveError::Unfit {
                name: "dem.grains".to_owned(),
                found: format!("{} grains", all.len()),
            });
        }
        let particle = |(i, numbers)| fresh(world, settings, i).with_numbers(numbers);
        let mut state = Self {
            ids,
            particles: all.iter().enumerate().map(particle).collect(),
            ..Self::default()
        };
        state.divide(&settings.clumps);
        Ok(state)
    }

    /// Counts the spheres of the particles. Their rows are made of the particles at the start of the next frame.
    pub(crate) fn divide(&mut self, clumps: &[Clump]) {
        self.first.push(0);
        let mut next = 0;
        for particle in &self.particles {
            next += particle.count(clumps) as u32;
            self.first.push(next);
        }
        self.rows.resize(next as usize + 1, Row::PADDING);
    }
}

impl Particle {
    /// Returns the state that changes, for checkpoints.
    pub(crate) fn numbers(&self) -> [f64; 13] {
        let mut numbers = [0.0; 13];
        let vectors = [self.position, self.velocity, self.momentum];
        for (k, vector) in vectors.iter().enumerate() {
            numbers[3 * k..3 * k + 3].copy_from_slice(&vector.to_array());
        }
        numbers[9..].copy_from_slice(&self.rotation.to_array());
        numbers
    }

    fn with_numbers(self, numbers: &[f64; 13]) -> Self {
        let vector = |k: usize| DVec3::from_slice(&numbers[3 * k..]);
        Self {
            position: vector(0),
            velocity: vector(1),
            momentum: vector(2),
            rotation: DQuat::from_slice(&numbers[9..]),
            ..self
        }
    }
}

/// Rotation vectors [rad] of all guides where nothing has turned them yet.
pub(crate) fn first_turns(world: &World, settings: &DemSettings) -> Vec<Vec3> {
    let turn = |i: usize| fresh(world, settings, i).rotation.to_scaled_axis().as_vec3();
    (0..world.guides.len()).map(turn).collect()
}

/// Returns guide `i` of the world, with the rotation vector `turn` [rad] and the angular velocity `spin` [rad/s] if they are known.
pub(crate) fn turned(
    world: &World,
    settings: &DemSettings,
    i: usize,
    turn: Option<DVec3>,
    spin: Option<DVec3>,
) -> Particle {
    let mut particle = fresh(world, settings, i);
    if let Some(turn) = turn {
        particle.rotation = DQuat::from_scaled_axis(turn);
    }
    particle.set_spin(&settings.clumps, spin.unwrap_or_default());
    particle
}

/// A guide as the world has it, falling freely without spin; turned at random unless it is a sphere.
fn fresh(world: &World, settings: &DemSettings, i: usize) -> Particle {
    let guides = &world.guides;
    let kind = settings.kind(guides.id[i]);
    Particle {
        position: guides.position[i].as_dvec3() + guides.offset[i].as_dvec3(),
        rotation: match kind {
            SPHERE => DQuat::IDENTITY,
            _ => first_rotation(world.seed, guides.id[i]),
        },
        velocity: guides.velocity[i].as_dvec3(),
        momentum: DVec3::ZERO,
        acceleration: if world.is_fixed(i) { DVec3::ZERO } else { world.gravity },
        torque: DVec3::ZERO,
        kind,
        size: f64::from(guides.radius[i]),
        mass: f64::from(if world.is_fixed(i) { FIXED_MASS } else { guides.mass[i] }),
    }
}

/// Returns the initial rotation of a clump, the same that a fill assumed when it packed the clump.
fn first_rotation(seed: u64, id: u32) -> DQuat {
    Stream::new(seed, u64::from(id)).rotation()
}
