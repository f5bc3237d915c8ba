//! Statements of COM_QUERY: translated, run, kept.

use std::sync::Arc;

use mysql_common::constants::CapabilityFlags;
use tare::digest::Digest;
use tare_mysql::error::Result;

use super::{Cached, Columns, Session, Tally};
use crate::dialect::plan::Plan;
use crate::dialect::{Mode, split};
use crate::server::SystemSchema;
use crate::server::metrics;
use crate::server::points;
use crate::server::status::Counter;
use crate::storage::statement::StatementId;

/// Statements of COM_QUERY that a session keeps translated and prepared.
const CACHE: usize = 256;

/// Longer texts than this are bulk loads: they never come again.
const CACHEABLE: usize = 4096;

impl Session {
    /// Runs the statements of a text, one after the other, up to the first that fails.
    pub fn text_query(&mut self, text: &str) -> Result<()> {
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
            if more
                && !self
                    .capabilities
                    .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
            {
                return Err(crate::dialect::near(
                    after.trim().chars().take(40).collect::<String>(),
                ));
            }
            self.statement(one, more)?;
            if !more {
                return Ok(());
            }
            rest = after;
        }
    }

    fn statement(&mut self, text: &str, more: bool) -> Result<()> {
        let point = tare::statement::start(&points::QUERY);
        tare::stage::set(&points::STARTING);
        tare::thread::set_command(tare::Command::Query);
        self.registration.begin_query(text);
        let status = self.registration.status();
        status.add(Counter::Questions, 1);
        status.add(Counter::Queries, 1);
        self.tally = Tally::default();
        let result = self.cached(text, more, &point);
        self.record(&point, &result);
        self.registration.end_query(self.long_query_time);
        tare::thread::set_command(tare::Command::Sleep);
        result
    }

    /// Tells a statement's event how it went, and the session how it failed.
    pub fn record(&mut self, point: &tare::statement::Statement, result: &Result<()>) {
        if let Err(error) = result {
            self.state.warnings.clear();
            self.state
                .warnings
                .add("Error", error.code, error.message.clone());
            self.state.set_row_count(-1);
            point.error(error.code.into(), error.state, &error.message);
        }
        let tally = self.tally;
        self.count_work(tally);
        if !point.is_recorded() {
            return;
        }
        if let Some((name, prepares)) = self.named_now.take()
            && let Some(named) = self.named.get(&name)
        {
            match prepares {
                true => point.prepares(&named.instance),
                false => point.executes(&named.instance),
            }
        }
        point.set_all([
            (tare::Counter::RowsSent, tally.sent),
            (tare::Counter::RowsExamined, tally.examined),
            (tare::Counter::RowsAffected, tally.affected),
            (tare::Counter::Warnings, self.state.warnings.count().into()),
            (tare::Counter::SelectScan, tally.scanned.into()),
            (tare::Counter::SortScan, tally.sorts),
        ]);
    }

    /// What a statement has done, for SHOW STATUS.
    fn count_work(&self, tally: Tally) {
        let status = self.registration.status();
        if tally.examined > 0 {
            if tally.scanned {
                status.add(Counter::SelectScan, 1);
                status.add(Counter::HandlerReadRndNext, tally.examined);
            } else {
                status.add(Counter::HandlerReadKey, tally.examined);
            }
        }
        if tally.sorts > 0 {
            status.add(Counter::SortScan, tally.sorts);
            status.add(Counter::SortRows, tally.sent);
        }
    }

    fn cached(&mut self, text: &str, more: bool, point: &tare::statement::Statement) -> Result<()> {
        let generation = self.shared.databases.generation();
        let mut cached = match self.cache.remove(text) {
            Some(mut cached) if cached.plan.generation == generation => {
                metrics::STATEMENT_CACHE_HITS.add(1);
                if point.is_recorded() {
                    let digest = cached.digest.get_or_insert_with(|| Digest::of(text));
                    point.prepared(text, digest);
                }
                cached
            }
            old => {
                metrics::STATEMENT_CACHE_MISSES.add(1);
                // Its text is known even if nothing else will be.
                let digest = point.is_recorded().then(|| Digest::of(text));
                if let Some(digest) = &digest {
                    point.prepared(text, digest);
                }
                if let Some(statement) = old.and_then(|c| c.statement) {
                    self.close_statement(statement);
                }
                let plan = self.translate(text, generation)?;
                Cached {
                    digest,
                    plan: Arc::new(plan),
                    statement: None,
                    columns: Columns::default(),
                }
            }
        };
        if cached.plan.params > 0 {
            return Err(crate::dialect::near("?"));
        }
        cached.columns.digest = cached.digest;
        let plan = cached.plan.clone();
        point.refine(crate::server::points::statement(plan.command));
        let result = self
            .run(
                &plan,
                &mut cached.statement,
                &mut cached.columns,
                &mut |_| Ok(()),
                more,
                false,
            )
            .map_err(|e| crate::dialect::blame::blame(e, text, self.mode()));
        let keep = result.is_ok()
            && text.len() <= CACHEABLE
            && matches!(
                plan.action,
                crate::dialect::plan::Action::Rows(_)
                    | crate::dialect::plan::Action::Write(..)
                    | crate::dialect::plan::Action::Begin { .. }
                    | crate::dialect::plan::Action::Commit { .. }
            );
        if keep {
            if self.cache.len() >= CACHE {
                self.empty_cache();
            }
            self.cache.insert(text.into(), cached);
        } else if let Some(statement) = cached.statement {
            self.close_statement(statement);
        }
        result
    }

    /// Forgets COM_QUERY's statements, as when the default database changes.
    pub fn empty_cache(&mut self) {
        for (_, cached) in std::mem::take(&mut self.cache) {
            if let Some(statement) = cached.statement {
                self.close_statement(statement);
            }
        }
    }

    /// Finalizes a prepared statement.
    pub fn close_statement(&mut self, id: StatementId) {
        let connection = if id.is_system() {
            self.system.as_mut().map(|(connection, _)| connection)
        } else {
            self.connection.as_mut()
        };
        if let Some(connection) = connection {
            connection.close(id);
        }
    }

    /// How @@sql_mode and the client have statements read.
    pub fn mode(&self) -> Mode {
        let mut mode = Mode::of(&self.state.text("sql_mode").unwrap_or_default());
        mode.found_rows = self
            .capabilities
            .contains(CapabilityFlags::CLIENT_FOUND_ROWS);
        mode
    }

    /// Reads and rewrites a statement.
    pub fn translate(&mut self, text: &str, generation: u64) -> Result<Plan> {
        let database = self.state.database();
        let mode = self.mode();
        crate::dialect::translate::translate(
            text,
            database.as_deref(),
            &mut SystemSchema::with(self.connection()?),
            generation,
            mode,
        )
    }
}
