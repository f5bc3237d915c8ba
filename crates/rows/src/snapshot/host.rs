//! The segment under a snapshot: its clock, and how far its tables are in use.

use std::sync::Arc;

use tare_layout::View;
use tare_reader::{Banks, Clock, Segment};

/// The host that wrote, or writes, the segment.
pub(super) struct Host {
    pub segment: Arc<Segment>,
    pub clock: Clock,
}

impl Host {
    pub fn new(segment: Arc<Segment>) -> Self {
        let clock = segment.clock();
        Host { segment, clock }
    }

    /// Whether a size is set to 0, so that its tables are empty.
    pub fn has_none_of(&self, size: usize) -> bool {
        self.view().control().has_none_of(size)
    }

    pub fn view(&self) -> View<'_> {
        self.segment.view()
    }

    pub fn banks(&self) -> Banks<'_> {
        Banks::new(self.view(), self.clock.live)
    }

    /// A count that the segment gives, held to what its limits allow.
    pub fn used(&self, count: u32, limit: usize) -> usize {
        (count as usize).min(limit)
    }

    /// A moment in microseconds since 1970.
    pub fn unix_us(&self, ticks: u64) -> u64 {
        self.clock.unix_ns(ticks) / 1000
    }
}
