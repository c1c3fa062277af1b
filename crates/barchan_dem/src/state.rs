//! Spheres in double precision, in the world's order.

use std::collections::BTreeMap;

use barchan_geometry::clump::Clump;
use barchan_world::{Archive, ArchiveError, Column, FARTHEST, Guides, Renumbering, Table, World, permute};
use glam::{DVec3, Vec3};

use crate::DemSettings;
use crate::clumped;
use crate::cpu::motion::{Pull, SphereMotion};
use crate::cpu::particles::Particle;
use crate::cpu::rows::{FIXED_MASS, Row};

/// All spheres. `rows` has one more than there are, which pads blocks of contacts.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Stable numbers, as the world has them.
    pub ids: Vec<u32>,
    pub rows: Vec<Row>,
    pub motions: Vec<SphereMotion>,
    pub pulls: Vec<Pull>,
    /// Displacement of each sphere in this step [m].
    pub ways: Vec<f32>,
    /// Number of each sphere before the last sort; empty if none has changed.
    pub old: Vec<u32>,
    /// Particles, if some have several spheres, in the world's order; the first sphere of each, and the end; and the
    /// particle of each sphere. Then `motions` and `pulls` are empty.
    pub particles: Vec<Particle>,
    pub first: Vec<u32>,
    pub particle_of: Vec<u32>,
    /// Angular velocities [rad/s] to set in the next frame, by guide id.
    pub asked: Vec<(u32, DVec3)>,
}

