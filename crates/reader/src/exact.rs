//! Exact windows: for a limited time a program at the level `active` counts every event. See
//! docs/exact-windows.md.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tare_layout::control::MAX_EXACT_WINDOW_NS;
use tare_layout::sampling::WAIT;

use crate::attach::Segment;
use crate::error::WriteError;
use crate::mapping::monotonic_ns;

/// The longest exact window.
pub const MAX_LENGTH: Duration = Duration::from_nanos(MAX_EXACT_WINDOW_NS);

/// Why an exact window cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ExactError {
    /// The level is another one.
    #[error(
        "exact windows begin at the level active, and the level is {level}: UPDATE tare.setup_sampling \
         SET sampling = 'active'"
    )]
    NotActive {
        /// The rule of waits.
        level: String,
    },
    /// There is one.
    #[error("another reader has opened an exact window, which ends in {} s", left.as_secs_f32().ceil())]
    Open {
        /// The time until it ends.
        left: Duration,
    },
    /// The segment cannot be changed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// An exact window that this process opened. Dropping it ends it. If this process is killed, the observed
/// program ends the window at its time.
#[derive(Debug)]
pub struct ExactWindow {
    segment: Arc<Segment>,
    until: u64,
}

impl ExactWindow {
    /// Checks whether a window can be opened now.
    ///
    /// # Errors
    /// [`ExactError`].
    pub fn check(segment: &Segment) -> Result<(), ExactError> {
        segment.end_overdue_exact_window()?;
        let control = segment.view().control();
        if let Some(left) = segment.exact_window_left() {
            return Err(ExactError::Open { left });
        }
        match control.returns_to_active() {
            true => Ok(()),
            false => Err(ExactError::NotActive {
                level: control.rule(WAIT).to_string(),
            }),
        }
    }

    /// Opens a window: every event is counted from now on, for so long at most.
    ///
    /// # Errors
    /// [`ExactError`].
    pub fn open(segment: &Arc<Segment>, length: Duration) -> Result<Self, ExactError> {
        let control = segment.writable()?.control();
        let until = loop {
            Self::check(segment)?;
            let until = monotonic_ns() + length.min(MAX_LENGTH).as_nanos() as u64;
            // Another reader may have been faster.
            if control.open_exact_window(until) {
                break until;
            }
        };
        let window = Self {
            segment: Arc::clone(segment),
            until,
        };
        // The level may have changed in between. The window then ends here.
        if !control.returns_to_active() {
            drop(window);
            return Err(ExactError::NotActive {
                level: control.rule(WAIT).to_string(),
            });
        }
        segment.change(|_| ())?;
        Ok(window)
    }

    /// Whether it is still open. The observed program, or a change of a sampling rule, may have ended it.
    pub fn is_open(&self) -> bool {
        self.segment.is_live() && self.exact_until() == self.until
    }

    fn exact_until(&self) -> u64 {
        let control = self.segment.view().control();
        control.exact_until.load(Ordering::SeqCst)
    }
}

impl Drop for ExactWindow {
    fn drop(&mut self) {
        // Of a program that has ended there is nothing to end.
        let _ = self.segment.end_exact_window(self.until);
    }
}

impl Segment {
    /// Whether every event is counted because an exact window is open.
    pub fn has_exact_window(&self) -> bool {
        self.view().control().has_exact_window()
    }

    /// The time until the open exact window ends, whoever opened it; `None` if none is open.
    pub fn exact_window_left(&self) -> Option<Duration> {
        let until = self.view().control().exact_until.load(Ordering::SeqCst);
        (until != 0).then(|| Duration::from_nanos(until.saturating_sub(monotonic_ns())))
    }

    /// Ends a window whose time is over: its reader was killed, and no thread of the program follows changes.
    ///
    /// # Errors
    /// As [`Segment::set_instrument`].
    pub fn end_overdue_exact_window(&self) -> Result<(), WriteError> {
        let until = self.view().control().exact_until.load(Ordering::SeqCst);
        let now = monotonic_ns();
        match until != 0 && (until <= now || until - now > MAX_EXACT_WINDOW_NS) {
            true => self.end_exact_window(until),
            false => Ok(()),
        }
    }

    fn end_exact_window(&self, until: u64) -> Result<(), WriteError> {
        let view = self.writable()?;
        match view.control().end_exact_window(until) {
            true => self.change(|_| ()),
            false => Ok(()),
        }
    }
}
