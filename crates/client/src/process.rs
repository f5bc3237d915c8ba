//! A server's process, where it runs on this machine.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use tare_reader::process::is_running;

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
