//! The report at the end.

use std::collections::HashMap;

use super::histogram::Histogram;
use crate::observe::format;

/// Count and total time of statements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    /// Statements.
    pub count: u64,
    /// Picoseconds.
    pub sum_ps: f64,
}

impl Sum {
    /// Adds one.
    pub fn add(&mut self, ps: f64) {
        self.count += 1;
        self.sum_ps += ps;
    }

    fn mean(&self) -> String {
        match self.count {
            0 => "-".to_owned(),
            n => format::time(self.sum_ps / n as f64),
        }
    }
}

/// Pre-empted statements, and the others.
#[derive(Debug, Default)]
pub struct Scheduling {
    /// Pre-empted ones.
    pub preempted: Sum,
    /// The others.
    pub undisturbed: Sum,
    /// Switches by the command that got the CPU.
    pub by: HashMap<String, u64>,
    /// The error of the clock comparison, in nanoseconds.
    pub clock_error_ns: i128,
    /// Lost switches.
    pub lost: u64,
}

/// All figures of the report.
#[derive(Debug, Default)]
pub struct Report {
    /// Seconds observed.
    pub seconds: f64,
    /// Every statement that the server counted.
    pub counted: Sum,
    /// Their latencies, if the server has them.
    pub every: Option<Histogram>,
    /// Latencies of followed statements; `None` without the history.
    pub followed: Option<Histogram>,
    /// Latencies of query cache hits and misses.
    pub cache: Option<[Histogram; 2]>,
    /// The server's own count of cache hits.
    pub cache_hits: Option<u64>,
    /// Pre-emption, or why it is not known.
    pub scheduling: Option<Result<Scheduling, String>>,
    /// How to get more figures.
    pub advice: Option<String>,
}

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut lines = vec![String::new()];
        let Sum { count, .. } = self.counted;
        lines.push(format!(
            "statements    {count} in {:.1} s, {}/s",
            self.seconds,
            format::count(count as f64 / self.seconds.max(1e-3))
        ));
        lines.push(format!("mean latency  {}", self.counted.mean()));
        lines.push(String::new());
        match (&self.every, &self.followed) {
            (Some(every), _) => {
                lines.push(format!(
                    "Latencies of every statement ({}, tare's own queries included):",
                    every.count()
                ));
                lines.extend(every.lines());
            }
            (None, Some(followed)) => {
                lines.push(self.missed_line(followed, "Latencies"));
                lines.extend(followed.lines());
            }
            (None, None) => {}
        }
        if let Some([hits, misses]) = &self.cache {
            lines.push(String::new());
            let all = (hits.count() + misses.count()).max(1);
            lines.push(format!(
                "Query cache: it answered {:.1} % of the SELECTs that were followed.",
                hits.count() as f64 * 100.0 / all as f64
            ));
            if let Some(counted) = self.cache_hits {
                lines.push(format!("The server itself counted {counted} hits."));
            }
            for (name, histogram) in [("hits", hits), ("misses", misses)] {
                let mean = histogram.mean_ps().map_or("-".to_owned(), format::time);
                lines.push(format!("{name:8} {:>10}, mean {mean}", histogram.count()));
                lines.extend(histogram.lines());
            }
        }
        match &self.scheduling {
            Some(Ok(scheduling)) => self.push_scheduling(scheduling, &mut lines),
            Some(Err(why)) => lines.extend([
                String::new(),
                format!("Pre-emption could not be observed: {why}"),
            ]),
            None => {}
        }
        if let Some(advice) = &self.advice {
            lines.extend([String::new(), advice.clone()]);
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn missed_line(&self, followed: &Histogram, what: &str) -> String {
        let (followed, counted) = (followed.count(), self.counted.count);
        match counted.saturating_sub(followed) {
            0 => format!("{what} of every statement, followed one by one ({followed}):"),
            missed => format!(
                "{what} of the {followed} statements that were followed; {missed} ({:.1} %) were missed (overwritten before they were read, run by a thread without history, or ended with this command):",
                missed as f64 * 100.0 / counted as f64
            ),
        }
    }

    fn push_scheduling(&self, scheduling: &Scheduling, lines: &mut Vec<String>) {
        let Scheduling {
            preempted,
            undisturbed,
            by,
            clock_error_ns,
            lost,
        } = scheduling;
        lines.push(String::new());
        if let Some(followed) = &self.followed {
            lines.push(self.missed_line(followed, "Scheduling"));
        }
        lines.push(format!(
            "pre-empted      {:>10}, mean {}",
            preempted.count,
            preempted.mean()
        ));
        lines.push(format!(
            "not pre-empted  {:>10}, mean {}",
            undisturbed.count,
            undisturbed.mean()
        ));
        let mut by: Vec<_> = by.iter().collect();
        by.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        if !by.is_empty() {
            lines.push("by".to_owned());
        }
        lines.extend(
            by.iter()
                .take(10)
                .map(|(command, count)| format!("  {:24} {count:>10}", format::line(command))),
        );
        if by.len() > 10 {
            lines.push(format!("  ({} more)", by.len() - 10));
        }
        lines.push(format!(
            "(The server's clock is known to within {}.)",
            format::time(*clock_error_ns as f64 * 1e3)
        ));
        if *lost > 0 {
            lines.push(format!(
                "({lost} switches were lost: the kernel had no room for them.)"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_statements_are_reported() {
        let mut followed = Histogram::default();
        followed.add_many(2e8, 90);
        let report = Report {
            seconds: 10.0,
            counted: Sum {
                count: 100,
                sum_ps: 2e10,
            },
            followed: Some(followed),
            ..Report::default()
        };
        let text = report.text();
        assert!(
            text.contains("statements    100 in 10.0 s, 10/s\nmean latency  200.00 us\n"),
            "{text}"
        );
        assert!(
            text.contains("of the 90 statements that were followed; 10 (10.0 %) were missed"),
            "{text}"
        );
    }

    #[test]
    fn hits_and_preempted_statements_are_reported_separately() {
        let (mut hits, mut misses) = (Histogram::default(), Histogram::default());
        hits.add_many(5e6, 3);
        misses.add(1e8);
        let mut scheduling = Scheduling {
            clock_error_ns: 40_000,
            ..Scheduling::default()
        };
        scheduling.preempted.add(9e9);
        scheduling.undisturbed.add(1e9);
        scheduling.by.insert("cc1".into(), 2);
        let text = Report {
            cache: Some([hits, misses]),
            cache_hits: Some(3),
            scheduling: Some(Ok(scheduling)),
            ..Report::default()
        }
        .text();
        for expected in [
            "75.0 % of the SELECTs",
            "hits              3, mean 5.00 us",
            "misses            1, mean 100.00 us",
            "pre-empted               1, mean 9.00 ms",
            "  cc1                               2",
            "within 40.00 us",
        ] {
            assert!(text.contains(expected), "no {expected:?} in {text}");
        }
        let refused = Report {
            scheduling: Some(Err("no rights".into())),
            ..Report::default()
        }
        .text();
        assert!(
            refused.contains("Pre-emption could not be observed: no rights"),
            "{refused}"
        );
    }
}
