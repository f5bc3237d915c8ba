//! Data of a server and its sessions that the segment does not have.

use std::net::IpAddr;
use std::time::SystemTime;

/// What status variables are summed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusBy {
    /// The thread of a session.
    Thread,
    /// User and host.
    Account,
    /// User.
    User,
    /// Host.
    Host,
}

/// Variables of a session, an account, a user or a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned<T> {
    /// The connection's number, for variables of a session.
    pub connection_id: Option<u64>,
    /// The user.
    pub user: Option<String>,
    /// The host part of the account.
    pub host: Option<String>,
    /// The variables.
    pub values: Vec<T>,
}

impl<T> Default for Owned<T> {
    fn default() -> Self {
        Self {
            connection_id: None,
            user: None,
            host: None,
            values: Vec::new(),
        }
    }
}

/// Where a system variable's value comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// `COMPILED`, `COMMAND_LINE`, `PERSISTED` or `DYNAMIC`.
    pub source: &'static str,
    /// The file that it was read from.
    pub path: String,
    /// The smallest value; `0` where there is none.
    pub min: &'static str,
    /// The largest value; `0` where there is none.
    pub max: &'static str,
    /// When, and by whom it was set.
    pub set: Option<(SystemTime, String, String)>,
}

/// A user variable of a session; NULL is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserVariable {
    /// Its name, without the `@`.
    pub name: String,
    /// Its value: text as UTF-8, or other bytes.
    pub value: Option<Vec<u8>>,
}

/// An address that clients came from, and the errors of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of host_cache's columns")]
pub struct CachedHost {
    pub ip: IpAddr,
    /// Failed handshakes since the last connection that succeeded.
    pub sum_connect_errors: u64,
    pub no_auth_plugin_errors: u64,
    pub handshake_errors: u64,
    pub authentication_errors: u64,
    pub default_database_errors: u64,
    pub local_errors: u64,
    pub first_seen: SystemTime,
    pub last_seen: SystemTime,
    pub first_error_seen: Option<SystemTime>,
    pub last_error_seen: Option<SystemTime>,
}

/// A line of the error log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Microseconds since 1970.
    pub logged_us: u64,
    /// PRIO.
    pub priority: &'static str,
    /// SUBSYSTEM.
    pub subsystem: &'static str,
    /// The text.
    pub text: String,
}

/// The positions of the logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    /// @@server_uuid.
    pub server_uuid: String,
    /// Database, and the bytes of its write-ahead log.
    pub logs: Vec<(String, u64)>,
}
