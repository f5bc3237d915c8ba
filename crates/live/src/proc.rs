//! CPU and memory of processes, from proc(5).

use std::fs;

/// CPU time of a process in seconds: fields 14 and 15 of its stat, in ticks. `pid` may be `self`.
pub fn cpu_seconds(pid: &str) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, field 2, may hold anything but ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / rustix::param::clock_ticks_per_second() as f64)
}

/// Memory of this process: field 2 of its statm, in pages.
pub fn resident_bytes() -> Option<f64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_cpu_time_and_memory() {
        assert!(cpu_seconds("self").is_some());
        assert!(resident_bytes() > Some(0.0));
        assert_eq!(cpu_seconds("0"), None);
    }
}
