//! `--record DIR`: records the server while `tare top` runs, as `tare record` does.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tare_history::{EndReason, Options, Query, Recorder, Retention, Source};

use super::source::Others;
use crate::exit::{FAILED, Failure};
use crate::metrics_source::{self, SessionClient};
use crate::observe::ObservedServer;
use crate::record::server_name;
use crate::sql::Target;

/// As `tare record` without options.
const WRITE_EVERY: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_secs(600);

/// The pause between attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Held while a recorder starts. A recorder settles the files of killed recorders at its start, and must not
/// mistake the files of another recorder of this process for them.
static STARTING: Mutex<()> = Mutex::new(());

/// A recording.
pub struct Recording {
    /// The server.
    pub target: Target,
    /// Its name in the files; by default its program's or product's name.
    pub server: Option<String>,
    /// The directory.
    pub directory: PathBuf,
    /// The recorder's connections, which pages leave out.
    pub others: Others,
}

/// Running recorders. Dropping them stops them and completes their files.
#[derive(Default)]
pub struct Recordings {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Recordings {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It has reported its errors.
            let _ = thread.join();
        }
    }
}

impl Recordings {
    /// Starts a recorder.
    pub fn start(&mut self, recording: Recording, report: impl Fn(String) + Send + 'static) {
        let stop = Arc::clone(&self.stop);
        self.threads
            .push(thread::spawn(move || recording.run(&stop, &report)));
    }
}

/// Recorders that are also stopped by a signal, before it ends this process.
pub struct SignalGuard(Arc<Mutex<Option<Recordings>>>);

impl Drop for SignalGuard {
    fn drop(&mut self) {
        drop(
            self.0
                .lock()
                .ok()
                .and_then(|mut recordings| recordings.take()),
        );
    }
}

impl Recordings {
    /// Stops the recorders when a signal ends this process.
    pub fn guard(self) -> Result<SignalGuard, Failure> {
        let failed = |error| Failure::new(FAILED, format!("cannot listen to signals: {error}"));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
        let shared = Arc::new(Mutex::new(Some(self)));
        let guarded = Arc::clone(&shared);
        thread::spawn(move || {
            for signal in signals.forever() {
                drop(SignalGuard(Arc::clone(&guarded)));
                // This normally ends the process.
                let _ = emulate_default_handler(signal);
            }
        });
        Ok(SignalGuard(shared))
    }
}

/// An open target: its name in the files, the source of samples, and the session for growth.
type Opened = (String, Box<dyn Source>, Option<SessionClient>);

impl Recording {
    /// Records until `stop` is set. Waits for a lost server.
    fn run(&self, stop: &AtomicBool, report: &dyn Fn(String)) {
        let directory = self.directory.display();
        while !stop.load(Ordering::Relaxed) {
            match self.record(stop, report) {
                Ok(EndReason::Stopped) => return,
                Ok(EndReason::Lost(why)) => {
                    report(format!("recording waits for the server: {why}"))
                }
                Err(End::Unreachable(why)) => {
                    report(format!("recording waits for the server: {why}"))
                }
                Err(End::Unwritten(why)) => {
                    return report(format!(
                        "recording in {directory} has stopped: {why}. The files written before are complete"
                    ));
                }
            }
            let mut left = RETRY_PAUSE;
            while !left.is_zero() && !stop.load(Ordering::Relaxed) {
                let step = Duration::from_millis(50).min(left);
                thread::sleep(step);
                left -= step;
            }
        }
    }

    fn record(&self, stop: &AtomicBool, report: &dyn Fn(String)) -> Result<EndReason, End> {
        let unreachable = |failure: Failure| End::Unreachable(failure.message);
        let is_segment = self.target.is_segment();
        let (server, mut source, mut client) = self.open().map_err(unreachable)?;
        let uname = rustix::system::uname();
        let options = Options {
            directory: self.directory.clone(),
            host: uname.nodename().to_string_lossy().into_owned(),
            server,
            rate: if is_segment { 10.0 } else { 1.0 },
            write_every: WRITE_EVERY,
            settle_every: SETTLE_EVERY,
            duration: None,
            retention: Retention::default(),
        };
        let words = format!(
            "recorded as {} in {}",
            options.server,
            self.directory.display()
        );
        let unwritten = |error: tare_history::Error| End::Unwritten(error.to_string());
        let recorder = {
            let _one = STARTING.lock();
            Recorder::start(options, stop).map_err(unwritten)?
        };
        report(words);
        let client = client.as_mut().map(|client| client as &mut dyn Query);
        // Growth that this server lacks is left out silently.
        (recorder.record(&mut *source, client, &mut |_| {})).map_err(unwritten)
    }

    /// Opens the target.
    fn open(&self) -> Result<Opened, Failure> {
        if let Some(source) = metrics_source::process_source(&self.target)? {
            let (_, program) = source.tree().root();
            let server = self.server.clone().unwrap_or_else(|| program.to_owned());
            return Ok((server, Box::new(source), None));
        }
        let mut observed = ObservedServer::open(self.target.clone())?;
        let server = match &self.server {
            Some(name) => name.clone(),
            None => server_name(&mut observed)?,
        };
        if let Ok(mut others) = self.others.lock() {
            others.clear();
            others.extend((!self.target.is_segment()).then_some(observed.about.connection_id));
        }
        let source = metrics_source::source(&self.target, Some(&self.others))?;
        let client = SessionClient(observed.into_session());
        Ok((server, source, Some(client)))
    }
}

/// Why a recording ended.
enum End {
    /// The server is not reachable now.
    Unreachable(String),
    /// Its files cannot be written.
    Unwritten(String),
}
