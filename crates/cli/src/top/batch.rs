//! `--batch N`: prints intervals as plain text or JSON.

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::grid::head;
use super::load::Load;
use super::sheet::{Column, Measure, Sheet};
use super::snapshot::Figure;
use super::source::{Answer, HISTORY_ENDS, Place, Source};
use super::view::{Order, arrange};
use crate::exit::{FAILED, Failure};
use crate::observe::QueryError;
use crate::observe::format::in_utc;
use crate::observe::sampling::{ACTIVE, EXACT_WINDOW};
use crate::observe::table::lines;

/// Integers below this are exact as floats.
const MAX_EXACT_INTEGER: f64 = (1_u64 << 53) as f64;

/// A column's name for programs.
pub fn name(column: &Column, by_second: bool) -> String {
    let head = match column.head {
        "" => column.sql,
        head => head,
    };
    let words = head
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_").to_lowercase();
    match column.kind {
        Measure::Time | Measure::Average | Measure::GaugeTime => format!("{name}_ps"),
        Measure::Share => "share".to_owned(),
        Measure::Error => "count_error_pct".to_owned(),
        Measure::Count if by_second => format!("{name}_per_s"),
        Measure::Bytes if by_second => format!("{name}_bytes_per_s"),
        Measure::Bytes | Measure::GaugeBytes => format!("{name}_bytes"),
        Measure::GaugeSeconds | Measure::TransactionAge => format!("{name}_s"),
        _ => name,
    }
}

/// The fields of a page's rows, as docs/top.md has them.
#[cfg(test)]
fn fields(sheet: &Sheet) -> String {
    let names = sheet.columns.iter().map(|column| name(column, true));
    format!("- {}: {}", sheet.name, names.collect::<Vec<_>>().join(", "))
}

/// Options of --batch.
pub struct Batch {
    /// The page.
    pub page: &'static Sheet,
    /// How many intervals, if there is an end.
    pub count: Option<u64>,
    /// How long each is.
    pub every: Duration,
    /// The order of the rows.
    pub order: Order,
    /// Rows without this text are left out.
    pub filter: String,
    /// Rows printed of each interval.
    pub rows: usize,
    /// For programs.
    pub is_json: bool,
}

/// An interval of a page.
pub struct Interval {
    /// The server.
    headline: String,
    /// Its rows.
    pub answer: Answer,
    load: Option<Load>,
    /// Whether a history ended before it.
    has_ended: bool,
    /// Whether nothing follows.
    is_last: bool,
}

impl Batch {
    /// Prints the intervals: of a saved segment its totals once, of a history all to its end.
    pub fn run(&self, mut source: Source) -> Result<(), Failure> {
        let mut printed = 0;
        loop {
            match self.read(&mut source) {
                Ok(Some(interval)) if interval.has_ended && printed > 0 => return Ok(()),
                Ok(Some(interval)) => {
                    let text = match self.is_json {
                        true => format!("{}\n", self.json(&interval)),
                        false => self.text(&interval),
                    };
                    let mut stdout = io::stdout().lock();
                    let written = stdout.write_all(text.as_bytes());
                    if written.and_then(|()| stdout.flush()).is_err() {
                        // The output is closed.
                        return Ok(());
                    }
                    printed += 1;
                    if Some(printed) == self.count || interval.is_last {
                        return Ok(());
                    }
                }
                Ok(None) => {}
                Err(QueryError::Refused(why)) => return Err(Failure::new(FAILED, why)),
                Err(QueryError::Lost(why)) if !source.may_return() => {
                    return Err(Failure::new(FAILED, why));
                }
                Err(QueryError::Lost(why)) => {
                    eprintln!("tare: connection lost: {why}; waiting for the server");
                    loop {
                        std::thread::sleep(self.every.max(Duration::from_secs(1)));
                        if source.reopen().is_ok() {
                            break;
                        }
                    }
                    eprintln!("tare: connected again: {}", source.headline());
                    continue;
                }
            }
            if !source.is_past() {
                std::thread::sleep(self.every);
            }
        }
    }

    /// Reads the next interval; `None` if the first one only begins.
    fn read(&self, source: &mut Source) -> Result<Option<Interval>, QueryError> {
        source.advance(self.every);
        let answer = source.sample(&Place::page(self.page))?;
        let load = match self.is_json {
            true => source.load().unwrap_or_default(),
            false => None,
        };
        let is_saved = answer.seconds.is_none()
            && (answer.notes.iter()).any(|note| note.starts_with("a saved segment"));
        if answer.seconds.is_none() && !is_saved {
            return Ok(None);
        }
        let has_ended = answer.notes.iter().any(|note| note == HISTORY_ENDS);
        Ok(Some(Interval {
            headline: source.headline(),
            answer,
            load,
            has_ended,
            is_last: is_saved || has_ended,
        }))
    }

