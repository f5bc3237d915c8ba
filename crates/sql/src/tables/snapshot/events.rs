//! Single events: current, history and history_long of the four types.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::class::{COUNTERS, Counter, EventType, Kind};
use tare_layout::control::{Timer, table};
use tare_layout::event::{self, Nesting, Operation, Packed, word};
use tare_layout::geometry::CHUNK_EVENTS;
use tare_layout::name::load_bytes;
use tare_layout::seqlock::Record;
use tare_layout::slot::{STATEMENT_DEPTH, WAIT_DEPTH, ring};

use super::host::Host;
use super::people::Slot;
use super::{Made, Snapshot, Which, none, rows};
use crate::catalog::Filter;
use crate::tables::performance_schema::event::{Event, HasEvent};
use crate::tables::performance_schema::stages::Stage;
use crate::tables::performance_schema::statements::{Counters, Statement};
use crate::tables::performance_schema::transactions::Transaction;
use crate::tables::performance_schema::waits::Wait;

/// Where an event was found: what its texts are looked up by.
#[derive(Clone, Copy)]
enum Place {
    Slot(usize),
    Long(usize),
}

impl Which {
    fn table(self) -> usize {
        match self {
            Which::Current => table::CURRENT,
            Which::History => table::HISTORY,
            Which::HistoryLong => table::LONG,
        }
    }
}

/// Rows of one event table: filter, and cache for the statement's other scans.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $row:ty, $cache:ident, $ring:expr, $current:ident, $history:ident, $long:ident, $decode:ident) => {
        impl Snapshot {
            $(#[$doc])*
            pub fn $name(&self, which: Which, filter: &Filter) -> Made<$row> {
                let Some(host) = &self.host else { return none() };
                let cache = self.$cache[which.table()].get_or_init(|| {
                    let mut found: Vec<$row> = Vec::new();
                    self.each(host, which, $ring, |host, slot| host.$current(slot), |host, slot| host.view().$history(slot), |host, i| host.$long(i), |words, place| {
                        found.extend(self.$decode(host, words, place));
                    });
                    Arc::new(found)
                });
                let thread = filter.number("THREAD_ID");
                rows(cache, Clone::clone, move |row: &$row| thread.admits(&row.event().thread_id))
            }
        }
    };
}

table!(
    /// events_waits_*.
    waits, Wait, waits, ring::WAITS, current_waits, ring_waits, long_wait, wait
);
table!(
    /// events_stages_*.
    stages, Stage, stages, ring::STAGES, current_stages, ring_stages, long_stage, stage
);
table!(
    /// events_statements_*.
    statements, Statement, statements, ring::STATEMENTS, current_statements, ring_statements, long_statement, statement
);
table!(
    /// events_transactions_*.
    transactions, Transaction, transactions, ring::TRANSACTIONS, current_transactions, ring_transactions, long_transaction, transaction
);

impl Host {
    fn current_waits(&self, slot: &Slot) -> &[event::Wait] {
        // The one that ended last stays where it was.
        let shown = slot.wait_depth.clamp(1, WAIT_DEPTH);
        &self.view().slot(slot.number).waits[..shown]
    }

    fn current_stages(&self, slot: &Slot) -> &[event::Stage] {
        std::slice::from_ref(&self.view().slot(slot.number).current_stage)
    }

    fn current_statements(&self, slot: &Slot) -> &[event::Statement] {
        let shown = slot.statement_depth.clamp(1, STATEMENT_DEPTH);
        &self.view().slot(slot.number).statements[..shown]
    }

    fn current_transactions(&self, slot: &Slot) -> &[event::Transaction] {
        std::slice::from_ref(&self.view().slot(slot.number).transaction)
    }

    fn long_wait(&self, i: usize) -> &event::Wait {
        &self.view().long_waits()[i]
    }

    fn long_stage(&self, i: usize) -> &event::Stage {
        &self.view().long_stages()[i]
    }

    fn long_statement(&self, i: usize) -> &event::Statement {
        self.view().long_statement(i)
    }

    fn long_transaction(&self, i: usize) -> &event::Transaction {
        self.view().long_transaction(i)
    }

