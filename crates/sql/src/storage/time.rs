//! Dates and times as MySQL computes with them. Text in, text out: `2026-11-21 08:09:10.500000`.

/// A date and time, in microseconds and days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime {
    /// Days since 1970-01-01.
    pub days: i64,
    /// Microseconds of the day.
    pub micros: i64,
    /// Whether there was a time of day.
    pub has_time: bool,
}

const DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01 of a date of the Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one; an era has 400 of them.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days of a month.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    let (y, m) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    days_from_civil(y, m, 1) - days_from_civil(year, month, 1)
}

impl DateTime {
    /// Reads a date with or without a time. `None` for what is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.find([' ', 'T']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let (year, month, day) =
            if date.bytes().all(|b| b.is_ascii_digit()) && (date.len() == 8 || date.len() == 14) {
                (
                    date[..4].parse().ok()?,
                    date[4..6].parse().ok()?,
                    date[6..8].parse().ok()?,
                )
            } else {
                let mut parts = date.split(['-', '/', '.']);
                let parsed: (i64, i64, i64) = (
                    parts.next()?.parse().ok()?,
                    parts.next()?.parse().ok()?,
                    parts.next()?.parse().ok()?,
                );
                if parts.next().is_some() {
                    return None;
                }
                parsed
            };
        if !(0..=9999).contains(&year)
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in_month(year, month)
        {
            return None;
        }
        let micros = match time {
            Some(time) => parse_time(time)?,
            None if date.len() == 14 => parse_time(&format!(
                "{}:{}:{}",
                &date[8..10],
                &date[10..12],
                &date[12..14]
            ))?,
            None => 0,
        };
        if !(0..DAY).contains(&micros) {
            return None;
        }
        Some(Self {
            days: days_from_civil(year, month, day),
            micros,
            has_time: time.is_some() || date.len() == 14,
        })
    }

    /// Seconds and microseconds since 1970, as local time, made a date and time.
    pub fn from_local(seconds: i64, micros: i64) -> Self {
        Self {
            days: seconds.div_euclid(86_400),
            micros: seconds.rem_euclid(86_400) * 1_000_000 + micros,
            has_time: true,
        }
    }

    /// Microseconds since 1970.
    pub fn total(&self) -> i64 {
        self.days * DAY + self.micros
    }

    /// From microseconds since 1970.
    pub fn from_total(total: i64, has_time: bool) -> Self {
        Self {
            days: total.div_euclid(DAY),
            micros: total.rem_euclid(DAY),
            has_time,
        }
    }

    /// Year, month, day.
    pub fn civil(&self) -> (i64, i64, i64) {
        civil_from_days(self.days)
    }

    /// Hour, minute, second, microsecond.
    pub fn clock(&self) -> (i64, i64, i64, i64) {
        let s = self.micros / 1_000_000;
        (s / 3600, s / 60 % 60, s % 60, self.micros % 1_000_000)
    }

    /// 0 is Monday.
    pub fn weekday(&self) -> i64 {
        (self.days + 3).rem_euclid(7)
    }

    /// 1 is the first of January.
    pub fn day_of_year(&self) -> i64 {
        self.days - days_from_civil(self.civil().0, 1, 1) + 1
    }

    /// `2026-11-21`.
    pub fn date_text(&self) -> String {
        let (y, m, d) = self.civil();
        format!("{y:04}-{m:02}-{d:02}")
    }

    /// `2026-11-21 08:09:10`, with the fraction if there is one.
    pub fn text(&self) -> String {
        let (h, m, s, u) = self.clock();
        let fraction = if u == 0 {
            String::new()
        } else {
            format!(".{u:06}")
        };
        format!("{} {h:02}:{m:02}:{s:02}{fraction}", self.date_text())
    }

    /// The same with so many digits behind the second; more are cut off.
    pub fn text_with(&self, digits: i64) -> String {
        let whole = Self {
            micros: self.micros - self.micros.rem_euclid(1_000_000),
            ..*self
        };
        whole.text() + &fraction(self.micros, digits)
    }

    /// With a number of units added; `None` outside of the years 0 to 9999.
    pub fn add(&self, n: f64, unit: &str) -> Option<Self> {
        let whole = n.round() as i64;
        let months = match unit {
            "MONTH" => Some(whole),
            "QUARTER" => whole.checked_mul(3),
            "YEAR" => whole.checked_mul(12),
            _ => None,
        };
        let moved = match months {
            Some(months) => {
                let (y, m, d) = self.civil();
                let total = (y * 12 + m - 1).checked_add(months)?;
                let (y, m) = (total.div_euclid(12), total.rem_euclid(12) + 1);
                if !(0..=9999).contains(&y) {
                    return None;
                }
                Self {
                    days: days_from_civil(y, m, d.min(days_in_month(y, m))),
                    ..*self
                }
            }
            None => {
                let step = unit_micros(unit)?;
                let by = if unit == "SECOND" {
                    (n * 1e6).round() as i64
                } else {
                    whole.checked_mul(step)?
                };
                let has_time = self.has_time || step < DAY;
                Self::from_total(self.total().checked_add(by)?, has_time)
            }
        };
        (0..=9999).contains(&moved.civil().0).then_some(moved)
    }
}

