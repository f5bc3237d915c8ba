//! Whether a ratio of sums differs between two windows of time, with an interval. docs/diff.md explains the choice.

use tare_lab::stats::student::quantile;

/// The most batches into which a window is divided. A minute of an hour is a batch.
pub const MAX_BATCHES: usize = 60;

/// The fewest batches with an interval.
pub const MIN_BATCHES: usize = 6;

/// The largest autocorrelation that is assumed. More cannot be estimated from so few batches.
const MAX_CORRELATION: f64 = 0.9;

/// A numerator and a denominator, such as seconds and calls, of each batch in the order of time.
pub type Parts = Vec<(f64, f64)>;

/// The number of batches with equal denominators that would say as much (Kish's effective sample size): batches of
/// nothing do not count, and if one has nearly everything, it is about 1.
pub fn effective_batches(parts: &[(f64, f64)]) -> f64 {
    let sum: f64 = parts.iter().map(|(_, of)| of).sum();
    let squares: f64 = parts.iter().map(|(_, of)| of * of).sum();
    match squares > 0.0 {
        true => sum * sum / squares,
        false => 0.0,
    }
}

/// One window's ratio of sums, and what its error depends on.
struct Side {
    ratio: f64,
    /// The sums of squares and of lag-1 products of residuals, in the unit of the ratio's square.
    squares: f64,
    products: f64,
    /// [`effective_batches`].
    batches: f64,
}

impl Side {
    /// `None` if fewer than [`MIN_BATCHES`] have a denominator.
    fn new(parts: &[(f64, f64)]) -> Option<Self> {
        if parts.iter().filter(|(_, of)| *of > 0.0).count() < MIN_BATCHES {
            return None;
        }
        let numerator: f64 = parts.iter().map(|(numerator, _)| numerator).sum();
        let denominator: f64 = parts.iter().map(|(_, denominator)| denominator).sum();
        let ratio = numerator / denominator;
        let residual = |(numerator, of): &(f64, f64)| {
            let rest = numerator - ratio * of;
            // What never varies must not do so by rounding.
            let is_rounding = rest.abs() <= 1e-12 * numerator.abs();
            if is_rounding { 0.0 } else { rest / denominator }
        };
        // A batch of nothing has a residual of zero. So products are only of neighbours that both have a denominator.
        let residuals: Vec<f64> = parts.iter().map(residual).collect();
        Some(Self {
            ratio,
            squares: residuals.iter().map(|x| x * x).sum(),
            products: residuals.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            batches: effective_batches(parts),
        })
    }

    /// In units of the ratio itself.
    fn relative(self) -> Option<Self> {
        let square = self.ratio * self.ratio;
        (self.ratio > 0.0).then_some(Self {
            ratio: self.ratio.ln(),
            squares: self.squares / square,
            products: self.products / square,
            ..self
        })
    }

    /// The variance of the ratio if batches are independent. The squares are too small by one part of the batches,
    /// because the ratio is estimated from them.
    fn variance(&self) -> f64 {
        self.squares * self.batches / (self.batches - 1.0)
    }
}

/// The difference of a ratio between two windows. A relative one is that of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The later minus the earlier.
    pub difference: f64,
    /// Its variance.
    variance: f64,
    degrees: f64,
}

impl Change {
    /// The absolute difference; `None` if a window has too few batches, or no denominator.
    pub fn absolute(before: &[(f64, f64)], after: &[(f64, f64)]) -> Option<Self> {
        Some(Self::between(&Side::new(before)?, &Side::new(after)?))
    }

    /// The difference of logarithms; `None` also if a ratio is zero.
    pub fn relative(before: &[(f64, f64)], after: &[(f64, f64)]) -> Option<Self> {
        let before = Side::new(before)?.relative()?;
        Some(Self::between(&before, &Side::new(after)?.relative()?))
    }

    fn between(before: &Side, after: &Side) -> Self {
        let squares = before.squares + after.squares;
        // Both windows are of one server, so they have one autocorrelation. The estimate is too low by about one
        // part of the batches.
        let correlation = match squares > 0.0 {
            true => {
                (before.products + after.products) / squares
                    + 2.0 / (before.batches + after.batches)
            }
            false => 0.0,
        };
        let correlation = correlation.clamp(0.0, MAX_CORRELATION);
        // The variance of a mean of an autoregressive series of the first order, against independent values.
        let inflation = (1.0 + correlation) / (1.0 - correlation);
        let (one, other) = (before.variance(), after.variance());
        let sum = one + other;
        // Welch and Satterthwaite.
        let spread = one * one / (before.batches - 1.0) + other * other / (after.batches - 1.0);
        let degrees = if spread > 0.0 {
            sum * sum / spread
        } else {
            1.0
        };
        Self {
            difference: after.ratio - before.ratio,
            variance: sum * inflation,
            // As of so many fewer batches, but of the fewest at least.
            degrees: (degrees / inflation).max(MIN_BATCHES as f64 - 1.0),
        }
    }

    /// The interval of this confidence.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let half = self.variance.sqrt() * quantile(confidence, self.degrees as usize);
        (self.difference - half, self.difference + half)
    }

    /// What exceeds the mean change of the same hours on other days.
    pub fn beyond(self, controls: &[Self], dispersion: f64) -> Self {
        if controls.is_empty() {
            return self;
        }
        let days = controls.len() as f64;
        let (mean, squares) = deviations(controls.iter().map(|change| (change.difference, 1.0)));
        let variance = controls.iter().map(|change| change.variance).sum::<f64>();
        let difference = self.difference - mean;
        let variance = dispersion * (self.variance + variance / (days * days));
        // What never varies within windows, such as the rows of a statement that reads a growing table, has only
        // the variance between days.
        if variance == 0.0 && squares > 0.0 {
            return Self {
                difference,
                variance: squares / (days - 1.0) * (1.0 + 1.0 / days),
                degrees: days - 1.0,
            };
        }
        Self {
            difference,
            variance,
            degrees: self.degrees,
        }
    }
}

/// The mean of values, and the sum of the squares of their deviations, each divided by its variance.
fn deviations(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let sum = values.clone().map(|(value, _)| value).sum::<f64>();
    let mean = sum / values.clone().count() as f64;
    let squares = values.map(|(value, variance)| (value - mean).powi(2) / variance);
    (mean, squares.sum())
}

/// How many times the variance within windows the variance of changes between days is, at least 1: from the
/// changes of several statements, each on several days. Those that never vary within windows cannot say.
pub fn dispersion<'a>(statements: impl Iterator<Item = &'a [Change]>) -> f64 {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for days in statements {
        let varying = days.iter().filter(|day| day.variance > 0.0);
        let varying = varying.map(|day| (day.difference, day.variance));
        let count = varying.clone().count();
        if count > 1 {
            squares += deviations(varying).1;
            degrees += count as f64 - 1.0;
        }
    }
    if degrees > 0.0 {
        (squares / degrees).max(1.0)
    } else {
        1.0
    }
}

/// The confidence of each of so many intervals, that all hold at once but with a probability of `error`.
pub fn simultaneous(error: f64, intervals: usize) -> f64 {
    1.0 - error / intervals.max(1) as f64
}

#[cfg(test)]
mod tests;
