//! Specification of the solver.

use barchan_bodies::Dynamics;
use barchan_world::spec::Kind::{Between, Count, Word};
use barchan_world::spec::Need::{self, Optional};
use barchan_world::spec::quantities::{MODULUS, STEP};
use barchan_world::spec::{
    BodySurface, Facts, FrictionMeaning, Idle, Input, Preset, Refusal, Setting, SettingError, Settings, SolverSpec,
    TableSpec, Unless, Weight, field, preset_names,
};
use barchan_world::{ContactProperties, Solver, World, words};

use crate::{Contact, DemSettings, DemSolver, Integrator, NormalLaw, STEEPEST, ShearLaw};

/// The DEM solver: discrete elements.
pub static SPEC: SolverSpec = SolverSpec {
    name: "dem",
    about: "discrete elements: spheres and clumps with contact laws and their history",
    settings: SETTINGS,
    presets: &PRESETS,
    materials: &[
        "restitution",
        "youngs_modulus",
        "poisson_ratio",
        "rolling_friction",
        "cohesion",
        "liquid",
        "surface_tension",
        "contact_angle",
    ],
    idle: IDLE,
    idle_materials: IDLE_MATERIALS,
    facts,
    build,
};

#[rustfmt::skip]
const SETTINGS: TableSpec = TableSpec {
    name: "solver.dem",
    fields: &[
        field("preset",            Word(&preset_names(&PRESETS)), Optional,          "settings of a paper, for all that is not said"),
        field("step",              STEP,               Optional,                     "longest step [s]; a frame is cut into equal ones. By the duration of a contact if not given"),
        field("steps_per_contact", Between(10.0, 1e4), Need::Number(20.0),           "steps in the shortest contact, where no step is given [-]"),
        field("step_divisor",      Count(1, 1000),     Need::Count(1),               "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("integrator",        Word(Integrator::WORDS), Need::Word(Integrator::Verlet.word()), "verlet: steps of a fixed part of a contact; rkf45: as long as their error allows"),
        field("tolerance",         Between(1e-9, 0.1), Need::Number(1e-4),           "error of a step of rkf45, of a radius [-]"),
        field("normal",            Word(NormalLaw::WORDS), Need::Word(NormalLaw::HertzTsuji.word()), "what pushes grains apart"),
        field("shear",             Word(ShearLaw::WORDS), Need::Word(ShearLaw::Spring.word()), "what resists sliding"),
        field("reference_speed",   Between(1e-6, 1e5), Need::Number(1.0),            "speed of the impact that has the material's restitution [m/s]"),
        field("duration",          STEP,               Optional,                     "of a contact of the linear law [s]; that of Hertz at the reference speed if not given"),
        field("shear_viscosity",   Between(1e-12, 1e12), Optional,                     "of the laws of shear without memory [N s/m]; as much as the step allows if not given"),
        field("body_youngs_modulus", MODULUS,          Optional,                     "of bodies [Pa]; that of the grain that touches them if not given"),
        field("body_poisson_ratio",  Between(-0.99, 0.5), Need::Number(0.3),         "of bodies [-], with body_youngs_modulus"),
        field("boundary",          Word(BoundaryKind::WORDS), Need::Word(BoundaryKind::Field.word()), "what grains see of bodies: their surface, or spheres that cover it"),
    ],
    exclusive: &[],
};

const PRESETS: [Preset; 1] = [Preset {
    name: "bell",
    about: "[Bell05]: viscoelastic spheres of Hertz, friction without memory of eq. (18), steps of RKF45, bodies covered with spheres",
    settings: &[
        ("integrator", Setting::word(Integrator::Rkf45.word())),
        ("normal", Setting::word(NormalLaw::HertzViscoelastic.word())),
        ("shear", Setting::word(ShearLaw::Capped.word())),
        ("boundary", Setting::word(BoundaryKind::Particles.word())),
    ],
}];

words! {
    /// Representation of bodies.
    enum BoundaryKind {
        /// Distance to their surface.
        Field = "field",
        /// Spheres on their surface.
        Particles = "particles",
    }
}

const NO_LIQUID: Unless = Unless::Holds {
    condition: |scene| {
        scene
            .own()
            .iter()
            .any(|contact| contact.liquid.is_some_and(|liquid| liquid > 0.0))
    },
    why: " without `liquid`",
    help: "",
};

#[rustfmt::skip]
const IDLE: &[Idle] = &[
    Idle { key: "steps_per_contact",  unless: Unless::Word("integrator", &[Integrator::Verlet.word()]) },
    Idle { key: "steps_per_contact",  unless: Unless::Missing("step") },
    Idle { key: "tolerance",          unless: Unless::Word("integrator", &[Integrator::Rkf45.word()]) },
    Idle { key: "duration",           unless: Unless::Word("normal", &[NormalLaw::Linear.word()]) },
    Idle { key: "shear_viscosity",    unless: Unless::Word("shear", &[ShearLaw::Viscous.word(), ShearLaw::Capped.word()]) },
    Idle { key: "body_poisson_ratio", unless: Unless::Given("body_youngs_modulus") },
];

#[rustfmt::skip]
const IDLE_MATERIALS: &[Idle] = &[
    Idle { key: "surface_tension", unless: NO_LIQUID },
    Idle { key: "contact_angle",   unless: NO_LIQUID },
];

/// Distance from a body up to which spheres see it, of the largest guide's radius [-].
const BAND: f64 = 2.0;

/// Shortest periodic range, of the largest guide's radius [-]: twice as far as two spheres touch, so that none touches two images of another.
const PERIOD: f64 = 4.0;

fn facts(settings: &Settings) -> Facts {
    Facts {
        weight: Weight::Particle,
        clumps: true,
        continuum: false,
        friction: FrictionMeaning::ContactOfShapes,
        bodies: match settings.get("boundary") {
            Ok(BoundaryKind::Particles) => BodySurface::Particles,
            Ok(BoundaryKind::Field) | Err(_) => BodySurface::Distance { band: BAND },
        },
        shortest_period: Some(PERIOD),
        steepest: STEEPEST,
        guide_bytes: 500.0,
        passes: None,
    }
}

fn build(input: &Input, world: &World) -> Result<Box<dyn Solver>, Refusal> {
    // What falls on few particles with the mass of many must not go through them.
    let usual = match input.has_dynamic_bodies {
        true => Contact::struck(),
        false => Contact::default(),
    };
    let (ids, clumps): (Vec<_>, Vec<_>) = input.clumps.iter().cloned().unzip();
    let settings = DemSettings {
        contacts: input.contacts.iter().map(|given| contact(given, &usual)).collect(),
        clumped: ids.into_iter().zip(0..).collect(),
        clumps,
        ..DemSettings::read(input.settings)?
    };
    Ok(Box::new(DemSolver::new(settings, Dynamics::new(world)?, world)?))
}

/// Returns the properties of contacts that are given, and those of `usual` elsewhere.
fn contact(given: &ContactProperties, usual: &Contact) -> Contact {
    Contact {
        youngs_modulus: given.youngs_modulus.unwrap_or(usual.youngs_modulus),
        poisson_ratio: given.poisson_ratio.unwrap_or(usual.poisson_ratio),
        restitution: given.restitution.unwrap_or(usual.restitution),
        rolling_friction: given.rolling_friction,
        liquid: given.liquid.unwrap_or(usual.liquid),
        surface_tension: given.surface_tension.unwrap_or(usual.surface_tension),
        contact_angle: given.contact_angle.unwrap_or(usual.contact_angle),
        cohesion: given.cohesion.unwrap_or(usual.cohesion),
    }
}

impl DemSettings {
    /// Reads the settings of a scene, except the properties of its materials and its clumps.
    pub fn read(given: &Settings) -> Result<Self, SettingError> {
        let young: Option<f64> = given.get("body_youngs_modulus")?;
        let poisson: f64 = given.get("body_poisson_ratio")?;
        Ok(Self {
            step: given.get("step")?,
            step_divisor: given.get("step_divisor")?,
            steps_per_contact: given.get("steps_per_contact")?,
            integrator: given.get("integrator")?,
            tolerance: given.get("tolerance")?,
            normal: given.get("normal")?,
            shear: given.get("shear")?,
            reference_speed: given.get("reference_speed")?,
            duration: given.get("duration")?,
            shear_viscosity: given.get("shear_viscosity")?,
            contacts: Vec::new(),
            bodies: young.map(|young| [young, poisson]),
            clumps: Vec::new(),
            clumped: Vec::new(),
        })
    }
}

impl Default for DemSettings {
    /// Those of [`SPEC`].
    fn default() -> Self {
        Self::read(&SPEC.defaults()).expect("every setting that must be given has a default")
    }
}
