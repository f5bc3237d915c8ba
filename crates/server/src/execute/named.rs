//! PREPARE, EXECUTE and DEALLOCATE: statements that are prepared by a statement.

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare::digest::Digest;

use super::prepare::{self, Answer, Run};
use crate::command::secret::shown;
use crate::session::{Columns, Named, Session};
use crate::status::Request;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};
use tare_query::result::borrowed;
use tare_store::Cursor;

fn unknown(name: &str, command: &str) -> SqlError {
    SqlError::new(
        1243,
        format!("Unknown prepared statement handler ({name}) given to {command}"),
    )
}

/// PREPARE name FROM text.
///
/// It counts as the protocol's command does, too; so do the others.
pub fn prepare(session: &mut Session, name: &str, text: &Expr) -> Result<()> {
    session.registration.status().request(Request::Prepare);
    let Value::Text(text) = prepare::evaluate(session, text.clone())? else {
        return Err(tare_dialect::near("NULL").into());
    };
    let generation = session.shared.databases.generation();
    prepare::translate(session, &text, generation)?;
    let id = u64::from(session.statements.next_id());
    let name = name.to_lowercase();
    let named = Named {
        instance: tare::prepared::Prepared::new(id, Some(&name), &shown(&text)),
        text,
        generation,
    };
    let former = session.statements.named.insert(name.clone(), named);
    if former.is_some() {
        session.registration.status().request(Request::Close);
    }
    session.statements.named_now = Some((name, true));
    Ok(())
}

/// EXECUTE name USING @a, @b.
pub fn execute(session: &mut Session, name: &str, using: &[Expr], answer: Answer) -> Result<()> {
    let generation = session.shared.databases.generation();
    let known = session.statements.named.get_mut(&name.to_lowercase());
    let Some((text, is_new)) = known.map(|named| named.used(generation)) else {
        return Err(unknown(name, "EXECUTE"));
    };
    if is_new {
        session.registration.status().reprepared();
    }
    session.statements.named_now = Some((name.to_lowercase(), false));
    let plan = prepare::translate(session, &text, generation)?;
    if plan.params != using.len() || matches!(plan.action, Action::Execute(..)) {
        return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
    }
    session.registration.status().request(Request::Execute);
    let values = using
        .iter()
        .map(|e| prepare::evaluate(session, e.clone()))
        .collect::<Result<Vec<_>>>()?;
    let mut statement = None;
    let mut columns = Columns::of(tare::is_running().then(|| Digest::of(&shown(&text))));
    let mut bind = |cursor: &mut Cursor<'_>| {
        for (i, value) in values.iter().enumerate() {
            cursor.bind(i + 1, borrowed(value))?;
        }
        Ok(())
    };
    let run = Run {
        statement: &mut statement,
        columns: &mut columns,
        bind: &mut bind,
        answer,
    };
    let result = super::run(session, &plan, run);
    if let Some(id) = statement {
        session.connections.close(id);
    }
    result
}

/// DEALLOCATE PREPARE.
pub fn deallocate(session: &mut Session, name: &str) -> Result<()> {
    match session.statements.named.remove(&name.to_lowercase()) {
        Some(_) => {
            session.registration.status().request(Request::Close);
            Ok(())
        }
        None => Err(unknown(name, "DEALLOCATE PREPARE")),
    }
}
