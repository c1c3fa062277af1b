//! Settings of the solver.

use barchan_world::{ContactProperties, Material, MaterialLaw};
use thiserror::Error;

use crate::laws::sand::Yield;
use crate::{Elastic, Law, Sand, Snow, Water};

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

/// Largest Poisson's ratio [-]: waves are infinitely fast at 0.5.
const MOST_POISSON: f64 = 0.45;

/// Settings of the solver. The defaults are those of [`SPEC`](crate::SPEC).
#[derive(Clone, Debug, PartialEq)]
pub struct MpmSettings {
    /// Longest time step [s]; that of waves and guides if none is given.
    pub step: Option<f64>,
    /// Number of steps that replace each step [-], however its length was set.
    pub step_divisor: u32,
    /// Spacing of nodes, in spacings of settled guides [-].
    pub cell: f64,
    /// Longest way of a wave and of a guide together in a step, in spacings of nodes [-].
    pub cfl: f64,
    /// Meaning of the angle of friction.
    pub convention: Yield,
    /// μ_2 - μ_s [-], increase of friction in fast flow.
    pub flow_friction: f32,
    /// Diameter of the grains that flow [m]; that of guides if none is given.
    pub grain_diameter: Option<f32>,
    /// Keeps the volume that sand gains apart from its strain, [Klar16].
    pub volume_correction: bool,
    /// Properties of each material, by number; none for materials beyond the list.
    pub contacts: Vec<ContactProperties>,
}

/// Constants of a law where a material gives none.
struct Defaults {
    youngs_modulus: f64,
    poisson_ratio: f64,
    critical_compression: f64,
    critical_stretch: f64,
    hardening: f64,
}

/// Returns the constants of a law. Those of packed snow are the reference of [Stomakhin13], of sand those of [Klar16].
fn defaults(law: MaterialLaw) -> Defaults {
    let of = |youngs_modulus, poisson_ratio, critical: [f64; 2], hardening| Defaults {
        youngs_modulus,
        poisson_ratio,
        critical_compression: critical[0],
        critical_stretch: critical[1],
        hardening,
    };
    match law {
        MaterialLaw::Sand | MaterialLaw::Elastic => of(3.5e5, 0.3, [0.0; 2], 0.0),
        MaterialLaw::Water => of(3.0e5, 1.0 / 3.0, [0.0; 2], 0.0),
        MaterialLaw::FreshSnow => of(4.8e4, 0.2, [2.5e-2, 5e-3], 5.0),
        MaterialLaw::PackedSnow => of(1.4e5, 0.2, [2.5e-2, 7.5e-3], 10.0),
        MaterialLaw::IcySnow => of(2.8e5, 0.2, [1.9e-2, 7.5e-3], 10.0),
    }
}

impl MpmSettings {
    /// Law of `material`, number `k`; its grains have a diameter of `diameter` [m].
    pub(crate) fn law(&self, k: usize, material: &Material, diameter: f32) -> Law {
        let given = self.contacts.get(k).copied().unwrap_or_default();
        let kind = given.law.unwrap_or(MaterialLaw::Sand);
        let defaults = defaults(kind);
        let elastic = Elastic::new(
            given.youngs_modulus.unwrap_or(defaults.youngs_modulus),
            given.poisson_ratio.unwrap_or(defaults.poisson_ratio),
        );
        match kind {
            MaterialLaw::Sand => {
                let friction = material
                    .angle_of_repose
                    .map_or(material.friction.r#static, |angle| angle.tan() as f32);
                let slope = self.convention.slope(friction);
                let wet = given.cohesion.unwrap_or_default() * given.wetness.unwrap_or(1.0);
                Law::Sand(Sand {
                    elastic,
                    slope,
                    gain: self.convention.slope(friction + self.flow_friction) - slope,
                    inertia: diameter * (material.density as f32).sqrt(),
                    cohesion: wet as f32,
                    keeps_volume: self.volume_correction,
                })
            }
            MaterialLaw::Elastic => Law::Elastic(elastic),
            MaterialLaw::Water => Law::Water(Water { bulk: elastic.bulk }),
            MaterialLaw::FreshSnow | MaterialLaw::PackedSnow | MaterialLaw::IcySnow => Law::Snow(Snow {
                elastic,
                critical_compression: given.critical_compression.unwrap_or(defaults.critical_compression) as f32,
                critical_stretch: given.critical_stretch.unwrap_or(defaults.critical_stretch) as f32,
                hardening: given.hardening.unwrap_or(defaults.hardening) as f32,
            }),
        }
    }

    /// Checks every value.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let refuse = |name, value: f64, allowed| Err(SettingsError { name, value, allowed });
        let ratios = self.contacts.iter().filter_map(|contact| contact.poisson_ratio);
        match self {
            s if s.step.is_some_and(|step| !(step > 0.0 && step.is_finite())) => {
                refuse("step", s.step.unwrap_or_default(), "above 0 s")
            }
            s if s.step_divisor == 0 => refuse("step_divisor", 0.0, "1 or more"),
            s if !(1.2..=4.0).contains(&s.cell) => refuse("cell", s.cell, "1.2 to 4 spacings of guides"),
            s if !(0.01..=0.6).contains(&s.cfl) => refuse("cfl", s.cfl, "0.01 to 0.6"),
            s if !(0.0..=2.0).contains(&s.flow_friction) => refuse("flow_friction", s.flow_friction.into(), "0 to 2"),
            _ => match ratios.clone().find(|ratio| *ratio > MOST_POISSON) {
                Some(ratio) => refuse("poisson_ratio", ratio, "at most 0.45 with mpm"),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_are_refused_by_name() {
        let wrong = |change: &dyn Fn(&mut MpmSettings)| {
            let mut settings = MpmSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().name
        };
        assert_eq!(wrong(&|s| s.step = Some(f64::NAN)), "step");
        assert_eq!(wrong(&|s| s.step_divisor = 0), "step_divisor");
        assert_eq!(wrong(&|s| s.cell = 1.0), "cell");
        assert_eq!(wrong(&|s| s.cfl = 0.7), "cfl");
        assert_eq!(wrong(&|s| s.flow_friction = -1.0), "flow_friction");
        let jelly = ContactProperties {
            poisson_ratio: Some(0.5),
            ..ContactProperties::default()
        };
        assert_eq!(wrong(&|s| s.contacts = vec![jelly]), "poisson_ratio");
        MpmSettings::default().check().unwrap();
    }
}
