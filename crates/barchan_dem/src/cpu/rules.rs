//! Parameters that are constant over a frame.

use barchan_world::{Friction, World, geometric_mean};

use crate::DemSettings;
use crate::laws::normal::{Encounter, NormalLaw};
use crate::laws::shear::ShearLaw;
use crate::laws::{capillary, effective, repose, restitution};
use crate::settings::{Contact, Integrator};
use crate::step::Moment;

/// Contact parameters of two materials, or of a material and a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairing {
    /// Effective modulus [Pa].
    pub modulus: f64,
    /// Effective shear modulus [Pa].
    pub shear_modulus: f64,
    /// Damping coefficient of the normal law for the restitution [-].
    pub damping: f64,
    /// Damping ratio of a spring of that restitution [-].
    pub ratio: f64,
    /// Coulomb friction coefficients [-].
    pub r#static: f64,
    pub kinetic: f64,
    /// Rolling friction [-].
    pub rolling: f64,
    /// Liquid bridges: surface tension [N/m], its increase with the reduced radius [Pa], liquid as a fraction of the
    /// particles' volume [-], and the gap at which bridges break, in cube roots of their volume [-].
    pub tension: f64,
    pub suction: f64,
    pub liquid: f64,
    pub breaking: f64,
}

/// Inputs of a contact besides its partners.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub normal: NormalLaw,
    pub shear: ShearLaw,
    pub reference_speed: f64,
    /// Duration of a linear contact [s]; 0 for that of Hertz.
    pub duration: f64,
    /// Time step [s]; the longest one if it is adaptive.
    pub step: f64,
    /// Times [s] over which a spring is stretched at the current sliding speed, before and after its force is computed.
    pub before: f64,
    pub after: f64,
    /// True if springs store their sliding speeds, and true in a trial stage, which discards them.
    pub is_adaptive: bool,
    pub is_trial: bool,
    /// True if contacts are kept: at the end of a frame, if they are asked for.
    pub keeps_contacts: bool,
    /// Viscosity of shear laws without memory [N s/m]; 0 for the largest that the step allows.
    pub viscosity: f64,
    /// Pairings of materials, one row per material.
    pub pairs: Vec<Pairing>,
    /// Pairings of each body with each material, one row per body.
    pub bodies: Vec<Pairing>,
    pub materials: usize,
    /// True if any material resists rolling.
    pub rolls: bool,
    /// Longest bridge, as a fraction of the reduced radius [-]; 0 if everything is dry.
    pub bridge: f64,
    /// Lengths of periodic axes [m]; 0 for the others.
    pub periods: [f64; 3],
}

/// Viscous shear without a bound of its own, of the reduced mass over the step [-]: no overshoot below 0.29, less where a sphere has
/// several contacts.
const SHEAR_VISCOSITY: f64 = 0.1;
/// Liquid of particles with a cohesion and nothing else given, as a fraction of their volume [-].
const DEFAULT_LIQUID: f64 = 0.01;

