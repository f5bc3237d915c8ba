//! Prepares a statement: translates it with the session's rights, and attaches its databases.

use rusqlite::types::Value;

use super::interruption::map_interruption;
use crate::context::SessionContext;
use crate::points;
use crate::registry::Registration;
use crate::session::{Columns, Connections, Session, Tables, Transaction, Uses};
use crate::status::Counter;
use crate::transaction;
use tare_dialect::admin::What;
use tare_dialect::plan::{Action, Change, Plan, Sql};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_transactional;
use tare_mysql::session::SessionFacts;
use tare_mysql::wire::column::WireType;
use tare_query::rights;
use tare_query::runner::StatementRunner;
use tare_query::schema::SystemSchema;
use tare_query::system::prepare_error;
use tare_store::{Cursor, StatementId};
use tare_sys::Sys;

/// Binds the parameters of a statement.
pub type Bind<'b> = &'b mut dyn FnMut(&mut Cursor<'_>) -> Result<()>;

/// How a statement is run.
pub struct Run<'r> {
    /// SQLite's statement; stored for the next execution.
    pub statement: &'r mut Option<StatementId>,
    /// The result's columns; stored for the next execution.
    pub columns: &'r mut Columns,
    /// Binds its parameters.
    pub bind: Bind<'r>,
    /// The form of its answer.
    pub answer: Answer,
}

/// The message of 1295.
const NOT_PREPARABLE: &str = "This command is not supported in the prepared statement protocol yet";

/// The form of a statement's answer.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Another result follows.
    pub more: bool,
    /// Rows have the binary form of COM_STMT_EXECUTE.
    pub binary: bool,
}

/// Parses and translates a client's statement. An error if the account may not run it.
pub fn translate(session: &mut Session, text: &str, generation: u64) -> Result<Plan> {
    let database = session.state.database();
    translate_in(session, text, database.as_deref(), generation)
}

/// Translates a client's statement with another default database than the session's.
pub fn translate_in(
    session: &mut Session,
    text: &str,
    database: Option<&str>,
    generation: u64,
) -> Result<Plan> {
    let facts = session.connections.context.clone();
    let plan = plan(session, text, database, generation, Some(&*facts))?;
    rights::check(&*facts, &plan.action)?;
    Ok(plan)
}

/// Translates a statement of the server's own, which needs no rights.
pub fn translate_own(session: &mut Session, text: &str, generation: u64) -> Result<Plan> {
    let database = session.state.database();
    plan(session, text, database.as_deref(), generation, None)
}

fn plan(
    session: &mut Session,
    text: &str,
    database: Option<&str>,
    generation: u64,
    client: Option<&dyn SessionFacts>,
) -> Result<Plan> {
    let (mode, sys) = (session.mode(), Sys::of(session.shared.config.series));
    let state = session.state.clone();
    let schema = SystemSchema::with(sys, session.connections.own()?);
    let mut schema = schema.with_variables(&state.user_variables);
    if let Some(facts) = client {
        schema = schema.for_client(facts);
    }
    let plan = tare_dialect::translate::translate(text, database, &mut schema, generation, mode);
    plan.map_err(|error| map_interruption(&session.control, &session.registration, error.into()))
}

/// The types of a statement's parameters.
pub fn parameters(session: &mut Session, text: &str, count: usize) -> Result<Vec<WireType>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let database = session.state.database();
    let (mode, sys) = (session.mode(), Sys::of(session.shared.config.series));
    let mut schema = SystemSchema::with(sys, session.connections.own()?);
    let of = tare_dialect::parameters::parameters;
    Ok(of(text, database.as_deref(), &mut schema, mode, count))
}

