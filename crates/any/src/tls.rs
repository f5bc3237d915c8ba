//! TLS: to which connection the bytes belong that the program reads and writes by its TLS library.
//!
//! Within the program's call, the library reads and writes the connection's socket: by itself, or by a
//! function of the program's (PostgreSQL). So the first calls, those of the handshake, name the socket. A
//! later call may return bytes that an earlier one has read from it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Whose bytes a connection of the library has.
#[derive(Clone, Copy)]
struct Owner {
    socket: c_int,
    /// The client's number.
    client: u64,
}

/// Some of the library's connections, with their owners. Threads that serve different connections seldom
/// write the same one.
#[repr(align(64))]
struct Owners(Mutex<HashMap<usize, Owner, FixedState>>);

static OWNERS: [Owners; 64] =
    [const { Owners(Mutex::new(HashMap::with_hasher(FixedState::with_seed(0)))) }; 64];

/// Those among which this connection is.
fn owners(ssl: usize) -> MutexGuard<'static, HashMap<usize, Owner, FixedState>> {
    // Objects that malloc returns begin at multiples of 16.
    let mixed = (ssl >> 4) ^ (ssl >> 10) ^ (ssl >> 16);
    let owners = &OWNERS[mixed % OWNERS.len()].0;
    owners.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The socket that the library's connection has read or written last.
pub fn socket(ssl: usize) -> Option<c_int> {
    owners(ssl).get(&ssl).map(|owner| owner.socket)
}

/// A client's end of a connection of the library.
pub struct Encryption {
    ssl: usize,
    /// Differs from that of each other client. The program may use the library's connection and the socket
    /// again, or their addresses and numbers, before the client ends.
    client: u64,
}

impl Encryption {
    /// What a client's socket carries is from now on what this connection of the library encrypts.
    pub fn new(ssl: usize) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            ssl,
            client: LAST.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }

    /// The program has replaced the library's connection.
    pub fn replace(&mut self, ssl: usize) {
        if self.ssl != ssl {
            self.forget();
            self.ssl = ssl;
        }
    }

    /// Whether it is this connection of the library.
    pub fn is_of(&self, ssl: usize) -> bool {
        self.ssl == ssl
    }

    /// The library has read or written the client's socket.
    pub fn set_socket(&self, socket: c_int) {
        let client = self.client;
        owners(self.ssl).insert(self.ssl, Owner { socket, client });
    }

    fn forget(&self) {
        let mut owners = owners(self.ssl);
        if (owners.get(&self.ssl)).is_some_and(|owner| owner.client == self.client) {
            owners.remove(&self.ssl);
        }
    }
}

impl Drop for Encryption {
    fn drop(&mut self) {
        self.forget();
    }
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

    #[test]
    fn a_client_forgets_what_is_its_own() {
        let ssl = 4096;
        let mut first = Encryption::new(ssl);
        first.set_socket(3);
        assert_eq!(socket(ssl), Some(3));
        // The program serves another socket with it, and then the same number again.
        for number in [4, 3] {
            let second = Encryption::new(ssl);
            second.set_socket(number);
            first.replace(ssl + 16);
            assert_eq!(socket(ssl), Some(number));
            first.set_socket(3);
            drop(std::mem::replace(&mut first, second));
            assert_eq!(socket(ssl), Some(number));
            assert_eq!(socket(ssl + 16), None);
        }
        first.replace(ssl + 32);
        assert_eq!(socket(ssl), None);
    }
}
