//! Sends spans from a thread of its own, and again if the collector is overloaded or away. What it does not take in time
//! is dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::encoding;
use super::retry::{self, Backoff, SendError};
use super::settings::Settings;
use super::spans::Span;

/// The most spans that wait for the collector.
const MAX_QUEUE: usize = 1024;
/// The most spans of a request.
const MAX_BATCH: usize = 256;
/// How long spans wait for others of their request.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// The most bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;
/// The most characters of a collector's reason that are printed.
const MAX_REASON: usize = 200;
/// How long the end of a recorder waits for the last request.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// What the threads share.
#[derive(Default)]
struct Losses {
    spans: AtomicU64,
    /// The first reason, until it is reported.
    problem: Mutex<Option<String>>,
    has_problem: AtomicBool,
    /// Whether it was reported that spans wait.
    has_waited: AtomicBool,
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

    /// Reports once that spans are sent again later.
    fn add_wait(&self, why: impl FnOnce() -> String) {
        if !self.has_waited.swap(true, Ordering::Relaxed)
            && let Ok(mut problem) = self.problem.lock()
        {
            problem.get_or_insert_with(why);
        }
    }
}

/// The queue to the thread that sends.
pub struct Sender {
    queue: SyncSender<Span>,
    losses: Arc<Losses>,
    ended: Receiver<()>,
    waiting: Arc<AtomicU64>,
    /// Dropped at the end, so that the thread waits for no collector any longer.
    stop: mpsc::Sender<()>,
}

impl Sender {
    /// Starts the thread.
    pub fn start(settings: Settings, resource: Value) -> Self {
        let (queue, spans) = mpsc::sync_channel(MAX_QUEUE);
        let (end, ended) = mpsc::channel::<()>();
        let (stop, stopped) = mpsc::channel::<()>();
        let losses = Arc::new(Losses::default());
        let waiting = Arc::new(AtomicU64::new(0));
        let (shared, count) = (Arc::clone(&losses), Arc::clone(&waiting));
        let run = move || {
            let mut client = Client {
                agent: agent(&settings),
                settings,
                losses: shared,
                stopped,
                backoff: Backoff::default(),
                due: Instant::now(),
            };
            client.send_batches(&resource, &spans, &count);
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
            stop,
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
        drop(self.stop);
        let unsent = match self.ended.recv_timeout(FINISH_TIMEOUT) {
            Err(RecvTimeoutError::Timeout) => self.waiting.load(Ordering::Relaxed),
            _ => 0,
        };
        let lost = self.losses.spans.load(Ordering::Relaxed) + unsent;
        // A loss says more than a wait before.
        let last = self.losses.problem.lock().ok();
        let problem = last.and_then(|mut last| last.take()).or(problem);
        let why = problem.map(|why| format!("{why}; ")).unwrap_or_default();
        (lost > 0).then(|| format!("{why}{lost} spans were lost"))
    }
}

/// What the thread has.
struct Client {
    agent: Agent,
    settings: Settings,
    losses: Arc<Losses>,
    /// Is disconnected at the end.
    stopped: Receiver<()>,
    backoff: Backoff,
    /// No request is sent before.
    due: Instant,
}

impl Client {
    /// Sends spans until the queue is closed.
    fn send_batches(&mut self, resource: &Value, spans: &Receiver<Span>, waiting: &AtomicU64) {
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
            let endpoint = &self.settings.endpoint.to_string();
            match self.send_until_taken(&body) {
                Ok(None) => {}
                Ok(Some((rejected, why))) => self.losses.add(rejected.min(batch.len()), || {
                    format!("spans are lost: {endpoint} rejects some: {why}")
                }),
                Err(why) => {
                    (self.losses).add(batch.len(), || format!("spans are lost: {endpoint}: {why}"))
                }
            }
            waiting.fetch_sub(batch.len() as u64, Ordering::Relaxed);
        }
    }

