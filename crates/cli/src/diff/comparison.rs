//! Compares two windows: all statements together, and each one.

use std::collections::BTreeSet;

use super::recording::{Recording, Statement, StatementKey, Sums};
use crate::exit::Failure;
use crate::statistics::{Change, MIN_BATCHES, Parts, dispersion, effective_batches, simultaneous};

/// Of fewer calls a statement has no intervals.
const MIN_CALLS: f64 = 30.0;

/// The probability that any interval of a comparison does not hold. The shares of measures and activities add up
/// to 0.85: the rest is for what the statistics cannot see, such as load that varies for long.
pub const ERROR: f64 = 0.05;

/// What is compared.
pub struct Measure {
    /// The name of its field.
    pub name: &'static str,
    /// The name and unit for people.
    pub title: &'static str,
    /// Whether the change is a part of the value before. Others are differences.
    pub is_relative: bool,
    /// Whether the denominator is calls. Otherwise it is time.
    is_by_call: bool,
    /// The part of [`ERROR`] for this measure of all statements.
    share: f64,
    /// Numerator and denominator, from sums and seconds.
    part: fn(&Sums, f64) -> (f64, f64),
}

/// The part of [`ERROR`] for sampled activities.
const ACTIVITY_SHARE: f64 = 0.1;

/// Average active sessions, the first of [`MEASURES`].
pub const LOAD: usize = 0;

/// All measures.
pub const MEASURES: [Measure; 5] = [
    Measure {
        name: "load",
        title: "sessions",
        is_relative: false,
        is_by_call: false,
        share: 0.05,
        part: |sums, seconds| (sums.seconds, seconds),
    },
    Measure {
        name: "calls_per_s",
        title: "calls/s",
        is_relative: true,
        is_by_call: false,
        share: 0.15,
        part: |sums, seconds| (sums.calls, seconds),
    },
    Measure {
        name: "seconds_per_call",
        title: "time/call",
        is_relative: true,
        is_by_call: true,
        share: 0.4,
        part: |sums, _| (sums.seconds, sums.calls),
    },
    Measure {
        name: "rows_per_call",
        title: "rows/call",
        is_relative: false,
        is_by_call: true,
        share: 0.05,
        part: |sums, _| (sums.rows, sums.calls),
    },
    Measure {
        name: "errors_per_call",
        title: "errors/call",
        is_relative: false,
        is_by_call: true,
        share: 0.05,
        part: |sums, _| (sums.errors, sums.calls),
    },
];

/// A change with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Difference {
    /// Whether the interval excludes zero.
    pub fn is_change(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            value: f(self.value),
            low: f(self.low),
            high: f(self.high),
        }
    }
}

/// A value in both windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// The change beyond that of other days; `None` if there is too little for an interval.
    pub change: Option<Difference>,
    /// The days whose mean change was subtracted. A day without an interval is not used.
    pub control_days: usize,
}

impl Figure {
    /// Whether it changed.
    pub fn is_changed(&self) -> bool {
        self.change.is_some_and(|change| change.is_change())
    }

    /// The time that sessions, whose average number this is, take more in so many seconds. Without an interval, both
    /// ends are the value.
    pub fn added(&self, seconds: f64) -> Difference {
        let value = self.after - self.before;
        let none = Difference {
            value,
            low: value,
            high: value,
        };
        (self.change.unwrap_or(none)).map(|sessions| sessions * seconds)
    }
}

/// In which windows a statement ran, or sessions waited for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In both.
    Both,
    /// Only after.
    New,
    /// Only before.
    Vanished,
}

impl Presence {
    /// Its name in JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::New => "new",
            Self::Vanished => "vanished",
        }
    }

    /// Whether it is before, and after.
    pub fn of(is_in: [bool; 2]) -> Self {
        match is_in {
            [false, true] => Self::New,
            [true, false] => Self::Vanished,
            _ => Self::Both,
        }
    }
}

/// A statement, or all together.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Which statement; `None` for all together.
    pub key: Option<StatementKey>,
    /// In which windows.
    pub presence: Presence,
    /// By [`MEASURES`].
    pub figures: [Figure; MEASURES.len()],
    /// Average sessions by what they did, the largest change first.
    pub activities: Vec<(String, Figure)>,
    /// The seconds that it takes more in the later window.
    pub added: Difference,
    /// Whether `added` has an interval.
    pub has_interval: bool,
}

impl Subject {
    /// Whether there is anything to report.
    pub fn is_changed(&self) -> bool {
        self.presence != Presence::Both
            || self.figures.iter().any(Figure::is_changed)
            || self
                .activities
                .iter()
                .any(|(_, figure)| figure.is_changed())
    }
}

