//! Statements of COM_QUERY: translated, run, kept.

use std::sync::Arc;

use tare::digest::Digest;

use super::secret::{shown, shown_message};
use crate::command::limits::limits;
use crate::execute;
use crate::execute::count;
use crate::execute::prepare::{self, Answer, Run};
use crate::metrics;
use crate::points;
use crate::session::{Cached, Columns, Handled, Session, Tally};
use crate::status::Counter;
use tare_dialect::plan::Action;
use tare_dialect::split;
use tare_mysql::error::Result;

/// Longer texts than this are bulk loads: they never come again.
const CACHEABLE: usize = 4096;

/// Runs the statements of a text, one after the other, up to the first that fails.
pub fn text_query(session: &mut Session, text: &str) -> Result<()> {
    let mut rest = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == '\0');
    loop {
        // Most texts have no `;` at all.
        let (end, next) = if rest.contains(';') {
            split::first(rest)
        } else {
            (rest.len(), rest.len())
        };
        let (one, after) = (&rest[..end], &rest[next..]);
        let more = !split::is_blank(after);
        if more && !session.client.sends_several() {
            return Err(
                tare_dialect::near(after.trim().chars().take(40).collect::<String>()).into(),
            );
        }
        statement(session, one, more)?;
        if !more {
            return Ok(());
        }
        rest = after;
    }
}

fn statement(session: &mut Session, text: &str, more: bool) -> Result<()> {
    let _limits = limits(session, text);
    let point = tare::statement::start(&points::QUERY);
    tare::stage::set(&points::STARTING);
    tare::thread::set_command(tare::Command::Query);
    let shown = shown(text);
    session.registration.begin_query(&shown);
    let status = session.registration.status();
    status.add(Counter::Questions, 1);
    status.add(Counter::Queries, 1);
    session.tally = Tally::default();
    let result = cached(session, text, &shown, more, &point);
    let result = session.worded(result);
    record(session, &point, "", &shown, &result);
    session
        .registration
        .end_query(session.settings.long_query_time);
    tare::thread::set_command(tare::Command::Sleep);
    result
}

/// Tells a statement's event how it went, and the session how it failed. `shown`: the statement's text for
/// others; `verb`: what its digest begins with.
pub fn record(
    session: &mut Session,
    point: &tare::statement::Statement,
    verb: &str,
    shown: &str,
    result: &Result<()>,
) {
    if let Err(error) = result {
        // What it has warned of stays beside its error.
        if !session.tally.warns {
            session.state.warnings.clear();
        }
        session
            .state
            .warnings
            .add("Error", error.code, error.message.clone());
        session.state.set_row_count(-1);
        let message = shown_message(error.code, &error.message, shown);
        point.error(error.code.into(), error.state, &message);
    }
    let status = session.registration.status();
    count::status(status, &session.tally);
    status.set(Counter::OpenedTables, session.tables.opened());
    if !point.is_recorded() {
        return;
    }
    if point.has_lost_digest() {
        point.prepared_with_verb(verb, shown, &Digest::with_verb(verb, shown));
    }
    if let Some(handled) = session.statements.handled.take() {
        record_handled(session, point, &handled);
    }
    count::event(point, &session.tally, session.state.warnings.count());
}

/// What is done with a prepared statement counts in its row, and from 9.7 on has its text and a digest of its own.
fn record_handled(session: &Session, point: &tare::statement::Statement, handled: &Handled) {
    match (session.statements.named.get(&handled.name), handled.verb) {
        (Some(named), "PREPARE") => point.prepares(&named.instance),
        (Some(named), _) => point.executes(&named.instance),
        (None, _) => {}
    }
    let verb = verb(session, handled.verb);
    match &handled.text {
        _ if verb.is_empty() => {}
        Some(text) => {
            let shown = shown(text);
            let digest = handled.digest;
            let digest = digest.unwrap_or_else(|| Digest::with_verb(verb, &shown));
            point.prepared_with_verb(verb, &shown, &digest);
        }
        None => {
            if handled.is_literal {
                point.text_alone(&format!("PREPARE {} FROM ...", handled.name));
            }
            point.without_digest();
        }
    }
}

/// What the digest of a prepared statement begins with where this is done with it: nothing before 9.7.
pub fn verb(session: &Session, verb: &'static str) -> &'static str {
    match session.shared.config.series.has_later_digests() {
        true => verb,
        false => "",
    }
}

fn cached(
    session: &mut Session,
    text: &str,
    shown: &str,
    more: bool,
    point: &tare::statement::Statement,
) -> Result<()> {
    let mut cached = known(session, text, shown, point)?;
    if cached.plan.params > 0 {
        return Err(tare_dialect::near("?").into());
    }
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
    let keep = result.is_ok()
        && text.len() <= CACHEABLE
        && matches!(
            plan.action,
            Action::Rows(_) | Action::Write(..) | Action::Begin { .. } | Action::Commit { .. }
        );
    if keep {
        session
            .statements
            .keep(text, cached, &mut session.connections);
    } else if let Some(statement) = cached.statement {
        session.connections.close(statement);
    }
    result
}

/// The statement of this text, as it was kept or translated now.
fn known(
    session: &mut Session,
    text: &str,
    shown: &str,
    point: &tare::statement::Statement,
) -> Result<Cached> {
    let generation = session.shared.databases.generation();
    let old = match session.statements.take(text) {
        Some(mut cached) if cached.plan.generation == generation => {
            metrics::STATEMENT_CACHE_HITS.add(1);
            if point.is_recorded() {
                let digest = cached.digest.get_or_insert_with(|| Digest::of(shown));
                point.prepared(shown, digest);
            }
            return Ok(cached);
        }
        old => old,
    };
    metrics::STATEMENT_CACHE_MISSES.add(1);
    // Its text is known even if nothing else will be.
    let digest = point.is_recorded().then(|| Digest::of(shown));
    if let Some(digest) = &digest {
        point.prepared(shown, digest);
    }
    if let Some(statement) = old.and_then(|c| c.statement) {
        session.connections.close(statement);
    }
    let plan = prepare::translate(session, text, generation)?;
    Ok(Cached {
        digest,
        plan: Arc::new(plan),
        statement: None,
        columns: Columns::default(),
    })
}
