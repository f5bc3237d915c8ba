//! One answer to Prometheus: the server's counters, the states of its sessions, and the cost of both.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use tare_history::{Moment, Query, QueryError, Sample, State};
use tare_reader::process::{cpu_seconds, resident_bytes};

use super::exemplars::Exemplars;
use super::questions::{QUESTIONS, digests, digests_sql, number};
use super::text::{Families, Type};
use crate::target::{Open, WatchTarget};

/// Collects the metrics of a server.
pub struct Collector {
    open: Open,
    target: Option<WatchTarget>,
    digests: String,
    exemplars: Arc<Exemplars>,
    /// Queries that this server refuses.
    refused: HashSet<String>,
    scrapes: u64,
    took: f64,
}

impl Collector {
    /// A collector that opens the server at the first query. `most_digests` limits the number of series.
    pub fn new(open: Open, most_digests: usize, exemplars: Arc<Exemplars>) -> Self {
        Self {
            open,
            target: None,
            digests: digests_sql(most_digests),
            exemplars,
            refused: HashSet::new(),
            scrapes: 0,
            took: 0.0,
        }
    }

    /// Collects all metrics.
    pub fn collect(&mut self) -> Families {
        let start = Instant::now();
        let mut families = Families::default();
        // A server that was lost since the last query may have restarted.
        let mut tries = 1 + u8::from(self.target.is_some());
        let mut is_up = false;
        while tries > 0 && !is_up {
            tries -= 1;
            is_up = self.try_collect(&mut families).is_ok();
            if !is_up {
                // A partial answer would look complete.
                families = Families::default();
                self.target = None;
                self.refused.clear();
            }
        }
        families
            .of(
                "tare_up",
                Type::Gauge,
                "Whether the observed server answers: 1 or 0.",
            )
            .push([], f64::from(u8::from(is_up)));
        self.scrapes += 1;
        self.took += start.elapsed().as_secs_f64();
        self.own(&mut families);
        families
    }

    fn try_collect(&mut self, to: &mut Families) -> Result<(), String> {
        if self.target.is_none() {
            self.target = Some((self.open)()?);
        }
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let moment = target.source.read_moment().map_err(|error| match error {
            QueryError::Lost(why) | QueryError::Refused(why) => why,
        })?;
        self.exemplars.add(&moment);
        if let Some(server) = &mut target.server {
            let mut queries = Queries {
                server: &mut **server,
                refused: &mut self.refused,
            };
            for question in &QUESTIONS {
                if target.is_tare || !question.is_tare {
                    queries.put(question.sql, to, question.take)?;
                }
            }
            let now = SystemTime::now();
            let exemplar = |digest: &str, schema: &str| self.exemplars.get(digest, schema, now);
            queries.put(&self.digests, to, |rows, to| digests(rows, &exemplar, to))?;
            let connections = queries.rows(CONNECTIONS)?;
            let connections = (connections.iter().flatten()).map(|row| number(row, 0));
            sessions(&moment, connections.sum(), to);
        } else {
            threads(&moment, to);
        }
        let labels = [("name", &*target.name), ("version", &*target.version)];
        to.of("tare_target", Type::Info, "The observed server.")
            .push(labels, 1.0);
        if let Some(cpu) = target.pid.and_then(cpu_seconds) {
            let help = "CPU time of the server's process.";
            to.of("tare_server_cpu_seconds", Type::Counter, help)
                .push([], cpu);
        }
        Ok(())
    }

    /// Metrics of this process.
    fn own(&self, to: &mut Families) {
        to.of(
            "tare_scrapes",
            Type::Counter,
            "How often the metrics were read.",
        )
        .push([], self.scrapes as f64);
        to.of(
            "tare_scrape_seconds",
            Type::Counter,
            "What asking for metrics took.",
        )
        .push([], self.took);
        if let Some(cpu) = cpu_seconds(std::process::id()) {
            let help = "CPU time of the process that tells these metrics.";
            to.of("process_cpu_seconds", Type::Counter, help)
                .push([], cpu);
        }
        if let Some(bytes) = resident_bytes(std::process::id()) {
            let help = "Memory of the process that tells these metrics.";
            to.of("process_resident_memory_bytes", Type::Gauge, help)
                .push([], bytes as f64);
        }
    }
}

const CONNECTIONS: &str =
    "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL";

/// Sends queries, but does not repeat those that were refused.
struct Queries<'a> {
    server: &'a mut dyn Query,
    refused: &'a mut HashSet<String>,
}

impl Queries<'_> {
    fn rows(&mut self, sql: &str) -> Result<Option<tare_history::Answer>, String> {
        if self.refused.contains(sql) {
            return Ok(None);
        }
        match self.server.query(sql) {
            Ok(rows) => Ok(Some(rows)),
            Err(QueryError::Refused(_)) => {
                self.refused.insert(sql.to_owned());
                Ok(None)
            }
            Err(QueryError::Lost(why)) => Err(why),
        }
    }

    fn put(
        &mut self,
        sql: &str,
        to: &mut Families,
        take: impl FnOnce(&tare_history::Answer, &mut Families),
    ) -> Result<(), String> {
        if let Some(rows) = self.rows(sql)? {
            take(&rows, to);
        }
        Ok(())
    }
}

