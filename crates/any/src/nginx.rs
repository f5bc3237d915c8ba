//! nginx's processes, by what it exports for its modules: the role of each.
//!
//! # Safety
//!
//! The SAFETY comment cites this rule: nginx exports `ngx_process` as a variable of the type `ngx_uint_t`,
//! which is as long as a pointer, in each version.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::exports::exported;
use crate::names::classes;

/// Values of `ngx_process`.
const MASTER: usize = 1;
const WORKER: usize = 3;
const HELPER: usize = 4;

/// `ngx_process`; NULL in another program.
static PROCESS: AtomicPtr<usize> = AtomicPtr::new(ptr::null_mut());
/// The value whose role is recorded in this process.
static RECORDED: AtomicUsize = AtomicUsize::new(0);

/// Whether the program is nginx, or was made of it.
pub fn is_nginx() -> bool {
    [c"ngx_process", c"ngx_cycle"]
        .iter()
        .all(|name| exported(name).is_some())
}

/// Records the roles of nginx's processes from now on.
pub fn open() {
    if let Some(process) = exported(c"ngx_process").filter(|_| is_nginx()) {
        PROCESS.store(process.cast(), Ordering::Release);
    }
}

/// The calling process waits for something to do. Records its role, if it has changed.
#[inline]
pub fn update_role() {
    let process = PROCESS.load(Ordering::Acquire);
    if process.is_null() {
        return;
    }
    // SAFETY: the rule above.
    let role = unsafe { process.read_volatile() };
    if RECORDED.load(Ordering::Relaxed) != role {
        record(role);
    }
}

#[cold]
#[inline(never)]
fn record(role: usize) {
    let name = match role {
        MASTER => Some("master"),
        WORKER => Some("worker process"),
        // It polls once before it has a title, to test the kernel.
        HELPER => match helper() {
            None => return,
            name => name,
        },
        _ => None,
    };
    RECORDED.store(role, Ordering::Relaxed);
    if let (Some(classes), Some(name)) = (classes(), name) {
        engine::thread::register(classes.thread(name));
    }
}

/// The role of a process that serves no clients, by the title that nginx gives it.
fn helper() -> Option<&'static str> {
    let title = std::fs::read("/proc/self/cmdline").ok()?;
    ["cache manager", "cache loader"]
        .into_iter()
        .find(|name| title.starts_with(format!("nginx: {name}").as_bytes()))
}
