//! Tracing a thread or a normalised statement for a period.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::types::Value;

use super::caller::{Call, cell};
use tare_mysql::error::Result;
use tare_query::result::Rows;

/// The longest trace, in seconds: a longer one is a mistake.
const MAX_TRACE_S: f64 = 86_400.0;

/// Events in the order of the thread, each table's under the columns of the first.
const THREAD_EVENTS: &str = "SELECT * FROM (
    SELECT EVENT_ID, IFNULL(NESTING_EVENT_ID, 0) AS parent, EVENT_NAME, TIMER_START, TIMER_WAIT, IFNULL(SQL_TEXT, '') AS text,
           CONCAT('rows sent: ', ROWS_SENT, ', rows examined: ', ROWS_EXAMINED, ', errors: ', ERRORS) AS detail, SOURCE
    FROM performance_schema.events_statements_history_long WHERE THREAD_ID = ?
    UNION ALL
    SELECT EVENT_ID, IFNULL(NESTING_EVENT_ID, 0), EVENT_NAME, TIMER_START, TIMER_WAIT, '', '', SOURCE
    FROM performance_schema.events_stages_history_long WHERE THREAD_ID = ?
    UNION ALL
    SELECT EVENT_ID, IFNULL(NESTING_EVENT_ID, 0), EVENT_NAME, TIMER_START, TIMER_WAIT, IFNULL(OBJECT_NAME, ''),
           CONCAT(OPERATION, IF(NUMBER_OF_BYTES IS NULL, '', CONCAT(' ', NUMBER_OF_BYTES, ' bytes'))), SOURCE
    FROM performance_schema.events_waits_history_long WHERE THREAD_ID = ?
    UNION ALL
    SELECT EVENT_ID, IFNULL(NESTING_EVENT_ID, 0), EVENT_NAME, TIMER_START, TIMER_WAIT, '', IFNULL(STATE, ''), SOURCE
    FROM performance_schema.events_transactions_history_long WHERE THREAD_ID = ?
  ) AS e ORDER BY EVENT_ID";

const DIGEST_EVENTS: &str = "SELECT THREAD_ID, EVENT_ID, TIMER_WAIT, LOCK_TIME, ROWS_SENT, ROWS_AFFECTED, ROWS_EXAMINED, \
     CREATED_TMP_TABLES, IF(NO_INDEX_USED > 0 OR NO_GOOD_INDEX_USED > 0, 1, 0), SQL_TEXT, CURRENT_SCHEMA \
     FROM performance_schema.events_statements_history_long WHERE DIGEST = ?";

const STAGES: &str = "SELECT THREAD_ID, NESTING_EVENT_ID, EVENT_ID, EVENT_NAME, TIMER_WAIT \
     FROM performance_schema.events_stages_history_long";

