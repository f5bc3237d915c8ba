//! Sessions that wait for an event loop: one thread executes the commands of all clients, and reads the next one
//! only when the command before it has ended. Such a session has sent a command, which the program has not read: its
//! socket has unread bytes, as the kernel says. docs/anyserver-redis.md describes it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{fs, io};

use tare_layout::View;
use tare_layout::slot::LIVE;

use crate::active::{ActiveThread, Population, Served, thread_at};
use crate::attach::Segment;
use crate::classes::text;
use crate::time::Clock;

/// A loop must not have polled for so long before it is asked who waits for it. Shorter times end before they could be
/// reported.
pub const MIN_HOLD: Duration = Duration::from_millis(10);

/// A session that waits for an event loop.
#[derive(Clone, Debug)]
pub struct QueuedSession {
    /// The session. It runs no statement: what it has sent was not read.
    pub thread: ActiveThread,
    /// The session whose command the loop executes.
    pub holder: u64,
}

/// Sessions that wait for an event loop that has not polled for [`MIN_HOLD`]. Only sessions over TCP are found.
pub fn queued_sessions(segment: &Segment) -> Vec<QueuedSession> {
    match segment.clock() {
        clock if clock.live => {
            let population = crate::active_threads(segment.view());
            queued_among(segment, &population, clock.now(), clock)
        }
        // Another process may have its id now.
        _ => Vec::new(),
    }
}

/// The same, if the active threads at a moment are known.
pub(crate) fn queued_among(
    segment: &Segment,
    population: &Population,
    now: Option<u64>,
    clock: Clock,
) -> Vec<QueuedSession> {
    let holds_long = |served: &&Served| {
        let now = now.filter(|_| served.since != 0);
        let ticks = now.map(|now| now.saturating_sub(served.since));
        ticks.is_some_and(|ticks| clock.ns(ticks) >= MIN_HOLD.as_nanos() as f64)
    };
    let loops = population.served.iter().filter(holds_long);
    let holders = loops.filter_map(|served| {
        let mut active = population.active.iter();
        active.find(|thread| thread.id == served.session)
    });
    let mut processes = Vec::new();
    holders
        // For which of a process's loops a session waits is not known.
        .filter(|holder| {
            let is_first = !processes.contains(&holder.process_id);
            processes.push(holder.process_id);
            is_first
        })
        .take(MAX_HOLDERS)
        .flat_map(|holder| queued_behind(segment, holder))
        .collect()
}

/// The most event loops of which it is asked who waits for them.
const MAX_HOLDERS: usize = 16;

/// Sessions that wait for the event loop that serves this one.
fn queued_behind(segment: &Segment, holder: &ActiveThread) -> Vec<QueuedSession> {
    let process = match holder.process_id {
        0 => segment.pid(),
        process => process,
    };
    let view = segment.view();
    let Ok(unread) = Unread::read(process) else {
        return Vec::new();
    };
    let waiting = unread.sessions(view);
    sessions_at(view, &waiting)
        .filter(|thread| thread.id != holder.id && thread.statement.is_none())
        .map(|thread| QueuedSession {
            thread,
            holder: holder.id,
        })
        .collect()
}

/// The sessions with these ids.
fn sessions_at<'a>(view: View<'a>, ids: &'a [u64]) -> impl Iterator<Item = ActiveThread> + use<'a> {
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let limit = view.geometry().limits.threads;
    (0..used.min(limit)).filter_map(move |number| {
        let slot = view.slot(number);
        let is_live = slot.state.load(Ordering::Acquire) == LIVE;
        let id = slot.thread_id.load(Ordering::Relaxed);
        (is_live && ids.contains(&id))
            .then(|| thread_at(view, number))
            .flatten()
    })
}

/// The connections of a process whose received bytes it has not read.
struct Unread {
    /// `/proc/PID/fd`.
    descriptors: PathBuf,
    /// Inodes of the sockets, by the peer's address.
    by_peer: HashMap<(IpAddr, u16), Vec<u64>>,
}

/// States of connections in which bytes may be unread, as the kernel numbers them: ESTABLISHED, CLOSE_WAIT.
const STATES: [&str; 2] = ["01", "08"];

