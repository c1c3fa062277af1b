//! Length of a step.

use barchan_geometry::text::short;
use barchan_world::{Bodies, Motion, World};
use glam::DVec3;

use barchan_bodies::twist_between;
use barchan_world::AdvanceError;

use crate::cpu::rows::Row;
use crate::laws::normal::NormalLaw;
use crate::laws::{duration, effective};
use crate::settings::{Integrator, SettingsError};
use crate::{DemSettings, DemSolver, adaptive};

/// Most steps of a frame [-]; a frame that needs more would take too long.
const MAX_STEPS: f64 = 1e6;
/// Longest displacement of a sphere in a step, as a fraction of the smallest radius [-].
const MAX_DISPLACEMENT: f64 = 0.2;
/// Fewest steps in the shortest contact with a given step [-].
const MIN_STEPS: f64 = 6.0;
/// Times in a frame at which the speed of scripted bodies is sampled [-].
const MOMENTS: u32 = 32;

/// The contact that asks for the shortest steps.
#[derive(Clone, Copy, Debug)]
struct Shortest {
    /// Reduced mass [kg] and Hertz's stiffness [N/m^1.5].
    mass: f64,
    stiffness: f64,
}

impl DemSettings {
    /// The shortest contact among spheres of these radii [m], masses [kg] and materials: that of two of a kind.
    fn shortest(&self, spheres: impl Iterator<Item = (f64, f64, usize)>) -> Option<Shortest> {
        let contact = |(radius, mass, material): (f64, f64, usize)| {
            let contact = self.contact(material);
            let modulus = effective::modulus([contact.youngs_modulus; 2], [contact.poisson_ratio; 2]);
            let hard = self.bodies.map_or(modulus, |[young, poisson]| {
                effective::modulus([contact.youngs_modulus, young], [contact.poisson_ratio, poisson])
            });
            Shortest {
                mass: 0.5 * mass,
                stiffness: effective::hertz_stiffness(modulus.max(hard), 0.5 * radius),
            }
        };
        let flexibility = |s: &Shortest| s.mass / s.stiffness;
        spheres
            .map(contact)
            .min_by(|a, b| flexibility(a).total_cmp(&flexibility(b)))
    }

    /// Returns the duration of the shortest contact [s] at `speed` [m/s].
    fn contact_time(&self, shortest: Shortest, speed: f64) -> f64 {
        let hertz = |speed: f64| duration::hertz(shortest.mass, shortest.stiffness, speed);
        match self.normal {
            NormalLaw::Linear => self.duration.unwrap_or_else(|| hertz(self.reference_speed)),
            _ => hertz(speed),
        }
    }

    /// Refuses a given step that is longer than a contact at the reference speed allows.
    pub(crate) fn check_step(&self, world: &World) -> Result<(), SettingsError> {
        let guides = &world.guides;
        let spheres = (0..guides.len()).map(|i| {
            (
                f64::from(guides.radius[i]),
                f64::from(guides.mass[i]),
                usize::from(guides.material[i]),
            )
        });
        let (Some(step), Some(shortest)) = (self.step, self.shortest(spheres)) else {
            return Ok(());
        };
        let longest = self.contact_time(shortest, self.reference_speed) / MIN_STEPS;
        if step <= longest {
            return Ok(());
        }
        Err(SettingsError {
            whose: String::new(),
            name: "step",
            value: step,
            allowed: format!("at most {longest:.3e} s, a {MIN_STEPS}th of a contact; or lower `youngs_modulus`"),
        })
    }
}

