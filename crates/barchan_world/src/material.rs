//! Materials of guides.

use std::collections::BTreeMap;

use crate::{Body, BodyId};

/// Number of a material in [`Materials`].
pub type MaterialId = u8;

/// Coulomb friction coefficients [-].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Static friction coefficient [-].
    pub r#static: f32,
    /// Kinetic friction coefficient [-].
    pub kinetic: f32,
}

/// A granular material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in scene files.
    pub name: String,
    /// Bulk density of the settled material [kg/m³].
    pub density: f64,
    /// Particle density [kg/m³].
    pub particle_density: f64,
    /// Friction against bodies, and between guides if there is no `angle_of_repose`.
    pub friction: Friction,
    /// Slope of a poured heap [rad], from which each solver derives the friction of its guides.
    pub angle_of_repose: Option<f64>,
}

crate::words! {
    /// Constitutive law of a material, for solvers of continua that offer several.
    pub enum MaterialLaw {
        /// Sand, wet with cohesion.
        Sand = "sand",
        /// Snow that has just fallen.
        FreshSnow = "fresh_snow",
        /// Snow that has settled.
        PackedSnow = "packed_snow",
        /// Snow that was wet and froze.
        IcySnow = "icy_snow",
        /// An elastic solid.
        Elastic = "elastic",
        /// Water.
        Water = "water",
    }
}

impl MaterialLaw {
    /// Returns true for all kinds of snow.
    pub fn is_snow(self) -> bool {
        matches!(self, Self::FreshSnow | Self::PackedSnow | Self::IcySnow)
    }
}

/// Properties of a material that only some solvers read; none where nothing is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactProperties {
    /// Ratio of the speeds after and before an impact [-].
    pub restitution: Option<f64>,
    /// Young's modulus [Pa].
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio [-].
    pub poisson_ratio: Option<f64>,
    /// Rolling friction [-].
    pub rolling_friction: Option<f64>,
    /// Cohesion when wet [Pa].
    pub cohesion: Option<f64>,
    /// Initial wetness [-].
    pub wetness: Option<f64>,
    /// Artificial viscosity [-].
    pub viscosity: Option<f64>,
    /// Artificial viscosity when wet [-].
    pub wet_viscosity: Option<f64>,
    /// Liquid on the particles, as a fraction of their own volume [-].
    pub liquid: Option<f64>,
    /// Surface tension of that liquid [N/m].
    pub surface_tension: Option<f64>,
    /// Contact angle of that liquid [rad].
    pub contact_angle: Option<f64>,
    /// Constitutive law.
    pub law: Option<MaterialLaw>,
    /// Compression of snow beyond which it is compacted [-].
    pub critical_compression: Option<f64>,
    /// Stretch of snow beyond which it breaks [-].
    pub critical_stretch: Option<f64>,
    /// Exponent of the hardening of snow [-].
    pub hardening: Option<f64>,
}

/// All materials of a world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Materials {
    /// Materials, by number.
    pub all: Vec<Material>,
    /// Friction of two materials, smaller number first, if given.
    pub pairs: BTreeMap<(MaterialId, MaterialId), Friction>,
    /// Contact properties of a material and a body, if given.
    pub meetings: BTreeMap<(MaterialId, BodyId), Meeting>,
}

/// Contact properties given for a material and a body; the rest follows from both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meeting {
    /// Coulomb friction.
    pub friction: Option<Friction>,
    /// Ratio of the speeds after and before an impact [-], for solvers that use it.
    pub restitution: Option<f64>,
    /// Rolling friction [-], for solvers that use it.
    pub rolling_friction: Option<f64>,
}

impl Materials {
    /// Returns the friction of two materials: that of the pair if given, else the geometric mean of both.
    pub fn friction(&self, a: MaterialId, b: MaterialId) -> Friction {
        let (low, high) = (a.min(b), a.max(b));
        if let Some(&said) = self.pairs.get(&(low, high)) {
            return said;
        }
        geometric_mean(self.all[usize::from(a)].friction, self.all[usize::from(b)].friction)
    }
}

impl Materials {
    /// Returns the contact properties given for material `m` and body `k`.
    pub fn meeting(&self, m: MaterialId, k: BodyId) -> Meeting {
        self.meetings.get(&(m, k)).copied().unwrap_or_default()
    }

    /// Returns the friction of each material on `body`, number `k`: that of the two if given, else the geometric mean
    /// of both.
    pub fn frictions_on(&self, k: BodyId, body: &Body) -> impl Iterator<Item = Friction> {
        (0..).zip(&self.all).map(move |(m, material)| {
            let said = self.meeting(m, k).friction;
            said.unwrap_or_else(|| geometric_mean(material.friction, body.friction))
        })
    }
}

/// Returns the friction of two surfaces: the geometric mean of each coefficient.
pub fn geometric_mean(a: Friction, b: Friction) -> Friction {
    Friction {
        r#static: (a.r#static * b.r#static).sqrt(),
        kinetic: (a.kinetic * b.kinetic).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(friction: f32) -> Material {
        Material {
            name: String::new(),
            density: 1600.0,
            particle_density: 2650.0,
            friction: Friction {
                r#static: friction,
                kinetic: 0.5 * friction,
            },
            angle_of_repose: None,
        }
    }

    #[test]
    fn two_materials_rub_with_the_geometric_mean_unless_the_pair_says_otherwise() {
        let mut materials = Materials {
            all: vec![material(0.2), material(0.8)],
            ..Materials::default()
        };
        assert_eq!(materials.friction(1, 0).r#static, 0.4);
        assert_eq!(materials.friction(1, 0).kinetic, 0.2);
        assert_eq!(materials.friction(1, 1).r#static, 0.8);
        let said = Friction {
            r#static: 0.7,
            kinetic: 0.6,
        };
        materials.pairs.insert((0, 1), said);
        assert_eq!(materials.friction(1, 0), said);
        assert_eq!(materials.friction(0, 1), said);
    }
}
