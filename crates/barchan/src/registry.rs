//! Every solver by name: the one place where solvers and scenes meet.

use barchan_bodies::Dynamics;
use barchan_dem::{Contact, DemSettings, DemSolver, Integrator, NormalLaw, ShearLaw};
use barchan_pbd::{FrictionMode, PbdSettings, PbdSolver, Rigid, Splitting};
use barchan_refine::{GrainRefiner, Mode, RefineError, RefineSettings, Seeding, Source};
use barchan_scene::{ContactProperties, Diagnostic, Fill, FillSource, Refine, Scene, Settings};
use barchan_sph::{Air, Integration, Pressure, SphSettings, SphSolver, Walls, Yield};
use barchan_world::{Material, Motion, Solver, World};
use thiserror::Error;

use crate::clumps;

/// A solver that could not be made.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolverError {
    /// No solver of that name.
    #[error("there is no solver `{name}`; there are: {}", names())]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// It refused its settings or the world.
    #[error("solver `{name}`: {reason}")]
    Refused {
        /// Which solver.
        name: &'static str,
        /// Why.
        reason: String,
    },
}

type Build = fn(&Scene, &World) -> Result<Box<dyn Solver>, SolverError>;

/// A solver: how it is made, and what others must know of it.
struct Line {
    name: &'static str,
    build: Build,
    /// Memory per guide of a run, frames being written included [bytes], as measured with 67,600 and 198,927 guides.
    guide_bytes: f64,
    /// Steepest heap [deg] that its guides hold.
    steepest: f64,
}

/// Every solver. A new one is a crate and a line here.
#[rustfmt::skip]
const SOLVERS: &[Line] = &[
    Line { name: "pbd", build: pbd, guide_bytes: 1400.0, steepest: barchan_pbd::STEEPEST },
    Line { name: "sph", build: sph, guide_bytes: 1400.0, steepest: barchan_sph::STEEPEST },
    Line { name: "dem", build: dem, guide_bytes: 500.0,  steepest: barchan_dem::STEEPEST },
];

fn names() -> String {
    SOLVERS.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
}

fn line(name: &str) -> Result<&'static Line, SolverError> {
    let found = SOLVERS.iter().find(|s| s.name == name);
    found.ok_or_else(|| SolverError::Unknown { name: name.to_owned() })
}

/// Memory per guide of a run with `solver` [bytes].
pub(crate) fn guide_bytes(solver: &str) -> f64 {
    line(solver).map_or(0.0, |line| line.guide_bytes)
}

/// Angle [deg] beyond the steepest heap that is warned of: heaps scatter, and papers ask for a little more.
const STEEPER: f64 = 5.0;

/// Warns of what the solver of `scene` cannot do as asked.
pub fn doubts(scene: &Scene) -> Vec<Diagnostic> {
    let Ok(Line { name, steepest, .. }) = line(&scene.solver) else {
        return Vec::new();
    };
    let all = scene.materials.all.iter();
    let steep = all.filter(|material| {
        material
            .angle_of_repose
            .is_some_and(|angle| angle.to_degrees() > steepest + STEEPER)
    });
    let warning = |material: &Material| {
        let message = format!(
            "{name} holds heaps of up to about {steepest}°: those of `{}` will be flatter",
            material.name
        );
        let help = match slope_key(scene, material) {
            "friction" => format!(
                "set `friction` to at most {:.2}, or take another solver",
                steepest.to_radians().tan()
            ),
            _ => format!("set `angle_of_repose` to at most {steepest}, or take another solver"),
        };
        scene.warning(
            &["materials", &material.name, slope_key(scene, material)],
            message,
            &help,
        )
    };
    let mut found: Vec<Diagnostic> = steep.map(warning).collect();
    found.extend(rolling_doubts(scene));
    found
}

/// The key by which the slope of a material's heaps is given.
fn slope_key(scene: &Scene, material: &Material) -> &'static str {
    let whole = scene.span(&["materials", &material.name]);
    let is_written = |key: &&str| scene.span(&["materials", &material.name, key]) != whole;
    ["angle_of_repose", "friction"]
        .into_iter()
        .find(is_written)
        .unwrap_or("angle_of_repose")
}

