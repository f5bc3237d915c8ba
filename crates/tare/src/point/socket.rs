//! Sockets: one instance for each that is open.

use std::sync::atomic::{AtomicU64, Ordering};

use super::wait::{self, Wait};
use crate::engine::hot::{self, local};
use crate::engine::local::Local;
use crate::{Class, Operation};

/// An open socket, as Tare knows it.
#[derive(Debug)]
pub struct Instance {
    class: &'static Class,
    descriptor: i64,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: AtomicU64,
}

impl Instance {
    /// Tells Tare of a socket by its file descriptor; dropped = closed.
    pub fn new(class: &'static Class, descriptor: i32) -> Self {
        let instance = Self {
            class,
            descriptor: i64::from(descriptor),
            id: AtomicU64::new(0),
        };
        if let Some(local) = local() {
            instance.id(local);
        }
        instance
    }

    /// Begins an operation on the socket.
    #[inline]
    pub fn wait(&self, operation: Operation) -> Wait {
        wait::start_on(self.class, operation, |local| self.id(local))
    }

    #[inline]
    fn id(&self, local: &Local) -> u32 {
        let id = self.id.load(Ordering::Relaxed);
        if id >> 32 == local.key >> 32 {
            return id as u32;
        }
        let address = std::ptr::from_ref(self).addr();
        let new = local
            .engine
            .new_instance(local.number(self.class), address, self.descriptor);
        let known = local.key >> 32 << 32 | u64::from(new);
        let order = Ordering::Relaxed;
        if let Err(other) = self.id.compare_exchange(id, known, order, order) {
            // Another thread was first.
            local.engine.end_instance(new);
            return other as u32;
        }
        new
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let id = *self.id.get_mut();
        if id as u32 != 0 {
            hot::with_engine((id >> 32) as u32, |engine| engine.end_instance(id as u32));
        }
    }
}
