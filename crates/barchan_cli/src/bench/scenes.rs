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
    grain_ms: f64,
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
            grain_ms,
            hardware: SOMMER,
        },
    }
}

const fn bulldozer(overrides: &'static [&'static str], grain_ms: f64) -> Case {
    Case {
        scene: "bulldozer",
        overrides,
        flowing: 40..60,
        runs: 1,
        paper: Paper {
            guide_ms: 1400.0,
            grain_ms,
            hardware: IHMSEN,
        },
    }
}

const CASES: [Case; 6] = [
    case("sandcastle", 60..180, 9.75, 7.31),
    case("excavator", 60..180, 21.4, 11.2),
    case("hourglass", 60..180, 47.4, 48.5),
    case("squirrel", 20..80, 33.0, 15.8),
    bulldozer(&[], 1100.0),
    bulldozer(&["refine.per_guide=510", "refine.radius=0.0025"], 9600.0),
];

/// Names of the scenes.
pub const NAMES: &[&str] = &["sandcastle", "excavator", "hourglass", "squirrel", "bulldozer"];

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
        "grain_step_ms": run.grain_ms / f64::from(run.steps),
        "grain_step_ms_of_runs": all,
        "grain_updates_per_s": run.updates / (1e-3 * run.grain_ms),
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
