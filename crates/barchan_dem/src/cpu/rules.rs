//! What stays the same over a frame.

use barchan_world::{Friction, World, geometric_mean};

use crate::DemSettings;
use crate::laws::normal::{Encounter, NormalLaw};
use crate::laws::shear::ShearLaw;
use crate::laws::{effective, restitution};
use crate::settings::Contact;

/// How two materials, or a material and a body, meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairing {
    /// Effective modulus [Pa].
    pub modulus: f64,
    /// Effective shear modulus [Pa].
    pub shear_modulus: f64,
    /// The law's own number for the restitution [-].
    pub damping: f64,
    /// Damping ratio of a spring of that restitution [-].
    pub ratio: f64,
    /// Coulomb's coefficients [-].
    pub r#static: f64,
    pub kinetic: f64,
    /// Resistance to rolling [-].
    pub rolling: f64,
}

/// Everything a contact needs to know besides its partners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub normal: NormalLaw,
    pub shear: ShearLaw,
    pub reference_speed: f64,
    /// Duration of a linear contact [s]; 0 for that of Hertz.
    pub duration: f64,
    /// Time step [s].
    pub step: f64,
    /// Viscosity of shear laws without memory [N s/m]; 0 for what the step allows.
    pub viscosity: f64,
    /// Pairings of materials, a row a material.
    pub pairs: Vec<Pairing>,
    /// Pairings of each body with each material, a row a body.
    pub bodies: Vec<Pairing>,
    pub materials: usize,
    /// Whether anything resists rolling.
    pub rolls: bool,
    /// Lengths [m] of the axes that close upon themselves, 0 for the others.
    pub periods: [f64; 3],
}

/// Viscous shear without a bound of its own, of the reduced mass over the step [-]: no overshoot below 0.29, less where a sphere has
/// several contacts.
const SHEAR_VISCOSITY: f64 = 0.1;
impl Rules {
    /// The rules of a world.
    pub(crate) fn new(settings: &DemSettings, world: &World, damping: &mut Dampings) -> Self {
        let all = &world.materials.all;
        let contact = |m: usize| settings.contact(m);
        let mut pairs = Vec::with_capacity(all.len() * all.len());
        for a in 0..all.len() {
            for b in 0..all.len() {
                let friction = world.materials.friction(a as u8, b as u8);
                pairs.push(pairing(settings, damping, [contact(a), contact(b)], friction));
            }
        }
        let mut bodies = Vec::with_capacity(world.bodies.len() * all.len());
        for body in &world.bodies {
            for (m, material) in all.iter().enumerate() {
                let own = contact(m);
                let mut other = own;
                if let Some([young, poisson]) = settings.bodies {
                    (other.youngs_modulus, other.poisson_ratio) = (young, poisson);
                }
                let friction = geometric_mean(material.friction, body.friction);
                bodies.push(pairing(settings, damping, [own, other], friction));
            }
        }
        let rolls = pairs.iter().chain(&bodies).any(|pair| pair.rolling > 0.0);
        Self {
            normal: settings.normal,
            shear: settings.shear,
            reference_speed: settings.reference_speed,
            duration: settings.duration.unwrap_or(0.0),
            step: 0.0,
            viscosity: settings.shear_viscosity.unwrap_or(0.0),
            pairs,
            bodies,
            materials: all.len(),
            rolls,
            periods: world.periodic.map(|range| range.map_or(0.0, |[low, high]| high - low)),
        }
    }

    /// Viscosity [N s/m] of shear at a contact of reduced mass `mass` [kg].
    #[inline(always)]
    pub(crate) fn shear_viscosity(&self, mass: f64) -> f64 {
        match self.viscosity > 0.0 {
            true => self.viscosity,
            false => SHEAR_VISCOSITY * mass / self.step,
        }
    }

    /// A contact of this pairing.
    #[inline(always)]
    pub(crate) fn encounter(&self, modulus: f64, shear_modulus: f64, mass: f64, radius: f64) -> Encounter {
        Encounter {
            mass,
            radius,
            modulus,
            shear_modulus,
            reference_speed: self.reference_speed,
            duration: self.duration,
        }
    }
}

fn pairing(settings: &DemSettings, dampings: &mut Dampings, of: [Contact; 2], friction: Friction) -> Pairing {
    let [young, poisson] = [of.map(|c| c.youngs_modulus), of.map(|c| c.poisson_ratio)];
    let restitution = (of[0].restitution * of[1].restitution).sqrt();
    Pairing {
        modulus: effective::modulus(young, poisson),
        shear_modulus: effective::shear_modulus(young, poisson),
        damping: dampings.of(settings.normal, restitution),
        ratio: dampings.of(NormalLaw::Linear, restitution),
        r#static: f64::from(friction.r#static),
        kinetic: f64::from(friction.kinetic),
        rolling: (of[0].rolling_friction * of[1].rolling_friction).sqrt(),
    }
}

/// Damping numbers already found: most pairs have the same restitution.
#[derive(Debug, Default)]
pub(crate) struct Dampings {
    known: Vec<(NormalLaw, f64, f64)>,
}

impl Dampings {
    fn of(&mut self, law: NormalLaw, wanted: f64) -> f64 {
        if let Some(known) = self.known.iter().find(|k| k.0 == law && k.1 == wanted) {
            return known.2;
        }
        let found = restitution::damping(law, wanted);
        self.known.push((law, wanted, found));
        found
    }
}
