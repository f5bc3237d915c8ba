//! PREPARE, EXECUTE and DEALLOCATE.

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare::digest::Digest;

use super::prepare::{self, Answer, Run};
use crate::command::digest_verb;
use crate::session::{Columns, NamedStatement, PreparedCount, PreparedUse, Session};
use crate::status::Request;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SYNTAX, SqlError};
use tare_mysql::secret::redact;
use tare_query::result::borrowed;
use tare_store::Cursor;

/// PREPARE name FROM text.
///
/// Like EXECUTE and DEALLOCATE, it also counts as the protocol's command.
pub fn prepare(session: &mut Session, name: &str, text: &Expr) -> Result<()> {
    session.registration.status().request(Request::Prepare);
    let name = name.to_lowercase();
    // Removed even if the new statement fails.
    if session.statements.named.remove(&name).is_some() {
        session.registration.status().request(Request::Close);
    }
    session.statements.prepared_use = Some(PreparedUse {
        is_literal: matches!(text, Expr::Value(_)),
        ..PreparedUse::new("PREPARE", &name, None)
    });
    let count = PreparedCount::reserve(&session.shared)?;
    let Value::Text(text) = prepare::evaluate(session, text.clone())? else {
        return Err(tare_dialect::near("NULL").into());
    };
    let generation = session.generation(&text);
    let translated = prepare::translate(session, &text, generation);
    if !matches!(&translated, Err(error) if error.code == SYNTAX)
        && let Some(prepared_use) = &mut session.statements.prepared_use
    {
        prepared_use.text = Some(text.clone());
    }
    let plan = translated?;
    super::warn_of_deprecated(session, &plan);
    prepare::check_preparable(&plan.action)?;
    // Preparing it now finds the statement's errors.
    if let Some(id) = prepare::prepare_now(session, &plan.action)? {
        session.connections.close(id);
    }
    let id = u64::from(session.statements.next_id());
    let named = NamedStatement {
        instance: tare::prepared::Prepared::new(id, Some(&name), &redact(&text)),
        text,
        digest: None,
        executes: None,
        generation,
        _count: count,
    };
    session.statements.named.insert(name, named);
    Ok(())
}

/// EXECUTE name USING @a, @b.
pub fn execute(session: &mut Session, name: &str, using: &[Expr], answer: Answer) -> Result<()> {
    let mut prepared_use = PreparedUse::new("EXECUTE", name, None);
    let verb = digest_verb(session.shared.config.series, prepared_use.verb);
    let Some(named) = session.statements.named.get_mut(&prepared_use.name) else {
        session.statements.prepared_use = Some(prepared_use);
        return Err(SqlError::unknown_handler(name, "EXECUTE"));
    };
    let text = named.text.clone();
    if tare::is_running() && named.digest.is_none() {
        let redacted = redact(&text);
        named.digest = Some(Digest::of(&redacted));
        named.executes = Some(Digest::with_verb(verb, &redacted));
    }
    let generation = crate::session::generation(&session.shared, &session.state, &text);
    let digest = named.digest;
    prepared_use.text = Some(text.clone());
    prepared_use.digest = named.executes;
    session.statements.prepared_use = Some(prepared_use);
    if named.update_generation(generation) {
        session.registration.status().reprepared();
    }
    let mut plan = prepare::translate(session, &text, generation)?;
    plan.deprecated.clear();
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
    let exists = removed.is_some();
    let text = removed.map(|named| named.text);
    session.statements.prepared_use = Some(PreparedUse::new("DEALLOCATE", name, text));
    if !exists {
        return Err(SqlError::unknown_handler(name, "DEALLOCATE PREPARE"));
    }
    session.registration.status().request(Request::Close);
    Ok(())
}
