//! Specification of the solver.

use barchan_bodies::Dynamics;
use barchan_world::spec::Kind::{Between, Count, Flag, Word};
use barchan_world::spec::Need::{self, Optional};
use barchan_world::spec::quantities::{STEP, VELOCITY};
use barchan_world::spec::{
    BodySurface, Context, Facts, FrictionMeaning, Idle, Input, Passes, Preset, Refusal, Setting, SettingError,
    Settings, SolverSpec, TableSpec, Unless, Weight, field, preset_names,
};
use barchan_world::{ContactProperties, Solver, World};

use crate::{
    Air, Correction, Gradients, Integration, MAX_SUPPORT_RATIO, Prediction, Pressure, Rest, STEEPEST, SphSettings,
    SphSolver, WallShear, Walls, Yield,
};

/// The SPH solver: sand as a continuum.
pub static SPEC: SolverSpec = SolverSpec {
    name: "sph",
    about: "smoothed particle hydrodynamics: a continuum with pressure and friction",
    settings: SETTINGS,
    presets: &PRESETS,
    materials: &["cohesion", "wetness", "viscosity", "wet_viscosity"],
    idle: IDLE,
    idle_materials: &[],
    facts,
    build,
};

#[rustfmt::skip]
const SETTINGS: TableSpec = TableSpec {
    name: "solver.sph",
    fields: &[
        field("preset",           Word(&preset_names(&PRESETS)), Optional,     "settings of a paper, for all that is not said"),
        field("step",             STEP,             Optional,                  "longest step [s]. By the guides' size if not given"),
        field("substeps",         Count(1, 10_000), Optional,                  "least number of steps in a frame, instead of step"),
        field("step_divisor",     Count(1, 1000),   Need::Count(1),            "steps in the place of one [-], whatever set its length: 2 halves all steps, to see whether a result depends on them"),
        field("support",          Between(1.2, 4.0), Need::Number(SUPPORT),    "radius of the kernel, in spacings of settled guides [-]; a shorter one sees no neighbours"),
        field("pressure",         Word(Pressure::WORDS), Need::Word(Pressure::Pcisph.word()), "how the pressure is found"),
        field("density_error",    Between(1e-6, 0.1), Need::Number(0.001),     "mean density error at which the pressure is good enough [-]"),
        field("min_iterations",   Count(1, 1000),   Need::Count(3),            "fewest passes of the pressure in a step"),
        field("max_iterations",   Count(1, 1000),   Need::Count(100),          "most passes of the pressure in a step"),
        field("stress_error",     Between(1e-6, 10.0), Optional,               "change of stress in a pass, over the pressure, at which friction is good enough [-]; only density_error counts if not given"),
        field("prediction",       Word(Prediction::WORDS), Need::Word(Prediction::Rate.word()), "density that the pressure answers: by its rate, or at predicted positions with a prototype's stiffness, as printed"),
        field("correction",       Word(Correction::WORDS), Need::Word(Correction::Displacement.word()), "how inherited compression is undone: by displacements, or by velocities, as printed"),
        field("gradients",        Word(Gradients::WORDS), Need::Word(Gradients::Exact.word()), "exact for linear fields, or plain sums with a prototype's response, as printed"),
        field("friction_iterations", Count(0, 1000), Need::Count(3),           "passes of friction in a step; pcisph has one in each of its own"),
        field("yield",            Word(Yield::WORDS), Need::Word(Yield::Repose.word()), "what the angle of friction means"),
        field("flow_friction",    Between(0.0, 2.0), Need::Number(0.12),       "increase of friction in fast flow, mu_2 - mu_s [-]"),
        field("warm_start",       Flag,             Need::Flag(true),          "whether friction and pressure start from those of the last step"),
        field("integration",      Word(Integration::WORDS), Need::Word(Integration::Euler.word()), "how positions follow velocities"),
        field("drying_time",      Between(1e-6, 1e9), Optional,                "in which sand loses all but 1/e of its water [s]; it never dries if not given"),
        field("wetting_time",     Between(1e-6, 1e9), Optional,                "in which guides that touch share their water [s]; each keeps its own if not given"),
        field("boundary",         Word(Walls::WORDS), Need::Word(Walls::Density.word()), "what guides feel of bodies: a map of what they hold of a kernel, of a ball (guides hover), or particles"),
        field("wall_shear",       Word(WallShear::WORDS), Need::Word(WallShear::Coulomb.word()), "friction of bodies: Coulomb's law, the stress of guides, or the larger of that and a viscosity, as printed"),
        field("wall_viscosity",   Between(0.0, 10.0), Optional,                "of bodies [-]; their friction if not given"),
        field("sound_speed",      Between(1e-3, 1e5), Optional,                "of artificial viscosity [m/s]; ten times what guides fall to if not given"),
        field("sleeping",         Flag,             Need::Flag(true),          "whether sand at rest is left alone until something may move it"),
        field("rest",             Word(Rest::WORDS),  Need::Word(Rest::All.word()), "what sleeps: all guides at once, or each for itself, as printed"),
        field("discrete",         Flag,             Need::Flag(false),         "whether guides of sand too thin for a pressure push each other apart"),
        field("air_density",      Between(0.0, 1e5), Need::Number(0.0),        "of what slows guides down [kg/m³], 1.2041 for air; 0 for nothing"),
        field("air_viscosity",    Between(1e-9, 1e6), Need::Number(1.845e-5),  "of the same [Pa s]"),
        field("wind",             VELOCITY,         Need::Vector([0.0; 3]),    "velocity of the air [m/s]"),
        field("grain_diameter",   Between(1e-7, 10.0), Optional,               "of the grains that a guide stands for [m]: alone it is slowed as they are; as a ball of its own size if not given"),
        field("cfl",              Between(0.01, 0.4), Need::Number(0.2),       "longest way of a guide in a step, of the kernel's radius [-]"),
    ],
    exclusive: &[["substeps", "step"]],
};

