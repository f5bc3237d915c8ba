//! Answers to a page's query, and the growth between two of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

use tare_mysql::secret::redact_after_words;

use super::prepared;
use super::sheet::{Measure, Sheet};
use crate::observe::{format, integer, real, text};
use crate::output::Cell;

/// The identity of a row.
pub type Key = Vec<Option<String>>;

/// One value as the server has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text; NULL is none.
    Text(Option<String>),
    /// A number; NULL is none.
    Number(Option<i128>),
    /// A number with a fraction; NULL is none.
    Real(Option<f64>),
}

/// An answer of the server.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its time.
    pub at: Instant,
    /// The rows: for each column its value; derived ones are empty.
    pub rows: HashMap<Key, Vec<Value>>,
}

impl Snapshot {
    /// From the rows of the sheet's query.
    pub fn new(sheet: &Sheet, answer: Vec<Vec<Cell>>, at: Instant) -> Self {
        let rows = answer.into_iter().map(|row| {
            let mut cells = row.into_iter();
            let mut key = Key::new();
            let values = sheet.columns.iter().map(|column| {
                if column.kind.is_derived() {
                    return Value::Number(None);
                }
                let cell = cells.next().unwrap_or(Cell::Null);
                if column.kind.is_key() {
                    key.push(text(&cell));
                }
                match column.kind {
                    Measure::Real => Value::Real(real(&cell)),
                    Measure::Key => Value::Text(text(&cell)),
                    // The statements of stock servers' sessions have their passwords.
                    Measure::Text => {
                        Value::Text(text(&cell).map(|text| match redact_after_words(&text) {
                            Cow::Owned(redacted) => redacted,
                            Cow::Borrowed(_) => text,
                        }))
                    }
                    _ => Value::Number(integer(&cell)),
                }
            });
            let values: Vec<Value> = values.collect();
            (key, values)
        });
        Self {
            at,
            rows: rows.collect(),
        }
    }

    /// Adds older rows to an answer that has only recently changed rows.
    pub fn with_older_rows(mut self, before: &Self) -> Self {
        for (key, values) in &before.rows {
            if !self.rows.contains_key(key) {
                self.rows.insert(key.clone(), values.clone());
            }
        }
        self
    }
}

/// One value of the interval.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// NULL, or not computable.
    Empty,
    /// A text.
    Text(String),
    /// A number, in the unit of its column.
    Number(f64),
}

impl Figure {
    /// Its number, or 0.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(n) => *n,
            _ => 0.0,
        }
    }

    /// Whether it is a number of waiting sessions, or the status of a lock that is not granted.
    pub fn is_waiting(&self) -> bool {
        match self {
            Self::Empty => false,
            Self::Text(text) => text != "GRANTED",
            Self::Number(n) => *n > 0.0,
        }
    }

    /// Its text in a column of this kind.
    pub fn text(&self, kind: Measure) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => format::line(text),
            Self::Number(n) => match kind {
                Measure::Time | Measure::Average | Measure::GaugeTime => format::time(*n),
                Measure::Bytes | Measure::GaugeBytes => format::bytes(*n),
                Measure::GaugeSeconds | Measure::TransactionAge => format::time(*n * 1e12),
                Measure::Share => format::percent(*n),
                Measure::Error => format!("{n:.1}"),
                Measure::KeyNumber | Measure::Gauge | Measure::Blocks => format!("{n:.0}"),
                _ => format::count(*n),
            },
        }
    }
}

/// A row of the interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its identity.
    pub key: Key,
    /// A figure for each column of the sheet.
    pub figures: Vec<Figure>,
}

