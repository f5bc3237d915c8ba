//! The machine that the server runs on.

use std::fs;
use std::path::Path;

/// The memory that the process may use, in bytes: the machine's, or less if its control group has a limit.
pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    let machine = (info.totalram as u64).saturating_mul(u64::from(info.mem_unit));
    cgroup_limit().map_or(machine, |limit| limit.min(machine))
}

/// The smallest memory.max of the process's control group and of those that contain it. `None`: there is no
/// limit, or no control groups of version 2.
fn cgroup_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let limits = Path::new(group).ancestors().filter_map(|group| {
        let limit = fs::read_to_string(root.join(group).join("memory.max")).ok()?;
        limit.trim().parse().ok()
    });
    limits.min()
}
