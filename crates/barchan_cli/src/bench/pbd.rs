//! Sommer's four scenes at Sommer's counts, and a large block, with PBD.

use std::collections::BTreeMap;
use std::ops::Range;

use barchan::scene::{Document, Scene, built_in, parse_scene};
use barchan::{Simulation, SimulationError};
use barchan_validate::{Options, validate};
use serde_json::json;

use super::Printer;
use crate::memory;

/// A scene, the paper's milliseconds per frame on 8 cores, and the frames in which its sand flows.
const PAPER: [(&str, f64, Range<u64>); 4] = [
    ("sandcastle", 9.75, 60..180),
    ("excavator", 21.4, 60..180),
    ("hourglass", 47.4, 60..180),
    ("squirrel", 33.0, 20..80),
];

/// The paper's time step and iterations; the defaults; the defaults without sleeping.
const SETTINGS: [(&str, &[&str]); 3] = [
    (
        "paper",
        &[
            "solver.pbd.step=0.005",
            "solver.pbd.iterations=4",
            "solver.pbd.stabilization_iterations=1",
        ],
    ),
    ("default", &[]),
    ("sleepless", &["solver.pbd.sleeping=false"]),
];

/// Runs per row, of which the fastest counts: other load on a shared machine only slows runs down.
const RUNS: usize = 3;

pub fn run(printer: &mut Printer) {
    let angles = SETTINGS.map(|(_, overrides)| printer.angles.then(|| angle(overrides)).flatten());
    for (scene, paper_ms, flowing) in PAPER {
        for ((kind, overrides), angle) in SETTINGS.into_iter().zip(angles) {
            let settings = Settings { kind, overrides, angle };
            let document = built_in(scene).expect("a built-in scene");
            measure(printer, (scene, document), &settings, Some(paper_ms), flowing.clone());
        }
    }
    for ((kind, overrides), angle) in SETTINGS.into_iter().zip(angles).take(2) {
        let settings = Settings { kind, overrides, angle };
        let document = Document::new("block", BLOCK);
        measure(printer, ("block", document), &settings, None, 4..12);
    }
}

/// A block of 100,000 guides that collapses.
const BLOCK: &str = r#"
name = "block"
duration = 1
[materials.sand]
density = 1600
angle_of_repose = 30
[[fill]]
material = "sand"
radius = 0.01
shape = { box = { size = [1.2, 1.2, 0.485] }, at = [0, 0, 0.2425] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
friction = 1
"#;

/// Returns the slope [°] of a poured heap of 18,000 guides with a specified angle of repose of 30°, with `overrides`.
fn angle(overrides: &[&str]) -> Option<f64> {
    let options = Options {
        cases: vec!["repose".to_owned()],
        only: Some("small heap".to_owned()),
        set: overrides.iter().map(ToString::to_string).collect(),
        quick: true,
        ..Options::default()
    };
    let folder = std::env::temp_dir().join(format!("barchan_bench_{}", std::process::id()));
    let results = validate(&options, &folder, &|_| (), &mut |_| ());
    // A folder that cannot be removed is small.
    let _ = std::fs::remove_dir_all(&folder);
    match results {
        Ok(results) => results.rows.first().map(|row| row.measured),
        Err(error) => {
            tell!("{error}");
            None
        }
    }
}

/// Solver settings, and the measured slope [°] of a heap specified with 30°.
struct Settings<'a> {
    kind: &'a str,
    overrides: &'a [&'a str],
    angle: Option<f64>,
}

/// Timings of a run over its flowing frames.
struct Run {
    milliseconds: f64,
    stages: BTreeMap<&'static str, f64>,
    steps: u32,
    overlap: f32,
    guide_steps: f64,
    guides: usize,
}

fn run_once(scene: &Scene, flowing: &Range<u64>) -> Result<Run, SimulationError> {
    let mut simulation = Simulation::new(scene).expect("these scenes can be built");
    let mut run = Run {
        milliseconds: 0.0,
        stages: BTreeMap::new(),
        steps: 0,
        overlap: 0.0,
        guide_steps: 0.0,
        guides: 0,
    };
    while simulation.frame_number() < flowing.end {
        simulation.advance()?;
        if simulation.frame_number() > flowing.start {
            let report = simulation.report();
            run.milliseconds += simulation.guide_ms();
            run.steps += report.steps;
            for &(stage, seconds) in &report.stages {
                *run.stages.entry(stage).or_default() += 1e3 * seconds;
            }
            run.overlap = run.overlap.max(report.max_overlap);
            run.guides = simulation.world().guides.len();
            run.guide_steps += run.guides as f64 * f64::from(report.steps);
        }
    }
    Ok(run)
}

fn measure(
    printer: &mut Printer,
    (name, document): (&str, Document),
    settings: &Settings,
    paper_ms: Option<f64>,
    flowing: Range<u64>,
) {
    let Settings { kind, overrides, angle } = settings;
    memory::reset_peak();
    let document = overrides.iter().fold(document, |d, o| d.with(*o));
    let (mut scene, _) = parse_scene(&document).expect("these scenes are good");
    scene.refine = None;
    let runs: Result<Vec<Run>, _> = (0..RUNS).map(|_| run_once(&scene, &flowing)).collect();
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => return tell!("{name}: {error}"),
    };
    let frames = (flowing.end - flowing.start) as f64;
    let all: Vec<f64> = runs.iter().map(|run| run.milliseconds / frames).collect();
    let Some(run) = runs
        .into_iter()
        .min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds))
    else {
        return;
    };
    let stages: BTreeMap<&str, f64> = run.stages.iter().map(|(stage, sum)| (*stage, sum / frames)).collect();
    printer.row(&json!({
        "name": format!("pbd {name} {kind}"),
        "scene": name,
        "threads": rayon::current_num_threads(),
        "guides": run.guides,
        "grains": 0,
        "guide_ms": run.milliseconds / frames,
        "guide_ms_of_runs": all,
        "grain_ms": 0.0,
        "steps_per_frame": f64::from(run.steps) / frames,
        "max_overlap": run.overlap,
        "guide_steps_per_s": run.guide_steps / (1e-3 * run.milliseconds),
        "peak_bytes": memory::peak(),
        "angle_for_30": angle,
        "stages_ms": stages,
        "paper_guide_ms": paper_ms,
        "paper_cores": paper_ms.map(|_| 8),
    }));
}
