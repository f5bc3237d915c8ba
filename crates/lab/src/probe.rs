//! A loop of additions: what it takes says whether a neighbour is busy on the same core. A clock read does not: it stays
//! the same while every path takes half as long again.

use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Additions of a probe: some tens of microseconds, which a turn does not notice.
const ADDITIONS: u64 = 20_000;

/// From this part of the probes on, and this much above the fastest twentieth, an hour is busy. Of a quiet hour half of the probes
/// are within a few percent of the fastest; a busy neighbour on the same core makes the loop take 1.9 times as long.
const BUSY: f64 = 1.15;

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

/// What probes say of the hour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hour {
    /// The median, in units of the fastest twentieth.
    pub median: f64,
    /// One in twenty took longer than this, in the same units.
    pub p95: f64,
    /// Whether the median says that a neighbour was busy.
    pub busy: bool,
}

impl Hour {
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
            busy: at(0.5) > BUSY,
        })
    }

    /// In one line.
    pub fn words(&self) -> String {
        let name = if self.busy { "busy" } else { "quiet" };
        format!(
            "{name}: a loop of additions took {:.2} times what its fastest twentieth took (median), {:.2} times (1 in 20)",
            self.median, self.p95
        )
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
        assert!(!Hour::of(&probes(10)).expect("enough").busy);
        let busy = Hour::of(&probes(60)).expect("enough");
        assert!(
            busy.busy && busy.words().starts_with("busy: "),
            "{}",
            busy.words()
        );
        assert_eq!(Hour::of(&probes(0)[..19]), None);
        assert!(additions() > 0.0);
    }
}
