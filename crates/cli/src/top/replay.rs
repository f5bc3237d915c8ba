//! `tare top --history`: displays a history instead of a server. Each interval is a range of recorded time.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use tare_history::Past;
use tare_reader::estimate::Moments;

use super::average::AverageLoad;
use super::blockers::{self, Blocked, Threads};
use super::drills::{AVERAGE, EXECUTIONS, EXECUTIONS_OF_SAMPLES};
use super::load::{Load, LoadCounters};
use super::pages::{PAGES, THREADS_OF_SAMPLES};
use super::plan::{Statement, StatementPlan};
use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Key, Snapshot, growth};
use super::source::{Answer, HISTORY_ENDS, Place};
use crate::diff;
use crate::exit::{FAILED, Failure};
use crate::history::parse_time;
use crate::observe::format::in_utc;
use crate::observe::{QueryError, real, rows, sql_literal, text};
use crate::sql::{SqlSession, history};

/// Options of a history.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "A history to replay")]
pub struct ReplayOptions {
    /// Show what tare record has written in this directory, one interval after the other. If a server is
    /// named, watch this server, and show on a statement's page what changed since the history
    #[arg(long, value_name = "DIR", conflicts_with = "record")]
    history: Option<PathBuf>,

    /// The server of the history, where it has several
    #[arg(long, value_name = "NAME", requires = "history")]
    server: Option<String>,

    /// The host of the history, where it has several; --host, too, if no server is watched
    #[arg(long, value_name = "NAME", requires = "history")]
    host_name: Option<String>,

    /// Begin with the interval that ends here: '2026-11-22 14:03' or 14:03 of UTC, or 30m, 2h, 7d ago
    /// [default: the newest]
    #[arg(long, value_name = "TIME", requires = "history", value_parser = parse_time, conflicts_with_all = ["servers", "pid", "segment", "dsn"])]
    at: Option<i64>,

    /// The option that names a host, for messages
    #[arg(skip = "--host")]
    host_option: &'static str,
}

/// The time before and after the start in which servers are searched.
const NEAR_MS: i64 = 60_000;

/// The time in which the last reading of the status is searched: the recorder reads it every ten seconds.
const STATUS_RANGE_MS: i64 = 30_000;

/// Statements, waits and active sessions of a range of time.
const PULSE: &str = "SELECT 'calls', '', SUM(COUNT_STAR) \
     FROM performance_schema.events_statements_summary_global_by_event_name UNION ALL \
     SELECT 'wait', EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE SUM_TIMER_WAIT > 0 AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/synch/cond/%'";

/// Each moment: its time, the seconds that it represents, and the sessions that were active.
const ACTIVE: &str = "SELECT UNIX_TIMESTAMP(m.sampled_at), m.seconds, s.active FROM moments AS m \
     LEFT JOIN (SELECT sampled_at, COUNT(*) AS active FROM samples WHERE connection_id IS NOT NULL \
     GROUP BY sampled_at) AS s ON s.sampled_at = m.sampled_at ORDER BY m.sampled_at";

/// Who waited for whom: threads, and NULL for a holder that is not known.
const BLOCKED: &str = "SELECT thread_id, blocker FROM samples WHERE blocker IS NOT NULL \
     UNION SELECT thread_id, blocker FROM blocks";

/// The deadlocks of a range of time, in words.
const DEADLOCKS: &str = "SELECT CONCAT('a deadlock on ', COALESCE(MAX(NULLIF(CONCAT_WS('.', object_schema, object), '')), 'an unknown table'), \
     ' between ', COALESCE(CONCAT('the connections ', GROUP_CONCAT(connection_id)), 'unknown connections'), \
     ' at ', SUBSTRING(deadlock, 12, 8), ' of the server''s time') \
     FROM deadlocks WHERE deadlock IS NOT NULL GROUP BY deadlock ORDER BY deadlock LIMIT 5";