/// The growth between two snapshots; without an earlier one, the totals.
///
/// A row with a counter that fell was reset (TRUNCATE, a restart, a reused identity), so that its values
/// are the growth. The same holds for a new row. A row that has disappeared is left out.
pub fn growth(sheet: &Sheet, before: Option<&Snapshot>, now: &Snapshot) -> Vec<Row> {
    let seconds = before.map(|before| now.at.duration_since(before.at).as_secs_f64().max(1e-3));
    let mut rows: Vec<Row> = Vec::with_capacity(now.rows.len());
    for (key, values) in &now.rows {
        let counters = |values: &Vec<Value>| -> Vec<i128> {
            let counters = sheet
                .columns
                .iter()
                .zip(values)
                .filter(|(column, _)| column.kind.is_counter());
            counters
                .map(|(_, value)| number(value).unwrap_or(0))
                .collect()
        };
        let old = before.and_then(|before| before.rows.get(key));
        let old = old.filter(|old| {
            counters(old)
                .iter()
                .zip(&counters(values))
                .all(|(old, now)| old <= now)
        });
        let grown = |at: usize| {
            let had = old.and_then(|old| number(&old[at])).unwrap_or(0);
            (number(&values[at]).unwrap_or(0) - had) as f64
        };
        let figures = sheet
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| match column.kind {
                _ if column.kind.is_derived() => Figure::Empty,
                Measure::Count | Measure::Bytes => {
                    Figure::Number(grown(at) / seconds.unwrap_or(1.0))
                }
                Measure::Time => Figure::Number(grown(at)),
                _ => match &values[at] {
                    Value::Text(Some(text)) => Figure::Text(text.clone()),
                    Value::Number(Some(n)) => Figure::Number(*n as f64),
                    Value::Real(Some(n)) => Figure::Number(*n),
                    _ => Figure::Empty,
                },
            });
        let figures: Vec<Figure> = figures.collect();
        let has_grown = (sheet.columns.iter().zip(&figures))
            .any(|(column, figure)| column.kind.is_counter() && figure.number() > 0.0);
        if sheet.has_idle_rows || has_grown {
            rows.push(Row {
                key: key.clone(),
                figures,
            });
        }
    }
    rows = match sheet.merges {
        true => merge_rows(sheet, rows),
        false => prepared::merge(sheet, rows),
    };
    derive(sheet, &mut rows, seconds.unwrap_or(1.0));
    rows
}

/// Adds up the growth of rows with equal texts. Because growth is computed before, rows that appear or
/// disappear do not distort the sums.
pub fn merge_rows(sheet: &Sheet, rows: Vec<Row>) -> Vec<Row> {
    let mut sums: HashMap<Key, Vec<Figure>> = HashMap::new();
    for row in rows {
        let texts = row.figures.iter().filter_map(|figure| match figure {
            Figure::Text(text) => Some(Some(text.clone())),
            _ => None,
        });
        match sums.entry(texts.collect()) {
            Entry::Vacant(new) => {
                new.insert(row.figures);
            }
            Entry::Occupied(mut sum) => {
                let pairs = sum.get_mut().iter_mut().zip(&row.figures);
                for ((sum, more), column) in pairs.zip(sheet.columns) {
                    if column.kind.is_counter() {
                        *sum = Figure::Number(sum.number() + more.number());
                    }
                }
            }
        }
    }
    (sums.into_iter())
        .map(|(key, figures)| Row { key, figures })
        .collect()
}

/// Computes the derived columns.
fn derive(sheet: &Sheet, rows: &mut [Row], seconds: f64) {
    let (time, count) = (sheet.by_time(), sheet.by_count());
    let total: f64 = rows.iter().map(|row| row.figures[time].number()).sum();
    // Counts were divided by the seconds; gauges were not.
    let seconds = if sheet.columns[count].kind == Measure::Count {
        seconds
    } else {
        1.0
    };
    for row in rows {
        for (at, column) in sheet.columns.iter().enumerate() {
            let (time, count) = (
                row.figures[time].number(),
                row.figures[count].number() * seconds,
            );
            let (part, denominator) = match column.kind {
                Measure::Share => (time, total),
                Measure::Average => (time, count),
                _ => continue,
            };
            row.figures[at] = if denominator > 0.0 {
                Figure::Number(part / denominator)
            } else {
                Figure::Empty
            };
        }
    }
}

fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Number(n) => *n,
        Value::Text(_) | Value::Real(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::pages::PAGES;
    use super::*;

    fn at_second(second: u64) -> Instant {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(second)
    }

    /// Waits: TIME, WAITS, MAX, EVENT.
    fn at(second: u64, waits: &[(u64, u64, &str)]) -> Snapshot {
        let rows = waits.iter().map(|(time, count, name)| {
            vec![
                Cell::Unsigned(*time),
                Cell::Unsigned(*count),
                Cell::Unsigned(9),
                Cell::Text((*name).into()),
            ]
        });
        Snapshot::new(&PAGES[1], rows.collect(), at_second(second))
    }

    fn figures(before: Option<&Snapshot>, now: &Snapshot) -> Vec<(String, f64, f64)> {
        let mut rows: Vec<_> = growth(&PAGES[1], before, now)
            .into_iter()
            .map(|row| {
                (
                    row.key[0].clone().unwrap(),
                    row.figures[0].number(),
                    row.figures[2].number(),
                )
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    }

    #[test]
    fn counters_are_per_second_and_times_per_interval() {
        let (before, now) = (
            at(0, &[(100, 10, "a"), (7, 7, "still")]),
            at(2, &[(300, 16, "a"), (7, 7, "still")]),
        );
        assert_eq!(figures(Some(&before), &now), [("a".into(), 200.0, 3.0)]);
        assert_eq!(
            figures(None, &now),
            [("a".into(), 300.0, 16.0), ("still".into(), 7.0, 7.0)]
        );
    }

    #[test]
    fn reset_and_new_rows_count_from_zero_and_gone_rows_are_left_out() {
        let before = at(0, &[(500, 10, "reset"), (5, 5, "gone")]);
        let now = at(1, &[(600, 4, "reset"), (50, 2, "new")]);
        assert_eq!(
            figures(Some(&before), &now),
            [("new".into(), 50.0, 2.0), ("reset".into(), 600.0, 4.0)]
        );
    }

    #[test]
    fn shares_and_averages_are_of_the_interval() {
        let rows = growth(
            &PAGES[1],
            Some(&at(0, &[])),
            &at(2, &[(300, 4, "a"), (100, 2, "b")]),
        );
        let a = rows
            .iter()
            .find(|row| row.key[0].as_deref() == Some("a"))
            .unwrap();
        let figure = |kind| a.figures[PAGES[1].find(|own| own == kind).expect("a column")].number();
        assert_eq!(
            (figure(Measure::Share), figure(Measure::Average)),
            (0.75, 75.0)
        );
    }

    #[test]
    fn older_rows_are_added_to_recent_ones() {
        let before = at(0, &[(100, 10, "a"), (100, 10, "b")]);
        let merged = at(1, &[(200, 20, "a")]).with_older_rows(&before);
        assert_eq!(merged.rows.len(), 2);
        let later = at(2, &[(200, 20, "a"), (150, 15, "b")]);
        assert_eq!(figures(Some(&merged), &later), [("b".into(), 50.0, 5.0)]);
    }

    #[test]
    fn statements_of_several_connections_are_a_row() {
        let sheet = &PAGES[8];
        let at = |second: u64, counts: &[(u64, u64, &str)]| {
            let rows = counts.iter().map(|(thread, count, text)| {
                let numbers = [10 * count, *count, *count, 0, 0, 7, *thread, 1];
                let numbers = numbers.into_iter().map(Cell::Unsigned);
                numbers.chain([Cell::Text((*text).into())]).collect()
            });
            Snapshot::new(sheet, rows.collect(), at_second(second))
        };
        let before = at(
            0,
            &[
                (1, 100, "SELECT a"),
                (2, 50, "SELECT a"),
                (3, 9, "SELECT b"),
            ],
        );
        // The second connection has gone, the fourth is new.
        let now = at(
            2,
            &[(1, 110, "SELECT a"), (3, 9, "SELECT b"), (4, 6, "SELECT a")],
        );
        let rows = growth(sheet, Some(&before), &now);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].figures[sheet.by_time()].number(), 160.0);
        assert_eq!(rows[0].figures[sheet.by_count()].number(), 8.0);
        assert_eq!(rows[0].figures[3].number(), 10.0, "an average of all");
    }

    #[test]
    fn a_session_of_a_stock_server_has_no_password() {
        let threads = &PAGES[6];
        let cells = threads
            .columns
            .iter()
            .filter(|column| !column.kind.is_derived());
        let text = "executing ALTER USER u IDENTIFIED BY 'word'";
        let cells = cells.map(|column| match column.kind {
            Measure::Text => Cell::Text(text.into()),
            _ => Cell::Unsigned(1),
        });
        let now = Snapshot::new(threads, vec![cells.collect()], at_second(0));
        let rows = growth(threads, None, &now);
        let figures = format!("{:?}", rows[0].figures);
        assert!(
            figures.contains("IDENTIFIED BY '<secret>'") && !figures.contains("word'"),
            "{figures}"
        );
    }

    #[test]
    fn counters_beyond_a_float_do_not_lose_their_last_digits() {
        let before = at(0, &[(u64::MAX - 1, 1, "a")]);
        assert_eq!(
            figures(Some(&before), &at(1, &[(u64::MAX, 2, "a")])),
            [("a".into(), 1.0, 1.0)]
        );
    }
}
