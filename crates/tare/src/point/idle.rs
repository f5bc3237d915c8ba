//! Idle: a session that waits for its client. Told apart from waits, so that a quiet server does not
//! look like a blocked one.

use super::wait::{self, Start, Wait};
use crate::class::Class;
use tare_layout::event::Operation;

/// Begins an idle time of a class of kind Idle; it ends when the guard is dropped.
#[inline]
pub fn start(class: &Class) -> Wait {
    wait::start_on(class, Operation::Idle, Start::Edge, |_| (0, 0xff))
}