/// Two windows, and pairs of the same hours on other days.
pub struct Comparison {
    /// The earlier window.
    pub before: Recording,
    /// The later one.
    pub after: Recording,
    /// Pairs of the same hours on other days.
    pub controls: Vec<(Recording, Recording)>,
}

/// A change that has no interval yet.
pub struct Raw {
    subject: usize,
    change: Change,
    days: Vec<Change>,
}

impl Comparison {
    /// Refuses windows that cannot be compared.
    pub fn check(&self) -> Result<(), Failure> {
        for recording in [&self.before, &self.after] {
            let batches = recording
                .counted_seconds
                .iter()
                .filter(|seconds| **seconds > 0.0);
            let count = batches.count();
            if count < MIN_BATCHES {
                return Err(recording.refuse(&format!(
                    "growth was read at {count} times, and an interval needs {MIN_BATCHES}. Give a longer window"
                )));
            }
        }
        let lengths = |recording: &Recording| -> BTreeSet<usize> {
            let counted = recording.statements.keys();
            counted.map(|(_, digest)| digest.len()).collect()
        };
        let (before, after) = (lengths(&self.before), lengths(&self.after));
        if before.is_empty() && after.is_empty() {
            return Err(self.after.refuse(
                "no statement was counted by digest: is the consumer statements_digest off, or the process none \
                 that has statements?",
            ));
        }
        if !before.is_empty() && !after.is_empty() && before.is_disjoint(&after) {
            return Err(self.after.refuse(
                "the digests are of another kind than those before, as of another version of the server, so no \
                 statement can be found again",
            ));
        }
        Ok(())
    }

    /// The total, and all statements in the order of the time that they add or save. All intervals hold together.
    pub fn run(&self) -> (Subject, Vec<Subject>) {
        let mut subjects = self.compare_subjects(|_| true);
        let total = subjects.remove(0);
        subjects.sort_by(|a, b| b.added.value.abs().total_cmp(&a.added.value.abs()));
        (total, subjects)
    }

    /// The total alone. Its intervals hold together. How much more days vary than hours is estimated from all
    /// statements.
    pub fn run_total(&self) -> Subject {
        self.compare_subjects(|subject| subject == 0).remove(0)
    }

