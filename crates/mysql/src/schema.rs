//! The system schemas, and the accounts that a server has from its start.

/// The schemas that are described rather than stored, in the order of SHOW DATABASES.
pub const SYSTEM_SCHEMAS: [&str; 5] = [
    "information_schema",
    "mysql",
    "performance_schema",
    "sys",
    "tare",
];

/// The schema of the tables that MySQL does not have.
pub const TARE: &str = "tare";

/// Whether a name is a system schema's; case does not count.
pub fn is_system_schema(name: &str) -> bool {
    SYSTEM_SCHEMAS.iter().any(|s| s.eq_ignore_ascii_case(name))
}

/// The account that may do everything.
pub const ROOT: &str = "root";
/// The account that may read.
pub const MONITOR: &str = "monitor";
/// The host part of both.
pub const LOCALHOST: &str = "localhost";

/// The tables of information_schema that MySQL does not read from its data dictionary.
const COMPUTED_TABLES: [&str; 11] = [
    "COLUMN_PRIVILEGES",
    "ENGINES",
    "KEYWORDS",
    "OPTIMIZER_TRACE",
    "PLUGINS",
    "PROCESSLIST",
    "PROFILING",
    "SCHEMA_PRIVILEGES",
    "ST_UNITS_OF_MEASURE",
    "TABLE_PRIVILEGES",
    "USER_PRIVILEGES",
];
/// Those of its tables of InnoDB that it does.
const INNODB_DICTIONARY: [&str; 5] = [
    "INNODB_DATAFILES",
    "INNODB_FIELDS",
    "INNODB_FOREIGN",
    "INNODB_FOREIGN_COLS",
    "INNODB_TABLESPACES_BRIEF",
];

/// Whether MySQL stores a system schema's table in InnoDB: reading it begins a transaction without autocommit.
pub fn is_transactional(schema: &str, table: &str) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|name| name.eq_ignore_ascii_case(table));
    match schema.to_ascii_lowercase().as_str() {
        "information_schema" if table.to_ascii_uppercase().starts_with("INNODB_") => {
            is_in(&INNODB_DICTIONARY)
        }
        "information_schema" => !is_in(&COMPUTED_TABLES),
        "mysql" => !is_in(&["general_log", "slow_log"]),
        "sys" => is_in(&["sys_config"]),
        _ => false,
    }
}
