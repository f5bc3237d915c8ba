//! The key that opens an exact window: for a while, a program at the level `active` counts every event.

use std::sync::Arc;

use tare_history::ManualWindow;

use crate::observe::format;
use crate::sql::{Target, local};

/// The exact window of the program on the screen.
pub struct WindowKey {
    /// `None` for a history.
    target: Option<Target>,
    window: ManualWindow,
}

impl WindowKey {
    /// No window of this target.
    pub fn new(target: Option<Target>) -> Self {
        Self {
            target,
            window: ManualWindow::default(),
        }
    }

    /// Opens a window, or ends the one that is open, and returns a message.
    pub fn toggle(&mut self) -> String {
        if self.window.end() {
            return "the exact window has ended".to_owned();
        }
        match self.open() {
            Ok(()) => format!(
                "every event is counted for {} s; e ends the window",
                ManualWindow::LENGTH.as_secs()
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
        (self.window.open(&Arc::new(segment))).map_err(|error| error.to_string())
    }

    /// Ends a window whose time is over.
    pub fn end_overdue(&mut self) {
        self.window.end_overdue();
    }
}
