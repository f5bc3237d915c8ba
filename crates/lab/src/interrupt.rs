//! SIGINT, SIGTERM and SIGHUP set a flag, so that a run can clean up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CellError;

/// The interval at which a wait polls.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The flag, which clones share.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// A handler cannot be installed.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::clone(&interrupt.0);
            signal_hook::flag::register_usize(signal, flag, signal as usize)?;
        }
        Ok(interrupt)
    }

    /// The signal that was received, if any.
    pub fn signal(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as u8),
        }
    }

    /// Fails once a signal was received.
    ///
    /// # Errors
    /// [`CellError::Interrupted`].
    pub fn check(&self) -> Result<(), CellError> {
        match self.signal() {
            None => Ok(()),
            Some(_) => Err(CellError::Interrupted),
        }
    }

    /// Polls until there is an answer, a signal, or the timeout is over (`None`).
    ///
    /// # Errors
    /// [`CellError::Interrupted`], or the error of `poll`.
    pub fn wait<T>(
        &self,
        timeout: Duration,
        mut poll: impl FnMut() -> Result<Option<T>, CellError>,
    ) -> Result<Option<T>, CellError> {
        let start = Instant::now();
        loop {
            self.check()?;
            if let Some(answer) = poll()? {
                return Ok(Some(answer));
            }
            if start.elapsed() >= timeout {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