impl State {
    /// Number of spheres [-].
    pub(crate) fn spheres(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Place [m] and velocity [m/s] of the world's `i`-th guide.
    pub(crate) fn guide(&self, i: usize) -> (DVec3, DVec3) {
        match self.particles.get(i) {
            Some(particle) => (particle.position, particle.velocity),
            None => (self.rows[i].place(), self.motions[i].velocity),
        }
    }

    /// Angular velocity [rad/s] of the world's `i`-th guide.
    pub(crate) fn spin(&self, i: usize, clumps: &[Clump]) -> DVec3 {
        self.particles
            .get(i)
            .map_or_else(|| self.motions[i].spin, |particle| particle.spin(clumps))
    }

    /// Takes over the numbers of the world's guides, and finds the number that each had before; nothing where none has changed.
    pub(crate) fn renumber(&mut self, world: &World) -> Option<Vec<u32>> {
        let Guides { id, .. } = &world.guides;
        if *id == self.ids {
            return None;
        }
        let mut old = Vec::new();
        Renumbering::default().find(id, &self.ids, &mut old);
        self.ids.clone_from(id);
        Some(old)
    }

    /// Updates the spheres from the world's guides: known ones keep their state unless they were moved from outside.
    pub(crate) fn follow(&mut self, world: &World) {
        let renumbered = self.renumber(world);
        let count = world.guides.len();
        let (rows, motions) = (&self.rows, &self.motions);
        let old = |i: usize| renumbered.as_ref().map_or(i, |old| old[i] as usize);
        let is_kept =
            |i: usize| old(i) < motions.len() && is_published(world, i, rows[old(i)].place(), motions[old(i)].velocity);
        // Most frames change nothing, and need no copy.
        let is_same = renumbered.is_none() && motions.len() == count && (0..count).all(is_kept);
        if !is_same {
            let row = |i: usize| {
                let fresh = fresh(world, i).0;
                match is_kept(i) {
                    true => Row {
                        position: rows[old(i)].position,
                        ..fresh
                    },
                    false => fresh,
                }
            };
            let motion = |i: usize| match is_kept(i) {
                true => motions[old(i)],
                false => SphereMotion {
                    spin: motions.get(old(i)).map_or(DVec3::ZERO, |known| known.spin),
                    ..fresh(world, i).1
                },
            };
            let moved: Vec<SphereMotion> = (0..count).map(motion).collect();
            self.rows = (0..count).map(row).chain([Row::PADDING]).collect();
            self.motions = moved;
        }
        self.old = renumbered.unwrap_or_default();
        for (id, spin) in self.asked.drain(..) {
            if let Some(i) = self.ids.iter().position(|&known| known == id) {
                self.motions[i].spin = spin;
            }
        }
    }

    /// Puts sphere `order[k]` at place `k`, if there is an order, and lets rows move as their spheres do.
    pub(crate) fn gather(&mut self, order: Option<&[u32]>) {
        if let Some(order) = order {
            permute(&mut self.ids, order);
            permute(&mut self.rows[..order.len()], order);
            permute(&mut self.motions, order);
            match self.old.is_empty() {
                true => self.old.extend_from_slice(order),
                false => permute(&mut self.old, order),
            }
        }
        for (row, motion) in self.rows.iter_mut().zip(&self.motions) {
            row.velocity = motion.velocity.as_vec3().to_array();
            row.spin = motion.spin.as_vec3().to_array();
        }
        let count = self.motions.len();
        self.pulls.resize(count, Pull::default());
        self.ways.resize(count, 0.0);
    }

    /// Farthest that a sphere is from `center` [m].
    pub(crate) fn reach(&self, origin: DVec3, center: DVec3) -> f64 {
        let rows = &self.rows[..self.spheres()];
        rows.iter()
            .map(|row| (origin + row.place()).distance(center) + row.radius())
            .fold(0.0, f64::max)
    }

    /// Writes positions and velocities to the world, rounded.
    pub(crate) fn publish(&self, world: &mut World) {
        let Guides {
            position,
            offset,
            velocity,
            ..
        } = &mut world.guides;
        for i in 0..self.ids.len() {
            let (place, speed) = self.guide(i);
            (position[i], offset[i]) = rounded(place);
            velocity[i] = speed.as_vec3();
        }
    }

    /// Returns the state of all guides of `world`, rotated and spinning as `columns` have it for some of their ids.
    pub(crate) fn of_columns(world: &World, settings: &DemSettings, columns: &Table) -> Self {
        let vectors = |name: &str| match columns.column(name) {
            Some(Column::Vec3(values)) => values.iter().map(|v| v.as_dvec3()).collect(),
            _ => Vec::new(),
        };
        let (turns, spins): (Vec<DVec3>, Vec<DVec3>) = (vectors("rotation"), vectors("angular_velocity"));
        let rows: BTreeMap<u32, usize> = match columns.column("id") {
            Some(Column::U32(ids)) => ids.iter().copied().zip(0..).collect(),
            _ => BTreeMap::new(),
        };
        let of = |values: &[DVec3], i: usize| {
            let row = rows.get(&world.guides.id[i])?;
            values.get(*row).copied()
        };
        let count = world.guides.len();
        let mut state = Self {
            ids: world.guides.id.clone(),
            ..Self::default()
        };
        if settings.has_particles() {
            state.particles = (0..count)
                .map(|i| clumped::turned(world, settings, i, of(&turns, i), of(&spins, i)))
                .collect();
            state.divide(&settings.clumps);
            return state;
        }
        for i in 0..count {
            let (row, motion) = fresh(world, i);
            state.rows.push(row);
            state.motions.push(SphereMotion {
                spin: of(&spins, i).unwrap_or(motion.spin),
                ..motion
            });
        }
        state.rows.push(Row::PADDING);
        state
    }

    pub(crate) fn save(&self, archive: &mut Archive) {
        archive.put("dem.ids", &self.ids);
        if !self.particles.is_empty() {
            archive.put_all("dem.grains", self.particles.iter().map(Particle::numbers));
            return;
        }
        let numbers = |i: usize| {
            let (row, motion) = (&self.rows[i], &self.motions[i]);
            let mut numbers = [0.0; 9];
            numbers[..3].copy_from_slice(&row.position);
            numbers[3..6].copy_from_slice(&motion.velocity.to_array());
            numbers[6..].copy_from_slice(&motion.spin.to_array());
            numbers
        };
        archive.put_all("dem.spheres", (0..self.ids.len()).map(numbers));
    }

    pub(crate) fn load(world: &World, settings: &DemSettings, archive: &Archive) -> Result<Self, ArchiveError> {
        // Saved before the first frame, with no state beyond that of the world.
        if archive.get::<u32>("dem.ids")?.is_empty() {
            return Ok(Self::default());
        }
        if settings.has_particles() {
            return Self::load_particles(world, settings, archive);
        }
        let ids: Vec<u32> = archive.get("dem.ids")?;
        let all: Vec<[f64; 9]> = archive.get_fit("dem.spheres", |n: &[f64; 9]| n.iter().all(|x| x.abs() <= far()))?;
        if ids.len() != all.len() || ids != world.guides.id {
            return Err(ArchiveError::Unfit {
                name: "dem.spheres".to_owned(),
                found: format!("{} spheres", all.len()),
            });
        }
        let mut state = Self { ids, ..Self::default() };
        let vector = |numbers: &[f64; 9], k: usize| DVec3::from_slice(&numbers[k..]);
        for (i, numbers) in all.iter().enumerate() {
            state.rows.push(Row {
                position: vector(numbers, 0).to_array(),
                ..fresh(world, i).0
            });
            state.motions.push(SphereMotion {
                velocity: vector(numbers, 3),
                spin: vector(numbers, 6),
            });
        }
        state.rows.push(Row::PADDING);
        Ok(state)
    }
}

/// Largest coordinate [m], speed [m/s] and spin [1/s] that a checkpoint may hold.
pub(crate) fn far() -> f64 {
    f64::from(FARTHEST)
}

/// A guide as the world has it, without spin.
fn fresh(world: &World, i: usize) -> (Row, SphereMotion) {
    let guides = &world.guides;
    let row = Row {
        position: (guides.position[i].as_dvec3() + guides.offset[i].as_dvec3()).to_array(),
        radius: guides.radius[i],
        mass: if world.is_fixed(i) { FIXED_MASS } else { guides.mass[i] },
        material: f32::from(guides.material[i]),
        ..Row::default()
    };
    let motion = SphereMotion {
        velocity: guides.velocity[i].as_dvec3(),
        spin: DVec3::ZERO,
    };
    (row, motion)
}

/// A place [m] as two single-precision numbers.
fn rounded(place: DVec3) -> (Vec3, Vec3) {
    let position = place.as_vec3();
    (position, (place - position.as_dvec3()).as_vec3())
}

/// Returns true if the world's guide `i` is as it was published.
pub(crate) fn is_published(world: &World, i: usize, place: DVec3, velocity: DVec3) -> bool {
    let guides = &world.guides;
    (guides.position[i], guides.offset[i]) == rounded(place) && guides.velocity[i] == velocity.as_vec3()
}