/// Radius of the kernel where none is given, in spacings of settled guides [-].
const SUPPORT: f64 = 2.0;

const PRESETS: [Preset; 2] = [
    Preset {
        name: "ihmsen",
        about: "[Ihmsen13]: 1 ms, three passes of PCISPH with friction in each, boundary particles with the greatest dissipation, forces between single guides",
        settings: &[
            ("pressure", Setting::word(Pressure::Pcisph.word())),
            ("step", Setting::Number(1e-3)),
            ("min_iterations", Setting::Count(3)),
            ("max_iterations", Setting::Count(3)),
            ("yield", Setting::word(Yield::Narain.word())),
            ("flow_friction", Setting::Number(0.0)),
            ("prediction", Setting::word(Prediction::Positions.word())),
            ("gradients", Setting::word(Gradients::Plain.word())),
            ("boundary", Setting::word(Walls::Particles.word())),
            ("wall_shear", Setting::word(WallShear::Dissipation.word())),
            ("rest", Setting::word(Rest::Single.word())),
            ("discrete", Setting::Flag(true)),
            ("warm_start", Setting::Flag(false)),
        ],
    },
    Preset {
        name: "neder",
        about: "Neder's thesis: IISPH, then one pass of friction, volume maps, drag of the air",
        settings: &[
            ("pressure", Setting::word(Pressure::Iisph.word())),
            ("min_iterations", Setting::Count(2)),
            ("friction_iterations", Setting::Count(1)),
            ("yield", Setting::word(Yield::Narain.word())),
            ("flow_friction", Setting::Number(0.0)),
            ("gradients", Setting::word(Gradients::Plain.word())),
            ("boundary", Setting::word(Walls::Volume.word())),
            ("wall_shear", Setting::word(WallShear::Stress.word())),
            ("air_density", Setting::Number(1.2041)),
            ("warm_start", Setting::Flag(false)),
        ],
    },
];

const NO_WATER: Unless = Unless::Holds {
    condition: |scene| any(scene, |contact| contact.wetness),
    why: ": no material has `wetness`",
    help: "",
};

const NO_VISCOSITY: Unless = Unless::Holds {
    condition: |scene| {
        any(scene, |contact| contact.viscosity)
            || any(scene, |contact| contact.wet_viscosity)
            || scene.settings.get("wall_shear") == Ok(WallShear::Dissipation)
    },
    why: ": no material has `viscosity`",
    help: "",
};

const NO_AIR: Unless = Unless::Holds {
    condition: |scene| scene.settings.number("air_density") != Some(0.0),
    why: ": there is no air",
    help: "set air_density = 1.2041",
};

#[rustfmt::skip]
const IDLE: &[Idle] = &[
    Idle { key: "friction_iterations", unless: Unless::Word("pressure", &[Pressure::Iisph.word()]) },
    Idle { key: "stress_error",        unless: Unless::Word("pressure", &[Pressure::Pcisph.word()]) },
    Idle { key: "prediction",          unless: Unless::Word("pressure", &[Pressure::Pcisph.word()]) },
    Idle { key: "wall_viscosity",      unless: Unless::Word("wall_shear", &[WallShear::Dissipation.word()]) },
    Idle { key: "drying_time",         unless: NO_WATER },
    Idle { key: "wetting_time",        unless: NO_WATER },
    Idle { key: "sound_speed",         unless: NO_VISCOSITY },
    Idle { key: "air_viscosity",       unless: NO_AIR },
    Idle { key: "wind",                unless: NO_AIR },
    Idle { key: "grain_diameter",      unless: NO_AIR },
];

/// Returns whether a property is above zero in any material of `scene`.
fn any(scene: &Context, property: fn(&ContactProperties) -> Option<f64>) -> bool {
    scene.contacts.iter().filter_map(property).any(|value| value > 0.0)
}

/// Distance from a body up to which guides feel it, of the largest guide's radius [-]: a kernel sees two diameters far.
const BAND: f64 = 4.0;

/// Shortest periodic range, of the largest guide's radius and per spacing of the kernel's radius [-]: twice as far as neighbors are searched for.
const PERIOD: f64 = 5.0;

