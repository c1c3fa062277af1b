//! Memory use as the system reports it (Linux only, unknown elsewhere), and as the program requests it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// Makes all threads allocate from one arena. Separate arenas keep memory that they once freed, and steps do not
/// allocate.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: an allocator setting, made before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns freed memory to the system.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Returns the memory available now [bytes]: the system's free memory, or this process's limit.
pub fn available() -> Option<u64> {
    let free = field("/proc/meminfo", "MemAvailable:");
    free.into_iter().chain(allowed()).min()
}

/// Returns the memory left by a limit of this process (`ulimit -v`) [bytes]; `None` without a limit.
fn allowed() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the structure outlives the call.
        let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0;
        if failed || limit.rlim_cur == libc::RLIM_INFINITY {
            return None;
        }
        Some(limit.rlim_cur.saturating_sub(field("/proc/self/status", "VmSize:")?))
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    None
}

/// Returns the peak memory use of this process [bytes].
pub fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Returns the current memory use of this process [bytes].
pub fn used() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// Restarts the measurement of [`peak`].
pub fn reset_peak() {
    // If this is not permitted, the peak is that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The system allocator, which counts when enabled: resident memory also contains freed memory and the program itself.
pub struct Counted;

static COUNTS: AtomicBool = AtomicBool::new(false);
/// Bytes requested since counting began, and their maximum.
static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Runs `work`, and returns the peak memory that the program allocated meanwhile beyond its initial use [bytes].
pub fn peak_allocation<R>(work: impl FnOnce() -> R) -> (R, usize) {
    HELD.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    let result = work();
    COUNTS.store(false, Relaxed);
    (result, PEAK.load(Relaxed).unsigned_abs())
}

fn count(bytes: isize) {
    if COUNTS.load(Relaxed) {
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(held, Relaxed);
    }
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Held by tests that allocate much, so that they do not run beside the one that counts.
#[cfg(test)]
pub static ALLOCATING: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_at_once_is_counted_and_what_was_freed_before_is_not() {
        let _alone = ALLOCATING.lock();
        let old = vec![0u8; 1 << 20];
        let (new, most) = peak_allocation(|| {
            drop(old);
            drop(vec![1u8; 3 << 20]);
            vec![2u8; 5 << 20]
        });
        assert_eq!(new.len(), 5 << 20);
        // Other tests of the program may allocate meanwhile.
        assert!((3 << 20..5 << 20).contains(&most), "{most}");
    }
}
