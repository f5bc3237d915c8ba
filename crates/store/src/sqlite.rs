//! SQLite's configuration: it uses this server's locks, memory and file layer.

use std::sync::Once;

use rusqlite::ffi;

use super::{memory, mutex, vfs};

/// Configures SQLite once for the process. Where another part of the program has started it before, it
/// works without instrumentation.
pub fn configure() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: sqlite3_config has to be called before sqlite3_initialize, by one thread: `Once`
        // lets one in, and SQLite itself refuses (SQLITE_MISUSE) when it is running. The method
        // tables are static.
        let configured = unsafe {
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_MULTITHREAD) == ffi::SQLITE_OK
                // Its own count of memory takes a mutex at each allocation; ours does not.
                && ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0) == ffi::SQLITE_OK
                && ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, memory::methods()) == ffi::SQLITE_OK
                && ffi::sqlite3_config(ffi::SQLITE_CONFIG_MUTEX, mutex::methods()) == ffi::SQLITE_OK
        };
        if configured {
            vfs::register();
        }
    });
}
