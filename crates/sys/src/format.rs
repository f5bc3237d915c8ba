//! Sizes, times and statements as people read them.

/// `1.50 KiB` of 1536.
pub fn format_bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes.abs() < 1024.0 {
        return format!("{bytes:.0} bytes");
    }
    let mut value = bytes / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value.abs() < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.2} {unit}")
}

/// `1.50 ms` of 1,500,000,000 picoseconds.
pub fn format_time(picoseconds: f64) -> String {
    const UNITS: [(f64, &str); 8] = [
        (604_800e12, "w"),
        (86_400e12, "d"),
        (3_600e12, "h"),
        (60e12, "m"),
        (1e12, "s"),
        (1e9, "ms"),
        (1e6, "us"),
        (1e3, "ns"),
    ];
    for (size, unit) in UNITS {
        if picoseconds.abs() >= size {
            return format!("{:.2} {unit}", picoseconds / size);
        }
    }
    format!("{} ps", tare_mysql::wire::value::display_real(picoseconds))
}

/// A statement of more than `limit` characters, cut in the middle; on one line.
pub fn format_statement(statement: &str, limit: usize) -> String {
    let line = |text: &mut dyn Iterator<Item = char>| -> String {
        text.map(|c| if c == '\n' { ' ' } else { c }).collect()
    };
    let length = statement.chars().count();
    if length <= limit {
        return line(&mut statement.chars());
    }
    // Five characters, ` ... `, replace the middle.
    let side = (limit / 2).saturating_sub(2);
    let first = line(&mut statement.chars().take(side));
    let last = line(&mut statement.chars().skip(length - side));
    format!("{first} ... {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        for (bytes, text) in [
            (0.0, "0 bytes"),
            (1023.0, "1023 bytes"),
            (1024.0, "1.00 KiB"),
            (1536.0, "1.50 KiB"),
            (1048576.0, "1.00 MiB"),
            (5.5e15, "4.88 PiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
        for (ps, text) in [
            (0.0, "0 ps"),
            (999.0, "999 ps"),
            (1000.0, "1.00 ns"),
            (342_342.0, "342.34 ns"),
            (1_500_000_000.0, "1.50 ms"),
            (60e12, "1.00 m"),
            (86_400e12, "1.00 d"),
            (9e17, "1.49 w"),
        ] {
            assert_eq!(format_time(ps), text);
        }
    }

    #[test]
    fn a_long_statement_loses_its_middle() {
        assert_eq!(format_statement("SELECT\n1", 64), "SELECT 1");
        let long = "é".repeat(100);
        let cut = format_statement(&long, 20);
        assert_eq!(cut, format!("{0} ... {0}", "é".repeat(8)));
        assert_eq!(format_statement("abcdef", 0), " ... ");
    }
}
