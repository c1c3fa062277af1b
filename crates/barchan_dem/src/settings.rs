//! Settings of the solver.

use std::ops::Range;

use barchan_geometry::clump::Clump;
use barchan_world::{World, words};
use thiserror::Error;

use crate::cpu::cells::shortest_period;
use crate::cpu::rules::{Dampings, Rules};

pub use crate::laws::normal::NormalLaw;
pub use crate::laws::shear::ShearLaw;

/// A setting that cannot be.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{whose}`{name}` must be {allowed}, got {value}")]
pub struct SettingsError {
    /// Prefix with the material; empty for settings of the solver.
    pub whose: String,
    /// Name of the setting.
    pub name: &'static str,
    /// Rejected value.
    pub value: f64,
    /// Allowed values.
    pub allowed: String,
}

/// Contact properties of a material's particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Young's modulus [Pa]. 10 MPa by default, [Bell05]: softer than sand, so that steps are longer, and hard enough
    /// not to change a heap.
    pub youngs_modulus: f64,
    /// Poisson's ratio [-].
    pub poisson_ratio: f64,
    /// Ratio of the speeds after and before an impact at the reference speed [-].
    pub restitution: f64,
    /// Rolling friction, as a fraction of the reduced radius [-]; if none is given, calibrated by the angle of repose,
    /// or 0 without such an angle.
    pub rolling_friction: Option<f64>,
    /// Liquid on the particles, as a fraction of their own volume [-]: it forms bridges between them.
    pub liquid: f64,
    /// ContactSurface tension of the liquid [N/m].
    pub surface_tension: f64,
    /// Contact angle of the liquid [rad].
    pub contact_angle: f64,
    /// Cohesion of the bulk [Pa], by bridges of that strength.
    pub cohesion: f64,
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
            restitution: 0.5,
            rolling_friction: None,
            liquid: 0.0,
            surface_tension: WATER,
            contact_angle: 0.0,
            cohesion: 0.0,
        }
    }
}

impl Contact {
    /// Returns the contact for particles among dynamic bodies: ten times as hard, with steps 2.5 times as short, so
    /// that single particles keep their shape below them.
    pub fn struck() -> Self {
        Self {
            youngs_modulus: 1e8,
            ..Self::default()
        }
    }
}

/// ContactSurface tension of water [N/m].
const WATER: f64 = 0.072;

words! {
    /// Time integration.
    pub enum Integrator {
        /// Velocity Verlet: one search for forces a step, of a fixed part of a contact.
        Verlet = "verlet",
        /// Runge, Kutta and Fehlberg's of fifth order with a step by its error, as [Bell05] does.
        Rkf45 = "rkf45",
    }
}

/// Settings of the solver. The defaults are those of [`SPEC`](crate::SPEC).
#[derive(Clone, Debug, PartialEq)]
pub struct DemSettings {
    /// Longest time step [s]; if none is given, derived from the duration of a contact.
    pub step: Option<f64>,
    /// Number of steps that replace each step [-], however its length was set: 2 halves all steps, and the longest one
    /// of `Rkf45`.
    pub step_divisor: u32,
    /// Steps in the shortest contact, if no step is given [-].
    pub steps_per_contact: f64,
    /// Time integration.
    pub integrator: Integrator,
    /// Error of a step of `Rkf45`, relative to the radius and to the displacement in a contact [-].
    pub tolerance: f64,
    /// Normal force.
    pub normal: NormalLaw,
    /// Tangential force.
    pub shear: ShearLaw,
    /// Speed of the impact that has the material's restitution and, for the linear law, Hertz's duration [m/s].
    pub reference_speed: f64,
    /// Duration of a contact of the linear law [s]; that of Hertz if none is given.
    pub duration: Option<f64>,
    /// Viscosity of shear laws without memory [N s/m]; the largest that the step allows if none is given.
    pub shear_viscosity: Option<f64>,
    /// Contact properties of each material, by its number; the default for materials beyond the list.
    pub contacts: Vec<Contact>,
    /// Young's modulus [Pa] and Poisson's ratio [-] of bodies; those of the particle in contact if none is given.
    pub bodies: Option<[f64; 2]>,
    /// Shapes of clumps.
    pub clumps: Vec<Clump>,
    /// Ids of guides that are clumps, with the index of their clump; all others are spheres.
    pub clumped: Vec<(Range<u32>, usize)>,
}

