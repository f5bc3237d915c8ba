//! Waits, and the files and sockets that threads wait for.

use std::ffi::{c_char, c_int};

use engine::wait::Wait;
use engine::{Class, Kind, Operation};

use crate::class::{of_kind, require_kind, tare_class};
use crate::place::{HostObject, Place, assert_fits};
use crate::status::{catch_panic, free, pointer_or_null};
use crate::text::text;

/// `struct tare_wait`.
pub type tare_wait = Place<Wait>;

impl HostObject for Wait {
    const MARK: u64 = u64::from_le_bytes(*b"tarewait");
    const NAME: &'static str = "wait";
}

const _: () = assert_fits::<Wait>(8);

/// `TARE_NO_BYTES`.
const NO_BYTES: u64 = u64::MAX;

/// The operation, if it belongs to this kind. Each kind has rows for its own operations only.
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

/// Begins a wait in the host's memory. A wait that is not possible is not recorded.
///
/// # Safety
/// `wait` as [`Place::put`].
#[inline]
pub(crate) unsafe fn begin(wait: *mut tare_wait, body: impl FnOnce() -> Option<Wait>) {
    catch_panic((), || match body() {
        // SAFETY: rule 8 (a struct of the calling thread).
        Some(begun) => unsafe { Place::put(wait, begun) },
        // SAFETY: rule 8 (a struct of the calling thread).
        None => unsafe { Place::clear(wait) },
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_wait_begin(
    wait: *mut tare_wait,
    class: *mut tare_class,
    operation: c_int,
) {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_idle_begin(wait: *mut tare_wait, class: *mut tare_class) {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    unsafe {
        begin(wait, || {
            let class = of_kind(class, |kind| kind == Kind::Idle).filter(|_| !wait.is_null())?;
            Some(engine::idle::start(class))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_wait_end(wait: *mut tare_wait, bytes: u64) {
    catch_panic((), || {
        // SAFETY: rules 3 and 4 (a struct of the calling thread).
        unsafe {
            Place::end(wait, |wait| {
                if bytes != NO_BYTES {
                    wait.bytes(bytes);
                }
            });
        }
    });
}

/// An instance, and the class that its operations belong to.
pub struct Instance<T> {
    inner: T,
    class: &'static Class,
}

/// `struct tare_file`.
pub type tare_file = Instance<engine::file::Instance>;
/// `struct tare_socket`.
pub type tare_socket = Instance<engine::socket::Instance>;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_open(
    class: *mut tare_class,
    path: *const c_char,
) -> *mut tare_file {
    pointer_or_null(|| {
        // SAFETY: rules 1 and 5 (a registered class, and texts).
        let (class, path) =
            unsafe { (require_kind(class, |kind| kind == Kind::File)?, text(path)) };
        let inner = engine::file::Instance::open(class, &path);
        Ok(Box::into_raw(Box::new(Instance { inner, class })))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_open(
    class: *mut tare_class,
    descriptor: c_int,
) -> *mut tare_socket {
    pointer_or_null(|| {
        // SAFETY: rule 1 (NULL, or a registered class).
        let class = unsafe { require_kind(class, |kind| kind == Kind::Socket) }?;
        let inner = engine::socket::Instance::new(class, descriptor);
        Ok(Box::into_raw(Box::new(Instance { inner, class })))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_close(file: *mut tare_file) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(file) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_close(socket: *mut tare_socket) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(socket) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_file_begin(
    wait: *mut tare_wait,
    file: *mut tare_file,
    operation: c_int,
) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
    unsafe {
        begin(wait, || {
            let file = file.as_ref().filter(|_| !wait.is_null())?;
            Some(file.inner.wait(operation_of(file.class.kind(), operation)?))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_begin(
    wait: *mut tare_wait,
    socket: *mut tare_socket,
    operation: c_int,
) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_peer(socket: *mut tare_socket, ip: *const c_char, port: u16) {
    catch_panic((), || {
        // SAFETY: rules 2 and 4 (only the calling thread uses it).
        if let Some(socket) = unsafe { socket.as_mut() } {
            // SAFETY: rule 5 (NULL, or a readable text).
            socket.inner.peer(&unsafe { text(ip) }, port);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_own(socket: *const tare_socket) {
    catch_panic((), || {
        // SAFETY: rule 2 (NULL, or not freed).
        if let Some(socket) = unsafe { socket.as_ref() } {
            socket.inner.own();
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_socket_idle(socket: *const tare_socket, is_idle: c_int) {
    catch_panic((), || {
        // SAFETY: rule 2 (NULL, or not freed).
        if let Some(socket) = unsafe { socket.as_ref() } {
            socket.inner.idle(is_idle != 0);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation beyond its kind's rows would count for another class.
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
