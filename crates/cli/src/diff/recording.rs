//! What a history has of one server in a window of time, by batch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tare_history::Past;

use super::locks::{Blocking, Holder, Lock};
use super::rows::Rows;
use super::window::Window;
use crate::exit::{FAILED, Failure};
use crate::observe::format::in_utc;
use crate::statistics::{MAX_BATCHES, Parts};

/// Growth is of the time before it was read, at most so long before.
const MAX_GROWTH_MS: i64 = 600_000;

/// The row of growth in which the level `active` counts all statements.
const ALL_STATEMENTS: &str = "statement/tare/active";

/// A history, and which of its servers.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory.
    pub directory: PathBuf,
    /// Only this host.
    pub host: Option<String>,
    /// Only this server.
    pub server: Option<String>,
}

/// The default schema and the digest of a statement.
pub type StatementKey = (Option<String>, String);

/// What a statement did in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Calls that ended.
    pub calls: f64,
    /// Their time in seconds.
    pub seconds: f64,
    /// Rows that they read or changed.
    pub rows: f64,
    /// Errors.
    pub errors: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.rows += other.rows;
        self.errors += other.errors;
    }
}

/// A statement by batch.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// What was counted.
    pub counted: Vec<Sums>,
    /// Seconds that were sampled, by what its sessions did: the wait, or the state.
    pub sampled: BTreeMap<String, Vec<f64>>,
}

impl Statement {
    /// One that did nothing.
    pub fn new(batches: usize) -> Self {
        Self {
            counted: vec![Sums::default(); batches],
            sampled: BTreeMap::new(),
        }
    }

    /// What was counted in all batches.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.counted.iter().for_each(|sums| total.add(sums));
        total
    }

    /// Adds another one, of the same batches.
    fn merge(&mut self, other: &Self) {
        for (sums, more) in self.counted.iter_mut().zip(&other.counted) {
            sums.add(more);
        }
        for (activity, batches) in &other.sampled {
            for (batch, seconds) in batches.iter().enumerate() {
                self.add_sample(activity, batch, *seconds);
            }
        }
    }

    fn add_sample(&mut self, activity: &str, batch: usize, seconds: f64) {
        let batches = self.counted.len();
        if let Some(sampled) = self.sampled.get_mut(activity) {
            sampled[batch] += seconds;
        } else {
            let mut sampled = vec![0.0; batches];
            sampled[batch] = seconds;
            self.sampled.insert(activity.to_owned(), sampled);
        }
    }
}

/// A window of a server.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The window.
    pub window: Window,
    /// The server's host.
    pub host: String,
    /// The server.
    pub server: String,
    /// Seconds of each batch in which statements were counted.
    pub counted_seconds: Vec<f64>,
    /// Seconds of each batch that were sampled.
    pub sampled_seconds: Vec<f64>,
    /// All statements together, and sessions whose statement has no digest yet.
    pub total: Statement,
    /// Each statement.
    pub statements: BTreeMap<StatementKey, Statement>,
    /// The waits for locks.
    pub blocking: Blocking,
    /// Why files were skipped.
    pub damaged: Vec<String>,
}

/// When growth was read, in milliseconds since 1970, and the seconds since the reading before. Some are of
/// times before and after the window.
#[derive(Debug, Default)]
pub struct Readings(BTreeMap<i64, f64>);

impl Readings {
    fn count_in(&self, window: Window) -> usize {
        let readings = self.0.iter();
        readings
            .filter(|(at, seconds)| is_in(window, **at, **seconds))
            .count()
    }

    /// From the first to the last time of a window that was recorded.
    pub fn within(&self, window: Window) -> Window {
        let start = self.0.iter().next();
        let start = start.map(|(at, seconds)| start_of(*at, *seconds));
        let end = self.0.keys().next_back().copied();
        Window {
            from: start.unwrap_or(window.from).max(window.from),
            to: end.unwrap_or(window.to).min(window.to),
        }
    }
}

impl Recording {
    /// Reads a window.
    pub fn read(place: &Place, window: Window) -> Result<Self, Failure> {
        let mut damaged = Vec::new();
        let (past, readings) = find_server(place, window, &mut damaged)?;
        let batches = readings.count_in(window).min(MAX_BATCHES);
        let mut recording = Self {
            window,
            host: past.host.clone().unwrap_or_default(),
            server: past.server.clone().unwrap_or_default(),
            counted_seconds: vec![0.0; batches],
            sampled_seconds: vec![0.0; batches],
            total: Statement::new(batches),
            statements: BTreeMap::new(),
            blocking: Blocking::new(batches),
            damaged,
        };
        let spans = Spans::new(&readings, window, batches);
        for span in spans.by_end.values() {
            if let Some(batch) = span.batch {
                recording.counted_seconds[batch] += span.seconds;
            }
        }
        recording.read_growth(&past, &spans)?;
        recording.read_moments(&past, &spans)?;
        recording.read_samples(&past, &spans)?;
        recording.read_blocks(&past, &spans)?;
        Ok(recording)
    }

