//! Runs a plan. Each kind of action has its module.

mod account;
mod action;
pub mod columns;
pub mod count;
mod duplicate;
pub mod flush;
mod foreign_key;
mod ignore;
mod interruption;
mod locks;
mod named;
pub mod prepare;
mod rows;
mod savepoint;
mod select_into;
mod write;

use std::time::Duration;

use self::interruption::map_interruption;
use self::prepare::Run;
use super::call;
use super::session::Session;
use super::show;
use super::status::Counter;
use sqlparser::ast::AlterTableOperation;
use tare_dialect::ddl::{AlterOperation, Ddl};
use tare_dialect::plan::{Action, Change, Plan};
use tare_mysql::error::{DISK_FULL, Result};
use tare_mysql::memory;
use tare_query::show::preserves_warnings;
use tare_store::Reserve;

/// Runs a plan and sends its answer. On a full disk, what frees space takes some from the reserve.
pub fn run(session: &mut Session, plan: &Plan, run: Run<'_>) -> Result<()> {
    session.registration.status().command(plan.command);
    let answer = run.answer;
    let (statement, columns, bind) = (run.statement, run.columns, run.bind);
    let result = run_once(
        session,
        plan,
        Run {
            statement: &mut *statement,
            columns: &mut *columns,
            bind: &mut *bind,
            answer,
        },
    );
    let is_full = matches!(&result, Err(error) if error.code == DISK_FULL);
    if !is_full || !release_reserve(session, &plan.action) {
        return result;
    }
    let again = Run {
        statement,
        columns,
        bind,
        answer,
    };
    let result = run_once(session, plan, again);
    refill_reserve(session, &plan.action);
    result
}

/// The database in which an action frees space: DELETE, TRUNCATE, DROP.
fn freed_database(action: &Action) -> Option<&str> {
    match action {
        Action::Write(sql, Change::Delete) => sql.writes.as_deref(),
        Action::Ddl(ddl) => match &**ddl {
            Ddl::DropDatabase { name, .. } => Some(name),
            Ddl::Truncate(table) => Some(&table.database),
            Ddl::Drop { names, .. } => names.first().map(|table| table.database.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Gives the reserve back for an action that frees space. A transaction would need more at its COMMIT.
#[cold]
fn release_reserve(session: &Session, action: &Action) -> bool {
    let reserve = session.shared.databases.reserve();
    freed_database(action).is_some()
        && !session.transaction.open
        && reserve.is_some_and(Reserve::release)
}

/// Empties the log, so that other statements can use the freed pages, and fills the reserve again.
#[cold]
fn refill_reserve(session: &mut Session, action: &Action) {
    if let (Some(database), Some(connection)) =
        (freed_database(action), &mut session.connections.own)
        && connection.is_attached(database)
    {
        // A reader may need the log: then it is emptied later.
        let _ = connection.empty_log(database);
    }
    if let Some(reserve) = session.shared.databases.reserve() {
        reserve.fill();
    }
}

fn run_once(session: &mut Session, plan: &Plan, run: Run<'_>) -> Result<()> {
    let _memory = memory::limit_statement(session.shared.config.max_statement_memory);
    let _counted = tare_store::memory::begin_statement();
    let status = session.registration.status();
    let at_most = match plan.action {
        Action::Rows(_) => plan.at_most.unwrap_or(session.settings.max_execution_time),
        _ => Duration::ZERO,
    };
    if !at_most.is_zero() {
        status.add(Counter::MaxExecutionTimeSet, 1);
    }
    session.control.begin(at_most);
    if !preserves_warnings(&plan.action) {
        session.state.warnings.clear();
        session.tally.warns = true;
        warn_of_end(session);
    }
    let answer = run.answer;
    if !answer.binary {
        warn_of_deprecated(session, plan);
    }
    let result = match &plan.action {
        Action::Rows(sql) => rows::rows(session, sql, run),
        Action::Write(sql, change) => write::write(session, sql, *change, run),
        Action::Show(show) => show::show(session, show, answer),
        Action::Call(call) => call::call(session, call, run.bind, answer.binary)
            .map(|()| session.send_counts(0, 0, answer.more)),
        Action::Into(sql, names) => select_into::select_into(session, sql, names, run),
        Action::Do(sql) => select_into::evaluate_all(session, sql, run),
        other => {
            let affected = action::run(session, other, answer)?;
            if let Some(affected) = affected {
                let info = info(other, affected, session.state.warnings.count());
                session.send_info(affected, 0, &info, answer.more);
            }
            return Ok(());
        }
    };
    count::add_to_metrics(&plan.action, &session.tally);
    if let Some(connection) = &mut session.connections.own {
        connection.count_statement();
    }
    result.map_err(|error| map_interruption(&session.control, &session.registration, error))
}

/// Warns of deprecated syntax when a statement is read: a prepared one, when it is prepared.
pub fn warn_of_deprecated(session: &Session, plan: &Plan) {
    for warning in &plan.deprecated {
        let warnings = &session.state.warnings;
        warnings.add("Warning", warning.code, warning.message);
    }
}

/// MySQL's words in the OK packet of a statement: of PREPARE, and of those that may copy rows.
fn info(action: &Action, affected: u64, warnings: u16) -> String {
    let ddl = match action {
        Action::Prepare(..) => return "Statement prepared".to_owned(),
        Action::Ddl(ddl) => ddl.as_ref(),
        _ => return String::new(),
    };
    let copies = match ddl {
        Ddl::Alter { operations, .. } => operations.iter().any(|operation| !has_no_info(operation)),
        Ddl::CreateIndex { .. } | Ddl::DropIndex { .. } => true,
        Ddl::CreateAs { .. } => warnings == 0,
        _ => false,
    };
    match copies {
        true => format!("Records: {affected}  Duplicates: 0  Warnings: {warnings}"),
        false => String::new(),
    }
}

/// Whether MySQL has no words about an ALTER TABLE of this operation only.
fn has_no_info(operation: &AlterOperation) -> bool {
    match operation {
        AlterOperation::Parsed(operation) => {
            matches!(**operation, AlterTableOperation::RenameTable { .. })
        }
        other => matches!(other, AlterOperation::SwitchKeys),
    }
}

/// Warns once in each session that the attached process has ended.
fn warn_of_end(session: &mut Session) {
    let ends = session.shared.observed.end_count();
    if ends == session.reported_ends {
        return;
    }
    session.reported_ends = ends;
    let Some(state) = session.shared.observed.state() else {
        return;
    };
    let pid = state.pid;
    let text = match state.runs {
        true => format!("The attached server has ended; process {pid} follows it"),
        false => {
            format!("The attached server, process {pid}, has ended: these are its last figures")
        }
    };
    session.state.warnings.add("Warning", 1105, text);
}
