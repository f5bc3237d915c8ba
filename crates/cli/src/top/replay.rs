//! A history in place of a server: `tare top --history`. Each interval is a range of time that was recorded.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use tare_history::Past;

use super::blockers::{self, Blocked, Threads};
use super::pages::{PAGES, THREADS_OF_SAMPLES};
use super::pulse::{Beat, Counted};
use super::sheet::Sheet;
use super::snapshot::{Snapshot, between};
use super::source::{Answer, ENDS, Place, in_utc};
use crate::exit::{FAILED, Failure};
use crate::history::parse_time;
use crate::observe::{QueryError, real, rows, text};
use crate::sql::{SqlSession, history};

/// Which history is replayed.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "A history to replay")]
pub struct ReplayOptions {
    /// Show what tare record has written in this directory, one interval after the other. Of this host with --host
    #[arg(long, value_name = "DIR", conflicts_with_all = ["servers", "pid", "segment", "dsn", "record"])]
    history: Option<PathBuf>,

    /// The server of the history, where it has several
    #[arg(long, value_name = "NAME", requires = "history")]
    server: Option<String>,

    /// Begin with the interval that ends here: '2026-11-22 14:03' or 14:03 of UTC, or 30m, 2h, 7d ago
    /// [default: the newest]
    #[arg(long, value_name = "TIME", requires = "history", value_parser = parse_time)]
    at: Option<i64>,
}

/// How far before and after the time that is asked for servers are looked for.
const NEAR_MS: i64 = 60_000;

/// Statements, waits, and sessions that were active, of a range of time.
const PULSE: &str = "SELECT 'calls', '', SUM(COUNT_STAR) \
     FROM performance_schema.events_statements_summary_global_by_event_name UNION ALL \
     SELECT 'wait', EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE SUM_TIMER_WAIT > 0 AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/synch/cond/%'";

/// A history, and where one stands in it.
pub struct Replay {
    session: SqlSession,
    past: Past,
    /// The end of the interval that is shown, in milliseconds since 1970.
    until: i64,
    /// Its length, in milliseconds.
    length: i64,
    /// Growth is written so often, in milliseconds: no interval is shorter.
    growth: i64,
    /// The first interval has been shown.
    has_begun: bool,
}

impl ReplayOptions {
    /// Whether a history is meant.
    pub fn is_given(&self) -> bool {
        self.history.is_some()
    }

    /// The history, where it begins.
    pub fn open(&self, host: Option<&str>, every: Duration) -> Result<Replay, Failure> {
        let past = Past {
            directory: self.history.clone().unwrap_or_default(),
            from: i64::MIN,
            to: i64::MAX,
            host: host.map(str::to_owned),
            server: self.server.clone(),
        };
        past.check().map_err(|error| Failure::new(FAILED, error))?;
        let session = opened(&past)?;
        let mut replay = Replay {
            session,
            past,
            until: 0,
            length: 0,
            growth: 0,
            has_begun: false,
        };
        replay.begin(self.at)?;
        replay.set_length(every);
        Ok(replay)
    }
}

impl Replay {
    /// Finds the place where it begins, and that there is one server.
    fn begin(&mut self, at: Option<i64>) -> Result<(), Failure> {
        let newest = match at {
            Some(at) => at,
            None => match self.edge("MAX", i64::MIN, i64::MAX)? {
                Some(newest) => newest + 1,
                None => return Err(Failure::new(FAILED, self.nothing())),
            },
        };
        self.look_at(newest - NEAR_MS, newest.saturating_add(NEAR_MS));
        let asked = "SELECT host, server FROM moments GROUP BY host, server ORDER BY host, server";
        let there: Vec<(String, String)> = rows(&mut self.session, asked)?
            .iter()
            .filter_map(|row| Some((text(row.first()?)?, text(row.get(1)?)?)))
            .collect();
        match &there[..] {
            [] => {
                let first = self.edge("MIN", i64::MIN, i64::MAX)?;
                let last = self.edge("MAX", i64::MIN, i64::MAX)?;
                let message = match first.zip(last) {
                    Some((first, last)) => format!(
                        "nothing was recorded around {}; there is something from {} to {}",
                        in_utc(newest),
                        in_utc(first),
                        in_utc(last)
                    ),
                    None => self.nothing(),
                };
                return Err(Failure::new(FAILED, message));
            }
            [(host, server)] => {
                self.past.host = Some(host.clone());
                self.past.server = Some(server.clone());
                // Others may have come, or gone, at other times.
                self.session = opened(&self.past)?;
            }
            several => {
                let named: Vec<String> = several
                    .iter()
                    .map(|(host, server)| format!("--host {host} --server {server}"))
                    .collect();
                let message = format!(
                    "the history has {} servers then: name one, such as {}",
                    named.len(),
                    named[..named.len().min(5)].join(", ")
                );
                return Err(Failure::new(2, message));
            }
        }
        self.look_at(newest - NEAR_MS, newest.saturating_add(NEAR_MS));
        let growth = rows(&mut self.session, "SELECT MAX(seconds) FROM growth")?;
        let seconds = growth.first().and_then(|row| real(row.first()?));
        self.growth = (seconds.unwrap_or(0.0) * 1000.0).ceil() as i64;
        self.until = newest;
        Ok(())
    }

