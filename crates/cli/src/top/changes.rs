//! What changed of the statement on the screen, from a history. A thread of its own reads it, so that neither keys nor
//! answers wait.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use tare_live::{ChangedFigure, StatementChanges, StatementComparison};

use super::drills::EXECUTIONS;
use super::prepared::is_prepared;
use super::source::Place;
use super::view::View;
use crate::diff;
use crate::observe::format;

/// Changes are read again after so much time of the server or of the history.
const READ_EVERY_MS: i64 = 60_000;

/// What a screen without a history says.
const NO_HISTORY: &str =
    "what changed: record the server (tare record --dir DIR), and give --history DIR";

/// What it says until the history is read.
const READING: &str = "what changed: reading the history";

/// A history of a server that is watched.
pub struct ComparedHistory {
    place: diff::Place,
    /// The server's name, which selects one of several servers of the history.
    name: String,
    /// The host and the server that were selected.
    selected: OnceLock<(String, String)>,
}

impl ComparedHistory {
    /// A history, and the name of the server.
    pub fn new(place: diff::Place, name: String) -> Self {
        Self {
            place,
            name,
            selected: OnceLock::new(),
        }
    }

    /// What changed of a statement until a time.
    fn read(&self, digest: &str, to: i64) -> Vec<String> {
        let (host, server) = match self.selected.get() {
            Some(selected) => selected,
            None => match diff::select_server(&self.place, &self.name, to) {
                Ok(selected) => self.selected.get_or_init(|| selected),
                Err(failure) => return vec![format!("what changed: {}", failure.message)],
            },
        };
        let place = diff::Place {
            host: Some(host.clone()),
            server: Some(server.clone()),
            ..self.place.clone()
        };
        lines(&diff::read_changes(&place, digest, to))
    }
}

/// A statement and a time in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Subject {
    digest: String,
    to: i64,
}

/// What a thread has read.
#[derive(Debug)]
pub struct Changes {
    of: Subject,
    lines: Vec<String>,
}

/// Follows the statement on a screen.
pub struct ChangesReader {
    history: Option<Arc<ComparedHistory>>,
    is_reading: bool,
    /// What was read last.
    last: Option<Changes>,
}

impl ChangesReader {
    /// For a history, if there is one.
    pub fn new(history: Option<ComparedHistory>) -> Self {
        Self {
            history: history.map(Arc::new),
            is_reading: false,
            last: None,
        }
    }

    /// Reads what changed of the statement on the screen, if that is due. `send` passes the result on, and
    /// [`Self::apply`] takes it.
    pub fn follow(&mut self, view: &mut View, send: impl FnOnce(Changes) + Send + 'static) {
        view.changes = Vec::new();
        let Some(digest) = digest(view.place()) else {
            return;
        };
        let Some(history) = &self.history else {
            view.changes.push(NO_HISTORY.to_owned());
            return;
        };
        let until = view.answer().and_then(|answer| answer.until_ms);
        let to = until.unwrap_or_else(now_ms);
        let last = self.last.as_ref().filter(|last| last.of.digest == digest);
        match last {
            Some(last) => view.changes.clone_from(&last.lines),
            None => view.changes.push(READING.to_owned()),
        }
        let is_due = last.is_none_or(|last| (last.of.to - to).abs() >= READ_EVERY_MS);
        // The end of a history's interval is known with its first answer.
        if !is_due || self.is_reading || view.answer().is_none() {
            return;
        }
        self.is_reading = true;
        let history = Arc::clone(history);
        let of = Subject { digest, to };
        thread::spawn(move || {
            let lines = history.read(&of.digest, of.to);
            send(Changes { of, lines });
        });
    }

    /// Takes what was read.
    pub fn apply(&mut self, changes: Changes) {
        self.is_reading = false;
        self.last = Some(changes);
    }
}

