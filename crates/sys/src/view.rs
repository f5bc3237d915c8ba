//! A view: its text, its columns, and its text as SQLite reads it.
//!
//! A file describes a pair. Its first lines are comments: one sentence about the view, then which
//! columns the formatted view shows through which function:
//!
//! ```text
//! -- What each host's statements, files and memory amount to.
//! -- time: statement_latency file_io_latency
//! -- bytes: current_memory
//! SELECT ...
//! ```
//!
//! The SELECT is the view `x$NAME`, and `NAME` formats its columns. Where the schema has only one of the two,
//! the SELECT is that one's. The columns' types are in columns.tsv, as MySQL displays them. Parts that only a
//! later series has are in `/*!90704 ... */`, as in any statement.

use std::collections::HashMap;
use std::sync::OnceLock;

use sqlparser::ast::{Expr, Query, SelectItem, Statement};
use tare_dialect::error::Result;
use tare_mysql::error::SqlError;
use tare_mysql::interrupt;
use tare_mysql::series::Series;
use tare_mysql::types::parts;
use tare_rows::describe::{Key, Meta, Scan, SeriesSet, Table};
use tare_rows::filter::Filter;

use tare_dialect::Mode;
use tare_dialect::name::ident;
use tare_dialect::node;
use tare_dialect::rewrite::Rewriter;
use tare_dialect::schema::RewrittenQuery;
use tare_dialect::split::open_comments;
use tare_query::schema::SystemSchema;

use crate::Sys;

macro_rules! files {
    ($($name:literal)*) => {
        /// The files, by the name of the formatted view.
        pub(super) static FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("views/", $name, ".sql")))),*];
    };
}

files! {
    "host_summary"
    "host_summary_by_file_io"
    "host_summary_by_file_io_type"
    "host_summary_by_stages"
    "host_summary_by_statement_latency"
    "host_summary_by_statement_type"
    "innodb_buffer_stats_by_schema"
    "innodb_buffer_stats_by_table"
    "innodb_lock_waits"
    "io_by_thread_by_latency"
    "io_global_by_file_by_bytes"
    "io_global_by_file_by_latency"
    "io_global_by_wait_by_bytes"
    "io_global_by_wait_by_latency"
    "latest_file_io"
    "memory_by_host_by_current_bytes"
    "memory_by_thread_by_current_bytes"
    "memory_by_user_by_current_bytes"
    "memory_global_by_current_bytes"
    "memory_global_total"
    "metrics"
    "processlist"
    "ps_check_lost_instrumentation"
    "schema_auto_increment_columns"
    "schema_index_statistics"
    "schema_object_overview"
    "schema_redundant_indexes"
    "schema_table_lock_waits"
    "schema_table_statistics"
    "schema_table_statistics_with_buffer"
    "schema_tables_with_full_table_scans"
    "schema_unused_indexes"
    "session"
    "session_ssl_status"
    "statement_analysis"
    "statements_with_errors_or_warnings"
    "statements_with_full_table_scans"
    "statements_with_runtimes_in_95th_percentile"
    "statements_with_sorting"
    "statements_with_temp_tables"
    "user_summary"
    "user_summary_by_file_io"
    "user_summary_by_file_io_type"
    "user_summary_by_stages"
    "user_summary_by_statement_latency"
    "user_summary_by_statement_type"
    "version"
    "wait_classes_global_by_avg_latency"
    "wait_classes_global_by_latency"
    "waits_by_host_by_latency"
    "waits_by_user_by_latency"
    "waits_global_by_latency"
    "x$ps_digest_95th_percentile_by_avg_us"
    "x$ps_digest_avg_latency_distribution"
    "x$ps_schema_table_statistics_io"
    "x$schema_flattened_keys"
}

/// The columns of every view: view, first series, name, type, nullable; then, where they are others
/// in 9.7, type and nullable, and the same for MariaDB, where a type of `-` is a column that it does not have.
const COLUMNS: &str = include_str!("columns.tsv");

/// The columns that have a default: view, name, default. A computed column that is never NULL has its type's.
const DEFAULTS: &str = include_str!("defaults.tsv");

fn default_of(view: &str, column: &str) -> Option<&'static str> {
    let mut lines = DEFAULTS.lines().map(|line| line.splitn(3, '\t'));
    lines.find_map(|mut fields| {
        let is_it = fields.next() == Some(view) && fields.next() == Some(column);
        is_it.then(|| fields.next().unwrap_or_default())
    })
}

fn columns(series: Series) -> &'static HashMap<&'static str, Vec<Meta>> {
    static ALL: [OnceLock<HashMap<&'static str, Vec<Meta>>>; Series::ALL.len()] =
        [const { OnceLock::new() }; Series::ALL.len()];
    ALL[series as usize].get_or_init(|| {
        let mut all: HashMap<&str, Vec<Meta>> = HashMap::new();
        for line in COLUMNS.lines() {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or_default();
            let (view, since, name, column_type, null) = (next(), next(), next(), next(), next());
            let (later, null_later, mariadbs, null_mariadbs) = (next(), next(), next(), next());
            let null_of_series = match series {
                Series::V8_0 => "",
                Series::V9_7 => null_later,
                Series::Mariadb => null_mariadbs,
            };
            let null = if null_of_series.is_empty() {
                null
            } else {
                null_of_series
            };
            let series_set = match (since, mariadbs) {
                (_, "-") => SeriesSet::MYSQL,
                ("9.7", _) => SeriesSet::since(Series::V9_7),
                _ => SeriesSet::ALL,
            };
            let meta = Meta::new(name, column_type, "");
            let meta = Meta {
                nullable: null == "YES",
                series: series_set,
                type_9_7: (!later.is_empty()).then_some(later),
                type_mariadb: (!mariadbs.is_empty()).then_some(mariadbs),
                default: default_of(view, name),
                ..meta
            };
            let of = all.entry(view).or_default();
            of.extend(tare_rows::series::column(&meta, series));
        }
        all
    })
}

/// The columns of a view or of sys_config, as a series has them.
pub fn columns_of(series: Series, name: &str) -> &'static [Meta] {
    columns(series).get(name).map_or(&[], Vec::as_slice)
}

