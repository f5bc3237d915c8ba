//! A history as tables of the system schemas, for `tare sql --history`.
//!
//! [`tables`] are the files' own rows, in schema `tare`. [`summaries`] are the growth of MySQL's
//! summaries in a range of time, in `performance_schema`. Both replace a segment's tables, so that
//! views of schema sys read them.

mod summaries;
mod tables;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use tare_dialect::schema::{Procedure, Routine as Function, View};
use tare_history::{Error, Past};
use tare_mysql::SqlError;
use tare_mysql::series::Series;
use tare_query::programs::Programs;
use tare_rows::describe::Table;
use tare_rows::extension::{Extension, Routine};
use tare_rows::filter::{Admit, Filter};
use tare_rows::view::View as TableView;
use tare_sys::Sys;

use crate::exit::{FAILED, Failure};

/// Options of a history.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "A history to query")]
pub struct HistoryOptions {
    /// Query what tare record has written into this directory. Schema tare has the tables moments, samples,
    /// growth, digests, blocks, deadlocks, plans, indexes and others; performance_schema has the summaries
    /// that they allow. --host selects one host
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pid", "segment", "dsn"])]
    history: Option<PathBuf>,

    /// From this time on: '2026-11-22 14:03' or 14:03 of UTC, or 30m, 2h, 7d ago [default: all]
    #[arg(long, value_name = "TIME", requires = "history", value_parser = parse_time)]
    from: Option<i64>,

    /// Until before this time
    #[arg(long, value_name = "TIME", requires = "history", value_parser = parse_time)]
    to: Option<i64>,
}

/// Parses a time of the command line.
pub fn parse_time(text: &str) -> Result<i64, String> {
    tare_history::parse_time(text, SystemTime::now())
}

impl HistoryOptions {
    /// Whether --history is given.
    pub fn is_given(&self) -> bool {
        self.history.is_some()
    }

    /// Opens the history, restricted to a host if one is given.
    pub fn open(&self, host: Option<&str>) -> Result<Past, Failure> {
        let past = Past {
            directory: self.history.clone().unwrap_or_default(),
            from: self.from.unwrap_or(i64::MIN),
            to: self.to.unwrap_or(i64::MAX),
            host: host.map(str::to_owned),
            server: None,
        };
        past.check().map_err(|error| Failure::new(FAILED, error))?;
        Ok(past)
    }
}

/// A history, its range of time and its warnings.
pub struct History {
    /// The visible part.
    past: Mutex<Past>,
    /// All warnings, and those that are not printed yet.
    warnings: Mutex<(HashSet<String>, Vec<String>)>,
}

impl History {
    /// A part of a history.
    pub fn new(past: Past) -> Arc<Self> {
        Arc::new(Self {
            past: Mutex::new(past),
            warnings: Mutex::default(),
        })
    }

    /// The history that a statement's tables read.
    fn of(view: &TableView) -> Result<Arc<Self>, SqlError> {
        let data = view.source.extension_data();
        data.and_then(|data| data.downcast().ok())
            .ok_or_else(|| SqlError::internal("the tables of a history have none".to_owned()))
    }

    /// Restricts the rows to this range of time.
    pub fn set_range(&self, from: i64, to: i64) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        (past.from, past.to) = (from, to);
    }

    /// Restricts the rows to this host and server.
    pub fn set_server(&self, host: Option<String>, server: Option<String>) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        (past.host, past.server) = (host, server);
    }

    /// The part of the history that a statement's filter on the host selects.
    fn of_host(&self, filter: &Filter, column: &str) -> Option<Past> {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let mut past = past.clone();
        match (filter.text(column), &past.host) {
            (Admit::None, _) => return None,
            // Hosts are case-sensitive directories, but SQL's comparison may ignore case.
            (Admit::One(host), None) if host.is_ascii() && host == host.to_lowercase() => {
                past.host = Some(host.to_owned());
            }
            _ => {}
        }
        Some(past)
    }

    fn warn(&self, damaged: Vec<Error>) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for error in damaged {
            let line = format!("left out because it is damaged: {error}");
            if warnings.0.insert(line.clone()) {
                warnings.1.push(line);
            }
        }
    }

    /// Takes the warnings that are not printed yet.
    pub fn take_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut warnings.1)
    }
}

/// The SQL error for a history that cannot be read.
fn sql_error(error: Error) -> SqlError {
    SqlError::new(1105, error.to_string())
}

/// Schema sys, and a history's tables in place of a segment's.
pub struct Tables {
    sys: &'static Sys,
    performance_schema: Vec<&'static dyn Table>,
    tare: Vec<&'static dyn Table>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

impl Tables {
    /// The tables of every history.
    pub fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Self {
            sys: Sys::of(Series::default()),
            performance_schema: summaries::all(),
            tare: tables::all(),
        })
    }
}

impl Extension for Tables {
    fn series(&self) -> Series {
        self.sys.series()
    }

    fn tables(&self) -> Vec<&'static dyn Table> {
        self.sys.tables()
    }

    fn instead(&self, schema: &str) -> Option<&[&'static dyn Table]> {
        match schema.to_ascii_lowercase().as_str() {
            "performance_schema" => Some(&self.performance_schema),
            "tare" => Some(&self.tare),
            _ => None,
        }
    }

    fn routines(&self) -> Vec<Routine> {
        self.sys.routines()
    }
}

impl Programs for Tables {
    fn view(&self, name: &str) -> Option<&'static dyn View> {
        self.sys.view(name)
    }

    fn routine(&self, name: &str) -> Option<&'static dyn Function> {
        self.sys.routine(name)
    }

    fn procedure(&self, name: &str) -> Option<&'static Procedure> {
        self.sys.procedure(name)
    }

    fn register(
        &self,
        db: &rusqlite::Connection,
        session: &Arc<dyn tare_functions::EvaluationContext>,
    ) -> rusqlite::Result<()> {
        self.sys.register(db, session)
    }
}
