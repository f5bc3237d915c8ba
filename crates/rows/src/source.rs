//! The data that the tables need from a server, or from a tool that evaluates them.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use tare_mysql::session::SessionFacts;
use tare_mysql::variable::Scope;
use tare_reader::Segment;
use tare_reader::activity_log::ActivityLog;

use crate::extension::Extension;
use crate::options::Options;
use crate::server::{CachedHost, LogLine, LogStatus, Owned, StatusBy, UserVariable, VariableInfo};
use crate::telemetry::Telemetry;

/// A system variable or a status counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

impl Variable {
    /// A variable from its name and anything that prints.
    pub fn new(name: impl Into<String>, value: impl ToString) -> Self {
        Variable {
            name: name.into(),
            value: value.to_string(),
        }
    }
}

/// One of the user's databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its default character set.
    pub charset: String,
    /// Its default collation.
    pub collation: String,
}

impl Database {
    /// A database with MySQL 8.0's defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Database {
            name: name.into(),
            charset: "utf8mb4".into(),
            collation: "utf8mb4_0900_ai_ci".into(),
        }
    }
}

/// What a server reports to the tables about itself, and about the session that reads them. The defaults
/// fit a bare reader (`tare sql` on a segment): no variables, no counters.
///
/// The methods are called while a statement runs, on the thread that runs it: they must not use
/// that statement's connection.
pub trait Source: SessionFacts {
    /// The segment that the tables read; `None` = performance schema is off.
    fn segment(&self) -> Option<Arc<Segment>> {
        None
    }

    /// The samples of active sessions; `None` if the source takes none.
    fn activity_log(&self) -> Option<&Arc<ActivityLog>> {
        None
    }

    /// System variables other than performance_schema's own.
    fn variables(&self, _scope: Scope) -> Vec<Variable> {
        Vec::new()
    }

    /// Status counters other than performance_schema's own.
    fn status(&self, _scope: Scope) -> Vec<Variable> {
        Vec::new()
    }

    /// Status counters of each session, or of what sessions are summed by, without Com_.
    fn status_by(&self, _by: StatusBy) -> Vec<Owned<Variable>> {
        Vec::new()
    }

    /// The values of performance_schema's own counters at the last FLUSH STATUS, by name, which are subtracted.
    fn flushed_losses(&self) -> Arc<HashMap<String, u64>> {
        Arc::default()
    }

    /// TRUNCATE of a table by thread, account, user or host.
    fn truncate_status(&self, _by: StatusBy) {}

    /// System variables of each session.
    fn variables_by_session(&self) -> Vec<Owned<Variable>> {
        Vec::new()
    }

    /// User variables of each session.
    fn user_variables(&self) -> Vec<Owned<UserVariable>> {
        Vec::new()
    }

    /// Where the variables' values come from.
    fn variables_info(&self) -> Vec<VariableInfo> {
        Vec::new()
    }

    /// The settings of setup_meters and setup_loggers; `None` if the source stores none.
    fn telemetry(&self) -> Option<&Telemetry> {
        None
    }

    /// The addresses that clients came from.
    fn host_cache(&self) -> Vec<CachedHost> {
        Vec::new()
    }

    /// TRUNCATE of host_cache, and FLUSH HOSTS.
    fn flush_hosts(&self) {}

    /// The lines of the error log, the oldest first.
    fn error_log(&self) -> Vec<LogLine> {
        Vec::new()
    }

    /// Counts a scan of information_schema.PROCESSLIST.
    fn count_processlist_read(&self) {}

    /// The positions of the logs.
    fn log_status(&self) -> Option<LogStatus> {
        None
    }

    /// The options of schema sys.
    fn sys_config(&self) -> Option<&dyn Options> {
        None
    }

    /// What others add to the system schemas: schema sys.
    fn extension(&self) -> Option<&'static dyn Extension> {
        None
    }

    /// What the extension's own tables read, of a type that the extension knows.
    fn extension_data(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// The version of the engine that stores the user's tables.
    fn engine_version(&self) -> &str {
        ""
    }
}
