//! events_statements_summary_by_digest.

use std::sync::Arc;

use tare_layout::Kind;
use tare_layout::line::{EXTRA, MAX};
use tare_reader::digests;

use super::host::Host;
use super::summaries::statement_sums;
use super::{Made, Snapshot, none, rows};
use crate::tables::performance_schema::digests::Digest;

impl Snapshot {
    /// events_statements_summary_by_digest.
    pub fn digests(&self) -> Made<Digest> {
        let Some(host) = &self.host else {
            return none();
        };
        let all = self.digests.get_or_init(|| {
            let digests = host.banks().digests().into_iter();
            Arc::new(digests.map(|digest| self.digest(host, digest)).collect())
        });
        rows(all, Clone::clone, |_| true)
    }

    /// INNODB_METRICS.
    pub fn metrics(&self) -> Made<tare_reader::Metric> {
        let Some(host) = &self.host else {
            return none();
        };
        Ok(Box::new(tare_reader::metrics(host.view()).into_iter()))
    }

    fn digest(&self, host: &Host, digest: digests::Digest) -> Digest {
        let (clock, line) = (&host.clock, &digest.row[0]);
        let moment = |ticks: u64| if ticks == 0 { 0 } else { host.unix_us(ticks) };
        let quantile = |share| {
            let ticks = digest.histogram.quantile(share);
            ticks.map_or(0, |ticks| clock.ps(ticks.min(line[MAX])))
        };
        Digest {
            schema: self.names(host).schema(digest.schema),
            digest: (digest.id != 0).then(|| digest.hash.clone()),
            text: digest.text.clone(),
            sums: statement_sums(clock, Kind::Statement, &digest.row),
            first_seen_us: moment(digest.first_seen),
            last_seen_us: moment(line[EXTRA].max(digest.first_seen)),
            quantiles: [quantile(0.95), quantile(0.99), quantile(0.999)],
            sample_text: digest.sample.text.clone(),
            sample_seen_us: moment(digest.sample.seen),
            sample_timer_wait: clock.ps(digest.sample.wait),
        }
    }
}
