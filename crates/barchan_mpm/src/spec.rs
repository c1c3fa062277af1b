//! Specification of the solver.

use barchan_bodies::Dynamics;
use barchan_world::spec::Kind::{Between, Count, Flag, Word};
use barchan_world::spec::Need::{self, Optional};
use barchan_world::spec::quantities::STEP;
use barchan_world::spec::{
    BodySurface, Context, Facts, FrictionMeaning, Idle, Input, Preset, Refusal, Setting, SettingError, Settings,
    SolverSpec, TableSpec, Unless, Weight, field, preset_names,
};
use barchan_world::{ContactProperties, MaterialLaw, Solver, World};

use crate::{MpmSettings, MpmSolver, Yield};

/// The MPM solver: sand, snow, elastic solids and water.
pub static SPEC: SolverSpec = SolverSpec {
    name: "mpm",
    about: "material point method: sand, snow, elastic solids and water on a grid",
    settings: SETTINGS,
    presets: &PRESETS,
    materials: &[
        "law",
        "youngs_modulus",
        "poisson_ratio",
        "cohesion",
        "wetness",
        "critical_compression",
        "critical_stretch",
        "hardening",
    ],
    idle: IDLE,
    idle_materials: IDLE_MATERIALS,
    facts,
    build,
};

#[rustfmt::skip]
const SETTINGS: TableSpec = TableSpec {
    name: "solver.mpm",
    fields: &[
        field("preset",            Word(&preset_names(&PRESETS)), Optional,   "settings of a paper, for all that is not said"),
        field("step",              STEP,              Optional,               "longest step [s]. By waves and the speed of guides if not given"),
        field("substeps",          Count(1, 10_000),  Optional,               "least number of steps in a frame, instead of step"),
        field("step_divisor",      Count(1, 1000),    Need::Count(1),         "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("cell",              Between(1.2, 4.0), Need::Number(CELL),     "spacing of nodes, in spacings of settled guides [-]: 2 gives a cell eight guides"),
        field("cfl",               Between(0.01, 0.6), Need::Number(0.4),     "longest way of a wave and a guide together in a step, of the spacing of nodes [-]"),
        field("yield",             Word(Yield::WORDS), Need::Word(Yield::Repose.word()), "what the angle of friction means"),
        field("flow_friction",     Between(0.0, 2.0), Need::Number(0.0),      "increase of friction in fast flow, mu_2 - mu_s [-]"),
        field("grain_diameter",    Between(1e-7, 10.0), Optional,             "of the grains that flow [m]; that of guides if not given"),
        field("volume_correction", Flag,              Need::Flag(true),       "whether sand that was stretched bears nothing until it is as dense as before"),
    ],
    exclusive: &[["substeps", "step"]],
};

/// Spacing of nodes where none is given, in spacings of settled guides [-].
const CELL: f64 = 2.0;

const PRESETS: [Preset; 1] = [Preset {
    name: "klar",
    about: "[Klar16]: the cone of compressed cylinders, with volume correction",
    settings: &[
        ("yield", Setting::word(Yield::Klar.word())),
        ("volume_correction", Setting::Flag(true)),
    ],
}];

const NO_FLOW: Unless = Unless::Holds {
    condition: |scene| scene.settings.number("flow_friction") != Some(0.0),
    why: ": friction does not depend on the speed of flow",
    help: "set flow_friction = 0.25",
};

const NOT_SNOW: Unless = Unless::Holds {
    condition: |scene| {
        scene
            .own()
            .iter()
            .any(|contact| contact.law.is_some_and(MaterialLaw::is_snow))
    },
    why: ": the material is no snow",
    help: "set law = \"packed_snow\"",
};

const NOT_SAND: Unless = Unless::Holds {
    condition: |scene| scene.own().iter().any(is_sand),
    why: ": the material is no sand",
    help: "",
};

const NO_COHESION: Unless = Unless::Holds {
    condition: |scene: &Context| {
        let is_wet = |contact: &ContactProperties| is_sand(contact) && contact.cohesion.is_some_and(|c| c > 0.0);
        scene.own().iter().any(is_wet)
    },
    why: " without `cohesion`",
    help: "add it, or remove `wetness`",
};

#[rustfmt::skip]
const IDLE: &[Idle] = &[
    Idle { key: "grain_diameter", unless: NO_FLOW },
];

#[rustfmt::skip]
const IDLE_MATERIALS: &[Idle] = &[
    Idle { key: "critical_compression", unless: NOT_SNOW },
    Idle { key: "critical_stretch",     unless: NOT_SNOW },
    Idle { key: "hardening",            unless: NOT_SNOW },
    Idle { key: "cohesion",             unless: NOT_SAND },
    Idle { key: "wetness",              unless: NO_COHESION },
];

fn is_sand(contact: &ContactProperties) -> bool {
    contact.law.is_none_or(|law| law == MaterialLaw::Sand)
}

/// Distance from a body up to which kernels feel it, per spacing of nodes, in radii of the largest guide [-]: 2.6 cells.
const BAND: f64 = 5.2;

/// Shortest periodic range per spacing of nodes, in radii of the largest guide [-]: one block of four cells.
const PERIOD: f64 = 6.0;

fn facts(settings: &Settings) -> Facts {
    let cell = settings.number("cell").unwrap_or(CELL);
    Facts {
        weight: Weight::Bulk,
        clumps: false,
        continuum: true,
        friction: FrictionMeaning::Bulk,
        bodies: BodySurface::Distance { band: BAND * cell },
        shortest_period: Some(PERIOD * cell),
        steepest: 45.0,
        guide_bytes: 900.0,
        passes: None,
    }
}

fn build(input: &Input, world: &World) -> Result<Box<dyn Solver>, Refusal> {
    let mut settings = MpmSettings::read(input.settings, input.frame_rate)?;
    settings.contacts = input.contacts.to_vec();
    Ok(Box::new(MpmSolver::new(settings, Dynamics::new(world)?)?))
}

impl MpmSettings {
    /// Reads the settings of a scene of `frame_rate` frames per second, except the properties of its materials.
    pub fn read(given: &Settings, frame_rate: f64) -> Result<Self, SettingError> {
        let substeps: Option<f64> = given.get("substeps")?;
        Ok(Self {
            step: substeps.map(|n| 1.0 / (frame_rate * n)).or(given.get("step")?),
            step_divisor: given.get("step_divisor")?,
            cell: given.get("cell")?,
            cfl: given.get("cfl")?,
            convention: given.get("yield")?,
            flow_friction: given.get("flow_friction")?,
            grain_diameter: given.get("grain_diameter")?,
            volume_correction: given.get("volume_correction")?,
            contacts: Vec::new(),
        })
    }
}

impl Default for MpmSettings {
    /// Those of [`SPEC`].
    fn default() -> Self {
        Self::read(&SPEC.defaults(), 1.0).expect("every setting that must be given has a default")
    }
}
