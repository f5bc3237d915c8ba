//! `--record DIR`: what `tare record` keeps is kept while one looks, by its own recorder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tare_history::{EndReason, Options, Recorder, Retention, ServerSource, Source};

use super::source::Others;
use crate::exit::{FAILED, Failure};
use crate::metrics_source::{self, SessionClient};
use crate::observe::ObservedServer;
use crate::sql::Target;

/// As `tare record` without options.
const WRITE_EVERY: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_secs(600);

/// How long a server that has gone is left alone before it is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Recorders put in their place what killed ones have left; of two that start at once one could take the other's for that.
static STARTING: Mutex<()> = Mutex::new(());

/// What is to be recorded, and where.
pub struct Recording {
    /// The server.
    pub target: Target,
    /// What it is called in the files; its program's or product's name if nobody says one.
    pub server: Option<String>,
    /// The directory.
    pub directory: PathBuf,
    /// Whose connections these are is known to who leaves them out.
    pub others: Others,
}

/// Recorders that run; what they have seen is in its place when the value is gone.
#[derive(Default)]
pub struct Recordings {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Recordings {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It has told what went wrong.
            let _ = thread.join();
        }
    }
}

impl Recordings {
    /// One more.
    pub fn start(&mut self, recording: Recording, tell: impl Fn(String) + Send + 'static) {
        let stop = Arc::clone(&self.stop);
        self.threads
            .push(thread::spawn(move || recording.run(&stop, &tell)));
    }
}

/// Recorders that a signal ends, too: before it ends this process.
pub struct Guarded(Arc<Mutex<Option<Recordings>>>);

impl Drop for Guarded {
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
    /// From now on whoever ends us finds what was seen in its place.
    pub fn until_a_signal(self) -> Result<Guarded, Failure> {
        let failed = |error| Failure::new(FAILED, format!("cannot listen to signals: {error}"));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
        let shared = Arc::new(Mutex::new(Some(self)));
        let taken = Arc::clone(&shared);
        thread::spawn(move || {
            for signal in signals.forever() {
                drop(Guarded(Arc::clone(&taken)));
                // It ends this process, unless it cannot.
                let _ = emulate_default_handler(signal);
            }
        });
        Ok(Guarded(shared))
    }
}

impl Recording {
    /// Records until it is told to stop; a server that goes is waited for.
    fn run(&self, stop: &AtomicBool, tell: &dyn Fn(String)) {
        let directory = self.directory.display();
        while !stop.load(Ordering::Relaxed) {
            match self.record(stop, tell) {
                Ok(EndReason::Stopped) => return,
                Ok(EndReason::Lost(why)) => tell(format!("recording waits for the server: {why}")),
                Err(End::Unreachable(why)) => {
                    tell(format!("recording waits for the server: {why}"))
                }
                Err(End::Unwritten(why)) => {
                    return tell(format!(
                        "recording in {directory} has stopped: {why}. What was written before is whole and stays"
                    ));
                }
            }
            let mut left = RETRY;
            while !left.is_zero() && !stop.load(Ordering::Relaxed) {
                let step = Duration::from_millis(50).min(left);
                thread::sleep(step);
                left -= step;
            }
        }
    }

    fn record(&self, stop: &AtomicBool, tell: &dyn Fn(String)) -> Result<EndReason, End> {
        let unreachable = |failure: Failure| End::Unreachable(failure.message);
        let mut observed = ObservedServer::open(self.target.clone()).map_err(unreachable)?;
        let is_segment = self.target.is_segment();
        let mut own = vec![observed.about.connection_id];
        let server = match &self.server {
            Some(name) => name.clone(),
            None if is_segment => {
                let program = observed.text("SELECT program FROM tare.segments");
                let program = program.ok().flatten();
                program.unwrap_or_else(|| observed.about.server())
            }
            None => observed.about.server(),
        };
        let mut source: Box<dyn Source> = match is_segment {
            true => metrics_source::source(&self.target).map_err(unreachable)?,
            false => {
                let other = ObservedServer::open(self.target.clone()).map_err(unreachable)?;
                own.push(other.about.connection_id);
                Box::new(ServerSource::new(SessionClient(other.into_session())))
            }
        };
        if let Ok(mut others) = self.others.lock() {
            others.clear();
            others.extend(own.into_iter().filter(|_| !is_segment));
        }
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
        tell(words);
        let mut asked = SessionClient(observed.into_session());
        // What this server has no table of is left out, as tare record would say.
        (recorder.record(&mut *source, &mut asked, &mut |_| {})).map_err(unwritten)
    }
}

/// Why a recording ended.
enum End {
    /// The server is not there; it may come back.
    Unreachable(String),
    /// Its files cannot be written.
    Unwritten(String),
}
