//! Changes the settings of a running program (the setup tables), with immediate effect.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::class::EVENT_TYPES;
use tare_layout::control::{
    CONSUMERS, THREAD, Timer, effective, host, is_instrumented, setup, thread_mask,
};

use crate::attach::Segment;
use crate::classes;
use crate::error::WriteError;
use crate::mapping;

impl Segment {
    pub(crate) fn change(&self, change: impl FnOnce(View<'_>)) -> Result<(), WriteError> {
        let view = self.writable()?;
        change(view);
        view.controls()
            .recompute(|class| classes::kind(view, class));
        notify_host(view);
        Ok(())
    }

    /// Sets ENABLED and TIMED of an instrument; `None` leaves a column as it is.
    ///
    /// # Errors
    /// [`WriteError`]: the writer has ended or is another user's, or there is no such class.
    pub fn set_instrument(
        &self,
        class: usize,
        enabled: Option<bool>,
        timed: Option<bool>,
    ) -> Result<(), WriteError> {
        if classes::kind(self.view(), class).is_none() {
            return Err(gone_error("instrument", class as u64));
        }
        self.change(|view| {
            let cell = &view.controls().setup[class];
            for (bit, on) in [(setup::ENABLED, enabled), (setup::TIMED, timed)] {
                match on {
                    Some(true) => cell.fetch_or(bit, Ordering::SeqCst),
                    Some(false) => cell.fetch_and(!bit, Ordering::SeqCst),
                    None => continue,
                };
            }
        })
    }

    /// Switches a consumer, by its number in [`CONSUMERS`].
    ///
    /// Without `thread_instrumentation`, sums by thread, account, user and host are frozen.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`]; of `thread_instrumentation`, as [`Segment::truncate_classes`].
    pub fn set_consumer(&self, consumer: usize, on: bool) -> Result<(), WriteError> {
        if consumer >= CONSUMERS.len() {
            return Err(gone_error("consumer", consumer as u64));
        }
        if 1 << consumer == THREAD {
            self.switch_thread_sums(on)?;
            return self.change(|_| ());
        }
        self.change(|view| {
            let consumers = &view.control().consumers;
            match on {
                true => consumers.fetch_or(1 << consumer, Ordering::SeqCst),
                false => consumers.fetch_and(!(1 << consumer), Ordering::SeqCst),
            };
        })
    }

    /// Sets the seconds after which any newer statement replaces a digest's sample, 0 = never.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_digest_sample_age(&self, seconds: u64) -> Result<(), WriteError> {
        let view = self.writable()?;
        let per_second = view.header().ticks_per_second.load(Ordering::Relaxed);
        let age = &view.control().digest_sample_age;
        age.store(per_second.saturating_mul(seconds), Ordering::Relaxed);
        Ok(())
    }

    /// Chooses the timer of an event type, by the number of [`tare_layout::class::EventType`].
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_timer(&self, event_type: usize, timer: Timer) -> Result<(), WriteError> {
        if event_type >= EVENT_TYPES {
            return Err(gone_error("event type", event_type as u64));
        }
        self.change(|view| {
            view.control().timers[event_type].store(timer as u8, Ordering::SeqCst);
        })
    }

    /// Sets ENABLED and HISTORY of a class of threads, for new threads; `None` leaves a column as it is.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn set_thread_class(
        &self,
        class: usize,
        enabled: Option<bool>,
        history: Option<bool>,
    ) -> Result<(), WriteError> {
        if classes::kind(self.view(), class) != Some(tare_layout::Kind::Thread) {
            return Err(gone_error("thread class", class as u64));
        }
        self.change(|view| {
            let cell = &view.controls().setup[class];
            for (bit, on) in [(setup::ENABLED, enabled), (setup::HISTORY, history)] {
                match on {
                    Some(true) => cell.fetch_or(bit, Ordering::SeqCst),
                    Some(false) => cell.fetch_and(!bit, Ordering::SeqCst),
                    None => continue,
                };
            }
        })
    }

    /// Sets INSTRUMENTED and HISTORY of the thread with this id in this slot; `None` leaves a column as it
    /// is.
    ///
    /// # Errors
    /// [`WriteError::Gone`] if the thread has ended; otherwise as [`Segment::set_instrument`].
    pub fn set_thread(
        &self,
        slot: usize,
        id: u64,
        instrumented: Option<bool>,
        history: Option<bool>,
    ) -> Result<(), WriteError> {
        let view = self.writable()?;
        let lives = slot < view.geometry().limits.threads
            && view.slot(slot).thread_id.load(Ordering::Relaxed) == id;
        if !lives {
            return Err(gone_error("thread", id));
        }
        let mask = &view.thread_masks()[slot];
        let before = mask.load(Ordering::SeqCst);
        let instrumented = instrumented.unwrap_or(is_instrumented(before));
        let history = history.unwrap_or(before & effective::HISTORY != 0);
        let consumers = view.control().consumers.load(Ordering::SeqCst);
        let value = thread_mask(instrumented, history, consumers);
        view.control().announce_change();
        mask.store(value, Ordering::SeqCst);
        Ok(())
    }
}

/// How long to wait for a host to follow a change. It sleeps in a futex, so it only has to be scheduled. A
/// host that is stopped or hangs may take longer.
const HOST_TIMEOUT: Duration = Duration::from_millis(200);

/// Notifies a host that bypasses unused calls of a change, and waits until it has followed.
fn notify_host(view: View<'_>) {
    let control = view.control();
    // A host that has not followed the last change most likely hangs: an UPDATE of a thousand rows waits
    // once.
    let is_behind =
        control.followed.load(Ordering::SeqCst) != control.changes.load(Ordering::SeqCst);
    let change = control
        .changes
        .fetch_add(1, Ordering::SeqCst)
        .wrapping_add(1);
    if control.host.load(Ordering::SeqCst) & host::FOLLOWS == 0 {
        return;
    }
    mapping::wake(&control.changes);
    if is_behind {
        return;
    }
    let deadline = Instant::now() + HOST_TIMEOUT;
    let has_followed = || {
        let behind = change.wrapping_sub(control.followed.load(Ordering::SeqCst));
        behind.cast_signed() <= 0
    };
    while !has_followed() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(20));
    }
}

pub(crate) fn gone_error(what: &'static str, number: u64) -> WriteError {
    WriteError::Gone { what, number }
}
