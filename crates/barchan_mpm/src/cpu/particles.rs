//! Guides as the solver moves them, in the order of their blocks.

use barchan_world::{Archive, ArchiveError, World, carry, displace};
use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::lattice::{BlockAt, Lattice};

/// State of a guide that lasts from frame to frame, besides what the world holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Past {
    /// Derivatives of the velocity along each axis [1/s].
    pub gradient: [Vec3; 3],
    /// Elastic strain F Fᵀ - I [-].
    pub strain: [f32; 6],
    /// Kirchhoff stress [Pa].
    pub stress: [f32; 6],
    /// Plastic state [-], by the guide's law.
    pub plastic: f32,
    /// Density by the mass around the guide, of its settled material [-]; 0 before the first step.
    pub density: f32,
}

/// A guide during a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Particle {
    /// Block that it was sorted into, and position from its lowest corner [m].
    pub block: BlockAt,
    pub local: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Mass [kg], and volume of as much settled material [m³].
    pub mass: f32,
    pub volume: f32,
    pub past: Past,
    /// Displacement since the frame began [m].
    pub moved: Vec3,
    /// Row among the world's guides.
    pub row: u32,
    pub material: u8,
    /// True if it never moves.
    pub is_fixed: bool,
}

/// State of guides between frames.
#[derive(Debug, Default)]
pub(crate) struct Pasts {
    pub ids: Vec<u32>,
    pub rows: Vec<Past>,
    spare: Vec<Past>,
}

impl Pasts {
    /// Sorts rows by those of `ids`, whose rows before were `old`.
    pub(crate) fn sort(&mut self, ids: &[u32], old: &[u32]) {
        carry(&mut self.rows, old, &mut self.spare);
        self.ids.clear();
        self.ids.extend_from_slice(ids);
    }

    pub(crate) fn save(&self, archive: &mut Archive) {
        archive.put("mpm.ids", &self.ids);
        archive.put_all(
            "mpm.gradient",
            self.rows
                .iter()
                .map(|past| past.gradient.map(|column| column.to_array())),
        );
        archive.put_all("mpm.strain", self.rows.iter().map(|past| past.strain));
        archive.put_all("mpm.stress", self.rows.iter().map(|past| past.stress));
        archive.put_all("mpm.plastic", self.rows.iter().map(|past| past.plastic));
        archive.put_all("mpm.density", self.rows.iter().map(|past| past.density));
    }

    /// Takes back what [`save`](Self::save) stored of guides with ids below `next_id`.
    pub(crate) fn load(archive: &Archive, next_id: u32) -> Result<Self, ArchiveError> {
        let ids = archive.get_ids("mpm.ids", next_id)?;
        let gradient: Vec<[[f32; 3]; 3]> = archive.get_near("mpm.gradient")?;
        // Laws keep strains within these.
        let is_strain = |e: &[f32; 6]| e.iter().all(|e| (-4.0..=4.0).contains(e));
        let strain: Vec<[f32; 6]> = archive.get_fit("mpm.strain", is_strain)?;
        let stress: Vec<[f32; 6]> = archive.get_f32s("mpm.stress")?;
        let plastic: Vec<f32> = archive.get_f32s("mpm.plastic")?;
        let density: Vec<f32> = archive.get_fit("mpm.density", |d: &f32| *d >= 0.0 && (d * d).is_finite())?;
        let lengths = [gradient.len(), strain.len(), stress.len(), plastic.len(), density.len()];
        if lengths.iter().any(|&n| n != ids.len()) {
            return Err(ArchiveError::Ragged {
                prefix: "mpm".to_owned(),
            });
        }
        let row = |k: usize| Past {
            gradient: gradient[k].map(Vec3::from),
            strain: strain[k],
            stress: stress[k],
            plastic: plastic[k],
            density: density[k],
        };
        Ok(Self {
            rows: (0..ids.len()).map(row).collect(),
            ids,
            spare: Vec::new(),
        })
    }
}

/// Takes the guides of `world` for a frame.
pub(crate) fn take(particles: &mut Vec<Particle>, world: &World, lattice: &Lattice, pasts: &[Past]) {
    let guides = &world.guides;
    let has_fixed = world.has_fixed_guides();
    let particle = |i: usize| {
        let (block, local) = lattice.split(guides.position[i].as_dvec3() + guides.offset[i].as_dvec3());
        let density = world.materials.all[usize::from(guides.material[i])].density;
        Particle {
            block,
            local,
            velocity: guides.velocity[i],
            mass: guides.mass[i],
            volume: (f64::from(guides.mass[i]) / density) as f32,
            past: pasts[i],
            moved: Vec3::ZERO,
            row: i as u32,
            material: guides.material[i],
            is_fixed: has_fixed && world.is_fixed(i),
        }
    };
    (0..guides.len())
        .into_par_iter()
        .map(particle)
        .collect_into_vec(particles);
}

/// Gives positions and velocities back to the guides of `world`, and the rest to `pasts`.
pub(crate) fn give_back(particles: &[Particle], world: &mut World, pasts: &mut [Past]) {
    let guides = &mut world.guides;
    for particle in particles {
        let i = particle.row as usize;
        displace(&mut guides.position[i], &mut guides.offset[i], particle.moved);
        guides.velocity[i] = particle.velocity;
        pasts[i] = particle.past;
    }
}

impl Particle {
    /// Position [m], relative to the world's origin and within its periodic ranges.
    pub(crate) fn place(&self, lattice: &Lattice) -> DVec3 {
        lattice.corner(self.block) + self.local.as_dvec3()
    }
}