    /// The total and all statements. Only wanted ones have intervals, which hold together.
    fn compare_subjects(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<Subject> {
        let keys: BTreeSet<&StatementKey> = self
            .before
            .statements
            .keys()
            .chain(self.after.statements.keys())
            .collect();
        let keys = std::iter::once(None).chain(keys.into_iter().map(Some));
        let mut subjects: Vec<Subject> = keys.map(|key| self.subject(key)).collect();
        for (number, measure) in MEASURES.iter().enumerate() {
            let raw = (0..subjects.len()).filter_map(|at| self.measure(&subjects[at], at, measure));
            let raw = raw.collect();
            for (subject, change, control_days) in intervals(raw, measure.share, &is_wanted) {
                let relative = |log: f64| {
                    if measure.is_relative {
                        log.exp_m1()
                    } else {
                        log
                    }
                };
                let figure = &mut subjects[subject].figures[number];
                (figure.change, figure.control_days) = (Some(change.map(relative)), control_days);
            }
        }
        self.compare_activities(&mut subjects, &is_wanted);
        let seconds = self.after.seconds();
        for subject in &mut subjects {
            let load = subject.figures[LOAD];
            subject.has_interval = load.change.is_some();
            subject.added = load.added(seconds);
        }
        subjects
    }

    fn subject(&self, key: Option<&StatementKey>) -> Subject {
        let presence =
            Presence::of([&self.before, &self.after].map(|recording| of(recording, key).is_some()));
        let value = |recording: &Recording, measure: &Measure| {
            let parts =
                of(recording, key).map(|statement| recording.counted(statement, measure.part));
            parts.map_or(0.0, |parts| ratio(&parts))
        };
        Subject {
            key: key.cloned(),
            presence,
            figures: std::array::from_fn(|number| Figure {
                before: value(&self.before, &MEASURES[number]),
                after: value(&self.after, &MEASURES[number]),
                ..Figure::default()
            }),
            activities: Vec::new(),
            added: Difference {
                value: 0.0,
                low: 0.0,
                high: 0.0,
            },
            has_interval: false,
        }
    }

    /// The change of a measure of a subject, if there is enough for an interval.
    fn measure(&self, subject: &Subject, number: usize, measure: &Measure) -> Option<Raw> {
        let key = subject.key.as_ref();
        let calls = |recording: &Recording| {
            of(recording, key).map_or(0.0, |statement| statement.total().calls)
        };
        let parts = |recording: &Recording| -> Parts {
            let none = Statement::new(recording.counted_seconds.len());
            recording.counted(of(recording, key).unwrap_or(&none), measure.part)
        };
        if measure.name == MEASURES[LOAD].name {
            // A load of nothing is one.
            if calls(&self.before).max(calls(&self.after)) < MIN_CALLS {
                return None;
            }
            return self.raw(number, |before, after| {
                Change::absolute(&parts(before), &parts(after))
            });
        }
        let sides = |recording: &Recording| {
            let parts = parts(recording);
            let is_enough = calls(recording) >= MIN_CALLS
                && (!measure.is_by_call || effective_batches(&parts) >= MIN_BATCHES as f64);
            is_enough.then_some(parts)
        };
        self.raw(number, |before, after| {
            let (before, after) = (sides(before)?, sides(after)?);
            match measure.is_relative {
                true => Change::relative(&before, &after),
                false => Change::absolute(&before, &after),
            }
        })
    }

    /// The changes between both windows and on the control days. A day without an interval is not used.
    pub fn raw(
        &self,
        subject: usize,
        change: impl Fn(&Recording, &Recording) -> Option<Change>,
    ) -> Option<Raw> {
        let days = self.controls.iter();
        Some(Raw {
            subject,
            change: change(&self.before, &self.after)?,
            days: days
                .filter_map(|(before, after)| change(before, after))
                .collect(),
        })
    }

    /// Adds what sessions did, by samples.
    fn compare_activities(&self, subjects: &mut [Subject], is_wanted: impl Fn(usize) -> bool) {
        let mut raw = Vec::new();
        let mut names = Vec::new();
        for (number, subject) in subjects.iter().enumerate() {
            let key = subject.key.as_ref();
            let both = [&self.before, &self.after];
            let statements = both.into_iter().filter_map(|recording| of(recording, key));
            let activities: BTreeSet<&String> = statements
                .flat_map(|statement| statement.sampled.keys())
                .collect();
            for activity in activities {
                let parts = |recording: &Recording| -> Parts {
                    let statement = of(recording, key);
                    recording.sampled(statement.and_then(|one| one.sampled.get(activity)))
                };
                let (before, after) = (parts(&self.before), parts(&self.after));
                let batches =
                    |parts: &Parts| parts.iter().filter(|(seconds, _)| *seconds > 0.0).count();
                // Fewer are single samples.
                if batches(&before).max(batches(&after)) >= MIN_BATCHES {
                    raw.extend(self.raw(names.len(), |before, after| {
                        Change::absolute(&parts(before), &parts(after))
                    }));
                }
                let figure = Figure {
                    before: ratio(&before),
                    after: ratio(&after),
                    ..Figure::default()
                };
                names.push((number, activity.clone(), figure));
            }
        }
        let is_wanted = |name: usize| is_wanted(names[name].0);
        let compared: Vec<_> = intervals(raw, ACTIVITY_SHARE, is_wanted).collect();
        for (name, change, control_days) in compared {
            let figure = &mut names[name].2;
            (figure.change, figure.control_days) = (Some(change), control_days);
        }
        for (subject, activity, figure) in names {
            subjects[subject].activities.push((activity, figure));
        }
        let change = |figure: &Figure| (figure.after - figure.before).abs();
        for subject in subjects {
            subject
                .activities
                .sort_by(|(_, a), (_, b)| change(b).total_cmp(&change(a)));
        }
    }
}

/// A statement of a recording, or all together.
fn of<'a>(recording: &'a Recording, key: Option<&StatementKey>) -> Option<&'a Statement> {
    match key {
        Some(key) => recording.statements.get(key),
        None => Some(&recording.total),
    }
}

/// The ratio of the sums; 0 if there is no denominator.
pub fn ratio(parts: &[(f64, f64)]) -> f64 {
    let numerator: f64 = parts.iter().map(|(numerator, _)| numerator).sum();
    let denominator: f64 = parts.iter().map(|(_, denominator)| denominator).sum();
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}

/// The intervals of a measure of the wanted subjects, which hold together but with this part of [`ERROR`]; and on how
/// many control days each depends. All subjects say how much more days vary than hours.
pub fn intervals(
    raw: Vec<Raw>,
    share: f64,
    is_wanted: impl Fn(usize) -> bool,
) -> impl Iterator<Item = (usize, Difference, usize)> {
    let dispersion = dispersion(raw.iter().map(|one| &one.days[..]));
    let wanted = raw.into_iter().filter(|one| is_wanted(one.subject));
    let wanted: Vec<Raw> = wanted.collect();
    let confidence = simultaneous(ERROR * share, wanted.len());
    wanted.into_iter().map(move |one| {
        let change = one.change.beyond(&one.days, dispersion);
        let (low, high) = change.interval(confidence);
        let value = change.difference;
        (one.subject, Difference { value, low, high }, one.days.len())
    })
}

#[cfg(test)]
mod tests;
