//! Sends spans from a thread of its own. What the collector does not take in time is dropped and counted.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::encoding;
use super::spans::Span;

/// The most spans that wait for the collector.
const MAX_QUEUE: usize = 1024;
/// The most spans of a request.
const MAX_BATCH: usize = 256;
/// How long spans wait for others of their request.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// The limit of each step of a request: connecting, writing, reading.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of a recorder waits for the last request.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);
/// The most bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// The address of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Host and port.
    authority: String,
    path: String,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("http://").ok_or(
            "it must begin with http://; for TLS, send to a collector on this machine that forwards the spans",
        )?;
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, String::new()),
        };
        if authority.is_empty()
            || text.bytes().any(|c| !c.is_ascii_graphic())
            || text.contains(['@', '?', '#'])
        {
            return Err("this is not http://HOST:PORT/PATH".to_owned());
        }
        // The port follows the last colon, unless that is within the brackets of IPv6.
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|c| c.is_ascii_digit()));
        Ok(Self {
            authority: if has_port {
                authority.to_owned()
            } else {
                format!("{authority}:4318")
            },
            path: if path.len() > 1 {
                path
            } else {
                "/v1/traces".to_owned()
            },
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        write!(into, "http://{}{}", self.authority, self.path)
    }
}

/// What the threads share.
#[derive(Default)]
struct Losses {
    spans: AtomicU64,
    /// The first reason, until it is reported.
    problem: Mutex<Option<String>>,
    is_reported: Mutex<bool>,
}

impl Losses {
    fn add(&self, spans: usize, why: impl FnOnce() -> String) {
        self.spans.fetch_add(spans as u64, Ordering::Relaxed);
        if let (Ok(mut problem), Ok(mut is_reported)) =
            (self.problem.lock(), self.is_reported.lock())
            && !std::mem::replace(&mut *is_reported, true)
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
        if let Err(error) = post(endpoint, &body) {
            losses.add(batch.len(), || {
                format!("spans are lost: {endpoint}: {error}")
            });
        }
        waiting.fetch_sub(batch.len() as u64, Ordering::Relaxed);
    }
}

/// Sends a request, and reads the status of its answer.
fn post(endpoint: &Endpoint, body: &str) -> io::Result<()> {
    let mut failure = io::Error::other("the name has no address");
    for address in endpoint.authority.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, STEP_TIMEOUT) {
            Ok(stream) => return exchange(stream, endpoint, body),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn exchange(mut stream: TcpStream, endpoint: &Endpoint, body: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(STEP_TIMEOUT))?;
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    let Endpoint { authority, path } = endpoint;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         User-Agent: tare/{}\r\nConnection: close\r\n\r\n",
        body.len(),
        env!("CARGO_PKG_VERSION"),
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 1024];
    // The status is in the first line.
    while !answer.contains(&b'\n') && (answer.len() as u64) < MAX_ANSWER_BYTES {
        match stream.read(&mut part)? {
            0 => break,
            read => answer.extend_from_slice(&part[..read]),
        }
    }
    let line = String::from_utf8_lossy(&answer);
    let line = line.lines().next().unwrap_or_default();
    match line.split(' ').nth(1) {
        Some(status) if status.starts_with('2') && line.starts_with("HTTP/1.") => Ok(()),
        _ => Err(io::Error::other(format!("the answer is {line:?}"))),
    }
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