impl DemSolver {
    /// Steps that `duration` [s] takes.
    pub(crate) fn plan(&self, world: &World, duration: f64) -> Result<u32, AdvanceError> {
        let spheres = || self.state.rows[..self.state.spheres()].iter();
        let speed = |i: usize| self.state.guide(i).1.length();
        let guides = (0..world.guides.len()).map(speed).fold(0.0, f64::max);
        // Spheres of clumps may be faster than their centers.
        let members = spheres().filter(|_| !self.state.particles.is_empty());
        let fastest = members.map(|row| row.velocity().length()).fold(guides, f64::max);
        if !fastest.is_finite() || (0..world.guides.len()).any(|i| !speed(i).is_finite()) {
            return Err(self.not_finite(world));
        }
        let Some(shortest) = self.settings.shortest(
            spheres()
                .enumerate()
                .map(|(k, row)| (row.radius(), row.mass() / self.crowd(k), row.material as usize)),
        ) else {
            let asked = self.settings.step.unwrap_or(1e-3);
            let steps = (duration / asked).ceil() * f64::from(self.settings.step_divisor);
            return Ok(steps.clamp(1.0, MAX_STEPS) as u32);
        };
        let smallest = spheres().map(Row::radius).fold(f64::INFINITY, f64::min);
        let bodies = (0..world.bodies.len()).map(|k| self.body_speed(world, k, duration));
        let speed = fastest + bodies.fold(0.0, f64::max) + world.gravity.length() * duration;
        // What presses particles together makes them as stiff as an impact that goes as deep.
        let pressed = duration::speed_of_overlap(shortest.mass, shortest.stiffness, self.deepest * smallest);
        let slowest = 1e-2 * (world.gravity.length() * smallest).sqrt().max(1e-6);
        let contact = self.settings.contact_time(shortest, speed.max(pressed).max(slowest));
        let step = match self.settings.step {
            Some(step) => step.min(contact / MIN_STEPS),
            None if self.settings.integrator == Integrator::Rkf45 => contact / adaptive::MIN_STEPS,
            None => contact / self.settings.steps_per_contact,
        };
        let longest = step.min(MAX_DISPLACEMENT * smallest / speed.max(f64::MIN_POSITIVE));
        let steps = (duration / longest * (1.0 - 1e-9)).ceil().max(1.0) * f64::from(self.settings.step_divisor);
        if steps > MAX_STEPS {
            return Err(AdvanceError::Scene {
                what: format!(
                    "at {speed:.3} m/s a contact lasts {contact:.2e} s, which takes {} steps per frame",
                    short(steps)
                ),
                advice: "lower `youngs_modulus` of the materials, or slow the scene's bodies and emitters down"
                    .to_owned(),
            });
        }
        Ok(steps as u32)
    }

    /// Returns the factor by which the particle of sphere `k` may be stiffer than one sphere if many of its spheres are
    /// in contact at once [-]: a flat ring touches with all of them. Up to four, the steps in a contact are enough.
    fn crowd(&self, k: usize) -> f64 {
        let particle = self
            .state
            .particle_of
            .get(k)
            .map(|&g| &self.state.particles[g as usize]);
        let members = particle.map_or(1, |particle| particle.count(&self.settings.clumps));
        (members as f64 / 4.0).max(1.0)
    }

    /// Fastest that the surface of body `k` moves [m/s] in the next `duration` [s].
    pub(crate) fn body_speed(&self, world: &World, k: usize, duration: f64) -> f64 {
        let body = &world.bodies[k];
        let extent = self.extents[k];
        let speed = |linear: DVec3, angular: DVec3| {
            linear.length()
                + if angular == DVec3::ZERO {
                    0.0
                } else {
                    angular.length() * extent
                }
        };
        match body.motion {
            Motion::Fixed => 0.0,
            Motion::Driven | Motion::Dynamic => speed(body.twist.linear, body.twist.angular),
            Motion::Scripted { .. } => {
                let slice = duration / f64::from(MOMENTS);
                let pose = |n: u32| world.bodies.scripted_pose(k, world.time + slice * f64::from(n));
                let moments = (0..MOMENTS).map(|n| twist_between(body, &pose(n), &pose(n + 1), slice));
                moments.map(|t| speed(t.linear, t.angular)).fold(0.0, f64::max)
            }
        }
    }
}
