//! What the tables need from whoever serves them.

use std::sync::Arc;
use std::time::SystemTime;

use tare_reader::Segment;

use super::server::{HostSeen, LogStatus, Owned, StatusBy, UserVariable, VariableInfo};

/// GLOBAL or SESSION, for variables and status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The server's values.
    Global,
    /// The values as this connection sees them.
    Session,
}

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

/// The connection on whose behalf the tables are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The authenticated user.
    pub user: String,
    /// The host part of the account.
    pub host: String,
    /// The connection's number (PROCESSLIST_ID).
    pub connection_id: u64,
}

impl Default for Session {
    fn default() -> Self {
        Session {
            user: "root".into(),
            host: "localhost".into(),
            connection_id: 0,
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

/// A table or view of the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserTable {
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub view: bool,
    /// About how many rows, where that is known cheaply.
    pub rows: Option<u64>,
    /// The bytes that its data take.
    pub data_length: Option<u64>,
    /// The bytes that its indexes take.
    pub index_length: Option<u64>,
    /// The next AUTO_INCREMENT value.
    pub auto_increment: Option<u64>,
    /// When it was made.
    pub created: Option<SystemTime>,
    /// Its comment.
    pub comment: String,
    /// A view's SELECT.
    pub definition: Option<String>,
    /// Its columns in order.
    pub columns: Vec<UserColumn>,
    /// Its indexes; the primary key is called PRIMARY.
    pub indexes: Vec<UserIndex>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
}

/// A column of a `UserTable`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserColumn {
    /// Its name.
    pub name: String,
    /// Its type as MySQL writes it: `int(11)`, `char(120)`.
    pub column_type: String,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Its default, as text.
    pub default: Option<String>,
    /// `auto_increment` and the like.
    pub extra: String,
    /// Its comment.
    pub comment: String,
}

/// An index of a `UserTable`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserIndex {
    /// Its name; `PRIMARY` for the primary key.
    pub name: String,
    /// Whether it is unique.
    pub unique: bool,
    /// Its columns in order.
    pub columns: Vec<String>,
}

/// A foreign key of a `UserTable`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: String,
    /// The columns in this table.
    pub columns: Vec<String>,
    /// The table they refer to.
    pub referenced_table: String,
    /// The columns they refer to.
    pub referenced_columns: Vec<String>,
    /// ON UPDATE.
    pub on_update: String,
    /// ON DELETE.
    pub on_delete: String,
}

/// An account that may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// User name.
    pub user: String,
    /// Host part.
    pub host: String,
    /// How it authenticates: `caching_sha2_password`, `auth_socket`.
    pub plugin: String,
    /// Whether it may change data and setup tables.
    pub writer: bool,
}

/// What a server tells the tables about itself. Every method has a default that fits a bare
/// reader (`tare sql` on a segment): nobody's databases, no variables, no accounts.
///
/// The methods are called while SQLite runs a statement, on the thread that runs it: they must
/// not use that statement's connection.
pub trait Source: Send + Sync {
    /// The account and number of this connection.
    fn session(&self) -> Session {
        Session::default()
    }

    /// The segment that the tables show; `None` = performance schema is off.
    fn segment(&self) -> Option<Arc<Segment>> {
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

    /// What SET PERSIST has kept.
    fn persisted_variables(&self) -> Vec<Variable> {
        Vec::new()
    }

    /// The addresses that clients came from.
    fn host_cache(&self) -> Vec<HostSeen> {
        Vec::new()
    }

    /// TRUNCATE of host_cache, and FLUSH HOSTS.
    fn flush_hosts(&self) {}

    /// Where the logs stand.
    fn log_status(&self) -> Option<LogStatus> {
        None
    }

    /// The user's databases; the catalog's own schemas are not among them.
    fn databases(&self) -> Vec<Database> {
        Vec::new()
    }

    /// The tables and views of one of those databases.
    fn tables(&self, _database: &str) -> Vec<UserTable> {
        Vec::new()
    }

    /// The options of schema sys.
    fn sys_config(&self) -> Option<&crate::sys::config::SysConfig> {
        None
    }

    /// The accounts that may connect.
    fn accounts(&self) -> Vec<Account> {
        Vec::new()
    }
}
