//! Sockets, and the operations on them.

use std::sync::Arc;

use super::event::{HasStat, Stat};
use super::file::{HasIo, Io};

/// A socket that is open.
#[derive(Debug, Clone)]
pub struct Open {
    /// The instrument.
    pub name: Arc<str>,
    /// Its address.
    pub object_instance_begin: u64,
    /// The thread that serves it.
    pub thread_id: Option<u64>,
    /// Its file descriptor.
    pub descriptor: i32,
    /// Where its other end is; empty for a Unix socket.
    pub ip: Arc<str>,
    /// The port there.
    pub port: u16,
    /// IDLE or ACTIVE.
    pub state: &'static str,
}

/// The operations of an instrument or of one socket.
#[derive(Debug, Clone)]
pub struct SocketIo {
    /// The instrument.
    pub name: Arc<str>,
    /// The socket's address; 0 in the summary by event name.
    pub object_instance_begin: u64,
    /// The operations.
    pub io: Io,
}

impl HasStat for SocketIo {
    fn stat(&self) -> &Stat {
        &self.io.all
    }
}

impl HasIo for SocketIo {
    fn io(&self) -> &Io {
        &self.io
    }
}
