//! Settings of the solver.

use barchan_world::words;
use thiserror::Error;

use crate::{Air, Yield};

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

/// Default time step for guides of spacing d under gravity g, in units of √(d/g) [-].
pub const STEP: f64 = 0.04;

words! {
    /// Pressure solver.
    pub enum Pressure {
        /// Predictive-corrective, with friction in every pass, [Ihmsen13].
        Pcisph = "pcisph",
        /// Implicit and linear, [Ihmsen14]; then with friction.
        Iisph = "iisph",
    }
}

words! {
    /// Time integration.
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
    /// Boundary model of bodies.
    pub enum Walls {
        /// A map of the part of a kernel that the body holds.
        Density = "density",
        /// A map of the part of a ball that the body holds, lumped at its nearest point, [Bender19]: guides hover.
        Volume = "volume",
        /// Particles on its surface, [Akinci12], where the world has them; else as `Density`.
        Particles = "particles",
    }
}

words! {
    /// Density that the pressure of `Pcisph` answers.
    pub enum Prediction {
        /// Density to first order in the step, by its rate; each guide responds as its own neighbors let it.
        Rate = "rate",
        /// Density at predicted positions, and the response of a prototype in a full neighborhood, [Ihmsen13] eqs. (6), (7), as printed.
        Positions = "positions",
    }
}

words! {
    /// Removal of compression that a step inherits.
    pub enum Correction {
        /// By displacements, which give guides no speed.
        Displacement = "displacement",
        /// By velocities, as printed.
        Velocity = "velocity",
    }
}

words! {
    /// Gradients of velocities, and the response of the strain rate to a stress.
    pub enum Gradients {
        /// Exact for linear fields; each guide responds as its own neighbors let it.
        Exact = "exact",
        /// Plain sums, and the response of a prototype in a full neighborhood, as printed.
        Plain = "plain",
    }
}

words! {
    /// Friction of walls. Guides without a pressure rub by Coulomb's law.
    pub enum WallShear {
        /// Coulomb's law.
        Coulomb = "coulomb",
        /// The stress of guides acts on walls, whose motion strains guides, [Ihmsen13] eqs. (18), (19).
        Stress = "stress",
        /// The larger of that and of a viscosity of walls, [Ihmsen13] eqs. (20), (21).
        Dissipation = "dissipation",
    }
}

words! {
    /// Sleep of sand at rest.
    pub enum Rest {
        /// All guides at once, when most are at rest.
        All = "all",
        /// Each guide for itself while it is slow and no net force acts on it, [Ihmsen13] section 3.3, as printed.
        Single = "single",
    }
}