fn unit_micros(unit: &str) -> Option<i64> {
    Some(match unit {
        "MICROSECOND" => 1,
        "SECOND" => 1_000_000,
        "MINUTE" => 60_000_000,
        "HOUR" => 3_600_000_000,
        "DAY" => DAY,
        "WEEK" => 7 * DAY,
        _ => return None,
    })
}

/// Whole units from `from` to `to`, as TIMESTAMPDIFF.
pub fn difference(unit: &str, from: DateTime, to: DateTime) -> Option<i64> {
    if let Some(step) = unit_micros(unit) {
        return Some((to.total() - from.total()) / step);
    }
    let months = |a: DateTime, b: DateTime| {
        let ((ay, am, ad), (by, bm, bd)) = (a.civil(), b.civil());
        let whole = (by * 12 + bm) - (ay * 12 + am);
        whole - i64::from((bd, b.micros) < (ad, a.micros))
    };
    let n = if from.total() <= to.total() {
        months(from, to)
    } else {
        -months(to, from)
    };
    match unit {
        "MONTH" => Some(n),
        "QUARTER" => Some(n / 3),
        "YEAR" => Some(n / 12),
        _ => None,
    }
}

/// Microseconds of `08:09:10.5`, `-25:00:00`, `08:09`.
pub fn parse_time(text: &str) -> Option<i64> {
    let (negative, text) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim()),
    };
    let (main, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = main.split(':').map(|p| p.parse::<i64>().ok());
    let hours = parts.next()??;
    let minutes = parts.next().unwrap_or(Some(0))?;
    let seconds = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || !(0..60).contains(&minutes) || !(0..60).contains(&seconds) {
        return None;
    }
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let micros =
        ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + digits.parse::<i64>().ok()?;
    Some(if negative { -micros } else { micros })
}

/// `hh:mm:ss` of microseconds, as TIME.
pub fn time_text_with(micros: i64, digits: i64) -> String {
    if micros < 0 {
        return format!("-{}", time_text_with(-micros, digits));
    }
    time_text(micros - micros % 1_000_000) + &fraction(micros, digits)
}

/// `.125`, with so many digits.
fn fraction(micros: i64, digits: i64) -> String {
    let digits = digits.clamp(0, 6) as usize;
    if digits == 0 {
        return String::new();
    }
    let all = format!("{:06}", micros.unsigned_abs() % 1_000_000);
    format!(".{}", &all[..digits])
}

/// Microseconds, rounded to so many digits behind the second.
pub fn rounded(micros: i64, digits: i64) -> i64 {
    let unit = 10i64.pow(6 - digits.clamp(0, 6) as u32);
    (micros.abs() + unit / 2) / unit * unit * micros.signum()
}

/// `08:09:10`, with the fraction if there is one.
pub fn time_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let u = micros.unsigned_abs();
    let s = u / 1_000_000;
    let fraction = if u.is_multiple_of(1_000_000) {
        String::new()
    } else {
        format!(".{:06}", u % 1_000_000)
    };
    format!(
        "{sign}{:02}:{:02}:{:02}{fraction}",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// How far local time is from UTC at a moment, in seconds.
pub fn utc_offset(unix_seconds: i64) -> i64 {
    // SAFETY: `tm` is plain data for which all zero bytes are a value.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    let at: libc::time_t = unix_seconds;
    // SAFETY: both pointers are to locals of the right types.
    let found = unsafe { libc::localtime_r(&at, &mut tm) };
    if found.is_null() { 0 } else { tm.tm_gmtoff }
}

/// Now, in seconds and microseconds since 1970, UTC.
pub fn now_utc() -> (i64, i64) {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    (since.as_secs() as i64, i64::from(since.subsec_micros()))
}

/// Now, local.
pub fn now_local(with_micros: bool) -> DateTime {
    let (seconds, micros) = now_utc();
    DateTime::from_local(
        seconds + utc_offset(seconds),
        if with_micros { micros } else { 0 },
    )
}

/// The months' names.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The days' names, from Monday on.
pub const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// DAYNAME.
pub fn day_name(at: DateTime) -> &'static str {
    DAYS[at.weekday() as usize]
}

/// MONTHNAME.
pub fn month_name(at: DateTime) -> &'static str {
    MONTHS[(at.civil().1 - 1) as usize]
}

