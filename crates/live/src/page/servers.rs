//! The servers of the page, and what one sees of all of them at a glance.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tare_history::{Answer, Origin, Record};

use super::Watched;
use super::answers;
use super::latency::{Latencies, Reading};
use super::timeline::{Filter, millis};
use super::watch::{PageData, Shared, WatchRequest, lock};

/// A server of the page: a target that is sampled, a history, or both.
pub struct LiveServer {
    id: String,
    /// `None`: that which the target reports once it is open.
    name: Option<String>,
    /// What distinguishes it from others of the same name.
    address: String,
    data: PageData,
    origin: Option<Origin>,
    pub(super) watched: Option<Watched>,
}

impl LiveServer {
    /// A server without samples. The address identifies it; its name is what the target reports.
    pub fn new(address: String) -> Self {
        Self {
            id: address.clone(),
            name: None,
            address,
            data: PageData::default(),
            origin: None,
            watched: None,
        }
    }

    /// A server without samples, by its name in the user's configuration.
    pub fn named(name: String, address: String) -> Self {
        Self {
            name: Some(name.clone()),
            address,
            ..Self::new(name)
        }
    }

    /// A server of a history.
    pub fn of_history(origin: Origin) -> Self {
        Self {
            name: Some(origin.server.clone()),
            address: origin.host.clone(),
            id: format!("{}/{}", origin.host, origin.server),
            origin: Some(origin),
            ..Self::new(String::new())
        }
    }

    /// Its name in the user's configuration or its history, or else its address.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.address)
    }

    /// Whether there is a sampling instant.
    pub fn has_moments(&self) -> bool {
        self.data.timeline.span().is_some()
    }

    /// Takes the records of a history's server.
    pub fn merge(&mut self, history: Self) {
        self.data = history.data;
        self.origin = history.origin;
    }

    /// Adds a record of its history.
    pub fn add(&mut self, record: Record) {
        self.data.add(record);
    }

    /// Samples this target, too.
    #[must_use]
    pub fn with_target(self, watched: Watched) -> Self {
        Self {
            watched: Some(watched),
            ..self
        }
    }
}

/// The longest time to wait for the server's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A server of a page that listens.
pub struct PageServer {
    id: String,
    name: Option<String>,
    address: String,
    origin: Option<Origin>,
    /// Its data.
    pub shared: Shared,
    /// The channel of requests to the thread that samples, if there is one.
    requests: Option<Mutex<Sender<WatchRequest>>>,
    /// Whether the page may open and end exact windows of it.
    pub may_change: bool,
    /// Latencies of the statements whose pages are open.
    latencies: Mutex<Latencies>,
}

impl PageServer {
    /// A server, and the channel to the thread that samples it.
    pub fn new(
        server: LiveServer,
        requests: Option<Sender<WatchRequest>>,
        may_change: bool,
    ) -> Self {
        Self {
            id: server.id,
            name: server.name,
            address: server.address,
            origin: server.origin,
            shared: Arc::new(Mutex::new(server.data)),
            requests: requests.map(Mutex::new),
            may_change,
            latencies: Mutex::default(),
        }
    }

    /// What identifies it in addresses of the page.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The host and the server of its history.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Sends a request to the thread that samples, and waits for its answer.
    pub fn request<T>(
        &self,
        new: impl FnOnce(Sender<Result<T, String>>) -> WatchRequest,
    ) -> Result<T, String> {
        let Some(requests) = &self.requests else {
            return Err("history has samples; the server itself is not queried".to_owned());
        };
        let (reply, replied) = channel();
        let gone = || "the thread that asks has ended".to_owned();
        let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.send(new(reply)).map_err(|_| gone())?;
        drop(requests);
        replied
            .recv_timeout(ANSWER_TIMEOUT)
            .map_err(|_| "the server has not answered for ten seconds".to_owned())?
    }

    fn query(&self, sql: String) -> Result<Answer, String> {
        self.request(|reply| WatchRequest::Query(sql, reply))
    }

