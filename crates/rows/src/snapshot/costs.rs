//! tare.cost_by_event_name: the events of each instrument, and their cost.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::control::{Timer, setup};
use tare_layout::line::{COUNT, EXTRA, memory};

use tare_reader::sampling;

use super::host::Host;
use super::summaries::Family;
use super::{RowsResult, Snapshot, none};
use crate::cost::{Cost, unit};
use crate::filter::Filter;

/// What kinds are called, by family.
const FAMILIES: [(Family, &str); 5] = [
    (Family::Wait, "wait"),
    (Family::Stage, "stage"),
    (Family::Statement, "statement"),
    (Family::Transaction, "transaction"),
    (Family::Memory, "memory"),
];

/// Picoseconds of one read of a timer. Overheads are in ticks of the CYCLE timer, or in nanoseconds where
/// there is none.
fn read_ps(host: &Host, timer: usize) -> f64 {
    let timers = &host.view().header().timers;
    let cycle = timers[Timer::Cycle as usize]
        .frequency
        .load(Ordering::Relaxed);
    let tick_ps = if cycle == 0 { 1e3 } else { 1e12 / cycle as f64 };
    timers.get(timer).map_or(0.0, |timer| {
        timer.overhead.load(Ordering::Relaxed) as f64 * tick_ps
    })
}

impl Snapshot {
    /// tare.cost_by_event_name.
    pub fn costs(&self, filter: &Filter) -> RowsResult<Cost> {
        let Some(host) = &self.host else {
            return none();
        };
        let controls = host.view().controls();
        let histograms = self.histograms_of(host);
        let name = filter.text("event_name");
        // The unit of costs is a read of the fastest timer.
        let unit_ps = read_ps(host, Timer::Cycle as usize);
        let mut rows = Vec::new();
        for (family, title) in FAMILIES {
            let group = self.global_group(host, family);
            for class in self
                .classes(host)
                .iter()
                .filter(|class| family.has(class.kind))
            {
                let Some(row) = group.row(class) else {
                    continue;
                };
                let (kind, event_type) = (class.kind, class.kind.event_type());
                let count = match kind {
                    Kind::Memory => row[0][memory::ALLOC_COUNT] + row[0][memory::FREE_COUNT],
                    _ => {
                        let lines = row
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| kind.is_time_line(*i));
                        lines.map(|(_, line)| line[COUNT]).sum()
                    }
                };
                if count == 0 {
                    continue;
                }
                let timed = histograms
                    .get(class.id)
                    .and_then(Option::as_ref)
                    .map_or(0, |all| all.total());
                // The histogram of a lock has no waits of zero: it counts those that waited, or all under
                // lock_timing = every.
                let timed = if kind.is_lock() {
                    timed.max(row[0][EXTRA].min(count))
                } else {
                    timed
                }
                .min(count);
                let unit = unit(kind);
                let timer = event_type.map_or(0, |event| {
                    host.view().control().timers[event as usize].load(Ordering::Relaxed) as usize
                });
                // What sampling left out has cost nothing.
                let sample = sampling::class_sample(host.view(), class.id);
                let left_out = sample.weighted.saturating_sub(sample.events).min(count);
                let part = (count - left_out) as f64 / count as f64;
                let reads = (timed * unit.reads) as f64 * part;
                let bits = controls.setup[class.id].load(Ordering::Relaxed);
                rows.push(Cost {
                    name: class.name.clone(),
                    kind: if kind == Kind::Idle { "idle" } else { title },
                    enabled: bits & setup::ENABLED != 0,
                    timed: event_type.map(|_| bits & setup::TIMED != 0),
                    count,
                    count_timed: timed,
                    timer_reads: reads as u64,
                    timer: (reads * read_ps(host, timer)) as u64,
                    recording: (timed as f64 * part * unit.recording * unit_ps) as i64,
                    counting: (count as f64 * part * unit.counting * unit_ps) as u64,
                    share: 0.0,
                });
            }
        }
        let all: u64 = rows.iter().map(Cost::sum).sum();
        for row in &mut rows {
            row.share = row.sum() as f64 * 100.0 / all.max(1) as f64;
        }
        rows.retain(|row| name.admits_name(&row.name));
        Ok(Box::new(rows.into_iter()))
    }
}