    fn nothing(&self) -> String {
        format!(
            "{}: nothing was recorded there",
            self.past.directory.display()
        )
    }

    /// An interval as long as wanted, and as growth takes.
    pub fn set_length(&mut self, every: Duration) {
        let wanted = i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
        self.length = wanted.max(self.growth);
    }

    fn look_at(&self, from: i64, to: i64) {
        if let SqlSession::History(past) = &self.session {
            past.history().set_range(from, to);
        }
    }

    /// The first or the last moment of a range.
    fn edge(&mut self, which: &str, from: i64, to: i64) -> Result<Option<i64>, QueryError> {
        self.look_at(from, to);
        let found = rows(
            &mut self.session,
            &format!("SELECT {which}(at) FROM moments"),
        )?;
        let at = found.first().and_then(|row| text(row.first()?));
        Ok(at.and_then(|at| parse_time(&at).ok()))
    }

    /// The next interval, unless the first one has not been shown.
    pub fn advance(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            self.step(1);
        }
    }

    /// So many intervals forward. The future has not been recorded.
    pub fn step(&mut self, intervals: i64) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(i64::MAX, |now| {
            i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
        });
        let to = self
            .until
            .saturating_add(intervals.saturating_mul(self.length));
        self.until = to.min(now.max(self.until));
    }

    /// Asks about a place, in the interval where one stands.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        let sheet = of_history(place).map_err(QueryError::Refused)?;
        let mut notes = Vec::new();
        if self
            .edge("MAX", self.until - self.length, self.until)?
            .is_none()
        {
            if let Some(next) = self.edge("MIN", self.until, i64::MAX)? {
                let next = in_utc(next);
                notes.push(format!("nothing was recorded then; it goes on at {next}"));
            } else {
                notes.push(ENDS.to_owned());
                let newest = self.edge("MAX", i64::MIN, self.until)?;
                self.until = newest.map_or(self.until, |newest| newest + 1);
            }
        }
        self.look_at(self.until - self.length, self.until);
        let answer = rows(&mut self.session, &sheet.question(&place.keys, None))?;
        let start = Instant::now();
        let before = Snapshot::of(sheet, Vec::new(), start);
        let end = start + Duration::from_millis(self.length.unsigned_abs());
        let now = Snapshot::of(sheet, answer, end);
        let mut found = between(sheet, Some(&before), &now);
        let asked = "SELECT DISTINCT thread_id, blocker FROM samples WHERE blocker IS NOT NULL";
        let blocked = Blocked::of(&rows(&mut self.session, asked)?);
        let told = |_: &Threads<'_>| Ok((blocked, Vec::new()));
        notes.extend(blockers::fill_by(sheet, &mut found, told)?);
        if found.is_empty() && notes.is_empty() {
            notes.push("nothing happened in this interval".to_owned());
        }
        Ok(Answer {
            rows: found,
            seconds: Some(self.length as f64 / 1000.0),
            notes,
            until_ms: Some(self.until),
            ..Answer::default()
        })
    }

    /// What the server did as a whole in the interval.
    pub fn pulse(&mut self) -> Result<Option<Beat>, QueryError> {
        self.look_at(self.until - self.length, self.until);
        let counted = Counted::of(&rows(&mut self.session, PULSE)?);
        let active = rows(
            &mut self.session,
            "SELECT SUM(seconds) FROM samples WHERE connection_id IS NOT NULL",
        )?;
        let active = active.first().and_then(|row| real(row.first()?));
        let seconds = self.length as f64 / 1000.0;
        let beat = counted.since(&Counted::default(), seconds, 0);
        Ok(Some(Beat {
            active: active.unwrap_or(0.0) / seconds,
            ..beat
        }))
    }

    /// What is replayed, for the headline.
    pub fn headline(&self) -> String {
        let of = |name: &Option<String>| name.clone().unwrap_or_default();
        format!("{} of {}", of(&self.past.server), of(&self.past.host))
    }
}

fn opened(of: &Past) -> Result<SqlSession, Failure> {
    Ok(SqlSession::History(Box::new(
        history::HistorySession::open(of.clone())?,
    )))
}

/// What asks a history about a place; an error says why none does.
fn of_history(place: &Place) -> Result<&'static Sheet, String> {
    let name = place.sheet.name;
    if !PAGES.iter().any(|page| std::ptr::eq(page, place.sheet)) {
        return Err(format!("a history has no {name} of a {}", place.sheet.of));
    }
    match name {
        "threads" => Ok(&THREADS_OF_SAMPLES),
        "locks" => Err(
            "a history has no locks; threads (7) has the sessions that waited, and for whom".into(),
        ),
        "prepared" => {
            Err("a history has prepared statements among all others: see statements (1)".into())
        }
        _ => Ok(place.sheet),
    }
}
