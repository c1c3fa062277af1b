//! What a user may choose.

use barchan_world::words;
use thiserror::Error;

use crate::{Air, Yield};

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

words! {
    /// How the pressure is found.
    pub enum Pressure {
        /// Predictive-corrective, with friction in every pass, [Ihmsen13].
        Pcisph = "pcisph",
        /// Implicit and linear, [Ihmsen14]; then with friction.
        Iisph = "iisph",
    }
}

words! {
    /// How positions follow velocities.
    pub enum Integration {
        /// Symplectic Euler: forces where guides are, then the new velocities take them on.
        Euler = "euler",
        /// Leapfrog: forces where guides are after half of the step.
        Leapfrog = "leapfrog",
    }
}

impl Integration {
    /// Part of a step that guides go with the old velocities [-].
    pub(crate) fn lead(self) -> f32 {
        match self {
            Self::Euler => 0.0,
            Self::Leapfrog => 0.5,
        }
    }
}

words! {
    /// What guides feel of bodies.
    pub enum Walls {
        /// A map of the part of a kernel that the body holds.
        Density = "density",
        /// A map of the part of a ball that the body holds, lumped at its nearest point, [Bender19]: guides hover.
        Volume = "volume",
        /// Particles on its surface, [Akinci12], where the world has them; else as `Density`.
        Particles = "particles",
    }
}

/// Settings of the solver. The defaults are those of [`SPEC`](crate::SPEC).
#[derive(Clone, Debug, PartialEq)]
pub struct SphSettings {
    /// Longest time step [s]. Without it, [`STEP`] goes by the guides' size. The paper has 0.001.
    pub step: Option<f64>,
    /// Steps in the place of one [-], whatever set its length: 2 halves all steps.
    pub step_divisor: u32,
    /// Radius of the kernel, in spacings of settled guides [-].
    pub support: f32,
    /// How the pressure is found.
    pub pressure: Pressure,
    /// How positions follow velocities.
    pub integration: Integration,
    /// Mean density error at which the pressure is good enough, of the rest density [-].
    pub density_error: f32,
    /// Fewest and most passes of the pressure in a step [-].
    pub iterations: [u32; 2],
    /// Passes of friction and pressure together in a step [-], after those of `Iisph`; `Pcisph` has no others.
    pub friction_iterations: u32,
    /// What bounds friction.
    pub convention: Yield,
    /// μ_2 - μ_s [-], increase of friction in fast flow. Without it sand that flows on a slope does not flow steadily, and steep heaps stand too long and then fall too far.
    pub flow_friction: f32,
    /// Whether pressure and friction start from those of the last step. Without it friction starts from nothing, as printed, and resting
    /// sand creeps; and so does the pressure of `Pcisph`, and that of `Iisph` from half of it.
    pub warm_start: bool,
    /// What guides feel of bodies.
    pub walls: Walls,
    /// Cohesion of each material when wet [Pa]; none where nothing is said.
    pub cohesion: Vec<f32>,
    /// α of artificial viscosity of each material, dry and wet [-]; none where nothing is said.
    pub viscosity: Vec<[f32; 2]>,
    /// Wetness of each material's guides at first [-], from 0 to 1; 1 where nothing is said.
    pub wetness: Vec<f32>,
    /// Time in which sand loses all but 1/e of its water [s]; it never dries without one.
    pub drying_time: Option<f32>,
    /// Time in which guides that touch share their water [s]; each keeps its own without one.
    pub wetting_time: Option<f32>,
    /// Speed of sound of artificial viscosity [m/s]; ten times the fastest that guides can be expected to be if none is given.
    pub sound_speed: Option<f32>,
    /// Whether sand at rest is left alone until something may move it.
    pub sleeping: bool,
    /// Whether guides of thin sand, which has no pressure, push each other apart.
    pub discrete: bool,
    /// The air that slows guides down, if there is any.
    pub air: Option<Air>,
    /// Longest way of a guide in a step, of the support radius [-].
    pub cfl: f32,
}

impl SphSettings {
    /// Whether any material has artificial viscosity.
    pub(crate) fn is_viscous(&self) -> bool {
        self.viscosity.iter().flatten().any(|&a| a > 0.0)
    }

    /// Whether wetness changes.
    pub(crate) fn is_drying(&self) -> bool {
        self.drying_time.is_some() || self.wetting_time.is_some()
    }

