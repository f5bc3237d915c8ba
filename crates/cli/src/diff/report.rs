//! The result as text and as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use tare_live::{ChangedFigure, DIFF_HEADS, DiffReport, Section};

use super::blocking::BlockingChange;
use super::comparison::{
    Comparison, Difference, Figure, LOAD, MEASURES, Measure, Presence, Subject,
};
use super::locks::{Holder, Lock};
use super::plans::{Plans, StatementPlans};
use super::recording::Recording;
use crate::observe::format::{self, in_utc};
use crate::observe::table::{Side, lines};

/// Activities of a subject that are printed as text.
const MAX_ACTIVITIES: usize = 3;

/// Below this part of a window, what was recorded is reported.
const COMPLETE: f64 = 0.95;

/// A comparison and its results.
pub struct Report {
    /// What was compared.
    pub comparison: Comparison,
    /// All statements together.
    pub total: Subject,
    /// Each statement, in the order of what it adds or saves.
    pub statements: Vec<Subject>,
    /// Waits for locks: all together and for each lock; `None` if there were none.
    pub blocking: Option<(BlockingChange, Vec<BlockingChange>)>,
    /// The plans of statements.
    pub plans: Plans,
    /// The texts of digests.
    pub texts: BTreeMap<String, String>,
}

impl Report {
    /// The text, with so many statements and locks.
    pub fn text(&self, rows: usize) -> String {
        let report = self.for_people(rows);
        let mut text = report.lines;
        let sides = [Side::Left, Side::Right, Side::Right, Side::Left];
        let heads: Vec<(String, Side)> = DIFF_HEADS
            .map(str::to_owned)
            .into_iter()
            .zip(sides)
            .collect();
        for section in report.sections {
            text.extend([String::new(), section.heading]);
            let rows: Vec<Vec<String>> = (section.rows.into_iter())
                .map(|[name, figures @ ..]| {
                    std::iter::once(format!("  {name}"))
                        .chain(figures)
                        .collect()
                })
                .collect();
            text.extend(lines(&heads, &rows));
            text.extend(section.lines.iter().map(|line| format!("  {line}")));
        }
        text.push(String::new());
        text.extend(report.notes);
        text.join("\n")
    }

    /// What changed, with so many statements and locks.
    pub fn for_people(&self, rows: usize) -> DiffReport {
        let (before, after) = (&self.comparison.before, &self.comparison.after);
        let control = match self.comparison.controls.len() {
            0 => "none".to_owned(),
            1 => "the same hours of 1 day before, whose change is subtracted".to_owned(),
            days => {
                format!("the same hours of {days} days before, whose mean change is subtracted")
            }
        };
        let mut report = DiffReport {
            windows: [before, after].map(|recording| recording.window.to_string()),
            lines: vec![
                format!("before   {}", describe(before)),
                format!("after    {}", describe(after)),
                format!("control  {control}"),
            ],
            sections: vec![Section {
                heading: "All statements".to_owned(),
                rows: self.rows(&self.total, true),
                lines: Vec::new(),
            }],
            notes: Vec::new(),
        };
        let is_changed = |subject: &&Subject| subject.is_changed();
        let changed: Vec<&Subject> = self.statements.iter().filter(is_changed).collect();
        report
            .sections
            .extend(changed.iter().take(rows).map(|subject| Section {
                heading: self.heading(subject),
                rows: self.rows(subject, subject.presence != Presence::Both),
                lines: self.plan_lines(subject),
            }));
        let mut note = |name: &str, changed: usize, all: usize| {
            if changed > rows {
                let less = changed - rows;
                let note = format!("{name} that changed less, see --rows: {less}");
                report.notes.push(note);
            }
            let others = all - changed;
            report
                .notes
                .push(format!("{name} without a change: {others}"));
        };
        note("Statements", changed.len(), self.statements.len());
        if let Some((total, locks)) = &self.blocking {
            let is_changed = |change: &&BlockingChange| change.is_changed();
            let changed: Vec<&BlockingChange> = locks.iter().filter(is_changed).collect();
            note("Locks", changed.len(), locks.len());
            report.sections.push(self.blocking_section(total));
            let changed = changed.into_iter().take(rows);
            report
                .sections
                .extend(changed.map(|change| self.blocking_section(change)));
        }
        report
    }

    /// What a statement adds, and its text.
    fn heading(&self, subject: &Subject) -> String {
        let (schema, digest) = match &subject.key {
            Some((schema, digest)) => (schema.as_deref(), digest.as_str()),
            None => (None, ""),
        };
        let schema = schema.map_or(String::new(), |schema| format!("{schema}: "));
        let name = format!("{schema}{}", self.text_of(digest));
        let added = added(subject.added, subject.has_interval, subject.presence);
        format!("{added}{}", format::line(&name))
    }

