//! Threads.

use crate::class::Class;
pub use crate::modes::ConnectionType;
use std::thread::JoinHandle;
use tare_layout::slot::Command;

/// Starts a thread, named after its class.
///
/// # Errors
/// When the system can start no thread.
pub fn spawn<F, T>(class: &'static Class, body: F) -> std::io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    crate::modes::builder(class).spawn(body)
}

/// Does nothing.
#[inline(always)]
pub fn register(_: &'static Class) {}

/// Does nothing.
#[inline(always)]
pub fn register_child(_: &'static Class, _: u64) {}

/// 0.
#[inline(always)]
pub const fn id() -> u64 {
    0
}

/// 0.
#[inline(always)]
pub const fn os_id() -> u64 {
    0
}

/// 0.
#[inline(always)]
pub const fn of_processlist(_: u64) -> u64 {
    0
}

/// NULL.
#[inline(always)]
pub const fn of_host() -> *mut () {
    std::ptr::null_mut()
}

/// Functions that do nothing.
macro_rules! nothing {
    ($($name:ident($($type:ty),*);)*) => {
        $(
            /// Does nothing.
            #[inline(always)]
            pub fn $name($(_: $type),*) {}
        )*
    };
}

nothing! {
    set_account(&str, &str);
    set_processlist_id(u64);
    set_db(&str);
    set_command(Command);
    set_state(&str);
    set_info(&str);
    set_connection_type(ConnectionType);
    set_os_id(u64);
    set_of_host(*mut ());
    set_attributes(&str);
}

/// A session that is not recorded.
#[derive(Debug)]
pub struct ThreadSession(());

impl ThreadSession {
    /// A session.
    #[inline(always)]
    pub fn new(_: &'static Class) -> Self {
        Self(())
    }

    /// Does nothing.
    #[inline(always)]
    pub fn set_processlist_id(&self, _: u64) {}

    /// Calls `work`.
    #[inline(always)]
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        work()
    }
}
