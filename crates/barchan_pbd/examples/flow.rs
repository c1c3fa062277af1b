//! Measures the time per frame of flowing sand: `flow [guides] [paper|default] [threads] [frames]`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use barchan_pbd::{FrictionMode, PbdSettings};
use barchan_world::Solver;
use glam::DVec3;
use support::*;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |k: usize, default: usize| arguments.get(k).map_or(default, |a| a.parse().expect("a number"));
    let (guides, threads, frames) = (number(1, 10_000), number(3, 2), number(4, 60));
    let settings = match arguments.get(2).map(String::as_str) {
        Some("paper") => PbdSettings {
            step: Some(0.005),
            iterations: 4,
            ..PbdSettings::default()
        },
        Some("printed") => PbdSettings {
            friction: FrictionMode::Sommer,
            ..PbdSettings::paper()
        },
        _ => PbdSettings::default(),
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .expect("one pool");
    // A dam in a basin, twice as long as the dam: it breaks and flows.
    let radius = 0.025;
    let side = (guides as f64).cbrt() * 2.0 * radius * 1.1;
    let mut world = world(down(), friction(0.35));
    world.bodies = basin(DVec3::new(2.0 * side, side + 0.01, 2.0 * side), 0.35);
    fill(
        &mut world,
        DVec3::new(-side, -0.5 * side, 0.0),
        DVec3::new(0.0, 0.5 * side, 1.03 * side),
        radius,
        0.1,
    );
    let mut solver = solver(&world, settings);
    let mut stages: Vec<(&str, f64)> = Vec::new();
    let (mut steps, mut deepest, mut best) = (0, 0.0f32, f64::INFINITY);
    let mut total = 0.0;
    for frame in 0..frames + 10 {
        let start = Instant::now();
        let report = solver.advance(&mut world, FRAME).expect("stable");
        let spent = start.elapsed().as_secs_f64();
        if frame < 10 {
            continue;
        }
        total += spent;
        best = best.min(spent / f64::from(report.steps));
        steps += report.steps;
        deepest = deepest.max(report.max_overlap);
        stages.resize(report.stages.len(), ("", 0.0));
        for (sum, stage) in stages.iter_mut().zip(report.stages) {
            *sum = (stage.0, sum.1 + stage.1);
        }
    }
    let n = world.guides.len();
    println!(
        "{n} guides, {threads} threads: {:.2} ms a frame, best {:.2} ms at 4 steps, {:.1} steps a frame, {:.2} million guide-steps/s, deepest overlap {deepest:.3}",
        1e3 * total / frames as f64,
        4e3 * best,
        f64::from(steps) / frames as f64,
        1e-6 * n as f64 * f64::from(steps) / total,
    );
    for (name, seconds) in stages {
        println!("  {name:10} {:.3} ms a step", 1e3 * seconds / f64::from(steps));
    }
}
