//! Sampling, read and changed.

use std::sync::atomic::Ordering;

use tare_layout::governor::{REASONS, at};
use tare_layout::line::{COUNT, Line, SUM, memory};
use tare_layout::sampling::{GROUP_NAMES, Rule, Sample};
use tare_mysql::error::SqlError;
use tare_reader::line::Cells;
use tare_reader::sampling;

use super::host::Host;
use super::summaries::Family;
use super::truncate::write_result;
use super::{RowsResult, Snapshot, WriteResult, none};
use crate::describe::Change;
use crate::sampling::{Decision, EXACT_WINDOW, Estimate, InstrumentEstimate, SamplingSetting};

impl Snapshot {
    /// tare.setup_sampling.
    pub fn sampling_settings(&self) -> RowsResult<SamplingSetting> {
        let Some(host) = &self.host else {
            return none();
        };
        let control = host.view().control();
        let row = |(group, event_type): (usize, &'static str)| SamplingSetting {
            id: group as u32,
            event_type,
            sampling: match control.has_exact_window() {
                // Another text than any rule, so that UPDATE changes it to each.
                true => EXACT_WINDOW.to_owned(),
                false => control.rule(group).to_string(),
            },
            one_in: match control.has_exact_window() {
                true => 1,
                false => u64::from(control.sampling[group].load(Ordering::Relaxed).max(1)),
            },
        };
        let rows: Vec<SamplingSetting> = GROUP_NAMES.into_iter().enumerate().map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE tare.setup_sampling.
    pub fn set_sampling(&self, id: u32, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        for change in changes {
            let text = change.value.as_deref();
            let text = text.ok_or_else(|| SqlError::cannot_be_null(change.column))?;
            let rule = Rule::parse(text).ok_or_else(|| SqlError::data_truncated(change.column))?;
            write_result(host.segment.set_sampling(id as usize, rule))?;
        }
        Ok(())
    }

    /// tare.sampling_by_instrument.
    pub fn estimates(&self) -> RowsResult<InstrumentEstimate> {
        let Some(host) = &self.host else {
            return none();
        };
        let mut rows = Vec::new();
        for family in [Family::Wait, Family::Stage, Family::Transaction] {
            let group = self.global_group(host, family);
            for class in self.classes(host).iter() {
                let sample = sampling::class_sample(host.view(), class.id);
                let Some(row) = (family.has(class.kind) && sample.windows != 0)
                    .then(|| group.row(class))
                    .flatten()
                else {
                    continue;
                };
                let total = |cell: usize| {
                    let times = &row[..class.kind.time_lines()];
                    times.iter().map(|line| line[cell]).sum()
                };
                rows.push(InstrumentEstimate {
                    name: class.name.clone(),
                    estimate: estimate(host, total(COUNT), total(SUM), sample),
                });
            }
        }
        let group = self.global_group(host, Family::Memory);
        let classes = self.classes(host).iter();
        for class in classes.filter(|class| Family::Memory.has(class.kind)) {
            let row = group.row(class).filter(|row| row[1][memory::SAMPLED] != 0);
            rows.extend(row.map(|row| InstrumentEstimate {
                name: class.name.clone(),
                estimate: memory_estimate(row),
            }));
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// tare.governor, the oldest first.
    pub fn decisions(&self) -> RowsResult<Decision> {
        let Some(host) = &self.host else {
            return none();
        };
        let mut rows: Vec<Decision> = match sampling::was_sampled(host.view()) {
            true => host
                .view()
                .decisions()
                .iter()
                .filter_map(decision)
                .collect(),
            false => Vec::new(),
        };
        rows.sort_by_key(|row| row.number);
        Ok(Box::new(rows.into_iter()))
    }
}

/// A decision, unless there is none or it is being written.
fn decision(line: &Line) -> Option<Decision> {
    let number = line.cells[at::NUMBER].load(Ordering::Acquire);
    let (what, rates) = (line.get(at::WHAT), line.get(at::RATES));
    let row = Decision {
        number,
        at_us: line.get(at::UNIX_NS) / 1000,
        event_type: GROUP_NAMES[(what >> 8) as u8 as usize % GROUP_NAMES.len()],
        reason: REASONS[what as u8 as usize % REASONS.len()],
        rates: [u64::from(rates as u32), rates >> 32],
        budget_spent: [line.get(at::BUDGET), line.get(at::SPENT)],
        events: line.get(at::EVENTS),
        unit_ps: line.get(at::UNIT_PS),
    };
    let is_complete = number != 0 && line.cells[at::NUMBER].load(Ordering::Acquire) == number;
    is_complete.then_some(row)
}

fn estimate(host: &Host, count: u64, ticks: u64, sample: Sample) -> Estimate {
    let tick_ps = 1e12 / host.clock.ticks_per_second.max(1) as f64;
    Estimate {
        count,
        sum: host.clock.ps(ticks),
        observed: sample.events,
        windows: sample.windows,
        weighted: sample.weighted,
        count_error: finite(sample.count_error_squared().sqrt()),
        sum_error: finite(sample.sum_error_squared().sqrt() * tick_ps),
    }
}

/// Memory has no times, and is not sampled in windows.
fn memory_estimate(row: &[Cells]) -> Estimate {
    let [sums, sample] = [row[0], row[1]];
    let bytes_variance = sample[memory::BYTES_VARIANCE] as f64;
    Estimate {
        count: sums[memory::ALLOC_COUNT],
        sum: sums[memory::ALLOC_BYTES],
        observed: sample[memory::SAMPLED],
        windows: 0,
        weighted: sample[memory::WEIGHTED],
        count_error: (sample[memory::COUNT_VARIANCE] as f64).sqrt(),
        sum_error: bytes_variance.sqrt() * memory::VARIANCE_UNIT as f64,
    }
}

/// 0 for infinity and NaN, which a hostile segment may have.
fn finite(n: f64) -> f64 {
    if n.is_finite() { n } else { 0.0 }
}
