//! Sommer's four scenes at Sommer's counts, and a large block, moved by position-based dynamics.

use std::collections::BTreeMap;

use barchan::Simulation;
use barchan::scene::{built_in, parse_scene};
use barchan_validate::{Options, validate};
use serde_json::json;

use super::Printer;
use crate::memory;

/// A scene, the milliseconds a frame that the paper took on 8 cores, and the frames in which its sand flows.
const PAPER: [(&str, f64, std::ops::Range<u64>); 4] = [
    ("sandcastle", 9.75, 60..180),
    ("excavator", 21.4, 60..180),
    ("hourglass", 47.4, 60..180),
    ("squirrel", 33.0, 20..80),
];

/// The paper's time step and passes; the defaults; the same without sleep.
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

pub fn run(printer: &mut Printer) {
    let angles = SETTINGS.map(|(_, overrides)| printer.angles.then(|| angle(overrides)).flatten());
    for (scene, paper_ms, flowing) in PAPER {
        for ((kind, overrides), angle) in SETTINGS.into_iter().zip(angles) {
            let settings = Settings { kind, overrides, angle };
            measure(printer, scene, &settings, paper_ms, flowing.clone());
        }
    }
}

/// The slope [°] of a poured heap of 18,000 guides that was asked to have 30°, with `overrides`.
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
    // Where it could not be removed it is small.
    let _ = std::fs::remove_dir_all(&folder);
    match results {
        Ok(results) => results.rows.first().map(|row| row.measured),
        Err(error) => {
            eprintln!("{error}");
            None
        }
    }
}

/// What the solver is told, and the slope [°] of a heap asked for 30° that it then gives, where it was measured.
struct Settings<'a> {
    kind: &'a str,
    overrides: &'a [&'a str],
    angle: Option<f64>,
}

fn measure(printer: &mut Printer, name: &str, settings: &Settings, paper_ms: f64, flowing: std::ops::Range<u64>) {
    let Settings { kind, overrides, angle } = settings;
    memory::reset_peak();
    let document = built_in(name).expect("a built-in scene");
    let document = overrides.iter().fold(document, |d, o| d.with(*o));
    let (mut scene, _) = parse_scene(&document).expect("built-in scenes are good");
    scene.refine = None;
    let mut simulation = Simulation::new(&scene).expect("built-in scenes can be built");
    let mut stages: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut milliseconds, mut steps, mut overlap, mut guide_steps) = (0.0, 0, 0f32, 0.0);
    while simulation.frame_number() < flowing.end {
        if let Err(error) = simulation.advance() {
            eprintln!("{name}: {error}");
            return;
        }
        if simulation.frame_number() > flowing.start {
            milliseconds += simulation.guide_ms();
            steps += simulation.report().steps;
            for &(stage, seconds) in &simulation.report().stages {
                *stages.entry(stage).or_default() += 1e3 * seconds;
            }
            overlap = overlap.max(simulation.report().max_overlap);
            guide_steps += simulation.world().guides.len() as f64 * f64::from(simulation.report().steps);
        }
    }
    let frames = (flowing.end - flowing.start) as f64;
    let stages: BTreeMap<&str, f64> = stages.into_iter().map(|(stage, sum)| (stage, sum / frames)).collect();
    printer.row(&json!({
        "name": format!("pbd {name} {kind}"),
        "scene": name,
        "threads": rayon::current_num_threads(),
        "guides": simulation.world().guides.len(),
        "grains": 0,
        "guide_ms": milliseconds / frames,
        "grain_ms": 0.0,
        "steps_per_frame": f64::from(steps) / frames,
        "max_overlap": overlap,
        "guide_steps_per_s": guide_steps / (1e-3 * milliseconds),
        "peak_bytes": memory::peak(),
        "angle_for_30": angle,
        "stages_ms": stages,
        "paper_guide_ms": paper_ms,
        "paper_cores": 8,
    }));
}
