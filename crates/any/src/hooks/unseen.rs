//! What was opened while nothing was recorded.

use std::ffi::c_int;

use engine::{file, host_lock};

use super::paths::path_of;
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

/// The number of the class of a file that was opened while no file was recorded, or by a path that may lead to another
/// file.
pub fn find_class(descriptor: c_int) -> u16 {
    let Some(path) = path_of(descriptor) else {
        if descriptors::state(descriptor) == State::UNSEEN_FILE {
            // It is no file, but for instance a duplicate of a socket.
            descriptors::open_unseen(descriptor, State::NONE);
        }
        return 0;
    };
    let Some(classes) = classes() else { return 0 };
    let class = host_lock::class_number(classes.file(&path.to_string_lossy()));
    descriptors::set_file_class(descriptor, class);
    class
}
