//! What the system says of memory (Linux only, elsewhere unknown), and what the program itself asks for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

/// Lets all threads ask for memory from one place. Places of their own hold what they once freed, and steps ask for nothing.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a setting of the allocator, before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives back what was freed.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Memory that could be used now [bytes]: what the system has, or what it allows this process.
pub fn available() -> Option<u64> {
    let free = field("/proc/meminfo", "MemAvailable:");
    free.into_iter().chain(allowed()).min()
}

/// Memory that a limit of this process (`ulimit -v`) leaves [bytes]; none without a limit.
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

/// The most memory that this process has used so far [bytes].
pub fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Memory that this process uses now [bytes].
pub fn used() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// Begins to measure [`peak`] anew.
pub fn reset_peak() {
    // Where it is not allowed, the peak is that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The system's allocator, which counts while it is told to: pages that the system hands out hold what was freed before, and the program.
pub struct Counted;

static COUNTS: AtomicBool = AtomicBool::new(false);
/// Asked for since counting began [bytes], and the most at once.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// Runs `work`, and gives the most memory that the program asked for meanwhile beyond what it had [bytes].
pub fn most_asked_for<R>(work: impl FnOnce() -> R) -> (R, usize) {
    HELD.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    let result = work();
    COUNTS.store(false, Relaxed);
    (result, MOST.load(Relaxed).unsigned_abs())
}

fn count(bytes: isize) {
    if COUNTS.load(Relaxed) {
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        MOST.fetch_max(held, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as the caller promised.
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
        let (new, most) = most_asked_for(|| {
            drop(old);
            drop(vec![1u8; 3 << 20]);
            vec![2u8; 5 << 20]
        });
        assert_eq!(new.len(), 5 << 20);
        // Other tests of the program may ask for something meanwhile.
        assert!((3 << 20..5 << 20).contains(&most), "{most}");
    }
}
