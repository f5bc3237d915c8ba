//! The JSON for the page. Texts are not escaped: the page inserts them only as text nodes.

use std::time::Instant;

use serde_json::{Value, json};
use tare_history::ManualWindow;

use super::class::CLASSES;
use super::timeline::{Curve, DIMENSIONS, Filter, MIN_MOMENTS, Row, Top};
use super::watch::{PageData, TargetStatus};
use super::windows::WindowStatus;

/// The most rows of a list.
const MAX_TOP: usize = 10;

/// The most samples of a statement.
const MAX_SAMPLES: usize = 50;

/// The most points of the curve.
const MAX_POINTS: i64 = 300;

/// The lengths of a step in seconds.
const STEPS: [i64; 12] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 900, 3600, 86_400];

/// The lists of a page of sessions, and of one of a process that does not use Tare, in their order.
const SESSION_LISTS: &[&str] = &[
    "sql", "wait", "user", "host", "schema", "file", "table", "stage",
];
const PROCESS_LISTS: &[&str] = &["thread", "process", "wait"];

/// The lists of the page. A history is one of processes if it has no statements, but threads.
fn lists(data: &PageData, has_rows: impl Fn(&str) -> bool) -> &'static [&'static str] {
    let is_process = match &data.target {
        Some(target) => target.is_process,
        None => has_rows("thread") && !has_rows("sql"),
    };
    if is_process {
        PROCESS_LISTS
    } else {
        SESSION_LISTS
    }
}

/// The state of the page for a range of time.
pub fn state(data: &PageData, filter: &Filter) -> Value {
    let timeline = &data.timeline;
    let tops = DIMENSIONS.iter().enumerate().map(|(at, name)| {
        let top = timeline.top(filter, at, MAX_TOP);
        let rows: Vec<Value> = top.iter().map(|top| of_top(data, at, top)).collect();
        ((*name).to_owned(), Value::from(rows))
    });
    let tops = serde_json::Map::from_iter(tops);
    let has_rows = |name: &str| tops[name].as_array().is_some_and(|rows| !rows.is_empty());
    let lists = lists(data, has_rows);
    let cost = &data.cost;
    json!({
        "target": data.target.as_ref().map(TargetStatus::title),
        "window": data.window.as_ref().map(of_window),
        "notices": data.notices.iter().map(|notice| json!({
            "sentence": notice.sentence, "statement": notice.statement,
        })).collect::<Vec<_>>(),
        "error": data.target.as_ref().and_then(|target| target.error.as_ref()),
        "span": timeline.span(),
        "from": filter.from,
        "to": filter.to,
        "cpus": std::thread::available_parallelism().map(usize::from).ok(),
        "classes": CLASSES,
        "sampled": timeline.observed_seconds(filter.from, filter.to),
        "curve": curve(data, filter),
        "title": if lists == PROCESS_LISTS { "Average active threads" } else { "Average active sessions" },
        "lists": lists,
        "tops": tops,
        "blocking": blocking(data, filter),
        "deadlocks": data.deadlocks.state(filter.from, filter.to),
        "cost": {
            "sampling": cost.sampling, "own": cost.own, "bytes": cost.bytes, "instrumentation": cost.instrumentation,
        },
    })
}

/// The shortest step in milliseconds with at most this many points and on average at least `MIN_MOMENTS` moments,
/// which represent so many seconds each; multiples of a day beyond the list.
fn step(length: i64, seconds_of_moment: f64, points: i64) -> i64 {
    // Nearly: the seconds that moments represent are rounded.
    let least = 0.99 * seconds_of_moment * MIN_MOMENTS as f64;
    let is_enough =
        |seconds: &&i64| length / (**seconds * 1000) <= points && **seconds as f64 >= least;
    let seconds = STEPS.iter().find(is_enough).copied();
    let day = STEPS[STEPS.len() - 1];
    seconds.unwrap_or_else(|| day * (length / (day * 1000) / points + 1)) * 1000
}

fn of_window(window: &WindowStatus) -> Value {
    let left = window
        .end
        .map(|end| end.saturating_duration_since(Instant::now()));
    json!({
        "left_s": left.map(|left| left.as_secs_f64().ceil()),
        "is_own": window.is_own,
        "has_button": window.has_button,
        "length_s": ManualWindow::LENGTH.as_secs(),
        "refusal": window.refusal,
    })
}

fn curve(data: &PageData, filter: &Filter) -> Value {
    let Curve {
        times,
        classes,
        step,
    } = curve_of(data, filter, MAX_POINTS);
    json!({ "times": times, "classes": classes, "step": step })
}

