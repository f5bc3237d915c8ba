//! Single events: the current ones, the histories, and history_long.
//!
//! Times are ticks. An event was timed if it has a start; one that runs has no end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use tare_layout::View;
use tare_layout::class::COUNTERS;
use tare_layout::control::table;
use tare_layout::event::{self, Nesting, Operation, Packed, word};
use tare_layout::geometry::CHUNK_EVENTS;
use tare_layout::name::load_bytes;
use tare_layout::seqlock::Record;
use tare_layout::sizes;
use tare_layout::slot::{STATEMENT_DEPTH, TASK_WAIT_BIT, WAIT_DEPTH, ring};
use tare_layout::source::split;

use crate::threads::{Thread, ring_text};

/// Which table of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// What each thread does now, or did last.
    Current,
    /// The last few of each thread, oldest first.
    History,
    /// The last events of all threads, in the order in which threads took chunks for them.
    Long,
}

impl Table {
    /// Its number in [`tare_layout::control::table`].
    pub const fn number(self) -> usize {
        match self {
            Table::Current => table::CURRENT,
            Table::History => table::HISTORY,
            Table::Long => table::LONG,
        }
    }
}

/// The common fields of all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Unique within its thread.
    pub id: u64,
    /// The newest id of the thread when this one ended; `None` while it runs.
    pub end_id: Option<u64>,
    /// The thread.
    pub thread: u64,
    /// The line of the host's source where it began, 0 = unknown; see [`crate::Sources`].
    pub source: usize,
    /// The class.
    pub class: usize,
    /// Ticks at the start, if it is timed.
    pub start: Option<u64>,
    /// Ticks at the end, if it is timed and has ended; never before the start.
    pub end: Option<u64>,
    /// The event that it is nested in, if any.
    pub nesting: Option<(u64, Nesting)>,
    /// Its depth among statements.
    pub level: u8,
    /// The operation of a wait.
    pub(crate) operation: u8,
}

impl Head {
    /// Of an event that runs and has no record: its thread and its class.
    pub(crate) const fn of_running(thread: u64, class: usize) -> Self {
        Self {
            id: 0,
            end_id: None,
            thread,
            source: 0,
            class,
            start: None,
            end: None,
            nesting: None,
            level: 0,
            operation: 0,
        }
    }

    pub(crate) fn of(words: &[u64]) -> Self {
        let packed = Packed::unpack(words[word::PACKED]);
        let ended = packed.span != 0;
        let id = words[word::ID];
        // An event without an end time began by a timer that was changed since: it is not timed.
        let timed = !ended || words[word::END] != 0;
        let start = Some(words[word::START]).filter(|ticks| *ticks != 0 && timed);
        let nesting = Nesting::from_u8(packed.nesting);
        let (thread, source) = split(words[word::THREAD]);
        Head {
            id,
            end_id: ended.then(|| id.saturating_add(u64::from(packed.span) - 1)),
            thread,
            source,
            class: usize::from(packed.class),
            start,
            end: start
                .filter(|_| ended)
                .map(|start| words[word::END].max(start)),
            nesting: (nesting != Nesting::None).then_some((words[word::NESTING_ID], nesting)),
            level: packed.level,
            operation: packed.operation,
        }
    }
}

/// A wait or an idle time.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Common fields.
    pub head: Head,
    /// The operation.
    pub operation: Option<Operation>,
    /// The instance or file waited for, 0 = none; see [`crate::instances`].
    pub object: u64,
    /// Bytes moved, if the operation moves any.
    pub bytes: Option<u64>,
}

