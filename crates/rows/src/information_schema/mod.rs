//! information_schema: databases, tables, columns, indexes and more metadata.

mod all_tables;
pub mod columns;
pub mod constants;
pub mod engine;
pub mod extensions;
pub mod keywords;
pub mod metrics;
pub mod partitions;
pub mod processlist;
pub mod routines;
pub mod schemata;
pub mod statistics;
pub mod tables;
pub mod variables;

use crate::describe::Table;

/// Its tables, file by file.
pub static TABLES: &[&[&dyn Table]] = &[
    columns::TABLES,
    constants::TABLES,
    keywords::TABLES,
    metrics::TABLES,
    engine::TABLES,
    extensions::TABLES,
    partitions::TABLES,
    processlist::TABLES,
    schemata::TABLES,
    statistics::TABLES,
    routines::TABLES,
    tables::TABLES,
    variables::TABLES,
];