/// A view.
#[derive(Debug)]
pub struct View {
    series: Series,
    name: &'static str,
    doc: &'static str,
    definition: String,
    rewritten: OnceLock<Result<RewrittenQuery>>,
}

impl View {
    /// The view or the pair that a file describes.
    pub(super) fn of_file(series: Series, name: &'static str, text: &'static str) -> Vec<Self> {
        let mut doc = "";
        let mut formats: HashMap<&str, &str> = HashMap::new();
        let mut body = text;
        while let Some(rest) = body.strip_prefix("-- ") {
            let (line, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            body = rest;
            match line.split_once(": ") {
                Some((function @ ("time" | "bytes" | "statement" | "path"), columns)) => {
                    for column in columns.split_ascii_whitespace() {
                        formats.insert(column, function);
                    }
                }
                _ => doc = line,
            }
        }
        let view = |name, definition: String| View {
            series,
            name,
            doc,
            definition,
            rewritten: OnceLock::new(),
        };
        let body = &body.trim().replace("{version}", crate::version(series));
        let body = open_comments(body, series).unwrap_or_else(|| body.to_owned());
        let raw = columns(series).get_key_value(format!("x${name}").as_str());
        match raw {
            None => vec![view(name, body)],
            Some((raw, _)) => {
                let items: Vec<String> = columns_of(series, name)
                    .iter()
                    .map(|c| match formats.get(c.name) {
                        Some(function) => format!("sys.format_{function}(v.{0}) AS {0}", c.name),
                        None => format!("v.{}", c.name),
                    })
                    .collect();
                let formatted = format!("SELECT {} FROM sys.{raw} AS v", items.join(", "));
                vec![view(raw, body), view(name, formatted)]
            }
        }
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The columns.
    pub fn columns(&self) -> &'static [Meta] {
        columns_of(self.series, self.name)
    }

    /// The SELECT in MySQL's dialect.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    fn rewrite(&self) -> Result<RewrittenQuery> {
        let Statement::Query(query) = tare_dialect::parse_one(&self.definition)? else {
            return Err(tare_dialect::near(self.name));
        };
        let mut schema = SystemSchema::new(Sys::of(self.series));
        let mut rewriter = Rewriter::new(Some("sys"), &mut schema, Mode::default());
        let untyped = rewriter.untyped(&query, self.columns().len());
        let rewritten = rewriter.rewritten(*query, &self.definition)?;
        Ok(RewrittenQuery {
            query: self.add_types(rewritten.query, &untyped),
            ..rewritten
        })
    }

    /// The query with a numeric type for columns that are numbers and have no type.
    fn add_types(&self, query: Query, untyped: &[usize]) -> Query {
        let is_number = |meta: &Meta| parts(meta.column_type).numeric().is_some();
        let columns = self.columns();
        if !columns
            .iter()
            .enumerate()
            .any(|(i, meta)| untyped.contains(&i) && is_number(meta))
        {
            return query;
        }
        let of = |(i, meta): (usize, &Meta)| {
            let column = Expr::Identifier(ident(meta.name));
            let cast = untyped.contains(&i) && is_number(meta);
            SelectItem::ExprWithAlias {
                expr: if cast { node::numeric(column) } else { column },
                alias: ident(meta.name),
            }
        };
        let items = columns.iter().enumerate().map(of).collect();
        node::query::select_of(items, query)
    }
}

impl tare_dialect::schema::View for View {
    fn name(&self) -> &'static str {
        self.name
    }
    fn query(&self) -> Result<&RewrittenQuery> {
        let rewritten = self
            .rewritten
            .get_or_init(|| interrupt::ignore_during(|| self.rewrite()));
        rewritten.as_ref().map_err(Clone::clone)
    }
}

impl Table for View {
    fn schema(&self) -> &'static str {
        "sys"
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn doc(&self) -> &'static str {
        self.doc
    }
    fn columns(&self) -> Vec<Meta> {
        columns_of(self.series, self.name).to_vec()
    }
    fn keys(&self) -> &'static [Key] {
        &[]
    }
    fn expect(&self) -> u32 {
        1000
    }
    fn truncate(&self, _view: &tare_rows::view::View) -> std::result::Result<(), SqlError> {
        Err(SqlError::internal("a view cannot be truncated"))
    }
    fn scan(
        &'static self,
        _view: &tare_rows::view::View,
        _filter: &Filter,
    ) -> std::result::Result<Box<dyn Scan>, SqlError> {
        // The rewriter inserts the SELECT where the view is named: nothing scans it.
        Err(SqlError::internal(SqlError::no_such_table(
            "sys", self.name,
        )))
    }
    fn view_definition(&self) -> Option<&str> {
        Some(&self.definition)
    }
}