    /// Makes one statement, of all schemas, the total. False if it did not run.
    pub fn set_total(&mut self, digest: &str) -> bool {
        let mut total = Statement::new(self.counted_seconds.len());
        let statements = self.statements.iter();
        let of_digest = statements.filter(|((_, of), _)| of == digest);
        let count = of_digest.map(|(_, one)| total.merge(one)).count();
        self.total = total;
        count > 0
    }

    /// Seconds in which statements were counted.
    pub fn seconds(&self) -> f64 {
        self.counted_seconds.iter().sum()
    }

    /// Parts of a ratio of what was counted, in batches with a reading: of its sums and seconds.
    pub fn counted(&self, statement: &Statement, part: fn(&Sums, f64) -> (f64, f64)) -> Parts {
        let batches = statement.counted.iter().zip(&self.counted_seconds);
        let recorded = batches.filter(|(_, seconds)| **seconds > 0.0);
        recorded
            .map(|(sums, seconds)| part(sums, *seconds))
            .collect()
    }

    /// Sampled seconds of each batch as a part of all time, in batches with a moment. `None`: there are none.
    pub fn sampled(&self, seconds: Option<&Vec<f64>>) -> Parts {
        let of = |batch: usize| seconds.map_or(0.0, |seconds| seconds[batch]);
        let batches = self.sampled_seconds.iter().enumerate();
        let recorded = batches.filter(|(_, all)| **all > 0.0);
        recorded.map(|(batch, all)| (of(batch), *all)).collect()
    }

    fn statement(&mut self, schema: Option<&str>, digest: &str) -> &mut Statement {
        let batches = self.counted_seconds.len();
        let key = (schema.map(str::to_owned), digest.to_owned());
        let statement = self.statements.entry(key);
        statement.or_insert_with(|| Statement::new(batches))
    }

    fn read_growth(&mut self, past: &Past, spans: &Spans) -> Result<(), Failure> {
        let columns = [
            "kind",
            "schema",
            "name",
            "count",
            "time_ns",
            "errors",
            "rows_affected",
            "rows_examined",
        ];
        let mut rows = Rows::scan(past, "growth", &columns)?;
        while rows.advance()? {
            let (Some(batch), Some(name)) = (spans.of_reading(rows.at()), rows.text(2)) else {
                continue;
            };
            let sums = Sums {
                calls: rows.number(3),
                seconds: rows.number(4) * 1e-9,
                rows: rows.number(6) + rows.number(7),
                errors: rows.number(5),
            };
            match rows.text(0) {
                Some("statement") if name == ALL_STATEMENTS && sums.calls > 0.0 => {
                    return Err(self.refuse(
                        "the server was at the level active, where it does not count statements by digest. See \
                         docs/active.md",
                    ));
                }
                Some("digest") => {
                    self.statement(rows.text(1), name).counted[batch].add(&sums);
                    self.total.counted[batch].add(&sums);
                }
                _ => {}
            }
        }
        self.damaged.extend(rows.damaged());
        Ok(())
    }

    fn read_moments(&mut self, past: &Past, spans: &Spans) -> Result<(), Failure> {
        let mut rows = Rows::scan(past, "moments", &["seconds"])?;
        while rows.advance()? {
            let seconds = rows.number(0);
            if let Some((batch, is_idle)) = spans.of_moment(rows.at()) {
                self.sampled_seconds[batch] += seconds;
                if is_idle {
                    self.counted_seconds[batch] += seconds;
                }
            }
        }
        self.damaged.extend(rows.damaged());
        Ok(())
    }

    fn read_samples(&mut self, past: &Past, spans: &Spans) -> Result<(), Failure> {
        let columns = [
            "seconds",
            "connection_id",
            "schema",
            "digest",
            "wait",
            "state",
            "system_call",
        ];
        let mut rows = Rows::scan(past, "samples", &columns)?;
        while rows.advance()? {
            let (Some((batch, _)), true) = (spans.of_moment(rows.at()), rows.has(1)) else {
                continue;
            };
            let activity = activity(rows.text(5), rows.text(4), rows.text(6));
            let seconds = rows.number(0);
            self.total.add_sample(&activity, batch, seconds);
            if let Some(digest) = rows.text(3) {
                let statement = self.statement(rows.text(2), digest);
                statement.add_sample(&activity, batch, seconds);
            }
        }
        self.damaged.extend(rows.damaged());
        Ok(())
    }

