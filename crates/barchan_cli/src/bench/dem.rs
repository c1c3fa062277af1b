//! DEM on spheres settled in a box: the case on which other codes were measured, the same with clumps, and with spheres
//! of very different sizes.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use serde_json::{Value, json};

use super::Printer;
use crate::memory;

/// A bed of spheres or clumps.
struct Case {
    name: &'static str,
    /// Side of the floor and height of the fill [m].
    side: f64,
    height: f64,
    /// Keys of the fill besides its material and shape.
    fill: &'static str,
    /// Spheres per guide [-].
    members: f64,
    /// Frames of 1/60 s in which it settles.
    settling: u32,
    /// Millions of sphere-steps per second of other codes on 2 cores of this kind: LIGGGHTS, LAMMPS, Yade.
    others: Option<[f64; 3]>,
}

/// At a packing fraction of 0.6 a sphere of radius 5 mm takes 8.73e-7 m³.
const CASES: [Case; 4] = [
    Case {
        name: "dem 20000",
        side: 0.25,
        height: 20_000.0 * 8.73e-7 / (0.25 * 0.25),
        fill: "radius = 0.005",
        members: 1.0,
        settling: 12,
        others: Some([9.8, 8.7, 1.2]),
    },
    // Tetrahedra of spheres of 5 mm.
    Case {
        name: "dem tetrahedra",
        side: 0.25,
        height: 0.45,
        fill: "radius = 0.0075\nclump = \"tetrahedron\"",
        members: 4.0,
        settling: 30,
        others: None,
    },
    // Equal masses of spheres of 20 and of 2 mm.
    Case {
        name: "dem 10:1",
        side: 0.12,
        height: 0.28,
        fill: "radius = { list = [0.02, 0.002], weights = [1, 1000] }\npacking = \"random\"",
        members: 1.0,
        settling: 15,
        others: None,
    },
    Case {
        name: "dem 100000",
        side: 0.5,
        height: 100_000.0 * 8.73e-7 / (0.5 * 0.5),
        fill: "radius = 0.005",
        members: 1.0,
        settling: 12,
        others: Some([8.2, 7.6, 1.1]),
    },
];

/// Frames per second of beds: a checkpoint continues at the rate at which it was saved.
const FRAME_RATE: u32 = 500;

/// Number of measured frames of 2 ms; the fastest counts.
const MEASURED: u32 = 6;

/// A few spheres: runs first, so that the program's own memory is not attributed to later cases.
const FIRST: Case = Case {
    name: "first",
    side: 0.05,
    height: 0.05,
    fill: "radius = 0.005",
    members: 1.0,
    settling: 2,
    others: None,
};

pub fn run(printer: &mut Printer) {
    settled(&FIRST);
    for case in &CASES {
        measure(printer, case);
    }
}

fn read(case: &Case, rate: u32, settings: &str) -> Scene {
    let document = Document::new("bench", scene(case, rate, settings));
    parse_scene(&document).expect("the bench's scene is good").0
}

/// Returns the scene with frames of 1/`rate` s and additional solver settings.
fn scene(case: &Case, rate: u32, settings: &str) -> String {
    let Case { side, height, fill, .. } = case;
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
         [materials.glass]\ndensity = 1500\ngrain_density = 2500\nfriction = 0.5\nrolling_friction = 0\nyoungs_modulus = 1e7\npoisson_ratio = 0.3\nrestitution = 0.5\n\
         [[fill]]\nmaterial = \"glass\"\n{fill}\n\
         shape = {{ box = {{ size = [{side}, {side}, {height}] }}, at = [0, 0, {}] }}\n{}",
        0.5 * height,
        walls.concat()
    )
}

/// Simulates the bed until it is at rest.
fn settled(case: &Case) -> Option<Simulation> {
    let build = Simulation::new(&read(case, FRAME_RATE, ""));
    let mut simulation = build.map_err(|error| tell!("{}: {error}", case.name)).ok()?;
    (0..case.settling * FRAME_RATE / 60)
        .all(|_| go_on(&mut simulation))
        .then_some(simulation)
}

fn go_on(simulation: &mut Simulation) -> bool {
    simulation.advance().map_err(|error| tell!("dem: {error}")).is_ok()
}

fn measure(printer: &mut Printer, case: &Case) {
    memory::trim();
    memory::reset_peak();
    let used = memory::used();
    let settled = settled(case);
    let peak = memory::peak();
    let Some(simulation) = settled else {
        return;
    };
    let archive = simulation.save();
    drop(simulation);
    let mut simulation =
        Simulation::resume(&read(case, FRAME_RATE, "step = 1e-5"), &archive).expect("the same spheres");
    drop(archive);
    let mut best = f64::INFINITY;
    for _ in 0..MEASURED {
        if !go_on(&mut simulation) {
            return;
        }
        best = best.min(simulation.guide_ms() / f64::from(simulation.report().steps));
    }
    let report = simulation.report();
    let spheres = case.members * simulation.world().guides.len() as f64;
    let extra = |name: &str| report.extras.iter().find(|e| e.0 == name).map_or(0.0, |e| e.1);
    let steps = f64::from(report.steps);
    let stages: serde_json::Map<String, Value> = (report.stages.iter())
        .map(|&(stage, seconds)| (stage.to_owned(), json!(1e3 * seconds / steps)))
        .collect();
    let other = |k: usize| case.others.map(|others| 1e6 * others[k]);
    printer.row(&json!({
        "name": case.name,
        "threads": rayon::current_num_threads(),
        "spheres": spheres,
        "step_ms": best,
        "sphere_steps_per_s": spheres / (1e-3 * best),
        "contacts_per_s": extra("contacts") / (1e-3 * best),
        "contacts_per_sphere": 2.0 * extra("contacts") / spheres,
        "candidates_per_sphere": 2.0 * extra("pairs") / spheres,
        "searches": extra("searches"),
        "max_overlap": report.max_overlap,
        "peak_bytes": peak,
        "resident_bytes_per_sphere": peak.zip(used).map(|(peak, used)| peak.saturating_sub(used) as f64 / spheres),
        "stages_ms": stages,
        "liggghts_steps_per_s": other(0),
        "lammps_steps_per_s": other(1),
        "yade_steps_per_s": other(2),
    }));
}
