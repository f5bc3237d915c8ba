//! PREPARE, EXECUTE and DEALLOCATE: statements that are prepared by a statement.

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare::digest::Digest;

use super::prepare::{self, Answer, Run};
use crate::command::secret::shown;
use crate::session::{Columns, Handled, Named, Session};
use crate::status::Request;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SqlError};
use tare_query::result::borrowed;
use tare_store::Cursor;

/// A syntax error.
const UNREADABLE: u16 = 1064;

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
    let name = name.to_lowercase();
    // Even if nothing takes its place.
    if session.statements.named.remove(&name).is_some() {
        session.registration.status().request(Request::Close);
    }
    session.statements.handled = Some(Handled {
        verb: "PREPARE",
        name: name.clone(),
        text: None,
        is_literal: matches!(text, Expr::Value(_)),
    });
    let Value::Text(text) = prepare::evaluate(session, text.clone())? else {
        return Err(tare_dialect::near("NULL").into());
    };
    let generation = session.shared.databases.generation();
    let translated = prepare::translate(session, &text, generation);
    let is_read = !matches!(&translated, Err(error) if error.code == UNREADABLE);
    if let Some(handled) = session.statements.handled.as_mut().filter(|_| is_read) {
        handled.text = Some(text.clone());
    }
    let plan = translated?;
    prepare::can_be_prepared(&plan.action)?;
    // Errors in the statement are told now.
    if let Action::Rows(sql) | Action::Write(sql, _) = &plan.action {
        prepare::attach(session, sql)?;
        let mut statement = None;
        prepare::statement(session, sql, &mut statement)?;
        if let Some(id) = statement {
            session.connections.close(id);
        }
    }
    let id = u64::from(session.statements.next_id());
    let named = Named {
        instance: tare::prepared::Prepared::new(id, Some(&name), &shown(&text)),
        text,
        generation,
    };
    session.statements.named.insert(name, named);
    Ok(())
}

/// EXECUTE name USING @a, @b.
pub fn execute(session: &mut Session, name: &str, using: &[Expr], answer: Answer) -> Result<()> {
    let generation = session.shared.databases.generation();
    let known = session.statements.named.get_mut(&name.to_lowercase());
    let used = known.map(|named| named.used(generation));
    session.statements.handled = Some(Handled {
        verb: "EXECUTE",
        name: name.to_lowercase(),
        text: used.as_ref().map(|(text, _)| text.clone()),
        is_literal: false,
    });
    let Some((text, is_new)) = used else {
        return Err(unknown(name, "EXECUTE"));
    };
    if is_new {
        session.registration.status().reprepared();
    }
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
    let removed = session.statements.named.remove(&name.to_lowercase());
    let is_known = removed.is_some();
    session.statements.handled = Some(Handled {
        verb: "DEALLOCATE",
        name: name.to_lowercase(),
        text: removed.map(|named| named.text),
        is_literal: false,
    });
    if !is_known {
        return Err(unknown(name, "DEALLOCATE PREPARE"));
    }
    session.registration.status().request(Request::Close);
    Ok(())
}