impl Call<'_> {
    /// Calls `sample` every `every` seconds for `seconds` seconds, at least once.
    pub(super) fn sample_repeatedly(
        &mut self,
        seconds: f64,
        every: f64,
        mut sample: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, MAX_TRACE_S));
        loop {
            sample(self)?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let context = self.context();
            if context.sleep(every.max(0.01).min(left.as_secs_f64()))? {
                return Err(context.interruption());
            }
        }
    }

    /// Prepares the long histories of these kinds of events: empties them if `fresh`, enables their consumers
    /// if `enable`, and returns the statements that undo that.
    fn prepare(&mut self, kinds: &[&str], fresh: bool, enable: bool) -> Result<Vec<String>> {
        if fresh {
            self.require_settings("DROP")?;
            for kind in kinds {
                let table = format!("events_{kind}_history_long");
                self.truncate(&table)?;
            }
        }
        if !enable {
            return Ok(Vec::new());
        }
        let consumers = (kinds.iter())
            .map(|kind| format!("'events_{kind}_current', 'events_{kind}_history_long', "))
            .collect::<String>();
        let off = self.select(
            &format!(
                "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' \
                 AND NAME IN ({consumers}'global_instrumentation', 'thread_instrumentation')"
            ),
            &[],
        )?;
        let mut undo = Vec::new();
        for row in &off.rows {
            let name = cell(row, 0);
            let to = |on: &str| {
                format!(
                    "UPDATE performance_schema.setup_consumers SET ENABLED = '{on}' WHERE NAME = '{name}'"
                )
            };
            self.change(&to("YES"), &[])?;
            undo.push(to("NO"));
        }
        Ok(undo)
    }

    /// ps_trace_statement_digest.
    pub(super) fn trace_digest(&mut self) -> Result<()> {
        let digest = self.text(0).unwrap_or_default();
        let (seconds, every) = (
            self.number(1).unwrap_or(60.0),
            self.number(2).unwrap_or(1.0),
        );
        let kinds = ["statements", "stages"];
        let undo = self.prepare(&kinds, self.flag(3), self.flag(4))?;
        let mut executions: BTreeMap<(u64, u64), Vec<Value>> = BTreeMap::new();
        let mut stages: BTreeMap<(u64, u64), Vec<Value>> = BTreeMap::new();
        let number = |row: &[Value], i| cell(row, i).parse::<u64>().unwrap_or(0);
        let traced = self.sample_repeatedly(seconds, every, |call| {
            for row in call.select(DIGEST_EVENTS, &[&digest])?.rows {
                executions.insert((number(&row, 0), number(&row, 1)), row);
            }
            for row in call.select(STAGES, &[])?.rows {
                stages.insert((number(&row, 0), number(&row, 2)), row);
            }
            Ok(())
        });
        // The consumers are disabled again, however the trace ended.
        self.undo(&undo)?;
        traced?;
        stages.retain(|_, row| executions.contains_key(&(number(row, 0), number(row, 1))));
        self.digest_summary(executions.values(), stages.values())?;
        let longest = executions.values().max_by_key(|row| number(row, 2));
        let Some(longest) = longest else {
            return Ok(());
        };
        self.send_text("summary", "LONGEST RUNNING STATEMENT")?;
        let mut execution = Rows::new(&[
            "thread_id",
            "exec_time",
            "lock_time",
            "rows_sent",
            "rows_affected",
            "rows_examined",
            "tmp_tables",
            "full_scan",
        ]);
        let mut row: Vec<Value> = vec![longest[0].clone()];
        row.extend([time(number(longest, 2)), time(number(longest, 3))]);
        row.extend(longest[4..9].iter().cloned());
        execution.rows.push(row);
        self.send(execution)?;
        let sql = cell(longest, 9);
        self.send_text("sql_text", sql.clone())?;
        let mut longest_stages = Rows::new(&["event_name", "latency"]);
        for row in stages.values() {
            if (number(row, 0), number(row, 1)) == (number(longest, 0), number(longest, 1)) {
                longest_stages
                    .rows
                    .push(vec![row[3].clone(), time(number(row, 4))]);
            }
        }
        if !longest_stages.rows.is_empty() {
            self.send(longest_stages)?;
        }
        // Only where it ran in the session's database, and its text is complete.
        if sql
            .trim_start()
            .get(..6)
            .is_some_and(|s| s.eq_ignore_ascii_case("select"))
            && !sql.ends_with("...")
            && self.context().database().unwrap_or_default() == cell(longest, 10)
        {
            // A statement that cannot be explained is no error of the trace.
            let _ = self.caller.run_statement(&format!("EXPLAIN {sql}"));
        }
        Ok(())
    }

    fn digest_summary<'r>(
        &mut self,
        executions: impl Iterator<Item = &'r Vec<Value>>,
        stages: impl Iterator<Item = &'r Vec<Value>>,
    ) -> Result<()> {
        let number = |row: &[Value], i| cell(row, i).parse::<u64>().unwrap_or(0);
        let mut sums = [0u64; 7];
        let mut count = 0i64;
        for row in executions {
            count += 1;
            for (sum, i) in sums.iter_mut().zip(2..9) {
                *sum += number(row, i);
            }
        }
        self.send_text("summary", "SUMMARY STATISTICS")?;
        let mut summary = Rows::new(&[
            "executions",
            "exec_time",
            "lock_time",
            "rows_sent",
            "rows_affected",
            "rows_examined",
            "tmp_tables",
            "full_scans",
        ]);
        let mut row = vec![Value::Integer(count), time(sums[0]), time(sums[1])];
        row.extend(sums[2..].iter().map(|n| Value::Integer(*n as i64)));
        summary.rows.push(row);
        self.send(summary)?;
        let mut by_name: BTreeMap<String, (i64, u64)> = BTreeMap::new();
        for row in stages {
            let stage = by_name.entry(cell(row, 3)).or_default();
            stage.0 += 1;
            stage.1 += number(row, 4);
        }
        let mut by_time: Vec<_> = by_name.into_iter().collect();
        by_time.sort_by_key(|(_, (_, wait))| std::cmp::Reverse(*wait));
        let mut summary = Rows::new(&["event_name", "count", "latency"]);
        for (name, (count, wait)) in by_time {
            summary
                .rows
                .push(vec![Value::Text(name), Value::Integer(count), time(wait)]);
        }
        if summary.rows.is_empty() {
            return Ok(());
        }
        self.send(summary)
    }

    /// ps_trace_thread.
    pub(super) fn trace_thread(&mut self) -> Result<()> {
        let thread = self.text(0).unwrap_or_default();
        if self.text(1).is_some_and(|file| !file.is_empty()) {
            self.context().warn(
                1290,
                "The server writes no files for clients: the graph is in the result",
            );
        }
        let (seconds, every) = (
            self.number(2).unwrap_or(60.0),
            self.number(3).unwrap_or(1.0),
        );
        let kinds = ["statements", "stages", "waits", "transactions"];
        let undo = self.prepare(&kinds, self.flag(4), self.flag(5))?;
        let debug = self.flag(6);
        let mut events: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
        let traced = self.sample_repeatedly(seconds, every, |call| {
            let parameters = [thread.as_str(); 4];
            for row in call.select(THREAD_EVENTS, &parameters)?.rows {
                events.insert(cell(&row, 0).parse().unwrap_or(0), row);
            }
            Ok(())
        });
        self.undo(&undo)?;
        traced?;
        self.send_text(
            "summary",
            format!("Stack of thread {thread}: {} events", events.len()),
        )?;
        self.send_text("graph", graph(&thread, &events, debug))
    }
}

