//! events_statements_summary_by_digest, and the histograms of statements.

use std::sync::Arc;

use tare_layout::Kind;
use tare_layout::fine::{BOUNDS_PS, FINE_BUCKETS};
use tare_layout::line::EXTRA;
use tare_layout::sizes;
use tare_reader::{FineHistogram, digests};

use super::host::Host;
use super::summaries::statement_sums;
use super::{RowsResult, Snapshot, none, rows};
use crate::performance_schema::digests::Bucket;
use crate::record::digest::Digest;

impl Snapshot {
    /// events_statements_summary_by_digest.
    pub fn digests(&self) -> RowsResult<Digest> {
        let Some(host) = &self.host else {
            return none();
        };
        if host.has_none_of(sizes::DIGESTS) {
            return none();
        }
        let all = self.digests.get_or_init(|| {
            let digests = self.digests_read(host).iter();
            Arc::new(digests.map(|digest| self.digest(host, digest)).collect())
        });
        rows(all, Clone::clone, |_| true)
    }

    /// INNODB_METRICS.
    pub fn metrics(&self) -> RowsResult<tare_reader::Metric> {
        let Some(host) = &self.host else {
            return none();
        };
        Ok(Box::new(tare_reader::metrics(host.view()).into_iter()))
    }

    fn digest(&self, host: &Host, digest: &digests::Digest) -> Digest {
        let (clock, line) = (&host.clock, &digest.row[0]);
        let moment = |ticks: u64| if ticks == 0 { 0 } else { host.unix_us(ticks) };
        let quantile = |share| digest.histogram.quantile_ps(share).unwrap_or(0);
        Digest {
            schema: self.names(host).schema(digest.schema),
            digest: (digest.id != 0).then(|| digest.hash.clone()),
            text: digest.text.clone(),
            sums: statement_sums(clock, Kind::Statement, &digest.row),
            first_seen_us: moment(digest.first_seen),
            last_seen_us: moment(line[EXTRA].max(digest.first_seen)),
            quantiles: [quantile(0.95), quantile(0.99), quantile(0.999)],
            sample_text: digest.sample.text.clone(),
            sample_at_us: moment(digest.sample.end),
            sample_timer_wait: clock.ps(digest.sample.wait),
        }
    }

    /// events_statements_histogram_global.
    pub fn statement_histogram(&self) -> RowsResult<Bucket> {
        let Some(host) = &self.host else {
            return none();
        };
        let histogram = self
            .statement_histogram
            .get_or_init(|| Box::new(host.banks().statements()));
        Ok(Box::new(buckets(None, None, histogram).into_iter()))
    }

    /// events_statements_histogram_by_digest: every bucket of every digest, as in MySQL.
    pub fn digest_histograms(&self) -> RowsResult<Bucket> {
        let Some(host) = &self.host else {
            return none();
        };
        let names = self.names(host);
        let digests = self.digests_read(host).iter().map(|digest| {
            let hash = (digest.id != 0).then(|| digest.hash.clone());
            (names.schema(digest.schema), hash, digest.histogram.clone())
        });
        let all: Vec<_> = digests.collect();
        Ok(Box::new(all.into_iter().flat_map(
            |(schema, hash, histogram)| buckets(schema, hash, &histogram.to_fine()),
        )))
    }

    pub(super) fn digests_read(&self, host: &Host) -> &Arc<Vec<digests::Digest>> {
        self.digests_read
            .get_or_init(|| Arc::new(host.banks().digests()))
    }
}

/// The rows of a histogram.
fn buckets(
    schema: Option<Arc<str>>,
    digest: Option<Arc<str>>,
    histogram: &FineHistogram,
) -> Vec<Bucket> {
    let total = histogram.total();
    let mut lower = 0u64;
    let row = |i: usize| {
        let count = histogram.counts[i];
        lower = lower.wrapping_add(count);
        Bucket {
            schema: schema.clone(),
            digest: digest.clone(),
            number: i as u64,
            low: BOUNDS_PS[i],
            high: BOUNDS_PS[i + 1],
            count,
            lower,
            quantile: if total == 0 {
                0.0
            } else {
                // double(7,6)
                (lower as f64 / total as f64 * 1e6).round() / 1e6
            },
        }
    };
    (0..FINE_BUCKETS).map(row).collect()
}