impl Unread {
    /// Those of a process's network.
    fn read(process: u32) -> io::Result<Self> {
        let process = PathBuf::from(format!("/proc/{process}"));
        let mut by_peer: HashMap<_, Vec<u64>> = HashMap::new();
        let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(process.join("net").join(name)));
        // Without IPv6 there is only one.
        let lines = tables.iter().flatten().flat_map(|table| table.lines());
        for (peer, inode) in lines.filter_map(unread_connection) {
            by_peer.entry(peer).or_default().push(inode);
        }
        Ok(Self {
            descriptors: process.join("fd"),
            by_peer,
        })
    }

    /// The sessions whose connections these are.
    fn sessions(&self, view: View<'_>) -> Vec<u64> {
        if self.by_peer.is_empty() {
            return Vec::new();
        }
        let used = view.shared().sockets_used.0.load(Ordering::Acquire) as usize;
        let sockets = (0..used.min(view.geometry().limits.sockets)).map(|i| view.socket(i));
        let session = |socket: &tare_layout::instance::Socket| {
            let owner = socket.owner_thread.load(Ordering::Relaxed);
            if owner == 0 || socket.id.load(Ordering::Acquire) == 0 {
                return None;
            }
            let ip = text(&socket.ip).parse().ok()?;
            let port = socket.port.load(Ordering::Relaxed) as u16;
            let inodes = self.by_peer.get(&(ip, port))?;
            // Another connection may have the same peer.
            let descriptor = socket.descriptor.load(Ordering::Relaxed).to_string();
            let link = fs::read_link(self.descriptors.join(descriptor)).ok()?;
            let is_one = |inode: &u64| link.as_os_str() == format!("socket:[{inode}]").as_str();
            inodes.iter().any(is_one).then_some(owner)
        };
        sockets.filter_map(session).collect()
    }
}

/// The peer and the inode of a line of /proc/PID/net/tcp, if it is a connection with unread bytes.
fn unread_connection(line: &str) -> Option<((IpAddr, u16), u64)> {
    let mut fields = line.split_ascii_whitespace();
    let peer = fields.nth(2)?;
    let state = fields.next()?;
    let (_, unread) = fields.next()?.split_once(':')?;
    if !STATES.contains(&state) || u64::from_str_radix(unread, 16).ok()? == 0 {
        return None;
    }
    let inode = fields.nth(4)?.parse().ok()?;
    Some((parse_address(peer)?, inode))
}

/// An address and port as the kernel prints them: words of 32 bits, as the machine has them in memory, and the port.
fn parse_address(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let mut bytes = [0; 16];
    let words = address.len() / 8;
    for (word, place) in bytes.chunks_mut(4).take(words).enumerate() {
        let digits = address.get(8 * word..8 * word + 8)?;
        place.copy_from_slice(&u32::from_str_radix(digits, 16).ok()?.to_ne_bytes());
    }
    let ip = match words {
        1 => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
        4 => Ipv6Addr::from(bytes).to_canonical(),
        _ => return None,
    };
    Some((ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    #[test]
    fn unread_bytes_are_those_of_open_connections() {
        let line = |state, unread| {
            format!(
                "   3: 0100007F:18EB 0200000A:C350 {state} 00000000:{unread} 00:00000000 00000000  1000        0 4711 1 0000000000000000 20 4 30 10 -1"
            )
        };
        let peer = (IpAddr::from([10, 0, 0, 2]), 50_000);
        assert_eq!(
            unread_connection(&line("01", "0000001B")),
            Some((peer, 4711))
        );
        assert_eq!(
            unread_connection(&line("08", "00000001")),
            Some((peer, 4711))
        );
        assert_eq!(unread_connection(&line("01", "00000000")), None);
        // A socket that listens: connections that were not accepted.
        assert_eq!(unread_connection(&line("0A", "00000001")), None);
        assert_eq!(
            unread_connection("  sl  local_address rem_address   st tx_queue rx_queue"),
            None
        );
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        let parse = |text| parse_address(text).map(|(ip, port)| format!("{ip} {port}"));
        assert_eq!(parse("0100007F:0050").as_deref(), Some("127.0.0.1 80"));
        let mapped = "0000000000000000FFFF00000100007F:0050";
        assert_eq!(parse(mapped).as_deref(), Some("127.0.0.1 80"));
        let loopback = "00000000000000000000000001000000:1F90";
        assert_eq!(parse(loopback).as_deref(), Some("::1 8080"));
        assert_eq!(parse("01:50"), None);
    }
}
