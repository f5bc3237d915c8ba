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
