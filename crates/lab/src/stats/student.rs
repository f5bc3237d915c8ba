//! Student's t distribution, for whole degrees of freedom.

/// Beyond this many degrees of freedom the quantiles change by less than 0.003.
const MAX_DEGREES: usize = 1_000;

/// The probability of a distance of at most `t` from zero: Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn within(t: f64, degrees: usize) -> f64 {
    let theta = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = theta.sin_cos();
    let square = cosine * cosine;
    // The terms of an even number begin at 1, of an odd one at the cosine.
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = if odd { (cosine, cosine) } else { (1.0, 1.0) };
    if degrees == 1 {
        sum = 0.0;
    }
    let mut at = if odd { 3 } else { 2 };
    while at < degrees {
        term *= square * (at - 1) as f64 / at as f64;
        sum += term;
        at += 2;
    }
    match odd {
        true => 2.0 / std::f64::consts::PI * (theta + sine * sum),
        false => sine * sum,
    }
}

/// The two-sided quantile in standard errors.
///
/// # Panics
/// There is no degree of freedom.
pub fn quantile(confidence: f64, degrees: usize) -> f64 {
    assert!(degrees > 0, "a variance of one value");
    let degrees = degrees.min(MAX_DEGREES);
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, degrees) < confidence {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match within(middle, degrees) < confidence {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Any statistics text's table: degrees of freedom, 95 %, 99 %.
        for (degrees, t95, t99) in [
            (1, 12.706, 63.657),
            (2, 4.303, 9.925),
            (3, 3.182, 5.841),
            (7, 2.365, 3.499),
            (10, 2.228, 3.169),
            (29, 2.045, 2.756),
            (5_000, 1.961, 2.578),
        ] {
            assert!((quantile(0.95, degrees) - t95).abs() < 0.004, "{degrees}");
            assert!((quantile(0.99, degrees) - t99).abs() < 0.004, "{degrees}");
        }
    }
}
