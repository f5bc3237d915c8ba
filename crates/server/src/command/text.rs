//! Statements of COM_QUERY: translated, run and cached.

use std::sync::Arc;

use tare::digest::Digest;

use crate::command::limits::apply_limits;
use crate::execute;
use crate::execute::count;
use crate::execute::prepare::{self, Answer, Run};
use crate::metrics;
use crate::points;
use crate::session::{CachedStatement, Columns, PreparedUse, Session, Statements, Tally};
use crate::status::Counter;
use tare_dialect::plan::{Action, Command};
use tare_dialect::split;
use tare_mysql::error::{Result, SYNTAX, SqlError};
use tare_mysql::secret::{redact, redact_message};
use tare_mysql::series::Series;

/// The number of the error of a text without a statement.
const EMPTY_QUERY: u16 = 1065;

/// Longer texts are bulk loads, which do not repeat.
const MAX_CACHEABLE_BYTES: usize = 4096;

/// Runs the statements of a text in order, up to the first that fails.
pub fn run_text(session: &mut Session, text: &str) -> Result<()> {
    let mut rest = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == '\0');
    loop {
        // Most texts have no `;` at all.
        let (end, next) = if rest.contains(';') {
            split::first(rest)
        } else {
            (rest.len(), rest.len())
        };
        let (one, after) = (rest[..end].trim_ascii_start(), &rest[next..]);
        let more = !split::is_blank(after);
        if more && !session.client.has_multi_statements() {
            return Err(
                tare_dialect::near(after.trim().chars().take(40).collect::<String>()).into(),
            );
        }
        statement(session, one, more)?;
        if !more {
            return Ok(());
        }
        if session.control.is_killed() {
            return Err(SqlError::interrupted());
        }
        rest = after;
    }
}

fn statement(session: &mut Session, text: &str, more: bool) -> Result<()> {
    let _limits = apply_limits(session, text);
    session.trace.publish(&session.state.user_variables);
    let point = tare::statement::start(&points::QUERY);
    tare::stage::set(&points::STARTING);
    tare::thread::set_command(tare::Command::Query);
    let redacted = redact(text);
    session.registration.begin_query(&redacted);
    let status = session.registration.status();
    status.add(Counter::Questions, 1);
    status.add(Counter::Queries, 1);
    session.tally = Tally::default();
    let result = run_cached(session, text, &redacted, more, &point);
    let result = session.reword(result);
    record(session, &point, "", &redacted, &result);
    session
        .registration
        .end_query(session.settings.long_query_time);
    tare::thread::set_command(tare::Command::Sleep);
    result
}

/// Records a statement's result in its event, and its error in the session. `redacted` is the statement's
/// text without passwords; its digest begins with `verb`.
pub fn record(
    session: &mut Session,
    point: &tare::statement::Statement,
    verb: &str,
    redacted: &str,
    result: &Result<()>,
) {
    if let Err(error) = result {
        // Its own warnings stay before its error; those of an earlier statement go.
        if !session.tally.warns {
            session.state.warnings.clear();
        }
        session
            .state
            .warnings
            .add("Error", error.code, error.message.clone());
        session.state.set_row_count(-1);
        let message = redact_message(error.code, &error.message, redacted);
        point.error(error.code.into(), error.state, &message);
    }
    let status = session.registration.status();
    count::add_to_status(status, &session.tally);
    status.set(Counter::OpenedTables, session.tables.opened());
    if !point.is_recorded() {
        return;
    }
    if point.has_lost_digest() {
        point.prepared_with_verb(verb, redacted, &Digest::with_verb(verb, redacted));
    }
    if let Some(prepared_use) = session.statements.prepared_use.take() {
        record_prepared_use(
            &session.statements,
            session.shared.config.series,
            point,
            &prepared_use,
        );
    }
    count::set_in_event(point, &session.tally, session.state.warnings.count());
}