impl DemSettings {
    /// Returns the contact properties of a material.
    pub fn contact(&self, material: usize) -> Contact {
        self.contacts.get(material).copied().unwrap_or_default()
    }

    /// Returns true if each guide is moved as a particle that may have several spheres.
    pub(crate) fn has_particles(&self) -> bool {
        !self.clumps.is_empty() || self.integrator == Integrator::Rkf45
    }

    /// Refuses axes of `world` that close upon themselves so soon that spheres, and the bridges between moist ones, would meet another one twice.
    pub(crate) fn check_periods(&self, world: &World) -> Result<(), SettingsError> {
        let largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
        let bridge = Rules::new(self, world, &mut Dampings::default()).bridge;
        let least = shortest_period(f64::from(largest), bridge) * (1.0 - 1e-6);
        for (axis, range) in ["x", "y", "z"].iter().zip(world.periodic) {
            let Some([low, high]) = range.filter(|[low, high]| high - low < least) else {
                continue;
            };
            return Err(SettingsError {
                whose: format!("axis {axis}: "),
                name: "periodic",
                value: high - low,
                allowed: format!("at least {least:.3e} m long, which spheres with their liquid bridges need"),
            });
        }
        Ok(())
    }

    /// Refuses what means nothing; `names` are those of the materials.
    pub(crate) fn check(&self, names: &[String]) -> Result<(), SettingsError> {
        let positive = |name, value: f64| check(name, value, value > 0.0 && value.is_finite(), "above 0");
        positive("reference_speed", self.reference_speed)?;
        let divisor = self.step_divisor;
        check("step_divisor", divisor.into(), divisor > 0, "1 or more")?;
        let steps = self.steps_per_contact;
        check(
            "steps_per_contact",
            steps,
            (10.0..=1e4).contains(&steps),
            "from 10 to 10000",
        )?;
        let tolerance = self.tolerance;
        check(
            "tolerance",
            tolerance,
            tolerance > 0.0 && tolerance <= 0.1,
            "above 0 and at most 0.1",
        )?;
        for (name, value) in [
            ("step", self.step),
            ("duration", self.duration),
            ("shear_viscosity", self.shear_viscosity),
        ] {
            value.map_or(Ok(()), |value| positive(name, value))?;
        }
        if let Some([young, poisson]) = self.bodies {
            positive("body_youngs_modulus", young)?;
            check(
                "body_poisson_ratio",
                poisson,
                poisson > -1.0 && poisson <= 0.5,
                "above -1 and at most 0.5",
            )?;
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            let whose = names
                .get(k)
                .map_or(String::new(), |name| format!("material `{name}`: "));
            contact.check().map_err(|error| SettingsError { whose, ..error })?;
        }
        Ok(())
    }
}

impl Contact {
    /// Resistance to rolling [-], 0 where none is given.
    pub(crate) fn rolling(&self) -> f64 {
        self.rolling_friction.unwrap_or(0.0)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let Self {
            youngs_modulus: young,
            poisson_ratio: poisson,
            restitution: e,
            rolling_friction: _,
            liquid,
            surface_tension: tension,
            contact_angle: angle,
            cohesion,
        } = *self;
        check("youngs_modulus", young, young > 0.0 && young.is_finite(), "above 0 Pa")?;
        check(
            "poisson_ratio",
            poisson,
            poisson > -1.0 && poisson <= 0.5,
            "above -1 and at most 0.5",
        )?;
        check("restitution", e, e > 0.0 && e <= 1.0, "above 0 and at most 1")?;
        for (name, value) in [
            ("rolling_friction", self.rolling()),
            ("surface_tension", tension),
            ("cohesion", cohesion),
        ] {
            check(name, value, value >= 0.0 && value.is_finite(), "0 or above")?;
        }
        check("liquid", liquid, (0.0..=0.5).contains(&liquid), "from 0 to 0.5")?;
        let degrees = angle.to_degrees();
        check(
            "contact_angle",
            degrees,
            (0.0..=90.0).contains(&degrees),
            "from 0 to 90 degrees",
        )
    }
}

fn check(name: &'static str, value: f64, fine: bool, allowed: &str) -> Result<(), SettingsError> {
    let wrong = || SettingsError {
        whose: String::new(),
        name,
        value,
        allowed: allowed.to_owned(),
    };
    if fine { Ok(()) } else { Err(wrong()) }
}
