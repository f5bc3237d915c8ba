//! What was opened while nothing was recorded.

use std::ffi::c_int;

use super::{open, sockets};
use crate::descriptors::{self, State};

/// Records what a descriptor has open. `state`: one that is unseen.
#[cold]
#[inline(never)]
pub fn resolve(descriptor: c_int, state: State) {
    drop(descriptors::take(descriptor));
    match state {
        State::UNSEEN_FILE => open::record_unseen(descriptor),
        State::NAMED_FILE => open::record_named(descriptor),
        State::UNSEEN_LISTENER => sockets::record_listener(descriptor),
        State::UNSEEN_OUTGOING => sockets::record_outgoing(descriptor),
        _ => sockets::record_client(descriptor),
    }
}
