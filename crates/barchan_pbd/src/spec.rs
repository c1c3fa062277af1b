//! Specification of the solver.

use barchan_bodies::Dynamics;
use barchan_world::spec::Kind::{Between, Count, Flag, Word};
use barchan_world::spec::Need::{self, Optional};
use barchan_world::spec::quantities::STEP;
use barchan_world::spec::{
    BodySurface, Facts, FrictionMeaning, Input, Passes, Preset, Refusal, Setting, SettingError, Settings, SolverSpec,
    TableSpec, Weight, field, preset_names,
};
use barchan_world::{Solver, World, words};

use crate::{FrictionMode, PbdSettings, PbdSolver, Rigid, STEEPEST, Splitting};

/// The PBD solver: position-based sand.
pub static SPEC: SolverSpec = SolverSpec {
    name: "pbd",
    about: "position-based dynamics: contacts and friction as constraints on positions",
    settings: SETTINGS,
    presets: &PRESETS,
    materials: &[],
    idle: &[],
    idle_materials: &[],
    facts,
    build,
};

#[rustfmt::skip]
pub(crate) const SETTINGS: TableSpec = TableSpec {
    name: "solver.pbd",
    fields: &[
        field("preset",           Word(&preset_names(&PRESETS)), Optional,     "settings of a paper, for all that is not said"),
        field("step",             STEP,             Optional,                  "longest step [s]; a frame is cut into equal ones. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
        field("step_divisor",     Count(1, 1000),   Need::Count(1),            "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("iterations",       Count(1, 1000),   Need::Count(4),            "contact and friction passes in a step"),
        field("stabilization_iterations", Count(0, 1000), Need::Count(2),      "passes that undo overlaps before a step"),
        field("friction",         Word(FrictionMode::WORDS), Need::Word(FrictionMode::Accumulated.word()), "what bounds friction"),
        field("splitting",        Word(Splitting::WORDS),    Need::Word(Splitting::Mass.word()), "how a guide shares itself among its contacts"),
        field("memory",           Flag,               Need::Flag(true),        "whether a step starts from the impulses of the last one"),
        field("mass_scaling",     Between(0.0, 1e6),  Need::Number(0.0),       "how fast masses fall off with height [1/m]; 0 for not at all"),
        field("relaxation",       Between(0.1, 4.0),  Need::Number(2.5),       "factor on every correction [-]"),
        field("velocity_clamp",   Between(0.01, 1e3), Need::Number(0.5),       "fastest that a guide may leave a step, in its diameters a step [-]"),
        field("cfl",              Between(0.01, 0.5), Need::Number(0.4),       "longest way of a guide in a step, of the smallest diameter [-]"),
        field("sleeping",         Flag,               Need::Flag(true),        "whether guides that rest are left alone until something near them moves"),
        field("rigid",            Word(Rigid::WORDS), Need::Word(Rigid::True.word()), "dynamic bodies: truly rigid, or fitted to pieces as printed"),
        field("boundary",         Word(BoundaryKind::WORDS), Need::Word(BoundaryKind::Field.word()), "what guides see of bodies"),
    ],
    exclusive: &[["substeps", "step"]],
};

const PRESETS: [Preset; 1] = [Preset {
    name: "sommer",
    about: "[Sommer22]: 5 ms, four passes whose corrections are averaged, friction by the guides' size, masses that fall off with height, bodies of particles fitted by shape matching",
    settings: &[
        ("step", Setting::Number(5e-3)),
        ("iterations", Setting::Count(4)),
        ("stabilization_iterations", Setting::Count(1)),
        ("friction", Setting::word(FrictionMode::Sommer.word())),
        ("splitting", Setting::word(Splitting::Average.word())),
        ("memory", Setting::Flag(false)),
        ("mass_scaling", Setting::Number(1.0)),
        ("relaxation", Setting::Number(1.0)),
        ("velocity_clamp", Setting::Number(1e3)),
        ("sleeping", Setting::Flag(false)),
        ("rigid", Setting::word(Rigid::ShapeMatching.word())),
        ("boundary", Setting::word(BoundaryKind::Particles.word())),
    ],
}];

words! {
    /// Representation of bodies.
    enum BoundaryKind {
        /// Distance to their surface.
        Field = "field",
        /// Particles on their surface.
        Particles = "particles",
    }
}

/// Distance from a body up to which guides see it, of the largest guide's radius [-]: contacts end at a diameter.
const BAND: f64 = 2.0;

/// Shortest periodic range, of the largest guide's radius [-]: twice as far as contact candidates are searched for.
const PERIOD: f64 = 5.2;

fn facts(settings: &Settings) -> Facts {
    Facts {
        weight: Weight::Bulk,
        clumps: false,
        continuum: false,
        // As printed, friction is bounded by the guides' size or by the depth of a contact.
        friction: match settings.get("friction") {
            Ok(FrictionMode::Sommer | FrictionMode::Macklin) => FrictionMeaning::Contact,
            Ok(FrictionMode::Accumulated) | Err(_) => FrictionMeaning::Bulk,
        },
        bodies: match settings.get("boundary") {
            Ok(BoundaryKind::Particles) => BodySurface::Particles,
            Ok(BoundaryKind::Field) | Err(_) => BodySurface::Distance { band: BAND },
        },
        shortest_period: Some(PERIOD),
        steepest: STEEPEST,
        guide_bytes: 1400.0,
        passes: Some(Passes {
            most: "iterations",
            fewest: None,
            label: "iterations",
            ceiling: 40,
        }),
    }
}

fn build(input: &Input, world: &World) -> Result<Box<dyn Solver>, Refusal> {
    let settings = PbdSettings::read(input.settings, input.frame_rate)?;
    let mut bodies = Dynamics::new(world)?;
    if settings.rigid == Rigid::ShapeMatching {
        bodies = bodies.shape_matched();
    }
    Ok(Box::new(PbdSolver::new(settings, bodies)?))
}

impl PbdSettings {
    /// Reads the settings of a scene of `frame_rate` frames per second.
    pub fn read(given: &Settings, frame_rate: f64) -> Result<Self, SettingError> {
        let substeps: Option<f64> = given.get("substeps")?;
        Ok(Self {
            step: substeps.map(|n| 1.0 / (frame_rate * n)).or(given.get("step")?),
            step_divisor: given.get("step_divisor")?,
            iterations: given.get("iterations")?,
            stabilization: given.get("stabilization_iterations")?,
            friction: given.get("friction")?,
            splitting: given.get("splitting")?,
            memory: given.get("memory")?,
            mass_scaling: given.get("mass_scaling")?,
            cfl: given.get("cfl")?,
            relaxation: given.get("relaxation")?,
            velocity_clamp: given.get("velocity_clamp")?,
            rigid: given.get("rigid")?,
            sleeping: given.get("sleeping")?,
        })
    }
}

impl Default for PbdSettings {
    /// Those of [`SPEC`].
    fn default() -> Self {
        Self::read(&SPEC.defaults(), 1.0).expect("every setting that must be given has a default")
    }
}
