//! The queries of metrics; each answer becomes families. The tables are MySQL's, except those of schema
//! tare.

use tare_history::Answer;

use super::text::{Exemplar, Families, Type};

/// Seconds of a picosecond.
const PICO: f64 = 1e-12;

/// A query, and the conversion of its rows.
pub struct Question {
    /// The statement.
    pub sql: &'static str,
    /// Whether it needs schema tare.
    pub is_tare: bool,
    /// Adds the rows to the families.
    pub take: fn(&Answer, &mut Families),
}

/// A query of event classes: name, count, picoseconds.
macro_rules! events {
    ($kind:literal, $table:literal) => {
        Question {
            sql: concat!(
                "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.",
                $table,
                " WHERE COUNT_STAR > 0"
            ),
            is_tare: false,
            take: |rows, to| events(rows, $kind, to),
        }
    };
}

/// All queries, except that of digests.
pub const QUESTIONS: [Question; 10] = [
    events!("wait", "events_waits_summary_global_by_event_name"),
    events!("stage", "events_stages_summary_global_by_event_name"),
    events!(
        "statement",
        "events_statements_summary_global_by_event_name"
    ),
    events!(
        "transaction",
        "events_transactions_summary_global_by_event_name"
    ),
    Question {
        sql: "SELECT SUM(SUM_ERRORS), SUM(SUM_WARNINGS), SUM(COUNT_STAR) \
              FROM performance_schema.events_statements_summary_global_by_event_name",
        is_tare: false,
        take: statements,
    },
    Question {
        sql: "SELECT COALESCE(ERROR_NAME, ERROR_NUMBER), SUM_ERROR_RAISED \
              FROM performance_schema.events_errors_summary_global_by_error \
              WHERE SUM_ERROR_RAISED > 0 AND ERROR_NUMBER IS NOT NULL",
        is_tare: false,
        take: |rows, to| {
            let errors = to.of(
                "tare_errors",
                Type::Counter,
                "Errors raised, by MySQL's name; by number, where the server has no names.",
            );
            for row in rows {
                errors.push([("error", text(row, 0))], number(row, 1));
            }
        },
    },
    Question {
        sql: "SELECT EVENT_NAME, CURRENT_NUMBER_OF_BYTES_USED \
              FROM performance_schema.memory_summary_global_by_event_name WHERE CURRENT_NUMBER_OF_BYTES_USED > 0",
        is_tare: false,
        take: |rows, to| {
            let memory = to.of(
                "tare_memory_bytes",
                Type::Gauge,
                "Memory in use, by instrument.",
            );
            for row in rows {
                memory.push([("event", text(row, 0))], number(row, 1));
            }
        },
    },
    Question {
        sql: "SHOW GLOBAL STATUS LIKE 'Performance\\_schema\\_%\\_lost'",
        is_tare: false,
        take: |rows, to| {
            for row in rows {
                let name = text(row, 0).to_lowercase();
                let what = name.trim_start_matches("performance_schema_");
                lost(to, what.trim_end_matches("_lost"), number(row, 1));
            }
        },
    },
    Question {
        sql: "SELECT rows_lost, threads_lost, thread_events_lost, signal_events_lost, class_events_lost, \
              instance_events_lost, histograms_lost, resident_bytes FROM tare.segments",
        is_tare: true,
        take: segment,
    },
    Question {
        sql: "SELECT event_type, SUM(sum_cost) FROM tare.cost_by_event_name GROUP BY event_type",
        is_tare: true,
        take: |rows, to| {
            let cost = to.of(
                "tare_instrumentation_cost_seconds",
                Type::Counter,
                "CPU time that instrumentation has taken in the server, estimated: events times the cost of one.",
            );
            for row in rows {
                cost.push([("type", text(row, 0))], number(row, 1) * PICO);
            }
        },
    },
];

/// The query of the digests that took most time; `most` limits the number of series.
pub fn digests_sql(most: usize) -> String {
    format!(
        "SELECT DIGEST, SCHEMA_NAME, COUNT_STAR, SUM_TIMER_WAIT, SUM_ERRORS, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, \
         DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL \
         ORDER BY SUM_TIMER_WAIT DESC LIMIT {most}"
    )
}

