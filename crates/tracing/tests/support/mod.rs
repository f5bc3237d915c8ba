//! A layer, a running Tare, and a reader of it.

#[path = "../../../reader/tests/support/mod.rs"]
mod reading;

use std::ops::{Deref, DerefMut};

use tare_tracing::TareLayer;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::prelude::*;
use tracing_subscriber::util::SubscriberInitExt;

pub use reading::{Random, scale};

/// A running Tare that records everything, and the calling thread's subscriber, until it is dropped.
pub struct Running {
    subscriber: Option<DefaultGuard>,
    tare: reading::Running,
}

impl Running {
    pub fn new(layer: TareLayer) -> Self {
        let mut running = Self {
            subscriber: None,
            tare: reading::Running::new(),
        };
        running.set_layer(layer);
        running
    }

    pub fn set_layer(&mut self, layer: TareLayer) {
        self.set_subscriber(tracing_subscriber::registry().with(layer));
    }

    pub fn set_subscriber(&mut self, subscriber: impl SubscriberInitExt) {
        self.subscriber = None;
        self.subscriber = Some(subscriber.set_default());
    }
}

impl Deref for Running {
    type Target = reading::Running;

    fn deref(&self) -> &reading::Running {
        &self.tare
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut reading::Running {
        &mut self.tare
    }
}