    /// What the server has counted of a digest: queried now, unless it was queried a moment ago.
    pub fn latencies(&self, digest: &str) -> Value {
        if !answers::is_digest(digest) {
            return json!({ "why": "this statement has no digest" });
        }
        let all = || {
            self.latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let now = millis(SystemTime::now());
        if all().recent(digest, now).is_none() {
            // Not locked: a server may take ten seconds to answer.
            let summary = self.query(answers::summary_sql(digest));
            let histogram = match &summary {
                Ok(_) => self.query(answers::histogram_sql(digest)),
                Err(why) => Err(why.clone()),
            };
            all().add(digest, Reading::new(now, &summary, &histogram));
        }
        all().state(digest)
    }
}

/// The times of the first and the last moment of all servers, in milliseconds since 1970.
pub fn span(servers: &[PageServer]) -> Option<(i64, i64)> {
    let spans = (servers.iter()).filter_map(|server| lock(&server.shared).timeline.span());
    spans.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))
}

/// The most points of a curve, or one less than the most.
const MAX_POINTS: i64 = 60;

/// The length of the present in milliseconds.
const NOW_MS: i64 = 5000;

/// The wait from which a blocked session counts, in nanoseconds.
const BLOCKED_NS: u64 = 1_000_000_000;

/// Each server at a glance: its curve over a range, and its sessions now or, if a time was selected, in the range.
pub fn overview(servers: &[PageServer], range: &Filter, is_now: bool) -> Value {
    let mut names = Vec::new();
    let mut entries = Vec::new();
    for server in servers {
        // One lock at a time: a thread that samples waits for it.
        let data = lock(&server.shared);
        let reported = data.target.as_ref().map(|target| &target.name);
        let name = server.name.as_ref().or(reported);
        names.push(name.unwrap_or(&server.address).clone());
        entries.push(glance(&data, range, is_now && server.requests.is_some()));
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    for ((entry, name), server) in entries.iter_mut().zip(&names).zip(servers) {
        let is_unique = counts.get(&**name) == Some(&1) || *name == server.address;
        entry["id"] = json!(server.id);
        entry["name"] = match is_unique {
            true => json!(name),
            false => json!(format!("{name} ({})", server.address)),
        };
    }
    entries.into()
}

fn glance(data: &PageData, range: &Filter, is_now: bool) -> Value {
    let error = (data.target.as_ref()).and_then(|target| target.error.as_ref());
    let curve = answers::curve_of(data, range, MAX_POINTS);
    let round = |value: &Option<f64>| value.map(|value| (value * 100.0).round() / 100.0);
    let classes = curve.classes.iter().map(|values| {
        let has_any = values
            .iter()
            .any(|value| value.is_some_and(|value| value > 0.0));
        match has_any {
            true => values.iter().map(round).collect(),
            // A class without sessions needs no values.
            false => Vec::new(),
        }
    });
    let classes: Vec<Vec<Option<f64>>> = classes.collect();
    let is_sampled = curve.classes[0].iter().map(Option::is_some);
    let last = data.timeline.span().map_or(range.to, |(_, last)| last);
    let (from, to) = match is_now {
        true => (last + 1 - NOW_MS, last + 1),
        false => (range.from, range.to),
    };
    let is_lost = is_now && error.is_some();
    let active = match is_lost {
        true => None,
        false => data.timeline.average(from, to),
    };
    let blocked = match is_lost {
        true => Vec::new(),
        false => blocked(data, from, to),
    };
    json!({
        "error": error,
        "is_now": is_now,
        "active": active,
        "blocked": { "count": blocked.len(), "longest_ns": blocked.iter().max() },
        "curve": {
            "from": curve.times.first(),
            "step": curve.step,
            "is_sampled": is_sampled.collect::<Vec<bool>>(),
            "classes": classes,
        },
    })
}

/// For how long sessions that were blocked for more than a second have waited, in nanoseconds.
fn blocked(data: &PageData, from: i64, to: i64) -> Vec<u64> {
    let waits = data.blocks.waits(from, to).unwrap_or_else(|| {
        let rows = data.timeline.blocking(from, to).into_iter();
        let waiting = rows.filter(|row| row.blocker != 0);
        waiting.map(|row| (row.thread, row.wait_ns)).collect()
    });
    waits.into_values().filter(|ns| *ns > BLOCKED_NS).collect()
}
