//! For which client's request a connection to an upstream server is used.
//!
//! nginx passes a request on when it has read it, or goes on when the upstream server has answered. So the first
//! bytes of a request on a connection to an upstream server belong to the client whose request the thread handles in
//! this turn. The connection serves that request until it sends again after it has received: connections stay open
//! and serve the requests of many clients in turn.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::descriptors::Descriptor;
use crate::turn;

/// A client's connection whose first request is handled.
#[derive(Clone, Copy)]
pub struct Downstream {
    connection: &'static Descriptor,
    /// [`new_key`] of what the descriptor had then.
    key: u64,
}

/// A connection to an upstream server.
#[derive(Default)]
pub struct Upstream {
    downstream: Option<Downstream>,
    /// Whether something came since it last sent.
    has_received: bool,
}

/// The number of the last client.
static LAST_KEY: AtomicU64 = AtomicU64::new(0);

/// A number by which a client's connection is known, above 0.
pub fn new_key() -> u64 {
    LAST_KEY.fetch_add(1, Ordering::Relaxed) + 1
}

thread_local! {
    /// The client whose request the thread handles, and when the poll returned in whose turn it does. Without a
    /// destructor, so that it can be used at any time in a thread's life.
    static CURRENT: Cell<(u64, Option<Downstream>)> = const { Cell::new((0, None)) };
}

fn set_current(downstream: Option<Downstream>) {
    CURRENT.set((turn::woken(), downstream));
}

fn current() -> Option<Downstream> {
    let (woken, downstream) = CURRENT.get();
    downstream.filter(|_| woken == turn::woken())
}

/// The thread handles the request of a client, which has this key.
pub fn handle(connection: &'static Descriptor, key: u64) {
    set_current(Some(Downstream { connection, key }));
}

impl Upstream {
    /// The program connects, or is about to send.
    pub fn send(&mut self) {
        if self.downstream.is_some() && !self.has_received {
            return;
        }
        let Some(downstream) = current() else { return };
        (self.downstream, self.has_received) = (Some(downstream), false);
        downstream.begin_upstream();
    }

    /// The program has received something, and handles the request for which it came.
    pub fn receive(&mut self) {
        self.has_received = true;
        if self.downstream.is_some() {
            set_current(self.downstream);
        }
    }
}

impl Downstream {
    /// The server passes the client's first request on.
    fn begin_upstream(self) {
        let mut object = self.connection.lock();
        if let Some(client) = object.as_mut().and_then(|object| object.client()) {
            client.in_session(|commands| {
                if commands.key() == self.key {
                    commands.begin_upstream();
                }
            });
        }
    }
}
