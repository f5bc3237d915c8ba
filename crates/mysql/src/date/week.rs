//! Weeks, in MySQL's eight modes.

use super::DateTime;
use super::civil::days_from_civil;

/// WEEK in MySQL's mode 0 (from Sunday, 0 to 53) or 3 (ISO).
pub fn week(at: DateTime, mode: i64) -> i64 {
    week_and_year(at, mode).0
}

/// The week and the year that it belongs to. The mode's bits: weeks begin on Monday; weeks are
/// counted from 1, the days before belong to last year's last; the other rule for the first week.
pub fn week_and_year(at: DateTime, mode: i64) -> (i64, i64) {
    let (monday, from_one) = (mode & 1 != 0, mode & 2 != 0);
    // The first week is the one with four days in the year, or the first complete week.
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
