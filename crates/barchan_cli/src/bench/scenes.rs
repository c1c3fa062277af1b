//! The papers' scenes at the papers' counts, guides and grains, beside the papers' figures.

use std::collections::BTreeMap;
use std::ops::Range;

use barchan::scene::{Scene, built_in, parse_scene};
use barchan::{Simulation, SimulationError};
use serde_json::json;

use super::Printer;
use crate::memory;

/// Published figures of a scene, per frame.
struct Paper {
    guide_ms: f64,
    /// Time of the grains, if the scene has any.
    grain_ms: Option<f64>,
    hardware: &'static str,
}

/// A scene, its overrides, and the frames in which its sand flows.
struct Case {
    scene: &'static str,
    overrides: &'static [&'static str],
    flowing: Range<u64>,
    /// Runs, of which the one with the fastest grains counts: other load on a shared machine only slows runs down.
    runs: usize,
    paper: Paper,
}

const SOMMER: &str = "Sommer et al. 2022: Core i9-9980HK, 8 cores";
const IHMSEN: &str = "Ihmsen et al. 2013: i7 3.46 GHz, 12 cores";
const BELL: &str = "Bell et al. 2005: 3 GHz class PC";

/// Sommer's time step and iterations for the guides.
const SOMMER_STEP: &[&str] = &[
    "solver.pbd.step=0.005",
    "solver.pbd.iterations=4",
    "solver.pbd.stabilization_iterations=1",
];

const fn case(scene: &'static str, flowing: Range<u64>, guide_ms: f64, grain_ms: f64) -> Case {
    Case {
        scene,
        overrides: SOMMER_STEP,
        flowing,
        runs: 3,
        paper: Paper {
            guide_ms,
            grain_ms: Some(grain_ms),
            hardware: SOMMER,
        },
    }
}

/// A scene of Ihmsen's, with times in seconds.
const fn ihmsen(
    scene: &'static str,
    overrides: &'static [&'static str],
    flowing: Range<u64>,
    seconds: f64,
    grains: Option<f64>,
) -> Case {
    Case {
        scene,
        overrides,
        flowing,
        runs: 1,
        paper: Paper {
            guide_ms: 1e3 * seconds,
            grain_ms: match grains {
                Some(seconds) => Some(1e3 * seconds),
                None => None,
            },
            hardware: IHMSEN,
        },
    }
}