/// Starts a statement: attaches the databases, and begins a transaction.
pub fn start(session: &mut Session, sql: &Sql) -> Result<()> {
    warn_of_tables(&session.connections.context, sql);
    note_namesakes(session, sql);
    if sql.is_system() {
        // The statement may read metrics, which must include this session's work.
        if let Some(connection) = &mut session.connections.own {
            connection.gather();
        }
    } else if !sql.catalog.is_empty() {
        session.connections.join_system(&session.transaction)?;
    }
    for database in &sql.databases {
        let connection = session.connections.own()?;
        if !connection.is_attached(database) {
            tare::stage::set(&points::OPENING_TABLES);
            connection.attach(database)?;
        }
    }
    if session.transaction.open {
        if !sql.databases.is_empty() || sql.writes.is_some() {
            session.transaction.is_hidden = false;
        }
        if session.transaction.expects_write
            && !session.transaction.read_only
            && let Some(database) = sql.databases.first()
        {
            let databases = &session.shared.databases;
            transaction::queue_as_writer(databases, &mut session.locks, &session.control, database);
        }
    } else if !session.transaction.autocommit && (!sql.databases.is_empty() || sql.writes.is_some())
    {
        transaction::begin(session, false)?;
    }
    let is_stored = |(schema, table): &(String, String)| is_transactional(schema, table);
    if !session.transaction.autocommit && sql.catalog.iter().any(is_stored) {
        start_dictionary_read(session)?;
    }
    Ok(())
}

/// Begins the transaction of a session without autocommit that reads MySQL's data dictionary.
pub fn start_dictionary_read(session: &mut Session) -> Result<()> {
    if session.transaction.autocommit || session.shared.config.series.is_mariadb() {
        return Ok(());
    }
    session.transaction.is_hidden = false;
    match session.transaction.open {
        true => Ok(()),
        false => transaction::begin(session, false),
    }
}

/// Warns of deprecated tables: information_schema.PROCESSLIST in MySQL since 8.0.35 (1287), and
/// setup_timers in MariaDB (1681).
fn warn_of_tables(context: &SessionContext, sql: &Sql) {
    let is_named = |schema: &str, table: &str| {
        let mut named = sql.catalog.iter();
        named.any(|(s, t)| s.eq_ignore_ascii_case(schema) && t.eq_ignore_ascii_case(table))
    };
    let series = context.shared.config.series;
    if series.is_mariadb() && is_named("performance_schema", "setup_timers") {
        let text = "'performance_schema.setup_timers' is deprecated and will be removed in a future release";
        context.state.warnings.add("Warning", 1681, text);
    }
    if is_named("information_schema", "PROCESSLIST") && series.warns_of_deprecated() {
        let text = "'INFORMATION_SCHEMA.PROCESSLIST' is deprecated and will be removed in a future release. \
                    Please use performance_schema.processlist instead";
        context.state.warnings.add("Warning", 1287, text);
    }
}

/// Adds a note, once in each session, if a function of schema sys has a native function's name. MySQL does so
/// when it first loads the function; the native ones came with 8.0.16.
fn note_namesakes(session: &mut Session, sql: &Sql) {
    if !session.shared.config.series.has_native_namesakes() {
        return;
    }
    for name in &sql.namesakes {
        if !session.reported_namesakes.contains(name) {
            session.reported_namesakes.push(name);
            let text = format!("This function '{name}' has the same name as a native function");
            session.state.warnings.add("Note", 1585, text);
        }
    }
}

/// Finds the errors of a statement that is prepared, as far as SQLite and the system tables have them.
/// Returns SQLite's statement, if there is one.
pub fn prepare_now(session: &mut Session, action: &Action) -> Result<Option<StatementId>> {
    let (Action::Rows(sql) | Action::Write(sql, _)) = action else {
        return Ok(None);
    };
    if let Action::Write(_, change) = action
        && sql.is_system()
    {
        session.check_change(sql, *change)?;
    }
    attach(&mut session.connections, &session.transaction, sql)?;
    let mut statement = None;
    ensure_prepared(
        &mut session.connections,
        &session.registration,
        sql,
        &mut statement,
    )?;
    Ok(statement)
}

