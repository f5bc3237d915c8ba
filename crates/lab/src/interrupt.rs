//! Ctrl-C, SIGTERM and a closed terminal: heard as a flag, so that everything is put away in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::trouble::Trouble;

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
    pub fn heard() -> io::Result<Self> {
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
    /// [`Trouble::Interrupted`].
    pub fn check(&self) -> Result<(), Trouble> {
        match self.signal() {
            None => Ok(()),
            Some(_) => Err(Trouble::Interrupted),
        }
    }

    /// Asks until there is an answer, a signal, or `patience` is over (`None`).
    ///
    /// # Errors
    /// [`Trouble::Interrupted`], or what `ask` failed with.
    pub fn wait<T>(
        &self,
        patience: Duration,
        mut ask: impl FnMut() -> Result<Option<T>, Trouble>,
    ) -> Result<Option<T>, Trouble> {
        let start = Instant::now();
        loop {
            self.check()?;
            if let Some(answer) = ask()? {
                return Ok(Some(answer));
            }
            if start.elapsed() >= patience {
                return Ok(None);
            }
            std::thread::sleep(STEP);
        }
    }
}
