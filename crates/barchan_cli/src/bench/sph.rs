//! The paper's bulldozer with the preset of the paper, with its step and iterations alone, and with the defaults; and a dam break, with SPH.

use std::collections::BTreeMap;
use std::ops::Range;

use barchan::Simulation;
use barchan::scene::{Document, built_in, parse_scene};
use serde_json::json;

use super::Printer;
use crate::memory;

/// A block of 50 x 40 x 25 guides, a centimeter apart, released in a tank.
const DAM: &str = r#"
name = "dam"
duration = 2
frame_rate = 100
[materials.water]
density = 1000
friction = 0
[[fill]]
material = "water"
radius = 0.005
packing = "lattice"
shape = { box = { size = [0.5, 0.4, 0.25] }, at = [0.25, 0.2, 0.125] }
[[body]]
name = "tank"
friction = 0
shape = { subtract = [
    { box = { size = [1.1, 0.5, 0.85] }, at = [0.5, 0.2, 0.375] },
    { box = { size = [1.0, 0.4, 0.8] }, at = [0.5, 0.2, 0.4] },
] }
"#;

/// A scene, its overrides, the measured frames, and published times.
struct Case {
    name: &'static str,
    scene: &'static str,
    overrides: &'static [&'static str],
    frames: Range<u64>,
    /// Milliseconds per frame in the paper.
    paper_guide_ms: Option<f64>,
}

const CASES: [Case; 4] = [
    Case {
        name: "dam iisph 1 ms 0.1 %",
        scene: "dam",
        overrides: &[
            "solver.sph.pressure=iisph",
            "solver.sph.step=0.001",
            "solver.sph.density_error=0.001",
        ],
        frames: 5..20,
        paper_guide_ms: None,
    },
    Case {
        name: "bulldozer pcisph 1 ms",
        scene: "bulldozer",
        overrides: &[
            "solver.sph.pressure=pcisph",
            "solver.sph.step=0.001",
            "solver.sph.min_iterations=3",
            "solver.sph.max_iterations=3",
        ],
        frames: 5..10,
        paper_guide_ms: Some(1400.0),
    },
    Case {
        name: "bulldozer ihmsen",
        scene: "bulldozer",
        overrides: &["solver.sph.preset=ihmsen"],
        frames: 5..10,
        paper_guide_ms: Some(1400.0),
    },
    Case {
        name: "bulldozer default",
        scene: "bulldozer",
        overrides: &[],
        frames: 5..15,
        paper_guide_ms: None,
    },
];

pub fn run(printer: &mut Printer) {
    for case in &CASES {
        measure(case, printer);
    }
}

fn measure(case: &Case, printer: &mut Printer) {
    memory::reset_peak();
    let document = built_in(case.scene).unwrap_or_else(|| Document::new(case.scene, DAM));
    let document = document.with("solver.kind=sph");
    let document = case.overrides.iter().fold(document, |d, o| d.with(*o));
    let (mut scene, _) = parse_scene(&document).expect("built-in scenes are good");
    scene.refine = None;
    let mut simulation = Simulation::new(&scene).expect("built-in scenes can be built");
    let mut stages: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut milliseconds, mut steps, mut guide_steps) = (0.0, 0, 0.0);
    let (mut passes, mut mean_compression) = (0.0, 0.0f64);
    while simulation.frame_number() < case.frames.end {
        if let Err(error) = simulation.advance() {
            return tell!("{}: {error}", case.name);
        }
        if simulation.frame_number() <= case.frames.start {
            continue;
        }
        let report = simulation.report();
        milliseconds += simulation.guide_ms();
        steps += report.steps;
        guide_steps += simulation.world().guides.len() as f64 * f64::from(report.steps);
        for &(stage, seconds) in &report.stages {
            *stages.entry(stage).or_default() += 1e3 * seconds;
        }
        let extra = |name: &str| report.extras.iter().find(|e| e.0 == name).map_or(0.0, |e| e.1);
        passes += extra("pressure_iterations") * f64::from(report.steps);
        mean_compression = mean_compression.max(extra("mean_compression"));
    }
    let frames = (case.frames.end - case.frames.start) as f64;
    let all = f64::from(steps);
    let stages: BTreeMap<&str, f64> = stages.into_iter().map(|(stage, sum)| (stage, sum / all)).collect();
    printer.row(&json!({
        "name": format!("sph {}", case.name),
        "scene": case.scene,
        "threads": rayon::current_num_threads(),
        "guides": simulation.world().guides.len(),
        "grains": 0,
        "guide_ms": milliseconds / frames,
        "grain_ms": 0.0,
        "step_ms": milliseconds / all,
        "steps_per_frame": all / frames,
        "pressure_iterations": passes / all,
        "mean_compression": mean_compression,
        "guide_steps_per_s": guide_steps / (1e-3 * milliseconds),
        "peak_bytes": memory::peak(),
        "step_stages_ms": stages,
        "paper_guide_ms": case.paper_guide_ms,
        "paper_cores": case.paper_guide_ms.map(|_| 12),
    }));
}