/// A stage.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Common fields.
    pub head: Head,
    /// Work completed and estimated, if it reports progress.
    pub progress: Option<(u64, u64)>,
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// Common fields.
    pub head: Head,
    /// Its number in the storage engine.
    pub trx_id: Option<u64>,
    /// Savepoints set.
    pub savepoints: u64,
    /// Rollbacks to savepoints.
    pub rollbacks: u64,
    /// Savepoints released.
    pub releases: u64,
    /// `ACTIVE`, `COMMITTED`, `ROLLED BACK`.
    pub state: Option<&'static str>,
    /// MySQL's name of its isolation level.
    pub isolation: Option<&'static str>,
    /// Whether it may only read.
    pub read_only: bool,
    /// Whether it is a single statement under autocommit.
    pub autocommit: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Common fields.
    pub head: Head,
    /// Its text, as far as it is stored; `None` if there is none, or newer texts have overwritten it.
    pub text: Option<Arc<str>>,
    /// Its digest and the generation of the digest table that this is of; 0 = none.
    pub digest: (u32, u32),
    /// Its default schema, 0 = none.
    pub schema: u32,
    /// The error's number, 0 = none.
    pub errno: u32,
    /// Its SQLSTATE; `None` while it runs, or if it returned rows.
    pub sqlstate: Option<Arc<str>>,
    /// The error's text.
    pub message: Option<Arc<str>>,
    /// The stored program that it runs in, 0 = none.
    pub program: u32,
    /// By [`tare_layout::class::Counter`].
    pub counters: [u64; COUNTERS],
}

/// The location of a record, by which its texts are read.
#[derive(Clone, Copy)]
enum Place {
    Slot(usize),
    Long(usize),
}

/// The events of a segment.
#[derive(Clone, Copy)]
pub struct Events<'a> {
    view: View<'a>,
    threads: &'a [Thread],
}