    /// Whether wetness matters.
    pub(crate) fn is_moist(&self) -> bool {
        let said = self.is_drying() || !self.wetness.is_empty();
        said && (self.is_viscous() || self.cohesion.iter().any(|&c| c > 0.0))
    }

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
            s if !within(s.flow_friction, 0.0, 2.0) => refuse("flow_friction", s.flow_friction.into(), "0 to 2"),
            s if s.cohesion.iter().any(|&c| !within(c, 0.0, 1e6)) => {
                let wrong = s.cohesion.iter().find(|&&c| !within(c, 0.0, 1e6));
                refuse("cohesion", wrong.map_or(0.0, |&c| c.into()), "0 to 1e6 Pa")
            }
            s if s.viscosity.iter().flatten().any(|&a| !within(a, 0.0, 10.0)) => {
                let wrong = s.viscosity.iter().flatten().find(|&&a| !within(a, 0.0, 10.0));
                refuse("viscosity", wrong.map_or(0.0, |&a| a.into()), "0 to 10")
            }
            s if s.wetness.iter().any(|&w| !within(w, 0.0, 1.0)) => {
                let wrong = s.wetness.iter().find(|&&w| !within(w, 0.0, 1.0));
                refuse("wetness", wrong.map_or(0.0, |&w| w.into()), "0 (dry) to 1 (wet)")
            }
            s if s.drying_time.is_some_and(|t| !within(t, 1e-6, 1e9)) => {
                refuse("drying_time", s.drying_time.unwrap_or_default().into(), "1e-6 to 1e9 s")
            }
            s if s.wetting_time.is_some_and(|t| !within(t, 1e-6, 1e9)) => refuse(
                "wetting_time",
                s.wetting_time.unwrap_or_default().into(),
                "1e-6 to 1e9 s",
            ),
            s if s.sound_speed.is_some_and(|c| !within(c, 1e-3, 1e5)) => refuse(
                "sound_speed",
                s.sound_speed.unwrap_or_default().into(),
                "0.001 to 1e5 m/s",
            ),
            Self { air: Some(air), .. } if !within(air.density, 1e-6, 1e5) => {
                refuse("air_density", air.density.into(), "1e-6 to 1e5 kg/m³")
            }
            Self { air: Some(air), .. } if !within(air.viscosity, 1e-9, 1e6) => refuse(
                "air_viscosity",
                air.viscosity.into(),
                "1e-9 to 1e6 Pa s: without it drag has no Reynolds number",
            ),
            Self { air: Some(air), .. } if !(air.wind.is_finite() && air.wind.length() < 1e4) => {
                refuse("wind", air.wind.length().into(), "below 1e4 m/s")
            }
            Self {
                air: Some(Air { grain: Some(d), .. }),
                ..
            } if !within(*d, 1e-7, 10.0) => refuse("grain_diameter", (*d).into(), "1e-7 to 10 m"),
            s if s.step_divisor == 0 => refuse("step_divisor", 0.0, "1 or more"),
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
        assert!(wrong(&|s| s.flow_friction = -0.1).contains("`flow_friction`"));
        assert!(wrong(&|s| s.cfl = 0.9).contains("`cfl`"));
        assert!(wrong(&|s| s.viscosity = vec![[0.0, -0.1]]).contains("`viscosity`"));
        assert!(wrong(&|s| s.wetness = vec![1.5]).contains("`wetness`"));
        assert!(wrong(&|s| s.drying_time = Some(0.0)).contains("`drying_time`"));
        assert!(wrong(&|s| s.wetting_time = Some(f32::NAN)).contains("`wetting_time`"));
        assert!(wrong(&|s| s.sound_speed = Some(0.0)).contains("`sound_speed`"));
        let air = Air {
            density: 1.2,
            viscosity: 1.8e-5,
            wind: glam::Vec3::ZERO,
            grain: None,
        };
        assert!(wrong(&|s| s.air = Some(Air { density: 0.0, ..air })).contains("`air_density`"));
        assert!(wrong(&|s| s.air = Some(Air { viscosity: 0.0, ..air })).contains("no Reynolds number"));
        let gale = glam::Vec3::splat(f32::NAN);
        assert!(wrong(&|s| s.air = Some(Air { wind: gale, ..air })).contains("`wind`"));
        let dust = Some(0.0);
        assert!(wrong(&|s| s.air = Some(Air { grain: dust, ..air })).contains("`grain_diameter`"));
        assert_eq!(SphSettings::default().check(), Ok(()));
    }
}
