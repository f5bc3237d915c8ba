//! A process's role, which it has as soon as it has initialised itself: `pg_stat_activity.backend_type`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::exports::exported;
use crate::names::classes;

/// In PostgreSQL's structure of a background worker: the bytes of its name, which its type follows.
const NAME_BYTES: usize = 96;
/// The type of process whose role its own worker's type names.
const WORKER: &str = "background worker";
/// `B_INVALID`: the process has no role yet, or is the first one.
const NO_TYPE: c_int = 0;

/// The variables that have the role.
pub struct Role {
    /// `MyBackendType`.
    number: *const c_int,
    /// `GetBackendTypeDesc`: the name of a type.
    describe: unsafe extern "C-unwind" fn(c_int) -> *const c_char,
    /// `MyBgworkerEntry`: NULL, or this background worker.
    worker: Option<*const *const c_char>,
}

/// The number whose role is recorded in this process.
static RECORDED: AtomicI32 = AtomicI32::new(NO_TYPE);

impl Role {
    /// PostgreSQL's variables, if it exports them.
    pub fn find() -> Option<Self> {
        let number = exported(c"MyBackendType")?.cast_const().cast();
        let describe = exported(c"GetBackendTypeDesc")?;
        let worker = exported(c"MyBgworkerEntry").map(|entry| entry.cast_const().cast());
        Some(Self {
            number,
            // SAFETY: rule 1 (a function of this type).
            describe: unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(c_int) -> *const _>(
                    describe,
                )
            },
            worker,
        })
    }

    /// Records the calling process's role, if it has changed.
    #[inline(always)]
    pub fn update(&self) {
        // SAFETY: rule 1 (a variable of this type).
        let number = unsafe { self.number.read_volatile() };
        if number != RECORDED.load(Ordering::Relaxed) {
            self.record(number);
        }
    }

    #[cold]
    #[inline(never)]
    fn record(&self, number: c_int) {
        RECORDED.store(number, Ordering::Relaxed);
        if number == NO_TYPE {
            return;
        }
        if let Some(classes) = classes()
            && let Some(name) = self.name(number)
        {
            engine::thread::register(classes.thread(&name));
        }
    }

    fn name(&self, number: c_int) -> Option<String> {
        // SAFETY: rules 1 and 3.
        let name = unsafe { text((self.describe)(number)) }?;
        if name != WORKER {
            return Some(name);
        }
        // SAFETY: rule 1 (a variable of this type).
        let worker = self.worker.map(|entry| unsafe { entry.read() });
        let worker = worker.filter(|worker| !worker.is_null());
        // SAFETY: rule 1 (it points to the structure, whose type is a C string at this offset).
        let own = worker.and_then(|worker| unsafe { text(worker.add(NAME_BYTES)) });
        Some(own.filter(|own| !own.is_empty()).unwrap_or(name))
    }
}

/// A C string; `None` for NULL.
///
/// # Safety
/// NULL or a C string.
unsafe fn text(address: *const c_char) -> Option<String> {
    if address.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(
        unsafe { CStr::from_ptr(address) }
            .to_string_lossy()
            .into_owned(),
    )
}
