//! Days since 1970-01-01, and the Gregorian calendar.

use jiff::SignedDuration;
use jiff::civil::{Date, date};

const EPOCH: Date = date(1970, 1, 1);

/// The calendar repeats after this number of years, which have this number of days: each year
/// has an equivalent in the range of jiff, which ends at 9999.
const ERA_YEARS: i64 = 400;
const ERA_DAYS: i64 = 146_097;

/// The first of a month in the years from 2000 on, and the eras between that year and the given one.
fn first_of(year: i64, month: i64) -> (Date, i64) {
    let of_era = 2000 + year.rem_euclid(ERA_YEARS) as i16;
    let first = date(of_era, month.clamp(1, 12) as i8, 1);
    (first, year.div_euclid(ERA_YEARS) - 2000 / ERA_YEARS)
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (first, eras) = first_of(year, month);
    first.duration_since(EPOCH).as_hours() / 24 + eras * ERA_DAYS + day - 1
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let of_era = SignedDuration::from_hours(days.rem_euclid(ERA_DAYS) * 24);
    let day = EPOCH.saturating_add(of_era);
    let year = i64::from(day.year()) + days.div_euclid(ERA_DAYS) * ERA_YEARS;
    (year, day.month().into(), day.day().into())
}

/// Days of a month.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    first_of(year, month).0.days_in_month().into()
}
