//! Waits, and the files and sockets that threads wait for.

use std::ffi::{c_char, c_int};

use engine::wait::Wait;
use engine::{Class, Kind, Operation};

use crate::class::{need_kind, of_kind, tare_class};
use crate::place::{Place, Placed, fits};
use crate::status::{made, quiet};
use crate::text::text;

/// `struct tare_wait`.
pub type tare_wait = Place<Wait>;

impl Placed for Wait {
    const MARK: u64 = u64::from_le_bytes(*b"tarewait");
    const NAME: &'static str = "wait";
}

const _: () = fits::<Wait>(8);

/// `TARE_NO_BYTES`.
const NO_BYTES: u64 = u64::MAX;

/// The operation, if it is one of this kind's. Each kind has rows for its own operations only.
fn operation_of(kind: Kind, number: c_int) -> Option<Operation> {
    let operation = Operation::from_u8(u8::try_from(number).ok()?)?;
    let own = match kind {
        Kind::Mutex => 1..=2,
        Kind::RwLock => 3..=6,
        Kind::SxLock => 3..=9,
        Kind::Cond => 10..=11,
        Kind::File => 16..=30,
        Kind::Socket => 32..=40,
        Kind::TableIo => 48..=51,
        Kind::TableLock if number >= 56 => 56..=63,
        Kind::TableLock => 52..=53,
        Kind::MetadataLock => 54..=54,
        Kind::Idle => 55..=55,
        _ => return None,
    };
    own.contains(&number).then_some(operation)
}

/// Begins a wait in the host's memory; one that cannot be, is not recorded.
///
/// # Safety
/// `wait` as [`Place::put`].
#[inline]
pub(crate) unsafe fn begin(wait: *mut tare_wait, body: impl FnOnce() -> Option<Wait>) {
    quiet((), || match body() {
        // SAFETY: the caller's promise.
        Some(begun) => unsafe { Place::put(wait, begun) },
        // SAFETY: the caller's promise.
        None => unsafe { Place::clear(wait) },
    });
}

/// See `tare.h`.
///
/// # Safety
/// `wait` as [`Place::put`], `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_wait_begin(
    wait: *mut tare_wait,
    class: *mut tare_class,
    operation: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe {
        begin(wait, || {
            let class = of_kind(class, |_| true).filter(|_| !wait.is_null())?;
            Some(engine::wait::start(
                class,
                operation_of(class.kind(), operation)?,
            ))
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`tare_wait_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_idle_begin(wait: *mut tare_wait, class: *mut tare_class) {
    // SAFETY: the caller's promise.
    unsafe {
        begin(wait, || {
            let class = of_kind(class, |kind| kind == Kind::Idle).filter(|_| !wait.is_null())?;
            Some(engine::idle::start(class))
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `wait` as [`Place::end`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_wait_end(wait: *mut tare_wait, bytes: u64) {
    quiet((), || {
        // SAFETY: the caller's promise.
        unsafe {
            Place::end(wait, |wait| {
                if bytes != NO_BYTES {
                    wait.bytes(bytes);
                }
            });
        }
    });
}

/// An instance with what its operations must be of.
pub struct Instance<T> {
    inner: T,
    class: &'static Class,
}

/// `struct tare_file`.
pub type tare_file = Instance<engine::file::Instance>;
/// `struct tare_socket`.
pub type tare_socket = Instance<engine::socket::Instance>;

/// See `tare.h`.
///
/// # Safety
/// `class` as [`need_kind`], `path` NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_open(
    class: *mut tare_class,
    path: *const c_char,
) -> *mut tare_file {
    made(|| {
        // SAFETY: the caller's promise.
        let (class, path) = unsafe { (need_kind(class, |kind| kind == Kind::File)?, text(path)) };
        let inner = engine::file::Instance::open(class, &path);
        Ok(Box::into_raw(Box::new(Instance { inner, class })))
    })
}

/// See `tare.h`.
///
/// # Safety
/// `class` as [`need_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_open(
    class: *mut tare_class,
    descriptor: c_int,
) -> *mut tare_socket {
    made(|| {
        // SAFETY: the caller's promise.
        let class = unsafe { need_kind(class, |kind| kind == Kind::Socket) }?;
        let inner = engine::socket::Instance::new(class, descriptor);
        Ok(Box::into_raw(Box::new(Instance { inner, class })))
    })
}

/// Ends an instance.
///
/// # Safety
/// `instance` is NULL or came from an open function and was not closed.
unsafe fn close<T>(instance: *mut Instance<T>) {
    quiet((), || {
        if !instance.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(instance) });
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// As [`close`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_close(file: *mut tare_file) {
    // SAFETY: the caller's promise.
    unsafe { close(file) };
}

/// See `tare.h`.
///
/// # Safety
/// As [`close`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_close(socket: *mut tare_socket) {
    // SAFETY: the caller's promise.
    unsafe { close(socket) };
}

/// See `tare.h`.
///
/// # Safety
/// `wait` as [`Place::put`]; `file` is NULL or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_begin(
    wait: *mut tare_wait,
    file: *mut tare_file,
    operation: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe {
        begin(wait, || {
            let file = file.as_ref().filter(|_| !wait.is_null())?;
            Some(file.inner.wait(operation_of(file.class.kind(), operation)?))
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `wait` as [`Place::put`]; `socket` is NULL or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_begin(
    wait: *mut tare_wait,
    socket: *mut tare_socket,
    operation: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe {
        begin(wait, || {
            let socket = socket.as_ref().filter(|_| !wait.is_null())?;
            Some(
                socket
                    .inner
                    .wait(operation_of(socket.class.kind(), operation)?),
            )
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `socket` is NULL or open, and no other thread uses it now; `ip` is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_peer(socket: *mut tare_socket, ip: *const c_char, port: u16) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(socket) = unsafe { socket.as_mut() } {
            // SAFETY: the caller's promise.
            socket.inner.peer(&unsafe { text(ip) }, port);
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `socket` is NULL or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_own(socket: *const tare_socket) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(socket) = unsafe { socket.as_ref() } {
            socket.inner.own();
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `socket` is NULL or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_idle(socket: *const tare_socket, is_idle: c_int) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(socket) = unsafe { socket.as_ref() } {
            socket.inner.idle(is_idle != 0);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation beyond its kind's rows would count into another class's.
    #[test]
    fn operations_stay_within_their_kinds_rows() {
        for number in 0..=255 {
            for kind in (1..=16).filter_map(Kind::from_u8) {
                if let Some(operation) = operation_of(kind, number) {
                    assert!(
                        operation.line() < kind.row_lines(),
                        "{kind:?} {operation:?}"
                    );
                }
            }
        }
        assert!(operation_of(Kind::File, 19).is_some());
        assert!(operation_of(Kind::File, 48).is_none());
        assert!(operation_of(Kind::Stage, 1).is_none());
        assert!(operation_of(Kind::File, -1).is_none());
    }
}
