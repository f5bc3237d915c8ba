//! Edges: adjacent events share the clock read between them, unless a setting was changed there.

use std::sync::atomic::Ordering;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::slot::STATEMENT_DEPTH;

use super::clock;
use super::local::Local;

impl Local {
    /// The start of the running stage, if it is timed by the counter and other events may share it; else
    /// 0.
    #[inline(always)]
    pub fn stage_began(&self) -> u64 {
        let (_, bits) = self.stage.head();
        match bits & (effective::TIME | effective::OTHER_CLOCK) {
            effective::TIME => self.shared_start(self.stage.start.get()),
            _ => 0,
        }
    }

    /// The start of the innermost statement, if other events may share it; else 0.
    #[inline(always)]
    pub fn statement_began(&self) -> u64 {
        match self.statements.get() {
            0 => 0,
            n => self.shared_start(self.statement_starts[n.min(STATEMENT_DEPTH) - 1].get()),
        }
    }

    /// The start of an open event, 0 if a setting was changed since.
    #[inline(always)]
    pub fn shared_start(&self, start: u64) -> u64 {
        self.forget_stale_edges();
        match start > self.settings_from.get() {
            true => start,
            false => 0,
        }
    }

    /// Forgets the edges if a setting was changed since they were stored.
    #[inline(always)]
    pub fn forget_stale_edges(&self) {
        // SAFETY: in the segment that `engine` keeps mapped.
        let version = unsafe { (*self.settings).load(Ordering::Relaxed) };
        // Equal: the version only grows, and an edge is stored after one was last read.
        if version != self.edge_version.get() {
            self.forget_edges(version);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn forget_edges(&self, version: u64) {
        self.edge_version.set(version);
        self.settings_from.set(clock::now());
        self.edge.set(0);
        self.idle_end.set(0);
    }

    /// The clock at the thread's edge, or now.
    #[inline(always)]
    pub fn clock_at_edge(&self, bits: u8, event_type: EventType) -> u64 {
        self.forget_stale_edges();
        match self.edge.replace(0) {
            edge if edge != 0 && bits & effective::OTHER_CLOCK == 0 => edge,
            _ => self.clock(bits, event_type),
        }
    }

    /// The end of an idle time directly before, or now.
    #[inline(always)]
    pub fn clock_after_idle(&self, bits: u8, event_type: EventType) -> u64 {
        self.forget_stale_edges();
        let (edge, idle_end) = (self.edge.replace(0), self.idle_end.replace(0));
        match edge {
            edge if edge != 0 && edge == idle_end && bits & effective::OTHER_CLOCK == 0 => edge,
            _ => self.clock(bits, event_type),
        }
    }

    /// Sets the thread's edge to `now`, if that was read by the counter.
    #[inline(always)]
    pub fn set_edge(&self, bits: u8, now: u64) {
        self.edge.set(if bits & effective::OTHER_CLOCK == 0 {
            now
        } else {
            0
        });
    }

    /// Sets the end of an idle time, for the statement that follows. A setting that was changed since then
    /// applies to events that begin later.
    pub fn set_idle_end(&self, moment: u64) {
        self.forget_stale_edges();
        if moment > self.settings_from.get() {
            self.edge.set(moment);
            self.idle_end.set(moment);
        }
    }
}
