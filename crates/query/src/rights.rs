//! Which statements an account may run. This is decided before a statement is planned, so that a refusal does
//! not depend on whether a table exists or which columns it has.
//!
//! The dialect asks for each table that a SELECT or a change names ([`check_table`], through the `Schema` of
//! the session); [`check`] decides about the other statements. Privileges that MySQL checks when a statement
//! runs, such as those for accounts and global variables, are checked there.

use tare_dialect::admin::{EngineReport, Show, What};
use tare_dialect::ddl::{Ddl, Maintenance, TableName};
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::session::SessionFacts;

/// Tables of performance_schema that every account may read. Those with facts about sessions have the
/// account's own.
const PUBLIC_TABLES: [&str; 10] = [
    "global_status",
    "global_variable_attributes",
    "global_variables",
    "persisted_variables",
    "processlist",
    "session_account_connect_attrs",
    "session_status",
    "session_variables",
    "variables_info",
    "variables_metadata",
];

/// Whether the account has a privilege, such as SELECT, on a table.
///
/// # Errors
/// 1142 and 1227.
pub fn check_table(
    facts: &dyn SessionFacts,
    privilege: &str,
    (schema, table): (&str, &str),
) -> Result<()> {
    let rights = facts.rights();
    let reads = ["SELECT", "SHOW"].contains(&privilege);
    let allowed = match schema.to_ascii_lowercase().as_str() {
        _ if rights.all => true,
        "information_schema" => {
            let table = table.to_ascii_lowercase();
            if privilege == "SELECT"
                && (table.starts_with("innodb_") || table == "files")
                && !rights.may_see_others()
            {
                rights.require_all("PROCESS")?;
            }
            // Nobody may change it, which is another error.
            true
        }
        "performance_schema" if reads => {
            rights.may_read()
                || privilege == "SHOW" && rights.may_set()
                || PUBLIC_TABLES
                    .iter()
                    .any(|name| table.eq_ignore_ascii_case(name))
        }
        own if is_system_schema(own) && reads => rights.may_read(),
        own if is_system_schema(own) => rights.may_set(),
        _ => reads && rights.may_read_data(),
    };
    match allowed {
        true => Ok(()),
        false => Err(table_denied(facts, privilege, schema, table)),
    }
}

/// Whether the account may use a database.
///
/// # Errors
/// 1044.
pub fn check_database(facts: &dyn SessionFacts, name: &str) -> Result<()> {
    let rights = facts.rights();
    let allowed = match name.to_ascii_lowercase().as_str() {
        "information_schema" => true,
        "performance_schema" => rights.may_read() || rights.may_set(),
        own if is_system_schema(own) => rights.may_read(),
        _ => rights.may_read_data(),
    };
    match allowed {
        true => Ok(()),
        false => Err(database_denied(facts, name)),
    }
}

/// Whether the account may run a statement, except for the tables that [`check_table`] decides about.
///
/// # Errors
/// 1044, 1142, 1227 and 1370.
pub fn check(facts: &dyn SessionFacts, action: &Action) -> Result<()> {
    if facts.rights().all {
        return Ok(());
    }
    match action {
        Action::Rows(sql) | Action::Into(sql, _) if sql.row_locks.for_update => {
            let mut of_users = sql.databases.iter();
            of_users.next().map_or(Ok(()), |database| {
                Err(table_denied(
                    facts,
                    "SELECT, LOCK TABLES",
                    database,
                    database,
                ))
            })
        }
        Action::Call(call) => check_routine(facts, call.procedure.name),
        Action::Show(show) => check_listing(facts, show),
        Action::Ddl(ddl) => check_ddl(facts, ddl),
        Action::Use(name) => check_database(facts, name),
        Action::LockTables(tables) => {
            let own = facts.database().unwrap_or_default();
            let names = tables
                .iter()
                .map(|(database, ..)| match database.is_empty() {
                    true => own.as_str(),
                    false => database.as_str(),
                });
            let mut of_users = names.filter(|name| !is_system_schema(name));
            of_users
                .next()
                .map_or(Ok(()), |name| Err(database_denied(facts, name)))
        }
        Action::Flush(_) => facts.rights().require_all("RELOAD"),
        Action::Shutdown => facts.rights().require_all("SHUTDOWN"),
        // Their tables are checked one by one.
        Action::Rows(_) | Action::Into(..) | Action::Do(_) | Action::Write(..) => Ok(()),
        // Checked when they run: they depend on values.
        Action::Account(_) | Action::Set(_) | Action::Kill { .. } => Ok(()),
        Action::Begin { .. }
        | Action::Commit { .. }
        | Action::Rollback { .. }
        | Action::Savepoint(_)
        | Action::RollbackTo(_)
        | Action::Release(_)
        | Action::UnlockTables
        | Action::Prepare(..)
        | Action::Execute(..)
        | Action::Deallocate(_)
        | Action::NoOp
        | Action::Empty => Ok(()),
    }
}

