//! The prepared and cached statements of a session.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tare::digest::Digest;

use super::connections::Connections;
use super::tables::Uses;
use crate::shared::Shared;
use tare_dialect::plan::Plan;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::column::TextCharset;
use tare_mysql::wire::params::ParamType;
use tare_query::columns::Types;
use tare_store::StatementId;

/// The most statements of COM_QUERY that a session caches.
const MAX_CACHED_STATEMENTS: usize = 256;

/// The statements of a session.
#[derive(Debug, Default)]
pub struct Statements {
    /// Statements of COM_STMT_PREPARE. Boxed: an execution takes its statement out and puts it back.
    pub prepared: HashMap<u32, Box<PreparedStatement>>,
    /// Statements of PREPARE name FROM text.
    pub named: HashMap<String, NamedStatement>,
    /// The PREPARE, EXECUTE or DEALLOCATE that runs now.
    pub prepared_use: Option<PreparedUse>,
    /// The last number given to a prepared statement.
    last: u32,
    /// COM_QUERY's statements, by their texts.
    cache: HashMap<Box<str>, CachedStatement>,
}

impl Statements {
    /// The number of a statement that is prepared now.
    pub fn next_id(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.last
    }

    /// Takes the statement of this text out of the cache.
    pub fn take(&mut self, text: &str) -> Option<CachedStatement> {
        self.cache.remove(text)
    }

    /// Puts a statement into the cache.
    pub fn put(&mut self, text: &str, cached: CachedStatement, connections: &mut Connections) {
        if self.cache.len() >= MAX_CACHED_STATEMENTS {
            self.empty_cache(connections);
        }
        self.cache.insert(text.into(), cached);
    }

    /// Closes the cached statements, as when the default database changes.
    pub fn empty_cache(&mut self, connections: &mut Connections) {
        for (_, cached) in std::mem::take(&mut self.cache) {
            if let Some(statement) = cached.statement {
                connections.close(statement);
            }
        }
    }

    /// Makes every statement be translated again at its next execution.
    pub fn expire_all(&mut self, connections: &mut Connections) {
        self.empty_cache(connections);
        for prepared in self.prepared.values_mut() {
            // The generations of schemas begin with 1.
            Arc::make_mut(&mut prepared.plan).generation = 0;
        }
    }

    /// Finalizes all statements of SQLite. Prepared statements are prepared again at their next execution.
    pub fn release(&mut self, connections: &mut Connections) {
        self.empty_cache(connections);
        for prepared in self.prepared.values_mut() {
            if let Some(statement) = prepared.statement.take() {
                connections.close(statement);
            }
        }
    }
}

/// A statement of COM_QUERY in the cache.
#[derive(Debug)]
pub struct CachedStatement {
    /// The digest of its text.
    pub digest: Option<Digest>,
    /// Its plan.
    pub plan: Arc<Plan>,
    /// SQLite's statement, if it returns or changes rows.
    pub statement: Option<StatementId>,
    /// The result's column definitions.
    pub columns: Columns,
}

/// Column definitions, stored from one execution to the next.
#[derive(Debug, Default)]
pub struct Columns {
    /// The packets, without their sequence numbers.
    pub packets: Vec<u8>,
    /// The character set of the definitions.
    pub charset: TextCharset,
    /// The type of each column.
    pub types: Types,
    /// The tables that the statement uses, once determined.
    pub uses: Option<Box<Uses>>,
    /// The digest of the statement's text, if performance_schema records it.
    pub digest: Option<Digest>,
}

impl Columns {
    /// Columns that are not described yet.
    pub fn of(digest: Option<Digest>) -> Self {
        Self {
            digest,
            ..Self::default()
        }
    }
}

/// A prepared statement's part of Prepared_stmt_count, until this is dropped.
#[derive(Debug)]
pub struct PreparedCount(Arc<AtomicU64>);

impl PreparedCount {
    /// Counts a statement that is about to be prepared. 1461: there are max_prepared_stmt_count already.
    pub fn reserve(shared: &Shared) -> Result<Self> {
        let (count, relaxed) = (&shared.counters.prepared, Ordering::Relaxed);
        let limit = shared.globals.get("max_prepared_stmt_count");
        let limit = limit
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(u64::MAX);
        let next = |count| (count < limit).then_some(count + 1);
        match count.fetch_update(relaxed, relaxed, next) {
            Ok(_) => Ok(Self(count.clone())),
            Err(_) => Err(SqlError::new(
                1461,
                format!(
                    "Can't create more than max_prepared_stmt_count statements (current value: {limit})"
                ),
            )),
        }
    }
}

impl Drop for PreparedCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A prepared statement.
#[derive(Debug)]
pub struct PreparedStatement {
    /// Its text, for translating it again when a schema has changed.
    pub text: Arc<str>,
    /// The digest of its text.
    pub digest: Digest,
    /// The digest of its executions, once there was one.
    pub executes: Option<Digest>,
    /// The default database of when it was prepared.
    pub database: Option<String>,
    /// Its plan.
    pub plan: Arc<Plan>,
    /// SQLite's statement.
    pub statement: Option<StatementId>,
    /// The result's columns.
    pub columns: Columns,
    /// The parameters' types: clients send them with the first execution only.
    pub types: Vec<ParamType>,
    /// Parameters from COM_STMT_SEND_LONG_DATA.
    pub long: Vec<Option<Vec<u8>>>,
    /// The error of COM_STMT_SEND_LONG_DATA, which the next execution reports.
    pub long_error: Option<SqlError>,
    /// Its row of prepared_statements_instances.
    pub instance: tare::prepared::Prepared,
    /// It is counted.
    pub _count: PreparedCount,
}

/// The use of a prepared statement by PREPARE, EXECUTE or DEALLOCATE.
#[derive(Debug)]
pub struct PreparedUse {
    /// Which of them it is.
    pub verb: &'static str,
    /// The prepared statement's name, in lower case.
    pub name: String,
    /// Its text; `None` if there is no such statement, or its text is a syntax error.
    pub text: Option<String>,
    /// The digest of the use, if determined.
    pub digest: Option<Digest>,
    /// PREPARE has the text as a literal.
    pub is_literal: bool,
}

impl PreparedUse {
    /// The use of the statement of this name.
    pub fn new(verb: &'static str, name: &str, text: Option<String>) -> Self {
        Self {
            verb,
            name: name.to_lowercase(),
            text,
            digest: None,
            is_literal: false,
        }
    }
}

/// A statement of PREPARE name FROM text.
#[derive(Debug)]
pub struct NamedStatement {
    /// Its text.
    pub text: String,
    /// The digest of its text, once it was executed.
    pub digest: Option<Digest>,
    /// The digest of its executions, once it was executed.
    pub executes: Option<Digest>,
    /// The generation of the schemas at its last execution.
    pub generation: u64,
    /// Its row of prepared_statements_instances.
    pub instance: tare::prepared::Prepared,
    /// It is counted.
    pub _count: PreparedCount,
}

impl NamedStatement {
    /// Updates its generation. Returns whether the schemas have changed since the last execution.
    pub fn update_generation(&mut self, generation: u64) -> bool {
        let has_changed = self.generation != generation;
        if has_changed {
            self.generation = generation;
            self.instance.reprepared();
        }
        has_changed
    }
}
