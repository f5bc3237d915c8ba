//! A server's process, where it runs on this machine.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::address::Address;

/// The process id of a local server. `query_pid_file` asks the server for `@@pid_file`, which a TCP
/// address needs.
pub fn find(address: &Address, query_pid_file: impl FnOnce() -> Option<String>) -> Option<u32> {
    if let Some(socket) = &address.socket {
        return listener(socket);
    }
    if !address.is_local() {
        return None;
    }
    let file = query_pid_file()?;
    let pid = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    is_running(pid).then_some(pid)
}

/// The process that listens on a Unix socket: the kernel names it to a client that connects.
pub fn listener(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let credentials = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
}

/// Whether a process exists and has not ended.
pub fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the command, which is in parentheses; proc(5).
    (stat.rfind(')')).is_some_and(|at| !stat[at + 1..].trim_start().starts_with(['Z', 'X']))
}

/// The CPU time of a process in seconds, ended threads included. Its resolution is nanoseconds; /proc
/// has 10 ms.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    // The clock that clock_getcpuclockid(3) returns for a pid: user and system time.
    let id = (!libc::clockid_t::try_from(pid).ok()? << 3) | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a local timespec that the call writes; a clock that does not exist is an error.
    let status = unsafe { libc::clock_gettime(id, &raw mut time) };
    (status == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}
