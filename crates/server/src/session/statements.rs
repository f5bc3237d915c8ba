//! The statements that a session keeps from one execution to the next.

use std::collections::HashMap;
use std::sync::Arc;

use tare::digest::Digest;

use super::connections::Connections;
use super::tables::Uses;
use tare_dialect::plan::Plan;
use tare_mysql::error::SqlError;
use tare_mysql::wire::params::ParamType;
use tare_query::columns::Types;
use tare_store::StatementId;

/// Statements of COM_QUERY that a session keeps translated and prepared.
const MAX_CACHED_STATEMENTS: usize = 256;

/// What a session keeps.
#[derive(Debug, Default)]
pub struct Statements {
    /// COM_STMT_PREPARE. Boxed: an execution takes its statement out and puts it back.
    pub prepared: HashMap<u32, Box<PreparedStatement>>,
    /// PREPARE name FROM text.
    pub named: HashMap<String, NamedStatement>,
    /// What the statement at hand does with one of them.
    pub prepared_use: Option<PreparedUse>,
    /// The last number given to a prepared statement.
    last: u32,
    /// COM_QUERY's statements, by their texts.
    cache: HashMap<Box<str>, CachedStatement>,
}

impl Statements {
    /// A number for a statement that is prepared now.
    pub fn next_id(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.last
    }

    /// The statement of this text, taken out.
    pub fn take(&mut self, text: &str) -> Option<CachedStatement> {
        self.cache.remove(text)
    }

    /// Keeps a statement that may come again.
    pub fn put(&mut self, text: &str, cached: CachedStatement, connections: &mut Connections) {
        if self.cache.len() >= MAX_CACHED_STATEMENTS {
            self.empty_cache(connections);
        }
        self.cache.insert(text.into(), cached);
    }

    /// Forgets COM_QUERY's statements, as when the default database changes.
    pub fn empty_cache(&mut self, connections: &mut Connections) {
        for (_, cached) in std::mem::take(&mut self.cache) {
            if let Some(statement) = cached.statement {
                connections.close(statement);
            }
        }
    }

    /// Has every statement read anew when it is executed next.
    pub fn expire_all(&mut self, connections: &mut Connections) {
        self.empty_cache(connections);
        for prepared in self.prepared.values_mut() {
            // Schemas are counted from 1 on.
            Arc::make_mut(&mut prepared.plan).generation = 0;
        }
    }

    /// Lets SQLite forget all of them; those that clients have prepared are prepared anew when they
    /// are executed.
    pub fn release(&mut self, connections: &mut Connections) {
        self.empty_cache(connections);
        for prepared in self.prepared.values_mut() {
            if let Some(statement) = prepared.statement.take() {
                connections.close(statement);
            }
        }
    }
}

/// A statement of COM_QUERY that may come again.
#[derive(Debug)]
pub struct CachedStatement {
    /// Of its text.
    pub digest: Option<Digest>,
    /// How it is run.
    pub plan: Arc<Plan>,
    /// Prepared, when it is rows or a change.
    pub statement: Option<StatementId>,
    /// The result's column definitions as they go over the wire.
    pub columns: Columns,
}

/// Column definitions, kept from one execution to the next.
#[derive(Debug, Default)]
pub struct Columns {
    /// The packets, but for their sequence numbers.
    pub packets: Vec<u8>,
    /// How each column's values are written.
    pub types: Types,
    /// Which tables the statement uses, once it is known.
    pub uses: Option<Box<Uses>>,
    /// Of its text, where performance_schema asks for it.
    pub digest: Option<Digest>,
}

impl Columns {
    /// Not described yet.
    pub fn of(digest: Option<Digest>) -> Self {
        Self {
            digest,
            ..Self::default()
        }
    }
}

/// A prepared statement.
#[derive(Debug)]
pub struct PreparedStatement {
    /// Its text, to be translated anew when a schema has changed.
    pub text: Arc<str>,
    /// Of its text.
    pub digest: Digest,
    /// Of its executions, once there was one.
    pub executes: Option<Digest>,
    /// The database that was the default when it was prepared.
    pub database: Option<String>,
    /// How it is run.
    pub plan: Arc<Plan>,
    /// SQLite's statement.
    pub statement: Option<StatementId>,
    /// The result's columns.
    pub columns: Columns,
    /// The parameters' types: clients send them with the first execution only.
    pub types: Vec<ParamType>,
    /// COM_STMT_SEND_LONG_DATA.
    pub long: Vec<Option<Vec<u8>>>,
    /// What went wrong with it, told by the next execution.
    pub long_error: Option<SqlError>,
    /// Its row of prepared_statements_instances.
    pub instance: tare::prepared::Prepared,
}

/// What PREPARE, EXECUTE or DEALLOCATE do with a prepared statement.
#[derive(Debug)]
pub struct PreparedUse {
    /// Which of them it is.
    pub verb: &'static str,
    /// The prepared statement's name, in lower case.
    pub name: String,
    /// Its text. None: there is no such statement, or no text that can be read.
    pub text: Option<String>,
    /// Of what is done with it, if it is known.
    pub digest: Option<Digest>,
    /// The text stands in the statement at hand.
    pub is_literal: bool,
}

impl PreparedUse {
    /// This is done with the statement of this name, and its text is known.
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
    /// Of its text, once it was executed.
    pub digest: Option<Digest>,
    /// Of its executions, likewise.
    pub executes: Option<Digest>,
    /// The schemas' generation that it was last executed under.
    pub generation: u64,
    /// Its row of prepared_statements_instances.
    pub instance: tare::prepared::Prepared,
}

impl NamedStatement {
    /// Whether the schemas are others than when it was executed last; from now on it is of these.
    pub fn is_outdated(&mut self, generation: u64) -> bool {
        let is_outdated = self.generation != generation;
        if is_outdated {
            self.generation = generation;
            self.instance.reprepared();
        }
        is_outdated
    }
}
