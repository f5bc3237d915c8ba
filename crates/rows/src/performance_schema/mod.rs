//! performance_schema.

pub mod actors;
pub mod attributes;
pub mod connections;
pub mod data_locks;
pub mod digests;
pub mod error_log;
pub mod errors;
pub mod event;
pub mod files;
pub mod handles;
pub mod host_cache;
pub mod instances;
mod lists;
pub mod log_status;
pub mod memory;
pub mod metadata;
pub mod objects;
pub mod prepared;
pub mod processlist;
pub mod session_variables;
pub mod setup;
pub mod sockets;
pub mod stages;
pub mod statements;
pub mod status;
pub mod tables;
pub mod telemetry;
pub mod threads;
pub mod tls;
pub mod transactions;
pub mod variables;
pub mod waits;

use crate::describe::Table;

/// Its tables, file by file.
pub static TABLES: &[&[&dyn Table]] = &[
    actors::TABLES,
    attributes::TABLES,
    connections::TABLES,
    data_locks::TABLES,
    digests::TABLES,
    error_log::TABLES,
    errors::TABLES,
    files::TABLES,
    handles::TABLES,
    host_cache::TABLES,
    instances::TABLES,
    log_status::TABLES,
    memory::TABLES,
    metadata::TABLES,
    objects::TABLES,
    prepared::TABLES,
    processlist::TABLES,
    session_variables::TABLES,
    setup::TABLES,
    sockets::TABLES,
    stages::TABLES,
    statements::TABLES,
    tables::TABLES,
    status::TABLES,
    telemetry::TABLES,
    threads::TABLES,
    tls::TABLES,
    transactions::TABLES,
    variables::TABLES,
    waits::TABLES,
];
