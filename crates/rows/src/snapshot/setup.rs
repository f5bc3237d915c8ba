//! The setup tables, read and written.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::class::property;
use tare_layout::control::{CONSUMERS, CPU, TIMER_NAMES, Timer as Clock, setup};
use tare_mysql::error::SqlError;
use tare_mysql::series::Series;
use tare_reader::{Class, Classes, WriteError};

use super::host::Host;
use super::truncate::write_result;
use super::{RowsResult, Snapshot, WriteResult, none};
use crate::describe::Change;
use crate::filter::Filter;
use crate::performance_schema::setup::{Consumer, EventTimer, Instrument, Timer};

/// The names of event types in setup_timers, by number.
const EVENT_TYPES: [&str; 5] = ["idle", "wait", "stage", "statement", "transaction"];

/// The timers, by number.
const TIMERS: [Clock; TIMER_NAMES.len()] = [
    Clock::Cycle,
    Clock::Nanosecond,
    Clock::Microsecond,
    Clock::Millisecond,
    Clock::ThreadCpu,
];

/// The row of all error classes together, as MySQL has it.
const ERRORS: u32 = u32::MAX;

/// The bits of PROPERTIES in the order of MySQL's set.
const PROPERTIES: [(u32, &str); 5] = [
    (property::SINGLETON, "singleton"),
    (property::PROGRESS, "progress"),
    (property::USER, "user"),
    (property::GLOBAL_STATISTICS, "global_statistics"),
    (property::MUTABLE, "mutable"),
];

pub(super) fn properties(bits: u32) -> String {
    let set = PROPERTIES.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
}

/// Whether setup_instruments lists a class by itself: threads are not instruments there, and errors
/// are one.
fn is_listed(class: &Class) -> bool {
    !matches!(class.kind, Kind::Thread | Kind::Error)
}

