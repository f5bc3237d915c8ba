//! Traces of statements that were sampled: the exemplars of their digests' metrics.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tare_history::{Moment, Sample};

use super::text::Exemplar;

/// How long an exemplar stays unless a longer statement replaces it.
const MAX_AGE: Duration = Duration::from_secs(60);

/// The most digests that have an exemplar.
const MAX_DIGESTS: usize = 4096;

/// A digest and its schema, which is empty if there is none.
type Key = (Arc<str>, Arc<str>);

/// The longest traced statement of each digest in the last minute, by its samples.
#[derive(Debug, Default)]
pub struct Exemplars(Mutex<HashMap<Key, Exemplar>>);

impl Exemplars {
    /// Adds the traced statements of a moment.
    pub fn add(&self, moment: &Moment) {
        let traced = moment.samples.iter().filter_map(|sample| {
            let exemplar = exemplar(sample, moment.at)?;
            let schema = sample.schema.clone().unwrap_or_default();
            Some(((sample.digest.clone()?, schema), exemplar))
        });
        let mut traced = traced.peekable();
        if traced.peek().is_none() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, exemplar| !is_old(exemplar, moment.at));
        for (key, exemplar) in traced {
            let is_longer = |former: &Exemplar| exemplar.value > former.value;
            if all.get(&key).map_or(all.len() < MAX_DIGESTS, is_longer) {
                all.insert(key, exemplar);
            }
        }
    }

    /// The exemplar of a digest.
    pub fn get(&self, digest: &str, schema: &str, now: SystemTime) -> Option<Exemplar> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let exemplar = all.get(&(digest.into(), schema.into()))?;
        (!is_old(exemplar, now)).then(|| exemplar.clone())
    }
}

fn is_old(exemplar: &Exemplar, now: SystemTime) -> bool {
    now.duration_since(exemplar.at)
        .is_ok_and(|age| age > MAX_AGE)
}

/// The trace of a sample, and the seconds that its statement had run. `None` if its caller does not record the trace.
fn exemplar(sample: &Sample, at: SystemTime) -> Option<Exemplar> {
    let trace = sample
        .trace
        .filter(|trace| trace.is_sampled != Some(false))?;
    Some(Exemplar {
        labels: [
            ("trace_id", trace.trace_id_text()),
            ("span_id", trace.span_id_text()),
        ],
        value: Duration::from_nanos(sample.statement_ns?).as_secs_f64(),
        at,
    })
}

#[cfg(test)]
mod tests {
    use tare_history::TraceContext;

    use super::*;

    fn moment(second: u64, samples: &[(&str, u64, &str)]) -> Moment {
        let samples = samples.iter().map(|(digest, seconds, traceparent)| Sample {
            digest: Some((*digest).into()),
            statement_ns: Some(seconds * 1_000_000_000),
            trace: TraceContext::parse(traceparent),
            ..Sample::default()
        });
        Moment {
            at: SystemTime::UNIX_EPOCH + Duration::from_secs(second),
            threads: None,
            is_exact: None,
            samples: samples.collect(),
        }
    }

    #[test]
    fn the_longest_statement_of_a_minute_stays() {
        let traceparent = |n: u64, flags| format!("00-{n:032x}-{n:016x}-{flags}");
        let (one, two, three) = (
            traceparent(1, "01"),
            traceparent(2, "01"),
            traceparent(3, "00"),
        );
        let exemplars = Exemplars::default();
        let of = |digest, second| {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            let exemplar = exemplars.get(digest, "", at)?;
            let [(_, trace), _] = exemplar.labels;
            Some((trace.trim_start_matches('0').to_owned(), exemplar.value))
        };
        exemplars.add(&moment(
            100,
            &[("a", 5, &one), ("b", 1, &one), ("c", 9, &three)],
        ));
        assert_eq!(of("a", 100), Some(("1".to_owned(), 5.0)));
        // Its caller does not record the trace.
        assert_eq!(of("c", 100), None);
        exemplars.add(&moment(130, &[("a", 4, &two), ("b", 2, &two)]));
        assert_eq!(of("a", 130), Some(("1".to_owned(), 5.0)));
        assert_eq!(of("b", 130), Some(("2".to_owned(), 2.0)));
        assert_eq!(of("a", 161), None);
        exemplars.add(&moment(161, &[("a", 3, &two)]));
        assert_eq!(of("a", 161), Some(("2".to_owned(), 3.0)));
    }
}
