//! The thread that samples at jittered moments. Between them it answers the page's queries about
//! statements, and queries the cost of instrumentation.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tare_history::{Answer, QueryError, Record};
use tare_reader::process::{cpu_seconds, resident_bytes};
use tare_reader::{Schedule, priority};

use super::blocks::{BlockRows, Deadlocks};
use super::notices::{self, Notice};
use super::plans::Plans;
use super::status::StatusReadings;
use super::timeline::{Timeline, millis};
use super::windows::{WindowStatus, Windows};
use crate::target::{Open, WatchTarget};

/// The current data of the page.
#[derive(Default)]
pub struct PageData {
    /// Samples.
    pub timeline: Timeline,
    /// Who blocked whom.
    pub blocks: BlockRows,
    /// Deadlocks.
    pub deadlocks: Deadlocks,
    /// Plans of statements.
    pub plans: Plans,
    /// The status of the server.
    pub status: StatusReadings,
    /// Texts of digests.
    pub texts: HashMap<String, String>,
    /// The cost of watching.
    pub cost: Cost,
    /// What is switched off.
    pub notices: Vec<Notice>,
    /// The target; `None` if the page shows only history.
    pub target: Option<TargetStatus>,
    /// Exact windows; `None` if the target has no segment, or is lost.
    pub window: Option<WindowStatus>,
}

/// The state of the target.
#[derive(Clone, Debug, Default)]
pub struct TargetStatus {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// Why the target does not answer.
    pub error: Option<String>,
    /// Whether it is a process that does not use Tare.
    pub is_process: bool,
}

impl TargetStatus {
    /// The name and version.
    pub fn title(&self) -> String {
        let title = format!("{} {}", self.name, self.version);
        title.trim_end().to_owned()
    }
}

/// Costs, as shares of one processor unless stated otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Sampling.
    pub sampling: Option<f64>,
    /// CPU of this process.
    pub own: Option<f64>,
    /// Resident memory of this process in bytes.
    pub bytes: Option<f64>,
    /// Instrumentation, as a share of the server's CPU time.
    pub instrumentation: Option<f64>,
}

/// The data that threads share.
pub type Shared = Arc<Mutex<PageData>>;

/// Locks the data, also after a thread has panicked: it stays usable.
pub fn lock(shared: &Shared) -> MutexGuard<'_, PageData> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request to the thread that samples, and the channel of its answer.
pub enum WatchRequest {
    /// A query to the server.
    Query(String, Sender<Result<Answer, String>>),
    /// Opens an exact window.
    OpenWindow(Sender<Result<(), String>>),
    /// Ends the exact window that this page opened.
    EndWindow(Sender<Result<(), String>>),
    /// Ends the thread, and the exact window that this page opened.
    Stop(Sender<()>),
}

/// The interval of queries of texts and cost.
const QUERY_INTERVAL: Duration = Duration::from_secs(5);

/// The shortest interval between two readings of locks.
const LOCKS_INTERVAL: Duration = Duration::from_secs(1);

/// The shortest interval between two readings of the server's status.
const STATUS_INTERVAL: Duration = Duration::from_secs(10);

/// The interval of attempts to open a target that was lost.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// The most texts of one query.
const MAX_TEXTS_PER_QUERY: usize = 100;

/// Samples the target until the page has gone.
pub struct Watch {
    shared: Shared,
    open: Open,
    schedule: Schedule,
    target: Option<WatchTarget>,
    /// The time that sampling took since the cost was updated.
    took: Duration,
    last_locks: Instant,
    last_status: Option<Instant>,
    last_cost: Instant,
    before: Sums,
    windows: Windows,
    /// Digests whose texts were queried.
    requested: HashSet<String>,
    /// Those of them without a text so far.
    missing: HashSet<String>,
}

/// The counters when the cost was last updated.
#[derive(Clone, Copy, Default)]
struct Sums {
    own: Option<f64>,
    server: Option<f64>,
    instrumentation: Option<f64>,
}

impl PageData {
    /// Adds a record of a history.
    pub fn add(&mut self, record: Record) {
        match record {
            Record::Moment { at, seconds } => self.timeline.add_past_moment(at, seconds),
            Record::Sample {
                at,
                seconds,
                sample,
            } => self.timeline.add_past_sample(at, seconds, &sample),
            Record::Block { at, block } => self.blocks.add(at, *block),
            Record::Deadlock { at, deadlock } => self.deadlocks.add(at, *deadlock),
            Record::Plan(plan) => self.plans.add(*plan),
            Record::Text { digest, text } => {
                self.texts.insert(digest, text);
            }
        }
    }
}

