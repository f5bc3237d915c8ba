//! Sends spans from a thread of its own. What the collector does not take in time is dropped and counted.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

use super::encoding;
use super::spans::Span;

/// The most spans that wait for the collector.
const MAX_QUEUE: usize = 1024;
/// The most spans of a request.
const MAX_BATCH: usize = 256;
/// How long spans wait for others of their request.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// The limit of a request, its answer included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of a recorder waits for the last request.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);
/// OTLP's port for HTTP.
const PORT: u16 = 4318;

/// The address of a collector, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "this is not http://HOST:PORT/PATH".to_owned();
        let url: Uri = text.parse().map_err(|_| wrong())?;
        if url.scheme_str() != Some("http") {
            return Err(
                "it must begin with http://; for TLS, send to a collector on this machine that forwards the spans"
                    .to_owned(),
            );
        }
        let host = url
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(wrong)?;
        if text.contains(['@', '?', '#']) {
            return Err(wrong());
        }
        let port = url.port_u16().unwrap_or(PORT);
        let path = match url.path() {
            "" | "/" => "/v1/traces",
            path => path,
        };
        Ok(Self(format!("http://{host}:{port}{path}")))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(into)
    }
}

/// What the threads share.
#[derive(Default)]
struct Losses {
    spans: AtomicU64,
    /// The first reason, until it is reported.
    problem: Mutex<Option<String>>,
    has_problem: AtomicBool,
}

impl Losses {
    fn add(&self, spans: usize, why: impl FnOnce() -> String) {
        self.spans.fetch_add(spans as u64, Ordering::Relaxed);
        if !self.has_problem.swap(true, Ordering::Relaxed)
            && let Ok(mut problem) = self.problem.lock()
        {
            *problem = Some(why());
        }
    }
}

/// The queue to the thread that sends.
pub struct Sender {
    queue: SyncSender<Span>,
    losses: Arc<Losses>,
    ended: Receiver<()>,
    waiting: Arc<AtomicU64>,
}

impl Sender {
    /// Starts the thread.
    pub fn start(endpoint: Endpoint, resource: Value) -> Self {
        let (queue, spans) = mpsc::sync_channel(MAX_QUEUE);
        let (end, ended) = mpsc::channel::<()>();
        let losses = Arc::new(Losses::default());
        let waiting = Arc::new(AtomicU64::new(0));
        let (shared, count) = (Arc::clone(&losses), Arc::clone(&waiting));
        let run = move || {
            send_batches(&endpoint, &resource, &spans, &shared, &count);
            let _ = end.send(());
        };
        if let Err(error) = thread::Builder::new().name("otlp".to_owned()).spawn(run) {
            losses.add(0, || format!("spans are not sent: {error}"));
        }
        Self {
            queue,
            losses,
            ended,
            waiting,
        }
    }

    /// Queues a span, or drops it if the queue is full.
    pub fn send(&self, span: Span) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if self.queue.try_send(span).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            let why = || "spans are lost: the collector is slower than the statements".to_owned();
            self.losses.add(1, why);
        }
    }

    /// A sentence about the first loss, once.
    pub fn take_problem(&self) -> Option<String> {
        self.losses.problem.lock().ok()?.take()
    }

    /// Waits for the last request, for two seconds at most. Returns a sentence if spans were lost.
    pub fn finish(self) -> Option<String> {
        let problem = self.take_problem();
        drop(self.queue);
        let unsent = match self.ended.recv_timeout(FINISH_TIMEOUT) {
            Err(RecvTimeoutError::Timeout) => self.waiting.load(Ordering::Relaxed),
            _ => 0,
        };
        let lost = self.losses.spans.load(Ordering::Relaxed) + unsent;
        let problem = problem.or_else(|| self.losses.problem.lock().ok()?.take());
        let why = problem.map(|why| format!("{why}; ")).unwrap_or_default();
        (lost > 0).then(|| format!("{why}{lost} spans were lost"))
    }
}

/// Sends spans until the queue is closed.
fn send_batches(
    endpoint: &Endpoint,
    resource: &Value,
    spans: &Receiver<Span>,
    losses: &Losses,
    waiting: &AtomicU64,
) {
    let agent = agent();
    while let Ok(first) = spans.recv() {
        let mut batch = vec![first];
        let end = Instant::now() + BATCH_INTERVAL;
        while batch.len() < MAX_BATCH
            && let Some(left) = end.checked_duration_since(Instant::now())
            && let Ok(span) = spans.recv_timeout(left)
        {
            batch.push(span);
        }
        let body = encoding::request(resource, &batch).to_string();
        let answer = (agent.post(&endpoint.0))
            .content_type("application/json")
            .send(&body);
        if let Err(error) = answer {
            losses.add(batch.len(), || {
                format!("spans are lost: {endpoint}: {error}")
            });
        }
        waiting.fetch_sub(batch.len() as u64, Ordering::Relaxed);
    }
}

/// A client of HTTP that talks to the collector itself: no proxy, and nothing but success is one.
fn agent() -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        .user_agent(concat!("tare/", env!("CARGO_PKG_VERSION")))
        .proxy(None)
        .max_idle_connections(0)
        .max_redirects(0)
        .max_redirects_will_error(true)
        .build();
    config.new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_an_address_of_http() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://collector", "http://collector:4318/v1/traces"),
            ("http://[::1]", "http://[::1]:4318/v1/traces"),
            ("http://[::1]:9/", "http://[::1]:9/v1/traces"),
            ("http://c:1/otlp/v1/traces", "http://c:1/otlp/v1/traces"),
        ] {
            let endpoint: Endpoint = text.parse().expect(text);
            assert_eq!(endpoint.to_string(), expected);
        }
        for text in [
            "",
            "c:4318",
            "https://c",
            "http://",
            "http:///v1",
            "http://u:p@c",
            "http://c/a b",
            "http://c\r\nX: 1",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }
}
