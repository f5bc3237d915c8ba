//! Latency histograms: sums of the buckets of all banks.

use tare_layout::histogram::{BUCKETS, bucket_high, bucket_low};

/// A latency histogram of [`BUCKETS`] log-linear buckets; bucket `i` counts the times from
/// [`bucket_low`]`(i)` to below [`bucket_high`]`(i)` ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Events by bucket.
    pub counts: [u64; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: [0; BUCKETS],
        }
    }
}

impl Histogram {
    /// Events in all buckets.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &Histogram) {
        for (sum, n) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.wrapping_add(*n);
        }
    }

    /// The quantile `q` (0 to 1) in ticks: the end of that event's bucket, as in MySQL, so at most a quarter
    /// too high. `None` without events.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        // The rank of the event at quantile q, from 1.
        let rank = ((total as f64 * q).ceil() as u64).clamp(1, total);
        let mut cumulative = 0u64;
        for (i, n) in self.counts.iter().enumerate() {
            cumulative = cumulative.saturating_add(*n);
            if cumulative >= rank {
                return Some(bucket_high(i) - 1);
            }
        }
        self.highest()
    }

    /// A lower bound of all times: the beginning of the first bucket in use.
    pub fn lowest(&self) -> Option<u64> {
        self.counts.iter().position(|n| *n != 0).map(bucket_low)
    }

    /// An upper bound of all times: the end of the last bucket in use.
    pub fn highest(&self) -> Option<u64> {
        let last = self.counts.iter().rposition(|n| *n != 0)?;
        Some(bucket_high(last) - 1)
    }

    /// The counts since an earlier reading of the same histogram.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let mut delta = self.clone();
        for (n, before) in delta.counts.iter_mut().zip(&earlier.counts) {
            *n = n.saturating_sub(*before);
        }
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_layout::histogram::bucket_of;

    #[test]
    fn a_quantile_is_in_the_bucket_of_its_event() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        let times: Vec<u64> = (1..=1000).map(|i| i * 100).collect();
        for time in &times {
            histogram.counts[bucket_of(*time)] += 1;
        }
        for (q, exact) in [
            (0.001, 100),
            (0.5, 50_000),
            (0.95, 95_000),
            (0.999, 99_900),
            (1.0, 100_000),
        ] {
            let quantile = histogram.quantile(q).expect("not empty");
            assert_eq!(bucket_of(quantile), bucket_of(exact), "{q}");
            assert!(quantile >= exact);
        }
        assert_eq!(histogram.total(), 1000);
        assert_eq!(histogram.lowest().map(bucket_of), Some(bucket_of(100)));
        assert_eq!(histogram.highest().map(bucket_of), Some(bucket_of(100_000)));
    }

    #[test]
    fn hostile_counts_overflow_nothing() {
        let histogram = Histogram {
            counts: [u64::MAX; BUCKETS],
        };
        for q in [f64::NAN, -1.0, 0.0, 0.5, 2.0, f64::INFINITY] {
            let _ = histogram.quantile(q);
        }
        assert_eq!(histogram.since(&histogram), Histogram::default());
    }
}
