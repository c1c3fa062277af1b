//! Optional forces: cohesion, viscosity, air drag and contacts of single guides.

use barchan_world::{NEW_ROW, World};
use rayon::prelude::*;

use crate::cpu::discrete::Touch;
use crate::cpu::{cohesion, discrete, drag, moisture, viscosity};
use crate::laws;
use crate::{SphSolver, WallShear};

impl SphSolver {
    /// Adds them over `step` [s] to the velocities that the step goes on with.
    pub(crate) fn add_forces(&mut self, world: &World, step: f32) {
        let (columns, rows, space) = (&mut self.columns, &self.rows, &self.space);
        let velocity = &world.guides.velocity;
        if self.settings.cohesion.iter().any(|&c| c > 0.0) {
            cohesion::attract(columns, rows, space, step);
        }
        if self.settings.is_viscous() {
            let sound = self.sound.unwrap_or_default();
            viscosity::damp(columns, rows, space, velocity, sound, step);
        }
        if self.settings.discrete {
            let touch = Touch {
                velocity,
                pressure: &self.past.pressure,
                friction: &self.pair_friction,
                material: &world.guides.material,
                materials: world.materials.all.len(),
                support: self.settings.support,
                step,
            };
            discrete::bounce(columns, rows, space, &touch);
        }
        if let Some(air) = &self.settings.air {
            let (all, material) = (&world.materials.all, &world.guides.material);
            let density = |i: usize| all[usize::from(material[i])].particle_density as f32;
            let how = (air, self.settings.support, step);
            drag::resist(columns, rows, space, velocity, density, how);
        }
    }

    /// Gives new guides the wetness of their material, and all what depends on it.
    pub(crate) fn soak(&mut self, world: &World) {
        let material = &world.guides.material;
        for (i, wetness) in self.past.wetness.iter_mut().enumerate() {
            if self.old[i] == NEW_ROW {
                let said = self.settings.wetness.get(usize::from(material[i]));
                *wetness = said.copied().unwrap_or(1.0);
            }
        }
        moisture::soak(&self.past.wetness, &mut self.columns, material, &self.settings);
    }

    /// Lets water go from guide to guide, and dry, over `step` [s].
    pub(crate) fn dampen(&mut self, world: &World, step: f32) {
        if self.settings.is_drying() {
            let (columns, wetness) = (&mut self.columns, &mut self.past.wetness);
            moisture::spread(wetness, columns, &self.rows, &self.space, &self.settings, step);
            moisture::soak(wetness, columns, &world.guides.material, &self.settings);
        }
    }

    /// Prepares them for a frame.
    pub(crate) fn prepare_forces(&mut self, world: &World) {
        self.pair_friction.clear();
        let count = world.materials.all.len() as u8;
        for a in 0..count {
            let others = (0..count).map(|b| world.materials.friction(a, b).kinetic);
            self.pair_friction.extend(others);
        }
        if self.settings.has_sound() && self.sound.is_none() && !world.guides.is_empty() {
            self.sound = Some(self.settings.sound_speed.unwrap_or_else(|| sound(world)));
        }
    }

    /// Longest step [s] that they allow.
    pub(crate) fn calm_step(&self) -> f64 {
        let own = self.settings.viscosity.iter().flatten().copied().fold(0.0, f32::max);
        let walls = match self.settings.wall_shear {
            WallShear::Dissipation => {
                let frictions = self.body_friction.iter().map(|friction| friction.r#static);
                self.settings.wall_viscosity.unwrap_or(frictions.fold(0.0, f32::max))
            }
            WallShear::Coulomb | WallShear::Stress => 0.0,
        };
        let thickest = own.max(walls);
        match self.sound {
            Some(sound) if thickest > 0.0 && sound > 0.0 => {
                laws::viscosity::longest_step(thickest, sound, self.supports[1]).into()
            }
            _ => f64::INFINITY,
        }
    }
}

/// Speed of sound [m/s] for guides as they are: what falls from the highest to the lowest, emitters among them.
fn sound(world: &World) -> f32 {
    let gravity = world.gravity.length();
    let up = (-world.gravity).normalize_or(glam::DVec3::Z);
    let guides = (0..world.guides.len()).map(|i| world.place(i).dot(up));
    let emitters = world.emitters.iter().flat_map(|emitter| {
        let bounds = emitter.shape.bounds();
        [bounds.min.dot(up), bounds.max.dot(up)]
    });
    let (low, high) = guides
        .chain(emitters)
        .fold((f64::MAX, f64::MIN), |(low, high), z| (low.min(z), high.max(z)));
    let velocities = world.guides.velocity.par_iter().with_min_len(4096);
    let fastest = velocities.map(|v| v.length()).reduce(|| 0.0, f32::max);
    laws::viscosity::sound(fastest, gravity as f32, (high - low) as f32)
}