    /// Reads one interval.
    pub fn read_one(&self, source: &mut Source) -> Result<Interval, QueryError> {
        loop {
            if let Some(interval) = self.read(source)? {
                return Ok(interval);
            }
            std::thread::sleep(self.every);
        }
    }

    /// One object. Names of computed values contain their unit. docs/schemas/top.json describes it.
    pub fn json(&self, interval: &Interval) -> Json {
        let (answer, load) = (&interval.answer, interval.load.as_ref());
        let rows = arrange(self.page, &answer.rows, self.order, &self.filter);
        let objects = rows.iter().take(self.rows).map(|row| {
            let columns = self.page.columns.iter().zip(&row.figures);
            let fields = columns.map(|(column, figure)| {
                let value = match figure {
                    Figure::Empty => Json::Null,
                    Figure::Text(text) => text.as_str().into(),
                    Figure::Number(n) if n.fract() == 0.0 && n.abs() < MAX_EXACT_INTEGER => {
                        (*n as i64).into()
                    }
                    Figure::Number(n) => (*n).into(),
                };
                (name(column, answer.seconds.is_some()), value)
            });
            Json::Object(fields.collect())
        });
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let unix_s = match answer.until_ms {
            Some(ms) => ms as f64 / 1000.0,
            None => since.unwrap_or_default().as_secs_f64(),
        };
        let wait = load.and_then(|load| load.wait.as_ref());
        json!({
            "page": self.page.name,
            "unix_s": unix_s,
            "server": interval.headline,
            "seconds": answer.seconds,
            "calls_per_s": load.map(|load| load.calls),
            "active_sessions": load.map(|load| load.active),
            "top_wait": wait.map(|wait| &wait.name),
            "top_wait_ps_per_s": wait.map(|wait| wait.ps),
            "rows": objects.collect::<Vec<_>>(),
            "more_rows": rows.len().saturating_sub(self.rows),
            "notes": answer.notes,
            "sampling": answer.sampling,
        })
    }

    /// Lines for people.
    pub fn text(&self, interval: &Interval) -> String {
        let (headline, answer) = (&interval.headline, &interval.answer);
        let has_blocked = answer.has_blocked(self.page);
        let columns: Vec<_> = self
            .page
            .visible_columns(answer.is_estimated(), has_blocked)
            .collect();
        let heads: Vec<_> = columns
            .iter()
            .map(|(_, column)| (head(column, answer.seconds), column.kind.side()))
            .collect();
        let rows = arrange(self.page, &answer.rows, self.order, &self.filter);
        let texts: Vec<Vec<String>> = (rows.iter().take(self.rows))
            .map(|row| {
                columns
                    .iter()
                    .map(|(at, column)| row.figures[*at].text(column.kind))
                    .collect()
            })
            .collect();
        let interval = match answer.seconds {
            Some(seconds) => format!("{seconds:.1} s"),
            None => "since counting began".to_owned(),
        };
        let until = match answer.until_ms {
            Some(ms) => format!(" until {} UTC", in_utc(ms)),
            None => String::new(),
        };
        let sampled = match answer.sampling.as_deref() {
            Some(ACTIVE) => format!(", level: {ACTIVE}"),
            Some(EXACT_WINDOW) => ", in an exact window".to_owned(),
            Some(rules) => format!(", sampled: {rules}"),
            None => String::new(),
        };
        let mut text = format!(
            "{} of {headline}, {interval}{until}{sampled}\n",
            self.page.name
        );
        for line in lines(&heads, &texts).iter().chain(&answer.notes) {
            text.push_str(line);
            text.push('\n');
        }
        if rows.len() > self.rows {
            text.push_str(&format!("({} more)\n", rows.len() - self.rows));
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::super::process_pages::PROCESS_PAGES;
    use super::*;

    #[test]
    fn the_fields_of_every_page_are_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/top.md");
        let text = std::fs::read_to_string(path).expect("docs/top.md");
        let text = text.replace("\n  ", " ");
        let lacks: Vec<_> = (PAGES.iter().chain(&PROCESS_PAGES).map(fields))
            .filter(|line| !text.contains(&format!("{line}\n")))
            .collect();
        assert!(lacks.is_empty(), "docs/top.md lacks:\n{}", lacks.join("\n"));
    }
}
