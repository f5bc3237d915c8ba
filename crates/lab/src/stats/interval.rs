//! A 95 % interval of a mean, by the studentised bootstrap.
//!
//! Each resample's distance from the sample's mean is divided by that resample's standard error; the
//! reversed quantiles are the interval. Unlike the percentile interval, it accounts for the uncertain
//! standard deviation of a small sample, which dominates at 4 to 8 repetitions.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::{deviation, mean};

/// The fewest values with an interval: a resample of three is too often one value three times.
pub const FEWEST: usize = 4;

/// Resamples. With so many, the ends differ by less than 2 % of the width between seeds.
const RESAMPLES: usize = 4_999;

/// The least standard error of a resample, as a part of the sample's. Of four values two or three are
/// often nearly equal by chance; resamples of only these would have a standard error near zero, and one
/// interval in fifty would be a hundred times too wide. In simulation (normal, 4 to 12 values) the
/// coverage stays at 94 to 95 % with this part, and 99 % of the intervals are less than twice as wide
/// as Student's.
const LEAST_ERROR: f64 = 0.3;

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The sample's mean.
    pub mean: f64,
    /// The lower end; `None` if the sample is too small.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Interval {
    /// The interval of the mean of the population that `sample` was drawn from.
    pub fn of(sample: &[f64], rng: &mut Rng) -> Self {
        Self::with(sample, RESAMPLES, rng)
    }

    /// The same with another number of resamples.
    pub fn with(sample: &[f64], resamples: usize, rng: &mut Rng) -> Self {
        let mean = mean(sample);
        let none = Self {
            mean,
            low: None,
            high: None,
        };
        if sample.len() < FEWEST {
            return none;
        }
        let root = (sample.len() as f64).sqrt();
        let error = deviation(sample) / root;
        if !error.is_finite() {
            return none;
        }
        let mut distances: Vec<f64> = Vec::with_capacity(resamples);
        let mut drawn = vec![0.0; sample.len()];
        // A resample of one value has no standard error.
        let nothing = error * 1e-9;
        let least = error * LEAST_ERROR;
        while distances.len() < resamples && error > 0.0 {
            drawn.fill_with(|| sample[rng.usize(..sample.len())]);
            let own = deviation(&drawn) / root;
            if own > nothing {
                distances.push((super::mean(&drawn) - mean) / own.max(least));
            }
        }
        distances.sort_by(f64::total_cmp);
        let quantile = |q: f64| match distances.len() {
            // All values are equal.
            0 => 0.0,
            n => distances[((q * n as f64) as usize).min(n - 1)],
        };
        Self {
            mean,
            low: Some(mean - quantile(0.975) * error),
            high: Some(mean - quantile(0.025) * error),
        }
    }

    /// Whether there is an interval, and it excludes zero.
    pub fn excludes_zero(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > 0.0 || high < 0.0)
    }

    /// Applies an increasing function, such as from logarithms of ratios to percent.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            mean: f(self.mean),
            low: self.low.map(&f),
            high: self.high.map(&f),
        }
    }

    /// The half width.
    pub fn half(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// The end that is farther from zero, as a distance.
    pub fn farthest(&self) -> Option<f64> {
        Some(self.low?.abs().max(self.high?.abs()))
    }
}