impl Watch {
    /// A watch that samples at this rate per second.
    pub fn new(shared: Shared, open: Open, rate: f64, windows: Windows) -> Self {
        Self {
            shared,
            open,
            schedule: Schedule::new(rate),
            target: None,
            took: Duration::ZERO,
            last_locks: Instant::now(),
            last_status: None,
            last_cost: Instant::now(),
            before: Sums::default(),
            windows,
            requested: HashSet::new(),
            missing: HashSet::new(),
        }
    }

    /// Runs until the page has gone, or stops it.
    pub fn run(mut self, requests: &Receiver<WatchRequest>) {
        loop {
            let next = self.schedule.next(Instant::now());
            let _raised = loop {
                let raised = priority::raise();
                // The next moment may be long after the end of an exact window.
                let end = self.windows.end_time(self.target.as_ref());
                let wake = end.map_or(next, |end| end.min(next));
                let left = wake.saturating_duration_since(Instant::now());
                match requests.recv_timeout(left) {
                    Ok(WatchRequest::Stop(reply)) => {
                        self.lose_target();
                        let _ = reply.send(());
                        return;
                    }
                    Ok(request) => {
                        drop(raised);
                        self.answer(request);
                    }
                    Err(RecvTimeoutError::Timeout) if wake < next => {
                        self.windows.end_overdue(self.target.as_mut());
                        self.publish_window();
                    }
                    Err(RecvTimeoutError::Timeout) => break raised,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            };
            if let Err(why) = self.take_sample() {
                self.lose_target();
                let mut data = lock(&self.shared);
                data.cost = Cost::default();
                data.target.get_or_insert_default().error = Some(why);
                drop(data);
                std::thread::sleep(RETRY_INTERVAL);
            }
        }
    }

    /// Ends the window that the page opened, and closes the target.
    fn lose_target(&mut self) {
        if let Some(mut target) = self.target.take() {
            // There may be none.
            let _ = self.windows.end(&mut target);
        }
        let mut data = lock(&self.shared);
        data.window = None;
        data.notices.clear();
    }

    /// Answers a request. The client may have gone.
    fn answer(&mut self, request: WatchRequest) {
        match request {
            WatchRequest::Query(sql, reply) => drop(reply.send(self.query(&sql))),
            WatchRequest::OpenWindow(reply) => {
                let opened = (self.target.as_ref().ok_or_else(no_target))
                    .and_then(|target| self.windows.open(target));
                self.publish_window();
                drop(reply.send(opened));
            }
            WatchRequest::EndWindow(reply) => {
                let ended = (self.target.as_mut().ok_or_else(no_target))
                    .and_then(|target| self.windows.end(target));
                self.publish_window();
                drop(reply.send(ended));
            }
            WatchRequest::Stop(_) => {}
        }
    }

    fn query(&mut self, sql: &str) -> Result<Answer, String> {
        let target = self.target.as_mut().ok_or_else(no_target)?;
        let server = target
            .server
            .as_mut()
            .ok_or("the process does not use Tare")?;
        server.query(sql).map_err(reason)
    }

    fn publish_window(&mut self) {
        let target = self.target.as_ref();
        lock(&self.shared).window = target.and_then(|target| self.windows.status(target));
    }

    fn take_sample(&mut self) -> Result<(), String> {
        if self.target.is_none() {
            let target = (self.open)()?;
            lock(&self.shared).target = Some(TargetStatus {
                name: target.name.clone(),
                version: target.version.clone(),
                error: None,
                is_process: target.server.is_none(),
            });
            self.target = Some(target);
            self.schedule.skip(Instant::now());
            self.before = Sums::default();
            self.last_status = None;
            self.update_cost()?;
            self.update_notices()?;
        }
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let start = Instant::now();
        let moment = target.source.read_moment().map_err(reason)?;
        self.took += start.elapsed();
        let seconds = self.schedule.represent(start).as_secs_f64();
        lock(&self.shared).timeline.add(&moment, seconds);
        if self.last_locks.elapsed() >= LOCKS_INTERVAL {
            self.last_locks = start;
            let locks = target.source.read_locks(&moment);
            let at = millis(moment.at);
            let mut data = lock(&self.shared);
            for block in locks.blocks {
                data.blocks.add(at, block);
            }
            if let Some(deadlock) = locks.deadlock {
                data.deadlocks.add(at, deadlock);
            }
        }
        if self
            .last_status
            .is_none_or(|last| last.elapsed() >= STATUS_INTERVAL)
        {
            self.last_status = Some(start);
            if let Some(status) = target.source.read_status() {
                lock(&self.shared).status.add(millis(moment.at), &status);
            }
        }
        self.windows.follow(target, &moment).map_err(reason)?;
        let digests = moment
            .samples
            .into_iter()
            .filter_map(|sample| sample.digest);
        let unknown = digests.filter(|digest| !self.requested.contains(&**digest));
        let mut unknown: Vec<_> = unknown.map(|digest| digest.to_string()).collect();
        unknown.sort();
        unknown.dedup();
        unknown.truncate(MAX_TEXTS_PER_QUERY);
        self.missing.extend(unknown.iter().cloned());
        self.requested.extend(unknown.iter().cloned());
        self.publish_window();
        self.query_texts(&unknown)?;
        if self.last_cost.elapsed() >= QUERY_INTERVAL {
            self.update_cost()?;
            self.update_notices()?;
            // Texts that were not available when their digests were first sampled.
            let missing: Vec<_> = self
                .missing
                .iter()
                .take(MAX_TEXTS_PER_QUERY)
                .cloned()
                .collect();
            self.query_texts(&missing)?;
        }
        Ok(())
    }

    /// Queries the texts of digests, which are hexadecimal and so need no quoting.
    fn query_texts(&mut self, digests: &[String]) -> Result<(), String> {
        let is_digest = |digest: &&String| digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let list: Vec<String> = (digests.iter().filter(is_digest))
            .map(|digest| format!("'{digest}'"))
            .collect();
        let server = self
            .target
            .as_mut()
            .and_then(|target| target.server.as_mut());
        let (Some(server), false) = (server, list.is_empty()) else {
            return Ok(());
        };
        // The summary has a text once an execution has ended; until then, the running thread has it.
        for table in ["summary_by_digest", "current"] {
            let sql = format!(
                "SELECT DIGEST, DIGEST_TEXT FROM performance_schema.events_statements_{table} WHERE DIGEST IN ({})",
                list.join(", ")
            );
            match server.query(&sql) {
                Ok(rows) => {
                    let mut data = lock(&self.shared);
                    for row in rows {
                        if let [Some(digest), Some(text)] = &row[..] {
                            self.missing.remove(digest);
                            data.texts.insert(digest.clone(), text.clone());
                        }
                    }
                }
                Err(QueryError::Refused(_)) => {}
                Err(QueryError::Lost(why)) => return Err(why),
            }
            if !digests.iter().any(|digest| self.missing.contains(digest)) {
                break;
            }
        }
        Ok(())
    }

    /// Updates the cost since the last call.
    fn update_cost(&mut self) -> Result<(), String> {
        let within = self.last_cost.elapsed().as_secs_f64();
        self.last_cost = Instant::now();
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let mut now = Sums {
            own: cpu_seconds(std::process::id()),
            server: target.pid.and_then(cpu_seconds),
            instrumentation: None,
        };
        if let Some(server) = target.server.as_mut().filter(|_| target.is_tare) {
            let sum = server.query("SELECT SUM(sum_cost) FROM tare.cost_by_event_name");
            match sum {
                Ok(rows) => {
                    let text = rows.first().and_then(|row| row.first()?.as_deref());
                    let ps: Option<f64> = text.and_then(|text| text.parse().ok());
                    now.instrumentation = ps.map(|ps| ps * 1e-12);
                }
                Err(QueryError::Refused(_)) => {}
                Err(QueryError::Lost(why)) => return Err(why),
            }
        }
        let grew = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        let server = grew(now.server, self.before.server).filter(|cpu| *cpu > 0.0);
        let instrumentation = grew(now.instrumentation, self.before.instrumentation);
        let mut data = lock(&self.shared);
        data.cost = Cost {
            sampling: (within > 0.0).then(|| self.took.as_secs_f64() / within),
            own: grew(now.own, self.before.own).map(|cpu| cpu / within.max(1e-3)),
            bytes: resident_bytes(std::process::id()).map(|bytes| bytes as f64),
            instrumentation: instrumentation.zip(server).map(|(cost, cpu)| cost / cpu),
        };
        drop(data);
        self.before = now;
        self.took = Duration::ZERO;
        Ok(())
    }

    /// Updates what the server does not show, and why.
    fn update_notices(&mut self) -> Result<(), String> {
        let target = self.target.as_mut();
        let notices =
            match target.and_then(|target| Some((target.server.as_mut()?, target.is_tare))) {
                Some((server, is_tare)) => notices::read(&mut **server, is_tare).map_err(reason)?,
                None => Vec::new(),
            };
        lock(&self.shared).notices = notices;
        Ok(())
    }
}

fn no_target() -> String {
    "the server does not answer".to_owned()
}

fn reason(error: QueryError) -> String {
    match error {
        QueryError::Lost(why) | QueryError::Refused(why) => why,
    }
}
