//! Waits for sockets, and for the rows and locks of tables.

use std::ffi::{c_char, c_int, c_void};

use engine::active::Waiting;
use engine::table::Handle;

use super::super::exchange::NONE;
use super::super::level::begin_word;
use super::super::{socket, table};

/// The server's reports of idle sockets rest at this level.
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_socket_wait(
    state: *mut c_void,
    socket: *mut c_void,
    operation: c_int,
    _bytes: usize,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(socket) = (unsafe { socket.cast::<socket::Socket>().as_ref() }) else {
        return NONE;
    };
    match socket.word_of(operation) {
        // SAFETY: rule 8 (the arguments are passed on).
        0 => unsafe { start_unknown_socket_wait(state, socket, operation, file, line) },
        // SAFETY: rule 3 (80 bytes).
        word => unsafe { begin_word(state, word) },
    }
}

/// The same of a socket that has no number yet: the engine gives it one.
#[cold]
#[inline(never)]
unsafe fn start_unknown_socket_wait(
    state: *mut c_void,
    socket: &socket::Socket,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { socket::begin(state, socket, operation, file, line) }
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_table_io_wait(
    state: *mut c_void,
    table: *mut c_void,
    operation: c_int,
    _index: u32,
    _file: *const c_char,
    _line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let handle = unsafe { table.cast::<Handle>().as_ref() };
    let operation = table::OPERATIONS.get(operation as usize);
    let (Some(handle), Some(&operation)) = (handle, operation) else {
        return NONE;
    };
    match handle.word_of_io() {
        0 => NONE,
        // SAFETY: rule 3 (64 bytes).
        word => unsafe { begin_word(state, Waiting::with_operation(word, operation as u8)) },
    }
}

/// The locks that tables hold are forgotten while the calls that release them rest.
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_table_lock_wait(
    state: *mut c_void,
    table: *mut c_void,
    operation: c_int,
    flags: usize,
    _file: *const c_char,
    _line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let handle = unsafe { table.cast::<Handle>().as_ref() };
    let lock = table::lock_of(operation, flags, table::internal_lock);
    let (Some(handle), Some(lock)) = (handle, lock) else {
        return NONE;
    };
    match handle.word_of_lock() {
        0 => NONE,
        // SAFETY: rule 3 (64 bytes).
        word => unsafe { begin_word(state, Waiting::with_operation(word, lock.operation() as u8)) },
    }
}
