//! performance_schema.

pub mod actors;
pub mod connections;
pub mod digests;
pub mod errors;
pub mod event;
pub mod files;
pub mod instances;
mod lists;
pub mod memory;
pub mod setup;
pub mod stages;
pub mod statements;
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
    instances::TABLES,
    memory::TABLES,
    setup::TABLES,
    stages::TABLES,
    statements::TABLES,
    threads::TABLES,
    transactions::TABLES,
    variables::TABLES,
    waits::TABLES,
];
