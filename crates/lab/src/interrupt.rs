//! Ctrl-C, SIGTERM and a closed terminal: heard as a flag, so that everything is put away in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CellError;

/// How long a wait sleeps between two looks.
const STEP: Duration = Duration::from_millis(10);

/// The flag. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Hears the signals from now on.
    ///
    /// # Errors
    /// The handlers could not be installed.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::clone(&interrupt.0);
            signal_hook::flag::register_usize(signal, flag, signal as usize)?;
        }
        Ok(interrupt)
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as u8),
        }
    }

    /// An error once a signal came.
    ///
    /// # Errors
    /// [`CellError::Interrupted`].
    pub fn check(&self) -> Result<(), CellError> {
        match self.signal() {
            None => Ok(()),
            Some(_) => Err(CellError::Interrupted),
        }
    }

    /// Asks until there is an answer, a signal, or `timeout` is over (`None`).
    ///
    /// # Errors
    /// [`CellError::Interrupted`], or what `poll` failed with.
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
            std::thread::sleep(STEP);
        }
    }
}