/// A scene of Bell's, with times in minutes.
const fn bell(scene: &'static str, overrides: &'static [&'static str], flowing: Range<u64>, minutes: f64) -> Case {
    Case {
        scene,
        overrides,
        flowing,
        runs: 1,
        paper: Paper {
            guide_ms: 60e3 * minutes,
            grain_ms: None,
            hardware: BELL,
        },
    }
}

const CASES: [Case; 20] = [
    case("sandcastle", 60..180, 9.75, 7.31),
    case("excavator", 60..180, 21.4, 11.2),
    case("hourglass", 60..180, 47.4, 48.5),
    case("squirrel", 20..80, 33.0, 15.8),
    ihmsen("bulldozer", &[], 40..60, 1.4, Some(1.1)),
    ihmsen(
        "bulldozer",
        &["refine.per_guide=510", "refine.radius=0.0025"],
        40..60,
        1.4,
        Some(9.6),
    ),
    ihmsen(
        "spheres",
        &["refine.per_guide=118", "refine.radius=0.0041"],
        20..40,
        3.1,
        Some(5.8),
    ),
    ihmsen(
        "splash",
        &["refine.per_guide=250", "refine.radius=0.0032"],
        20..40,
        2.9,
        Some(10.3),
    ),
    ihmsen("piles", &[], 780..800, 1.6, None),
    ihmsen(
        "ladder",
        &["refine.per_guide=125", "refine.radius=0.0031"],
        290..310,
        4.6,
        Some(8.3),
    ),
    ihmsen("slope-55", &[], 100..120, 0.3, None),
    ihmsen("slope-55", &["emitter.0.radius=0.025"], 100..110, 2.6, None),
    ihmsen(
        "slope-55",
        &["emitter.0.radius=0.0125", "solver.sph.step=0.0001"],
        100..102,
        98.0,
        None,
    ),
    ihmsen(
        "slope-55",
        &["refine.radius=0.0111", "refine.seeding=support"],
        100..120,
        0.3,
        Some(0.8),
    ),
    bell("hourglass-clumps", &[], 60..66, 3.18),
    bell("rings", &[], 60..66, 3.73),
    bell("rings", &["materials.plastic.friction=0.6"], 60..66, 3.09),
    bell("splash-clumps", &[], 30..36, 3.41),
    bell("avalanche", &[], 60..66, 26.40),
    bell("bulldozer-clumps", &[], 60..66, 17.40),
];

/// Names of the scenes that are measured unless others are named.
pub const NAMES: &[&str] = &["sandcastle", "excavator", "hourglass", "squirrel", "bulldozer"];

/// Names of the others, which take hours.
pub const LONG: &[&str] = &[
    "spheres",
    "splash",
    "piles",
    "ladder",
    "slope-55",
    "hourglass-clumps",
    "rings",
    "splash-clumps",
    "avalanche",
    "bulldozer-clumps",
];

/// Measures the scene of that name.
pub fn run(name: &str, printer: &mut Printer) {
    for case in CASES.iter().filter(|case| case.scene == name) {
        measure(case, printer);
    }
}

/// Timings of a run over its flowing frames.
#[derive(Default)]
struct Run {
    guide_ms: f64,
    grain_ms: f64,
    steps: u32,
    updates: f64,
    stages: BTreeMap<&'static str, f64>,
    guides: usize,
    grains: usize,
}

fn run_once(scene: &Scene, flowing: &Range<u64>) -> Result<Run, SimulationError> {
    let mut simulation = Simulation::new(scene)?;
    let mut run = Run::default();
    while simulation.frame_number() < flowing.end {
        simulation.advance()?;
        if simulation.frame_number() > flowing.start {
            let report = simulation.refine_report();
            run.guides = simulation.world().guides.len();
            run.grains = grains(&simulation);
            run.guide_ms += simulation.guide_ms();
            run.grain_ms += simulation.grain_ms();
            run.steps += report.steps;
            run.updates += f64::from(report.steps) * run.grains as f64;
            for &(stage, seconds) in &report.stages {
                *run.stages.entry(stage).or_default() += 1e3 * seconds;
            }
        }
    }
    Ok(run)
}

fn measure(case: &Case, printer: &mut Printer) {
    memory::reset_peak();
    let document = built_in(case.scene).expect("a built-in scene");
    let document = case.overrides.iter().fold(document, |d, o| d.with(*o));
    let (scene, _) = parse_scene(&document).expect("built-in scenes are good");
    let runs: Result<Vec<Run>, _> = (0..case.runs).map(|_| run_once(&scene, &case.flowing)).collect();
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => return tell!("{}: {error}", case.scene),
    };
    let all: Vec<f64> = runs.iter().map(|run| run.grain_ms / f64::from(run.steps)).collect();
    let Some(run) = runs.into_iter().min_by(|a, b| a.grain_ms.total_cmp(&b.grain_ms)) else {
        return;
    };
    let frames = (case.flowing.end - case.flowing.start) as f64;
    let stages: BTreeMap<&str, f64> = run.stages.iter().map(|(stage, sum)| (*stage, sum / frames)).collect();
    printer.row(&json!({
        "name": format!("{} {}", case.scene, run.grains),
        "scene": case.scene,
        "threads": rayon::current_num_threads(),
        "guides": run.guides,
        "grains": run.grains,
        "guide_ms": run.guide_ms / frames,
        "grain_ms": run.grain_ms / frames,
        "grain_step_ms": (run.steps > 0).then(|| run.grain_ms / f64::from(run.steps)),
        "grain_step_ms_of_runs": (run.steps > 0).then_some(all),
        "grain_updates_per_s": (run.steps > 0).then(|| run.updates / (1e-3 * run.grain_ms)),
        "peak_bytes": memory::peak(),
        "grain_stages_ms": stages,
        "paper_guide_ms": case.paper.guide_ms,
        "paper_grain_ms": case.paper.grain_ms,
        "paper_hardware": case.paper.hardware,
    }));
}

fn grains(simulation: &Simulation) -> usize {
    simulation.refiner().map_or(0, |refiner| refiner.grains().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_scene_with_its_overrides_and_has_a_name_to_be_called_by() {
        for case in &CASES {
            let document = built_in(case.scene).unwrap_or_else(|| panic!("no scene {}", case.scene));
            let document = case.overrides.iter().fold(document, |d, o| d.with(*o));
            let (scene, _) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
            assert!(
                case.flowing.end <= scene.frames(),
                "{}: {} frames",
                case.scene,
                scene.frames()
            );
            assert!(
                case.paper.grain_ms.is_none() || scene.refine.is_some(),
                "{}",
                case.scene
            );
            let calls = NAMES.iter().chain(LONG).filter(|name| **name == case.scene);
            assert_eq!(calls.count(), 1, "{}", case.scene);
        }
    }
}
