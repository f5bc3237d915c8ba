//! sysbench's report.

use super::LoadReport;
use crate::cell::Latency;

/// Parses the report of sysbench 1.0.
///
/// # Errors
/// The report has no totals. The message continues "the load generator".
pub fn parse_sysbench(text: &str) -> Result<LoadReport, String> {
    let mut driven = LoadReport::default();
    let mut latency = Latency::default();
    for line in text.lines().map(str::trim) {
        if line.starts_with("[ ") {
            driven.each_second.extend(after(line, "tps: "));
        } else if let Some((value, rest)) = line.split_once(" |") {
            let count = rest.split_whitespace().last();
            if let (Ok(value), Some(Ok(count))) = (value.trim().parse(), count.map(str::parse)) {
                latency.histogram.push((value, count));
            }
        } else if let Some(n) = after(line, "transactions:") {
            driven.transactions = n;
        } else if let Some(n) = after(line, "queries:") {
            driven.queries = n;
        } else if let Some(n) = after(line, "ignored errors:") {
            driven.errors = n as u64;
        } else if let Some(n) = after(line, "total time:") {
            driven.seconds = n;
        } else if let Some(n) = after(line, "total number of events:") {
            // Scripts that open their own connections count no transactions.
            if driven.transactions == 0.0 {
                driven.transactions = n;
            }
        } else if let Some(n) = after(line, "avg:") {
            latency.mean_ms = n;
        } else if let Some(n) = after(line, "max:") {
            latency.max_ms = n;
        }
    }
    if driven.transactions == 0.0 || driven.seconds == 0.0 {
        return Err("finished without a transaction".into());
    }
    latency.p95_ms = percentile(&latency.histogram, 0.95);
    latency.p99_ms = percentile(&latency.histogram, 0.99);
    driven.latency = Some(latency);
    Ok(driven)
}

/// The number after a label, without its unit.
fn after(line: &str, label: &str) -> Option<f64> {
    let at = line.find(label)?;
    let rest = line[at + label.len()..].trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// A percentile of a histogram: the value of its bucket.
pub fn percentile(histogram: &[(f64, u64)], part: f64) -> f64 {
    let all: u64 = histogram.iter().map(|(_, count)| count).sum();
    let wanted = (part * all as f64).ceil() as u64;
    let mut cumulated = 0;
    for &(value, count) in histogram {
        cumulated += count;
        if cumulated >= wanted {
            return value;
        }
    }
    histogram.last().map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As sysbench 1.0.20 prints it, shortened.
    const REPORT: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

[ 1s ] thds: 2 tps: 28511.62 qps: 28511.62 (r/w/o: 28511.62/0.00/0.00) lat (ms,95%): 0.11 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 2 tps: 29001.00 qps: 29001.00 (r/w/o: 29001.00/0.00/0.00) lat (ms,95%): 0.11 err/s: 0.00 reconn/s: 0.00
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.056 |**************************************** 900
       0.100 |***                                      60
      10.274 |                                         40
 
SQL statistics:
    queries performed:
        read:                            1000
        total:                           1000
    transactions:                        1000   (28854.24 per sec.)
    queries:                             2000   (57708.24 per sec.)
    ignored errors:                      3      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0018s
    total number of events:              1000

Latency (ms):
         min:                                    0.03
         avg:                                    0.07
         max:                                   13.37
         95th percentile:                        0.17
         sum:                                 5982.45

Threads fairness:
    events (avg/stddev):           43312.5000/12333.50
    execution time (avg/stddev):   2.9912/0.00
";

    #[test]
    fn every_figure_of_the_report_is_read() {
        let driven = parse_sysbench(REPORT).expect("a report");
        assert_eq!(
            (driven.transactions, driven.queries, driven.errors),
            (1000.0, 2000.0, 3)
        );
        assert_eq!(
            (driven.seconds, driven.each_second.as_slice()),
            (2.0018, [28511.62, 29001.0].as_slice())
        );
        let latency = driven.latency.expect("a histogram");
        assert_eq!((latency.mean_ms, latency.max_ms), (0.07, 13.37));
        assert_eq!(latency.histogram, [(0.056, 900), (0.1, 60), (10.274, 40)]);
        assert_eq!((latency.p95_ms, latency.p99_ms), (0.1, 10.274));
    }

    #[test]
    fn a_report_without_transactions_is_none() {
        assert!(parse_sysbench("").is_err());
        assert!(parse_sysbench(&REPORT.replace("1000", "0")).is_err());
    }
}
