//! The papers' scenes at the papers' counts, guides and grains, beside the papers' figures.

use std::collections::BTreeMap;
use std::ops::Range;

use barchan::Simulation;
use barchan::scene::{built_in, parse_scene};
use serde_json::json;

use super::Printer;
use crate::memory;

/// What a paper says of a scene, a frame.
struct Paper {
    guide_ms: f64,
    grain_ms: f64,
    hardware: &'static str,
}

/// A scene, what is changed in it, and the frames in which its sand flows.
struct Case {
    scene: &'static str,
    overrides: &'static [&'static str],
    flowing: Range<u64>,
    paper: Paper,
}

const SOMMER: &str = "Sommer et al. 2022: Core i9-9980HK, 8 cores";
const IHMSEN: &str = "Ihmsen et al. 2013: i7 3.46 GHz, 12 cores";

/// Sommer's time step and passes for the guides.
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

fn measure(case: &Case, printer: &mut Printer) {
    memory::reset_peak();
    let document = built_in(case.scene).expect("a built-in scene");
    let document = case.overrides.iter().fold(document, |d, o| d.with(*o));
    let (scene, _) = parse_scene(&document).expect("built-in scenes are good");
    let mut simulation = match Simulation::new(&scene) {
        Ok(simulation) => simulation,
        Err(error) => return eprintln!("{}: {error}", case.scene),
    };
    let (mut guide_ms, mut grain_ms, mut steps, mut updates) = (0.0, 0.0, 0, 0.0);
    let mut stages: BTreeMap<&str, f64> = BTreeMap::new();
    while simulation.frame_number() < case.flowing.end {
        if let Err(error) = simulation.advance() {
            return eprintln!("{}: {error}", case.scene);
        }
        if simulation.frame_number() > case.flowing.start {
            let report = simulation.refine_report();
            guide_ms += simulation.guide_ms();
            grain_ms += simulation.grain_ms();
            steps += report.steps;
            updates += f64::from(report.steps) * grains(&simulation) as f64;
            for &(stage, seconds) in &report.stages {
                *stages.entry(stage).or_default() += 1e3 * seconds;
            }
        }
    }
    let frames = (case.flowing.end - case.flowing.start) as f64;
    let stages: BTreeMap<&str, f64> = stages.into_iter().map(|(stage, sum)| (stage, sum / frames)).collect();
    printer.row(&json!({
        "name": format!("{} {}", case.scene, grains(&simulation)),
        "scene": case.scene,
        "threads": rayon::current_num_threads(),
        "guides": simulation.world().guides.len(),
        "grains": grains(&simulation),
        "guide_ms": guide_ms / frames,
        "grain_ms": grain_ms / frames,
        "grain_step_ms": grain_ms / f64::from(steps),
        "grain_updates_per_s": updates / (1e-3 * grain_ms),
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
