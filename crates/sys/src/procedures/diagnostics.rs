//! diagnostics: the server's configuration, and what it does for some time, as a series of results.

use std::collections::HashMap;

use rusqlite::types::Value;

use super::caller::{Call, cell};
use tare_mysql::error::{Result, SqlError};
use tare_query::result::Rows;

/// Results at the start.
const BEFORE: [(&str, &str); 8] = [
    (
        "server",
        "SELECT @@hostname AS Hostname, @@port AS Port, @@socket AS Socket, @@datadir AS Datadir, NOW() AS `CURRENT_TIMESTAMP`",
    ),
    ("version", "SELECT * FROM sys.version"),
    (
        "options",
        "SELECT variable, value FROM sys.sys_config ORDER BY variable",
    ),
    (
        "variables",
        "SELECT * FROM performance_schema.global_variables ORDER BY VARIABLE_NAME",
    ),
    (
        "consumers",
        "SELECT NAME AS Consumer, ENABLED AS Enabled FROM performance_schema.setup_consumers ORDER BY NAME",
    ),
    (
        "instruments",
        "SELECT SUBSTRING_INDEX(NAME, '/', 2) AS InstrumentClass, \
         ROUND(100 * SUM(ENABLED = 'YES') / COUNT(*), 2) AS EnabledPct, \
         ROUND(100 * SUM(TIMED = 'YES') / COUNT(*), 2) AS TimedPct, COUNT(*) AS Instruments \
         FROM performance_schema.setup_instruments GROUP BY SUBSTRING_INDEX(NAME, '/', 2) ORDER BY 1",
    ),
    ("actors", "SELECT * FROM performance_schema.setup_actors"),
    ("objects", "SELECT * FROM performance_schema.setup_objects"),
];

/// Results of each sample.
const EACH: [(&str, &str); 2] = [
    ("processlist", "SELECT * FROM sys.processlist"),
    ("locks", "SELECT * FROM sys.schema_table_lock_waits"),
];

/// Results at the end.
const AFTER: [(&str, &str); 13] = [
    ("hosts", "SELECT * FROM sys.host_summary"),
    ("users", "SELECT * FROM sys.user_summary"),
    (
        "waits",
        "SELECT * FROM sys.waits_global_by_latency LIMIT 50",
    ),
    (
        "wait classes",
        "SELECT * FROM sys.wait_classes_global_by_latency",
    ),
    (
        "files by latency",
        "SELECT * FROM sys.io_global_by_file_by_latency LIMIT 50",
    ),
    (
        "files by bytes",
        "SELECT * FROM sys.io_global_by_file_by_bytes LIMIT 50",
    ),
    (
        "memory",
        "SELECT * FROM sys.memory_global_by_current_bytes LIMIT 50",
    ),
    (
        "tables",
        "SELECT * FROM sys.schema_table_statistics LIMIT 50",
    ),
    (
        "indexes",
        "SELECT * FROM sys.schema_index_statistics LIMIT 50",
    ),
    (
        "unused indexes",
        "SELECT * FROM sys.schema_unused_indexes LIMIT 50",
    ),
    ("objects", "SELECT * FROM sys.schema_object_overview"),
    ("lost", "SELECT * FROM sys.ps_check_lost_instrumentation"),
    (
        "performance_schema",
        "SELECT * FROM performance_schema.global_status WHERE VARIABLE_NAME LIKE 'performance_schema%' ORDER BY VARIABLE_NAME",
    ),
];

const METRICS: &str = "SELECT Variable_name, Variable_value, Type, Enabled FROM sys.metrics ORDER BY Type, Variable_name";