/// WEEK in MySQL's mode 0 (from Sunday, 0 to 53) or 3 (ISO).
pub fn week(at: DateTime, mode: i64) -> i64 {
    week_and_year(at, mode).0
}

/// The week and the year that it belongs to. The mode's bits: weeks begin on Monday; weeks are
/// counted from 1, the days before belong to last year's last; the other rule for the first week.
pub fn week_and_year(at: DateTime, mode: i64) -> (i64, i64) {
    let (monday, from_one) = (mode & 1 != 0, mode & 2 != 0);
    // The first week is the one with four days in the year, or the first whole one.
    let four_days = monday != (mode & 4 != 0);
    let start = |year| {
        let first = days_from_civil(year, 1, 1);
        let into_week = (first + if monday { 3 } else { 4 }).rem_euclid(7);
        if into_week == 0 || four_days && into_week <= 3 {
            first - into_week
        } else {
            first + 7 - into_week
        }
    };
    let (year, ..) = at.civil();
    let year = match from_one {
        true if at.days < start(year) => year - 1,
        true if at.days >= start(year + 1) => year + 1,
        _ => year,
    };
    ((at.days - start(year)).div_euclid(7) + 1, year)
}

/// DATE_FORMAT.
pub fn format(at: DateTime, pattern: &str) -> String {
    let ((year, month, day), (hour, minute, second, micros)) = (at.civil(), at.clock());
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let half = if hour < 12 { "AM" } else { "PM" };
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(c) = chars.next() else { break };
        let piece = match c {
            'Y' => format!("{year:04}"),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'c' => month.to_string(),
            'M' => month_name(at).into(),
            'b' => month_name(at)[..3].into(),
            'd' => format!("{day:02}"),
            'e' => day.to_string(),
            'D' => format!(
                "{day}{}",
                match (day % 10, day) {
                    (_, 11..=13) => "th",
                    (1, _) => "st",
                    (2, _) => "nd",
                    (3, _) => "rd",
                    _ => "th",
                }
            ),
            'j' => format!("{:03}", at.day_of_year()),
            'H' => format!("{hour:02}"),
            'k' => hour.to_string(),
            'h' | 'I' => format!("{hour12:02}"),
            'l' => hour12.to_string(),
            'i' => format!("{minute:02}"),
            's' | 'S' => format!("{second:02}"),
            'f' => format!("{micros:06}"),
            'p' => half.into(),
            'r' => format!("{hour12:02}:{minute:02}:{second:02} {half}"),
            'T' => format!("{hour:02}:{minute:02}:{second:02}"),
            'W' => day_name(at).into(),
            'a' => day_name(at)[..3].into(),
            'w' => ((at.weekday() + 1) % 7).to_string(),
            'U' => format!("{:02}", week(at, 0)),
            'v' => format!("{:02}", week(at, 3)),
            'u' => format!("{:02}", week(at, 1)),
            'V' => format!("{:02}", week(at, 2)),
            'x' => format!("{:04}", week_and_year(at, 3).1),
            'X' => format!("{:04}", week_and_year(at, 2).1),
            other => other.to_string(),
        };
        out.push_str(&piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime {
        DateTime::parse(text).expect(text)
    }

    #[test]
    fn the_calendar_goes_round() {
        for days in (-800_000..800_000).step_by(97) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
        }
        assert_eq!(at("2026-11-21").weekday(), 5);
        assert_eq!(DateTime::parse("2026-02-29"), None);
        assert_eq!(DateTime::parse("yesterday"), None);
    }

    #[test]
    fn intervals_move_dates() {
        assert_eq!(
            at("2024-01-31")
                .add(1.0, "MONTH")
                .expect("in range")
                .date_text(),
            "2024-02-29"
        );
        assert_eq!(
            at("2024-12-31 23:59:59")
                .add(1.0, "SECOND")
                .expect("in range")
                .text(),
            "2025-01-01 00:00:00"
        );
        assert_eq!(at("9999-12-31").add(1.0, "DAY"), None);
        assert_eq!(
            difference("MONTH", at("2024-01-31"), at("2024-02-29")),
            Some(0)
        );
        assert_eq!(
            difference("DAY", at("2024-03-01"), at("2024-02-28")),
            Some(-2)
        );
    }

    #[test]
    fn formats_follow_mysql() {
        let t = at("2026-11-21 08:09:10");
        assert_eq!(
            format(t, "%W, %D %M %Y %H:%i:%s %p"),
            "Saturday, 21st November 2026 08:09:10 AM"
        );
        assert_eq!(format(t, "%j %U %e/%c %%"), "325 46 21/11 %");
        assert_eq!(
            time_text(parse_time("-25:01:02.5").expect("a time")),
            "-25:01:02.500000"
        );
    }
}