/// The longest text of a digest in a label.
const MAX_LABEL_BYTES: usize = 512;

/// The families of digests. Their time has exemplars, by digest and schema.
pub fn digests(
    rows: &Answer,
    exemplar: &dyn Fn(&str, &str) -> Option<Exemplar>,
    to: &mut Families,
) {
    const TIME: usize = 3;
    const COUNTS: [(&str, &str, usize, f64); 5] = [
        ("tare_digest_calls", "Statements of a digest.", 2, 1.0),
        (
            "tare_digest_seconds",
            "Time that statements of a digest took.",
            TIME,
            PICO,
        ),
        (
            "tare_digest_errors",
            "Statements of a digest that failed.",
            4,
            1.0,
        ),
        (
            "tare_digest_rows_examined",
            "Rows that statements of a digest read.",
            5,
            1.0,
        ),
        (
            "tare_digest_rows_sent",
            "Rows that statements of a digest returned.",
            6,
            1.0,
        ),
    ];
    for (name, help, at, unit) in COUNTS {
        let family = to.of(name, Type::Counter, help);
        for row in rows {
            let (digest, schema) = (text(row, 0), text(row, 1));
            let labels = [("digest", digest), ("schema", schema)];
            let exemplar = (at == TIME).then(|| exemplar(digest, schema)).flatten();
            family.push_with_exemplar(labels, number(row, at) * unit, exemplar);
        }
    }
    let info = to.of(
        "tare_digest",
        Type::Info,
        "The text of a digest: literals are ?.",
    );
    for row in rows {
        let text_of_digest = text(row, 7);
        let label = &text_of_digest[..text_of_digest.floor_char_boundary(MAX_LABEL_BYTES)];
        let labels = [
            ("digest", text(row, 0)),
            ("schema", text(row, 1)),
            ("text", label),
        ];
        info.push(labels, 1.0);
    }
}

fn events(rows: &Answer, kind: &str, to: &mut Families) {
    let count = to.of("tare_events", Type::Counter, "Events, by instrument.");
    for row in rows {
        count.push([("type", kind), ("event", text(row, 0))], number(row, 1));
    }
    let time = to.of(
        "tare_event_seconds",
        Type::Counter,
        "What timed events took, by instrument.",
    );
    for row in rows {
        let labels = [("type", kind), ("event", text(row, 0))];
        time.push(labels, number(row, 2) * PICO);
    }
}

fn statements(rows: &Answer, to: &mut Families) {
    let Some(row) = rows.first() else { return };
    let sums = [
        (
            "tare_statement_errors",
            "Statements that failed, each error once.",
        ),
        ("tare_statement_warnings", "Warnings of statements."),
        ("tare_statements", "Statements."),
    ];
    for (at, (name, help)) in sums.into_iter().enumerate() {
        to.of(name, Type::Counter, help).push([], number(row, at));
    }
}

fn segment(rows: &Answer, to: &mut Families) {
    const WHAT: [&str; 7] = [
        "rows",
        "threads",
        "thread_events",
        "signal_events",
        "class_events",
        "instance_events",
        "histograms",
    ];
    let Some(row) = rows.first() else { return };
    for (at, what) in WHAT.into_iter().enumerate() {
        lost(to, &format!("tare_{what}"), number(row, at));
    }
    let resident = to.of(
        "tare_segment_resident_bytes",
        Type::Gauge,
        "Memory that the segment takes.",
    );
    resident.push([], number(row, WHAT.len()));
}

fn lost(to: &mut Families, what: &str, count: f64) {
    const HELP: &str = "Events and objects that the engine could not store, by kind. If it grows, figures are incomplete.";
    to.of("tare_lost", Type::Counter, HELP)
        .push([("what", what)], count);
}

/// A column as text; NULL is empty.
pub fn text(row: &[Option<String>], at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

/// A column as a number; NULL is 0.
pub fn number(row: &[Option<String>], at: usize) -> f64 {
    text(row, at).parse().unwrap_or(0.0)
}