impl Call<'_> {
    pub(super) fn diagnostics(&mut self) -> Result<()> {
        let seconds = self.number(0).unwrap_or(60.0);
        let every = self.number(1).unwrap_or(30.0);
        let setup = self
            .text(2)
            .unwrap_or_else(|| "current".into())
            .to_ascii_lowercase();
        let refused = match () {
            () if seconds <= 0.0 => Some("in_max_runtime must be greater than 0"),
            () if every <= 0.0 => Some("in_interval must be greater than 0"),
            () if seconds < every => {
                Some("in_max_runtime must be greater than or equal to in_interval")
            }
            () => None,
        };
        if let Some(message) = refused {
            return Err(SqlError::signal("45000", 1644, message));
        }
        if !matches!(setup.as_str(), "current" | "medium" | "full") {
            return Err(SqlError::signal(
                "45000",
                1644,
                "in_auto_config is current, medium or full",
            ));
        }
        let undo = self.configure(&setup)?;
        let result = self.diagnose(seconds, every);
        self.undo(&undo)?;
        result
    }

    /// Enables instruments and consumers for a setup, and returns the statements that undo it.
    fn configure(&mut self, setup: &str) -> Result<Vec<String>> {
        let (instruments, consumers) = match setup {
            "current" => return Ok(Vec::new()),
            "medium" => ("NAME NOT LIKE 'wait/synch/%'", "NAME NOT LIKE '%history%'"),
            _ => ("NAME LIKE '%'", "NAME LIKE '%'"),
        };
        self.require_settings("SUPER")?;
        let mut undo = Vec::new();
        for (table, columns, which) in [
            ("setup_instruments", "ENABLED, TIMED", instruments),
            ("setup_consumers", "ENABLED, ENABLED", consumers),
        ] {
            let timed = table == "setup_instruments";
            let off = format!(
                "SELECT NAME, {columns} FROM performance_schema.{table} WHERE {which} AND (ENABLED = 'NO' OR 'NO' IN ({columns}))"
            );
            for row in self.select(&off, &[])?.rows {
                let back = match timed && row[2] != Value::Null {
                    true => format!("ENABLED = '{}', TIMED = '{}'", cell(&row, 1), cell(&row, 2)),
                    false => format!("ENABLED = '{}'", cell(&row, 1)),
                };
                undo.push(format!(
                    "UPDATE performance_schema.{table} SET {back} WHERE NAME = '{}'",
                    cell(&row, 0)
                ));
            }
            self.change(
                &format!("UPDATE performance_schema.{table} SET ENABLED = 'YES' WHERE {which}"),
                &[],
            )?;
            if timed {
                let sql = format!(
                    "UPDATE performance_schema.{table} SET TIMED = 'YES' WHERE {which} AND TIMED IS NOT NULL"
                );
                self.change(&sql, &[])?;
            }
        }
        Ok(undo)
    }

    fn diagnose(&mut self, seconds: f64, every: f64) -> Result<()> {
        for (title, sql) in BEFORE {
            self.send_section(title, sql)?;
        }
        let first = self.select(METRICS, &[])?;
        let statements = self.snapshot()?;
        let mut sample = 0u32;
        self.sample_repeatedly(seconds, every, |call| {
            sample += 1;
            for (title, sql) in EACH {
                call.send_section(&format!("{title}, look {sample}"), sql)?;
            }
            Ok(())
        })?;
        self.send_text("The following output is", "statements since the beginning")?;
        self.send_view("statement_analysis", &statements)?;
        self.send_text("The following output is", "statements meanwhile")?;
        let later = self.snapshot()?;
        let series = self.context().series();
        self.send_view("statement_analysis", &later.since(&statements, series))?;
        for (title, sql) in AFTER {
            self.send_section(title, sql)?;
        }
        self.send_text("The following output is", "metrics, and what they grew by")?;
        let last = self.select(METRICS, &[])?;
        self.send(add_growth(&first, last, seconds))
    }

    fn send_section(&mut self, title: &str, sql: &str) -> Result<()> {
        self.send_text("The following output is", title)?;
        self.send_select(sql)
    }
}

/// Adds to metrics their growth, in total and per second.
fn add_growth(first: &Rows, last: Rows, seconds: f64) -> Rows {
    let before: HashMap<(String, String), f64> = first
        .rows
        .iter()
        .filter_map(|row| Some(((cell(row, 0), cell(row, 2)), cell(row, 1).parse().ok()?)))
        .collect();
    let mut rows = Rows::new(&[
        "Variable_name",
        "Variable_value",
        "Type",
        "Enabled",
        "Delta",
        "Per_sec",
    ]);
    for mut row in last.rows {
        let now: Option<f64> = cell(&row, 1).parse().ok();
        let then = before.get(&(cell(&row, 0), cell(&row, 2)));
        let delta = now.zip(then).map(|(now, then)| now - then);
        row.push(delta.map_or(Value::Null, Value::Real));
        row.push(delta.filter(|_| seconds > 0.0).map_or(Value::Null, |d| {
            Value::Real((d / seconds * 100.0).round() / 100.0)
        }));
        rows.rows.push(row);
    }
    rows
}