    /// Sends a request, and again after transient failures. Returns how many of its spans the collector rejects, and
    /// why, if it says so. The error says why the spans are given up.
    fn send_until_taken(&mut self, body: &str) -> Result<Option<(usize, String)>, String> {
        let mut is_stopped = self.wait();
        let first = Instant::now();
        loop {
            let (why, retry_after) = match send(&self.agent, &self.settings, body) {
                Ok(rejected) => {
                    self.backoff.reset();
                    return Ok(rejected);
                }
                Err(SendError::Permanent(why)) => {
                    self.backoff.reset();
                    return Err(why);
                }
                Err(SendError::Transient(why, retry_after)) => (why, retry_after),
            };
            let pause = self.backoff.pause(retry_after);
            self.due = Instant::now() + pause;
            if is_stopped || !retry::is_in_time(first.elapsed(), pause) {
                return Err(why);
            }
            let endpoint = &self.settings.endpoint;
            self.losses.add_wait(|| {
                format!("spans wait: {endpoint}: {why}. They are sent again for a minute")
            });
            is_stopped = self.wait();
        }
    }

    /// Waits until the next request may be sent, or the end, which it returns.
    fn wait(&self) -> bool {
        let left = self.due.saturating_duration_since(Instant::now());
        let waited = self.stopped.recv_timeout(left);
        matches!(waited, Err(RecvTimeoutError::Disconnected))
    }
}

/// Sends a request. Returns how many of its spans the collector rejects, and why, if it says so.
fn send(
    agent: &Agent,
    settings: &Settings,
    body: &str,
) -> Result<Option<(usize, String)>, SendError> {
    let mut request = agent
        .post(settings.endpoint.url())
        .content_type("application/json");
    for header in &settings.headers {
        request = request.header(&header.name, &header.value);
    }
    let answer = match settings.is_compressed {
        true => {
            let compressed = compress(body.as_bytes());
            let compressed = compressed.map_err(|why| SendError::Permanent(why.to_string()))?;
            let request = request.header("content-encoding", "gzip");
            request.send(&compressed[..])
        }
        false => request.send(body),
    };
    let mut answer = answer.map_err(|why| retry::transport_error(&why))?;
    if !answer.status().is_success() {
        let retry_after = answer.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok());
        let status = answer.status().as_u16();
        return Err(retry::status_error(status, retry_after, SystemTime::now()));
    }
    let answer = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES);
    // Without a body that can be read, the collector has accepted all.
    let answer = answer.read_to_string().unwrap_or_default();
    Ok(rejected(&answer))
}

/// The part of an answer about rejected spans. A 64-bit integer is a text in JSON.
fn rejected(answer: &str) -> Option<(usize, String)> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let part = &answer["partialSuccess"];
    let rejected = &part["rejectedSpans"];
    let rejected = (rejected.as_str().and_then(|text| text.parse().ok())).or(rejected.as_u64())?;
    let why = part["errorMessage"]
        .as_str()
        .unwrap_or("it does not say why");
    let why = why
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_REASON)
        .collect();
    (rejected > 0).then(|| (usize::try_from(rejected).unwrap_or(usize::MAX), why))
}

fn compress(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// A client of HTTP that talks to the collector itself: no proxy, and nothing but success is one.
fn agent(settings: &Settings) -> Agent {
    let roots = settings.roots.clone();
    let tls = TlsConfig::builder()
        .root_certs(roots.unwrap_or_else(|| RootCerts::from([])))
        .client_cert(settings.client.clone())
        .build();
    let config = Agent::config_builder()
        .timeout_global(Some(settings.timeout))
        .user_agent(concat!("tare/", env!("CARGO_PKG_VERSION")))
        .proxy(None)
        .tls_config(tls)
        .max_idle_connections(0)
        .max_redirects(0)
        .max_redirects_will_error(true)
        // Their headers say when a request is sent again.
        .http_status_as_error(false)
        .build();
    config.new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_spans_are_read_from_an_answer() {
        let some = |n| Some((n, "too old".to_owned()));
        for (answer, expected) in [
            ("", None),
            ("{}", None),
            (r#"{"partialSuccess":{}}"#, None),
            (
                r#"{"partialSuccess":{"rejectedSpans":"0","errorMessage":"a warning"}}"#,
                None,
            ),
            (
                r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#,
                some(3),
            ),
            (
                r#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":"too\n old"}}"#,
                some(3),
            ),
        ] {
            assert_eq!(rejected(answer), expected, "{answer}");
        }
    }
}
