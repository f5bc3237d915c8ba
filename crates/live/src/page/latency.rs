//! Latencies of a statement: percentiles from the server's histogram, and how they change while its page is open.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};
use tare_history::Answer;

/// The percentiles of the page.
const SHARES: [f64; 3] = [0.5, 0.95, 0.99];

/// The shortest time between two readings of a statement.
const INTERVAL_MS: i64 = 5000;

/// The most readings of a statement: half an hour of them.
const MAX_READINGS: usize = 360;

/// The most statements with readings. The one that was read longest ago is removed.
const MAX_STATEMENTS: usize = 32;

/// A bucket of a histogram: its bounds in picoseconds, and the number of calls.
type Bucket = [f64; 3];

/// What the server has counted of a statement since it began to count.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// In milliseconds since 1970.
    at: i64,
    /// The totals, as the server answered them. None if it did not, or if the digest has none.
    pub summary: Option<Vec<Option<f64>>>,
    /// The histogram, in the order of time.
    buckets: Vec<Bucket>,
    /// Why something is missing.
    pub why: Option<String>,
}

impl Reading {
    /// A reading from the answers of a server.
    pub fn new(
        at: i64,
        summary: &Result<Answer, String>,
        histogram: &Result<Answer, String>,
    ) -> Self {
        let rows = histogram.as_ref().map_or(&[][..], Vec::as_slice).iter();
        let buckets = rows.filter_map(|row| match numbers(row)[..] {
            [Some(low), Some(high), Some(count)] => Some([low, high, count]),
            _ => None,
        });
        let first = summary.as_ref().ok().and_then(|rows| rows.first());
        Self {
            at,
            summary: first.map(|row| numbers(row)),
            buckets: buckets.collect(),
            why: histogram.as_ref().err().or(summary.as_ref().err()).cloned(),
        }
    }

    /// Calls, and their time in picoseconds.
    fn totals(&self) -> Option<[f64; 2]> {
        match self.summary.as_deref()? {
            [Some(calls), Some(time), ..] => Some([*calls, *time]),
            _ => None,
        }
    }

    /// The calls after an older reading: their mean and percentiles in picoseconds. `None` if there are none, or if
    /// the server began to count again.
    fn since(&self, older: &Self) -> Option<(f64, Option<[f64; 3]>)> {
        let ([calls, time], [old_calls, old_time]) = (self.totals()?, older.totals()?);
        let (calls, time) = (calls - old_calls, time - old_time);
        if calls <= 0.0 || time < 0.0 {
            return None;
        }
        let mut buckets = self.buckets.clone();
        for bucket in &mut buckets {
            let mut same = older.buckets.iter().filter(|old| old[0] == bucket[0]);
            bucket[2] -= same.next().map_or(0.0, |old| old[2]);
        }
        let is_growth = buckets.iter().all(|bucket| bucket[2] >= 0.0);
        Some((
            time / calls,
            is_growth.then(|| percentiles(&buckets)).flatten(),
        ))
    }
}

/// Readings of the statements whose pages are open.
#[derive(Default)]
pub struct Latencies {
    of: HashMap<String, VecDeque<Reading>>,
}

impl Latencies {
    /// The last reading, if it is recent enough.
    pub fn recent(&self, digest: &str, now: i64) -> Option<&Reading> {
        let last = self.of.get(digest)?.back()?;
        (now - last.at < INTERVAL_MS).then_some(last)
    }

    /// Adds a reading.
    pub fn add(&mut self, digest: &str, reading: Reading) {
        if !self.of.contains_key(digest) && self.of.len() >= MAX_STATEMENTS {
            let last = |all: &VecDeque<Reading>| all.back().map_or(0, |reading| reading.at);
            let oldest = self.of.iter().min_by_key(|(_, all)| last(all));
            if let Some(oldest) = oldest.map(|(digest, _)| digest.clone()) {
                self.of.remove(&oldest);
            }
        }
        let all = self.of.entry(digest.to_owned()).or_default();
        if all.len() >= MAX_READINGS {
            all.pop_front();
        }
        all.push_back(reading);
    }

    /// The state for the page: totals, histogram and percentiles since the server began to count, and their trend.
    pub fn state(&self, digest: &str) -> Value {
        let Some(all) = self.of.get(digest) else {
            return json!({});
        };
        let pairs = all.iter().zip(all.iter().skip(1));
        let trend = pairs.filter_map(|(older, newer)| {
            let (mean, percentiles) = newer.since(older)?;
            Some(json!({ "at": newer.at, "mean": mean, "percentiles": percentiles }))
        });
        let trend: Vec<Value> = trend.collect();
        let last = all.back();
        // The longest call limits what is estimated within its bucket.
        let longest = last.and_then(|last| *last.summary.as_ref()?.get(2)?);
        let percentiles = last.and_then(|last| percentiles(&last.buckets));
        let percentiles = percentiles.map(|all| all.map(|ps| ps.min(longest.unwrap_or(ps))));
        json!({
            "summary": last.and_then(|last| last.summary.as_ref()),
            "histogram": last.map(|last| &last.buckets),
            "percentiles": percentiles,
            "trend": trend,
            "why": last.and_then(|last| last.why.as_ref()),
        })
    }
}

