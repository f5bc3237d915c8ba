//! Samples a process without a segment, and the processes below it: reads /proc.

use std::time::SystemTime;

use tare_reader::{ProcessError, ProcessTree, ThreadActivity};

use crate::growth::Total;
use crate::query::QueryError;
use crate::sample::{Moment, Sample, Source};

/// Processes that are sampled.
pub struct ProcessSource(ProcessTree);

impl ProcessSource {
    /// The source of a process and all below it.
    ///
    /// # Errors
    /// [`ProcessError`].
    pub fn new(pid: u32) -> Result<Self, ProcessError> {
        ProcessTree::new(pid).map(Self)
    }

    /// The processes.
    pub fn tree(&self) -> &ProcessTree {
        &self.0
    }
}

impl Source for ProcessSource {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        let threads = self
            .0
            .read()
            .map_err(|error| QueryError::Lost(error.to_string()))?;
        let at = SystemTime::now();
        let active = threads.iter().filter(|thread| !thread.is_idle);
        Ok(Moment {
            at,
            threads: Some(threads.len() as u64),
            is_exact: None,
            samples: active.map(sample).collect(),
        })
    }

    fn read_totals(&mut self) -> Vec<Total> {
        self.0.read_usages();
        let ps = |ns: u64| ns.saturating_mul(1000);
        let mut totals = vec![Total::new("process", "cpu", |sums| {
            sums[1] = Some((self.0.cpu_seconds() * 1e12) as u64);
        })];
        for (name, usage) in self.0.usage_by_name() {
            totals.push(Total::new("cpu", name, |sums| {
                sums[0] = Some(usage.slices);
                sums[1] = Some(ps(usage.cpu_ns));
            }));
            totals.push(Total::new("run delay", name, |sums| {
                sums[1] = Some(ps(usage.delay_ns));
            }));
            totals.push(Total::new("io", name, |sums| {
                sums[0] = Some(usage.io.calls);
                sums[8] = Some(usage.io.read_bytes);
                sums[9] = Some(usage.io.written_bytes);
            }));
        }
        totals
    }

    fn unknown_states(&self) -> Option<String> {
        self.0.problem()
    }
}

fn sample(thread: &ThreadActivity) -> Sample {
    Sample {
        thread_id: thread.thread_id.into(),
        process_id: Some(thread.process_id.into()),
        thread: Some(thread.name.clone()),
        state: Some(thread.activity.state),
        system_call: thread.activity.system_call.clone(),
        ..Sample::default()
    }
}
