//! The condition of exact windows: `active_sessions > 2 * cpus for 5s`.

use std::fmt;
use std::time::Duration;

/// What a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Threads that run a statement.
    ActiveSessions,
    /// Those of them that are ready to run and have no CPU.
    WaitingForCpu,
    /// Those of them that sleep.
    Blocked,
    /// Statements that ended.
    StatementsPerSecond,
    /// Statements that ended with an error.
    ErrorsPerSecond,
}

const METRICS: [(&str, Metric); 5] = [
    ("active_sessions", Metric::ActiveSessions),
    ("waiting_for_cpu", Metric::WaitingForCpu),
    ("blocked", Metric::Blocked),
    ("statements_per_second", Metric::StatementsPerSecond),
    ("errors_per_second", Metric::ErrorsPerSecond),
];

/// How it compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Longer ones first, because `>` begins `>=`.
const COMPARISONS: [(&str, Comparison); 4] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

const UNITS: [(&str, f64); 3] = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// The shortest and the longest time for which a condition has to hold, in seconds.
const SECONDS: std::ops::RangeInclusive<f64> = 1.0..=3600.0;

/// A condition of an exact window.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    metric: Metric,
    comparison: Comparison,
    number: f64,
    is_per_cpu: bool,
    holds_for: Duration,
    /// As it was written, with single spaces.
    text: String,
}

impl Condition {
    /// Reads `METRIC COMPARISON NUMBER [* cpus] for TIME`.
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |part: &str, accepted: &str| format!("{text:?}: {part:?} is not {accepted}");
        let rest = text.trim_start();
        let end = rest
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let metric = METRICS.iter().find(|(of, _)| *of == name);
        let Some((_, metric)) = metric else {
            let names = METRICS.map(|(name, _)| name).join(", ");
            return Err(wrong(name, &format!("one of the metrics {names}")));
        };
        let rest = rest.trim_start();
        let comparison = COMPARISONS
            .iter()
            .find_map(|(sign, comparison)| Some((*comparison, rest.strip_prefix(sign)?)));
        let Some((comparison, rest)) = comparison else {
            return Err(wrong(first_word(rest), "one of the comparisons > >= < <="));
        };
        let Some((limit, time)) = split_at_word(rest, "for") else {
            return Err(format!(
                "{text:?}: \"for\" and a time are missing at its end, such as \"for 5s\""
            ));
        };
        let (number, is_per_cpu) = match limit.split_once('*') {
            None => (limit.trim(), false),
            Some((number, factor)) if factor.trim() == "cpus" => (number.trim(), true),
            Some((_, factor)) => {
                return Err(wrong(factor.trim(), "cpus, the only factor that there is"));
            }
        };
        let is_decimal = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = (number.parse::<f64>().ok()).filter(|value| is_decimal && value.is_finite());
        let Some(value) = value else {
            return Err(wrong(
                number,
                "a number, or a number * cpus, such as 20 or 1.5 * cpus",
            ));
        };
        let Some(holds_for) = parse_time(time.trim()) else {
            return Err(wrong(time.trim(), "a time from 1s to 1h, such as 5s or 2m"));
        };
        Ok(Self {
            metric: *metric,
            comparison,
            number: value,
            is_per_cpu,
            holds_for,
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    }

    /// What it compares.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// How long it has to hold.
    pub fn holds_for(&self) -> Duration {
        self.holds_for
    }

    /// Whether a value meets it, on a machine with so many CPUs.
    pub fn is_met(&self, value: f64, cpus: f64) -> bool {
        let limit = match self.is_per_cpu {
            true => self.number * cpus,
            false => self.number,
        };
        match self.comparison {
            Comparison::Above => value > limit,
            Comparison::AtLeast => value >= limit,
            Comparison::Below => value < limit,
            Comparison::AtMost => value <= limit,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Metric {
    /// Its name in a condition.
    pub fn name(self) -> &'static str {
        let named = METRICS.iter().find(|(_, metric)| *metric == self);
        named.map_or("", |(name, _)| name)
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Splits a text at a word that has spaces around it.
fn split_at_word<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    text.match_indices(word).find_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let is_word =
            before.ends_with(char::is_whitespace) && after.starts_with(char::is_whitespace);
        is_word.then_some((before, after))
    })
}

/// Reads `5s`, `2m`, `1h`.
fn parse_time(text: &str) -> Option<Duration> {
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let is_decimal = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| is_decimal)? * factor;
    SECONDS
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_metric_a_limit_and_a_time() {
        let condition = Condition::parse(" active_sessions  > 2 * cpus for 5s").expect("read");
        assert_eq!(condition.metric(), Metric::ActiveSessions);
        assert_eq!(condition.holds_for(), Duration::from_secs(5));
        assert_eq!(condition.to_string(), "active_sessions > 2 * cpus for 5s");
        assert!(condition.is_met(8.5, 4.0) && !condition.is_met(8.0, 4.0));
        let other = Condition::parse("blocked>=1.5 for 2m").expect("read");
        assert_eq!(
            (other.metric(), other.holds_for()),
            (Metric::Blocked, Duration::from_secs(120))
        );
        assert!(other.is_met(1.5, 64.0) && !other.is_met(1.4, 64.0));
        let below = Condition::parse("statements_per_second <= 0 for 1h").expect("read");
        assert!(below.is_met(0.0, 1.0) && !below.is_met(0.1, 1.0));
        let below = Condition::parse("errors_per_second < .5*cpus for 1.5s").expect("read");
        assert!(below.is_met(0.9, 2.0) && !below.is_met(1.0, 2.0));
        for (name, metric) in METRICS {
            let text = format!("{name} > 1 for 1s");
            assert_eq!(Condition::parse(&text).expect(&text).metric(), metric);
            assert_eq!(metric.name(), name);
        }
    }

    #[test]
    fn a_wrong_condition_is_answered_with_what_is_accepted() {
        for (wrong, accepted) in [
            ("", "active_sessions, waiting_for_cpu, blocked"),
            ("load > 1 for 5s", "\"load\" is not one of the metrics"),
            ("Blocked > 1 for 5s", "one of the metrics"),
            (
                "blocked = 1 for 5s",
                "\"=\" is not one of the comparisons > >= < <=",
            ),
            ("blocked 1 for 5s", "one of the comparisons"),
            ("blocked > for 5s", "a number, or a number * cpus"),
            ("blocked > -1 for 5s", "\"-1\" is not a number"),
            ("blocked > nan for 5s", "\"nan\" is not a number"),
            ("blocked > 1e3 for 5s", "\"1e3\" is not a number"),
            ("blocked > cpus for 5s", "such as 20 or 1.5 * cpus"),
            ("blocked > 2 * users for 5s", "\"users\" is not cpus"),
            ("blocked > 2 * cpus * 2 for 5s", "\"cpus * 2\" is not cpus"),
            ("blocked > 2", "\"for\" and a time are missing"),
            ("blocked > 2 for", "\"for\" and a time are missing"),
            ("blocked > 2 for 5", "\"5\" is not a time from 1s to 1h"),
            ("blocked > 2 for 0.5s", "a time from 1s to 1h"),
            ("blocked > 2 for 2h", "a time from 1s to 1h"),
            (
                "blocked > 2 for 5s and blocked > 3 for 5s",
                "a time from 1s to 1h",
            ),
            ("blocked > 2 for 1 0s", "a time from 1s to 1h"),
        ] {
            let error = Condition::parse(wrong).expect_err(wrong);
            assert!(error.contains(accepted), "{wrong}: {error}");
        }
    }
}
