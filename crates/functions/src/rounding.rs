//! Rounding by the digits that a reader sees.

/// The digits of a number's shortest text up to some place, and the next one.
fn digits(x: f64, places: i32) -> Option<(i128, u8)> {
    let text = format!("{}", x.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let all = format!("{whole}{fraction}");
    let keep = whole.len() as i32 + places;
    if keep < 0 {
        return Some((0, 0));
    }
    let keep = keep as usize;
    if keep >= all.len() {
        return None;
    }
    let kept = if keep == 0 {
        0
    } else {
        all[..keep].parse().ok()?
    };
    Some((kept, all.as_bytes()[keep] - b'0'))
}

fn scaled(n: i128, places: i32, x: f64) -> f64 {
    // By way of a text: a division would bring the error back that the digits do not have.
    format!("{n}e{}", -places)
        .parse::<f64>()
        .unwrap_or(0.0)
        .copysign(x)
}

/// Half is rounded away from zero, by the digits that a reader sees: 2.675 becomes 2.68.
pub(crate) fn rounded(x: f64, places: i32) -> f64 {
    match digits(x, places) {
        _ if !x.is_finite() => x,
        None => x,
        Some((n, next)) => scaled(n + i128::from(next >= 5), places, x),
    }
}

pub(crate) fn truncated(x: f64, places: i32) -> f64 {
    match digits(x, places) {
        _ if !x.is_finite() => x,
        None => x,
        Some((n, _)) => scaled(n, places, x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero() {
        for (x, places, expected) in [
            (2.5, 0, 3.0),
            (-2.5, 0, -3.0),
            (2.675, 2, 2.68),
            (1234.5, -2, 1200.0),
            (1.0, 5, 1.0),
            (0.05, 1, 0.1),
            (49.0, -2, 0.0),
        ] {
            assert_eq!(rounded(x, places), expected, "{x} {places}");
        }
        assert_eq!(truncated(2.567, 1), 2.5);
        assert_eq!(truncated(-1.99, 1), -1.9);
    }
}