/// The records of one type of events: a slot's current ones, its ring, and history_long.
struct Rings<'a, const N: usize> {
    ring: usize,
    /// All of a slot, and the bits of those that are current.
    current: fn(View<'a>, &Thread) -> (&'a [Record<N>], u32),
    history: fn(&View<'a>, usize) -> &'a [Record<N>],
    long: fn(&View<'a>, usize) -> &'a Record<N>,
}

impl<'a> Events<'a> {
    /// The events of the segment behind `view`; `threads` are those that live there.
    pub fn new(view: View<'a>, threads: &'a [Thread]) -> Self {
        Self { view, threads }
    }

    /// Waits.
    pub fn waits(&self, table: Table) -> Vec<Wait> {
        let rings = Rings {
            ring: ring::WAITS,
            current: |view, thread| {
                // The wait that ended last stays in its record.
                let nested = 1 << thread.wait_depth.clamp(1, WAIT_DEPTH);
                let current = (nested - 1) | thread.task_records >> TASK_WAIT_BIT;
                (&view.slot(thread.slot).waits, current)
            },
            history: View::ring_waits,
            long: |view, i| &view.long_waits()[i],
        };
        self.read(table, &rings, |record, _| {
            let words = record.read()?;
            let head = Head::of(&words);
            let bytes = words[event::wait::BYTES];
            Some(Wait {
                head,
                operation: Operation::from_u8(head.operation),
                object: words[event::wait::OBJECT],
                bytes: (bytes != event::wait::NO_BYTES).then_some(bytes),
            })
        })
    }

    /// Stages.
    pub fn stages(&self, table: Table) -> Vec<Stage> {
        let rings = Rings {
            ring: ring::STAGES,
            current: |view, thread| {
                (
                    std::slice::from_ref(&view.slot(thread.slot).current_stage),
                    1,
                )
            },
            history: View::ring_stages,
            long: |view, i| &view.long_stages()[i],
        };
        let stages = self.read(table, &rings, |record, _| {
            let words = record.read()?;
            let progress = (
                words[event::stage::COMPLETED],
                words[event::stage::ESTIMATED],
            );
            Some(Stage {
                head: Head::of(&words),
                progress: (progress != (0, 0)).then_some(progress),
            })
        });
        // Unlike the last wait or statement, the last stage is not listed once it has ended.
        let is_listed = |stage: &Stage| table != Table::Current || stage.head.end_id.is_none();
        stages.into_iter().filter(is_listed).collect()
    }

    /// Transactions.
    pub fn transactions(&self, table: Table) -> Vec<Transaction> {
        use event::transaction as at;
        let rings = Rings {
            ring: ring::TRANSACTIONS,
            current: |view, thread| (std::slice::from_ref(&view.slot(thread.slot).transaction), 1),
            history: View::ring_transactions,
            long: View::long_transaction,
        };
        self.read(table, &rings, |record, _| {
            let words = record.read()?;
            let state = words[at::STATE];
            Some(Transaction {
                head: Head::of(&words),
                trx_id: Some(words[at::TRX_ID]).filter(|id| *id != 0),
                savepoints: words[at::SAVEPOINTS],
                rollbacks: words[at::ROLLBACKS],
                releases: words[at::RELEASES],
                state: match state & 0xff {
                    at::ACTIVE => Some("ACTIVE"),
                    at::COMMITTED => Some("COMMITTED"),
                    at::ROLLED_BACK => Some("ROLLED BACK"),
                    _ => None,
                },
                isolation: at::ISOLATION.get(usize::from((state >> 8) as u8)).copied(),
                read_only: state & at::READ_ONLY != 0,
                autocommit: state & at::AUTOCOMMIT != 0,
            })
        })
    }

    /// Statements.
    pub fn statements(&self, table: Table) -> Vec<Statement> {
        let rings = Rings {
            ring: ring::STATEMENTS,
            current: |view, thread| {
                let nested = 1 << thread.statement_depth.clamp(1, STATEMENT_DEPTH);
                let current = (nested - 1) | thread.task_records;
                (view.statements(thread.slot), current)
            },
            history: View::ring_statements,
            long: View::long_statement,
        };
        self.read(table, &rings, |record, place| {
            with_text(record, |words| self.statement(words, place))
        })
    }

    fn statement(&self, words: &[u64; 32], place: Place) -> Statement {
        use event::statement as at;
        let length = at::text_bytes(words[at::TEXT_AND_PROGRAM]);
        let message = (
            words[at::MESSAGE] & ((1 << 48) - 1),
            (words[at::MESSAGE] >> 48) as usize,
        );
        let (text, message) = match place {
            Place::Slot(slot) => (
                ring_text(self.view, slot, words[at::TEXT_AT], length),
                ring_text(self.view, slot, message.0, message.1),
            ),
            Place::Long(i) => (
                long_text(self.view.long_text(i), length),
                long_text(self.view.long_message(i), message.1),
            ),
        };
        let cut = words[at::TEXT_AND_PROGRAM] & at::TRUNCATED != 0;
        let text = text.map(|text| crate::digests::mark_cut(text, cut));
        let state = words[at::SQLSTATE].to_le_bytes();
        let head = Head::of(words);
        let ended = head.end_id.is_some();
        Statement {
            head,
            text,
            digest: (words[at::DIGEST] as u32, (words[at::DIGEST] >> 32) as u32),
            schema: (words[at::ERROR] >> 32) as u32,
            errno: words[at::ERROR] as u32,
            sqlstate: match words[at::SQLSTATE] {
                0 => ended.then(|| "00000".into()),
                at::NO_SQLSTATE => None,
                _ => {
                    let text = String::from_utf8_lossy(&state[..5]);
                    Some(text.trim_end_matches('\0').into())
                }
            },
            message,
            program: at::program(words[at::TEXT_AND_PROGRAM]),
            counters: std::array::from_fn(|i| words[at::COUNTERS + i]),
        }
    }

    /// Every record of a table that was not truncated away, decoded.
    fn read<const N: usize, T>(
        &self,
        table: Table,
        rings: &Rings<'a, N>,
        decode: impl Fn(&Record<N>, Place) -> Option<T>,
    ) -> Vec<T> {
        let (control, number) = (self.view.control(), rings.ring * 3 + table.number());
        let cleared = control.cleared[number].load(Ordering::Relaxed);
        let cleared_untimed = u64::from(control.cleared_untimed[number].load(Ordering::Relaxed));
        // Rings of all types are as long as the longest requested one.
        let requested = |size| self.view.shared().requested_size(size).unwrap_or(u64::MAX);
        let (history, long) = sizes::of_ring(rings.ring);
        let (history_size, long_size) = (requested(history), requested(long));
        let mut decoded = Vec::new();
        let mut visit = |record: &Record<N>, place, thread: Option<u64>| {
            let ended = Packed::unpack(record.word(word::PACKED)).span != 0;
            let end = record.word(word::END);
            let gone = match record.word(word::START) {
                0 => ended && end < cleared_untimed,
                _ => ended && end != 0 && end <= cleared,
            };
            // A ring may still have events of an earlier thread of the slot.
            let own = thread.is_none_or(|id| split(record.word(word::THREAD)).0 == id);
            if !gone && own {
                decoded.extend(decode(record, place));
            }
        };
        match table {
            Table::Long => {
                for i in self.newest(rings, long_size) {
                    visit((rings.long)(&self.view, i), Place::Long(i), None);
                }
            }
            Table::Current => {
                for thread in self.threads {
                    let (records, current) = (rings.current)(self.view, thread);
                    let records = records.iter().enumerate();
                    for (_, record) in records.filter(|(i, _)| current & 1 << i != 0) {
                        visit(record, Place::Slot(thread.slot), Some(thread.id));
                    }
                }
            }
            Table::History => {
                for thread in self.threads {
                    let pushed = thread.pushed[rings.ring];
                    if pushed == 0 {
                        // The ring's pages are not allocated, and reading would allocate them.
                        continue;
                    }
                    let events = (rings.history)(&self.view, thread.slot);
                    let count = pushed.min(events.len() as u64).min(history_size);
                    for i in pushed - count..pushed {
                        let record = &events[(i % events.len() as u64) as usize];
                        visit(record, Place::Slot(thread.slot), Some(thread.id));
                    }
                }
            }
        }
        decoded
    }

    /// The records of a history_long, without the oldest events beyond the requested size.
    fn newest<const N: usize>(&self, rings: &Rings<'a, N>, requested: u64) -> Vec<usize> {
        let all = self.long_records(rings.ring);
        if all.len() as u64 <= requested {
            return all;
        }
        // An event that is not timed has no end, so its age is unknown.
        let ended = |i: usize| {
            let record = (rings.long)(&self.view, i);
            match record.word(word::START) {
                0 => 0,
                _ => record.word(word::END),
            }
        };
        let mut ends: Vec<u64> = all.iter().map(|i| ended(*i)).filter(|e| *e != 0).collect();
        let Some(surplus) = ends.len().checked_sub(requested as usize + 1) else {
            return all;
        };
        let (_, newest_gone, _) = ends.select_nth_unstable(surplus);
        let newest_gone = *newest_gone;
        let is_retained = |end: u64| end == 0 || end > newest_gone;
        all.into_iter().filter(|i| is_retained(ended(*i))).collect()
    }

    /// The records of a history_long that were ever written: the shared chunks that threads took, oldest
    /// first, then the own chunks of threads that found none free.
    fn long_records(&self, ring: usize) -> Vec<usize> {
        let chunks = self.view.geometry().shared_chunks;
        let tickets = self.view.shared().tickets[ring].0.load(Ordering::Acquire);
        let newest = (tickets % chunks as u64) as usize;
        let shared: Vec<usize> = match tickets < chunks as u64 {
            true => (0..tickets as usize).collect(),
            false => (newest..chunks).chain(0..newest).collect(),
        };
        let own = self.threads.iter().filter_map(|thread| {
            let held = self.view.slot(thread.slot).chunk[ring].load(Ordering::Relaxed) as usize;
            let own = chunks + thread.slot;
            (held == own + 1).then_some(own)
        });
        let all = shared.into_iter().chain(own);
        all.flat_map(|chunk| chunk * CHUNK_EVENTS..(chunk + 1) * CHUNK_EVENTS)
            .collect()
    }
}

/// Reads a statement and its texts again until the record is the same before and after.
fn with_text<T>(record: &event::Statement, read: impl Fn(&[u64; 32]) -> T) -> Option<T> {
    for _ in 0..4 {
        let words = event::statement::read(record)?;
        let value = read(&words);
        fence(Ordering::Acquire);
        let same = |i: usize| record.word(i) == words[i];
        if same(word::ID) && same(word::THREAD) {
            return Some(value);
        }
    }
    None
}

fn long_text(words: &[AtomicU64], length: usize) -> Option<Arc<str>> {
    let mut bytes = vec![0; length.min(words.len() * 8)];
    load_bytes(words, &mut bytes);
    (length != 0).then(|| String::from_utf8_lossy(&bytes).into())
}
