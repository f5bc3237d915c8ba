//! PREPARE, EXECUTE and DEALLOCATE: statements that are prepared by a statement.

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare::digest::Digest;

use super::prepare::{self, Answer, Run};
use crate::command::secret::shown;
use crate::command::verb;
use crate::session::{Columns, Handled, Named, Session};
use crate::status::Request;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SYNTAX, SqlError};
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
    let name = name.to_lowercase();
    // Even if nothing takes its place.
    if session.statements.named.remove(&name).is_some() {
        session.registration.status().request(Request::Close);
    }
    session.statements.handled = Some(Handled {
        is_literal: matches!(text, Expr::Value(_)),
        ..Handled::new("PREPARE", &name, None)
    });
    let Value::Text(text) = prepare::evaluate(session, text.clone())? else {
        return Err(tare_dialect::near("NULL").into());
    };
    let generation = session.shared.databases.generation();
    let translated = prepare::translate(session, &text, generation);
    if !matches!(&translated, Err(error) if error.code == SYNTAX)
        && let Some(handled) = &mut session.statements.handled
    {
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
        digest: None,
        executes: None,
        generation,
    };
    session.statements.named.insert(name, named);
    Ok(())
}

/// EXECUTE name USING @a, @b.
pub fn execute(session: &mut Session, name: &str, using: &[Expr], answer: Answer) -> Result<()> {
    let generation = session.shared.databases.generation();
    let mut handled = Handled::new("EXECUTE", name, None);
    let verb = verb(session, handled.verb);
    let Some(named) = session.statements.named.get_mut(&handled.name) else {
        session.statements.handled = Some(handled);
        return Err(unknown(name, "EXECUTE"));
    };
    let text = named.text.clone();
    if tare::is_running() && named.digest.is_none() {
        let shown = shown(&text);
        named.digest = Some(Digest::of(&shown));
        named.executes = Some(Digest::with_verb(verb, &shown));
    }
    let digest = named.digest;
    handled.text = Some(text.clone());
    handled.digest = named.executes;
    session.statements.handled = Some(handled);
    if named.is_outdated(generation) {
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
    let mut columns = Columns::of(digest);
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
    let text = removed.map(|named| named.text);
    session.statements.handled = Some(Handled::new("DEALLOCATE", name, text));
    if !is_known {
        return Err(unknown(name, "DEALLOCATE PREPARE"));
    }
    session.registration.status().request(Request::Close);
    Ok(())
}
