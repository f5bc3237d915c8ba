//! Times of a day, and TIMEs, which may be longer or negative.

/// Microseconds of `08:09:10.5`, `-25:00:00`, `08:09`.
pub fn parse_time(text: &str) -> Option<i64> {
    let text = super::short(text)?;
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
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

/// `.125`, with a number of digits.
pub(super) fn fraction(micros: i64, digits: i64) -> String {
    let digits = digits.clamp(0, 6) as usize;
    if digits == 0 {
        return String::new();
    }
    let all = format!("{:06}", micros.unsigned_abs() % 1_000_000);
    format!(".{}", &all[..digits])
}

/// Microseconds, rounded to a number of digits behind the second.
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
