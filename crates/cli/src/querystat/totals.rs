//! What the server counted itself: every statement, and on Tare's engine how long each took.

use std::collections::HashMap;

use super::histogram::Histogram;
use crate::observe::{ObservedServer, Product, QueryError, integer, real, text};

/// Statements as clients send them: not those inside stored programs, not the protocol's small change.
pub const IS_STATEMENT: &str = "EVENT_NAME LIKE 'statement/%' AND EVENT_NAME NOT LIKE 'statement/sp/%' \
    AND EVENT_NAME NOT LIKE 'statement/abstract/%' AND EVENT_NAME NOT LIKE 'statement/scheduler/%' \
    AND (EVENT_NAME NOT LIKE 'statement/com/%' OR EVENT_NAME IN ('statement/com/Query', 'statement/com/Execute'))";

/// The totals at one moment.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Statements that have ended.
    pub count: i128,
    /// How long they took, in picoseconds.
    pub sum_ps: i128,
    /// MariaDB's query cache: SELECTs answered out of it.
    pub cache_hits: Option<i128>,
    /// Bucket by name and lower bound: middle and count. Tare's engine alone has them.
    buckets: HashMap<(String, i128), (f64, i128)>,
}

impl Totals {
    /// Asks. What our own connection did is left out, so that a quiet server is seen to be quiet.
    pub fn ask(observed: &mut ObservedServer, own_thread: Option<u64>) -> Result<Self, QueryError> {
        let sums = "SELECT COALESCE(SUM(COUNT_STAR), 0) AS n, COALESCE(SUM(SUM_TIMER_WAIT), 0) AS ps \
            FROM performance_schema.events_statements_summary";
        let all = format!("{sums}_global_by_event_name WHERE {IS_STATEMENT}");
        // In one question: of two, the second would see the first among our own, which the first did not.
        let question = match own_thread {
            None => all,
            Some(own) => format!(
                "SELECT a.n - o.n, a.ps - o.ps FROM ({all}) AS a, \
                 ({sums}_by_thread_by_event_name WHERE THREAD_ID = {own} AND {IS_STATEMENT}) AS o"
            ),
        };
        let rows = observed.rows(&question)?;
        let of = |at: usize| {
            rows.first()
                .and_then(|row| integer(row.get(at)?))
                .unwrap_or(0)
        };
        let (count, sum_ps) = (of(0), of(1));
        let mut totals = Self {
            count,
            sum_ps,
            ..Self::default()
        };
        if observed.about.product == Product::MariaDb {
            let rows = observed.rows("SHOW GLOBAL STATUS LIKE 'Qcache_hits'")?;
            totals.cache_hits = rows.first().and_then(|row| integer(row.get(1)?));
        }
        if observed.about.product == Product::Tare {
            let rows = observed.rows(&format!(
                "SELECT EVENT_NAME, BUCKET_TIMER_LOW, BUCKET_TIMER_HIGH, COUNT_BUCKET FROM tare.histogram_by_event_name WHERE {IS_STATEMENT}"
            ))?;
            for row in rows {
                let [name, low, high, count] = row.as_slice() else {
                    continue;
                };
                let (Some(name), Some(key), Some(low), Some(high), Some(count)) = (
                    text(name),
                    integer(low),
                    real(low),
                    real(high),
                    integer(count),
                ) else {
                    continue;
                };
                totals
                    .buckets
                    .insert((name, key), ((low + high) / 2.0, count));
            }
        }
        Ok(totals)
    }

    /// The latencies of what came since, in powers of two. A bucket of Tare's is at most a quarter as wide as
    /// one of these, and goes whole where its middle is.
    pub fn histogram_since(&self, before: &Self) -> Histogram {
        let mut histogram = Histogram::default();
        for (key, (middle, count)) in &self.buckets {
            let had = before.buckets.get(key).map_or(0, |(_, count)| *count);
            // Truncated meanwhile: what is there came since.
            let came = if had > *count { *count } else { count - had };
            histogram.add_many(*middle, u64::try_from(came).unwrap_or(0));
        }
        histogram
    }

    /// Statements since, and their picoseconds. A total that fell was reset: what is there came since.
    pub fn since(&self, before: &Self) -> (u64, f64) {
        // Each sum that the server gives is rounded, so that their difference can fall by a picosecond.
        if self.count == before.count {
            return (0, 0.0);
        }
        let reset = self.count < before.count || self.sum_ps < before.sum_ps;
        let (count, sum) = if reset {
            (0, 0)
        } else {
            (before.count, before.sum_ps)
        };
        (
            u64::try_from(self.count - count).unwrap_or(0),
            (self.sum_ps - sum) as f64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reset_counts_whole() {
        let at = |count, sum_ps| Totals {
            count,
            sum_ps,
            ..Totals::default()
        };
        assert_eq!(at(15, 900).since(&at(5, 100)), (10, 800.0));
        assert_eq!(at(3, 30).since(&at(5, 100)), (3, 30.0));
        assert_eq!(at(7, 30).since(&at(5, 100)), (7, 30.0));
    }

    #[test]
    fn rounding_is_no_reset() {
        let at = |sum_ps| Totals {
            count: 5,
            sum_ps,
            ..Totals::default()
        };
        assert_eq!(at(99).since(&at(100)), (0, 0.0));
    }

    #[test]
    fn only_new_counts_of_buckets_are_taken() {
        let with = |count| Totals {
            buckets: [(("statement/sql/select".to_owned(), 1), (3e6, count))].into(),
            ..Totals::default()
        };
        assert_eq!(with(9).histogram_since(&with(4)).count(), 5);
        assert_eq!(with(2).histogram_since(&with(4)).count(), 2);
    }
}
