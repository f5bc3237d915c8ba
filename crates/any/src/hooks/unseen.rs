//! What was opened while nothing was recorded.

use std::ffi::{CString, c_int};

use engine::file;

use super::open::{path_of, plain_path};
use super::sockets;
use crate::descriptors::{self, Object, State};
use crate::names::classes;

/// Records what a descriptor has open. `state`: one that is unseen.
#[cold]
#[inline(never)]
pub fn resolve(descriptor: c_int, state: State) {
    drop(descriptors::take(descriptor));
    match state {
        State::UNSEEN_FILE => record_file(descriptor),
        State::NAMED_FILE => record_named(descriptor),
        State::UNSEEN_LISTENER => sockets::record_listener(descriptor),
        State::UNSEEN_OUTGOING => sockets::record_outgoing(descriptor),
        _ => sockets::record_client(descriptor),
    }
}

/// Records a file that was opened while no file was recorded.
fn record_file(descriptor: c_int) {
    let (Some(path), Some(classes)) = (path_of(descriptor), classes()) else {
        return;
    };
    let path = path.to_string_lossy();
    let file = file::Instance::open(classes.file(&path), &path);
    drop(descriptors::put(descriptor, Object::File(file)));
}

/// Records a file whose path is stored.
fn record_named(descriptor: c_int) {
    let Some(entry) = descriptors::get(descriptor) else {
        return;
    };
    let stored = CString::new(entry.path().bytes()).unwrap_or_default();
    let (Some(path), Some(classes)) = (plain_path(libc::AT_FDCWD, &stored), classes()) else {
        return record_file(descriptor);
    };
    let file = file::Instance::open(classes.file(&path), &path);
    drop(descriptors::put(descriptor, Object::File(file)));
}