/// A history and the current position in it.
pub struct Replay {
    session: SqlSession,
    /// What the options select.
    past: Past,
    /// The host and server that are read.
    host: String,
    server: String,
    /// The option that names a host, for messages.
    host_option: &'static str,
    /// The end of the current interval, in milliseconds since 1970.
    until: i64,
    /// Its length, in milliseconds.
    length: i64,
    /// The interval of growth in milliseconds, which is the shortest interval.
    growth: i64,
    /// Whether the first interval has been displayed.
    has_begun: bool,
}

impl ReplayOptions {
    /// A directory, the server in it if there are several, and the end of the first interval.
    pub fn new(history: PathBuf, server: Option<String>, at: Option<i64>) -> Self {
        Self {
            history: Some(history),
            server,
            at,
            host_name: None,
            host_option: "--host-name",
        }
    }

    /// Whether --history is given.
    pub fn is_given(&self) -> bool {
        self.history.is_some()
    }

    /// The history, and which of its servers.
    pub fn place(&self) -> Option<diff::Place> {
        Some(diff::Place {
            directory: self.history.clone()?,
            host: self.host_name.clone(),
            server: self.server.clone(),
        })
    }

    /// Whether --at is given.
    pub fn has_time(&self) -> bool {
        self.at.is_some()
    }

    /// Opens the history at its start.
    pub fn open(&self, host: Option<&str>, every: Duration) -> Result<Replay, Failure> {
        let host = self.host_name.as_deref().or(host);
        let past = Past {
            directory: self.history.clone().unwrap_or_default(),
            from: i64::MIN,
            to: i64::MAX,
            host: host.map(str::to_owned),
            server: self.server.clone(),
        };
        past.check().map_err(|error| Failure::new(FAILED, error))?;
        let session = open_session(&past)?;
        let mut replay = Replay {
            session,
            past,
            host: String::new(),
            server: String::new(),
            host_option: self.host_option,
            until: 0,
            length: 0,
            growth: 0,
            has_begun: false,
        };
        replay.seek(self.at)?;
        replay.set_length(every);
        Ok(replay)
    }
}

impl Replay {
    /// Begins with the interval that ends at this time, by default the newest, and checks that there is one
    /// server then.
    fn seek(&mut self, at: Option<i64>) -> Result<(), Failure> {
        self.has_begun = false;
        self.set_server(self.past.host.clone(), self.past.server.clone());
        let newest = match at {
            Some(at) => at,
            None => match self.first_or_last_moment("MAX", i64::MIN, i64::MAX)? {
                Some(newest) => newest + 1,
                None => return Err(Failure::new(FAILED, self.no_rows_message())),
            },
        };
        self.set_range(newest - NEAR_MS, newest.saturating_add(NEAR_MS));
        let query = "SELECT host, server FROM moments GROUP BY host, server ORDER BY host, server";
        let there: Vec<(String, String)> = rows(&mut self.session, query)?
            .iter()
            .filter_map(|row| Some((text(row.first()?)?, text(row.get(1)?)?)))
            .collect();
        match &there[..] {
            [] => {
                let first = self.first_or_last_moment("MIN", i64::MIN, i64::MAX)?;
                let last = self.first_or_last_moment("MAX", i64::MIN, i64::MAX)?;
                let message = match first.zip(last) {
                    Some((first, last)) => format!(
                        "nothing was recorded around {}; there is something from {} to {}",
                        in_utc(newest),
                        in_utc(first),
                        in_utc(last)
                    ),
                    None => self.no_rows_message(),
                };
                return Err(Failure::new(FAILED, message));
            }
            [(host, server)] => {
                (self.host, self.server) = (host.clone(), server.clone());
                // Others may have data at other times.
                self.set_server(Some(host.clone()), Some(server.clone()));
            }
            several => {
                let option = self.host_option;
                let named: Vec<String> = several
                    .iter()
                    .map(|(host, server)| format!("{option} {host} --server {server}"))
                    .collect();
                let message = format!(
                    "the history has {} servers then: name one, such as {}",
                    named.len(),
                    named[..named.len().min(5)].join(", ")
                );
                return Err(Failure::new(2, message));
            }
        }
        self.set_range(newest - NEAR_MS, newest.saturating_add(NEAR_MS));
        let growth = rows(&mut self.session, "SELECT MAX(seconds) FROM growth")?;
        let seconds = growth.first().and_then(|row| real(row.first()?));
        self.growth = (seconds.unwrap_or(0.0) * 1000.0).ceil() as i64;
        self.until = newest;
        Ok(())
    }

