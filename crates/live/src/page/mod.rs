//! The live page. `docs/live.md` describes it.

mod answers;
mod blocks;
mod class;
mod diff;
mod latency;
mod notices;
mod plans;
mod site;
mod status;
mod timeline;
mod watch;
mod windows;

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tare_history::{Past, Record};

use crate::target::Open;
use crate::web::Web;
pub use diff::{Compare, DiffReport, DiffRequest, HEADS as DIFF_HEADS, Section};
use site::Page;
use watch::{PageData, Shared, Watch, WatchRequest, lock};
use windows::Windows;

/// What the page samples.
pub struct Watched {
    /// Opens the target.
    pub open: Open,
    /// Samples per second.
    pub rate: f64,
    /// Whether the page has a button that opens exact windows.
    pub may_open_windows: bool,
    /// Prints lines about exact windows.
    pub log: Box<dyn FnMut(String) + Send>,
}

/// A page that listens.
pub struct RunningLive {
    /// The address with the token.
    pub url: String,
    requests: Option<Sender<WatchRequest>>,
}

/// The longest time that a stopping page waits for its exact window to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

impl RunningLive {
    /// Stops sampling, and ends the exact window that the page opened.
    pub fn stop(self) {
        let (reply, replied) = channel();
        let requests = self.requests.map(|all| all.send(WatchRequest::Stop(reply)));
        if let Some(Ok(())) = requests {
            // A server that does not answer has no window of this page.
            let _ = replied.recv_timeout(STOP_TIMEOUT);
        }
    }
}

/// The live page.
pub struct Live {
    shared: Shared,
    compare: Option<Compare>,
}

impl Live {
    /// A page without samples.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Mutex::new(PageData::default())),
            compare: None,
        }
    }

    /// Adds the page `/diff`, which compares windows of a history.
    #[must_use]
    pub fn with_comparisons(self, compare: Compare) -> Self {
        lock(&self.shared).has_comparisons = true;
        Self {
            compare: Some(compare),
            ..self
        }
    }

    /// Adds the records of a history. Returns the number of samples.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn past(&self, past: &Past) -> Result<u64, tare_history::Error> {
        let mut rows = 0;
        past.read(&mut |record| {
            let mut all = lock(&self.shared);
            match record {
                Record::Moment { at, seconds } => all.timeline.add_moment(at, seconds),
                Record::Sample {
                    at,
                    seconds,
                    sample,
                } => {
                    rows += 1;
                    all.timeline.add_sample(at, seconds, &sample);
                }
                Record::Block { at, block } => all.blocks.add(at, *block),
                Record::Deadlock { at, deadlock } => all.deadlocks.add(at, *deadlock),
                Record::Plan(plan) => all.plans.add(*plan),
                Record::Text { digest, text } => {
                    all.texts.insert(digest, text);
                }
            }
        })?;
        Ok(rows)
    }

    /// Starts to listen, and to sample the target, if there is one.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn start(self, address: SocketAddr, watched: Option<Watched>) -> io::Result<RunningLive> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let may_change = (watched.as_ref()).is_some_and(|watched| watched.may_open_windows);
        let (sender, receiver) = channel();
        let requests = watched.is_some().then_some(sender);
        let shared = Arc::clone(&self.shared);
        let page = Page::new(
            self.shared,
            token.clone(),
            requests.clone(),
            may_change,
            self.compare,
        );
        let web = Web::start(address, Arc::new(page))?;
        if let Some(watched) = watched {
            // What it opens stays on its thread.
            let watch = move || {
                let windows = Windows::new(watched.may_open_windows, watched.log);
                Watch::new(shared, watched.open, watched.rate, windows).run(&receiver);
            };
            thread::Builder::new()
                .name("tare_watch".into())
                .spawn(watch)?;
        }
        Ok(RunningLive {
            url: format!("http://{}/?token={token}", web.address()),
            requests,
        })
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new()
    }
}