fn time(picoseconds: u64) -> Value {
    Value::Text(crate::format::format_time(picoseconds as f64))
}

/// A text for a quoted string of dot.
fn escape(text: &str) -> String {
    let short: String = text.chars().take(200).collect();
    short
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace(['\n', '\r'], " ")
}

/// A thread's events in the language of dot: each event is a box, with an arrow from the event around it.
fn graph(thread: &str, events: &BTreeMap<u64, Vec<Value>>, debug: bool) -> String {
    let mut text = format!(
        "digraph events {{\n  rankdir=LR; nodesep=0.10;\n  // thread {}\n",
        escape(thread)
    );
    for (id, event) in events {
        let (name, statement) = (cell(event, 2), cell(event, 5));
        let (shape, colour) = match name.split('/').next() {
            Some("statement") => ("box", "lightblue"),
            Some("stage") => ("box", "slategray3"),
            Some("transaction") => ("box", "green"),
            _ if name.starts_with("wait/io") => ("folder", "red"),
            _ if name.starts_with("wait/lock") => ("hexagon", "tomato"),
            _ => ("ellipse", "orange"),
        };
        let picoseconds = cell(event, 4).parse().unwrap_or(0.0);
        let mut label = format!("{name}\\n{}", crate::format::format_time(picoseconds));
        for more in [&statement, &cell(event, 6)] {
            if !more.is_empty() {
                label = format!("{label}\\n{}", escape(more));
            }
        }
        if debug {
            label = format!("{label}\\n{}", escape(&cell(event, 7)));
        }
        text.push_str(&format!(
            "  e{id} [label=\"{label}\", shape={shape}, style=filled, fillcolor={colour}];\n"
        ));
        if let Ok(parent @ 1..) = cell(event, 1).parse::<u64>()
            && events.contains_key(&parent)
        {
            text.push_str(&format!("  e{parent} -> e{id};\n"));
        }
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_has_boxes_and_arrows() {
        let text = |t: &str| Value::Text(t.into());
        let event = |id: i64, parent: i64, name: &str, sql: &str| {
            let row = vec![
                Value::Integer(id),
                Value::Integer(parent),
                text(name),
                Value::Null,
                Value::Integer(1000),
                text(sql),
                text(""),
                Value::Null,
            ];
            (id as u64, row)
        };
        let events = BTreeMap::from([
            event(1, 0, "statement/sql/select", "SELECT \"a\"\n"),
            event(2, 1, "wait/io/file/x", ""),
            event(3, 99, "stage/sql/x", ""),
        ]);
        let graph = graph("7", &events, false);
        assert!(graph.starts_with("digraph events {") && graph.ends_with("}\n"));
        assert!(
            graph.contains("e1 [label=\"statement/sql/select\\n1.00 ns\\nSELECT \\\"a\\\" \""),
            "{graph}"
        );
        assert!(
            graph.contains("  e1 -> e2;\n") && !graph.contains("e99"),
            "{graph}"
        );
    }
}
