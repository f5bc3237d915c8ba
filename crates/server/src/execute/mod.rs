//! Runs a plan. Each kind of action has its module.

mod account;
mod action;
pub mod columns;
pub mod count;
pub mod flush;
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
use tare_dialect::ddl::Ddl;
use tare_dialect::plan::{Action, Plan};
use tare_mysql::error::Result;
use tare_mysql::memory;
use tare_query::show::preserves_warnings;

/// Runs a plan and sends its answer.
pub fn run(session: &mut Session, plan: &Plan, run: Run<'_>) -> Result<()> {
    let _memory = memory::limit_statement(session.shared.config.max_statement_memory);
    let _counted = tare_store::memory::begin_statement();
    let status = session.registration.status();
    status.command(plan.command);
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

/// MySQL's words in the OK packet of a statement: of PREPARE, and of those that may copy rows.
fn info(action: &Action, affected: u64, warnings: u16) -> String {
    let ddl = match action {
        Action::Prepare(..) => return "Statement prepared".to_owned(),
        Action::Ddl(ddl) => ddl.as_ref(),
        _ => return String::new(),
    };
    let copies = match ddl {
        Ddl::Alter { operations, .. } => operations
            .iter()
            .any(|operation| !matches!(operation, AlterTableOperation::RenameTable { .. })),
        Ddl::CreateIndex { .. } | Ddl::DropIndex { .. } => true,
        Ddl::CreateAs { .. } => warnings == 0,
        _ => false,
    };
    match copies {
        true => format!("Records: {affected}  Duplicates: 0  Warnings: {warnings}"),
        false => String::new(),
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
