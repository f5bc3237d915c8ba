//! statement_performance_analyzer: what normalised statements did between two moments, in sys's own views,
//! which read a snapshot in place of their table.

use std::collections::HashMap;

use rusqlite::types::Value;
use serde_json::{Value as Json, json};
use tare_dialect::plan::Sql;
use tare_dialect::schema::View as _;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;

use super::caller::{Call, cell};
use super::state::Snapshot;
use crate::option::option;

const TABLE: &str = "events_statements_summary_by_digest";

/// The views, by the procedure's names for them.
const VIEWS: [(&str, &str); 6] = [
    (
        "with_runtimes_in_95th_percentile",
        "statements_with_runtimes_in_95th_percentile",
    ),
    ("analysis", "statement_analysis"),
    (
        "with_errors_or_warnings",
        "statements_with_errors_or_warnings",
    ),
    ("with_full_table_scans", "statements_with_full_table_scans"),
    ("with_sorting", "statements_with_sorting"),
    ("with_temp_tables", "statements_with_temp_tables"),
];

fn columns(series: Series) -> Vec<&'static str> {
    let table = tare_rows::registry::find(series, "performance_schema", TABLE);
    table.map_or_else(Vec::new, |t| t.columns().iter().map(|c| c.name).collect())
}

/// Whether a column is a sum: the difference of two values is what happened between.
fn is_sum(column: &str) -> bool {
    column.starts_with("SUM_") || column.starts_with("COUNT_")
}

impl Snapshot {
    /// What happened between an earlier moment and this one.
    pub(super) fn since(&self, earlier: &Snapshot, series: Series) -> Snapshot {
        let columns = columns(series);
        let at = |name: &str| columns.iter().position(|c| *c == name).unwrap_or(0);
        let (schema, digest, count) = (at("SCHEMA_NAME"), at("DIGEST"), at("COUNT_STAR"));
        let (sum, average) = (at("SUM_TIMER_WAIT"), at("AVG_TIMER_WAIT"));
        let key = |row: &[Json]| format!("{}\0{}", row[schema], row[digest]);
        let before: HashMap<String, &Vec<Json>> =
            earlier.rows.iter().map(|r| (key(r), r)).collect();
        let number = |value: &Json| value.as_i64().unwrap_or(0);
        let rows = self.rows.iter().filter_map(|row| {
            let mut row = row.clone();
            if let Some(before) = before.get(&key(&row)) {
                for (i, _) in columns.iter().enumerate().filter(|(_, c)| is_sum(c)) {
                    // The table was emptied between.
                    let (now, then) = (number(&row[i]), number(&before[i]));
                    row[i] = json!(if now >= then { now - then } else { now });
                }
            }
            let executions = number(&row[count]);
            row[average] = json!(number(&row[sum]).checked_div(executions).unwrap_or(0));
            (executions > 0).then_some(row)
        });
        Snapshot {
            rows: rows.collect(),
        }
    }
}

