//! Statistics: intervals, comparisons, stability and phases. docs/weigh.md explains the choice.

pub mod compare;
pub mod interval;
pub mod phase;
pub mod starts;
pub mod student;

/// The mean; NaN for an empty sample.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// The sample standard deviation; NaN below two values.
pub fn deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (sample.len() as f64 - 1.0)).sqrt()
}

/// The median; NaN for an empty sample.
pub fn median(sample: &[f64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}
