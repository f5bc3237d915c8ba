//! Welch's t: the difference of the means of two samples with different variances. The bootstrap of
//! [`crate::stats::interval`] has no quantiles as extreme as many comparisons need.

use crate::stats::student::quantile;
use crate::stats::{deviation, mean};

/// A difference of means.
#[derive(Debug, Clone, Copy)]
pub struct Difference {
    /// The second mean minus the first.
    pub mean: f64,
    error: f64,
    degrees: usize,
}

impl Difference {
    /// `None` below two values of either.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        if first.len() < 2 || second.len() < 2 {
            return None;
        }
        let variance = |sample: &[f64]| deviation(sample).powi(2) / sample.len() as f64;
        let (one, other) = (variance(first), variance(second));
        let sum = one + other;
        // Welch and Satterthwaite, rounded down: fewer degrees of freedom are wider intervals.
        let spread =
            one * one / (first.len() - 1) as f64 + other * other / (second.len() - 1) as f64;
        let degrees = if spread > 0.0 {
            sum * sum / spread
        } else {
            1.0
        };
        Some(Self {
            mean: mean(second) - mean(first),
            error: sum.sqrt(),
            degrees: (degrees as usize).max(1),
        })
    }

    /// The half width of the two-sided interval of this confidence.
    pub fn half_width(&self, confidence: f64) -> f64 {
        self.error * quantile(confidence, self.degrees)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// About normal: the sum of twelve.
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn intervals_have_the_promised_coverage() {
        let mut rng = Rng::with_seed(7);
        for (sizes, spreads) in [
            ((4, 4), (1.0, 1.0)),
            ((7, 5), (1.0, 3.0)),
            ((4, 12), (2.0, 1.0)),
        ] {
            let mut sample = |size: usize, spread: f64| -> Vec<f64> {
                (0..size).map(|_| spread * normal(&mut rng)).collect()
            };
            let covered = (0..2_000)
                .filter(|_| {
                    let difference =
                        Difference::of(&sample(sizes.0, spreads.0), &sample(sizes.1, spreads.1))
                            .expect("enough");
                    difference.mean.abs() <= difference.half_width(0.95)
                })
                .count();
            assert!(
                (1_870..=1_960).contains(&covered),
                "{sizes:?} {spreads:?}: {covered} of 2000"
            );
        }
    }

    #[test]
    fn one_value_has_no_variance() {
        assert!(Difference::of(&[1.0], &[1.0, 2.0]).is_none());
        let equal = Difference::of(&[1.0, 1.0], &[1.0, 1.0]).expect("two");
        assert_eq!((equal.mean, equal.half_width(0.95)), (0.0, 0.0));
    }
}
