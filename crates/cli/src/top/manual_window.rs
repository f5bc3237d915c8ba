//! An exact window by hand: for a while, a program at the level `active` counts every event.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_reader::ExactWindow;

use crate::observe::format;
use crate::sql::{Target, local};

/// The length of a window.
const LENGTH: Duration = Duration::from_secs(10);

/// The exact window of a program, if one is open. Dropping it ends the window.
pub struct ManualWindow {
    /// `None` for a history.
    target: Option<Target>,
    open: Option<(ExactWindow, Instant)>,
}

impl ManualWindow {
    /// No window of this target.
    pub fn new(target: Option<Target>) -> Self {
        Self { target, open: None }
    }

    /// Opens a window, or ends the one that is open, and returns a message.
    pub fn toggle(&mut self) -> String {
        self.end_overdue();
        if self.open.take().is_some() {
            return "the exact window has ended".to_owned();
        }
        match self.open() {
            Ok(()) => format!(
                "every event is counted for {} s; e ends the window",
                LENGTH.as_secs()
            ),
            Err(why) => format::line(&why),
        }
    }

    fn open(&mut self) -> Result<(), String> {
        let target = self.target.as_ref();
        let target = target.ok_or("a history has no exact windows: that is the past")?;
        if !target.is_segment() {
            return Err(
                "an exact window needs shared memory: name the program by --pid".to_owned(),
            );
        }
        let segment = local::attach(target.segment()).map_err(|failure| failure.message)?;
        let window = ExactWindow::open(&Arc::new(segment), LENGTH).map_err(|e| e.to_string())?;
        self.open = Some((window, Instant::now() + LENGTH));
        Ok(())
    }

    /// Ends a window whose time is over. The program does so, too, but it may have no thread for that.
    pub fn end_overdue(&mut self) {
        let is_over = |(window, end): &mut (ExactWindow, Instant)| {
            !window.is_open() || Instant::now() >= *end
        };
        drop(self.open.take_if(is_over));
    }
}