impl Rules {
    /// The rules of a world.
    pub(crate) fn new(settings: &DemSettings, world: &World, damping: &mut Dampings) -> Self {
        let all = &world.materials.all;
        // A given rolling friction wins over that of the angle of repose, 0 too.
        let contact = |m: usize| {
            let given = settings.contact(m);
            let of_angle = || all[m].angle_of_repose.map(|angle| repose::friction_of(angle)[1]);
            Contact {
                rolling_friction: given.rolling_friction.or_else(of_angle),
                ..given
            }
        };
        let of_contact = |internal: Friction| {
            let mu = |slope: f32| repose::friction_of(f64::from(slope).atan())[0] as f32;
            Friction {
                r#static: mu(internal.r#static),
                kinetic: mu(internal.kinetic),
            }
        };
        let internal = |m: usize| match all[m].angle_of_repose {
            None => all[m].friction,
            Some(angle) => Friction {
                r#static: angle.tan() as f32,
                kinetic: angle.tan() as f32,
            },
        };
        let rough = |m: usize| match all[m].angle_of_repose {
            None => all[m].friction,
            Some(_) => of_contact(internal(m)),
        };
        let mut pairs = Vec::with_capacity(all.len() * all.len());
        for a in 0..all.len() {
            for b in 0..all.len() {
                let said = world.materials.pairs.get(&(a.min(b) as u8, a.max(b) as u8)).copied();
                // That of a pair means the same as that of its materials.
                let of_pair = match all[a].angle_of_repose.and(all[b].angle_of_repose) {
                    Some(_) => said.map(of_contact),
                    None => said,
                };
                let friction = of_pair.unwrap_or_else(|| geometric_mean(rough(a), rough(b)));
                let bulk = said.unwrap_or_else(|| geometric_mean(internal(a), internal(b)));
                pairs.push(pairing(settings, damping, [contact(a), contact(b)], friction, bulk));
            }
        }
        let mut bodies = Vec::with_capacity(world.bodies.len() * all.len());
        for (k, body) in world.bodies.iter().enumerate() {
            for (m, friction) in world.materials.frictions_on(k, body).enumerate() {
                let mut own = contact(m);
                let mut other = own;
                if let Some([young, poisson]) = settings.bodies {
                    (other.youngs_modulus, other.poisson_ratio) = (young, poisson);
                }
                let said = world.materials.meeting(m as u8, k);
                for side in [&mut own, &mut other] {
                    side.restitution = said.restitution.unwrap_or(side.restitution);
                    side.rolling_friction = said.rolling_friction.or(side.rolling_friction);
                }
                // Spheres of an angle rub each other with less than what they do to bodies as sand. A bridge to a body is as strong as one between
                // spheres, however smooth the body is.
                bodies.push(pairing(settings, damping, [own, other], friction, internal(m)));
            }
        }
        let bridge = pairs.iter().map(Pairing::longest_bridge).fold(0.0, f64::max);
        let rolls = pairs.iter().chain(&bodies).any(|pair| pair.rolling > 0.0);
        Self {
            normal: settings.normal,
            shear: settings.shear,
            reference_speed: settings.reference_speed,
            duration: settings.duration.unwrap_or(0.0),
            step: 0.0,
            before: 0.0,
            after: 0.0,
            is_adaptive: settings.integrator == Integrator::Rkf45,
            is_trial: false,
            keeps_contacts: false,
            viscosity: settings.shear_viscosity.unwrap_or(0.0),
            pairs,
            bodies,
            materials: all.len(),
            rolls,
            bridge,
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

    /// Prepares the forces of a moment of a frame of steps of `step` [s]: springs are stretched at the mean of the sliding speeds at the ends of a
    /// step.
    pub(crate) fn set_step(&mut self, step: f64, moment: Moment) {
        self.step = step;
        self.before = if moment == Moment::Start { 0.0 } else { 0.5 * step };
        self.after = if moment == Moment::End { 0.0 } else { 0.5 * step };
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

/// Pairing of two contacts that rub each other with `friction`, within material of the internal friction `bulk`.
fn pairing(
    settings: &DemSettings,
    dampings: &mut Dampings,
    of: [Contact; 2],
    friction: Friction,
    bulk: Friction,
) -> Pairing {
    let [young, poisson] = [of.map(|c| c.youngs_modulus), of.map(|c| c.poisson_ratio)];
    let restitution = (of[0].restitution * of[1].restitution).sqrt();
    let mean = |of: [f64; 2]| 0.5 * (of[0] + of[1]);
    let (wet, angle) = (mean(of.map(|c| c.liquid)), mean(of.map(|c| c.contact_angle)));
    let tension = match wet > 0.0 {
        true => angle.cos() * mean(of.map(|c| c.surface_tension)),
        false => 0.0,
    };
    let cohesion = (of[0].cohesion * of[1].cohesion).sqrt();
    let suction = capillary::suction(cohesion, f64::from(bulk.kinetic));
    let liquid = if wet > 0.0 { wet } else { DEFAULT_LIQUID };
    Pairing {
        modulus: effective::modulus(young, poisson),
        shear_modulus: effective::shear_modulus(young, poisson),
        damping: dampings.of(settings.normal, restitution),
        ratio: dampings.of(NormalLaw::Linear, restitution),
        r#static: f64::from(friction.r#static),
        kinetic: f64::from(friction.kinetic),
        rolling: (of[0].rolling() * of[1].rolling()).sqrt(),
        tension,
        suction,
        liquid,
        breaking: capillary::rupture(1.0, angle),
    }
}

impl Pairing {
    /// Length of its bridges where they break, of the reduced radius [-].
    fn longest_bridge(&self) -> f64 {
        match self.tension + self.suction > 0.0 {
            true => self.breaking * capillary::volume(self.liquid, 1.0).cbrt(),
            false => 0.0,
        }
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

#[cfg(test)]
mod tests {
    use barchan_testing::{friction, world};
    use glam::DVec3;

    use super::*;

    /// Rules of one material: given by its friction tan 30°, or by that angle of repose.
    fn rules(by_angle: bool, contact: Contact) -> Rules {
        let angle = 30f64.to_radians();
        let mut world = world(DVec3::ZERO, friction(angle.tan() as f32));
        world.materials.all[0].angle_of_repose = by_angle.then_some(angle);
        let settings = DemSettings {
            contacts: vec![contact],
            ..DemSettings::default()
        };
        Rules::new(&settings, &world, &mut Dampings::default())
    }

    #[test]
    fn a_cohesion_makes_the_same_bridges_however_friction_is_given() {
        let moist = Contact {
            cohesion: 500.0,
            ..Contact::default()
        };
        let [by_friction, by_angle] = [false, true].map(|by_angle| rules(by_angle, moist).pairs[0]);
        assert!(by_angle.kinetic < 0.5 * by_friction.kinetic, "the contacts differ");
        let expected = 4.0 * 500.0 / (30f64.to_radians().tan() * 0.6 * 6.0);
        for pairing in [by_friction, by_angle] {
            assert!((pairing.suction / expected - 1.0).abs() < 1e-6, "{}", pairing.suction);
        }
    }

    #[test]
    fn friction_of_a_pair_means_what_that_of_its_materials_does() {
        let angle = 30f64.to_radians();
        let slope = friction(angle.tan() as f32);
        let mut world = world(DVec3::ZERO, slope);
        world.materials.all[0].angle_of_repose = Some(angle);
        let other = world.materials.all[0].clone();
        world.materials.all.push(other);
        world.materials.pairs.insert((0, 1), slope);
        let rules = Rules::new(&DemSettings::default(), &world, &mut Dampings::default());
        assert!((rules.pairs[1].kinetic - rules.pairs[0].kinetic).abs() < 1e-6);
    }

    #[test]
    fn a_given_rolling_friction_wins_over_that_of_the_angle_of_repose() {
        let rolling = |given: Option<f64>| {
            let contact = Contact {
                rolling_friction: given,
                ..Contact::default()
            };
            rules(true, contact).pairs[0].rolling
        };
        assert!(rolling(None) > 0.4, "{}", rolling(None));
        assert_eq!(rolling(Some(0.0)), 0.0);
        assert!((rolling(Some(0.1)) - 0.1).abs() < 1e-12);
    }
}
