//! Costs of the process, as Linux tells them in `/proc`; none elsewhere.

use std::fs;

/// Milliseconds of a clock tick of `/proc/self/stat`: `USER_HZ` is 100 on all of Linux' common architectures.
const TICK_MS: u64 = 10;

/// Returns the CPU time of all threads so far, in milliseconds.
pub(crate) fn cpu_ms() -> Option<u64> {
    cpu_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Returns the resident memory now and at its peak, in KiB.
pub(crate) fn memory_kib() -> Option<[u64; 2]> {
    memory_of(&fs::read_to_string("/proc/self/status").ok()?)
}

fn cpu_of(stat: &str) -> Option<u64> {
    // The name of the program, in parentheses, may have blanks; user and system time are the fields 14 and 15.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut next = || times.next()?.parse::<u64>().ok();
    Some((next()? + next()?) * TICK_MS)
}

fn memory_of(status: &str) -> Option<[u64; 2]> {
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some([value("VmRSS:")?, value("VmHWM:")?])
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