/// The digest of the statement that was drilled down from.
fn digest(place: &Place) -> Option<String> {
    let is_statement =
        std::ptr::eq(place.sheet, &raw const EXECUTIONS) && !is_prepared(&place.keys);
    place.keys.get(1).filter(|_| is_statement)?.clone()
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
}

/// Lines for the screen: each figure that changed, and the names of the others.
fn lines(changes: &StatementChanges) -> Vec<String> {
    let Some(after) = changes.after else {
        let why = changes.why.as_deref().unwrap_or_default();
        return vec![format!("what changed: {why}")];
    };
    let mut lines = Vec::new();
    for one in &changes.comparisons {
        lines.extend(comparison_lines(one, after));
    }
    lines
}

fn comparison_lines(one: &StatementComparison, after: [i64; 2]) -> Vec<String> {
    let time = |ms: i64| format::in_utc(ms)[..16].to_owned();
    let heading = format!(
        "what changed from {} (from {}) to {} UTC:",
        one.title,
        time(one.before[0]),
        time(after[1]),
    );
    let figures = match &one.figures {
        Ok(figures) => figures,
        Err(why) => return vec![format!("{heading} not compared: {why}")],
    };
    let (changed, others): (Vec<_>, Vec<_>) = figures.iter().partition(|figure| figure.is_changed);
    let remarks = one.remark.iter().chain(&one.control);
    let heading = std::iter::once(heading).chain(remarks.cloned());
    let mut lines = vec![heading.collect::<Vec<_>>().join(" ")];
    let changed = changed.into_iter();
    lines.extend(changed.map(|figure| {
        let ChangedFigure {
            name,
            before,
            after,
            change,
            ..
        } = figure;
        format!("- {name}: {before}, then {after}: {change}")
    }));
    let name = |figure: &&ChangedFigure| figure.name.clone();
    let (unknown, unchanged): (Vec<_>, Vec<_>) =
        others.iter().partition(|figure| figure.change.is_empty());
    for (what, figures) in [("no change found", unchanged), ("too few calls", unknown)] {
        if !figures.is_empty() {
            let names: Vec<String> = figures.into_iter().map(name).collect();
            lines.push(format!("- {what}: {}", names.join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_changed_have_lines_and_others_are_named() {
        let figure = |name: &str, change: &str, is_changed| ChangedFigure {
            name: name.to_owned(),
            before: "1 ms".to_owned(),
            after: "2 ms".to_owned(),
            change: change.to_owned(),
            is_changed,
        };
        let comparison = |title: &str, figures| StatementComparison {
            title: title.to_owned(),
            before: [60_000, 3_600_000],
            figures,
            remark: Some("The plan changed.".to_owned()),
            control: None,
        };
        let figures = vec![
            figure("time/call", "+100.0 % [+90.0 %, +110.0 %]", true),
            figure("calls/s", "no change found [-1.0 %, +1.0 %]", false),
            figure("errors/call", "", false),
            figure("rows/call", "no change found [-1.0, +1.0]", false),
        ];
        let why = "nothing was recorded".to_owned();
        let changes = StatementChanges {
            after: Some([3_600_000, 7_200_000]),
            comparisons: vec![
                comparison("the hour before", Ok(figures)),
                comparison("the same hour of the day before", Err(why)),
            ],
            ..StatementChanges::default()
        };
        assert_eq!(
            lines(&changes),
            [
                "what changed from the hour before (from 1970-01-01 00:01) to 1970-01-01 02:00 UTC: The plan changed.",
                "- time/call: 1 ms, then 2 ms: +100.0 % [+90.0 %, +110.0 %]",
                "- no change found: calls/s, rows/call",
                "- too few calls: errors/call",
                "what changed from the same hour of the day before (from 1970-01-01 00:01) to 1970-01-01 02:00 UTC: \
                 not compared: nothing was recorded",
            ]
        );
        let nothing = StatementChanges {
            why: Some("nothing was recorded".to_owned()),
            ..StatementChanges::default()
        };
        assert_eq!(lines(&nothing), ["what changed: nothing was recorded"]);
    }
}
