//! Threads, and sessions that wander between them.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::thread::{ConnectionType, Entered, Session};
use engine::{Class, Command, Kind};

use crate::class::{need_kind, of_kind, tare_class};
use crate::status::{Failure, Outcome, Status, door, made, quiet};
use crate::text::text;

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What a new thread needs to know.
struct Birth {
    class: Option<&'static Class>,
    parent: u64,
    start: Start,
    argument: *mut c_void,
}

unsafe extern "C" {
    // Declared here, for what the host's function throws (pthread_cancel, too) must pass through.
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int;
}

unsafe extern "C-unwind" fn born(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `tare_thread_create` made it for this thread alone.
    let Birth {
        class,
        parent,
        start,
        argument,
    } = *unsafe { Box::from_raw(argument.cast::<Birth>()) };
    if let Some(class) = class {
        quiet((), || engine::thread::register_child(class, parent));
    }
    // SAFETY: the host's function and its argument, as it gave them. No Rust value is alive here
    // that would have to be dropped when the function does not return.
    unsafe { start(argument) }
}

/// See `tare.h`.
///
/// # Safety
/// As pthread_create; `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    class: *mut tare_class,
    start: Option<Start>,
    argument: *mut c_void,
) -> c_int {
    door(|| {
        if thread.is_null() {
            return Err(Failure::null("the thread"));
        }
        let start = start.ok_or_else(|| Failure::null("the thread's function"))?;
        // SAFETY: the caller's promise. A thread runs without a class, too.
        let class = unsafe { of_kind(class, |kind| kind == Kind::Thread) };
        let birth = Box::into_raw(Box::new(Birth {
            class,
            parent: engine::thread::id(),
            start,
            argument,
        }));
        // SAFETY: the caller's promise; `birth` is the new thread's from here on.
        let error = unsafe { pthread_create(thread, attributes, born, birth.cast()) };
        if error == 0 {
            return Ok(Outcome::Done);
        }
        // SAFETY: no thread was made that could have taken it.
        drop(unsafe { Box::from_raw(birth) });
        // SAFETY: errno is the calling thread's.
        unsafe { *libc::__errno_location() = error };
        let reason = std::io::Error::from_raw_os_error(error);
        Err(Failure::new(
            Status::NoThread,
            format!("the system starts no thread: {reason}"),
        ))
    })
}

/// See `tare.h`.
///
/// # Safety
/// `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_register(class: *mut tare_class) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Thread) } {
            engine::thread::register(class);
        }
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_id() -> u64 {
    quiet(0, engine::thread::id)
}

/// See `tare.h`.
///
/// # Safety
/// The texts are NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_set_account(user: *const c_char, host: *const c_char) {
    // SAFETY: the caller's promise.
    quiet((), || unsafe {
        engine::thread::set_account(&text(user), &text(host))
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_processlist_id(id: u64) {
    quiet((), || engine::thread::set_processlist_id(id));
}

/// Setters of a text.
macro_rules! texts {
    ($($name:ident: $set:ident;)*) => {$(
        /// See `tare.h`.
        ///
        /// # Safety
        /// The text is NULL or NUL-terminated.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(value: *const c_char) {
            // SAFETY: the caller's promise.
            quiet((), || unsafe { engine::thread::$set(&text(value)) });
        }
    )*};
}

texts! {
    tare_thread_set_db: set_db;
    tare_thread_set_state: set_state;
    tare_thread_set_info: set_info;
    tare_thread_set_attributes: set_attributes;
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_command(number: c_int) {
    quiet((), || {
        if let Some(command) = Command::from_number(number) {
            engine::thread::set_command(command);
        }
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_connection_type(number: c_int) {
    quiet((), || {
        let connection = match number {
            0 => ConnectionType::Background,
            1 => ConnectionType::TcpIp,
            2 => ConnectionType::Tls,
            3 => ConnectionType::Socket,
            _ => return,
        };
        engine::thread::set_connection_type(connection);
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_os_id(id: u64) {
    quiet((), || engine::thread::set_os_id(id));
}

/// `struct tare_session`.
pub struct tare_session {
    /// The guard of the thread that is in it; refers to `session`, and is dropped before it.
    entered: Option<Entered<'static>>,
    session: Box<Session>,
    /// Which thread is in it, by [`caller`]; 0 = none. Whoever set it owns the fields above.
    owner: AtomicU64,
}

/// A number of the calling thread's own, never 0.
fn caller() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // Without a destructor: there as long as the thread is.
    NUMBER.with(|number| *number)
}

/// See `tare.h`.
///
/// # Safety
/// `class` as [`need_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_new(class: *mut tare_class) -> *mut tare_session {
    made(|| {
        // SAFETY: the caller's promise.
        let class = unsafe { need_kind(class, |kind| kind == Kind::Thread) }?;
        Ok(Box::into_raw(Box::new(tare_session {
            entered: None,
            session: Box::new(Session::new(class)),
            owner: AtomicU64::new(0),
        })))
    })
}

/// Who is in the session; fails for NULL.
///
/// # Safety
/// `session` is NULL or came from `tare_session_new` and was not freed.
unsafe fn owner<'a>(session: *mut tare_session) -> Result<&'a AtomicU64, Failure> {
    if session.is_null() {
        return Err(Failure::null("the session"));
    }
    // SAFETY: not NULL; the caller's promise. Other threads only touch this field.
    Ok(unsafe { &*std::ptr::addr_of!((*session).owner) })
}

/// See `tare.h`.
///
/// # Safety
/// As [`owner`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_enter(session: *mut tare_session) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let owner = unsafe { owner(session) }?;
        // Acquire: pairs with the release of the thread that left it before.
        if owner
            .compare_exchange(0, caller(), Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return Ok(Outcome::Busy);
        }
        // SAFETY: the owner alone touches these fields. The guard borrows the boxed session, which
        // does not move and is freed only when nobody is in it.
        unsafe {
            let inner: *mut Session = &mut *(*session).session;
            (*session).entered = Some((*inner).enter());
        }
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`owner`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_leave(session: *mut tare_session) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let owner = unsafe { owner(session) }?;
        if owner.load(Ordering::Relaxed) != caller() {
            return Err(Failure::new(
                Status::NotHeld,
                "this thread has not entered the session",
            ));
        }
        // SAFETY: the owner alone touches this field.
        drop(unsafe { (*session).entered.take() });
        // Release: the next thread to enter sees what this one did.
        owner.store(0, Ordering::Release);
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`owner`]; it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_free(session: *mut tare_session) -> c_int {
    door(|| {
        if session.is_null() {
            return Ok(Outcome::Done);
        }
        // SAFETY: the caller's promise.
        let owner = unsafe { owner(session) }?;
        if owner
            .compare_exchange(0, u64::MAX, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return Err(Failure::new(
                Status::Busy,
                "a thread is in the session; leave it first",
            ));
        }
        // SAFETY: nobody is in it and, by the caller's promise, nobody will be.
        drop(unsafe { Box::from_raw(session) });
        Ok(Outcome::Done)
    })
}