/// The state of a session.
fn state(sample: &Sample) -> &'static str {
    match (sample.state, &sample.wait) {
        _ if is_blocked(sample) => "blocked",
        (Some(State::OnCpu | State::WaitingForCpu), _) => "running",
        (Some(State::Waiting | State::Blocked), _) | (_, Some(_)) => "waiting",
        _ => "running",
    }
}

/// Whether the session waits for another one's lock.
fn is_blocked(sample: &Sample) -> bool {
    let is_lock = |wait: &str| wait.starts_with("wait/lock/");
    sample.blocker.is_some() || sample.wait.as_deref().is_some_and(is_lock)
}

/// Sessions by state, and the longest time that one is blocked.
fn sessions(moment: &Moment, connections: f64, to: &mut Families) {
    let of_clients = || {
        let samples = moment.samples.iter();
        samples.filter(|sample| sample.connection_id.is_some())
    };
    let family = to.of(
        "tare_sessions",
        Type::Gauge,
        "Sessions of clients by state: idle, running, waiting, or blocked by another one's lock.",
    );
    let idle = (connections - of_clients().count() as f64).max(0.0);
    family.push([("state", "idle")], idle);
    for wanted in ["running", "waiting", "blocked"] {
        let count = of_clients().filter(|sample| state(sample) == wanted);
        family.push([("state", wanted)], count.count() as f64);
    }
    active_sessions(moment, to);
    let longest = of_clients().filter(|sample| is_blocked(sample));
    let longest = longest.filter_map(|sample| sample.wait_ns).max();
    let help =
        "For how long the session has waited that another one's lock blocks longest; 0: none is.";
    to.of("tare_blocked_seconds", Type::Gauge, help)
        .push([], longest.unwrap_or(0) as f64 / 1e9);
}

/// Sessions that run a statement, by what the scheduler says of their threads.
fn active_sessions(moment: &Moment, to: &mut Families) {
    let help = "Sessions of clients that run a statement, by what Linux says of their threads; unknown if it says nothing.";
    let family = to.of("tare_active_sessions", Type::Gauge, help);
    let samples = moment.samples.iter();
    let running = samples
        .filter(|sample| sample.connection_id.is_some() && sample.statement.is_some())
        .map(|sample| sample.state.unwrap_or(State::Unknown));
    let running: Vec<State> = running.collect();
    for state in State::ALL {
        let count = running.iter().filter(|each| **each == state).count();
        family.push([("state", state.name())], count as f64);
    }
}

/// Threads of a process without a segment, by state.
fn threads(moment: &Moment, to: &mut Families) {
    let help = "Threads by state, if the process does not use Tare: idle ones have not run for ten seconds.";
    let family = to.of("tare_threads", Type::Gauge, help);
    let idle = moment
        .threads
        .unwrap_or(0)
        .saturating_sub(moment.samples.len() as u64);
    family.push([("state", "idle")], idle as f64);
    for state in State::ALL
        .into_iter()
        .filter(|state| *state != State::Waiting)
    {
        let samples = moment.samples.iter();
        let count = samples.filter(|sample| sample.state == Some(state)).count();
        family.push([("state", state.name())], count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::text::Form;

    fn sample(wait: Option<&str>, blocker: Option<u64>, ns: u64) -> Sample {
        Sample {
            connection_id: Some(1),
            wait: wait.map(Into::into),
            wait_ns: Some(ns),
            blocker,
            ..Sample::default()
        }
    }

    #[test]
    fn each_session_has_one_state_and_the_longest_block_is_reported() {
        let running = |state| Sample {
            statement: Some("statement/sql/select".into()),
            state,
            ..sample(None, None, 0)
        };
        let moment = Moment {
            at: std::time::SystemTime::now(),
            threads: None,
            is_exact: None,
            samples: vec![
                running(Some(State::OnCpu)),
                running(Some(State::Blocked)),
                running(None),
                sample(Some("wait/io/file/x"), None, 9_000_000_000_000),
                sample(Some("wait/lock/metadata/sql/mdl"), None, 31_000_000_000),
                sample(Some("wait/synch/mutex/x"), Some(7), 2_000_000_000),
                sample(Some(tare_history::ROW_LOCK_WAIT), Some(7), 45_000_000_000),
                // A background thread is not a session.
                Sample {
                    connection_id: None,
                    ..sample(None, None, 0)
                },
            ],
        };
        let mut families = Families::default();
        sessions(&moment, 10.0, &mut families);
        let text = families.text(Form::Plain);
        for line in [
            "tare_sessions{state=\"idle\"} 3\n",
            "tare_sessions{state=\"running\"} 2\n",
            "tare_sessions{state=\"waiting\"} 2\n",
            "tare_active_sessions{state=\"on cpu\"} 1\n",
            "tare_active_sessions{state=\"waiting for cpu\"} 0\n",
            "tare_active_sessions{state=\"waiting\"} 0\n",
            "tare_active_sessions{state=\"blocked elsewhere\"} 1\n",
            "tare_active_sessions{state=\"unknown\"} 1\n",
            "tare_sessions{state=\"blocked\"} 3\n",
            "tare_blocked_seconds 45\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
