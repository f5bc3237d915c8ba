//! Threads that the program starts and names.

use std::ffi::{CStr, c_char, c_int, c_void};

use libc::{pthread_attr_t, pthread_t};

use super::hooks;
use crate::calls::{observe, run_unobserved};
use crate::client;
use crate::names::{classes, set_own_class};
use crate::real::real;

type Body = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What a thread of the program runs.
struct Work {
    body: Body,
    argument: *mut c_void,
    parent: u64,
}

/// The first function of the program's threads: gives the thread a class.
extern "C-unwind" fn run(work: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` passes it, for this thread only.
    let Work {
        body,
        argument,
        parent,
    } = *unsafe { Box::from_raw(work.cast::<Work>()) };
    run_unobserved(|| {
        if let Some(classes) = classes() {
            set_own_class(classes.worker(), Some(parent));
        }
    });
    let result = body(argument);
    observe(client::settle);
    result
}

#[unsafe(no_mangle)]
#[allow(missing_docs, reason = "the C library's")]
pub unsafe extern "C-unwind" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    body: Body,
    argument: *mut c_void,
) -> c_int {
    let real = real!(pthread_create: unsafe extern "C-unwind" fn(*mut pthread_t, *const pthread_attr_t, Body, *mut c_void) -> c_int);
    let work = observe(|| {
        let parent = engine::thread::id();
        Box::into_raw(Box::new(Work {
            body,
            argument,
            parent,
        }))
    });
    let Some(work) = work else {
        // SAFETY: rule 2 (the arguments are passed on).
        return unsafe { real(thread, attributes, body, argument) };
    };
    // SAFETY: rule 2; `run` gets the argument that it expects.
    let result = unsafe { real(thread, attributes, run, work.cast()) };
    if result != 0 {
        // SAFETY: from above; the thread that would own it does not exist.
        observe(|| drop(unsafe { Box::from_raw(work) }));
    }
    result
}

hooks! {
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
        |call| {
            // SAFETY: the calling thread's.
            let is_own = thread == unsafe { libc::pthread_self() };
            if is_own && !name.is_null() {
                // SAFETY: rule 2 (a C string).
                observe(|| set_name(&unsafe { CStr::from_ptr(name) }.to_string_lossy()));
            }
            call()
        }
    }
}

/// The calling thread has this name from now on. The first thread's is the process's.
fn set_name(name: &str) {
    // SAFETY: these have no preconditions.
    let is_first = unsafe { libc::getpid() == libc::gettid() };
    if let Some(classes) = classes()
        && !is_first
    {
        set_own_class(classes.thread(name), None);
    }
}