impl Call<'_> {
    pub(super) fn analyze(&mut self) -> Result<()> {
        let action = self.text(0).unwrap_or_default().to_ascii_lowercase();
        let table = self.text(1);
        let named = table.clone().unwrap_or_default().to_lowercase();
        let need = |what: &str| {
            SqlError::signal(
                "45000",
                1644,
                format!("{what} needs the name of a snapshot as its second argument"),
            )
        };
        match action.as_str() {
            "snapshot" => {
                let taken = self.snapshot()?;
                self.save_snapshot("", taken);
            }
            "create_table" | "create_tmp" => {
                if named.is_empty() {
                    return Err(need(&action));
                }
                if self.caller.state().snapshots.contains_key(&named) {
                    return Err(SqlError::new(
                        1050,
                        format!("Table '{named}' already exists"),
                    ));
                }
                self.save_snapshot(&named, Snapshot::default());
            }
            "save" => {
                if named.is_empty() {
                    return Err(need("save"));
                }
                self.saved_snapshot(&named)?;
                let last = self.saved_snapshot("")?;
                self.save_snapshot(&named, last);
            }
            "cleanup" => self.caller.state().snapshots.clear(),
            "overall" => {
                let snapshot = match table.as_deref() {
                    None => match self.saved_snapshot("") {
                        Ok(last) => last,
                        Err(_) => self.snapshot()?,
                    },
                    Some(now)
                        if now.to_ascii_uppercase().starts_with("NOW") || now.starts_with("20") =>
                    {
                        let taken = self.snapshot()?;
                        self.save_snapshot("", taken.clone());
                        taken
                    }
                    Some(_) => self.saved_snapshot(&named)?,
                };
                self.send_views(&snapshot)?;
            }
            "delta" => {
                if named.is_empty() {
                    return Err(need("delta"));
                }
                let earlier = self.saved_snapshot(&named)?;
                let later = match self.saved_snapshot("") {
                    Ok(last) => last,
                    Err(_) => self.snapshot()?,
                };
                let series = self.context().series();
                self.send_views(&later.since(&earlier, series))?;
            }
            _ => {
                return Err(SqlError::signal(
                    "45000",
                    1644,
                    "Unknown action. It is one of snapshot, overall, delta, create_table, create_tmp, save, cleanup",
                ));
            }
        }
        Ok(())
    }

    fn save_snapshot(&mut self, name: &str, snapshot: Snapshot) {
        self.caller
            .state()
            .snapshots
            .insert(name.to_owned(), snapshot);
    }

    fn saved_snapshot(&mut self, name: &str) -> Result<Snapshot> {
        let stored = self.caller.state().snapshots.get(name).cloned();
        stored.ok_or_else(|| match name {
            "" => SqlError::signal(
                "45000",
                1644,
                "There is no snapshot yet: call the procedure with 'snapshot' first",
            ),
            name => SqlError::no_such_table("sys", name),
        })
    }

    /// The table as it is now.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot> {
        let rows = self.select(&format!("SELECT * FROM performance_schema.{TABLE}"), &[])?;
        let json = |value: &Value| match value {
            Value::Integer(n) => json!(n),
            Value::Real(x) => json!(x),
            Value::Text(t) => json!(t),
            Value::Null | Value::Blob(_) => Json::Null,
        };
        let rows = rows.rows.iter().map(|row| row.iter().map(json).collect());
        Ok(Snapshot {
            rows: rows.collect(),
        })
    }

    fn send_views(&mut self, snapshot: &Snapshot) -> Result<()> {
        let names = self.text(2);
        let names: Vec<String> = match names.as_deref() {
            None | Some("") => VIEWS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Some(list) => list
                .split(',')
                .map(|v| v.trim().to_ascii_lowercase())
                .collect(),
        };
        for view in names {
            let name = match VIEWS.iter().find(|(short, _)| *short == view) {
                Some((_, name)) => (*name).to_owned(),
                None if view == "custom" => self.custom_view()?,
                None => {
                    return Err(SqlError::signal(
                        "45000",
                        1644,
                        format!("{view} is none of the views that can be shown"),
                    ));
                }
            };
            self.send_text("Next Output", heading(&name))?;
            self.send_view(&name, snapshot)?;
        }
        Ok(())
    }

    /// The view that an option names.
    fn custom_view(&mut self) -> Result<String> {
        let option = option(self.context(), "statement_performance_analyzer.view");
        let named = option.and_then(|name| {
            let name = name.trim_matches('`').to_owned();
            let name = name.strip_prefix("sys.").unwrap_or(&name);
            crate::view(self.context().series(), name).map(|v| v.name())
        });
        named.map(str::to_owned).ok_or_else(|| {
            SqlError::signal("45000", 1644, "'custom' shows the view of schema sys that @sys.statement_performance_analyzer.view names: set it",
            )
        })
    }

    /// Sends a view's rows, read from the snapshot in place of the table.
    pub(super) fn send_view(&mut self, view: &str, snapshot: &Snapshot) -> Result<()> {
        let Some(view) = crate::view(self.context().series(), view) else {
            return Err(SqlError::no_such_table("sys", view));
        };
        let limit = option(self.context(), "statement_performance_analyzer.limit");
        let limit: u32 = limit.and_then(|l| l.trim().parse().ok()).unwrap_or(100);
        let fields: Vec<String> = columns(self.context().series())
            .iter()
            .enumerate()
            .map(|(i, c)| format!("j.value ->> {i} AS \"{c}\""))
            .collect();
        let source = format!("(SELECT {} FROM json_each(?1) AS j)", fields.join(", "));
        let expanded = view.query()?.clone();
        let text = expanded
            .query
            .to_string()
            .replace(&format!("\"performance_schema\".\"{TABLE}\""), &source);
        let json = Json::from(
            snapshot
                .rows
                .iter()
                .map(|r| Json::from(r.clone()))
                .collect::<Vec<_>>(),
        );
        let sql = Sql {
            text: format!("SELECT * FROM ({text}) LIMIT {limit}"),
            catalog: expanded.catalog,
            ..Sql::default()
        };
        let json = Value::Text(json.to_string());
        let rows = self.caller.runner().system()?.select(&sql, &[json])?;
        self.send(rows)
    }

    /// ps_statement_avg_latency_histogram.
    pub(super) fn histogram(&mut self) -> Result<()> {
        let rows = self.select(
            "SELECT cnt, avg_us FROM sys.x$ps_digest_avg_latency_distribution ORDER BY avg_us",
            &[],
        )?;
        let points: Vec<(u64, u64)> = rows
            .rows
            .iter()
            .map(|row| {
                let number = |i| cell(row, i).parse::<f64>().unwrap_or(0.0).max(0.0) as u64;
                (number(1), number(0))
            })
            .collect();
        self.send_text(
            "Performance Schema Statement Digest Average Latency Histogram",
            draw_histogram(&points),
        )
    }
}

