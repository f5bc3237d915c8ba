//! performance_schema.

pub mod actors;
pub mod connections;
pub mod digests;
pub mod errors;
pub mod event;
pub mod files;
pub mod held;
pub mod instances;
mod lists;
pub mod memory;
pub mod objects;
pub mod prepared;
pub mod setup;
pub mod sockets;
pub mod stages;
pub mod statements;
pub mod tables;
pub mod threads;
pub mod transactions;
pub mod variables;
pub mod waits;

use crate::catalog::Table;

/// Its tables, file by file.
pub static TABLES: &[&[&dyn Table]] = &[
    actors::TABLES,
    connections::TABLES,
    digests::TABLES,
    errors::TABLES,
    files::TABLES,
    held::TABLES,
    instances::TABLES,
    memory::TABLES,
    objects::TABLES,
    prepared::TABLES,
    setup::TABLES,
    sockets::TABLES,
    stages::TABLES,
    statements::TABLES,
    tables::TABLES,
    threads::TABLES,
    transactions::TABLES,
    variables::TABLES,
    waits::TABLES,
];
