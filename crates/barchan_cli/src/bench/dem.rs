//! Spheres settled in a box, moved by discrete elements: the case on which other codes were measured.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};
use serde_json::json;

use super::Printer;
use crate::memory;

/// A count of spheres, the side of the floor [m], and millions of sphere-steps a second of other codes on 2 cores of this kind:
/// LIGGGHTS, LAMMPS, Yade.
const CASES: [(u32, f64, [f64; 3]); 2] = [(20_000, 0.25, [9.8, 8.7, 1.2]), (100_000, 0.5, [8.2, 7.6, 1.1])];

/// Frames of 1/60 s in which the spheres settle, then of 2 ms which are measured; the best counts.
const SETTLING: u32 = 12;
const MEASURED: u32 = 6;

pub fn run(printer: &mut Printer) {
    for (count, side, others) in CASES {
        measure(printer, count, side, others);
    }
}

/// The scene with frames of 1/`rate` s and more settings of the solver.
fn scene(count: u32, side: f64, rate: u32, settings: &str) -> String {
    // At a fraction of 0.6 a sphere of 5 mm takes 8.73e-7 m³.
    let height = f64::from(count) * 8.73e-7 / (side * side);
    let plane = |normal: &str, offset: f64| {
        format!(
            "[[body]]\nname = \"{normal}\"\nfriction = 0.5\nshape = {{ half_space = {{ normal = {normal} }}, at = [{offset}, {offset}, 0] }}\n"
        )
    };
    let half = 0.5 * side;
    let walls = [
        plane("[0, 0, 1]", 0.0),
        plane("[1, 0, 0]", -half),
        plane("[-1, 0, 0]", half),
        plane("[0, 1, 0]", -half),
        plane("[0, -1, 0]", half),
    ];
    format!(
        "duration = 10\nframe_rate = {rate}\n[solver]\nkind = \"dem\"\n[solver.dem]\n{settings}\n\
         [materials.glass]\ndensity = 1500\ngrain_density = 2500\nfriction = 0.5\nyoungs_modulus = 1e7\npoisson_ratio = 0.3\nrestitution = 0.5\n\
         [[fill]]\nmaterial = \"glass\"\nradius = 0.005\n\
         shape = {{ box = {{ size = [{side}, {side}, {height}] }}, at = [0, 0, {}] }}\n{}",
        0.5 * height,
        walls.concat()
    )
}

fn measure(printer: &mut Printer, count: u32, side: f64, others: [f64; 3]) {
    memory::reset_peak();
    let read = |rate: u32, settings: &str| {
        let document = Document::new("bench", scene(count, side, rate, settings));
        parse_scene(&document).expect("the bench's scene is good").0
    };
    let mut simulation = Simulation::new(&read(60, "")).expect("the bench's scene can be built");
    let go_on = |simulation: &mut Simulation| simulation.advance().map_err(|error| eprintln!("dem: {error}")).is_ok();
    for _ in 0..SETTLING {
        if !go_on(&mut simulation) {
            return;
        }
    }
    let archive = simulation.save();
    drop(simulation);
    let mut simulation = Simulation::resume(&read(500, "step = 1e-5"), &archive).expect("the same spheres");
    let mut best = f64::INFINITY;
    for _ in 0..MEASURED {
        if !go_on(&mut simulation) {
            return;
        }
        best = best.min(simulation.guide_ms() / f64::from(simulation.report().steps));
    }
    let report = simulation.report();
    let guides = simulation.world().guides.len() as f64;
    let extra = |name: &str| report.extras.iter().find(|e| e.0 == name).map_or(0.0, |e| e.1);
    let steps = f64::from(report.steps);
    let stages: serde_json::Map<String, serde_json::Value> = (report.stages.iter())
        .map(|&(stage, seconds)| (stage.to_owned(), json!(1e3 * seconds / steps)))
        .collect();
    printer.row(&json!({
        "name": format!("dem {count}"),
        "threads": rayon::current_num_threads(),
        "guides": guides,
        "step_ms": best,
        "guide_steps_per_s": guides / (1e-3 * best),
        "contacts_per_guide": 2.0 * extra("contacts") / guides,
        "candidates_per_guide": 2.0 * extra("pairs") / guides,
        "searches": extra("searches"),
        "max_overlap": report.max_overlap,
        "peak_bytes": memory::peak(),
        "bytes_per_guide": memory::peak().map(|bytes| bytes as f64 / guides),
        "stages_ms": stages,
        "liggghts_steps_per_s": 1e6 * others[0],
        "lammps_steps_per_s": 1e6 * others[1],
        "yade_steps_per_s": 1e6 * others[2],
    }));
}
