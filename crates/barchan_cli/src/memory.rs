//! What the system says of memory; Linux only, elsewhere unknown.

/// Memory that could be used now [bytes].
pub fn available() -> Option<u64> {
    field("/proc/meminfo", "MemAvailable:")
}

/// The most memory that this process has used so far [bytes].
pub fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Memory that this process uses now [bytes].
pub fn resident() -> Option<u64> {
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