    /// Text of a thread's ring; `None` if the ring has moved on.
    pub(super) fn ring_text(&self, slot: usize, position: u64, length: usize) -> Option<Arc<str>> {
        if length == 0 {
            return None;
        }
        let view = self.view();
        let ring = view.text_ring(slot);
        let capacity = ring.len() as u64 * 8;
        let there = || {
            let at = view.slot(slot).text_at.load(Ordering::Acquire);
            let end = position.checked_add(length as u64);
            end.is_some_and(|end| end <= at) && at - position <= capacity
        };
        if !there() {
            return None;
        }
        let first = (position / 8) as usize;
        let mut bytes = Vec::with_capacity(length + 8);
        for i in 0..length.div_ceil(8) {
            let word = ring[(first + i) & (ring.len() - 1)].load(Ordering::Relaxed);
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.truncate(length);
        fence(Ordering::Acquire);
        there().then(|| String::from_utf8_lossy(&bytes).into())
    }

    fn long_text(&self, place: usize, length: usize) -> Option<Arc<str>> {
        let words = self.view().long_text(place);
        let mut bytes = vec![0; length.min(words.len() * 8)];
        load_bytes(words, &mut bytes);
        (length != 0).then(|| String::from_utf8_lossy(&bytes).into())
    }
}

/// A record and the text that belongs to it: read again until the record was the same before and
/// after its text.
fn with_text<const N: usize, T>(record: &Record<N>, read: impl Fn(&[u64; N]) -> T) -> Option<T> {
    for _ in 0..4 {
        let words = record.read()?;
        let found = read(&words);
        fence(Ordering::Acquire);
        if record.word(word::ID) == words[word::ID]
            && record.word(word::THREAD) == words[word::THREAD]
        {
            return Some(found);
        }
    }
    None
}

impl Snapshot {
    /// Calls `found` with every event of a table, thread by thread and oldest first.
    #[allow(
        clippy::too_many_arguments,
        reason = "one call for each of the four tables above"
    )]
    fn each<'a, const N: usize>(
        &'a self,
        host: &'a Host,
        which: Which,
        ring: usize,
        current: impl Fn(&'a Host, &Slot) -> &'a [Record<N>],
        history: impl Fn(&'a Host, usize) -> &'a [Record<N>],
        long: impl Fn(&'a Host, usize) -> &'a Record<N>,
        mut found: impl FnMut(&Record<N>, Place),
    ) {
        let view = host.view();
        let cleared = view.control().cleared[ring * 3 + which.table()].load(Ordering::Relaxed);
        let mut each = |record: &Record<N>, place, thread: Option<u64>| {
            let (end, packed) = (
                record.word(word::END),
                Packed::unpack(record.word(word::PACKED)),
            );
            let ended = packed.span != 0;
            let gone = ended && end != 0 && end <= cleared;
            if !gone && thread.is_none_or(|id| record.word(word::THREAD) == id) {
                found(record, place);
            }
        };
        if which == Which::HistoryLong {
            for i in self.long_places(host, ring) {
                each(long(host, i), Place::Long(i), None);
            }
            return;
        }
        for slot in self.slots(host).iter() {
            if which == Which::Current {
                for record in current(host, slot) {
                    each(record, Place::Slot(slot.number), Some(slot.thread_id));
                }
                continue;
            }
            let pushed = slot.pushed[ring];
            if pushed == 0 {
                // The ring's pages were never touched: leave them so.
                continue;
            }
            let events = history(host, slot.number);
            let kept = pushed.min(events.len() as u64);
            for i in pushed - kept..pushed {
                let record = &events[(i % events.len() as u64) as usize];
                each(record, Place::Slot(slot.number), Some(slot.thread_id));
            }
        }
    }

    /// The places of a history_long that were ever written: the shared chunks that were asked for,
    /// oldest first, and the own ones of threads that found none.
    fn long_places(&self, host: &Host, ring: usize) -> Vec<usize> {
        let view = host.view();
        let chunks = view.geometry().shared_chunks;
        let tickets = view.shared().tickets[ring].0.load(Ordering::Acquire);
        let newest = (tickets % chunks as u64) as usize;
        let shared = match tickets < chunks as u64 {
            true => (0..tickets as usize).collect::<Vec<_>>(),
            false => (newest..chunks).chain(0..newest).collect(),
        };
        let own = self.slots(host).iter().filter_map(|slot| {
            let chunk = view.slot(slot.number).chunk[ring].load(Ordering::Relaxed) as usize;
            (chunk > chunks && chunk - 1 == chunks + slot.number).then(|| chunk - 1)
        });
        let all = shared.into_iter().chain(own);
        all.flat_map(|chunk| chunk * CHUNK_EVENTS..(chunk + 1) * CHUNK_EVENTS)
            .collect()
    }

    /// The common columns; `None` for an event of no known class.
    fn event(&self, host: &Host, words: &[u64], packed: Packed) -> Option<Event> {
        let names = self.names(host);
        let class = names.classes.get(usize::from(packed.class))?;
        let (start, end) = (words[word::START], words[word::END]);
        let clock = &host.clock;
        let ended = packed.span != 0;
        let timed = start != 0;
        let end = match (timed, ended) {
            (false, _) => None,
            (true, true) => Some(end.max(start)),
            (true, false) => {
                let event_type = class.kind.event_type().unwrap_or(EventType::Wait) as usize;
                let timer = host.view().control().timers[event_type].load(Ordering::Relaxed);
                clock.now_by(timer_of(timer)).map(|now| now.max(start))
            }
        };
        let nesting = Nesting::from_u8(packed.nesting).text();
        Some(Event {
            thread_id: words[word::THREAD],
            event_id: words[word::ID],
            end_event_id: ended.then(|| words[word::ID].saturating_add(u64::from(packed.span) - 1)),
            name: class.name.clone(),
            source: None,
            timer_start: timed.then(|| clock.since_start_ps(start)),
            timer_end: end.map(|end| clock.since_start_ps(end)),
            timer_wait: end.map(|end| clock.ps(end - start)),
            nesting_event_id: nesting.map(|_| words[word::NESTING_ID]),
            nesting_event_type: nesting,
        })
    }

    fn wait(&self, host: &Host, record: &event::Wait, _: Place) -> Option<Wait> {
        let words = record.read()?;
        let packed = Packed::unpack(words[word::PACKED]);
        let event = self.event(host, &words, packed)?;
        let kind = self
            .names(host)
            .classes
            .get(usize::from(packed.class))?
            .kind;
        let object = self.object(host, words[event::wait::OBJECT] as u32);
        let bytes = words[event::wait::BYTES];
        Some(Wait {
            event,
            object_name: object.name,
            object_type: match kind {
                Kind::File => Some("FILE"),
                Kind::Socket => Some("SOCKET"),
                Kind::TableIo | Kind::TableLock | Kind::MetadataLock => Some("TABLE"),
                _ => None,
            },
            object_instance_begin: object.begin,
            operation: Operation::from_u8(packed.operation).map_or("", Operation::text),
            number_of_bytes: (bytes != event::wait::NO_BYTES).then_some(bytes as i64),
            ..Wait::default()
        })
    }

    fn stage(&self, host: &Host, record: &event::Stage, _: Place) -> Option<Stage> {
        let words = record.read()?;
        let event = self.event(host, &words, Packed::unpack(words[word::PACKED]))?;
        let (done, all) = (
            words[event::stage::COMPLETED],
            words[event::stage::ESTIMATED],
        );
        let reports = done != 0 || all != 0;
        Some(Stage {
            event,
            work_completed: reports.then_some(done),
            work_estimated: reports.then_some(all),
        })
    }

    fn transaction(
        &self,
        host: &Host,
        record: &event::Transaction,
        _: Place,
    ) -> Option<Transaction> {
        use event::transaction as at;
        let words = record.read()?;
        let event = self.event(host, &words, Packed::unpack(words[word::PACKED]))?;
        let state = words[at::STATE];
        let isolation = (state >> 8) as u8;
        Some(Transaction {
            event,
            state: match state & 0xff {
                at::ACTIVE => Some("ACTIVE"),
                at::COMMITTED => Some("COMMITTED"),
                at::ROLLED_BACK => Some("ROLLED BACK"),
                _ => None,
            },
            trx_id: Some(words[at::TRX_ID]).filter(|id| *id != 0),
            gtid: None,
            access_mode: Some(if state & at::READ_ONLY != 0 {
                "READ ONLY"
            } else {
                "READ WRITE"
            }),
            isolation_level: at::ISOLATION.get(usize::from(isolation)).copied(),
            autocommit: state & at::AUTOCOMMIT != 0,
            savepoints: Some(words[at::SAVEPOINTS]),
            rollbacks_to_savepoint: Some(words[at::ROLLBACKS]),
            releases: Some(words[at::RELEASES]),
        })
    }

    fn statement(&self, host: &Host, record: &event::Statement, place: Place) -> Option<Statement> {
        use event::statement as at;
        let (words, text, message) = with_text(record, |words| {
            let length = words[at::TEXT_LENGTH] as u32 as usize;
            let text = match place {
                Place::Slot(slot) => host.ring_text(slot, words[at::TEXT_AT], length),
                Place::Long(i) => host.long_text(i, length),
            };
            // A message lies in the thread's ring only.
            let (position, bytes) = (
                words[at::MESSAGE] & ((1 << 48) - 1),
                words[at::MESSAGE] >> 48,
            );
            let message = match place {
                Place::Slot(slot) => host.ring_text(slot, position, bytes as usize),
                Place::Long(_) => None,
            };
            (*words, text, message)
        })?;
        let packed = Packed::unpack(words[word::PACKED]);
        let event = self.event(host, &words, packed)?;
        let counters: [u64; COUNTERS] = std::array::from_fn(|i| words[at::COUNTERS + i]);
        let counter = |c: Counter| counters[c as usize];
        let (digest, digest_text) = self.digest_of(host, words[at::DIGEST]);
        let state = words[at::SQLSTATE].to_le_bytes();
        let ended = packed.span != 0;
        Some(Statement {
            event,
            lock_time: host.clock.ps(counter(Counter::LockTime)),
            sql_text: text,
            digest,
            digest_text,
            current_schema: self.names(host).schema((words[at::ERROR] >> 32) as u32),
            errno: ended.then(|| i64::from(words[at::ERROR] as u32)),
            sqlstate: match words[at::SQLSTATE] {
                0 => ended.then(|| "00000".into()),
                _ => Some(
                    String::from_utf8_lossy(&state[..5])
                        .trim_end_matches('\0')
                        .into(),
                ),
            },
            message_text: message,
            errors: counter(Counter::Errors),
            warnings: counter(Counter::Warnings),
            counters: Counters::from_words(&counters),
            nesting_event_level: Some(i64::from(packed.level)),
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
