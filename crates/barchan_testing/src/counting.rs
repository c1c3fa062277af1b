//! Counts allocations and the bytes that they hold.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};

/// The system allocator with a counter: `#[global_allocator] static GLOBAL: Counting = Counting;`.
pub struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Bytes held, and their maximum since [`peak_allocation`] began.
static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(bytes: isize) {
    let held = HELD.fetch_add(bytes, SeqCst) + bytes;
    PEAK.fetch_max(held, SeqCst);
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, SeqCst);
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, SeqCst);
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Returns the number of allocations so far [-].
pub fn allocations() -> usize {
    ALLOCATIONS.load(SeqCst)
}

/// Runs `work`, and returns the most memory [bytes] that the program held meanwhile beyond what it held before.
pub fn peak_allocation<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.load(SeqCst);
    PEAK.store(before, SeqCst);
    let result = work();
    (result, (PEAK.load(SeqCst) - before).unsigned_abs())
}
