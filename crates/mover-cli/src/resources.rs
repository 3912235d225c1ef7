//! What the machine has and what this process takes of it.

/// Reads a line such as `VmHWM:  1234 kB`; returns bytes.
fn proc_value(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The largest memory that the process has had, in megabytes.
pub fn peak_mb() -> Option<f64> {
    let bytes = proc_value("/proc/self/status", "VmHWM:")?;
    Some((bytes as f64 / (1 << 20) as f64 * 10.0).round() / 10.0)
}

/// The memory that the process has at this time, in bytes.
pub fn resident_bytes() -> Option<usize> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem)
}

/// Memory that can be had without the system swapping or killing, in bytes.
pub fn available_memory() -> Option<u64> {
    proc_value("/proc/meminfo", "MemAvailable:")
}