/// The percentiles of a histogram. Within a bucket, latencies are spread evenly in their logarithms.
fn percentiles(buckets: &[Bucket]) -> Option<[f64; 3]> {
    let all: f64 = buckets.iter().map(|[.., count]| count).sum();
    let of = |share: f64| {
        let mut before = 0.0;
        for [low, high, count] in buckets.iter().filter(|[.., count]| *count > 0.0) {
            if before + count >= share * all {
                let (low, high) = (low.max(1.0), high.max(1.0));
                let within = (share * all - before) / count;
                return Some(low * (high / low).powf(within));
            }
            before += count;
        }
        None
    };
    let [median, p95, p99] = SHARES.map(of);
    Some([median?, p95?, p99?])
}

fn numbers(row: &[Option<String>]) -> Vec<Option<f64>> {
    let number = |value: &Option<String>| value.as_ref()?.parse().ok();
    row.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading of calls of one and of a hundred milliseconds.
    fn reading(at: i64, short: u64, long: u64) -> Reading {
        let row = |cells: &[u64]| cells.iter().map(|n| Some(n.to_string())).collect();
        let ms = 1_000_000_000;
        let summary = row(&[short + long, (short + 100 * long) * ms, 120 * ms]);
        let histogram = vec![row(&[ms, 2 * ms, short]), row(&[100 * ms, 200 * ms, long])];
        Reading::new(at, &Ok(vec![summary]), &Ok(histogram))
    }

    #[test]
    fn percentiles_lie_in_the_bucket_of_their_call() {
        let [median, p95, p99] =
            percentiles(&[[1.0, 4.0, 90.0], [100.0, 200.0, 10.0]]).expect("calls");
        assert!((1.0..4.0).contains(&median), "{median}");
        assert!((p95 - 100.0 * 2_f64.sqrt()).abs() < 1e-6, "{p95}");
        assert!((p95..=200.0).contains(&p99), "{p99}");
        assert_eq!(percentiles(&[]), None);
        assert_eq!(percentiles(&[[1.0, 2.0, 0.0]]), None);
    }

    #[test]
    fn a_trend_has_the_calls_between_two_readings() {
        let mut latencies = Latencies::default();
        // The third reading has no call, and before the last one the server began to count again.
        for (at, short, long) in [
            (0, 1000, 0),
            (5000, 1000, 10),
            (10_000, 1000, 10),
            (15_000, 1, 0),
        ] {
            latencies.add("d", reading(at, short, long));
        }
        let state = latencies.state("d");
        let trend = state["trend"].as_array().expect("a trend");
        assert_eq!(trend.len(), 1, "{trend:?}");
        assert_eq!(trend[0]["mean"], 1e11);
        assert!(
            trend[0]["percentiles"][0].as_f64() >= Some(1e11),
            "{trend:?}"
        );
        assert_eq!(state["summary"][0], 1.0);
        latencies.add("d", reading(20_000, 0, 9));
        assert_eq!(
            latencies.state("d")["percentiles"][2],
            1.2e11,
            "the longest call"
        );
        assert!(latencies.recent("d", 24_999).is_some());
        assert!(latencies.recent("d", 25_000).is_none());
        assert!(latencies.recent("e", 0).is_none());
    }

    #[test]
    fn statements_that_nobody_reads_are_removed() {
        let mut latencies = Latencies::default();
        for n in 0..=MAX_STATEMENTS {
            latencies.add(&n.to_string(), reading(n as i64, 1, 1));
        }
        assert_eq!(latencies.of.len(), MAX_STATEMENTS);
        assert_eq!(latencies.state("0"), json!({}));
    }

    #[test]
    fn a_server_without_histograms_has_means() {
        let of = |calls: &str, time: &str| {
            let summary = vec![vec![Some(calls.to_owned()), Some(time.to_owned())]];
            Reading::new(0, &Ok(summary), &Err("no such table".to_owned()))
        };
        let (older, newer) = (of("1", "10"), of("3", "50"));
        assert_eq!(newer.since(&older), Some((20.0, None)));
        assert_eq!(newer.why.as_deref(), Some("no such table"));
    }
}
