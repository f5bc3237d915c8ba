//! The C interface: `include/tare.h` over the Rust API, without logic of its own.
//!
//! | file | functions |
//! |---|---|
//! | status | statuses, messages of errors, and the functions that catch panics and free objects |
//! | place | objects in the host's memory |
//! | config | `tare_config_*`, `tare_start`, `tare_stop` |
//! | class | `tare_register*` |
//! | lock | `tare_mutex_*`, `tare_rwlock_*`, `tare_cond_*` |
//! | pthread | `tare_pthread_*` |
//! | wait | `tare_wait_*`, `tare_idle_*`, `tare_file_*`, `tare_socket_*` |
//! | statement | `tare_statement_*`, `tare_digest_*`, `tare_stage_*` |
//! | object | `tare_table_*`, `tare_metadata_lock_*`, `tare_prepared_*`, `tare_program_*` |
//! | transaction | `tare_transaction_*` |
//! | thread | `tare_thread_*`, `tare_session_*` |
//! | metric | `tare_metric_*`, `tare_metrics_act` |
//! | count | `tare_memory_*`, `tare_error_raised`, `tare_error_handled` |
//!
//! Every function tolerates NULL and catches panics. `tare.h` documents each function, and what it requires
//! of the host. SAFETY comments cite these rules of `tare.h`:
//!
//! 1. A class or metric is NULL or came from its `tare_..._register`, and lives for ever.
//! 2. An object is NULL or came from its `_new` or `_open` function, and is not used after it was freed or
//!    closed.
//! 3. A struct of the host (`tare_mutex`, `tare_wait`, ...) is NULL or of its size in `tare.h`, and stays at
//!    its address from its initialisation, or its first use if it is zeroed, to its end.
//! 4. Only one thread at a time calls functions that begin, change or end an object or a struct.
//! 5. A text is NULL, ends with a zero byte, or is readable for its length; a list has as many elements as
//!    its count says; another value that is passed by its address is NULL or readable. All are unchanged
//!    during the call.
//! 6. A pointer to a result is NULL or writable.
//! 7. The holder of a lock has agreed to a call that unlocks it.
//! 8. The caller of an unsafe function of this crate fulfils what its `# Safety` section requires.
//! 9. An object of the C library is NULL, or the host may call the C library's function for it. That function
//!    gets the arguments unchanged. A thread that is cancelled unwinds from within a wait: no value with a
//!    destructor is in a frame around it.

// The C names are the interface.
#![allow(non_camel_case_types)]

mod class;
mod config;
mod count;
mod lock;
mod metric;
mod object;
mod place;
mod pthread;
mod statement;
mod status;
mod text;
mod thread;
mod transaction;
mod wait;

#[cfg(test)]
mod header;
