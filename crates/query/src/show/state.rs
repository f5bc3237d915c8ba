//! SHOW of variables, status, the process list and warnings.

use rusqlite::types::Value;
use tare_mysql::error::Result;
use tare_mysql::session::Warning;
use tare_mysql::variable::Scope;
use tare_rows::source::Variable;

use crate::result::Rows;
use crate::runner::StatementRunner;

fn variable_rows(all: Vec<Variable>) -> Rows {
    let mut rows = Rows::new(&["Variable_name", "Value"]);
    for variable in all {
        rows.push([variable.name.into(), variable.value.into()]);
    }
    rows
}

/// SHOW VARIABLES.
pub fn variables(runner: &mut dyn StatementRunner, of: Scope) -> Result<Rows> {
    Ok(variable_rows(runner.system()?.catalog().variables(of)))
}

/// SHOW STATUS.
pub fn status(runner: &mut dyn StatementRunner, of: Scope) -> Result<Rows> {
    Ok(variable_rows(runner.system()?.catalog().status(of)))
}

/// The longest statement in SHOW PROCESSLIST without FULL, as in MySQL.
const MAX_INFO_CHARACTERS: usize = 100;

/// SHOW PROCESSLIST.
pub fn processes(runner: &mut dyn StatementRunner, full: bool) -> Result<Rows> {
    let mut rows = runner.processes()?;
    if !full {
        for info in rows.rows.iter_mut().filter_map(|row| row.last_mut()) {
            if let Value::Text(text) = info
                && let Some((end, _)) = text.char_indices().nth(MAX_INFO_CHARACTERS)
            {
                text.truncate(end);
            }
        }
    }
    Ok(rows)
}

fn of_level(all: Vec<Warning>, errors: bool) -> impl Iterator<Item = Warning> {
    let all = all.into_iter();
    all.filter(move |w| !errors || w.level == "Error")
}

/// SHOW WARNINGS, SHOW ERRORS.
pub fn warnings(all: Vec<Warning>, errors: bool, limit: (usize, usize)) -> Rows {
    let mut rows = Rows::new(&["Level", "Code", "Message"]).typed(&[
        "varchar(7)",
        "int unsigned",
        "varchar(512)",
    ]);
    for w in of_level(all, errors).skip(limit.0).take(limit.1) {
        rows.push([w.level.into(), i64::from(w.code).into(), w.message.into()]);
    }
    rows
}

/// SHOW COUNT(*) WARNINGS, ERRORS.
pub fn warning_count(all: Vec<Warning>, errors: bool) -> Rows {
    let name = if errors { "error" } else { "warning" };
    let count = of_level(all, errors).count() as i64;
    Rows::single(&format!("@@session.{name}_count"), count).typed(&["bigint unsigned"])
}
