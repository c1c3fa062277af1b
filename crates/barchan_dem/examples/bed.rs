//! Measures the speed of spheres settled in a box: `cargo run --release -p barchan_dem --example bed -- 20000 0.25`,
//! then optionally frames of settling, threads, frames measured, and 1 for tetrahedra of four spheres instead.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use barchan_dem::{Clump, DemSettings};
use barchan_geometry::random::Stream;
use barchan_world::Solver;
use glam::DVec3;
use support::{add, plane, run, world};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: f64| arguments.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (count, side) = (next(20_000.0) as usize, next(0.25));
    let (settling, threads) = (next(8.0) as u32, next(2.0) as usize);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .expect("threads");
    let mut world = world(DVec3::new(0.0, 0.0, -9.81), 0.5);
    for (normal, at) in [
        (DVec3::Z, 0.0),
        (DVec3::X, 0.0),
        (-DVec3::X, side),
        (DVec3::Y, 0.0),
        (-DVec3::Y, side),
    ] {
        world.bodies.push(plane(normal, at * normal.abs(), 0.5));
    }
    let row = (side / 0.0102).floor() as usize;
    for k in 0..count {
        let cell = DVec3::new((k % row) as f64, (k / row % row) as f64, (k / row / row) as f64 * 0.9);
        let place = (cell + 0.5) * 0.0102 + 5e-4 * Stream::new(1, k as u64).unit_cube();
        add(&mut world, place, DVec3::ZERO, 0.005);
    }
    let (measured, clumped) = (next(8.0) as u32, next(0.0) > 0.0);
    let mut settings = DemSettings::default();
    let mut spheres = count;
    if clumped {
        let clump = Clump::tetrahedron(1.4).expect("a clump");
        spheres *= clump.members().len();
        world.guides.radius.fill((0.005 / clump.extent()) as f32);
        settings.clumps.push(clump);
        settings.clumped.push((0..u32::MAX, 0));
    }
    let mut solver = support::solver(&world, settings.clone());
    rayon::scope(|_| run(&mut solver, &mut world, 1.0 / 60.0, settling));
    // Clumps go on as they lie, in the steps of their own.
    if !clumped {
        settings.step = Some(1e-5);
        solver = support::solver(&world, settings);
    }
    let mut best = f64::INFINITY;
    for _ in 0..measured {
        let start = Instant::now();
        let report = rayon::scope(|_| solver.advance(&mut world, if clumped { 5e-3 } else { 1e-3 })).expect("stable");
        best = best.min(start.elapsed().as_secs_f64() / f64::from(report.steps));
        println!(
            "{:.2} M/s  {:?} {:.4?}",
            1e-6 * spheres as f64 / best,
            report.extras,
            report.stages
        );
    }
}
