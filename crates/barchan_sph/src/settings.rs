//! What a user may choose.

use thiserror::Error;

use crate::Yield;

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

/// Time step of guides of spacing d under gravity g where none is given, of √(d/g) [-].
pub const STEP: f64 = 0.04;

/// How the pressure is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pressure {
    /// Implicit and linear, [Ihmsen14]; then with friction.
    Iisph,
    /// Predictive-corrective, with friction in every pass, [Ihmsen13].
    #[default]
    Pcisph,
}

/// Settings of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct SphSettings {
    /// Longest time step [s]. Without it, [`STEP`] goes by the guides' size. The paper has 0.001.
    pub step: Option<f64>,
    /// Radius of the kernel, in spacings of settled guides [-].
    pub support: f32,
    /// How the pressure is found.
    pub pressure: Pressure,
    /// Mean density error at which the pressure is good enough, of the rest density [-].
    pub density_error: f32,
    /// Fewest and most passes of the pressure in a step [-].
    pub iterations: [u32; 2],
    /// Passes of friction and pressure together in a step [-], after those of `Iisph`; `Pcisph` has no others.
    pub friction_iterations: u32,
    /// What bounds friction.
    pub convention: Yield,
    /// Cohesion of each material [Pa]; none where nothing is said.
    pub cohesion: Vec<f32>,
    /// Longest way of a guide in a step, of the support radius [-].
    pub cfl: f32,
}

impl Default for SphSettings {
    fn default() -> Self {
        Self {
            step: None,
            support: 2.0,
            pressure: Pressure::Pcisph,
            density_error: 0.001,
            iterations: [3, 100],
            friction_iterations: 3,
            convention: Yield::Repose,
            cohesion: Vec::new(),
            cfl: 0.2,
        }
    }
}

impl SphSettings {
    /// Whether every value can be.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let refuse = |name, value: f64, allowed| Err(SettingsError { name, value, allowed });
        let within = |x: f32, low: f32, high: f32| (low..=high).contains(&x);
        match self {
            s if s.step.is_some_and(|step| !(step > 0.0 && step.is_finite())) => {
                refuse("step", s.step.unwrap_or_default(), "above 0 s")
            }
            s if !within(s.support, 1.2, 4.0) => refuse(
                "support",
                s.support.into(),
                "1.2 to 4 spacings: a kernel that does not reach beyond the next guides sees none",
            ),
            s if !within(s.density_error, 1e-6, 0.1) => refuse("density_error", s.density_error.into(), "1e-6 to 0.1"),
            s if s.iterations[0] == 0 || s.iterations[1] < s.iterations[0] => refuse(
                "max_iterations",
                s.iterations[1].into(),
                "no less than `min_iterations`, which is at least 1",
            ),
            s if s.cohesion.iter().any(|&c| !within(c, 0.0, 1e6)) => {
                let wrong = s.cohesion.iter().find(|&&c| !within(c, 0.0, 1e6));
                refuse("cohesion", wrong.map_or(0.0, |&c| c.into()), "0 to 1e6 Pa")
            }
            s if !within(s.cfl, 0.01, 0.4) => refuse("cfl", s.cfl.into(), "0.01 to 0.4"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_are_refused_by_name() {
        let wrong = |change: &dyn Fn(&mut SphSettings)| {
            let mut settings = SphSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(wrong(&|s| s.step = Some(f64::NAN)).contains("`step`"));
        assert!(wrong(&|s| s.support = 0.9).contains("a kernel that does not reach"));
        assert!(wrong(&|s| s.density_error = 0.0).contains("`density_error`"));
        assert!(wrong(&|s| s.iterations = [3, 2]).contains("`max_iterations`"));
        assert!(wrong(&|s| s.cohesion = vec![0.0, -1.0]).contains("`cohesion`"));
        assert!(wrong(&|s| s.cfl = 0.9).contains("`cfl`"));
        assert_eq!(SphSettings::default().check(), Ok(()));
    }
}
