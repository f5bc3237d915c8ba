//! The result as text and as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::comparison::{
    Comparison, Difference, Figure, LOAD, MEASURES, Measure, Presence, Subject,
};
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
    /// The texts of digests.
    pub texts: BTreeMap<String, String>,
}

impl Report {
    /// The text, with so many statements.
    pub fn text(&self, rows: usize) -> String {
        let days = self.comparison.controls.len();
        let mut text = vec![
            format!("before   {}", describe(&self.comparison.before)),
            format!("after    {}", describe(&self.comparison.after)),
        ];
        text.push(match days {
            0 => "control  none".to_owned(),
            1 => "control  the same hours of 1 day before, whose change is subtracted".to_owned(),
            _ => format!(
                "control  the same hours of {days} days before, whose mean change is subtracted"
            ),
        });
        text.extend([String::new(), "All statements".to_owned()]);
        text.extend(self.figures(&self.total, true));
        let changed: Vec<&Subject> = self
            .statements
            .iter()
            .filter(|subject| subject.is_changed())
            .collect();
        for subject in changed.iter().take(rows) {
            text.push(String::new());
            text.push(self.heading(subject));
            text.extend(self.figures(subject, subject.presence != Presence::Both));
        }
        text.push(String::new());
        let others = self.statements.len() - changed.len();
        if changed.len() > rows {
            let less = changed.len() - rows;
            text.push(format!("Changed less, see --rows: {less}"));
        }
        text.push(format!("Without a change: {others}"));
        text.join("\n")
    }

    /// What a statement adds, and its text.
    fn heading(&self, subject: &Subject) -> String {
        let added = subject.added;
        let interval = match subject.has_interval {
            true => format!(" [{:+.2}, {:+.2}]", added.low, added.high),
            false => String::new(),
        };
        let presence = match subject.presence {
            Presence::Both => "",
            Presence::New => "new: ",
            Presence::Vanished => "vanished: ",
        };
        let (schema, digest) = match &subject.key {
            Some((schema, digest)) => (schema.as_deref(), digest.as_str()),
            None => (None, ""),
        };
        let text = self.texts.get(digest).map_or(digest, String::as_str);
        let schema = schema.map_or(String::new(), |schema| format!("{schema}: "));
        let name = format::line(&format!("{schema}{text}"));
        format!("{:+.2} s{interval}  {presence}{name}", added.value)
    }

    /// The lines of a subject's figures: all that changed, or simply all.
    fn figures(&self, subject: &Subject, has_all: bool) -> Vec<String> {
        let mut rows = Vec::new();
        let measures = MEASURES.iter().zip(&subject.figures).enumerate();
        for (number, (measure, figure)) in measures {
            if has_all || number == LOAD || figure.is_changed() {
                rows.push(vec![
                    format!("  {}", measure.title),
                    value(measure, figure.before),
                    value(measure, figure.after),
                    self.change(measure, figure),
                ]);
            }
        }
        let changed = subject.activities.iter();
        let changed = changed.filter(|(_, figure)| has_all || figure.is_changed());
        for (name, figure) in changed.take(MAX_ACTIVITIES) {
            let load = &MEASURES[LOAD];
            rows.push(vec![
                format!("  in {}", format::line(name)),
                value(load, figure.before),
                value(load, figure.after),
                self.change(load, figure),
            ]);
        }
        let heads = [
            ("", Side::Left),
            ("before", Side::Right),
            ("after", Side::Right),
            ("change", Side::Left),
        ];
        lines(&heads.map(|(head, side)| (head.to_owned(), side)), &rows)
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
            }
            let presence = match subject.presence {
                Presence::Both => "both",
                Presence::New => "new",
                Presence::Vanished => "vanished",
            };
            object.insert("presence".to_owned(), json!(presence));
            object.insert("is_changed".to_owned(), json!(subject.is_changed()));
            let added = subject.added;
            let interval = subject.has_interval.then_some([added.low, added.high]);
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
        })
    }
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
