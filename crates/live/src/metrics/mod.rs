//! OpenMetrics of a server. `docs/metrics.md` describes them.

mod collect;
mod exemplars;
mod questions;
mod text;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tare_history::{Follower, Moment, Sampling};

use crate::target::Open;
use crate::web::{Request, Response, Site, Web};
use collect::Collector;
use exemplars::Exemplars;
use text::{Families, Form, Type};

/// Figures of a recorder in the same process.
#[derive(Debug, Default)]
pub struct Figures {
    moments: AtomicU64,
    samples: AtomicU64,
    took_ns: AtomicU64,
    exemplars: Arc<Exemplars>,
}

impl Follower for &Figures {
    fn follow(&mut self, moment: &Moment) -> Vec<String> {
        self.exemplars.add(moment);
        Vec::new()
    }
}

impl Figures {
    /// Adds the figures of a period.
    pub fn add(&self, sampling: &Sampling) {
        self.moments.fetch_add(sampling.moments, Ordering::Relaxed);
        self.samples.fetch_add(sampling.samples, Ordering::Relaxed);
        let ns = sampling.took.as_nanos() as u64;
        self.took_ns.fetch_add(ns, Ordering::Relaxed);
    }

    fn put(&self, to: &mut Families) {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed) as f64;
        let mut put = |name, help, value| to.of(name, Type::Counter, help).push([], value);
        let moments = count(&self.moments);
        put(
            "tare_record_moments",
            "Moments at which tare record sampled threads.",
            moments,
        );
        let samples = count(&self.samples);
        put(
            "tare_record_samples",
            "Active threads that it sampled.",
            samples,
        );
        let took = count(&self.took_ns) * 1e-9;
        put("tare_record_look_seconds", "What sampling took.", took);
    }
}

/// The shortest interval between two collections, however many clients there are.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The longest time to wait for the server's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The channel of an answer.
type Reply = Sender<Arc<Families>>;

/// Metrics of a server at `/metrics`.
pub struct Metrics {
    requests: Mutex<Sender<Reply>>,
    figures: Option<Arc<Figures>>,
}

impl Metrics {
    /// Starts to listen. The server is opened at the first request, and again after it was lost.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn start(
        address: SocketAddr,
        open: Open,
        most_digests: usize,
        figures: Option<Arc<Figures>>,
    ) -> io::Result<Web> {
        let (requests, receiver) = channel();
        let exemplars = figures
            .as_ref()
            .map(|figures| Arc::clone(&figures.exemplars));
        let exemplars = exemplars.unwrap_or_default();
        thread::Builder::new()
            .name("tare_metrics".into())
            // The connection stays on this thread.
            .spawn(move || collect(Collector::new(open, most_digests, exemplars), &receiver))?;
        let site = Self {
            requests: Mutex::new(requests),
            figures,
        };
        Web::start(address, Arc::new(site))
    }

    fn families(&self) -> Option<Arc<Families>> {
        let (reply, replied) = channel();
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.send(reply).ok()?;
        drop(requests);
        replied.recv_timeout(ANSWER_TIMEOUT).ok()
    }
}

/// Answers requests one after another.
fn collect(mut collector: Collector, requests: &Receiver<Reply>) {
    let mut last: Option<(Instant, Arc<Families>)> = None;
    for reply in requests {
        let recent = last.as_ref().filter(|(at, _)| at.elapsed() < MIN_INTERVAL);
        let families = match recent {
            Some((_, families)) => Arc::clone(families),
            None => {
                let families = Arc::new(collector.collect());
                last = Some((Instant::now(), Arc::clone(&families)));
                families
            }
        };
        // The client may have gone.
        let _ = reply.send(families);
    }
}

impl Site for Metrics {
    fn answer(&self, request: &Request) -> Response {
        match request.path.as_str() {
            "/metrics" => {
                let form = Form::accepted(&request.accept);
                let Some(families) = self.families() else {
                    return Response::refused(504, "the server has not answered for ten seconds");
                };
                let mut text = String::new();
                if let Some(figures) = &self.figures {
                    let mut own = Families::default();
                    figures.put(&mut own);
                    // Only the complete text has an end mark.
                    text = own.text(form).trim_end_matches("# EOF\n").to_owned();
                }
                text.push_str(&families.text(form));
                Response::ok(form.kind(), text)
            }
            "/" => Response::ok(
                "text/plain; charset=utf-8",
                "Metrics of Tare are at /metrics\n",
            ),
            _ => Response::refused(404, "metrics are at /metrics"),
        }
    }
}
