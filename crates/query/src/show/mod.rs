//! SHOW: the rows of each statement.

mod absent;
mod account;
mod columns;
mod create;
pub mod definition;
mod engine;
mod index;
pub mod names;
mod programs;
mod schema;
mod state;
mod status;

use crate::explain;
use crate::filter::apply_filter;
use crate::result::Rows;
use crate::runner::StatementRunner;
use tare_dialect::admin::{Filter, Format, Show, What};
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;

/// The rows of a SHOW, or of EXPLAIN.
///
/// # Errors
/// MySQL's, where the session may not see the object, or there is no such object.
pub fn rows(runner: &mut dyn StatementRunner, show: &Show) -> Result<Rows> {
    let rows = unfiltered_rows(runner, show)?;
    let mut rows = apply_filter(runner, rows, &show.filter)?;
    if let (Filter::Like(pattern), What::Tables(_) | What::Databases) = (&show.filter, &show.what) {
        // As in MySQL, the pattern is in the heading.
        rows.names[0].push_str(&format!(" ({pattern})"));
    }
    if runner.programs().series() == Series::V9_7 {
        rows.definitions = definition::of_statement(show, runner.explain_format());
    }
    Ok(rows)
}

/// Whether a statement leaves the warnings of the one before: SHOW WARNINGS does.
pub fn preserves_warnings(action: &Action) -> bool {
    let Action::Show(show) = action else {
        return false;
    };
    matches!(show.what, What::Warnings { .. } | What::WarningCount { .. })
}

fn unfiltered_rows(runner: &mut dyn StatementRunner, show: &Show) -> Result<Rows> {
    match &show.what {
        What::Databases => Ok(schema::databases(runner)),
        What::Tables(database) => schema::tables(runner, database, show.full),
        What::TableStatus(database) => status::table_status(runner, database),
        What::Columns(database, table) => columns::columns(runner, database, table, show.full),
        What::Index(database, table) => index::indexes(runner, database, table),
        What::CreateTable(database, table) => create::create_text(runner, database, table),
        What::CreateDatabase(name) => schema::create_database(runner, name),
        What::Variables(scope) => state::variables(runner, *scope),
        What::Status(scope) => state::status(runner, *scope),
        What::ProcessList => state::processes(runner, show.full),
        What::Warnings { errors, limit } => Ok(state::warnings(runner.context().warnings(), *errors, *limit)),
        What::WarningCount { errors } => Ok(state::warning_count(runner.context().warnings(), *errors)),
        What::Engines => runner.select(
            "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, \
             TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.ENGINES",
            &[],
        ),
        What::Collation => runner.select(
            "SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, \
             IS_DEFAULT AS `Default`, IS_COMPILED AS Compiled, SORTLEN AS Sortlen, PAD_ATTRIBUTE AS Pad_attribute \
             FROM information_schema.COLLATIONS ORDER BY 1",
            &[],
        ),
        What::Charset => runner.select(
            "SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, \
             DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS Maxlen FROM information_schema.CHARACTER_SETS ORDER BY 1",
            &[],
        ),
        What::Grants(of) => account::grants(runner, of.as_ref()),
        What::CreateUser(of) => account::show_user(runner, of.as_ref()),
        What::CreateView(database, view) => create::show_view(runner, database, view),
        What::CreateProgram(kind, database, name) => {
            programs::show_program(runner, *kind, database, name)
        }
        What::Engine(engine, what) => engine::engine(runner, engine, *what),
        What::OpenTables(database) => schema::open_tables(runner, database),
        What::Triggers(database) => programs::triggers(runner, database),
        What::Events(database) => programs::events(runner, database),
        What::Routines(routine) => programs::routines(runner, *routine),
        What::RoutineCode(routine) => {
            let text = format!(
                "The 'SHOW {} CODE' feature is disabled; you need MySQL built with '--with-debug' to have it working",
                routine.word()
            );
            Err(SqlError::new(1289, text))
        }
        What::BinaryLogs => Err(SqlError::new(1381, "You are not using binary logging")),
        What::Privileges => Ok(account::privileges()),
        What::Plugins => runner.select(
            "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, \
             PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License FROM information_schema.PLUGINS",
            &[],
        ),
        What::Absent(absent) => Ok(absent::rows(*absent, runner.programs().series())),
        What::Explain(sql, format, lookup) => {
            let format = format.unwrap_or_else(|| runner.explain_format());
            if let (Some(lookup), true) = (lookup, format != Format::Tree) {
                return explain::explain_lookup(runner, sql, lookup, format);
            }
            Ok(explain::format_plan(&runner.query_plan(sql)?, format))
        }
    }
}
