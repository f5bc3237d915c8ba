//! The system variables of MySQL 8.0 that MariaDB 10.11 changed, and those it lacks: those of Performance Schema, and
//! how it reads statements.

use super::record::Settable::{Both, Fixed};
use super::record::{Type, Variable, number, text};

/// Modes of MySQL 5.7 and MariaDB, which MariaDB's clients set, and on which nothing here depends.
pub const MODES: &[&str] = &[
    "NO_AUTO_CREATE_USER",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
];

/// Variables with another default than in 8.0, by name.
#[rustfmt::skip] // One variable, one line.
pub static CHANGED: &[Variable] = &[
    number("performance_schema_digests_size", Fixed, "5000", "0", "1048576"),
    number("performance_schema_events_stages_history_long_size", Fixed, "1000", "0", "1048576"),
    number("performance_schema_events_statements_history_long_size", Fixed, "1000", "0", "1048576"),
    number("performance_schema_events_transactions_history_long_size", Fixed, "1000", "0", "1048576"),
    number("performance_schema_events_waits_history_long_size", Fixed, "1000", "0", "1048576"),
    number("performance_schema_max_cond_classes", Fixed, "90", "0", "256"),
    number("performance_schema_max_file_classes", Fixed, "80", "0", "256"),
    number("performance_schema_max_memory_classes", Fixed, "320", "0", "1024"),
    number("performance_schema_max_mutex_classes", Fixed, "210", "0", "256"),
    number("performance_schema_max_rwlock_classes", Fixed, "50", "0", "256"),
    number("performance_schema_max_socket_classes", Fixed, "10", "0", "256"),
    number("performance_schema_max_stage_classes", Fixed, "160", "0", "256"),
    number("performance_schema_max_statement_classes", Fixed, "222", "0", "256"),
    number("performance_schema_max_thread_classes", Fixed, "50", "0", "256"),
    Variable { value_type: Type::Modes(MODES), ..text("sql_mode", Both, "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION") },
];

/// Variables that MariaDB does not have.
pub static REMOVED: &[&str] = &[
    "performance_schema_error_size",
    "performance_schema_max_digest_sample_age",
];
