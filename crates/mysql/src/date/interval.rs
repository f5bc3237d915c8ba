//! Intervals: a date and a number of units, and the units between two dates.

use super::civil::{days_from_civil, days_in_month};
use super::{DAY_US, DateTime};

impl DateTime {
    /// With a number of units added; `None` outside of the years 0 to 9999.
    pub fn add(&self, n: f64, unit: &str) -> Option<Self> {
        let count = n.round() as i64;
        let months = match unit {
            "MONTH" => Some(count),
            "QUARTER" => count.checked_mul(3),
            "YEAR" => count.checked_mul(12),
            _ => None,
        };
        let sum = match months {
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
                    count.checked_mul(step)?
                };
                let has_time = self.has_time || step < DAY_US;
                Self::from_total(self.total().checked_add(by)?, has_time)
            }
        };
        (0..=9999).contains(&sum.civil().0).then_some(sum)
    }
}

pub(super) fn unit_micros(unit: &str) -> Option<i64> {
    Some(match unit {
        "MICROSECOND" => 1,
        "SECOND" => 1_000_000,
        "MINUTE" => 60_000_000,
        "HOUR" => 3_600_000_000,
        "DAY" => DAY_US,
        "WEEK" => 7 * DAY_US,
        _ => return None,
    })
}

/// The number of complete units from `from` to `to`, as TIMESTAMPDIFF returns it.
pub fn difference(unit: &str, from: DateTime, to: DateTime) -> Option<i64> {
    if let Some(step) = unit_micros(unit) {
        return Some((to.total() - from.total()) / step);
    }
    let months = |a: DateTime, b: DateTime| {
        let ((ay, am, ad), (by, bm, bd)) = (a.civil(), b.civil());
        let months = (by * 12 + bm) - (ay * 12 + am);
        months - i64::from((bd, b.micros) < (ad, a.micros))
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
