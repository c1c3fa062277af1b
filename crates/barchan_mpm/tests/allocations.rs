//! Once warm, a step allocates nothing; a frame allocates its report.

mod support;

use barchan_mpm::MpmSettings;
use barchan_world::Solver;
use glam::DVec3;
use support::*;

#[global_allocator]
static GLOBAL: Counting = Counting;

#[test]
fn a_warm_frame_allocates_its_report_and_its_steps_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut world = world(down(), friction(0.35));
    world.bodies = basin(DVec3::new(0.5, 0.5, 0.6), 0.35);
    fill(
        &mut world,
        DVec3::new(-0.25, -0.25, 0.0),
        DVec3::new(0.25, 0.25, 0.6),
        0.025,
        0.15,
    );
    let mut solver = solver(MpmSettings::default(), &world);
    pool.install(|| {
        run(&mut solver, &mut world, 60);
        let before = allocations();
        let report = solver.advance(&mut world, FRAME).unwrap();
        let count = allocations() - before;
        assert!(report.steps >= 4);
        // The stages and the figures of the report; everything else has its place.
        assert_eq!(count, 2);
    });
}
