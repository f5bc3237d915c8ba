//! SHOW: what is asked for, and the rows that answer it.

mod absent;
mod account;
mod columns;
mod create;
mod engine;
mod index;
pub mod names;
mod programs;
mod schema;
mod session;
mod state;
mod status;

pub use self::session::{PROCESSES, Session, Warning};

use crate::explain;
use crate::filter::filtered;
use crate::result::Rows;
use tare_dialect::admin::{Filter, Format, Show, What};
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};

/// The rows of a SHOW, or of EXPLAIN.
///
/// # Errors
/// MySQL's, where the session may not see what is asked for, or it is not there.
pub fn rows(session: &mut dyn Session, show: &Show) -> Result<Rows> {
    let rows = made(session, show)?;
    let mut rows = filtered(session, rows, &show.filter)?;
    if let (Filter::Like(pattern), What::Tables(_) | What::Databases) = (&show.filter, &show.what) {
        // MySQL says what was looked for in the heading.
        rows.names[0].push_str(&format!(" ({pattern})"));
    }
    Ok(rows)
}

/// SHOW WARNINGS leaves the warnings of the statement before.
pub fn keeps_warnings(action: &Action) -> bool {
    let Action::Show(show) = action else {
        return false;
    };
    matches!(show.what, What::Warnings { .. } | What::WarningCount { .. })
}

fn made(session: &mut dyn Session, show: &Show) -> Result<Rows> {
    match &show.what {
        What::Databases => Ok(schema::databases(session)),
        What::Tables(database) => schema::tables(session, database, show.full),
        What::TableStatus(database) => status::table_status(session, database),
        What::Columns(database, table) => columns::columns(session, database, table, show.full),
        What::Index(database, table) => index::indexes(session, database, table),
        What::CreateTable(database, table) => create::create_text(session, database, table),
        What::CreateDatabase(name) => schema::create_database(session, name),
        What::Variables(scope) => state::variables(session, *scope),
        What::Status(scope) => state::status(session, *scope),
        What::ProcessList => state::processes(session, show.full),
        What::Warnings { errors, limit } => Ok(state::warnings(session.warnings(), *errors, *limit)),
        What::WarningCount { errors } => Ok(state::warning_count(session.warnings(), *errors)),
        What::Engines => session.select(
            "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, \
             TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.ENGINES",
            &[],
        ),
        What::Collation => session.select(
            "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, \
             IS_DEFAULT AS `Default`, IS_COMPILED AS Compiled, SORTLEN AS Sortlen, PAD_ATTRIBUTE AS Pad_attribute \
             FROM information_schema.COLLATIONS ORDER BY 1",
            &[],
        ),
        What::Charset => session.select(
            "SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, \
             DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS Maxlen FROM information_schema.CHARACTER_SETS ORDER BY 1",
            &[],
        ),
        What::Grants(of) => account::grants(session, of.as_ref()),
        What::CreateUser(of) => account::show_user(session, of.as_ref()),
        What::CreateView(database, view) => create::show_view(session, database, view),
        What::CreateProgram(kind, database, name) => {
            programs::show_program(session, *kind, database, name)
        }
        What::Engine(engine, what) => engine::engine(session, engine, *what),
        What::OpenTables(database) => schema::open_tables(session, database),
        What::Triggers(database) => programs::triggers(session, database),
        What::Events(database) => programs::events(session, database),
        What::Routines(routine) => programs::routines(session, *routine),
        What::RoutineCode(routine) => {
            let text = format!(
                "The 'SHOW {} CODE' feature is disabled; you need MySQL built with '--with-debug' to have it working",
                routine.word()
            );
            Err(SqlError::new(1289, text))
        }
        What::BinaryLogs => Err(SqlError::new(1381, "You are not using binary logging")),
        What::Privileges => Ok(account::privileges()),
        What::Plugins => session.select(
            "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, \
             PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License FROM information_schema.PLUGINS",
            &[],
        ),
        What::Absent(absent) => Ok(absent::rows(*absent)),
        What::Explain(sql, format, lookup) => {
            if let (Some(lookup), true) = (lookup, *format != Format::Tree) {
                return explain::looked_up(session, sql, lookup, *format);
            }
            Ok(explain::explained(&session.query_plan(sql)?, *format))
        }
    }
}