    /// The plans of a statement.
    fn plan_lines(&self, subject: &Subject) -> Vec<String> {
        let plans = subject.key.as_ref().and_then(|key| self.plans.get(key));
        let lines = plans.map(StatementPlans::lines).unwrap_or_default();
        let printable = |line: String| {
            let text = line.trim_start();
            format!("{}{}", &line[..line.len() - text.len()], format::line(text))
        };
        lines.into_iter().map(printable).collect()
    }

    /// The text of a digest, if it is stored.
    fn text_of<'a>(&'a self, digest: &'a str) -> &'a str {
        self.texts.get(digest).map_or(digest, String::as_str)
    }

    /// How many sessions waited for a lock, or for all locks.
    fn blocking_section(&self, change: &BlockingChange) -> Section {
        let sessions = &change.sessions;
        let measure = &MEASURES[LOAD];
        let heading = match &change.lock {
            None => "All waits for locks of other sessions".to_owned(),
            Some(lock) => {
                let holder = match &lock.holder {
                    Holder::Unknown => "holder not recorded",
                    Holder::WithoutStatement => "held by a session without a statement",
                    Holder::Digest(digest) => &format!("held by {}", self.text_of(digest)),
                    Holder::Text(text) => &format!("held by {text}"),
                };
                let name = format::line(&format!("{}, {holder}", lock.name()));
                let has_interval = sessions.change.is_some();
                format!(
                    "{}{name}",
                    added(change.added, has_interval, change.presence)
                )
            }
        };
        let row = [
            "blocked sessions".to_owned(),
            value(measure, sessions.before),
            value(measure, sessions.after),
            self.change(measure, sessions),
        ];
        Section {
            heading,
            rows: vec![row],
            lines: Vec::new(),
        }
    }

    /// All figures of all statements together.
    pub fn total_figures(&self) -> Vec<ChangedFigure> {
        self.figures(&self.total, true)
    }

    /// The rows of a subject: all that changed, or simply all.
    fn rows(&self, subject: &Subject, has_all: bool) -> Vec<[String; 4]> {
        let figures = self.figures(subject, has_all).into_iter();
        let row = |one: ChangedFigure| [one.name, one.before, one.after, one.change];
        figures.map(row).collect()
    }

    /// The figures of a subject: all that changed, or simply all.
    fn figures(&self, subject: &Subject, has_all: bool) -> Vec<ChangedFigure> {
        let describe = |name: String, measure: &Measure, figure: &Figure| ChangedFigure {
            name,
            before: value(measure, figure.before),
            after: value(measure, figure.after),
            change: self.change(measure, figure),
            is_changed: figure.is_changed(),
        };
        let mut figures = Vec::new();
        let measures = MEASURES.iter().zip(&subject.figures).enumerate();
        for (number, (measure, figure)) in measures {
            if has_all || number == LOAD || figure.is_changed() {
                figures.push(describe(measure.title.to_owned(), measure, figure));
            }
        }
        let changed = subject.activities.iter();
        let changed = changed.filter(|(_, figure)| has_all || figure.is_changed());
        for (name, figure) in changed.take(MAX_ACTIVITIES) {
            // Waits are named by their instruments, and states by themselves.
            let name = match name.contains('/') {
                true => format!("in {}", format::line(name)),
                false => format::line(name),
            };
            figures.push(describe(name, &MEASURES[LOAD], figure));
        }
        figures
    }

    /// The change, if there is one, and whether it lacks the control that others have.
    fn change(&self, measure: &Measure, figure: &Figure) -> String {
        let Some(change) = &figure.change else {
            return String::new();
        };
        let lacks_control = figure.control_days == 0 && !self.comparison.controls.is_empty();
        let control = if lacks_control { ", control none" } else { "" };
        format!("{}{control}", change_text(measure, change))
    }

