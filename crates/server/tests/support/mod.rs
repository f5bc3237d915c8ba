//! Tare in this process, its segment mapped as by a reader, and a SQLite connection with the catalog.

#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::types::Value;
use tare_mysql::error::SqlError;
use tare_mysql::session::SessionFacts;
use tare_query::catalog::{self, Catalog};
use tare_reader::Segment;
use tare_rows::source::Source;

/// The process has one Tare: one test at a time.
static ONE: Mutex<()> = Mutex::new(());

struct Serving(Arc<Segment>);

impl SessionFacts for Serving {}

impl Source for Serving {
    fn segment(&self) -> Option<Arc<Segment>> {
        Some(self.0.clone())
    }
}

pub struct Running {
    pub conn: Connection,
    pub catalog: Catalog,
    pub attached: Arc<Segment>,
    _one: MutexGuard<'static, ()>,
}

/// Starts Tare and connects to it.
pub fn start(config: tare::Config) -> Running {
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    tare::start(config).expect("Tare starts");
    let attached = Arc::new(Segment::own(tare::descriptor().unwrap()).expect("the own segment"));
    let conn = Connection::open_in_memory().unwrap();
    let catalog = catalog::install(&conn, Arc::new(Serving(attached.clone()))).unwrap();
    Running {
        conn,
        catalog,
        attached,
        _one: one,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        tare::stop();
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(v) => v.to_string(),
        Value::Real(v) => v.to_string(),
        Value::Text(s) => s,
        Value::Blob(b) => format!("{b:?}"),
    }
}

impl Running {
    /// A query's rows, each with its values separated by spaces.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let mut statement = self
            .conn
            .prepare(sql)
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let cells = (0..columns).map(|i| row.get(i).map(text));
            Ok(cells.collect::<Result<Vec<String>, _>>()?.join(" "))
        });
        rows.unwrap()
            .map(|row| row.unwrap_or_else(|e| panic!("{sql}: {e}")))
            .collect()
    }

    /// The one value of a query.
    pub fn one(&self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows[0].clone()
    }

    /// The one number of a query.
    pub fn number(&self, sql: &str) -> i64 {
        self.one(sql)
            .parse()
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Runs a statement. Returns the number of changed rows, or the catalog's error.
    pub fn execute(&self, sql: &str) -> Result<usize, SqlError> {
        self.conn
            .execute(sql, [])
            .map_err(|e| match tare_store::Error::from(e) {
                tare_store::Error::Raised(error) => error,
                other => panic!("{sql}: {other}"),
            })
    }

    pub fn truncate(&self, name: &str) {
        self.catalog
            .truncate("performance_schema", name)
            .expect(name)
            .expect(name);
    }
}