    fn read_blocks(&mut self, past: &Past, spans: &Spans) -> Result<(), Failure> {
        let columns = [
            "seconds",
            "kind",
            "object_schema",
            "object",
            "blocker",
            "blocker_digest",
            "blocker_text",
        ];
        let mut rows = Rows::scan(past, "blocks", &columns)?;
        while rows.advance()? {
            let Some((batch, _)) = spans.of_moment(rows.at()) else {
                continue;
            };
            let owned = |column| rows.text(column).map(str::to_owned);
            let text = owned(6);
            let holder = match (owned(5), rows.has(4)) {
                (Some(digest), _) => {
                    self.blocking
                        .texts
                        .extend(text.map(|text| (digest.clone(), text)));
                    Holder::Digest(digest)
                }
                (None, true) => text.map_or(Holder::WithoutStatement, Holder::Text),
                (None, false) => Holder::Unknown,
            };
            let lock = Lock {
                kind: owned(1).unwrap_or_default(),
                object_schema: owned(2),
                object: owned(3),
                holder,
            };
            self.blocking.add(lock, batch, rows.number(0));
        }
        self.damaged.extend(rows.damaged());
        Ok(())
    }

    /// A failure that names the window.
    pub fn refuse(&self, why: &str) -> Failure {
        refuse(self.window, why)
    }
}

/// The time of a reading of growth.
struct Span {
    seconds: f64,
    /// `None` if the reading is of another window.
    batch: Option<usize>,
}

/// When growth was read, and the time of each reading.
struct Spans {
    window: Window,
    by_end: BTreeMap<i64, Span>,
}

impl Spans {
    /// Divides the readings of a window into batches of equally many.
    fn new(readings: &Readings, window: Window, batches: usize) -> Self {
        let count = readings.count_in(window);
        let mut number = 0;
        let spans = readings.0.iter().map(|(at, seconds)| {
            let is_inside = is_in(window, *at, *seconds);
            let batch = is_inside.then(|| number * batches / count);
            number += usize::from(is_inside);
            let seconds = *seconds;
            (*at, Span { seconds, batch })
        });
        Self {
            by_end: spans.collect(),
            window,
        }
    }

    /// The batch of a reading.
    fn of_reading(&self, at: i64) -> Option<usize> {
        self.by_end.get(&at)?.batch
    }

    /// The batch of a moment of the window, and whether nothing grew then: such a reading has no rows.
    fn of_moment(&self, time: i64) -> Option<(usize, bool)> {
        let next = self.by_end.range(time..).next();
        if let Some((end, span)) = next
            && time >= start_of(*end, span.seconds)
        {
            return Some((span.batch?, false));
        }
        let later = next.and_then(|(_, span)| span.batch);
        let earlier = || (self.by_end.range(..time).rev()).find_map(|(_, span)| span.batch);
        let batch = later
            .or_else(earlier)
            .filter(|_| self.window.contains(time));
        Some((batch?, true))
    }
}

/// A failure that names a window.
pub fn refuse(window: Window, why: &str) -> Failure {
    let (from, to) = (in_utc(window.from), in_utc(window.to));
    let message = match window == Window::ALL {
        true => why.to_owned(),
        false => format!("from {from} to {to}: {why}"),
    };
    Failure::new(FAILED, message)
}

/// The start of the time of a reading.
fn start_of(at: i64, seconds: f64) -> i64 {
    at - (seconds * 1000.0) as i64
}

/// Whether all time of a reading is in a window. One over an end would mix before and after.
fn is_in(window: Window, at: i64, seconds: f64) -> bool {
    window.from <= start_of(at, seconds) && at <= window.to
}