fn facts(settings: &Settings) -> Facts {
    Facts {
        weight: Weight::Bulk,
        clumps: false,
        continuum: true,
        friction: FrictionMeaning::Bulk,
        bodies: match settings.get("boundary") {
            Ok(Walls::Particles) => BodySurface::Particles,
            Ok(Walls::Density | Walls::Volume) | Err(_) => BodySurface::Distance { band: BAND },
        },
        shortest_period: Some(PERIOD * settings.number("support").unwrap_or(SUPPORT)),
        steepest: STEEPEST,
        guide_bytes: 1400.0,
        passes: Some(Passes {
            most: "max_iterations",
            fewest: Some("min_iterations"),
            label: "most pressure passes",
            ceiling: 100,
        }),
    }
}

fn build(input: &Input, world: &World) -> Result<Box<dyn Solver>, Refusal> {
    let mut settings = SphSettings::read(input.settings, input.frame_rate)?;
    check_sizes(&settings, world)?;
    let each = |property: fn(&ContactProperties) -> f64| input.contacts.iter().map(move |c| property(c) as f32);
    settings.cohesion = each(|c| c.cohesion.unwrap_or_default()).collect();
    let dry = each(|c| c.viscosity.unwrap_or_default());
    let wet = each(|c| c.wet_viscosity.or(c.viscosity).unwrap_or_default());
    settings.viscosity = dry.zip(wet).map(|(dry, wet)| [dry, wet]).collect();
    // Guides are fully wet by default.
    if input.contacts.iter().any(|c| c.wetness.is_some()) {
        settings.wetness = each(|c| c.wetness.unwrap_or(1.0)).collect();
    }
    Ok(Box::new(SphSolver::new(settings, Dynamics::new(world)?)?))
}

/// Refuses guides of too different sizes, and periodic ranges that are shorter than two kernels.
fn check_sizes(settings: &SphSettings, world: &World) -> Result<(), Refusal> {
    let radii = || world.guides.radius.iter().copied();
    let (least, most) = (radii().fold(f32::INFINITY, f32::min), radii().fold(0.0, f32::max));
    if most > MAX_SUPPORT_RATIO * least {
        let factor = most / least;
        return Err(
            format!("guides differ in size by a factor of {factor:.2}; keep radii within a factor of 2").into(),
        );
    }
    let support = f64::from(settings.support) * widest_spacing(world);
    let ranges = world.periodic.iter().flatten();
    match ranges.into_iter().find(|[low, high]| high - low < 2.0 * support) {
        None => Ok(()),
        Some([low, high]) => Err(format!(
            "a periodic range of {:.3e} m is shorter than two kernels of {support:.3e} m: widen it, or make guides smaller",
            high - low
        )
        .into()),
    }
}

/// Side of the cube that holds the share of a guide in the bulk [m], of the largest share.
fn widest_spacing(world: &World) -> f64 {
    let guides = world.guides.mass.iter().zip(&world.guides.material);
    let volumes = guides.map(|(&mass, &m)| f64::from(mass) / world.materials.all[usize::from(m)].density);
    volumes.fold(0.0, f64::max).cbrt()
}

impl SphSettings {
    /// Reads the settings of a scene of `frame_rate` frames per second, except the properties of its materials.
    pub fn read(given: &Settings, frame_rate: f64) -> Result<Self, SettingError> {
        let substeps: Option<f64> = given.get("substeps")?;
        let wind: [f64; 3] = given.get("wind")?;
        let air = Air {
            density: given.get("air_density")?,
            viscosity: given.get("air_viscosity")?,
            wind: wind.map(|x| x as f32).into(),
            particle_diameter: given.get("grain_diameter")?,
        };
        Ok(Self {
            step: substeps.map(|n| 1.0 / (frame_rate * n)).or(given.get("step")?),
            step_divisor: given.get("step_divisor")?,
            support: given.get("support")?,
            pressure: given.get("pressure")?,
            integration: given.get("integration")?,
            density_error: given.get("density_error")?,
            iterations: [given.get("min_iterations")?, given.get("max_iterations")?],
            stress_error: given.get("stress_error")?,
            prediction: given.get("prediction")?,
            correction: given.get("correction")?,
            gradients: given.get("gradients")?,
            friction_iterations: given.get("friction_iterations")?,
            convention: given.get("yield")?,
            flow_friction: given.get("flow_friction")?,
            warm_start: given.get("warm_start")?,
            walls: given.get("boundary")?,
            wall_shear: given.get("wall_shear")?,
            wall_viscosity: given.get("wall_viscosity")?,
            cohesion: Vec::new(),
            viscosity: Vec::new(),
            wetness: Vec::new(),
            drying_time: given.get("drying_time")?,
            wetting_time: given.get("wetting_time")?,
            sound_speed: given.get("sound_speed")?,
            sleeping: given.get("sleeping")?,
            rest: given.get("rest")?,
            discrete: given.get("discrete")?,
            air: (air.density > 0.0).then_some(air),
            cfl: given.get("cfl")?,
        })
    }
}

impl Default for SphSettings {
    /// Those of [`SPEC`].
    fn default() -> Self {
        Self::read(&SPEC.defaults(), 1.0).expect("every setting that must be given has a default")
    }
}
