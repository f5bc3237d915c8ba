//! Idle: a session that waits for its client. Separate from waits, so that a quiet server does not look
//! like a blocked one.

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::clock;
use crate::engine::hot::local_of_statements;
use crate::source::Source;
use tare_layout::event::Operation;

/// Begins an idle time of a class of kind Idle; it ends when the guard is dropped.
#[inline]
#[track_caller]
pub fn start(class: &Class) -> Wait {
    start_at(class, Source::here())
}

/// The same, for a host that passes the place in its source.
#[inline]
pub fn start_at(class: &Class, source: Source) -> Wait {
    wait::start_on::<true>(class, Operation::Idle, Start::Edge, source, |_| (0, 0xff))
}

/// The present moment, for [`ended_at`].
#[inline]
pub fn now() -> u64 {
    clock::now()
}

/// The thread's idle time ended at this moment: the statement that the thread begins next began then. For
/// hosts in which one thread serves many sessions, and one wait is the idle time of them all.
#[inline]
pub fn ended_at(moment: u64) {
    if let Some(local) = local_of_statements() {
        local.set_idle_end(moment);
    }
}
