//! The level `active`: docs/active-internals.md. No event is counted but statements, in one row, and each
//! thread keeps what it does now in the line of its slot.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::activity::Waiting;
use tare_layout::event::Operation;
use tare_layout::object::target;

use super::hot::{ACTIVE, local};
use super::local::Local;
use super::running::NOW;
use crate::payload::IS_COMPILED_IN;

classes! {
    /// Statements at the level active, of all kinds. Only their number, time and errors are counted.
    pub(crate) static STATEMENT: Statement = "statement/tare/active", frequent;
}

/// In place of the key of a thread ([`Local::key`]): an event that began at the level `active`.
pub(crate) const KEY: u64 = 1;

/// The local, if waits are kept and not counted.
#[inline(always)]
pub(crate) fn local_of_moments<'a>() -> Option<&'a Local> {
    if !IS_COMPILED_IN {
        return None;
    }
    match NOW.waits.load(Ordering::Relaxed) == ACTIVE {
        true => local(),
        false => None,
    }
}

/// Whether what threads do now is kept, and nothing counted.
#[inline]
pub(crate) fn is_on() -> bool {
    NOW.waits.load(Ordering::Relaxed) == ACTIVE
}

impl Local {
    /// Stores a wait as the innermost one. Returns the word of the outer one, which its end
    /// [stores](Local::set_wait). `None`: the wait is not kept.
    #[inline]
    pub fn begin_wait(
        &self,
        class: u16,
        kind: Kind,
        operation: Operation,
        object: u64,
    ) -> Option<u64> {
        let outer = self.slot.activity.wait.load(Ordering::Relaxed);
        let object = match kind {
            Kind::Idle => return None,
            Kind::Cond if Waiting::is_for_metadata_lock(outer) => return None,
            Kind::MetadataLock => object | target::METADATA_LOCK << 32,
            _ => object,
        };
        self.set_wait(Waiting::numbered(class, operation as u8, object));
        Some(outer)
    }

    /// Stores the word of a wait.
    #[inline]
    pub fn set_wait(&self, word: u64) {
        self.slot.activity.wait.store(word, Ordering::Relaxed);
    }
}
