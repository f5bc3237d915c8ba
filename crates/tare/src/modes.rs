//! Plain types that points take, with instrumentation and without.

use crate::class::Class;

/// MySQL's isolation levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Isolation {
    ReadUncommitted = 0,
    ReadCommitted = 1,
    #[default]
    RepeatableRead = 2,
    Serializable = 3,
}

/// How a transaction begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// Its isolation level.
    pub isolation: Isolation,
    /// Whether it may only read.
    pub read_only: bool,
    /// Whether it is a single statement under autocommit.
    pub autocommit: bool,
}

/// How a client reached its thread: `threads.CONNECTION_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum ConnectionType {
    Background = 0,
    TcpIp = 1,
    Tls = 2,
    Socket = 3,
}

/// What clients see of attributes that exceed performance_schema_session_connect_attrs_size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// An attribute `_truncated` counts the bytes that are missing, as in MySQL from 8.0 on.
    Marked,
    /// Nothing, as in earlier releases and in MariaDB.
    Silent,
}

/// A builder of threads that are named after their class, as far as the kernel shows a name.
pub(crate) fn builder(class: &Class) -> std::thread::Builder {
    let name = class.name().rsplit('/').next().unwrap_or("tare");
    std::thread::Builder::new().name(name.chars().take(15).collect())
}
