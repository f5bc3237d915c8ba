//! The server's own totals: every statement and, on Tare's engine, a histogram of latencies.

use std::collections::HashMap;

use super::histogram::Histogram;
use crate::observe::{ObservedServer, Product, QueryError, integer, real, text};

/// Statements that clients send, without those inside stored programs and protocol commands.
pub const IS_STATEMENT: &str = "EVENT_NAME LIKE 'statement/%' AND EVENT_NAME NOT LIKE 'statement/sp/%' \
    AND EVENT_NAME NOT LIKE 'statement/abstract/%' AND EVENT_NAME NOT LIKE 'statement/scheduler/%' \
    AND (EVENT_NAME NOT LIKE 'statement/com/%' OR EVENT_NAME IN ('statement/com/Query', 'statement/com/Execute'))";

/// The totals at one moment.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Ended statements.
    pub count: i128,
    /// Their time in picoseconds.
    pub sum_ps: i128,
    /// Hits of MariaDB's query cache.
    pub cache_hits: Option<i128>,
    /// Middle and count of buckets by name and lower bound; only of Tare's engine.
    buckets: HashMap<(String, i128), (f64, i128)>,
}

impl Totals {
    /// Reads the totals without this connection's own statements.
    pub fn query(
        observed: &mut ObservedServer,
        own_thread: Option<u64>,
    ) -> Result<Self, QueryError> {
        let sums = "SELECT COALESCE(SUM(COUNT_STAR), 0) AS n, COALESCE(SUM(SUM_TIMER_WAIT), 0) AS ps \
            FROM performance_schema.events_statements_summary";
        let all = format!("{sums}_global_by_event_name WHERE {IS_STATEMENT}");
        // One query, because the second of two would count the first.
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

    /// The latencies since then in powers of two. Tare's buckets are at most a quarter as wide, and
    /// each is counted where its middle is.
    pub fn histogram_since(&self, before: &Self) -> Histogram {
        let mut histogram = Histogram::default();
        for (key, (middle, count)) in &self.buckets {
            let had = before.buckets.get(key).map_or(0, |(_, count)| *count);
            // A bucket that fell was reset since `before`, so that its count is the growth.
            let growth = if had > *count { *count } else { count - had };
            histogram.add_many(*middle, u64::try_from(growth).unwrap_or(0));
        }
        histogram
    }

    /// Statements since `before`, and their picoseconds. A total that fell was reset, so that its value is the growth.
    pub fn since(&self, before: &Self) -> (u64, f64) {
        // The server's sums are rounded, so that their difference can fall by a picosecond.
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
    fn a_reset_total_counts_from_zero() {
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