/// Settings of the solver. The defaults are those of [`SPEC`](crate::SPEC).
#[derive(Clone, Debug, PartialEq)]
pub struct SphSettings {
    /// Longest time step [s]. If none is given, [`STEP`] scales with the guides' size. The paper has 0.001.
    pub step: Option<f64>,
    /// Number of steps that replace each step [-], however its length was set: 2 halves all steps.
    pub step_divisor: u32,
    /// Radius of the kernel, in spacings of settled guides [-].
    pub support: f32,
    /// Pressure solver.
    pub pressure: Pressure,
    /// Time integration.
    pub integration: Integration,
    /// Mean density error at which pressure iterations stop, as a fraction of the rest density [-].
    pub density_error: f32,
    /// Fewest and most pressure iterations per step [-].
    pub iterations: [u32; 2],
    /// Combined passes of friction and pressure per step [-], after the pressure iterations of `Iisph`; `Pcisph` has no
    /// others.
    pub friction_iterations: u32,
    /// Yield criterion of friction.
    pub convention: Yield,
    /// μ_2 - μ_s [-], increase of friction in fast flow. Without it the flow on a slope is not steady, and steep heaps
    /// stand too long and then fall too far.
    pub flow_friction: f32,
    /// Warm start: pressure and friction start from the previous step. Without it friction starts from zero, as
    /// printed, and resting sand creeps; the pressure of `Pcisph` starts from zero, that of `Iisph` from half the
    /// previous one.
    pub warm_start: bool,
    /// Change of stress in a pass, as a fraction of the pressure, at which passes of `Pcisph` stop [-]; without it only the density error counts.
    pub stress_error: Option<f32>,
    /// Density that the pressure of `Pcisph` answers.
    pub prediction: Prediction,
    /// Removal of inherited compression.
    pub correction: Correction,
    /// Gradients of velocities.
    pub gradients: Gradients,
    /// Boundary model of bodies.
    pub walls: Walls,
    /// Friction of walls.
    pub wall_shear: WallShear,
    /// σ of the viscosity of walls [-]; the wall's friction if none is given.
    pub wall_viscosity: Option<f32>,
    /// Cohesion of each material when wet [Pa]; 0 for materials beyond the list.
    pub cohesion: Vec<f32>,
    /// α of artificial viscosity of each material, dry and wet [-]; 0 for materials beyond the list.
    pub viscosity: Vec<[f32; 2]>,
    /// Initial wetness of each material's guides [-], from 0 to 1; 1 for materials beyond the list.
    pub wetness: Vec<f32>,
    /// Time in which sand loses all but 1/e of its water [s]; without it sand never dries.
    pub drying_time: Option<f32>,
    /// Time in which guides in contact equalize their water [s]; without it they exchange none.
    pub wetting_time: Option<f32>,
    /// Speed of sound of artificial viscosity [m/s]; ten times the largest expected speed of guides if none is given.
    pub sound_speed: Option<f32>,
    /// Lets sand at rest sleep until something may move it.
    pub sleeping: bool,
    /// Extent of the sand that falls asleep at once.
    pub rest: Rest,
    /// Contact forces between guides of thin sand, which has no pressure.
    pub discrete: bool,
    /// The air that slows guides down, if any.
    pub air: Option<Air>,
    /// Longest displacement of a guide in a step, as a fraction of the support radius [-].
    pub cfl: f32,
}

impl SphSettings {
    /// Returns true if any material has artificial viscosity.
    pub(crate) fn is_viscous(&self) -> bool {
        self.viscosity.iter().flatten().any(|&a| a > 0.0)
    }

    /// Returns true if anything needs a speed of sound.
    pub(crate) fn has_sound(&self) -> bool {
        self.is_viscous() || self.wall_shear == WallShear::Dissipation
    }

    /// Returns true if wetness changes.
    pub(crate) fn is_drying(&self) -> bool {
        self.drying_time.is_some() || self.wetting_time.is_some()
    }

    /// Returns true if wetness has an effect.
    pub(crate) fn is_moist(&self) -> bool {
        let said = self.is_drying() || !self.wetness.is_empty();
        said && (self.is_viscous() || self.cohesion.iter().any(|&c| c > 0.0))
    }

    /// Checks every value.
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
            s if s.stress_error.is_some_and(|e| !within(e, 1e-6, 10.0)) => {
                refuse("stress_error", s.stress_error.unwrap_or_default().into(), "1e-6 to 10")
            }
            s if s.wall_viscosity.is_some_and(|v| !within(v, 0.0, 10.0)) => {
                refuse("wall_viscosity", s.wall_viscosity.unwrap_or_default().into(), "0 to 10")
            }
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
                air:
                    Some(Air {
                        particle_diameter: Some(d),
                        ..
                    }),
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
        assert!(wrong(&|s| s.stress_error = Some(0.0)).contains("`stress_error`"));
        assert!(wrong(&|s| s.wall_viscosity = Some(-1.0)).contains("`wall_viscosity`"));
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
            particle_diameter: None,
        };
        assert!(wrong(&|s| s.air = Some(Air { density: 0.0, ..air })).contains("`air_density`"));
        assert!(wrong(&|s| s.air = Some(Air { viscosity: 0.0, ..air })).contains("no Reynolds number"));
        let gale = glam::Vec3::splat(f32::NAN);
        assert!(wrong(&|s| s.air = Some(Air { wind: gale, ..air })).contains("`wind`"));
        let dust = Some(0.0);
        assert!(
            wrong(&|s| s.air = Some(Air {
                particle_diameter: dust,
                ..air
            }))
            .contains("`grain_diameter`")
        );
        assert_eq!(SphSettings::default().check(), Ok(()));
    }
}
