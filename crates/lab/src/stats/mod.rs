//! The arithmetic: intervals, comparisons, stability, phases. docs/weigh.md says why these.

pub mod compare;
pub mod interval;
pub mod phase;
pub mod starts;
pub mod student;

/// The mean; of nothing it is NaN.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// The standard deviation of the population that the sample was drawn from; NaN below two values.
pub fn deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (sample.len() as f64 - 1.0)).sqrt()
}

/// The median; of nothing it is NaN.
pub fn median(sample: &[f64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}
