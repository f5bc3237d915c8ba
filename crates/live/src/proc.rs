//! Memory of this process, from proc(5).

use std::fs;

/// Field 2 of its statm, in pages.
pub fn resident_bytes() -> Option<f64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory() {
        assert!(resident_bytes() > Some(0.0));
    }
}
