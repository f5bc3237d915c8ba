//! TLS: to which connection the bytes belong that the program reads and writes by its TLS library.
//!
//! Within the program's call, the library reads and writes the connection's socket: by itself, or by a
//! function of the program's (PostgreSQL). So the first calls, those of the handshake, name the socket. A
//! later call may return bytes that an earlier one has read from it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;

/// A call of the library.
#[derive(Clone, Copy)]
pub struct Call {
    /// The address of the library's connection.
    ssl: usize,
    /// The socket that the call has read or written.
    socket: Option<c_int>,
}

thread_local! {
    /// The call that the thread is in. Without a destructor, so that it can be used at any time in a thread's
    /// life.
    static CALL: Cell<Option<Call>> = const { Cell::new(None) };
}

/// Begins a call. Returns the one that a signal handler has interrupted, for [`end`].
#[inline]
pub fn begin(ssl: usize) -> Option<Call> {
    CALL.replace(Some(Call { ssl, socket: None }))
}

/// Ends it. Returns the socket that it has read or written.
#[inline]
pub fn end(interrupted: Option<Call>) -> Option<c_int> {
    CALL.replace(interrupted)?.socket
}

/// The thread has read or written a connection's socket. Returns the library's connection, if it was a call
/// of the library.
#[inline]
pub fn record(socket: c_int) -> Option<usize> {
    let ssl = CALL.get()?.ssl;
    CALL.set(Some(Call {
        ssl,
        socket: Some(socket),
    }));
    Some(ssl)
}

/// Some of the library's connections, with their sockets. Threads that serve different connections seldom
/// write the same one.
#[repr(align(64))]
struct Sockets(Mutex<HashMap<usize, c_int, FixedState>>);

static SOCKETS: [Sockets; 64] =
    [const { Sockets(Mutex::new(HashMap::with_hasher(FixedState::with_seed(0)))) }; 64];

/// Those among which this connection is.
fn sockets(ssl: usize) -> MutexGuard<'static, HashMap<usize, c_int, FixedState>> {
    // Objects that malloc returns begin at multiples of 16.
    let mixed = (ssl >> 4) ^ (ssl >> 10) ^ (ssl >> 16);
    let sockets = &SOCKETS[mixed % SOCKETS.len()].0;
    sockets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The socket of the library's connection.
pub fn socket(ssl: usize) -> Option<c_int> {
    sockets(ssl).get(&ssl).copied()
}

/// The library's connection has this socket.
pub fn set_socket(ssl: usize, socket: c_int) {
    sockets(ssl).insert(ssl, socket);
}

/// The library's connection ends.
pub fn forget(ssl: usize) {
    sockets(ssl).remove(&ssl);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_its_socket_also_when_a_signal_interrupts_it() {
        assert_eq!(record(3), None);
        let outer = begin(16);
        assert_eq!(record(4), Some(16));
        let interrupted = begin(32);
        assert_eq!(record(5), Some(32));
        assert_eq!(end(interrupted), Some(5));
        assert_eq!(end(outer), Some(4));
        let outer = begin(16);
        assert_eq!(end(outer), None);
        assert_eq!(record(3), None);
    }
}