    /// One object, with at most so many statements and activities of each. docs/schemas/diff.json describes it.
    pub fn json(&self, rows: usize, activities: usize) -> Json {
        let statement = |subject: &Subject| {
            let mut object = Map::new();
            if let Some((schema, digest)) = &subject.key {
                object.insert("schema".to_owned(), json!(schema));
                object.insert("digest".to_owned(), json!(digest));
                object.insert("text".to_owned(), json!(self.texts.get(digest)));
                let plans = (subject.key.as_ref()).and_then(|key| self.plans.get(key));
                object.insert("plan".to_owned(), json!(plans.map(StatementPlans::json)));
            }
            object.insert("presence".to_owned(), json!(subject.presence.name()));
            object.insert("is_changed".to_owned(), json!(subject.is_changed()));
            let added = subject.added;
            let interval = interval(added, subject.has_interval);
            object.insert("added_seconds".to_owned(), json!(added.value));
            object.insert("added_seconds_interval".to_owned(), json!(interval));
            for (measure, figure) in MEASURES.iter().zip(&subject.figures) {
                object.insert(measure.name.to_owned(), figure_json(figure));
            }
            let all = subject.activities.iter().take(activities);
            let activities = all.map(|(name, figure)| {
                let mut object = figure_json(figure);
                object["name"] = json!(name);
                object
            });
            object.insert("activities".to_owned(), activities.collect());
            Json::Object(object)
        };
        json!({
            "before": recording_json(&self.comparison.before),
            "after": recording_json(&self.comparison.after),
            "control_days": self.comparison.controls.len(),
            "all": statement(&self.total),
            "statements": self.statements.iter().take(rows).map(statement).collect::<Vec<_>>(),
            "more_statements": self.statements.len().saturating_sub(rows),
            "blocking": self.blocking.as_ref().map(|(total, locks)| json!({
                "all": self.blocking_json(total),
                "locks": locks.iter().take(rows).map(|change| self.blocking_json(change)).collect::<Vec<_>>(),
                "more_locks": locks.len().saturating_sub(rows),
            })),
        })
    }

    fn blocking_json(&self, change: &BlockingChange) -> Json {
        let mut object = change
            .lock
            .as_ref()
            .map_or_else(Map::new, |lock| self.lock_json(lock));
        let added = change.added;
        let figures = json!({
            "presence": change.presence.name(),
            "is_changed": change.is_changed(),
            "added_seconds": added.value,
            "added_seconds_interval": interval(added, change.sessions.change.is_some()),
            "blocked_sessions": figure_json(&change.sessions),
        });
        object.extend(figures.as_object().cloned().unwrap_or_default());
        Json::Object(object)
    }

    fn lock_json(&self, lock: &Lock) -> Map<String, Json> {
        let (digest, text) = match &lock.holder {
            Holder::Digest(digest) => (Some(digest), self.texts.get(digest)),
            Holder::Text(text) => (None, Some(text)),
            Holder::Unknown | Holder::WithoutStatement => (None, None),
        };
        let object = json!({
            "kind": lock.kind,
            "object_schema": lock.object_schema,
            "object": lock.object,
            "is_holder_known": lock.holder != Holder::Unknown,
            "holder_digest": digest,
            "holder_text": text,
        });
        object.as_object().cloned().unwrap_or_default()
    }
}

/// The seconds that something adds, and in which windows it is.
fn added(added: Difference, has_interval: bool, presence: Presence) -> String {
    let interval = match has_interval {
        true => format!(" [{:+.2}, {:+.2}]", added.low, added.high),
        false => String::new(),
    };
    let presence = match presence {
        Presence::Both => String::new(),
        Presence::New | Presence::Vanished => format!("{}: ", presence.name()),
    };
    format!("{:+.2} s{interval}  {presence}", added.value)
}

fn interval(difference: Difference, has_interval: bool) -> Option<[f64; 2]> {
    has_interval.then_some([difference.low, difference.high])
}

/// Where and when, and how much of it was recorded.
fn describe(recording: &Recording) -> String {
    let window = recording.window;
    let (recorded, all) = (recording.seconds(), window.seconds());
    let part = match recorded < COMPLETE * all {
        true => format!(", of which {recorded:.0} s were recorded"),
        false => String::new(),
    };
    format!(
        "{} to {} UTC, {} of {}{part}",
        in_utc(window.from),
        in_utc(window.to),
        format::line(&recording.server),
        format::line(&recording.host),
    )
}

fn recording_json(recording: &Recording) -> Json {
    json!({
        "host": recording.host,
        "server": recording.server,
        "from": in_utc(recording.window.from),
        "to": in_utc(recording.window.to),
        "recorded_seconds": recording.seconds(),
    })
}

fn figure_json(figure: &Figure) -> Json {
    json!({
        "before": figure.before,
        "after": figure.after,
        "change": figure.change.map(|change| change.value),
        "interval": figure.change.map(|change| [change.low, change.high]),
        "is_changed": figure.is_changed(),
        "control_days": figure.control_days,
    })
}

fn value(measure: &Measure, value: f64) -> String {
    match measure.name {
        "seconds_per_call" => format::time(value * 1e12),
        "load" | "errors_per_call" if value < 10.0 => format!("{value:.3}"),
        _ => format::count(value),
    }
}

/// The change and its interval; or that none is found, and how large it could be.
fn change_text(measure: &Measure, change: &Difference) -> String {
    let one = |x: f64| match measure.is_relative {
        true => format!("{:+.1} %", x * 100.0),
        false => format!("{x:+.3}"),
    };
    let interval = format!("[{}, {}]", one(change.low), one(change.high));
    match change.is_change() {
        true => format!("{} {interval}", one(change.value)),
        false => format!("no change found {interval}"),
    }
}