/// What a session did: the wait, the state, or the system call.
fn activity(state: Option<&str>, wait: Option<&str>, system_call: Option<&str>) -> String {
    match (state, wait, system_call) {
        (Some(state @ ("on cpu" | "waiting for cpu")), ..) => state.to_owned(),
        (Some("blocked elsewhere"), _, Some(system_call)) => format!("blocked in {system_call}"),
        (Some("blocked elsewhere"), ..) => "blocked elsewhere".to_owned(),
        (_, Some(wait), _) => wait.to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// A host and a server on it.
pub type Origin = (String, String);

/// The servers that a window has, and their readings. Growth is read somewhat later than the window.
pub fn find_servers(
    place: &Place,
    window: Window,
    damaged: &mut Vec<String>,
) -> Result<(Past, BTreeMap<Origin, Readings>), Failure> {
    let past = Past {
        directory: place.directory.clone(),
        from: window.from,
        to: window.to.saturating_add(MAX_GROWTH_MS),
        host: place.host.clone(),
        server: place.server.clone(),
    };
    past.check().map_err(|error| Failure::new(FAILED, error))?;
    let mut servers: BTreeMap<Origin, Readings> = BTreeMap::new();
    let mut rows = Rows::scan(&past, "growth", &["seconds"])?;
    while rows.advance()? {
        let (at, seconds) = (rows.at(), rows.number(0));
        let readings = servers.entry((rows.host(), rows.server()));
        readings.or_default().0.insert(at, seconds);
    }
    servers.retain(|_, readings| readings.count_in(window) > 0);
    damaged.extend(rows.damaged());
    Ok((past, servers))
}

/// The one server that a window has, and its readings.
pub fn find_server(
    place: &Place,
    window: Window,
    damaged: &mut Vec<String>,
) -> Result<(Past, Readings), Failure> {
    let (past, servers) = find_servers(place, window, damaged)?;
    let name = |(host, server): &Origin| format!("--host {host} --server {server}");
    let named: Vec<String> = servers.keys().take(5).map(name).collect();
    let mut servers = servers.into_iter();
    match (servers.next(), servers.next()) {
        (Some(((host, server), readings)), None) => {
            let past = Past {
                host: Some(host),
                server: Some(server),
                ..past
            };
            Ok((past, readings))
        }
        (None, _) => Err(refuse(window, "nothing was recorded")),
        _ => {
            let why = "the history has several servers: name one, such as";
            Err(refuse(window, &format!("{why} {}", named.join(", "))))
        }
    }
}

/// The texts of digests.
pub fn read_texts(place: &Place) -> Result<BTreeMap<String, String>, Failure> {
    let past = Past {
        directory: place.directory.clone(),
        from: i64::MIN,
        to: i64::MAX,
        host: place.host.clone(),
        server: place.server.clone(),
    };
    let mut texts = BTreeMap::new();
    let mut rows = Rows::scan(&past, "digests", &["digest", "text"])?;
    while rows.advance()? {
        if let (Some(digest), Some(text)) = (rows.text(0), rows.text(1)) {
            texts.insert(digest.to_owned(), text.to_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_divided_into_batches_and_those_without_rows_are_idle() {
        let window = Window {
            from: 100_000,
            to: 200_000,
        };
        // Ten seconds each. The first and the last are over an end of the window.
        let ends = [
            104_000, 114_000, 124_000, 134_000, 164_000, 174_000, 206_000,
        ];
        let readings = Readings(ends.map(|end| (end, 10.0)).into());
        assert_eq!(readings.count_in(window), 5);
        let spans = Spans::new(&readings, window, 2);
        assert_eq!(
            ends.map(|end| spans.of_reading(end).is_some()),
            [false, true, true, true, true, true, false]
        );
        assert_eq!(
            (spans.of_reading(134_000), spans.of_reading(164_000)),
            (Some(0), Some(1))
        );
        for (time, expected) in [
            (101_000, None),
            (105_000, Some((0, false))),
            (140_000, Some((1, true))),
            (170_000, Some((1, false))),
            (180_000, Some((1, true))),
            (197_000, None),
            (230_000, None),
        ] {
            assert_eq!(spans.of_moment(time), expected, "{time}");
        }
        let recorded = readings.within(window);
        assert_eq!((recorded.from, recorded.to), (window.from, window.to));
    }

    #[test]
    fn an_activity_is_a_wait_a_state_or_a_system_call() {
        let wait = Some("wait/io/file/x");
        for (state, wait, system_call, expected) in [
            (Some("on cpu"), wait, None, "on cpu"),
            (Some("waiting"), wait, None, "wait/io/file/x"),
            (
                Some("blocked elsewhere"),
                wait,
                Some("read"),
                "blocked in read",
            ),
            (Some("blocked elsewhere"), None, None, "blocked elsewhere"),
            (None, wait, None, "wait/io/file/x"),
            (Some("unknown"), None, None, "unknown"),
        ] {
            assert_eq!(activity(state, wait, system_call), expected);
        }
    }
}
