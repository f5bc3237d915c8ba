//! An exact window by hand: for a while, a program at the level `active` counts every event.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_reader::{ExactError, ExactWindow, Segment};

/// The exact window that somebody opened by hand, if it is open. Dropping it ends the window.
#[derive(Debug, Default)]
pub struct ManualWindow {
    open: Option<(ExactWindow, Instant)>,
}

impl ManualWindow {
    /// The length of a window.
    pub const LENGTH: Duration = Duration::from_secs(10);

    /// Opens a window of a program.
    ///
    /// # Errors
    /// [`ExactError`].
    pub fn open(&mut self, segment: &Arc<Segment>) -> Result<(), ExactError> {
        let window = ExactWindow::open(segment, Self::LENGTH)?;
        self.open = Some((window, Instant::now() + Self::LENGTH));
        Ok(())
    }

    /// Ends the window. Returns whether one was open.
    pub fn end(&mut self) -> bool {
        self.end_overdue();
        self.open.take().is_some()
    }

    /// Ends a window whose time is over. The program does so, too, but it may have no thread for that.
    pub fn end_overdue(&mut self) {
        let is_over = |(window, end): &mut (ExactWindow, Instant)| {
            !window.is_open() || Instant::now() >= *end
        };
        drop(self.open.take_if(is_over));
    }

    /// When the window is to be [ended](Self::end_overdue), if one is open.
    pub fn end_time(&self) -> Option<Instant> {
        self.open.as_ref().map(|(_, end)| *end)
    }
}