/// The curve of a range with at most this many points, or one more.
pub fn curve_of(data: &PageData, filter: &Filter, points: i64) -> Curve {
    let of_moment = data.timeline.seconds_of_moment(filter.from, filter.to);
    let step = step(filter.to - filter.from, of_moment.unwrap_or(0.0), points);
    data.timeline.curve(filter, step)
}

fn of_top(data: &PageData, dimension: usize, top: &Top) -> Value {
    let text = (dimension == 0).then(|| data.texts.get(&top.key)).flatten();
    json!({ "key": top.key, "text": text, "seconds": top.seconds(), "classes": top.classes })
}

fn blocking(data: &PageData, filter: &Filter) -> Value {
    if let Some(latest) = data.blocks.latest(filter.from, filter.to) {
        return latest;
    }
    let rows = data.timeline.blocking(filter.from, filter.to);
    let at = rows.first().map(|row| row.at);
    let rows: Vec<Value> = rows.iter().map(|row| of_row(data, row)).collect();
    json!({ "at": at, "rows": rows })
}

fn of_row(data: &PageData, row: &Row) -> Value {
    let text = |id| data.timeline.text(id);
    let sql = text(row.keys[0]);
    json!({
        "at": row.at,
        "thread": row.thread,
        "connection": row.connection,
        "blocker": row.blocker,
        "class": row.class,
        "sql": sql,
        "text": data.texts.get(sql),
        "wait": text(row.keys[1]),
        "user": text(row.keys[2]),
        "host": text(row.keys[3]),
        "stage": text(row.keys[7]),
        "operation": text(row.operation),
        "object": text(row.object),
        "statement_ns": row.statement_ns,
        "wait_ns": row.wait_ns,
    })
}

/// Whether a text is a digest, which needs no quoting in SQL.
pub fn is_digest(sql: &str) -> bool {
    (32..=64).contains(&sql.len()) && sql.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The query of a digest's totals.
pub fn summary_sql(digest: &str) -> String {
    debug_assert!(is_digest(digest), "{digest}");
    format!(
        "SELECT SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), MAX(MAX_TIMER_WAIT), SUM(SUM_ERRORS), SUM(SUM_ROWS_EXAMINED), \
         SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_AFFECTED), SUM(SUM_LOCK_TIME) \
         FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST = '{digest}'"
    )
}

/// The query of the histogram of a digest's latencies.
pub fn histogram_sql(digest: &str) -> String {
    debug_assert!(is_digest(digest), "{digest}");
    format!(
        "SELECT BUCKET_TIMER_LOW, MAX(BUCKET_TIMER_HIGH), SUM(COUNT_BUCKET) \
         FROM performance_schema.events_statements_histogram_by_digest \
         WHERE DIGEST = '{digest}' AND COUNT_BUCKET > 0 GROUP BY BUCKET_TIMER_LOW ORDER BY BUCKET_TIMER_LOW"
    )
}

/// The state of a statement's page. `latencies` has what the server counted.
pub fn statement(data: &PageData, filter: &Filter, sql: &str, latencies: Value) -> Value {
    let timeline = &data.timeline;
    let samples: Vec<Value> = (timeline.rows(filter).rev().take(MAX_SAMPLES))
        .map(|row| of_row(data, row))
        .collect();
    let tops = [1, 7, 6, 5, 2, 3].map(|at| {
        let top = timeline.top(filter, at, MAX_TOP);
        let rows: Vec<Value> = top.iter().map(|top| of_top(data, at, top)).collect();
        (DIMENSIONS[at].to_owned(), Value::from(rows))
    });
    json!({
        "sql": sql,
        "text": data.texts.get(sql),
        "from": filter.from,
        "to": filter.to,
        "classes": CLASSES,
        "sampled": timeline.observed_seconds(filter.from, filter.to),
        "curve": curve(data, filter),
        "latencies": latencies,
        "plans": data.plans.state(sql, filter.to),
        "tops": serde_json::Map::from_iter(tops),
        "samples": samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_limit_the_points_and_only_digests_are_queried() {
        assert_eq!(step(300_000, 0.1, MAX_POINTS), 1000);
        assert_eq!(step(301_000, 0.1, MAX_POINTS), 2000);
        assert_eq!(step(300_000, 1.0, MAX_POINTS), 5000, "five moments");
        assert_eq!(step(3_600_000, 0.1, MAX_POINTS), 15_000);
        assert_eq!(step(300 * 86_400_000, 0.1, MAX_POINTS), 86_400_000);
        let most = 1 << 50;
        assert!(most / step(most, 0.1, MAX_POINTS) <= MAX_POINTS);
        assert!(is_digest("0123456789abcdef0123456789abcdef"));
        assert!(!is_digest("0123456789abcdef0123456789abcde'"));
        assert!(!is_digest(""));
    }
}
