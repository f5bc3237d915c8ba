//! The growth of counters between two queries.

use std::collections::HashMap;

use tare_mysql::schema::is_system_schema;

use crate::query::{Query, QueryError};

/// Numbers of a row, in the order of table `growth`: count, time, lock time (picoseconds), errors,
/// warnings, rows affected, sent, examined, bytes read and written. Then a value that is no sum.
pub const SUMS: usize = 10;

/// A kind of rows, and the query: schema, name, the sums, the value, and for digests the text. Of statements
/// that run there is only the text: one that never ends has no row among the digests.
struct Question {
    kind: &'static str,
    sql: &'static str,
}

/// Texts of statements that run; no kind of table `growth`.
const RUNNING: &str = "running statement";

#[rustfmt::skip] // One question, two lines.
const QUESTIONS: [Question; 14] = [
    Question { kind: "digest", sql:
        "SELECT SCHEMA_NAME, DIGEST, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, NULL, NULL, NULL, DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest" },
    Question { kind: RUNNING, sql:
        "SELECT CURRENT_SCHEMA, DIGEST, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DIGEST_TEXT FROM performance_schema.events_statements_current WHERE END_EVENT_ID IS NULL AND DIGEST IS NOT NULL" },
    Question { kind: "statement", sql:
        "SELECT NULL, EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, NULL, NULL, NULL FROM performance_schema.events_statements_summary_global_by_event_name" },
    Question { kind: "user", sql:
        "SELECT NULL, USER, SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT), SUM(SUM_LOCK_TIME), SUM(SUM_ERRORS), SUM(SUM_WARNINGS), SUM(SUM_ROWS_AFFECTED), SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_EXAMINED), NULL, NULL, NULL FROM performance_schema.events_statements_summary_by_user_by_event_name GROUP BY USER" },
    Question { kind: "wait", sql:
        "SELECT NULL, EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name" },
    Question { kind: "stage", sql:
        "SELECT NULL, EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_stages_summary_global_by_event_name" },
    Question { kind: "file", sql:
        "SELECT NULL, FILE_NAME, COUNT_STAR, SUM_TIMER_WAIT, NULL, NULL, NULL, NULL, NULL, NULL, SUM_NUMBER_OF_BYTES_READ, SUM_NUMBER_OF_BYTES_WRITE FROM performance_schema.file_summary_by_instance" },
    Question { kind: "table", sql:
        "SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.table_io_waits_summary_by_table" },
    Question { kind: "index", sql:
        "SELECT OBJECT_SCHEMA, CONCAT(OBJECT_NAME, '.', INDEX_NAME), COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.table_io_waits_summary_by_index_usage WHERE INDEX_NAME IS NOT NULL" },
    Question { kind: "error", sql:
        "SELECT NULL, COALESCE(ERROR_NAME, ERROR_NUMBER), SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IS NOT NULL" },
    Question { kind: "memory", sql:
        "SELECT NULL, EVENT_NAME, COUNT_ALLOC, NULL, NULL, NULL, NULL, NULL, NULL, NULL, SUM_NUMBER_OF_BYTES_ALLOC, SUM_NUMBER_OF_BYTES_FREE, CURRENT_NUMBER_OF_BYTES_USED FROM performance_schema.memory_summary_global_by_event_name" },
    Question { kind: "cost", sql:
        "SELECT NULL, event_name, count_star, sum_cost FROM tare.cost_by_event_name" },
    Question { kind: "metric", sql:
        "SELECT NULL, VARIABLE_NAME, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, VARIABLE_VALUE FROM performance_schema.global_status" },
    Question { kind: "metric", sql:
        "SELECT NULL, NAME, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, `COUNT` FROM information_schema.INNODB_METRICS" },
];

/// The queries.
pub fn questions() -> impl Iterator<Item = &'static str> {
    QUESTIONS.iter().map(|question| question.sql)
}

/// Errors of tables and schemas that do not exist.
const ABSENT: [&str; 3] = ["ERROR 1049", "ERROR 1109", "ERROR 1146"];

/// Whether a server of this kind or version does not have what a query reads. Nobody can change that, so nobody is told.
fn is_absent(why: &str) -> bool {
    ABSENT.iter().any(|error| why.starts_with(error))
}

/// The growth of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthRow {
    /// The kind of row.
    pub kind: &'static str,
    /// The schema.
    pub schema: Option<String>,
    /// The name.
    pub name: String,
    /// The growth of the sums; `None` where the kind has no such sum.
    pub sums: [Option<u64>; SUMS],
    /// The current value that is not a sum.
    pub value: Option<i64>,
}

