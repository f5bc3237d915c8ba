//! The request to stop the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use polling::Poller;

/// Wakes the listener and makes it end.
#[derive(Debug, Clone)]
pub struct Stop {
    poller: Arc<Poller>,
    requested: Arc<AtomicBool>,
}

impl Stop {
    /// Nothing is requested yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Arc::new(Poller::new()?),
            requested: Arc::new(AtomicBool::new(false)),
        })
    }

    /// The poller that the listener waits in.
    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    /// Whether a stop is requested.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire)
    }

    /// Requests a stop.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // An error means that the poller is gone, and so the listener.
        let _ = self.poller.notify();
    }
}