/// Warns of rolling friction beside an angle of repose: it counts, so the calibration of the angle does not hold.
fn rolling_doubts(scene: &Scene) -> Vec<Diagnostic> {
    let materials = scene.materials.all.iter().zip(&scene.contacts);
    let warning = |(material, contact): (&Material, &ContactProperties)| {
        let (degrees, rolling) = (material.angle_of_repose?.to_degrees(), contact.rolling_friction?);
        let message = format!(
            "heaps of `{}` will not rest at {degrees:.0}°: `rolling_friction` = {rolling} replaces that of `angle_of_repose`",
            material.name
        );
        let path = ["materials", &material.name, "rolling_friction"];
        Some(scene.warning(
            &path,
            message,
            "leave `rolling_friction` out, or give `friction` instead of the angle",
        ))
    };
    match scene.solver.as_str() {
        "dem" => materials.filter_map(warning).collect(),
        _ => Vec::new(),
    }
}

/// The solver that `scene` asks for, ready to move `world`.
pub fn solver(scene: &Scene, world: &World) -> Result<Box<dyn Solver>, SolverError> {
    (line(&scene.solver)?.build)(scene, world)
}

/// Refuses what the solver of `scene` would of its settings, materials and sizes of guides, wherever guides and bodies are.
pub fn check_settings(scene: &Scene) -> Result<(), SolverError> {
    let mut bare = scene.clone();
    bare.fills.clear();
    solver(&bare, &scene.sample()).map(drop)
}

/// Refuses what the solver of `scene` would of the bodies of `world`, which gets the guides of [`Scene::sample`].
pub(crate) fn check_bodies(scene: &Scene, world: &mut World) -> Result<(), SolverError> {
    let mut bare = scene.clone();
    bare.fills.clear();
    world.guides = scene.sample().guides;
    solver(&bare, world).map(drop)
}

fn pbd(scene: &Scene, world: &World) -> Result<Box<dyn Solver>, SolverError> {
    let refused = |reason: String| SolverError::Refused { name: "pbd", reason };
    let settings = pbd_settings(&scene.solver_settings, scene.frame_rate);
    let mut bodies = Dynamics::new(world).map_err(|error| refused(error.to_string()))?;
    if settings.rigid == Rigid::ShapeMatching {
        bodies = bodies.shape_matched();
    }
    let solver = PbdSolver::new(settings, bodies).map_err(|error| refused(error.to_string()))?;
    Ok(Box::new(solver))
}

fn pbd_settings(given: &Settings, frame_rate: f64) -> PbdSettings {
    let defaults = PbdSettings::default();
    let count = |name: &str, default: u32| given.count(name).map_or(default, |n| n as u32);
    let number = |name: &str, default: f32| given.number(name).map_or(default, |x| x as f32);
    let step = given.number("step");
    let substeps = given.number("substeps").map(|n| 1.0 / (frame_rate * n));
    PbdSettings {
        step: substeps.or(step).or(defaults.step),
        step_divisor: count("step_divisor", defaults.step_divisor),
        iterations: count("iterations", defaults.iterations),
        stabilisation: count("stabilization_iterations", defaults.stabilisation),
        friction: match given.word("friction") {
            Some("sommer") => FrictionMode::Sommer,
            Some("macklin") => FrictionMode::Macklin,
            _ => FrictionMode::Accumulated,
        },
        splitting: match given.word("splitting") {
            Some("average") => Splitting::Average,
            _ => Splitting::Mass,
        },
        memory: given.flag("memory").unwrap_or(defaults.memory),
        mass_scaling: number("mass_scaling", defaults.mass_scaling),
        cfl: number("cfl", defaults.cfl),
        relaxation: number("relaxation", defaults.relaxation),
        velocity_clamp: number("velocity_clamp", defaults.velocity_clamp),
        rigid: match given.word("rigid") {
            Some("shape_matching") => Rigid::ShapeMatching,
            _ => Rigid::True,
        },
        sleeping: given.flag("sleeping").unwrap_or(defaults.sleeping),
    }
}