fn heading(view: &str) -> String {
    view.replace('_', " ")
}

/// Buckets of a histogram, and characters of the longest bar.
const BUCKETS: u64 = 16;
const WIDTH: u64 = 64;

/// A histogram of (microseconds, statements), the lowest bucket first.
fn draw_histogram(points: &[(u64, u64)]) -> String {
    let largest = points.iter().map(|p| p.0).max().unwrap_or(0);
    let size = largest.div_ceil(BUCKETS).max(1);
    let total: u64 = points.iter().map(|p| p.1).sum();
    let mut buckets = [0u64; BUCKETS as usize];
    for (us, n) in points {
        buckets[(us / size).min(BUCKETS - 1) as usize] += n;
    }
    let highest = buckets.iter().copied().max().unwrap_or(0);
    let one = highest.div_ceil(WIDTH).max(1);
    let mut text = format!(
        "\n  . = {one} statement{}\n",
        if one == 1 { "" } else { "s" }
    );
    for (i, n) in buckets.iter().enumerate() {
        let (low, high) = (i as u64 * size, (i as u64 + 1) * size);
        let bar = ".".repeat(n.div_ceil(one) as usize);
        text.push_str(&format!(
            "  {:>24} | {n:>6} | {bar}\n",
            format!("({low} - {high} us)")
        ));
    }
    text.push_str(&format!(
        "  Total Statements: {total}; Buckets: {BUCKETS}; Bucket Size: {size} us;\n"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_every_statement_once() {
        let text = draw_histogram(&[(0, 3), (15, 1), (1600, 2)]);
        assert!(
            text.contains("Total Statements: 6; Buckets: 16; Bucket Size: 100 us"),
            "{text}"
        );
        assert!(text.contains("(0 - 100 us) |      4 | ....\n"), "{text}");
        assert!(text.contains("(1500 - 1600 us) |      2 | ..\n"), "{text}");
        assert!(draw_histogram(&[]).contains("Total Statements: 0"));
    }

    #[test]
    fn a_delta_is_what_happened_between() {
        let columns = columns(Series::V8_0);
        let row = |digest: &str, count: i64, wait: i64| -> Vec<Json> {
            let of = |c: &&str| match *c {
                "DIGEST" => json!(digest),
                "COUNT_STAR" => json!(count),
                "SUM_TIMER_WAIT" => json!(wait),
                _ => json!(0),
            };
            columns.iter().map(of).collect()
        };
        let earlier = Snapshot {
            rows: vec![row("a", 3, 30), row("b", 1, 5), row("c", 9, 9)],
        };
        let later = Snapshot {
            rows: vec![
                row("a", 5, 90),
                row("b", 1, 5),
                row("d", 1, 7),
                row("c", 2, 4),
            ],
        };
        let at = |name: &str| columns.iter().position(|c| *c == name).expect(name);
        let averages: Vec<(String, i64, i64)> = later
            .since(&earlier, Series::V8_0)
            .rows
            .iter()
            .map(|r| {
                let number = |name: &str| r[at(name)].as_i64().expect(name);
                (
                    r[at("DIGEST")].as_str().expect("text").to_owned(),
                    number("COUNT_STAR"),
                    number("AVG_TIMER_WAIT"),
                )
            })
            .collect();
        // c was emptied between.
        assert_eq!(
            averages,
            [("a".into(), 2, 30), ("d".into(), 1, 7), ("c".into(), 2, 2)]
        );
    }
}
