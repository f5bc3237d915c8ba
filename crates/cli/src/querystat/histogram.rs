//! A histogram of latencies in powers of two nanoseconds.

use crate::observe::format;

/// Buckets: from below 2 ns to beyond 2^62.
const BUCKETS: usize = 64;

/// Characters of the longest bar.
const WIDTH: usize = 40;

/// Counts of latencies.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    sum_ps: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: [0; BUCKETS],
            sum_ps: 0.0,
        }
    }
}

/// The bucket of a time: bucket n holds 2^n up to 2^(n+1) nanoseconds; the first one also shorter times.
fn bucket(ps: f64) -> usize {
    let ns = (ps / 1e3) as u64;
    (ns.max(1).ilog2() as usize).min(BUCKETS - 1)
}

impl Histogram {
    /// Counts one.
    pub fn add(&mut self, ps: f64) {
        self.add_many(ps, 1);
    }

    /// Counts many of about this time.
    pub fn add_many(&mut self, ps: f64, count: u64) {
        self.counts[bucket(ps)] += count;
        self.sum_ps += ps * count as f64;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Their mean, in picoseconds; `None` of nothing.
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ps / self.count() as f64)
    }

    /// A line for each bucket from the first to the last that has any.
    pub fn lines(&self) -> Vec<String> {
        let used = |count: &u64| *count > 0;
        let (Some(first), Some(last)) = (
            self.counts.iter().position(used),
            self.counts.iter().rposition(used),
        ) else {
            return Vec::new();
        };
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let mut lines = vec![format!("{:>10}  {:WIDTH$}  {:>10}", "from", "", "count")];
        lines.extend((first..=last).map(|at| {
            let count = self.counts[at];
            // At least one character, so that no count is invisible.
            let length = (count as f64 * WIDTH as f64 / most as f64).round() as usize;
            let length = if count > 0 { length.max(1) } else { 0 };
            let from = if at == 0 {
                0.0
            } else {
                (1u64 << at) as f64 * 1e3
            };
            format!(
                "{:>10}  {:WIDTH$}  {count:>10}",
                format::time(from),
                "@".repeat(length)
            )
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_falls_between_two_powers_of_two() {
        for (ps, expected) in [
            (0.0, 0),
            (1_999.0, 0),
            (2_000.0, 1),
            (3_999.0, 1),
            (4_000.0, 2),
            (1_024_000.0, 10),
            (1_023_999.0, 9),
            (f64::MAX, 63),
        ] {
            assert_eq!(bucket(ps), expected, "{ps} ps");
        }
    }

    #[test]
    fn bars_are_in_proportion_and_empty_buckets_have_a_line() {
        let mut histogram = Histogram::default();
        histogram.add_many(1.1e9, 400);
        histogram.add_many(5e9, 10);
        histogram.add(1e10);
        assert_eq!(histogram.count(), 411);
        let lines = histogram.lines();
        assert_eq!(lines.len(), 1 + 4);
        assert_eq!(
            lines[1],
            format!("{:>10}  {:40}  {:>10}", "1.05 ms", "@".repeat(40), 400)
        );
        assert_eq!(lines[2], format!("{:>10}  {:40}  {:>10}", "2.10 ms", "", 0));
        assert!(lines[4].contains(" @ "), "{lines:?}");
        assert!(Histogram::default().lines().is_empty());
    }
}
