//! Threads, and sessions that move between them.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::task::SharedSession;
use engine::thread::{ConnectionType, ThreadSession};
use engine::{Class, Command, Kind};

use crate::class::{of_kind, require_kind, tare_class};
use crate::status::{Failure, Outcome, Status, catch_panic, pointer_or_null, return_status};
use crate::text::text;

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What a new thread needs to start.
struct ThreadStart {
    class: Option<&'static Class>,
    parent: u64,
    start: Start,
    argument: *mut c_void,
}

unsafe extern "C" {
    // Declared here, because what the host's function throws (and pthread_cancel) must pass through.
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int;
}

unsafe extern "C-unwind" fn run_thread(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `tare_thread_create` allocated it for this thread.
    let ThreadStart {
        class,
        parent,
        start,
        argument,
    } = *unsafe { Box::from_raw(argument.cast::<ThreadStart>()) };
    if let Some(class) = class {
        catch_panic((), || engine::thread::register_child(class, parent));
    }
    // SAFETY: the host's function with its argument. No Rust value is alive that would have to be dropped if
    // the function does not return.
    unsafe { start(argument) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    class: *mut tare_class,
    start: Option<Start>,
    argument: *mut c_void,
) -> c_int {
    return_status(|| {
        if thread.is_null() {
            return Err(Failure::null("the thread"));
        }
        let start = start.ok_or_else(|| Failure::null("the thread's function"))?;
        // SAFETY: rule 1 (NULL, or a registered class). A thread also runs without a class.
        let class = unsafe { of_kind(class, |kind| kind == Kind::Thread) };
        let thread_start = Box::into_raw(Box::new(ThreadStart {
            class,
            parent: engine::thread::id(),
            start,
            argument,
        }));
        // SAFETY: the host passes what pthread_create requires; the new thread owns `thread_start` from here
        // on.
        let error = unsafe { pthread_create(thread, attributes, run_thread, thread_start.cast()) };
        if error == 0 {
            return Ok(Outcome::Done);
        }
        // SAFETY: no thread was created that could have taken it.
        drop(unsafe { Box::from_raw(thread_start) });
        // SAFETY: errno is the calling thread's.
        unsafe { *libc::__errno_location() = error };
        let reason = std::io::Error::from_raw_os_error(error);
        Err(Failure::new(
            Status::NoThread,
            format!("the system starts no thread: {reason}"),
        ))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_register(class: *mut tare_class) {
    catch_panic((), || {
        // SAFETY: rule 1 (NULL, or a registered class).
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Thread) } {
            engine::thread::register(class);
        }
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_id() -> u64 {
    catch_panic(0, engine::thread::id)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_thread_set_account(user: *const c_char, host: *const c_char) {
    // SAFETY: rule 5 (NULL, or a readable text).
    catch_panic((), || unsafe {
        engine::thread::set_account(&text(user), &text(host))
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_processlist_id(id: u64) {
    catch_panic((), || engine::thread::set_processlist_id(id));
}

/// Setters of a text.
macro_rules! texts {
    ($($name:ident: $set:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(value: *const c_char) {
            // SAFETY: rule 5 (NULL, or a readable text).
            catch_panic((), || unsafe { engine::thread::$set(&text(value)) });
        }
    )*};
}

texts! {
    tare_thread_set_db: set_db;
    tare_thread_set_state: set_state;
    tare_thread_set_info: set_info;
    tare_thread_set_attributes: set_attributes;
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_command(number: c_int) {
    catch_panic((), || {
        if let Some(command) = Command::from_number(number) {
            engine::thread::set_command(command);
        }
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_connection_type(number: c_int) {
    catch_panic((), || {
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

#[unsafe(no_mangle)]
pub extern "C" fn tare_thread_set_os_id(id: u64) {
    catch_panic((), || engine::thread::set_os_id(id));
}

/// `struct tare_session`.
pub struct tare_session {
    session: Arc<SharedSession>,
    /// The session is the owner's now. Else it has no slot, or nothing is recorded.
    is_entered: bool,
    /// The thread in the session, by [`calling_thread`]; 0 = none. The thread that set it owns the fields
    /// above.
    owner: AtomicU64,
}

/// The calling thread's own number, never 0.
fn calling_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // It has no destructor, so it lives as long as the thread.
    NUMBER.with(|number| *number)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_new(class: *mut tare_class) -> *mut tare_session {
    pointer_or_null(|| {
        // SAFETY: rule 1 (NULL, or a registered class).
        let class = unsafe { require_kind(class, |kind| kind == Kind::Thread) }?;
        Ok(Box::into_raw(Box::new(tare_session {
            session: SharedSession::new(ThreadSession::new(class)),
            is_entered: false,
            owner: AtomicU64::new(0),
        })))
    })
}

/// The owner field of the session; an error for NULL.
///
/// # Safety
/// `session` is NULL or came from `tare_session_new` and was not freed.
unsafe fn owner<'a>(session: *mut tare_session) -> Result<&'a AtomicU64, Failure> {
    if session.is_null() {
        return Err(Failure::null("the session"));
    }
    // SAFETY: rule 8 (not NULL, and not freed). Other threads only touch this field.
    Ok(unsafe { &*std::ptr::addr_of!((*session).owner) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_enter(session: *mut tare_session) -> c_int {
    return_status(|| {
        // SAFETY: rule 2 (NULL, or not freed).
        let owner = unsafe { owner(session) }?;
        // Acquire: pairs with the release of the thread that left it before.
        if owner
            .compare_exchange(0, calling_thread(), Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return Ok(Outcome::Busy);
        }
        // SAFETY: the owner alone touches these fields.
        unsafe { (*session).is_entered = (*session).session.enter() };
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_leave(session: *mut tare_session) -> c_int {
    return_status(|| {
        // SAFETY: rule 2 (NULL, or not freed).
        let owner = unsafe { owner(session) }?;
        if owner.load(Ordering::Relaxed) != calling_thread() {
            return Err(Failure::new(
                Status::NotHeld,
                "this thread has not entered the session",
            ));
        }
        // SAFETY: the owner alone touches these fields.
        unsafe {
            if (*session).is_entered {
                (*session).session.leave();
            }
        }
        // Release: the next thread to enter sees what this one did.
        owner.store(0, Ordering::Release);
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_session_free(session: *mut tare_session) -> c_int {
    return_status(|| {
        if session.is_null() {
            return Ok(Outcome::Done);
        }
        // SAFETY: rules 2 and 4 (only the calling thread uses it).
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
        // SAFETY: rule 2 (no thread is in the session, and none will be).
        drop(unsafe { Box::from_raw(session) });
        Ok(Outcome::Done)
    })
}
