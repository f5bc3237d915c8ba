//! Values of options: times, sizes and rates.

use std::time::Duration;

/// Parses `30s`, `10m`, `2h`, `7d`; a number alone is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: give a time such as 30s, 10m, 2h or 7d");
    let (number, seconds) = split_unit(
        text,
        &[("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)],
    );
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let all = number * seconds;
    match (0.1..=3.2e9).contains(&all) {
        true => Ok(Duration::from_secs_f64(all)),
        false => Err(wrong()),
    }
}

/// Parses `500M`, `10G`; a number alone is bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text}: give a size such as 500M or 10G");
    let units = [("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let (number, bytes) = split_unit(text, &units);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    match (0.0..9e18).contains(&(number * bytes)) {
        true => Ok((number * bytes) as u64),
        false => Err(wrong()),
    }
}

/// Splits a number from its unit, and returns the unit's factor.
fn split_unit<'t>(text: &'t str, units: &[(&str, f64)]) -> (&'t str, f64) {
    let split = units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?;
        Some((number, *factor))
    });
    split.unwrap_or((text, 1.0))
}

/// Parses moments a second.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text}: give moments a second, from 0.01 to 1000");
    let rate: f64 = text.parse().map_err(|_| wrong())?;
    match (0.01..=1000.0).contains(&rate) {
        true => Ok(rate),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(parse_duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(parse_duration("0.5"), Ok(Duration::from_millis(500)));
        assert!(
            parse_duration("soon").is_err()
                && parse_duration("0").is_err()
                && parse_duration("-1s").is_err()
        );
        assert_eq!(parse_size("500M"), Ok(500_000_000));
        assert_eq!(parse_size("12"), Ok(12));
        assert!(parse_size("much").is_err() && parse_size("-1G").is_err());
        assert!(
            parse_rate("0").is_err() && parse_rate("1e9").is_err() && parse_rate("nan").is_err()
        );
    }
}
