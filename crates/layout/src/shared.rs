//! What all threads of the host share, away from every event's path: ids, free lists, high-water
//! marks, and what was lost.

use crate::class::KINDS;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use crate::sizes;

/// A cell alone on its cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Alone<T>(pub T);

/// Things that could not be recorded, each counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lost {
    /// Threads beyond the limit.
    Threads = 0,
    /// Events of threads without a slot.
    ThreadEvents,
    /// Events inside a signal handler that interrupted the recording of the first event of a kind.
    SignalEvents,
    /// Instrument classes beyond the limit.
    Classes,
    /// Events of classes that were not registered.
    ClassEvents,
    /// Instances beyond the limit.
    Instances,
    /// Files beyond the limit.
    Files,
    /// Accounts beyond the limit.
    Accounts,
    /// Users beyond the limit.
    Users,
    /// Hosts beyond the limit.
    Hosts,
    /// Schemas beyond the limit.
    Schemas,
    /// Statements counted as "all else" because their digest found no room.
    Digests,
    /// Digests that were evicted for others.
    DigestsEvicted,
    /// Events for which the bank's arena or the memory limit had no row left.
    Rows,
    /// Times that found no room for a histogram block.
    Histograms,
    /// Statements nested too deep.
    NestedStatements,
    /// Waits nested too deep: counted and timed, but not shown as current.
    NestedWaits,
    /// Events that ended before they began, by the clock; counted with a time of zero.
    ClockBackwards,
    /// Times of events whose timer was changed while they ran: counted, not timed.
    TimerChanges,
    /// Mutex and rwlock acquisitions whose per-instance count found no room.
    InstanceEvents,
    /// Forks: the child runs without Tare.
    Forks,
    /// Tables beyond the limit.
    Tables,
    /// Programs beyond the limit.
    Programs,
    /// Indexes of tables beyond the limit.
    Indexes,
    /// Open tables beyond the limit.
    TableHandles,
    /// Metadata locks beyond the limit.
    MetadataLocks,
    /// Prepared statements beyond the limit.
    PreparedStatements,
    /// Sockets beyond the limit.
    Sockets,
    /// Metrics beyond the limit.
    Metrics,
    /// Kept events whose source found no room.
    Sources,
    /// Row locks and waits for them that were not told: there were too many, or it took too long.
    RowLocks,
    /// Threads whose connection attributes did not all fit.
    Attributes,
}

/// How many kinds of loss there are.
pub const LOSSES: usize = Lost::Attributes as usize + 1;

/// See the module.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Shared {
    /// The id of the next thread; the first is 1.
    pub next_thread_id: Alone<AtomicU64>,
    /// Free slots: bits 0-31 slot + 1, bits 32-63 a tag against ABA.
    pub free_slots: Alone<AtomicU64>,
    /// Free instances, likewise.
    pub free_instances: Alone<AtomicU64>,
    /// Free sockets, likewise.
    pub free_sockets: Alone<AtomicU64>,
    /// Free objects, likewise.
    pub free_objects: Alone<AtomicU64>,
    /// Free indexes of tables, likewise.
    pub free_indexes: Alone<AtomicU64>,
    /// Free table handles, likewise.
    pub free_handles: Alone<AtomicU64>,
    /// Free metadata locks, likewise; each thread keeps a few.
    pub free_metadata_locks: Alone<AtomicU64>,
    /// Free prepared statements, likewise.
    pub free_prepared: Alone<AtomicU64>,
    /// Slots ever used: none behind it was.
    pub slots_used: Alone<AtomicU32>,
    /// Banks ever used.
    pub banks_used: Alone<AtomicU32>,
    /// Odd while two banks are being merged; totals read meanwhile are read again.
    pub merge_sequence: Alone<AtomicU32>,
    /// Classes registered, number 0 (never one) included.
    pub classes_used: Alone<AtomicU32>,
    /// Instances ever used.
    pub instances_used: Alone<AtomicU32>,
    /// Files ever used.
    pub files_used: Alone<AtomicU32>,
    /// Sockets ever used.
    pub sockets_used: Alone<AtomicU32>,
    /// Objects ever used.
    pub objects_used: Alone<AtomicU32>,
    /// Indexes of tables ever used.
    pub indexes_used: Alone<AtomicU32>,
    /// Table handles ever used.
    pub handles_used: Alone<AtomicU32>,
    /// Metadata locks ever used.
    pub metadata_locks_used: Alone<AtomicU32>,
    /// Prepared statements ever used.
    pub prepared_used: Alone<AtomicU32>,
    /// Accounts ever used, account 0 included.
    pub accounts_used: Alone<AtomicU32>,
    /// Users ever used, number 0 included.
    pub users_used: Alone<AtomicU32>,
    /// Hosts ever used, number 0 included.
    pub hosts_used: Alone<AtomicU32>,
    /// Schemas ever used, number 0 included.
    pub schemas_used: Alone<AtomicU32>,
    /// Places in the host's source ever used, number 0 (never one) included.
    pub sources_used: Alone<AtomicU32>,
    /// Metrics registered, number 0 (never one) included.
    pub metrics_used: Alone<AtomicU32>,
    /// Digests ever used, number 0 included (bits 0-31), of the generation in bits 32-63.
    pub digests_used: Alone<AtomicU64>,
    /// Odd while a digest is evicted; sums by digest read meanwhile are read again.
    pub digest_sequence: Alone<AtomicU32>,
    /// Bytes of banks touched, in steps of a page: what the memory limit is held against.
    pub bank_bytes: Alone<AtomicU64>,
    /// Chunks of history_long ever asked for: waits, stages, statements, transactions.
    pub tickets: [Alone<AtomicU64>; 4],
    /// What was lost, by [`Lost`].
    pub lost: [AtomicU64; LOSSES],
    /// Of the lost classes, those of each kind, by the number of [`crate::Kind`].
    pub classes_lost: [AtomicU64; KINDS.len() + 1],
    /// One more than how many classes of each kind there may be; 0 = as many as classes in all.
    pub class_limits: [AtomicU64; KINDS.len() + 1],
    /// Of the lost instances, those of each kind.
    pub instances_lost: [AtomicU64; KINDS.len() + 1],
    /// One more than the size that was asked for, by number of [`sizes`]; 0 = none was.
    pub asked: [AtomicU64; sizes::NAMES.len()],
}

impl Shared {
    /// The size that was asked for, by number of [`sizes`].
    pub fn asked(&self, size: usize) -> Option<u64> {
        self.asked[size].load(Ordering::Relaxed).checked_sub(1)
    }
}