impl Snapshot {
    /// setup_instruments.
    pub fn instruments(&self, filter: &Filter) -> RowsResult<Instrument> {
        let Some(host) = &self.host else {
            return none();
        };
        let name = filter.text("NAME");
        let controls = host.view().controls();
        let bits = |class: &Class| controls.setup[class.id].load(Ordering::Relaxed);
        let classes = self.classes(host);
        let mut rows: Vec<Instrument> = classes
            .iter()
            .filter(|class| is_listed(class) && name.admits_name(&class.name))
            .map(|class| Instrument {
                id: class.id as u32,
                name: class.name.clone(),
                enabled: bits(class) & setup::ENABLED != 0,
                timed: class
                    .kind
                    .event_type()
                    .map(|_| bits(class) & setup::TIMED != 0),
                properties: properties(class.properties),
                volatility: i64::from(class.volatility),
                documentation: class.documentation.clone(),
            })
            .collect();
        let mut errors = classes
            .iter()
            .filter(|class| class.kind == Kind::Error)
            .peekable();
        if errors.peek().is_some() && name.admits_name("error") {
            rows.push(Instrument {
                id: ERRORS,
                name: "error".into(),
                enabled: errors.any(|class| bits(class) & setup::ENABLED != 0),
                timed: None,
                properties: String::new(),
                volatility: 0,
                documentation: Some("Errors raised and handled, by code.".into()),
            });
        }
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE setup_instruments.
    pub fn set_instrument(&self, id: u32, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        let (mut enabled, mut timed) = (None, None);
        for change in changes {
            match change.column {
                "ENABLED" => enabled = Some(change.yes_no()?),
                // What has no duration stays untimed; MySQL ignores this, too.
                _ if change.value.is_none() => {}
                _ => timed = Some(change.yes_no()?),
            }
        }
        let changed = self.classes(host).iter().filter(|class| match id {
            ERRORS => class.kind == Kind::Error,
            _ => class.id == id as usize,
        });
        for class in changed {
            write_result(host.segment.set_instrument(class.id, enabled, timed))?;
        }
        Ok(())
    }

    /// setup_consumers, as a series has them.
    pub fn consumers(&self, series: Series) -> RowsResult<Consumer> {
        let Some(host) = &self.host else {
            return none();
        };
        let bits = host.view().control().consumers.load(Ordering::Relaxed);
        let consumer = |i: usize| Consumer {
            bit: i as u32,
            name: CONSUMERS[i],
            enabled: bits & 1 << i != 0,
        };
        let (cpu, first) = (CPU.trailing_zeros() as usize, CONSUMERS.len() - 1);
        let mut rows: Vec<Consumer> = (0..first).map(consumer).collect();
        if series.has_cpu_consumer() {
            // Before events_statements_current, as MySQL has it.
            rows.insert(3, consumer(cpu));
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE setup_consumers.
    pub fn set_consumer(&self, bit: u32, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        for change in changes {
            write_result(host.segment.set_consumer(bit as usize, change.yes_no()?))?;
        }
        Ok(())
    }

    /// setup_timers.
    pub fn event_timers(&self) -> RowsResult<EventTimer> {
        let Some(host) = &self.host else {
            return none();
        };
        let timers = &host.view().control().timers;
        let timer = |i: usize| timers[i].load(Ordering::Relaxed) as usize;
        let row = |(i, name): (usize, &'static str)| EventTimer {
            id: i as u32,
            name,
            timer: TIMER_NAMES.get(timer(i)).copied().unwrap_or("CYCLE"),
        };
        let rows: Vec<EventTimer> = EVENT_TYPES.into_iter().enumerate().map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE setup_timers.
    pub fn set_event_timer(&self, id: u32, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        for change in changes {
            let name = change.value.as_deref();
            let name = name
                .ok_or_else(|| SqlError::cannot_be_null(change.column))?
                .trim();
            let by_name = TIMERS
                .into_iter()
                .find(|timer| TIMER_NAMES[*timer as usize].eq_ignore_ascii_case(name));
            let timer = match by_name {
                Some(timer) => timer,
                // A timer of MySQL's that is not there.
                None if name.eq_ignore_ascii_case("TICK") => {
                    return Err(SqlError::invalid_usage());
                }
                None => return Err(SqlError::data_truncated(change.column)),
            };
            let facts = &host.view().header().timers[timer as usize];
            if facts.frequency.load(Ordering::Relaxed) == 0 {
                return Err(SqlError::invalid_usage());
            }
            write_result(host.segment.set_timer(id as usize, timer))?;
        }
        Ok(())
    }

    /// performance_timers, as a series has them.
    pub fn timers(&self, series: Series) -> RowsResult<Timer> {
        let Some(host) = &self.host else {
            return none();
        };
        let header = host.view().header();
        let row = |i: usize| {
            let facts = &header.timers[i];
            let frequency = facts.frequency.load(Ordering::Relaxed) as i64;
            let there = |n: i64| (frequency != 0).then_some(n);
            Timer {
                name: TIMER_NAMES[i],
                frequency: there(frequency),
                resolution: there(facts.resolution.load(Ordering::Relaxed) as i64),
                overhead: there(facts.overhead.load(Ordering::Relaxed) as i64),
            }
        };
        let mut rows: Vec<Timer> = (0..TIMERS.len()).map(row).collect();
        if series.is_mariadb() {
            // MariaDB's list ends with TICK, which is not available, and has no THREAD_CPU.
            rows[Clock::ThreadCpu as usize] = Timer {
                name: "TICK",
                frequency: None,
                resolution: None,
                overhead: None,
            };
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE threads.
    pub fn set_thread(&self, id: u64, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        let (mut instrumented, mut history) = (None, None);
        for change in changes {
            match change.column {
                "INSTRUMENTED" => instrumented = Some(change.yes_no()?),
                _ => history = Some(change.yes_no()?),
            }
        }
        let Some(slot) = self.slots(host).iter().find(|slot| slot.id == id) else {
            return Ok(());
        };
        match host
            .segment
            .set_thread(slot.slot, id, instrumented, history)
        {
            // A thread that has ended since the snapshot has no row to change.
            Err(WriteError::Gone { .. }) => Ok(()),
            result => write_result(result),
        }
    }

    pub(super) fn classes(&self, host: &Host) -> &Classes {
        self.classes.get_or_init(|| Classes::read(host.view()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_read_as_mysqls_set() {
        assert_eq!(properties(0), "");
        assert_eq!(
            properties(property::MUTABLE | property::SINGLETON),
            "singleton,mutable"
        );
    }
}
