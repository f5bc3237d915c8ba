//! Exact windows of the target: by the page's button, and by a rule.

use std::time::Instant;

use tare_history::{Due, ManualWindow, Moment, QueryError};
use tare_reader::ExactWindow;

use crate::target::WatchTarget;

/// Prints a line of the log.
pub type Log = Box<dyn FnMut(String) + Send>;

/// The exact window of a target with a segment.
#[derive(Clone, Debug)]
pub struct WindowStatus {
    /// When the open window ends, whoever opened it.
    pub end: Option<Instant>,
    /// Whether this page opened it, by its button or by its rule.
    pub is_own: bool,
    /// Whether the page has a button that opens and ends windows.
    pub has_button: bool,
    /// Why no window can be opened now.
    pub refusal: Option<String>,
}

/// Opens and ends exact windows of the target.
pub struct Windows {
    manual: ManualWindow,
    is_allowed: bool,
    log: Log,
}

impl Windows {
    /// No open window. Whether the page may open windows; lines of the log say when and why windows of a rule
    /// open and end.
    pub fn new(is_allowed: bool, log: Log) -> Self {
        Self {
            manual: ManualWindow::default(),
            is_allowed,
            log,
        }
    }

    /// Opens a window by hand.
    ///
    /// # Errors
    /// A sentence that says why there can be none.
    pub fn open(&mut self, target: &WatchTarget) -> Result<(), String> {
        let segment = target.source.attached();
        let segment = segment.ok_or("an exact window needs shared memory: tare live --pid")?;
        self.manual.open(segment).map_err(|error| error.to_string())
    }

    /// Ends the window that is open by hand or by the rule.
    ///
    /// # Errors
    /// The page has opened none.
    pub fn end(&mut self, target: &mut WatchTarget) -> Result<(), String> {
        let is_manual = self.manual.end();
        match self.end_by_rule(target) || is_manual {
            true => Ok(()),
            false => Err("this page has opened no exact window".to_owned()),
        }
    }

    /// Opens and ends windows by the rule.
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn follow(&mut self, target: &mut WatchTarget, moment: &Moment) -> Result<(), QueryError> {
        self.manual.end_overdue();
        let (Some(windows), Some(server)) = (&mut target.windows, &mut target.server) else {
            return Ok(());
        };
        match windows.follow(moment, &mut **server, &mut self.log)? {
            Due::Nothing => Ok(()),
            Due::Open => windows.open(&mut **server, &mut self.log),
            Due::End => windows.end(&mut **server, &mut self.log),
        }
    }

    /// When a window is to be [ended](Self::end_overdue), if one is open.
    pub fn end_time(&self, target: Option<&WatchTarget>) -> Option<Instant> {
        let by_rule = target.and_then(|target| target.windows.as_ref()?.end_time());
        self.manual.end_time().into_iter().chain(by_rule).min()
    }

    /// Ends windows whose time is over.
    pub fn end_overdue(&mut self, target: Option<&mut WatchTarget>) {
        self.manual.end_overdue();
        if let Some(target) = target
            && let Some(end) = target
                .windows
                .as_ref()
                .and_then(|windows| windows.end_time())
            && end <= Instant::now()
        {
            self.end_by_rule(target);
        }
    }

    /// The state of the target's window; `None` if it has no segment.
    pub fn status(&self, target: &WatchTarget) -> Option<WindowStatus> {
        let segment = target.source.attached()?;
        let has_button = self.is_allowed && segment.writable().is_ok();
        let error = (has_button.then(|| ExactWindow::check(segment))).and_then(Result::err);
        let left = segment.exact_window_left();
        let is_by_rule = target
            .windows
            .as_ref()
            .is_some_and(|windows| windows.is_open());
        Some(WindowStatus {
            end: left.map(|left| Instant::now() + left),
            is_own: left.is_some() && (self.manual.end_time().is_some() || is_by_rule),
            has_button,
            refusal: error.map(|error| error.to_string()),
        })
    }

    /// Ends the window of the rule. Returns whether one was open.
    fn end_by_rule(&mut self, target: &mut WatchTarget) -> bool {
        let windows = target.windows.as_mut().filter(|windows| windows.is_open());
        let (Some(windows), Some(server)) = (windows, &mut target.server) else {
            return false;
        };
        // The window has ended all the same, and the next moment reports a lost target.
        if let Err(QueryError::Lost(why) | QueryError::Refused(why)) =
            windows.end(&mut **server, &mut self.log)
        {
            (self.log)(format!("the cost of the exact window is not known: {why}"));
        }
        true
    }
}
