//! Settings of the solver.

use barchan_world::words;
use thiserror::Error;

use crate::SPEC;

/// A setting that cannot be.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("`{name}` must be {allowed}, got {value}")]
pub struct SettingsError {
    /// Name of the setting.
    pub name: &'static str,
    /// Rejected value.
    pub value: f64,
    /// Allowed values.
    pub allowed: &'static str,
}

/// Default time step for guides of diameter d under gravity g, in units of √(d/g) [-]: sand of any size then behaves
/// the same.
pub const STEP: f64 = 0.0465;

/// Step where neither the settings, nor guides and gravity, say one [s].
const LONGEST_STEP: f64 = 1.0 / 480.0;

/// Returns the default of the longest time step [s] for guides whose √(d/g) is `fall_time` [s].
pub fn natural_step(fall_time: f64) -> f64 {
    let step = STEP * fall_time;
    if step.is_normal() { step } else { LONGEST_STEP }
}

/// Settings of the solver. The defaults, those of [`SPEC`](crate::SPEC), are meant to be left alone.
#[derive(Clone, Debug, PartialEq)]
pub struct PbdSettings {
    /// Longest time step [s]; a frame is divided into equal steps. If none is given, [`STEP`] scales with the guides'
    /// size, and is shorter under heavy loads. The paper has 0.005.
    pub step: Option<f64>,
    /// Number of steps that replace each step [-], however its length was set: 2 halves all steps.
    pub step_divisor: u32,
    /// Passes over all contacts per step [-]. The paper has 3 to 5.
    pub iterations: u32,
    /// Passes over inherited overlaps per step [-], which move guides without changing their velocities. The paper has
    /// 1 to 2. More than half of `iterations` lift a stack faster than it can come to rest.
    pub stabilization: u32,
    /// Bound on friction.
    pub friction: FrictionMode,
    /// Splitting of a guide among its contacts.
    pub splitting: Splitting,
    /// Warm start: each step starts from the impulses of the previous one, so that few passes carry deep heaps. Only
    /// with accumulated friction. Inherited overlaps are then left to the stabilization alone.
    pub memory: bool,
    /// Rate at which masses decrease with height [1/m]; 0 turns it off. It stabilizes stacks and breaks Newton's third
    /// law.
    pub mass_scaling: f32,
    /// Longest displacement of a guide or body in a step, as a fraction of the smallest diameter [-].
    pub cfl: f32,
    /// Overrelaxation of corrections [-]: n contacts of a guide count as 1 + (n - 1) / relaxation; 1 is safe for any
    /// arrangement of contacts. More than 1 converges faster, and is stable in packings up to about 3; a single pass
    /// takes no more than 1.5.
    pub relaxation: f32,
    /// Lets guides at rest among others at rest sleep until something near them moves.
    pub sleeping: bool,
    /// Largest speed of a guide after a step, in its diameters per step [-].
    pub velocity_clamp: f32,
    /// Contact of guides with dynamic bodies.
    pub rigid: Rigid,
}

impl PbdSettings {
    /// Returns the settings of the preset `sommer`: those printed in the paper.
    pub fn paper() -> Self {
        let given = SPEC.preset_settings("sommer").expect("a preset of the table");
        Self::read(&given, 60.0).expect("the settings of a preset fit their table")
    }

    /// Checks every value.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let refuse = |name, value: f64, allowed| Err(SettingsError { name, value, allowed });
        let within = |x: f32, low: f32, high: f32| (low..=high).contains(&x);
        match self {
            s if s.step.is_some_and(|step| !(step > 0.0 && step.is_finite())) => {
                refuse("step", s.step.unwrap_or_default(), "above 0 s")
            }
            s if s.iterations == 0 => refuse("iterations", 0.0, "at least 1"),
            s if !within(s.mass_scaling, 0.0, 1e6) => {
                refuse("mass_scaling", s.mass_scaling.into(), "0 to 1e6 per metre")
            }
            s if s.step_divisor == 0 => refuse("step_divisor", 0.0, "1 or more"),
            s if !within(s.cfl, 0.01, 0.5) => refuse("cfl", s.cfl.into(), "0.01 to 0.5"),
            s if !within(s.relaxation, 0.1, 4.0) => refuse("relaxation", s.relaxation.into(), "0.1 to 4"),
            s if !within(s.velocity_clamp, s.cfl, f32::INFINITY) => {
                refuse("velocity_clamp", s.velocity_clamp.into(), "at least `cfl`")
            }
            _ => Ok(()),
        }
    }

    /// The relaxation that a step uses [-]: what a single pass overshoots, no other would correct.
    pub(crate) fn calm_relaxation(&self) -> f32 {
        if self.iterations > 1 {
            self.relaxation
        } else {
            self.relaxation.min(1.5)
        }
    }

    /// Returns true if contacts start from their previous impulses.
    pub(crate) fn remembers(&self) -> bool {
        self.friction == FrictionMode::Accumulated && self.memory
    }

    /// Returns true if the two guides of a contact get opposite momenta.
    pub(crate) fn keeps_momentum(&self) -> bool {
        self.splitting == Splitting::Mass && self.mass_scaling == 0.0
    }
}

words! {
    /// Bound on the tangential correction of a contact.
    pub enum FrictionMode {
        /// The normal impulse of the whole step: Coulomb's law.
        Accumulated = "accumulated",
        /// The guides' size, as printed: load plays no part.
        Sommer = "sommer",
        /// The depth of the contact in this pass.
        Macklin = "macklin",
    }
}

words! {
    /// Splitting of a guide among several contacts.
    pub enum Splitting {
        /// By mass: each contact moves a part of the guide's mass. Momentum is kept.
        Mass = "mass",
        /// By averaging corrections, as printed. Momentum is not kept.
        Average = "average",
    }
}

words! {
    /// Model of a dynamic body in contacts.
    pub enum Rigid {
        /// The whole body, with its mass and inertia at the place of the contact.
        True = "true",
        /// A piece of it as large as a guide; the body is fitted to its pieces after each pass, as printed. What moves the bodies
        /// should do so too: [`Dynamics::shape_matched`](barchan_bodies::Dynamics::shape_matched).
        ShapeMatching = "shape_matching",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_are_refused_by_name() {
        let wrong = |change: &dyn Fn(&mut PbdSettings)| {
            let mut settings = PbdSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(wrong(&|s| s.step = Some(f64::NAN)).contains("`step`"));
        assert!(wrong(&|s| s.iterations = 0).contains("`iterations`"));
        assert!(wrong(&|s| s.mass_scaling = -1.0).contains("`mass_scaling`"));
        assert!(wrong(&|s| s.cfl = 0.9).contains("0.01 to 0.5, got 0.8"));
        assert!(wrong(&|s| s.relaxation = f32::NAN).contains("`relaxation`"));
        assert!(wrong(&|s| s.velocity_clamp = 0.1).contains("`velocity_clamp`"));
        assert_eq!(PbdSettings::paper().check(), Ok(()));
    }
}
