//! Whether the machine was busy. A loop of additions takes longer when a neighbour is busy on the same
//! core, while a clock read does not. The loop is too short to show the queue for the processors, so
//! the processor time of other programs and other guests counts, too.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Additions of a probe: tens of microseconds, which do not disturb a turn.
const ADDITIONS: u64 = 20_000;

/// An hour is busy if the median probe takes this many times the fastest twentieth. In a quiet hour the
/// median is within a few percent; with a busy neighbour on the same core the loop takes 1.9 times as
/// long.
const BUSY_MEDIAN: f64 = 1.15;

/// An hour is busy if other programs use this many percent of the processors, because they evict the
/// measured server's cache lines. The services of an idle machine use 1 to 3 % of two processors.
const BUSY_PERCENT: f64 = 10.0;

/// Runs the loop; its duration in nanoseconds.
pub fn measure_additions() -> f64 {
    let start = Instant::now();
    let mut sum = 0u64;
    for addend in 0..ADDITIONS {
        sum = black_box(sum + addend);
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64
}

/// The activity of other programs and guests during a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hour {
    /// The durations of the loop, if there are enough.
    pub loops: Option<Loops>,
    /// Processor time of other programs in percent; `None` if the server is on another machine.
    pub others: Option<f64>,
    /// Processor time of other guests of the host in percent.
    pub stolen: f64,
}

/// Durations of the loop, in units of the fastest twentieth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loops {
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
}

impl Loops {
    /// From probes in nanoseconds; `None` below twenty probes.
    pub fn of(probes: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = probes.iter().copied().filter(|ns| *ns > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        if sorted.len() < 20 {
            return None;
        }
        let at =
            |part: f64| sorted[(part * sorted.len() as f64) as usize] / sorted[sorted.len() / 20];
        Some(Self {
            median: at(0.5),
            p95: at(0.95),
        })
    }
}

impl Hour {
    /// Whether other programs or guests were busy.
    pub fn is_busy(&self) -> bool {
        self.loops.is_some_and(|loops| loops.median > BUSY_MEDIAN)
            || self.others.unwrap_or(0.0) + self.stolen > BUSY_PERCENT
    }

    /// The hour in one line; `None` if nothing is known.
    pub fn words(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(others) = self.others {
            parts.push(format!(
                "other programs took {others:.0} % of the machine's processors"
            ));
        }
        if self.stolen >= 0.5 {
            parts.push(format!("other guests of its host {:.0} %", self.stolen));
        }
        if let Some(Loops { median, p95 }) = self.loops {
            parts.push(format!(
                "a loop of additions took {median:.2} times what its fastest twentieth took (median), {p95:.2} times (1 in 20)"
            ));
        }
        let name = if self.is_busy() { "busy" } else { "quiet" };
        (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_named_by_the_loop() {
        let probes = |slow: usize| -> Vec<f64> {
            (0..100)
                .map(|at| if at < slow { 190.0 } else { 100.0 })
                .collect()
        };
        let hour = |slow: usize| Hour {
            loops: Loops::of(&probes(slow)),
            others: None,
            stolen: 0.0,
        };
        assert!(!hour(10).is_busy());
        let words = hour(60).words().expect("known");
        assert!(
            hour(60).is_busy() && words.starts_with("busy: a loop"),
            "{words}"
        );
        assert_eq!(Loops::of(&probes(0)[..19]), None);
        assert!(measure_additions() > 0.0);
    }

    #[test]
    fn an_hour_is_busy_when_other_programs_run_though_the_loop_is_fast() {
        let loops = Loops::of(&[100.0; 40]);
        let hour = |others: f64, stolen: f64| Hour {
            loops,
            others: Some(others),
            stolen,
        };
        assert!(!hour(3.0, 0.0).is_busy());
        assert!(hour(45.0, 0.0).is_busy());
        assert!(hour(3.0, 30.0).is_busy());
        assert_eq!(
            hour(45.0, 0.2).words().expect("known"),
            "busy: other programs took 45 % of the machine's processors; a loop of additions took 1.00 times what its \
             fastest twentieth took (median), 1.00 times (1 in 20)"
        );
        let nothing = Hour {
            loops: None,
            others: None,
            stolen: 0.0,
        };
        assert_eq!(nothing.words(), None);
    }
}
