//! Once warm, building and searching allocate nothing.

use barchan_neighbors::{Cells, ContactRule, Grid, Lists, jittered_lattice};
use glam::Vec3;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

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
fn a_warm_grid_and_its_lists_allocate_nothing() {
    let points = jittered_lattice(30_000, 0.01, 0.4, 1);
    let radii = vec![0.009; points.len()];
    let rule = ContactRule {
        scale: 1.0,
        margin: 0.001,
    };
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        for cells in [Cells::Auto, Cells::Table { log2_size: 16 }] {
            let (mut grid, mut lists) = (Grid::new().with_cells(cells), Lists::new());
            let mut step = |points: &[Vec3]| {
                grid.build(points, 0.02).expect("good points");
                lists.find(&grid);
                lists.find_for(points, &grid).expect("good points");
                lists
                    .find_contacts(&grid, &radii[..points.len()], rule)
                    .expect("good radii");
            };
            let allocations = pool.install(|| {
                // Rayon's queues grow too, while they see more work at once than ever before.
                (0..5).for_each(|_| step(&points));
                let before = ALLOCATIONS.load(SeqCst);
                step(&points);
                step(&points[..20_000]);
                step(&points);
                ALLOCATIONS.load(SeqCst) - before
            });
            assert_eq!(allocations, 0, "{threads} threads, {cells:?}");
        }
    }
}