/// Records a PREPARE, EXECUTE or DEALLOCATE in the row of its prepared statement. From 9.7 on, the event
/// has the prepared statement's text and a digest of its own.
fn record_prepared_use(
    statements: &Statements,
    series: Series,
    point: &tare::statement::Statement,
    prepared_use: &PreparedUse,
) {
    match (statements.named.get(&prepared_use.name), prepared_use.verb) {
        (Some(named), "PREPARE") => point.prepares(&named.instance),
        (Some(named), _) => point.executes(&named.instance),
        (None, _) => {}
    }
    let verb = digest_verb(series, prepared_use.verb);
    match &prepared_use.text {
        _ if verb.is_empty() => {}
        Some(text) => {
            let redacted = redact(text);
            let digest = prepared_use.digest;
            let digest = digest.unwrap_or_else(|| Digest::with_verb(verb, &redacted));
            point.prepared_with_verb(verb, &redacted, &digest);
        }
        None => {
            if prepared_use.is_literal {
                point.text_only(&format!("PREPARE {} FROM ...", prepared_use.name));
            }
            point.remove_digest();
        }
    }
}

/// The verb that digests of PREPARE, EXECUTE and DEALLOCATE begin with from 9.7 on; empty before.
pub fn digest_verb(series: Series, verb: &'static str) -> &'static str {
    match series.has_9_7_digests() {
        true => verb,
        false => "",
    }
}

fn run_cached(
    session: &mut Session,
    text: &str,
    redacted: &str,
    more: bool,
    point: &tare::statement::Statement,
) -> Result<()> {
    let translated = cached_or_translated(session, text, redacted, point);
    let readable = translated.and_then(|cached| match cached.plan.params {
        0 => Ok(cached),
        _ => Err(tare_dialect::near("?").into()),
    });
    let mut cached = readable.inspect_err(|error| refine_failed(point, text, error.code))?;
    cached.columns.digest = cached.digest;
    let plan = cached.plan.clone();
    point.refine(points::statement(plan.command));
    let run = Run {
        statement: &mut cached.statement,
        columns: &mut cached.columns,
        bind: &mut |_| Ok(()),
        answer: Answer {
            more,
            binary: false,
        },
    };
    let result = execute::run(session, &plan, run);
    let is_cacheable = result.is_ok()
        && text.len() <= MAX_CACHEABLE_BYTES
        && matches!(
            plan.action,
            Action::Rows(_) | Action::Write(..) | Action::Begin { .. } | Action::Commit { .. }
        );
    if is_cacheable {
        session
            .statements
            .put(text, cached, &mut session.connections);
    } else if let Some(statement) = cached.statement {
        session.connections.close(statement);
    }
    result
}

/// The class of a statement that has no plan: `error`, without a digest, if it cannot be read, and otherwise
/// that of its kind.
fn refine_failed(point: &tare::statement::Statement, text: &str, code: u16) {
    if [SYNTAX, EMPTY_QUERY].contains(&code) {
        point.refine(&points::SQL_ERROR);
        point.remove_digest();
    } else if let Some(command) = Command::of_text(text) {
        point.refine(points::statement(command));
    }
}

/// The statement of this text, from the cache or newly translated.
fn cached_or_translated(
    session: &mut Session,
    text: &str,
    redacted: &str,
    point: &tare::statement::Statement,
) -> Result<CachedStatement> {
    let generation = session.generation(text);
    let old = match session.statements.take(text) {
        Some(mut cached) if cached.plan.generation == generation => {
            metrics::STATEMENT_CACHE_HITS.add(1);
            if point.is_recorded() {
                let digest = cached.digest.get_or_insert_with(|| Digest::of(redacted));
                point.prepared(redacted, digest);
            }
            return Ok(cached);
        }
        old => old,
    };
    metrics::STATEMENT_CACHE_MISSES.add(1);
    // Recorded before the translation, which may fail.
    let digest = point.is_recorded().then(|| Digest::of(redacted));
    if let Some(digest) = &digest {
        point.prepared(redacted, digest);
    }
    if let Some(statement) = old.and_then(|c| c.statement) {
        session.connections.close(statement);
    }
    let plan = prepare::translate(session, text, generation)?;
    Ok(CachedStatement {
        digest,
        plan: Arc::new(plan),
        statement: None,
        columns: Columns::default(),
    })
}
