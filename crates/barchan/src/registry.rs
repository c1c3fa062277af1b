//! Every solver by name: connects solvers and scenes.

use barchan_refine::{GrainRefiner, Mode, RefineError, RefineSettings, Seeding, Source};
use barchan_scene::{Diagnostic, Fill, FillSource, Refine, Scene};
use barchan_world::spec::{Input, Refusal, SolverSpec};
use barchan_world::{ContactProperties, Material, Motion, Solver, World};
use thiserror::Error;

use crate::clumps;

/// Every solver; the first is the default. A new one is a crate and a line here.
pub static SOLVERS: &[&SolverSpec] = &[&barchan_pbd::SPEC, &barchan_sph::SPEC, &barchan_dem::SPEC];

/// A solver that rejected its settings or the world.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("solver `{name}`: {reason}")]
pub struct SolverError {
    /// Name of the solver.
    pub name: &'static str,
    /// Reason.
    pub reason: String,
}

/// Angle [deg] above the steepest heap of a solver at which a warning is given: heaps scatter, and papers ask for a
/// little more.
const ANGLE_TOLERANCE: f64 = 5.0;

/// Warns about requests that the solver of `scene` cannot fulfill.
pub fn doubts(scene: &Scene) -> Vec<Diagnostic> {
    let (name, steepest) = (scene.solver.name, scene.facts().steepest);
    let all = scene.materials.all.iter();
    let steep = all.filter(|material| {
        material
            .angle_of_repose
            .is_some_and(|angle| angle.to_degrees() > steepest + ANGLE_TOLERANCE)
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

/// Returns the key that specifies the slope of a material's heaps.
fn slope_key(scene: &Scene, material: &Material) -> &'static str {
    let whole = scene.span(&["materials", &material.name]);
    let is_written = |key: &&str| scene.span(&["materials", &material.name, key]) != whole;
    ["angle_of_repose", "friction"]
        .into_iter()
        .find(is_written)
        .unwrap_or("angle_of_repose")
}

/// Warns about rolling friction together with an angle of repose: it takes effect, so the calibration of the angle does
/// not hold.
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
    match scene.solver.reads("rolling_friction") {
        true => materials.filter_map(warning).collect(),
        false => Vec::new(),
    }
}

/// Creates the solver of `scene`, ready to move `world`.
pub fn solver(scene: &Scene, world: &World) -> Result<Box<dyn Solver>, SolverError> {
    let input = Input {
        settings: &scene.solver_settings,
        frame_rate: scene.frame_rate,
        contacts: &scene.contacts,
        clumps: match scene.facts().clumps {
            true => clumps::of_scene(scene, world),
            false => Vec::new(),
        },
        has_dynamic_bodies: scene.bodies.iter().any(|body| matches!(body.motion, Motion::Dynamic)),
    };
    let refused = |refusal: Refusal| SolverError {
        name: scene.solver.name,
        reason: refusal.to_string(),
    };
    let words = scene.solver_settings.check_words(&scene.solver.settings);
    words.map_err(|error| refused(error.into()))?;
    let mut solver = (scene.solver.build)(&input, world).map_err(refused)?;
    if (scene.output.contacts || scene.output.fields) && !solver.record_contacts() {
        return Err(SolverError {
            name: scene.solver.name,
            reason: "it keeps no contacts: take dem, or remove `contacts` and `fields` from output.cache".to_owned(),
        });
    }
    Ok(solver)
}

/// Rejects settings, materials and sizes of guides that the solver of `scene` would reject, wherever guides and bodies
/// are.
pub fn check_settings(scene: &Scene) -> Result<(), SolverError> {
    let mut bare = scene.clone();
    bare.fills.clear();
    solver(&bare, &scene.sample()).map(drop)
}

/// Rejects bodies of `world` that the solver of `scene` would reject; `world` receives the guides of [`Scene::sample`].
pub(crate) fn check_bodies(scene: &Scene, world: &mut World) -> Result<(), SolverError> {
    let mut bare = scene.clone();
    bare.fills.clear();
    world.guides = scene.sample().guides;
    solver(&bare, world).map(drop)
}

/// Converts the refinement settings of a scene.
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

/// Creates the grains of `scene`, in `world` as it is at time 0.
///
/// Reports the completed share, 0 to 1, to `progress`.
pub fn refiner(
    scene: &Scene,
    world: &World,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<GrainRefiner>, RefineError> {
    let Some(refine) = &scene.refine else { return Ok(None) };
    let ends = world.fill_ends.iter().copied();
    let starts = [0].into_iter().chain(ends.clone());
    // Settled sand is no longer in its shape.
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
