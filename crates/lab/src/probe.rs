//! How busy the machine was. A loop of additions takes longer when a neighbour is busy on the same core; a clock read stays
//! the same while every path takes half as long again. What the loop does not see is the queue for the processors: it is over
//! before anybody takes one away. So what other programs and other guests used of them counts, too.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Additions of a probe: some tens of microseconds, which a turn does not notice.
const ADDITIONS: u64 = 20_000;

/// From this part of the probes on, and this much above the fastest twentieth, an hour is busy. Of a quiet hour half of the probes
/// are within a few percent of the fastest; a busy neighbour on the same core makes the loop take 1.9 times as long.
const BUSY: f64 = 1.15;

/// From this part of the processors on, an hour is busy when it goes to other programs: with every tenth moment theirs, the measured
/// server finds its caches emptied again and again. An idle machine's services take 1 to 3 % of this project's two.
const CROWDED: f64 = 10.0;

/// How long the loop took, in nanoseconds.
pub fn additions() -> f64 {
    let start = Instant::now();
    let mut sum = 0u64;
    for addend in 0..ADDITIONS {
        sum = black_box(sum + addend);
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64
}

/// What probes and the kernel say of the hour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hour {
    /// What the loop says, where there were loops enough.
    pub loops: Option<Loops>,
    /// What other programs took of the machine's processors while cells were measured, in percent; none where a server is elsewhere.
    pub others: Option<f64>,
    /// What other guests of the host took of them, in percent.
    pub stolen: f64,
}

/// What loops took, in units of the fastest twentieth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loops {
    /// The median.
    pub median: f64,
    /// One in twenty took longer than this.
    pub p95: f64,
}

impl Loops {
    /// Of probes in nanoseconds; none of fewer than twenty.
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
    /// Whether others were busy: on the same core, before it in the queue, or on the same host.
    pub fn is_busy(&self) -> bool {
        self.loops.is_some_and(|loops| loops.median > BUSY)
            || self.others.unwrap_or(0.0) + self.stolen > CROWDED
    }

    /// In one line; none where nothing is known.
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
        assert!(additions() > 0.0);
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
