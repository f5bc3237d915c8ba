//! The live page. `docs/live.md` describes it.

mod answers;
mod blocks;
mod changes;
mod class;
mod diff;
mod latency;
mod notices;
mod plans;
mod servers;
mod site;
mod status;
mod timeline;
mod watch;
mod windows;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::target::Open;
use crate::web::Web;
pub use changes::{
    ChangedFigure, ChangesRequest, CompareStatement, StatementChanges, StatementComparison,
    TrendPoint,
};
pub use diff::{Compare, DiffReport, DiffRequest, HEADS as DIFF_HEADS, Section};
pub use servers::LiveServer;
use servers::PageServer;
use site::Page;
use watch::{Watch, WatchRequest};
use windows::Windows;

/// What the page samples of a server.
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
    requests: Vec<Sender<WatchRequest>>,
}

/// The longest time that a stopping page waits for its exact windows to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

impl RunningLive {
    /// Stops sampling, and ends the exact windows that the page opened.
    pub fn stop(self) {
        let until = Instant::now() + STOP_TIMEOUT;
        let stopped = self.requests.into_iter().filter_map(|requests| {
            let (reply, replied) = channel();
            let sent = requests.send(WatchRequest::Stop(reply));
            sent.is_ok().then_some(replied)
        });
        for replied in stopped.collect::<Vec<_>>() {
            // A server that does not answer has no window of this page.
            let _ = replied.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

/// The live page.
pub struct Live {
    servers: Vec<LiveServer>,
    comparisons: Option<(Compare, CompareStatement)>,
}

impl Live {
    /// A page of these servers. The first one, which must exist, is displayed unless an address names another.
    pub fn new(servers: Vec<LiveServer>) -> Self {
        debug_assert!(!servers.is_empty(), "a page needs a server");
        Self {
            servers,
            comparisons: None,
        }
    }

    /// Adds the page `/diff`, which compares windows of a history, and what changed of each statement.
    #[must_use]
    pub fn with_comparisons(self, compare: Compare, statement: CompareStatement) -> Self {
        Self {
            comparisons: Some((compare, statement)),
            ..self
        }
    }

    /// Starts to listen, and to sample the targets, each on its own thread.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn start(self, address: SocketAddr) -> io::Result<RunningLive> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut servers = Vec::new();
        let mut watches = Vec::new();
        for mut server in self.servers {
            let watched = server.watched.take();
            let may_change = (watched.as_ref()).is_some_and(|watched| watched.may_open_windows);
            let (sender, receiver) = channel();
            let requests = watched.is_some().then_some(sender);
            let server = PageServer::new(server, requests.clone(), may_change);
            if let (Some(watched), Some(requests)) = (watched, requests) {
                watches.push((Arc::clone(&server.shared), watched, requests, receiver));
            }
            servers.push(server);
        }
        let page = Page::new(servers, token.clone(), self.comparisons);
        let web = Web::start(address, Arc::new(page))?;
        let mut all = Vec::new();
        for (shared, watched, requests, receiver) in watches {
            all.push(requests);
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
            requests: all,
        })
    }
}
