//! The functions of OpenSSL's library libssl that the program itself calls.
//!
//! Tare calls no function of the library: so the library's queue of errors is as without Tare.

use std::ffi::{c_int, c_void};
use std::io::Write as _;

use engine::periods;
use libc::off_t;

use super::after_read;
use crate::calls::{observe, run_unobserved};
use crate::client::Stream;
use crate::descriptors::Access::{self, In, Out};
use crate::descriptors::{self, State};
use crate::imports::{self, Import};
use crate::{start, tls};

/// Replaces the functions in a program whose connections Tare reads. Called before `main`.
pub fn open() {
    if start::protocol().is_none() {
        return;
    }
    run_unobserved(|| {
        if let Err(error) = imports::replace(IMPORTS) {
            // Standard error may be closed.
            let _ = writeln!(
                std::io::stderr(),
                "tare: the calls of the TLS library cannot be replaced ({error}); what it encrypts is not recorded"
            );
        }
    });
}

/// Runs a call of the library. `moved`: how many bytes of the program's buffer it has read or written, if its
/// result is this.
#[inline(always)]
fn with_buffer(
    ssl: *mut c_void,
    access: Access,
    buffer: *const c_void,
    call: impl FnOnce() -> c_int,
    moved: impl FnOnce(c_int) -> usize,
) -> c_int {
    let ssl = ssl.addr();
    let interrupted = tls::begin(ssl);
    let result = call();
    let socket = tls::end(interrupted);
    let length = match result > 0 {
        true => moved(result),
        false => 0,
    };
    observe(|| {
        let moved = |stream: &mut Stream| {
            // SAFETY: rule 3 (the call moved as many bytes of the buffer).
            stream.moved(access, unsafe {
                std::slice::from_raw_parts(buffer.cast(), length)
            });
        };
        pass_on(ssl, socket, (length != 0).then_some(moved));
    });
    result
}

/// A call of the library has read or written this socket, and has moved plain bytes if there is `moved`.
#[inline(always)]
fn pass_on(ssl: usize, socket: Option<c_int>, moved: Option<impl FnOnce(&mut Stream)>) {
    if socket.is_none() && moved.is_none() {
        return;
    }
    let Some(descriptor) = socket.or_else(|| tls::socket(ssl)) else {
        return;
    };
    let Some(connection) = descriptors::get(descriptor) else {
        return;
    };
    let state = descriptors::state(descriptor);
    let active = periods::follow();
    if state.is_idle(active) {
        return descriptors::mark_missed(descriptor, state);
    }
    let mut object = connection.lock();
    let Some(client) = object.as_mut().and_then(|object| object.client()) else {
        return;
    };
    let Some(encryption) = client.encryption_of(ssl) else {
        return;
    };
    if let Some(socket) = socket {
        encryption.set_socket(socket);
    }
    if let Some(moved) = moved {
        if active.is_none() && client.may_miss() {
            return descriptors::mark_missed(descriptor, state);
        }
        if state.has(State::MISSED) {
            descriptors::unmark_missed(descriptor, state);
            client.miss();
        }
        client.read(None, moved);
        after_read(connection, client);
    }
}

/// Runs a call that sends a file, whose bytes nobody sees.
#[inline(always)]
fn send_file(ssl: *mut c_void, call: impl FnOnce() -> isize) -> isize {
    let ssl = ssl.addr();
    let interrupted = tls::begin(ssl);
    let result = call();
    let socket = tls::end(interrupted);
    observe(|| {
        let bytes = u64::try_from(result).unwrap_or(0);
        let moved = |stream: &mut Stream| stream.send_unseen(bytes);
        pass_on(ssl, socket, (bytes != 0).then_some(moved));
    });
    result
}

/// Runs a call that moves none of the program's bytes, or leaves them in the library.
#[inline(always)]
fn without_buffer(ssl: *mut c_void, call: impl FnOnce() -> c_int) -> c_int {
    with_buffer(ssl, In, std::ptr::null(), call, |_| 0)
}

/// The number that a call has written.
///
/// # Safety
/// The call has succeeded.
unsafe fn written(number: *const usize) -> usize {
    // SAFETY: rule 3 (the library has written it).
    unsafe { number.read() }
}

/// Declares functions of the library, and their table. `|call|` calls the library's own, with the same
/// arguments.
macro_rules! imports {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { |$call:ident| $body:expr })*) => {
        $(
            #[allow(non_snake_case, reason = "the library's name")]
            unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                type Function = unsafe extern "C-unwind" fn($($type),*) -> $result;
                // SAFETY: rule 6 (the address was there under this name).
                let real: Function = unsafe { std::mem::transmute(table::$name.real()) };
                let $call = || {
                    // SAFETY: rule 2 (the arguments are passed on).
                    crate::calls::call(|| unsafe { real($($argument),*) })
                };
                $body
            }
        )*

        #[allow(non_upper_case_globals, reason = "the library's names")]
        mod table {
            use super::*;

            $(
                pub static $name: Import = Import::new(
                    crate::real::c_name!($name),
                    || super::$name as *mut c_void,
                );
            )*
        }

        const IMPORTS: &[&Import] = &[$(&table::$name),*];
    };
}

imports! {
    fn SSL_accept(ssl: *mut c_void) -> c_int { |call| without_buffer(ssl, call) }
    fn SSL_do_handshake(ssl: *mut c_void) -> c_int { |call| without_buffer(ssl, call) }
    fn SSL_peek(ssl: *mut c_void, buffer: *mut c_void, count: c_int) -> c_int {
        |call| without_buffer(ssl, call)
    }
    fn SSL_peek_ex(ssl: *mut c_void, buffer: *mut c_void, count: usize, read: *mut usize) -> c_int {
        |call| without_buffer(ssl, call)
    }
    fn SSL_read(ssl: *mut c_void, buffer: *mut c_void, count: c_int) -> c_int {
        |call| with_buffer(ssl, In, buffer, call, |count| count as usize)
    }
    fn SSL_read_ex(ssl: *mut c_void, buffer: *mut c_void, count: usize, read: *mut usize) -> c_int {
        // SAFETY: `with_buffer` asks only if the call has succeeded.
        |call| with_buffer(ssl, In, buffer, call, |_| unsafe { written(read) })
    }
    fn SSL_write(ssl: *mut c_void, buffer: *const c_void, count: c_int) -> c_int {
        |call| with_buffer(ssl, Out, buffer, call, |count| count as usize)
    }
    fn SSL_write_ex(ssl: *mut c_void, buffer: *const c_void, count: usize, sent: *mut usize) -> c_int {
        // SAFETY: `with_buffer` asks only if the call has succeeded.
        |call| with_buffer(ssl, Out, buffer, call, |_| unsafe { written(sent) })
    }
    fn SSL_sendfile(ssl: *mut c_void, fd: c_int, at: off_t, count: usize, flags: c_int) -> isize {
        |call| send_file(ssl, call)
    }
}