fn sph(scene: &Scene, world: &World) -> Result<Box<dyn Solver>, SolverError> {
    let refused = |reason: String| SolverError::Refused { name: "sph", reason };
    let radii = || world.guides.radius.iter().copied();
    let (least, most) = (radii().fold(f32::INFINITY, f32::min), radii().fold(0.0, f32::max));
    if most > barchan_sph::WIDEST * least {
        let reason = format!(
            "guides differ in size by a factor of {:.2}; keep radii within a factor of 2",
            most / least
        );
        return Err(refused(reason));
    }
    let mut settings = sph_settings(&scene.solver_settings, scene.frame_rate);
    let support = f64::from(settings.support) * widest_spacing(world);
    let ranges = world.periodic.iter().flatten();
    if let Some([low, high]) = ranges.into_iter().find(|[low, high]| high - low < 2.0 * support) {
        return Err(refused(format!(
            "a periodic range of {:.3e} m is shorter than two kernels of {support:.3e} m: widen it, or make guides smaller",
            high - low
        )));
    }
    let cohesion = scene.contacts.iter().map(|c| c.cohesion.unwrap_or_default() as f32);
    settings.cohesion = cohesion.collect();
    let viscosity = |c: &ContactProperties| {
        let dry = c.viscosity.unwrap_or_default();
        [dry as f32, c.wet_viscosity.unwrap_or(dry) as f32]
    };
    // Guides of which nothing is said are as wet as they can be.
    if scene.contacts.iter().any(|c| c.wetness.is_some()) {
        let wetness = scene.contacts.iter().map(|c| c.wetness.unwrap_or(1.0) as f32);
        settings.wetness = wetness.collect();
    }
    settings.viscosity = scene.contacts.iter().map(viscosity).collect();
    let bodies = Dynamics::new(world).map_err(|error| refused(error.to_string()))?;
    let solver = SphSolver::new(settings, bodies).map_err(|error| refused(error.to_string()))?;
    Ok(Box::new(solver))
}

/// Side of the cube that holds the share of a guide in the bulk [m], of the largest share.
fn widest_spacing(world: &World) -> f64 {
    let guides = world.guides.mass.iter().zip(&world.guides.material);
    let volumes = guides.map(|(&mass, &m)| f64::from(mass) / world.materials.all[usize::from(m)].density);
    volumes.fold(0.0, f64::max).cbrt()
}

fn sph_settings(given: &Settings, frame_rate: f64) -> SphSettings {
    let defaults = SphSettings::default();
    let count = |name: &str, default: u32| given.count(name).map_or(default, |n| n as u32);
    let number = |name: &str, default: f32| given.number(name).map_or(default, |x| x as f32);
    let substeps = given.number("substeps").map(|n| 1.0 / (frame_rate * n));
    let convention = given
        .word("yield")
        .and_then(|word| Yield::ALL.iter().find(|y| y.0 == word));
    SphSettings {
        step: substeps.or(given.number("step")).or(defaults.step),
        step_divisor: count("step_divisor", defaults.step_divisor),
        support: number("support", defaults.support),
        pressure: match given.word("pressure") {
            Some("pcisph") => Pressure::Pcisph,
            _ => Pressure::Iisph,
        },
        density_error: number("density_error", defaults.density_error),
        iterations: [
            count("min_iterations", defaults.iterations[0]),
            count("max_iterations", defaults.iterations[1]),
        ],
        friction_iterations: count("friction_iterations", defaults.friction_iterations),
        convention: convention.map_or(defaults.convention, |y| y.1),
        flow_friction: number("flow_friction", defaults.flow_friction),
        integration: named(given, "integration", Integration::ALL),
        warm_start: given.flag("warm_start").unwrap_or(defaults.warm_start),
        drying_time: given.number("drying_time").map(|x| x as f32),
        wetting_time: given.number("wetting_time").map(|x| x as f32),
        walls: named(given, "boundary", Walls::ALL),
        sound_speed: given.number("sound_speed").map(|x| x as f32),
        sleeping: given.flag("sleeping").unwrap_or(defaults.sleeping),
        discrete: given.flag("discrete").unwrap_or(defaults.discrete),
        air: air(given),
        cfl: number("cfl", defaults.cfl),
        ..defaults
    }
}

/// What sand falls through, if it is there.
fn air(given: &Settings) -> Option<Air> {
    let number = |name: &str| given.number(name).map(|x| x as f32);
    let density = number("air_density").filter(|&density| density > 0.0)?;
    Some(Air {
        density,
        viscosity: number("air_viscosity")?,
        wind: given.vector("wind")?.map(|x| x as f32).into(),
        grain: number("grain_diameter"),
    })
}

fn dem(scene: &Scene, world: &World) -> Result<Box<dyn Solver>, SolverError> {
    let refused = |reason: String| SolverError::Refused { name: "dem", reason };
    let bodies = Dynamics::new(world).map_err(|error| refused(error.to_string()))?;
    let solver =
        DemSolver::new(dem_settings(scene, world), bodies, world).map_err(|error| refused(error.to_string()))?;
    Ok(Box::new(solver))
}