/// Whether the account may read the columns of a table, by default of the session's database. Everybody may
/// read those of system schemas, except of mysql and sys.
///
/// # Errors
/// 1142.
pub fn check_columns(facts: &dyn SessionFacts, given: &Option<String>, table: &str) -> Result<()> {
    match given.clone().or_else(|| facts.database()) {
        Some(name)
            if !is_system_schema(&name)
                || ["mysql", "sys"].contains(&name.to_ascii_lowercase().as_str()) =>
        {
            check_table(facts, "SELECT", (&name, table))
        }
        _ => Ok(()),
    }
}

/// Whether the account may call a procedure of schema sys.
fn check_routine(facts: &dyn SessionFacts, name: &str) -> Result<()> {
    if facts.rights().may_read() {
        return Ok(());
    }
    let (user, host) = facts.account();
    let text = format!("execute command denied to user '{user}'@'{host}' for routine 'sys.{name}'");
    Err(SqlError::new(1370, text))
}

fn check_listing(facts: &dyn SessionFacts, show: &Show) -> Result<()> {
    let rights = facts.rights();
    let database = |given: &Option<String>| given.clone().or_else(|| facts.database());
    let in_database = |given: &Option<String>| match database(given) {
        Some(name) => check_database(facts, &name),
        None => Ok(()),
    };
    match &show.what {
        What::Tables(given)
        | What::TableStatus(given)
        | What::Triggers(given)
        | What::Events(given) => in_database(given),
        What::CreateDatabase(name) => check_database(facts, name),
        What::Columns(given, table) | What::Index(given, table) => {
            check_columns(facts, given, table)
        }
        What::CreateTable(given, table) | What::CreateView(given, table) => match database(given) {
            Some(name) => check_table(facts, "SHOW", (&name, table)),
            None => Ok(()),
        },
        What::CreateProgram(_, given, _) => in_database(given),
        What::Engine(_, EngineReport::Status) if !rights.may_see_others() => {
            rights.require_all("PROCESS")
        }
        What::Grants(Some(of)) if *of != facts.current_account() && !rights.may_read() => {
            Err(table_denied(facts, "SELECT", "mysql", "user"))
        }
        What::CreateUser(Some(of)) if *of != facts.current_account() && !rights.may_read() => {
            Err(database_denied(facts, "mysql"))
        }
        What::Databases
        | What::OpenTables(_)
        | What::Engine(..)
        | What::Routines(_)
        | What::RoutineCode(_)
        | What::BinaryLogs
        | What::Variables(_)
        | What::Status(_)
        | What::ProcessList
        | What::Warnings { .. }
        | What::WarningCount { .. }
        | What::Engines
        | What::Collation
        | What::Charset
        | What::Grants(_)
        | What::CreateUser(_)
        | What::Privileges
        | What::Plugins
        | What::Absent(_)
        | What::Explain(..) => Ok(()),
    }
}

fn check_ddl(facts: &dyn SessionFacts, ddl: &Ddl) -> Result<()> {
    let privilege = match ddl {
        Ddl::CreateDatabase { name, .. } | Ddl::DropDatabase { name, .. } => {
            return Err(database_denied(facts, name));
        }
        Ddl::DropProgram { database, .. } => {
            let own = facts.database();
            let database = database.clone().or(own).unwrap_or_default();
            return Err(database_denied(facts, &database));
        }
        Ddl::CreateTable { .. } | Ddl::CreateLike { .. } | Ddl::CreateAs { .. } => "CREATE",
        Ddl::CreateView { .. } => "CREATE VIEW",
        Ddl::Drop { .. } | Ddl::Truncate(_) => "DROP",
        Ddl::Alter { .. } => "ALTER",
        Ddl::CreateIndex { .. } | Ddl::DropIndex { .. } => "INDEX",
        Ddl::Rename(_) => "ALTER, DROP",
        Ddl::Maintain(_, Maintenance::Check) => "SELECT",
        Ddl::Maintain(..) => "SELECT, INSERT",
    };
    let check = |name: &TableName| match (ddl, is_system_schema(&name.database)) {
        // No account may change the others: that has its own errors.
        (Ddl::Truncate(_), true) | (_, false) => {
            check_table(facts, privilege, (&name.database, &name.table))
        }
        (_, true) => Ok(()),
    };
    match ddl {
        Ddl::Maintain(tables, _) => tables.iter().try_for_each(check),
        other => other.tables().into_iter().try_for_each(check),
    }
}

fn table_denied(facts: &dyn SessionFacts, privilege: &str, schema: &str, table: &str) -> SqlError {
    let (user, host) = facts.account();
    SqlError::command_denied(facts.series(), privilege, (&user, &host), (schema, table))
}

fn database_denied(facts: &dyn SessionFacts, name: &str) -> SqlError {
    let (user, host) = facts.account();
    SqlError::database_denied(&user, &host, name)
}
