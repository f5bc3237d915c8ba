//! Idle: a session that waits for its client. Separate from waits, so that a quiet server does not look
//! like a blocked one.

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::clock;
use crate::payload::IS_COMPILED_IN;
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

/// The present moment, for [`statement::start_since`](crate::statement::start_since).
#[inline]
pub fn now() -> u64 {
    match IS_COMPILED_IN {
        true => clock::now(),
        false => 0,
    }
}
