//! Sockets: one instance for each that is open.

use std::sync::atomic::{AtomicU64, Ordering};

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local};
use crate::engine::local::Local;
use crate::payload::Payload;
use crate::source::Source;
use tare_layout::event::Operation;
use tare_layout::instance;

/// An open socket.
#[derive(Debug)]
pub struct Instance(Payload<Socket>);

#[derive(Debug)]
struct Socket {
    class: &'static Class,
    descriptor: i32,
    /// The address of its peer.
    peer: Option<(Box<str>, u16)>,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: AtomicU64,
}

impl Instance {
    /// A socket is open with this file descriptor; dropped = closed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn new(class: &'static Class, descriptor: i32) -> Self {
        Self(Payload::new(|| {
            let socket = Socket {
                class,
                descriptor,
                peer: None,
                id: AtomicU64::new(0),
            };
            if let Some(local) = local() {
                socket.id(local);
            }
            socket
        }))
    }

    /// Sets the address of the peer, or the address on which a listening socket listens.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn peer(&mut self, ip: &str, port: u16) {
        let Some(socket) = self.0.get_mut() else {
            return;
        };
        socket.peer = Some((ip.into(), port));
        if let Some(local) = local()
            && let Some(entry) = socket.entry(local)
        {
            entry.ip.set(ip);
            entry.port.store(u32::from(port), Ordering::Relaxed);
        }
    }

    /// Records that the calling thread (or the session that it has entered) serves the socket.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn own(&self) {
        if let Some(socket) = self.0.get()
            && let Some(local) = local()
            && let Some(entry) = local.engine.live_socket(socket.id(local))
        {
            let thread = local.slot.thread_id.load(Ordering::Relaxed);
            entry.owner_thread.store(thread, Ordering::Relaxed);
        }
    }

    /// Sets whether its thread waits for the peer to send something: `STATE`.
    #[inline]
    pub fn idle(&self, is_idle: bool) {
        if let Some(socket) = self.0.get()
            && let Some(local) = attached()
            && let Some(entry) = socket.entry(local)
        {
            entry.is_idle.store(u32::from(is_idle), Ordering::Relaxed);
        }
    }

    /// Its number, 0 = it has none yet. Valid until Tare is stopped.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        let socket = self.0.get();
        socket.map_or(0, |socket| socket.id.load(Ordering::Relaxed) as u32)
    }

    /// Begins an operation on the socket.
    #[inline]
    #[track_caller]
    pub fn wait(&self, operation: Operation) -> Wait {
        self.begin::<false>(operation, Start::Now, Source::here())
    }

    /// Begins an operation as [`wait`](Self::wait) does, for a host that passes the place in its source.
    #[inline]
    pub fn wait_at(&self, operation: Operation, source: Source) -> Wait {
        self.begin::<true>(operation, Start::Now, source)
    }

    /// Begins an operation that directly follows the thread's statement, as sending its result does: it
    /// begins where the statement ended, without a clock read. After any other event this is
    /// [`Self::wait`].
    #[inline]
    #[track_caller]
    pub fn follow(&self, operation: Operation) -> Wait {
        self.begin::<false>(operation, Start::Edge, Source::here())
    }

    #[inline(always)]
    fn begin<const HOST_CALLS: bool>(
        &self,
        operation: Operation,
        start: Start,
        source: Source,
    ) -> Wait {
        let Some(socket) = self.0.get() else {
            return Wait::NONE;
        };
        wait::start_on::<HOST_CALLS>(socket.class, operation, start, source, |local| {
            (u64::from(socket.id(local)), 0xff)
        })
    }
}

impl Socket {
    /// Its entry in the segment that records now, if it has one.
    #[inline]
    fn entry<'a>(&self, local: &'a Local) -> Option<&'a instance::Socket> {
        let id = self.id.load(Ordering::Relaxed);
        match id >> 32 == local.key >> 32 {
            true => local.socket(id as u32),
            false => None,
        }
    }

    #[inline]
    fn id(&self, local: &Local) -> u32 {
        let id = self.id.load(Ordering::Relaxed);
        if id >> 32 == local.key >> 32 {
            return id as u32;
        }
        self.id_slow(local, id)
    }

    #[cold]
    #[inline(never)]
    fn id_slow(&self, local: &Local, id: u64) -> u32 {
        let new = local
            .engine
            .new_socket(local.number(self.class), self.descriptor);
        if let Some(socket) = local.engine.live_socket(new)
            && let Some((ip, port)) = &self.peer
        {
            socket.ip.set(ip);
            socket.port.store(u32::from(*port), Ordering::Relaxed);
        }
        let tagged = local.key >> 32 << 32 | u64::from(new);
        let order = Ordering::Relaxed;
        if let Err(other) = self.id.compare_exchange(id, tagged, order, order) {
            // Another thread was first.
            local.engine.end_socket(new);
            return other as u32;
        }
        new
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let id = *self.id.get_mut();
        if id as u32 != 0 {
            hot::with_engine((id >> 32) as u32, |engine| engine.end_socket(id as u32));
        }
    }
}
