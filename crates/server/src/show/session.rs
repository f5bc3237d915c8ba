//! What sessions have and do: variables, status, the process list, warnings.

use tare_mysql::error::Result;

use crate::session::{Connections, Session};
use crate::state::SessionState;
use tare_mysql::variable::Scope;
use tare_query::result::Rows;

fn listed(all: Vec<tare_rows::source::Variable>) -> Rows {
    let mut rows = Rows::new(&["Variable_name", "Value"]);
    for variable in all {
        rows.push([variable.name.into(), variable.value.into()]);
    }
    rows
}

/// SHOW VARIABLES.
pub fn variables(connections: &mut Connections, of: Scope) -> Result<Rows> {
    Ok(listed(connections.system_catalog()?.variables(of)))
}

/// SHOW STATUS.
pub fn status(connections: &mut Connections, of: Scope) -> Result<Rows> {
    Ok(listed(connections.system_catalog()?.status(of)))
}

/// SHOW PROCESSLIST.
pub fn processes(session: &Session, full: bool) -> Rows {
    let mut rows = Rows::new(&[
        "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
    ]);
    let (user, _) = session.state.user_host();
    for p in session.shared.registry.list() {
        if !session.is_root() && p.user != user {
            continue;
        }
        let info = if full {
            p.info
        } else {
            p.info.chars().take(100).collect()
        };
        let info = (!info.is_empty()).then_some(info);
        rows.push([
            (p.id as i64).into(),
            p.user.into(),
            p.host.into(),
            p.database.into(),
            p.command.into(),
            (p.since.elapsed().as_secs() as i64).into(),
            p.state.into(),
            info.into(),
        ]);
    }
    rows
}

/// SHOW WARNINGS, SHOW ERRORS.
pub fn warnings(state: &SessionState, errors: bool, limit: (usize, usize)) -> Rows {
    let mut rows = Rows::new(&["Level", "Code", "Message"]).typed(&[
        "varchar(7)",
        "int unsigned",
        "varchar(512)",
    ]);
    let all = state.warnings.list();
    let all = all.into_iter().filter(|w| !errors || w.level == "Error");
    for w in all.skip(limit.0).take(limit.1) {
        rows.push([w.level.into(), i64::from(w.code).into(), w.message.into()]);
    }
    rows
}

/// SHOW COUNT(*) WARNINGS, ERRORS.
pub fn warning_count(state: &SessionState, errors: bool) -> Rows {
    let name = if errors { "error" } else { "warning" };
    let mut rows = Rows::new(&[&format!("@@session.{name}_count")]).typed(&["bigint unsigned"]);
    let all = state.warnings.list();
    let n = all.iter().filter(|w| !errors || w.level == "Error").count();
    rows.push([(n as i64).into()]);
    rows
}
