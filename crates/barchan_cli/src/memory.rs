//! Memory use as the system reports it (Linux only, unknown elsewhere).

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
