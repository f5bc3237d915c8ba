//! Rounding of doubles. They are no decimal numbers: a half is one only by chance, and goes to the even
//! neighbour.

fn scaled(x: f64, decimals: i32, round: fn(f64) -> f64) -> f64 {
    let unit = 10f64.powi(decimals.abs());
    match decimals < 0 {
        _ if !x.is_finite() => x,
        true if unit.is_infinite() => 0.0,
        true => round(x / unit) * unit,
        // So many digits are all that it has.
        false if !(x * unit).is_finite() => x,
        false => round(x * unit) / unit,
    }
}

/// Rounded to so many digits behind the point; fewer than none are digits before it.
pub(crate) fn rounded(x: f64, decimals: i32) -> f64 {
    scaled(x, decimals, f64::round_ties_even)
}

/// Cut to so many.
pub(crate) fn truncated(x: f64, decimals: i32) -> f64 {
    scaled(x, decimals, f64::trunc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_to_the_even_neighbour() {
        for (x, decimals, expected) in [
            (2.5, 0, 2.0),
            (-2.5, 0, -2.0),
            (0.5, 0, 0.0),
            (-4.25, 1, -4.2),
            (2.675, 2, 2.68),
            (1234.5, -2, 1200.0),
            (1.0, 5, 1.0),
            (49.0, -2, 0.0),
            (1e300, 30, 1e300),
        ] {
            assert_eq!(rounded(x, decimals), expected, "{x} {decimals}");
        }
        assert_eq!(truncated(2.567, 1), 2.5);
        assert_eq!(truncated(-1.99, 1), -1.9);
    }
}
