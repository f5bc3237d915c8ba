//! Data that all threads of the host share, outside of the path of events: ids, free lists, high-water
//! marks, and losses.

use crate::class::KINDS;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use crate::sizes;

/// A cell on a cache line of its own.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct CachePadded<T>(pub T);

/// Events and objects that could not be recorded, each counted.
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
    /// Statements counted as "all else" because the table of digests was full.
    Digests,
    /// Digests that were evicted for others.
    DigestsEvicted,
    /// Events without a row because the bank's arena or the memory limit was full.
    Rows,
    /// Times without a histogram block.
    Histograms,
    /// Statements nested too deep.
    NestedStatements,
    /// Waits nested too deep: counted and timed, but not current events.
    NestedWaits,
    /// Events that ended before they began, by the clock; counted with a time of zero.
    ClockBackwards,
    /// Times of events whose timer was changed while they ran: counted, not timed.
    TimerChanges,
    /// Mutex and rwlock acquisitions without a row of their instance.
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
    /// Stored events whose source was beyond the limit.
    Sources,
    /// Row locks and waits that were not read: there were too many, or reading took too long.
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
    pub next_thread_id: CachePadded<AtomicU64>,
    /// Free slots: bits 0-31 slot + 1, bits 32-63 a tag against ABA.
    pub free_slots: CachePadded<AtomicU64>,
    /// Free instances, likewise.
    pub free_instances: CachePadded<AtomicU64>,
    /// Free sockets, likewise.
    pub free_sockets: CachePadded<AtomicU64>,
    /// Free objects, likewise.
    pub free_objects: CachePadded<AtomicU64>,
    /// Free indexes of tables, likewise.
    pub free_indexes: CachePadded<AtomicU64>,
    /// Free table handles, likewise.
    pub free_handles: CachePadded<AtomicU64>,
    /// Free metadata locks, likewise; each thread caches a few.
    pub free_metadata_locks: CachePadded<AtomicU64>,
    /// Free prepared statements, likewise.
    pub free_prepared: CachePadded<AtomicU64>,
    /// Number of slots ever used; later ones are empty.
    pub slots_used: CachePadded<AtomicU32>,
    /// Banks ever used.
    pub banks_used: CachePadded<AtomicU32>,
    /// Odd while two banks are being merged. A reader repeats the totals that it read during the merge.
    pub merge_sequence: CachePadded<AtomicU32>,
    /// Classes registered, including number 0, which is never one.
    pub classes_used: CachePadded<AtomicU32>,
    /// Instances ever used.
    pub instances_used: CachePadded<AtomicU32>,
    /// Files ever used.
    pub files_used: CachePadded<AtomicU32>,
    /// Sockets ever used.
    pub sockets_used: CachePadded<AtomicU32>,
    /// Objects ever used.
    pub objects_used: CachePadded<AtomicU32>,
    /// Indexes of tables ever used.
    pub indexes_used: CachePadded<AtomicU32>,
    /// Table handles ever used.
    pub handles_used: CachePadded<AtomicU32>,
    /// Metadata locks ever used.
    pub metadata_locks_used: CachePadded<AtomicU32>,
    /// Prepared statements ever used.
    pub prepared_used: CachePadded<AtomicU32>,
    /// Accounts ever used, account 0 included.
    pub accounts_used: CachePadded<AtomicU32>,
    /// Users ever used, number 0 included.
    pub users_used: CachePadded<AtomicU32>,
    /// Hosts ever used, number 0 included.
    pub hosts_used: CachePadded<AtomicU32>,
    /// Schemas ever used, number 0 included.
    pub schemas_used: CachePadded<AtomicU32>,
    /// Places in the host's source ever used, including number 0, which is never one.
    pub sources_used: CachePadded<AtomicU32>,
    /// Metrics registered, including number 0, which is never one.
    pub metrics_used: CachePadded<AtomicU32>,
    /// Digests ever used, number 0 included (bits 0-31), of the generation in bits 32-63.
    pub digests_used: CachePadded<AtomicU64>,
    /// Odd while a digest is evicted. A reader repeats the sums by digest that it read during that.
    pub digest_sequence: CachePadded<AtomicU32>,
    /// Bytes of banks touched, in pages: compared with the memory limit.
    pub bank_bytes: CachePadded<AtomicU64>,
    /// Chunks of history_long ever requested: waits, stages, statements, transactions.
    pub tickets: [CachePadded<AtomicU64>; 4],
    /// The most bytes of attributes that a client has sent.
    pub longest_attributes: CachePadded<AtomicU64>,
    /// Losses, by [`Lost`].
    pub lost: [AtomicU64; LOSSES],
    /// The lost classes of each kind, by the number of [`crate::Kind`].
    pub classes_lost: [AtomicU64; KINDS.len() + 1],
    /// One more than the limit of classes of each kind; 0 = only the limit of all classes.
    pub class_limits: [AtomicU64; KINDS.len() + 1],
    /// The lost instances of each kind.
    pub instances_lost: [AtomicU64; KINDS.len() + 1],
    /// One more than the requested size, by number of [`sizes`]; 0 = none was requested.
    pub requested: [AtomicU64; sizes::NAMES.len()],
}

impl Shared {
    /// The requested size, by number of [`sizes`].
    pub fn requested_size(&self, size: usize) -> Option<u64> {
        self.requested[size].load(Ordering::Relaxed).checked_sub(1)
    }
}
