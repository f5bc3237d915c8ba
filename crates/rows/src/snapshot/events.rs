//! events_*_{current,history,history_long} of the four types.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::class::{COUNTERS, Counter, EventType};
use tare_layout::control::Timer;
use tare_layout::event::Operation;
use tare_layout::object::target;
use tare_reader::events::{self, Events, Head, Table};
use tare_reader::instances::object;

use super::host::Host;
use super::{Once, RowsResult, Snapshot, Which, none, rows};
use crate::filter::Filter;
use crate::record::event::{Event, HasEvent};
use crate::record::stage::Stage;
use crate::record::statement::{Counters, Statement};
use crate::record::transaction::Transaction;
use crate::record::wait::Wait;

impl Which {
    pub(super) fn table(self) -> Table {
        match self {
            Which::Current => Table::Current,
            Which::History => Table::History,
            Which::HistoryLong => Table::Long,
        }
    }
}

impl Snapshot {
    /// The rows of an event table, read once in a statement and filtered by thread.
    fn events<E, R: HasEvent + Clone>(
        &self,
        stored: &[Once<R>; 3],
        which: Which,
        filter: &Filter,
        read: impl FnOnce(&Events<'_>, Table) -> Vec<E>,
        row: impl Fn(&Host, E) -> Option<R>,
    ) -> RowsResult<R> {
        let Some(host) = &self.host else {
            return none();
        };
        let table = which.table();
        let all = stored[table.number()].get_or_init(|| {
            let events = read(&Events::new(host.view(), self.slots(host)), table);
            Arc::new(
                events
                    .into_iter()
                    .filter_map(|event| row(host, event))
                    .collect(),
            )
        });
        let thread = filter.number("THREAD_ID");
        rows(all, Clone::clone, move |row: &R| {
            thread.admits(&row.event().thread_id)
        })
    }

    /// events_waits_*.
    pub fn waits(&self, which: Which, filter: &Filter) -> RowsResult<Wait> {
        let read = |events: &Events<'_>, table| events.waits(table);
        self.events(&self.waits, which, filter, read, |host, wait| {
            self.wait(host, wait)
        })
    }

    /// events_stages_*.
    pub fn stages(&self, which: Which, filter: &Filter) -> RowsResult<Stage> {
        let read = |events: &Events<'_>, table| events.stages(table);
        self.events(&self.stages, which, filter, read, |host, stage| {
            Some(Stage {
                event: self.event(host, &stage.head)?,
                work_completed: stage.progress.map(|(completed, _)| completed),
                work_estimated: stage.progress.map(|(_, estimated)| estimated),
            })
        })
    }

    /// events_statements_*.
    pub fn statements(&self, which: Which, filter: &Filter) -> RowsResult<Statement> {
        let read = |events: &Events<'_>, table| events.statements(table);
        self.events(&self.statements, which, filter, read, |host, statement| {
            self.statement(host, statement)
        })
    }

    /// events_transactions_*.
    pub fn transactions(&self, which: Which, filter: &Filter) -> RowsResult<Transaction> {
        let read = |events: &Events<'_>, table| events.transactions(table);
        self.events(
            &self.transactions,
            which,
            filter,
            read,
            |host, transaction| {
                Some(Transaction {
                    event: self.event(host, &transaction.head)?,
                    state: transaction.state,
                    trx_id: transaction.trx_id,
                    gtid: None,
                    access_mode: Some(match transaction.read_only {
                        true => "READ ONLY",
                        false => "READ WRITE",
                    }),
                    isolation_level: transaction.isolation,
                    autocommit: transaction.autocommit,
                    savepoints: Some(transaction.savepoints),
                    rollbacks_to_savepoint: Some(transaction.rollbacks),
                    releases: Some(transaction.releases),
                })
            },
        )
    }

    /// The common columns; `None` if the class is not registered.
    fn event(&self, host: &Host, head: &Head) -> Option<Event> {
        let class = self.classes(host).get(head.class)?;
        let clock = &host.clock;
        let running = || {
            let event_type = class.kind.event_type().unwrap_or(EventType::Wait) as usize;
            let timer = host.view().control().timers[event_type].load(Ordering::Relaxed);
            Some(clock.now_by(timer_of(timer))?.max(head.start?))
        };
        let end = if head.end_id.is_some() {
            head.end
        } else {
            running()
        };
        let wait = head
            .start
            .zip(end)
            .map(|(start, end)| end.saturating_sub(start));
        Some(Event {
            thread_id: head.thread,
            event_id: head.id,
            end_event_id: head.end_id,
            name: class.name.clone(),
            source: self.sources.get(host.view(), head.source),
            timer_start: head.start.map(|ticks| clock.since_start_ps(ticks)),
            timer_end: end.map(|ticks| clock.since_start_ps(ticks)),
            timer_wait: wait.map(|ticks| clock.ps(ticks)),
            nesting_event_id: head.nesting.map(|(id, _)| id),
            nesting_event_type: head.nesting.and_then(|(_, nesting)| nesting.text()),
        })
    }

    fn wait(&self, host: &Host, wait: events::Wait) -> Option<Wait> {
        let kind = self.classes(host).get(wait.head.class)?.kind;
        let object = object(host.view(), wait.object);
        Some(Wait {
            event: self.event(host, &wait.head)?,
            object_schema: object.schema,
            object_name: object.name,
            index_name: object.index,
            object_type: object.kind.or(match kind {
                Kind::File => Some("FILE"),
                Kind::Socket => Some("SOCKET"),
                Kind::TableIo | Kind::TableLock | Kind::MetadataLock => Some("TABLE"),
                _ => None,
            }),
            object_instance_begin: object.begin,
            operation: wait.operation.map_or("", Operation::text),
            number_of_bytes: wait.bytes.map(|bytes| bytes as i64),
            ..Wait::default()
        })
    }

    fn statement(&self, host: &Host, statement: events::Statement) -> Option<Statement> {
        let event = self.event(host, &statement.head)?;
        let counters = &statement.counters;
        let counter = |c: Counter| counters[c as usize];
        let (id, generation) = statement.digest;
        let (digest, digest_text) =
            tare_reader::digests::hash_and_text(host.view(), id, generation)
                .map_or((None, None), |(hash, text)| (Some(hash), text));
        let ended = statement.head.end_id.is_some();
        let program = object(host.view(), target::object(statement.program, 0));
        Some(Statement {
            event,
            lock_time: host.clock.ps(counter(Counter::LockTime)),
            sql_text: statement.text,
            digest,
            digest_text,
            current_schema: self.names(host).schema(statement.schema),
            object_type: program.kind,
            object_schema: program.schema,
            object_name: program.name,
            errno: ended.then_some(i64::from(statement.errno)),
            sqlstate: statement.sqlstate,
            message_text: statement.message,
            errors: counter(Counter::Errors),
            warnings: counter(Counter::Warnings),
            counters: Counters::from_words(counters),
            cpu_time: cpu_ps(counters),
            nesting_event_level: Some(i64::from(statement.head.level)),
            statement_id: None,
        })
    }
}

/// The timer with this number; of hostile bytes, CYCLE.
fn timer_of(number: u8) -> Timer {
    match number {
        1 => Timer::Nanosecond,
        2 => Timer::Microsecond,
        3 => Timer::Millisecond,
        4 => Timer::ThreadCpu,
        _ => Timer::Cycle,
    }
}

/// CPU_TIME, in picoseconds.
pub(super) fn cpu_ps(words: &[u64; COUNTERS]) -> u64 {
    words[Counter::CpuTime as usize].saturating_mul(1000)
}

impl Counters {
    /// From the counters of a record or of a sum, by [`Counter`].
    pub(super) fn from_words(words: &[u64; COUNTERS]) -> Self {
        let at = |c: Counter| words[c as usize];
        Counters {
            rows_affected: at(Counter::RowsAffected),
            rows_sent: at(Counter::RowsSent),
            rows_examined: at(Counter::RowsExamined),
            created_tmp_disk_tables: at(Counter::CreatedTmpDiskTables),
            created_tmp_tables: at(Counter::CreatedTmpTables),
            select_full_join: at(Counter::SelectFullJoin),
            select_full_range_join: at(Counter::SelectFullRangeJoin),
            select_range: at(Counter::SelectRange),
            select_range_check: at(Counter::SelectRangeCheck),
            select_scan: at(Counter::SelectScan),
            sort_merge_passes: at(Counter::SortMergePasses),
            sort_range: at(Counter::SortRange),
            sort_rows: at(Counter::SortRows),
            sort_scan: at(Counter::SortScan),
            no_index_used: at(Counter::NoIndexUsed),
            no_good_index_used: at(Counter::NoGoodIndexUsed),
        }
    }
}
