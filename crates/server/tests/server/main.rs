//! `tare serve` by its clients: the mysql crate, mariadb, PyMySQL, sysbench, and raw packets.
//!
//! Each test has a server with a directory and a socket of its own. A client that is not installed fails its
//! test: `make deps` installs them.

use std::alloc::System;

use tare_mysql::memory::CountingAllocator;

/// As in the program.
#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator(System);

mod active;
mod alter;
mod auth;
mod auto_increment;
mod calls;
mod charsets;
mod clients;
mod columns;
mod constructs;
mod create_as_select;
mod defaults;
mod depth;
mod described;
mod dialect;
mod explain;
mod fair;
mod foreign;
mod json_values;
mod kill;
mod mariadb;
mod memory;
mod names;
mod objects;
mod off;
mod ok_packets;
mod packets;
mod recorded;
mod refused;
mod rights;
mod rows;
mod schema_objects;
mod select;
mod series;
mod session_limits;
mod session_variables;
mod show;
mod sound;
mod sqlite;
mod statements;
mod status;
mod support;
mod sysbench;
mod system_times;
mod tls;
mod transactions;
mod upgrade;
mod user_locks;
mod users;
mod zero_dates;
mod zones;