fn dem_settings(scene: &Scene, world: &World) -> DemSettings {
    let given = &scene.solver_settings;
    let defaults = DemSettings::default();
    let number = |name: &str, default: f64| given.number(name).unwrap_or(default);
    // What falls on few grains with the mass of many must not go through them.
    let is_struck = scene.bodies.iter().any(|body| matches!(body.motion, Motion::Dynamic));
    let contact = |said: &ContactProperties| {
        let usual = if is_struck {
            Contact::struck()
        } else {
            Contact::default()
        };
        Contact {
            youngs_modulus: said.youngs_modulus.unwrap_or(usual.youngs_modulus),
            poisson_ratio: said.poisson_ratio.unwrap_or(usual.poisson_ratio),
            restitution: said.restitution.unwrap_or(usual.restitution),
            rolling_friction: said.rolling_friction,
            liquid: said.liquid.unwrap_or(usual.liquid),
            surface_tension: said.surface_tension.unwrap_or(usual.surface_tension),
            contact_angle: said.contact_angle.unwrap_or(usual.contact_angle),
            cohesion: said.cohesion.unwrap_or(usual.cohesion),
        }
    };
    let young = given.number("body_youngs_modulus");
    let (ids, clumps): (Vec<_>, Vec<_>) = clumps::of_scene(scene, world).into_iter().unzip();
    let clumped = ids.into_iter().zip(0..).collect();
    DemSettings {
        step: given.number("step"),
        step_divisor: given.count("step_divisor").map_or(defaults.step_divisor, |n| n as u32),
        steps_per_contact: number("steps_per_contact", defaults.steps_per_contact),
        integrator: named(given, "integrator", Integrator::ALL),
        tolerance: number("tolerance", defaults.tolerance),
        normal: named(given, "normal", NormalLaw::ALL),
        shear: named(given, "shear", ShearLaw::ALL),
        reference_speed: number("reference_speed", defaults.reference_speed),
        duration: given.number("duration"),
        shear_viscosity: given.number("shear_viscosity"),
        contacts: scene.contacts.iter().map(contact).collect(),
        bodies: young.map(|young| [young, number("body_poisson_ratio", 0.3)]),
        clumps,
        clumped,
    }
}

/// What the word `name` means, or the default.
fn named<T: Copy + Default>(given: &Settings, name: &str, all: &[(&str, T)]) -> T {
    let word = given.word(name);
    all.iter()
        .find(|entry| Some(entry.0) == word)
        .map_or(T::default(), |entry| entry.1)
}

/// How `scene` wants its grains.
pub fn refine_settings(refine: &Refine, seed: u64) -> RefineSettings {
    let given = &refine.settings;
    let defaults = RefineSettings::new(refine.radii.clone());
    let mode = given
        .word("mode")
        .and_then(|word| Mode::ALL.iter().find(|m| m.0 == word));
    RefineSettings {
        mode: mode.map_or(defaults.mode, |m| m.1),
        step: given.number("step").unwrap_or(defaults.step),
        seeding: match given.word("seeding") {
            Some("support") => Seeding::Support,
            _ => Seeding::Volume,
        },
        packing: refine.packing,
        per_guide: given.count("per_guide").map(|n| n as u32),
        spread: given.flag("spread").unwrap_or(defaults.spread),
        repel: given.flag("repel").unwrap_or(defaults.repel),
        seed,
        ..defaults
    }
}

/// The grains that `scene` asks for, in `world` as it is at time 0.
///
/// Reports the share done, 0 to 1, to `progress`.
pub fn refiner(
    scene: &Scene,
    world: &World,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<GrainRefiner>, RefineError> {
    let Some(refine) = &scene.refine else { return Ok(None) };
    let ends = world.fill_ends.iter().copied();
    let starts = [0].into_iter().chain(ends.clone());
    // What settled is no longer in its shape.
    let settled = scene.settle() > 0.0;
    let source = |(fill, ids): (&Fill, std::ops::Range<u32>)| match &fill.source {
        FillSource::Shape { .. } if settled => Source::Guides(ids),
        FillSource::Shape { shape, packing, .. } => Source::Shape {
            shape: shape.clone(),
            packing: *packing,
            material: fill.material,
            velocity: fill.velocity.as_vec3(),
        },
        FillSource::Points(_) => Source::Points(ids),
    };
    let ids = starts.zip(ends).map(|(start, end)| start..end);
    let sources: Vec<Source> = scene.fills.iter().zip(ids).map(source).collect();
    GrainRefiner::watched(refine_settings(refine, scene.seed), world, &sources, progress).map(Some)
}