/// Attaches the databases that a statement names, before it is prepared.
fn attach(connections: &mut Connections, transaction: &Transaction, sql: &Sql) -> Result<()> {
    if !sql.catalog.is_empty() && !sql.is_system() {
        connections.join_system(transaction)?;
    }
    for database in &sql.databases {
        connections.own()?.attach(database)?;
    }
    Ok(())
}

/// Prepares a statement unless it is prepared already.
pub fn ensure_prepared(
    connections: &mut Connections,
    registration: &Registration,
    sql: &Sql,
    statement: &mut Option<StatementId>,
) -> Result<StatementId> {
    let opened = if statement.is_some() {
        Counter::TableOpenCacheHits
    } else {
        Counter::TableOpenCacheMisses
    };
    if !sql.databases.is_empty() {
        registration.status().add(opened, 1);
    }
    if let Some(id) = *statement {
        return Ok(id);
    }
    tare::stage::set(&points::OPENING_TABLES);
    let connection = connections.of(sql)?;
    let refused = |error| prepare_error(error, sql);
    let id = if sql.is_system() {
        let id = connection.prepare(&sql.text).map_err(refused)?;
        id.of_system()
    } else {
        for database in &sql.databases {
            // They describe the result's columns.
            connection.definitions(database)?;
        }
        connection.prepare(&sql.text).map_err(refused)?
    };
    *statement = Some(id);
    Ok(id)
}

/// The tables that a statement uses, for performance_schema.
pub fn table_uses(
    connections: &mut Connections,
    tables: &mut Tables,
    sql: &Sql,
    columns: &mut Columns,
    change: Option<Change>,
) -> Option<Box<Uses>> {
    if sql.databases.is_empty() {
        return None;
    }
    let generation = connections.context.shared.databases.generation();
    if let Some(cached) = columns.uses.take().filter(|uses| uses.is_of(generation)) {
        return Some(cached);
    }
    let digest = columns.digest.as_ref();
    let connection = connections.own.as_mut()?;
    // A statement that SQLite cannot explain can still run.
    let uses = tables.uses(connection, sql, change, digest, generation);
    uses.ok().map(Box::new)
}

/// Error 1295: PREPARE, EXECUTE and DEALLOCATE cannot be prepared.
///
/// # Errors
/// 1295.
pub fn check_preparable(action: &Action) -> Result<()> {
    match action {
        Action::Prepare(..) | Action::Execute(..) | Action::Deallocate(_) => {
            Err(SqlError::new(1295, NOT_PREPARABLE))
        }
        Action::Show(show) if matches!(show.what, What::Warnings { .. }) => {
            Err(SqlError::new(1295, NOT_PREPARABLE))
        }
        _ => Ok(()),
    }
}

/// Evaluates an expression.
pub fn evaluate(session: &mut Session, expr: sqlparser::ast::Expr) -> Result<Value> {
    Ok(evaluate_typed(session, expr)?.0)
}

/// The value of an expression, and whether it is a number.
pub fn evaluate_typed(session: &mut Session, expr: sqlparser::ast::Expr) -> Result<(Value, bool)> {
    let (database, mode) = (session.state.database(), session.mode());
    let facts = session.connections.context.clone();
    let sys = Sys::of(session.shared.config.series);
    let schema = SystemSchema::with(sys, session.connections.own()?).for_client(&*facts);
    let mut schema = schema.with_variables(&facts.state.user_variables);
    let sql = tare_dialect::translate::expression(expr, database.as_deref(), mode, &mut schema)?;
    let is_number = is_number(&sql, 0);
    start(session, &sql)?;
    let connection = session.connections.of(&sql)?;
    let value = connection
        .db()
        .query_row(&sql.text, [], |row| row.get(0))
        .map_err(tare_store::Error::from)?;
    Ok((value, is_number))
}

/// Whether a column of a result is a number.
pub fn is_number(sql: &Sql, column: usize) -> bool {
    let wire = sql.columns.get(column).and_then(|c| c.wire);
    wire.is_some_and(|t| tare_dialect::types::is_number(&t))
}
