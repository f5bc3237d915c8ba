//! Formats numbers for people: three or four digits and a unit, at most ten characters.

#[cfg(feature = "tools")]
use tare_rows::time::timestamp_of_seconds;

/// A time in picoseconds, in the units of sys.format_time.
pub fn time(ps: f64) -> String {
    const UNITS: [(f64, &str); 7] = [
        (3600e12, "h"),
        (60e12, "m"),
        (1e12, "s"),
        (1e9, "ms"),
        (1e6, "us"),
        (1e3, "ns"),
        (1.0, "ps"),
    ];
    let (size, unit) = UNITS
        .into_iter()
        .find(|(size, _)| ps >= *size)
        .unwrap_or((1.0, "ps"));
    if ps == 0.0 {
        "0".to_owned()
    } else {
        format!("{:.2} {unit}", ps / size)
    }
}

/// A count, or a rate.
pub fn count(n: f64) -> String {
    // The sum of no numbers is -0.
    let n = n + 0.0;
    match n.abs() {
        x if x >= 1e12 => format!("{:.1}T", n / 1e12),
        x if x >= 1e9 => format!("{:.1}G", n / 1e9),
        x if x >= 1e7 => format!("{:.1}M", n / 1e6),
        x if x >= 100.0 || n == n.trunc() => format!("{n:.0}"),
        x if x >= 10.0 => format!("{n:.1}"),
        _ => format!("{n:.2}"),
    }
}

/// Bytes, in powers of 1024.
#[cfg(any(test, feature = "tools"))]
pub fn bytes(n: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = n + 0.0;
    let mut unit = 0;
    while scaled.abs() >= 1024.0 && unit < UNITS.len() - 1 {
        scaled /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{scaled:.0} B"),
        _ => format!("{scaled:.1} {}", UNITS[unit]),
    }
}

/// A share.
#[cfg(feature = "tools")]
pub fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A time in milliseconds since 1970 in UTC, to the second.
#[cfg(feature = "tools")]
pub fn in_utc(ms: i64) -> String {
    timestamp_of_seconds(ms.max(0).unsigned_abs().saturating_mul(1000))
}

/// A text on one line, without control characters.
pub fn line(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() || is_invisible(c) {
                ' '
            } else {
                c
            }
        })
        .collect()
}

/// Whether a character is invisible or changes the direction of text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_unit() {
        assert_eq!(time(0.0), "0");
        assert_eq!(time(999.0), "999.00 ps");
        assert_eq!(time(155_820_000.0), "155.82 us");
        assert_eq!(time(43.85e12), "43.85 s");
        assert_eq!(time(7200e12), "2.00 h");
    }

    #[test]
    fn counts_and_bytes_stay_narrow() {
        assert_eq!(count(0.0), "0");
        assert_eq!(count(3.0), "3");
        assert_eq!(count(3.456), "3.46");
        assert_eq!(count(1_234_567.0), "1234567");
        assert_eq!(count(1.8e19), "18000000.0T");
        assert_eq!(bytes(1023.0), "1023 B");
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(-2048.0), "-2.0 KiB");
    }

    #[test]
    fn a_text_cannot_move_the_cursor() {
        assert_eq!(line("a\x1b[2J\n\u{202e}b"), "a [2J  b");
    }
}
