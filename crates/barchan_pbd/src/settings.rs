//! What a user may choose.

use barchan_world::words;
use thiserror::Error;

/// A setting that cannot be.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("`{name}` must be {allowed}, got {value}")]
pub struct SettingsError {
    /// Which one.
    pub name: &'static str,
    /// What was found.
    pub value: f64,
    /// What is allowed.
    pub allowed: &'static str,
}

/// Time step of guides of diameter d under gravity g where none is given, of √(d/g) [-]: what sand does in it looks the same at every
/// size.
pub const STEP: f64 = 0.0465;

/// Step where neither the settings, nor guides and gravity, say one [s].
const LONGEST_STEP: f64 = 1.0 / 480.0;

/// Longest time step [s] of guides whose √(d/g) is `fall_time` [s] where none is given.
pub fn natural_step(fall_time: f64) -> f64 {
    let step = STEP * fall_time;
    if step.is_normal() { step } else { LONGEST_STEP }
}

/// Settings of the solver. The defaults, those of [`SPEC`](crate::SPEC), are meant to be left alone.
#[derive(Clone, Debug, PartialEq)]
pub struct PbdSettings {
    /// Longest time step [s]; a frame is cut into equal steps. Without it, [`STEP`] goes by the guides' size, less where they carry much. The
    /// paper has 0.005.
    pub step: Option<f64>,
    /// Steps in the place of one [-], whatever set its length: 2 halves all steps.
    pub step_divisor: u32,
    /// Passes over all contacts in a step [-]. The paper has 3 to 5.
    pub iterations: u32,
    /// Passes over inherited overlaps in a step [-], which move guides without giving them speed. The paper has 1 to 2. More than half of
    /// `iterations` lift a stack faster than it can come to rest.
    pub stabilisation: u32,
    /// What bounds friction.
    pub friction: FrictionMode,
    /// How a guide shares itself among its contacts.
    pub splitting: Splitting,
    /// Whether a step starts from the impulses of the last one: what carries deep heaps with few passes. Only with
    /// accumulated friction. Inherited overlaps are then left to the stabilisation alone.
    pub memory: bool,
    /// Masses fall off with height at this rate [1/m]; 0 turns it off. It steadies stacks and breaks Newton's third law.
    pub mass_scaling: f32,
    /// Longest way of a guide or body in a step, of the smallest diameter [-].
    pub cfl: f32,
    /// How far corrections go beyond what is safe for any arrangement of contacts [-]: n contacts of a guide count as
    /// 1 + (n - 1) / relaxation. More than 1 is faster, and calm in packings up to about 3; a single pass takes no more than 1.5.
    pub relaxation: f32,
    /// Whether guides that rest among resting ones are left alone until something near them moves.
    pub sleeping: bool,
    /// Fastest that a guide may leave a step, in its diameters a step [-].
    pub velocity_clamp: f32,
    /// How guides meet dynamic bodies.
    pub rigid: Rigid,
}

impl PbdSettings {
    /// Step, passes and friction as the paper prints them.
    pub fn paper() -> Self {
        Self {
            step: Some(0.005),
            iterations: 4,
            stabilisation: 1,
            friction: FrictionMode::Sommer,
            splitting: Splitting::Average,
            memory: false,
            relaxation: 1.0,
            ..Self::default()
        }
    }

    /// Whether every value can be.
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

    /// Whether contacts start from the impulses that they had.
    pub(crate) fn remembers(&self) -> bool {
        self.friction == FrictionMode::Accumulated && self.memory
    }

    /// Whether the two guides of a contact get opposite momenta.
    pub(crate) fn keeps_momentum(&self) -> bool {
        self.splitting == Splitting::Mass && self.mass_scaling == 0.0
    }
}

words! {
    /// What bounds the tangential correction of a contact.
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
    /// How a guide with several contacts shares itself among them.
    pub enum Splitting {
        /// By mass: each contact moves a part of the guide's mass. Momentum is kept.
        Mass = "mass",
        /// By averaging corrections, as printed. Momentum is not kept.
        Average = "average",
    }
}

words! {
    /// What a guide meets in a dynamic body.
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
