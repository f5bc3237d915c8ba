//! How the server is asked to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use polling::Poller;

/// Asks the listener to end.
#[derive(Debug, Clone)]
pub struct Stop {
    poller: Arc<Poller>,
    requested: Arc<AtomicBool>,
}

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Arc::new(Poller::new()?),
            requested: Arc::new(AtomicBool::new(false)),
        })
    }

    /// What the listener waits at.
    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    /// Whether somebody has asked.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire)
    }

    /// Asks.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // An error would mean that the poller is gone, and with it who waits.
        let _ = self.poller.notify();
    }
}
