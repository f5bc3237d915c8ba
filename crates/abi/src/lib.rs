//! The C door: `include/tare.h` over the Rust API, and no logic of its own.
//!
//! | file | functions |
//! |---|---|
//! | status | what they return, and how a panic ends here |
//! | place | objects that lie in the host's memory |
//! | config | `tare_config_*`, `tare_start`, `tare_stop` |
//! | class | `tare_register*` |
//! | lock | `tare_mutex_*`, `tare_rwlock_*`, `tare_cond_*` |
//! | wait | `tare_wait_*`, `tare_idle_*`, `tare_file_*`, `tare_socket_*` |
//! | statement | `tare_statement_*`, `tare_digest_*`, `tare_stage_*` |
//! | object | `tare_table_*`, `tare_metadata_lock_*`, `tare_prepared_*`, `tare_program_*` |
//! | transaction | `tare_transaction_*` |
//! | thread | `tare_thread_*`, `tare_session_*` |
//! | metric | `tare_metric_*`, `tare_metrics_act` |
//! | count | `tare_memory_*`, `tare_error_raised`, `tare_error_handled` |
//!
//! Every function tolerates NULL and catches panics. Its contract with the host, in full, is the
//! comment in `tare.h`; the `# Safety` sections here name what Rust needs of it.

// The C names are the interface.
#![allow(non_camel_case_types)]

mod class;
mod config;
mod count;
mod lock;
mod metric;
mod object;
mod place;
mod statement;
mod status;
mod text;
mod thread;
mod transaction;
mod wait;

#[cfg(test)]
mod header;
