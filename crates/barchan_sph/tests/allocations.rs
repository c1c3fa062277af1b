//! Once warm, a step allocates nothing; a frame allocates its report.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use barchan_sph::SphSettings;
use barchan_world::Solver;
use glam::DVec3;
use support::*;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, SeqCst);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, SeqCst);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, size) }
    }
}

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
    let settings = SphSettings {
        sleeping: false,
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    pool.install(|| {
        run(&mut solver, &mut world, 100);
        let before = ALLOCATIONS.load(SeqCst);
        let report = solver.advance(&mut world, FRAME).unwrap();
        let allocations = ALLOCATIONS.load(SeqCst) - before;
        assert!(report.steps >= 4);
        // The stages and the figures of the report; everything else has its place.
        assert_eq!(allocations, 2);
    });
}