    fn no_rows_message(&self) -> String {
        format!(
            "{}: nothing was recorded there",
            self.past.directory.display()
        )
    }

    /// Sets the length of intervals, but not below that of growth.
    pub fn set_length(&mut self, every: Duration) {
        let wanted = i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
        self.length = wanted.max(self.growth);
    }

    fn set_server(&self, host: Option<String>, server: Option<String>) {
        if let SqlSession::History(past) = &self.session {
            past.history().set_server(host, server);
        }
    }

    fn set_range(&self, from: i64, to: i64) {
        if let SqlSession::History(past) = &self.session {
            past.history().set_range(from, to);
        }
    }

    /// The first or the last moment of a range.
    fn first_or_last_moment(
        &mut self,
        which: &str,
        from: i64,
        to: i64,
    ) -> Result<Option<i64>, QueryError> {
        self.set_range(from, to);
        let answer = rows(
            &mut self.session,
            &format!("SELECT {which}(sampled_at) FROM moments"),
        )?;
        let at = answer.first().and_then(|row| text(row.first()?));
        Ok(at.and_then(|at| parse_time(&at).ok()))
    }

    /// Moves to the next interval, unless the first one has not been displayed.
    pub fn advance(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            self.step(1);
        }
    }

    /// Moves so many intervals forward, but not beyond now.
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

    /// Queries a place in the current interval.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        let sheet = history_sheet(place).map_err(QueryError::Refused)?;
        let mut notes = Vec::new();
        if self
            .first_or_last_moment("MAX", self.until - self.length, self.until)?
            .is_none()
        {
            if let Some(next) = self.first_or_last_moment("MIN", self.until, i64::MAX)? {
                let next = in_utc(next);
                notes.push(format!("nothing was recorded then; it goes on at {next}"));
            } else {
                notes.push(HISTORY_ENDS.to_owned());
                let newest = self.first_or_last_moment("MAX", i64::MIN, self.until)?;
                self.until = newest.map_or(self.until, |newest| newest + 1);
            }
        }
        // The status is read less often than intervals are long.
        let length = if sheet.is_status {
            STATUS_RANGE_MS.max(self.length)
        } else {
            self.length
        };
        self.set_range(self.until - length, self.until);
        let answer = rows(&mut self.session, &sheet.query(&place.keys, None))?;
        let start = Instant::now();
        let before = Snapshot::new(sheet, Vec::new(), start);
        let end = start + Duration::from_millis(self.length.unsigned_abs());
        let now = Snapshot::new(sheet, answer, end);
        let mut rows_of_interval = growth(sheet, Some(&before), &now);
        if std::ptr::eq(sheet, &raw const EXECUTIONS_OF_SAMPLES) {
            // The number of samples is not that of events.
            if let Some(average) = sheet.column(AVERAGE.head) {
                let rows = rows_of_interval.iter_mut();
                rows.for_each(|row| row.figures[average] = Figure::Empty);
            }
            notes.extend(self.read_text(&place.keys)?);
            if rows_of_interval.is_empty() {
                notes.push("it was in no sample of this interval".to_owned());
            }
        }
        self.set_range(self.until - self.length, self.until);
        let blocked = Blocked::from_rows(&rows(&mut self.session, BLOCKED)?);
        let read = |_: &Threads<'_>| Ok((blocked, Vec::new()));
        notes.extend(blockers::fill_by(sheet, &mut rows_of_interval, read)?);
        if sheet.find(|kind| kind == Measure::BlockedBy).is_some() {
            let deadlocks = rows(&mut self.session, DEADLOCKS)?;
            notes.extend(deadlocks.iter().filter_map(|row| text(row.first()?)));
        }
        if rows_of_interval.is_empty() && notes.is_empty() {
            notes.push("nothing happened in this interval".to_owned());
        }
        Ok(Answer {
            rows: rows_of_interval,
            seconds: Some(self.length as f64 / 1000.0),
            notes,
            until_ms: Some(self.until),
            ..Answer::default()
        })
    }

    /// The text of the statement with these keys: its schema and its digest.
    fn read_text(&mut self, keys: &Key) -> Result<Option<String>, QueryError> {
        let Some(Some(digest)) = keys.get(1) else {
            return Ok(None);
        };
        // A text is written once for each run of the recorder.
        self.set_range(i64::MIN, i64::MAX);
        let digest = sql_literal(digest);
        let query = format!("SELECT MAX(text) FROM tare.digests WHERE digest = {digest}");
        let answer = rows(&mut self.session, &query)?;
        Ok(answer.first().and_then(|row| text(row.first()?)))
    }

    /// The history, and the server that is read.
    pub fn place(&self) -> diff::Place {
        diff::Place {
            directory: self.past.directory.clone(),
            host: Some(self.host.clone()),
            server: Some(self.server.clone()),
        }
    }

    /// The last plan of a statement until the end of the current interval.
    pub fn plan(&mut self, of: &Statement) -> StatementPlan {
        self.set_range(i64::MIN, self.until);
        of.recorded(&mut self.session)
            .unwrap_or_else(|error| of.without_plan(&error.to_string()))
    }

    /// The load in the current interval.
    pub fn load(&mut self) -> Result<Option<Load>, QueryError> {
        self.set_range(self.until - self.length, self.until);
        let counted = LoadCounters::from_rows(&rows(&mut self.session, PULSE)?);
        let active = rows(
            &mut self.session,
            "SELECT SUM(seconds) FROM samples WHERE connection_id IS NOT NULL",
        )?;
        let active = active.first().and_then(|row| real(row.first()?));
        let seconds = self.length as f64 / 1000.0;
        let load = counted.since(&LoadCounters::default(), seconds, 0);
        Ok(Some(Load {
            active: active.unwrap_or(0.0) / seconds,
            ..load
        }))
    }

    /// The load in the current interval, with the error of its average active sessions.
    pub fn average_load(&mut self) -> Result<AverageLoad, QueryError> {
        let load = self
            .load()?
            .ok_or_else(|| QueryError::Refused(self.no_rows_message()))?;
        let answer = rows(&mut self.session, ACTIVE)?;
        let mut moments = Moments::default();
        for row in &answer {
            let number = |at: usize| row.get(at).and_then(real);
            let (Some(at), Some(seconds)) = (number(0), number(1)) else {
                continue;
            };
            moments.begin(at, seconds);
            (0..number(2).unwrap_or(0.0) as u64).for_each(|_| moments.add(()));
        }
        match answer.is_empty() {
            true => Err(QueryError::Refused(format!(
                "nothing was recorded in the {} s before {} UTC: give another 'at', or more 'seconds'",
                self.length as f64 / 1000.0,
                in_utc(self.until)
            ))),
            false => Ok(AverageLoad::new(load, &moments, Some(self.until))),
        }
    }

    /// The server and host, for the headline.
    pub fn headline(&self) -> String {
        format!("{} of {}", self.server, self.host)
    }
}

fn open_session(of: &Past) -> Result<SqlSession, Failure> {
    Ok(SqlSession::History(Box::new(
        history::HistorySession::open(of.clone())?,
    )))
}

/// The sheet that queries a history for a place. The error says why there is none.
fn history_sheet(place: &Place) -> Result<&'static Sheet, String> {
    let name = place.sheet.name;
    if std::ptr::eq(place.sheet, &raw const EXECUTIONS) {
        return Ok(&EXECUTIONS_OF_SAMPLES);
    }
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
