//! Statuses, messages of errors, and the functions that catch panics and free objects.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `enum tare_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Null = 1,
    Invalid = 2,
    Running = 3,
    NoSegment = 4,
    Busy = 5,
    Timeout = 6,
    NotHeld = 7,
    NoThread = 8,
    Panic = 9,
}

const OK: c_int = 0;

/// A status and the text for `tare_error_message`.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub fn null(what: &str) -> Self {
        Self::new(Status::Null, format!("{what} is NULL; give one"))
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::Invalid, message)
    }
}

/// How a function ends without an error: a lock that is busy or a timeout has no message.
pub enum Outcome {
    Done,
    Busy,
    Timeout,
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Stores a failure's message for the thread, and returns its status.
#[cold]
pub fn report(failure: Failure) -> c_int {
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending has no message any more; the status is enough.
    let _ = MESSAGE.try_with(|message| {
        if let Ok(mut message) = message.try_borrow_mut() {
            *message = text;
        }
    });
    failure.status as c_int
}

#[cold]
fn panic_failure() -> Failure {
    Failure::new(
        Status::Panic,
        "Tare failed within and goes on without this call; please report it",
    )
}

/// Runs a function's body, and returns its status.
#[inline]
pub fn return_status(body: impl FnOnce() -> Result<Outcome, Failure>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(Outcome::Done)) => OK,
        Ok(Ok(Outcome::Busy)) => Status::Busy as c_int,
        Ok(Ok(Outcome::Timeout)) => Status::Timeout as c_int,
        Ok(Err(failure)) => report(failure),
        Err(_) => report(panic_failure()),
    }
}

/// Runs the body of a function without a status; returns `otherwise` if it panics.
#[inline]
pub fn catch_panic<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(_) => {
            report(panic_failure());
            otherwise
        }
    }
}

/// Runs the body of a function that creates an object; returns NULL if it fails.
pub fn pointer_or_null<T>(body: impl FnOnce() -> Result<*mut T, Failure>) -> *mut T {
    catch_panic(std::ptr::null_mut(), || {
        body().unwrap_or_else(|failure| {
            report(failure);
            std::ptr::null_mut()
        })
    })
}

/// Frees an object from [`pointer_or_null`].
///
/// # Safety
/// `object` is NULL or came from a `Box`, and is not used any more.
pub unsafe fn free<T>(object: *mut T) {
    catch_panic((), || {
        if !object.is_null() {
            // SAFETY: rule 8 (it is not used any more).
            drop(unsafe { Box::from_raw(object) });
        }
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_error_message() -> *const c_char {
    const NONE: *const c_char = c"".as_ptr();
    catch_panic(NONE, || {
        MESSAGE
            .try_with(|message| message.try_borrow().map_or(NONE, |text| text.as_ptr()))
            .unwrap_or(NONE)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn a_panic_is_a_status() {
        let status = return_status(|| panic!("within"));
        assert_eq!(status, Status::Panic as c_int);
        // SAFETY: the message is valid until the next failure of this thread.
        let message = unsafe { CStr::from_ptr(tare_error_message()) };
        assert!(message.to_str().unwrap().contains("report it"));
        assert_eq!(catch_panic(7, || panic!("within")), 7);
        assert!(pointer_or_null::<u8>(|| panic!("within")).is_null());
    }

    #[test]
    fn messages_are_each_threads_own() {
        report(Failure::invalid("here"));
        std::thread::spawn(|| {
            // SAFETY: as above.
            assert!(unsafe { CStr::from_ptr(tare_error_message()) }.is_empty());
        })
        .join()
        .unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(tare_error_message()) }, c"here");
    }
}