/// A row of counters that a source has itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    kind: &'static str,
    name: String,
    sums: [Option<u64>; SUMS],
}

impl Total {
    /// A row, whose sums `fill` fills.
    pub fn new(
        kind: &'static str,
        name: &str,
        fill: impl FnOnce(&mut [Option<u64>; SUMS]),
    ) -> Self {
        let mut sums = [None; SUMS];
        fill(&mut sums);
        Self {
            kind,
            name: name.to_owned(),
            sums,
        }
    }
}

/// The text of a new digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The default schema.
    pub schema: Option<String>,
    /// The digest.
    pub digest: String,
    /// The text.
    pub text: String,
}

/// An index that the server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexName {
    /// The schema of its table.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
    /// The index.
    pub index: String,
    /// Both, as in table `growth`.
    pub name: String,
}

type Key = (&'static str, Option<String>, String);
type Numbers = ([Option<u64>; SUMS], Option<i64>);

/// The previous numbers.
#[derive(Default)]
pub struct Growth {
    last: HashMap<Key, Numbers>,
    /// Digests whose texts were returned.
    sent_texts: std::collections::HashSet<(Option<String>, String)>,
    /// Indexes that were read for the first time, until they are taken.
    indexes: Vec<IndexName>,
    /// Queries that the server refuses, and its reason, until that was returned.
    refused: Vec<(&'static str, String)>,
    started: bool,
}

impl Growth {
    /// Queries the counters and returns their growth since the last call; nothing at the first.
    ///
    /// # Errors
    /// [`QueryError::Lost`]. A query that is refused is not repeated.
    pub fn since(
        &mut self,
        server: &mut dyn Query,
    ) -> Result<(Vec<GrowthRow>, Vec<Text>), QueryError> {
        let (mut grown, mut texts) = (Vec::new(), Vec::new());
        for question in &QUESTIONS {
            if self.refused.iter().any(|(sql, _)| *sql == question.sql) {
                continue;
            }
            let rows = match server.query(question.sql) {
                Ok(rows) => rows,
                Err(QueryError::Refused(why)) => {
                    let why = if is_absent(&why) { String::new() } else { why };
                    self.refused.push((question.sql, why));
                    continue;
                }
                Err(lost) => return Err(lost),
            };
            for row in rows {
                let mut row = row.into_iter();
                let schema = row.next().flatten();
                let Some(name) = row.next().flatten() else {
                    continue;
                };
                let mut numbers = [None; SUMS];
                for number in &mut numbers {
                    *number = row.next().flatten().and_then(|text| unsigned(&text));
                }
                let value = row.next().flatten().and_then(|text| text.parse().ok());
                let key = (schema.clone(), name.clone());
                if let Some(text) = row.next().flatten()
                    && self.sent_texts.insert(key)
                {
                    let (schema, digest) = (schema.clone(), name.clone());
                    texts.push(Text {
                        schema,
                        digest,
                        text,
                    });
                }
                match question.kind {
                    RUNNING => continue,
                    "index" => self.add_index(schema.as_ref(), &name),
                    _ => {}
                }
                grown.extend(self.row(question.kind, schema, name, (numbers, value)));
            }
        }
        self.started = true;
        Ok((grown, texts))
    }

    /// Adds an index whose row was not read before, unless it is of a table of the server itself.
    fn add_index(&mut self, schema: Option<&String>, name: &str) {
        if schema.is_some_and(|schema| is_system_schema(schema)) {
            return;
        }
        if (self.last).contains_key(&("index", schema.cloned(), name.to_owned())) {
            return;
        }
        if let Some((table, index)) = name.rsplit_once('.') {
            self.indexes.push(IndexName {
                schema: schema.cloned(),
                table: table.to_owned(),
                index: index.to_owned(),
                name: name.to_owned(),
            });
        }
    }

    /// Takes the indexes that were read for the first time.
    pub fn take_indexes(&mut self) -> Vec<IndexName> {
        std::mem::take(&mut self.indexes)
    }

    /// The growth of a source's own counters since the last call.
    pub fn since_totals(&mut self, totals: Vec<Total>) -> Vec<GrowthRow> {
        let rows = totals.into_iter();
        let grown =
            rows.filter_map(|total| self.row(total.kind, None, total.name, (total.sums, None)));
        let grown = grown.collect();
        self.started = true;
        grown
    }

    fn row(
        &mut self,
        kind: &'static str,
        schema: Option<String>,
        name: String,
        now: Numbers,
    ) -> Option<GrowthRow> {
        let key = (kind, schema, name);
        let before = self.last.insert(key.clone(), now);
        if !self.started || before == Some(now) {
            return None;
        }
        let (_, schema, name) = key;
        // A new row counts completely, and so does one that is less than before: its table was truncated.
        let (then, _) = before.unwrap_or(([Some(0); SUMS], None));
        let mut sums = now.0;
        // An estimate may shrink without truncation, because its clock is measured again.
        let is_estimate = kind == "cost" && sums[0] >= then[0];
        for (sum, then) in sums.iter_mut().zip(then) {
            if let (Some(sum), Some(then)) = (sum.as_mut(), then)
                && (*sum >= then || is_estimate)
            {
                *sum = sum.saturating_sub(then);
            }
        }
        let grew = sums.iter().flatten().any(|sum| *sum != 0) || now.1.is_some();
        grew.then_some(GrowthRow {
            kind,
            schema,
            name,
            sums,
            value: now.1,
        })
    }

    /// Kinds that are not recorded because the server refused the query, with its reason. Each is
    /// returned once.
    pub fn refused(&mut self) -> Vec<(&'static str, String)> {
        let kinds = self.refused.iter_mut().filter(|(_, why)| !why.is_empty());
        kinds
            .map(|(sql, why)| (kind_of(sql), std::mem::take(why)))
            .collect()
    }
}

fn kind_of(sql: &str) -> &'static str {
    let question = QUESTIONS.iter().find(|question| question.sql == sql);
    question.map_or("", |question| question.kind)
}

/// Parses a sum, which may be a DECIMAL whose fraction is zeros.
fn unsigned(text: &str) -> Option<u64> {
    text.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers only the query of waits.
    struct Waits(Vec<(&'static str, u64)>);

    impl Query for Waits {
        fn query(&mut self, sql: &str) -> Result<crate::Answer, QueryError> {
            if sql.contains("tare.") {
                let why = "ERROR 1049 (42000): Unknown database 'tare'";
                return Err(QueryError::Refused(why.into()));
            }
            if !sql.contains("events_waits_summary_global") {
                return Err(QueryError::Refused("ERROR 1142 (42000): denied".into()));
            }
            let row = |(name, count): &(&str, u64)| {
                vec![None, Some((*name).to_owned()), Some(count.to_string())]
            };
            Ok(self.0.iter().map(row).collect())
        }
    }

    fn counts(growth: &mut Growth, now: Vec<(&'static str, u64)>) -> Vec<(String, Option<u64>)> {
        let (grown, _) = growth.since(&mut Waits(now)).expect("answers");
        grown.into_iter().map(|g| (g.name, g.sums[0])).collect()
    }

    #[test]
    fn growth_is_returned_once_and_restarts_after_truncation() {
        let mut growth = Growth::default();
        assert_eq!(counts(&mut growth, vec![("a", 5), ("b", 7)]), []);
        let (a, b, c) = ("a".to_owned(), "b".to_owned(), "c".to_owned());
        let grown = counts(&mut growth, vec![("a", 9), ("b", 7), ("c", 1)]);
        assert_eq!(grown, [(a.clone(), Some(4)), (c, Some(1))]);
        let grown = counts(&mut growth, vec![("a", 2), ("b", 8)]);
        assert_eq!(grown, [(a, Some(2)), (b, Some(1))]);
        // Nobody is told of what the server does not have.
        assert_eq!(growth.refused().len(), QUESTIONS.len() - 2);
        assert_eq!(growth.refused(), []);
    }

    #[test]
    fn an_index_is_listed_once_and_not_if_it_is_the_servers_own() {
        let mut growth = Growth::default();
        let shop = Some("shop".to_owned());
        growth.add_index(shop.as_ref(), "t.by_a");
        growth.add_index(Some(&"mysql".to_owned()), "user.PRIMARY");
        growth.row(
            "index",
            shop.clone(),
            "t.by_a".to_owned(),
            ([None; SUMS], None),
        );
        growth.add_index(shop.as_ref(), "t.by_a");
        let indexes = growth.take_indexes();
        let names: Vec<_> = indexes
            .iter()
            .map(|i| (&*i.table, &*i.index, &*i.name))
            .collect();
        assert_eq!(names, [("t", "by_a", "t.by_a")]);
        assert_eq!(growth.take_indexes(), []);
    }
}
