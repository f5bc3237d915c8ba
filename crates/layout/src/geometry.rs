//! Offsets of everything, computed only from the limits.
//!
//! Writer and reader compute the same offsets from the same limits; the reader then compares its own
//! with those in the header, and trusts no offset that it did not compute.

use crate::account::{Account, NamedEntry, UNLISTED};
use crate::activity;
use crate::actor::Actor;
use crate::attributes;
use crate::bank::{Bank, baseline};
use crate::class::ClassEntry;
use crate::control::Control;
use crate::digest::Digest;
use crate::event;
use crate::fine::FINE_BUCKETS;
use crate::governor::DECISIONS;
use crate::header::HEADER_BYTES;
use crate::histogram::BUCKETS;
use crate::instance::{File, Instance, Socket};
use crate::line::LINE_BYTES;
use crate::metric;
use crate::object::{Index, MetadataLock, Object, Prepared, Rule, TableHandle};
use crate::row_lock::{Board, ROW_LOCK_WAITS, ROW_LOCKS, RowLock, RowLockWait};
use crate::shared::Shared;
use crate::slot::{STATEMENT_DEPTH, Slot};
use crate::source::{SOURCES, Source};

/// Regions (except the slots) begin at multiples of this: the page size of x86-64, and the unit that
/// readers map writable.
pub const PAGE: usize = 4096;

/// Bytes at the end of a thread's text ring for its first texts: they are in one page with the fixed
/// part of its slot.
pub const FIRST_TEXT_BYTES: usize = 192;

/// Events in a chunk of history_long: what one thread takes at a time.
pub const CHUNK_EVENTS: usize = 8;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $default:literal in $low:literal ..= $high:literal,)*) => {
        /// The sizes of all tables. Memory is touched only when used, so that generous limits cost
        /// address space only.
        ///
        /// ```
        /// let limits = tare_layout::Limits::default().threads(64).digests(500);
        /// assert_eq!((limits.threads, limits.accounts), (64, 512));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits { $($(#[$doc])* pub $name: usize,)* }

        /// How many limits there are.
        pub const LIMITS: usize = [$(stringify!($name)),*].len();

        /// Their names.
        pub const LIMIT_NAMES: [&str; LIMITS] = [$(stringify!($name)),*];

        impl Default for Limits {
            fn default() -> Self { Self { $($name: $default,)* } }
        }

        impl Limits {
            $(
                #[doc = concat!("Sets the limit [`", stringify!($name), "`](field@Self::", stringify!($name), ").")]
                #[must_use]
                pub fn $name(mut self, limit: usize) -> Self {
                    self.$name = limit;
                    self
                }
            )*

            /// The limit of this name.
            pub fn by_name(&mut self, name: &str) -> Option<&mut usize> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            /// As an array, in the order of declaration.
            pub fn to_array(self) -> [u64; LIMITS] { [$(self.$name as u64),*] }

            /// From an array; an error is the name of the first limit that is out of bounds.
            pub fn from_array(values: [u64; LIMITS]) -> Result<Self, &'static str> {
                let mut given = values.into_iter();
                let limits = Self {
                    $($name: given.next().unwrap_or(0).min(u32::MAX as u64) as usize,)*
                };
                let possible = limits.clamped();
                $(if limits.$name != possible.$name { return Err(stringify!($name)); })*
                Ok(limits)
            }

            /// Moves each limit into its bounds, and rounds texts to words and the ring to a power of two.
            pub fn clamped(self) -> Self {
                let mut limits = Self { $($name: self.$name.clamp($low, $high),)* };
                limits.digest_text_bytes = round_up(limits.digest_text_bytes, 8);
                limits.sql_text_bytes = round_up(limits.sql_text_bytes, 8);
                // A text longer than the ring would overwrite its own beginning.
                let ring = limits.text_ring_bytes.max(limits.sql_text_bytes);
                limits.text_ring_bytes = ring.next_power_of_two();
                limits
            }
        }
    };
}

limits! {
    /// Instrument classes.
    classes: 1024 in 16 ..= 32_768,
    /// Threads alive at the same time: those of 10,000 connections, and a server's own.
    threads: 12_288 in 4 ..= 65_536,
    /// User and host pairs, the background's included.
    accounts: 512 in 2 ..= 16_384,
    /// Users.
    users: 512 in 2 ..= 16_384,
    /// Hosts.
    hosts: 512 in 2 ..= 16_384,
    /// Rules of setup_actors.
    actors: 128 in 1 ..= 4096,
    /// Default schemas of statements.
    schemas: 256 in 2 ..= 16_384,
    /// Mutexes, rwlocks and conditions alive at the same time. A connection of MySQL 9.7 has 23 of them.
    instances: 262_144 in 16 ..= 1_048_576,
    /// Files, by name.
    files: 4096 in 4 ..= 1_048_576,
    /// Statement digests, all else included.
    digests: 10_000 in 1 ..= 1_048_576,
    /// Bytes of a digest's text, and of its sample's.
    digest_text_bytes: 1024 in 64 ..= 65_536,
    /// Bytes of a statement's text.
    sql_text_bytes: 1024 in 64 ..= 65_536,
    /// Bytes of a thread's text ring, a power of two.
    text_ring_bytes: 4096 in 1024 ..= 1_048_576,
    /// Events of each type in a thread's history.
    history: 10 in 1 ..= 1024,
    /// Events of each type in history_long.
    history_long: 10_000 in 8 ..= 1_048_576,
    /// Lines of a bank's arena.
    arena_lines: 8192 in 256 ..= 32_767,
    /// Sockets open at the same time.
    sockets: 16_384 in 2 ..= 1_048_576,
    /// Tables and programs.
    objects: 16_384 in 4 ..= 1_048_576,
    /// Indexes of tables.
    indexes: 40_000 in 2 ..= 1_048_576,
    /// Tables that sessions have open.
    table_handles: 65_536 in 2 ..= 1_048_576,
    /// Metadata locks held or waited for.
    metadata_locks: 65_536 in 2 ..= 1_048_576,
    /// Prepared statements.
    prepared_statements: 16_384 in 2 ..= 1_048_576,
    /// Rows of setup_objects.
    setup_objects: 100 in 20 ..= 10_000,
    /// Metrics.
    metrics: 256 in 16 ..= 4096,
    /// Bytes of the attributes that a thread's client sent. A server refuses more than 65,535.
    attribute_bytes: 512 in 0 ..= 65_536,
}

/// The regions, in the order of their offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Region {
    Control = 0,
    Setup,
    Effective,
    ThreadMasks,
    ObjectRules,
    ObjectMasks,
    Shared,
    Classes,
    Spill,
    FineSpill,
    Accounts,
    Users,
    Hosts,
    Actors,
    Schemas,
    Sources,
    Instances,
    Files,
    Sockets,
    Objects,
    Indexes,
    TableHandles,
    MetadataLocks,
    Prepared,
    Digests,
    DigestIndex,
    Slots,
    Banks,
    BaselineOwner,
    BaselineGlobal,
    BaselineAccount,
    BaselineThread,
    BaselineUser,
    BaselineHost,
    BaselineFrozen,
    LongWaits,
    LongStages,
    LongStatements,
    LongTransactions,
    Metrics,
    MetricFlags,
    MetricStates,
    MetricRows,
    Samples,
    SamplesTruncated,
    Decisions,
    RowLockBoard,
    RowLocks,
    RowLockWaits,
    ActiveTexts,
    Attributes,
}

/// Names of the regions in SHOW ENGINE PERFORMANCE_SCHEMA STATUS: their table's if they have one,
/// otherwise, as in MySQL, a name in parentheses.
pub const BUFFERS: [&str; REGIONS] = [
    "(control)",
    "setup_instruments",
    "(effective)",
    "(thread_mask)",
    "setup_objects",
    "(object_mask)",
    "(shared)",
    "(class)",
    "(histogram_spill)",
    "(statement_histogram_spill)",
    "accounts",
    "users",
    "hosts",
    "setup_actors",
    "(schema)",
    "(source)",
    "(lock_instances)",
    "file_instances",
    "socket_instances",
    "objects_summary_global_by_type",
    "table_io_waits_summary_by_index_usage",
    "table_handles",
    "metadata_locks",
    "prepared_statements_instances",
    "events_statements_summary_by_digest",
    "(digest_hash)",
    "threads",
    "(bank)",
    "(base)",
    "(truncated_global)",
    "(truncated_by_account)",
    "(truncated_by_thread)",
    "(truncated_by_user)",
    "(truncated_by_host)",
    "(frozen)",
    "events_waits_history_long",
    "events_stages_history_long",
    "events_statements_history_long",
    "events_transactions_history_long",
    "(metric)",
    "(metric_flag)",
    "(metric_state)",
    "(metric_row)",
    "(sample)",
    "(sample_truncated)",
    "(decision)",
    "(row_lock_board)",
    "data_locks",
    "data_lock_waits",
    "(active_text)",
    "session_connect_attrs",
];

/// How many regions there are.
pub const REGIONS: usize = Region::Attributes as usize + 1;

/// Whether a reader may write the region: the control page and the baselines of truncations.
pub const fn is_reader_writable(region: usize) -> bool {
    region <= Region::ObjectMasks as usize
        || (region >= Region::BaselineGlobal as usize && region <= Region::BaselineFrozen as usize)
        || region == Region::Accounts as usize
        || region == Region::Users as usize
        || region == Region::Hosts as usize
        || region == Region::Actors as usize
        || region == Region::Instances as usize
        || region == Region::MetricFlags as usize
        || region == Region::MetricStates as usize
        || region == Region::Files as usize
        || region == Region::Sockets as usize
        || region == Region::Objects as usize
        || region == Region::Indexes as usize
        || region == Region::Prepared as usize
        || region == Region::Digests as usize
        || region == Region::SamplesTruncated as usize
}

/// A region: `count` elements of `stride` bytes from `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Extent {
    /// Bytes from the segment's start.
    pub offset: usize,
    /// Bytes from one element to the next.
    pub stride: usize,
    /// Elements.
    pub count: usize,
}

impl Extent {
    /// Bytes of all elements.
    pub const fn bytes(&self) -> usize {
        self.stride * self.count
    }
}

/// The offsets of everything under given limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The limits.
    pub limits: Limits,
    /// The regions, by [`Region`].
    pub regions: [Extent; REGIONS],
    /// Bytes of the segment.
    pub total_bytes: usize,
    /// Within a slot: offsets of the history rings of waits, stages, statements, transactions.
    pub rings: [usize; 4],
    /// Within a slot: offset of its fixed part. The text ring comes before.
    pub slot: usize,
    /// Within a slot: offset of the open statements.
    pub statements: usize,
    /// Within a slot: offset of the `traceparent`.
    pub traceparent: usize,
    /// Within a bank: offset of the class index.
    pub class_index: usize,
    /// Within a bank: offset of the arena.
    pub arena: usize,
    /// Chunks of history_long that all threads share; each later chunk belongs to one slot.
    pub shared_chunks: usize,
    /// Words of text behind a statement's record in history_long.
    pub long_text_words: usize,
}

/// The regions by name.
pub fn buffers(geometry: &Geometry) -> impl Iterator<Item = (&'static str, Extent)> {
    BUFFERS.into_iter().zip(geometry.regions)
}

const fn round_up(n: usize, to: usize) -> usize {
    n.div_ceil(to) * to
}

/// Within a digest: offset of its histograms.
pub(crate) const fn digest_histograms(l: &Limits) -> usize {
    round_up(
        size_of::<Digest>() + l.digest_text_bytes + l.sql_text_bytes,
        LINE_BYTES,
    )
}

/// Offsets within a slot.
struct SlotOffsets {
    slot: usize,
    statements: usize,
    rings: [usize; 4],
    traceparent: usize,
    stride: usize,
}

impl SlotOffsets {
    fn new(l: &Limits) -> Self {
        let statement = size_of::<event::Statement>();
        // The data that an idle connection touches under MySQL's default consumers is in one page: the
        // end of its text ring (where the first texts go), the fixed part, its last statements, and the
        // outermost open one. This determines the order, and where slots begin.
        let slot = l.text_ring_bytes;
        let ring_statements = slot + round_up(size_of::<Slot>(), LINE_BYTES);
        let statements = ring_statements + l.history * statement;
        let ring_transactions = statements + STATEMENT_DEPTH * statement;
        let ring_stages = ring_transactions + l.history * size_of::<event::Transaction>();
        let ring_waits = ring_stages + l.history * size_of::<event::Stage>();
        let traceparent = ring_waits + l.history * size_of::<event::Wait>();
        Self {
            slot,
            statements,
            rings: [ring_waits, ring_stages, ring_statements, ring_transactions],
            traceparent,
            stride: round_up(traceparent + LINE_BYTES, PAGE),
        }
    }
}

/// Offsets within a bank.
struct BankOffsets {
    class_index: usize,
    arena: usize,
    stride: usize,
}

impl BankOffsets {
    fn new(l: &Limits) -> Self {
        let class_index = size_of::<Bank>();
        let arena = round_up(class_index + 2 * l.classes, LINE_BYTES);
        Self {
            class_index,
            arena,
            stride: round_up(arena + l.arena_lines * LINE_BYTES, PAGE),
        }
    }
}

/// Stride and count of each region, in the order of [`Region`].
fn shapes(l: &Limits, slot: &SlotOffsets, bank: &BankOffsets) -> [(usize, usize); REGIONS] {
    // One bank for every thread and one more for every account: then a thread that finds no free bank finds an
    // account with two, in any history of threads (see `merge` in the writer). One more is for events outside of all.
    let banks = bank_count(l);
    let baseline_stride = round_up(l.arena_lines * LINE_BYTES, PAGE);
    let events = (shared_chunks(l) + l.threads) * CHUNK_EVENTS;
    let text = long_text_words(l) * 8;
    let long_texts = text + event::statement::MESSAGE_BYTES;
    let long_statement = round_up(size_of::<event::Statement>() + long_texts, LINE_BYTES);
    let digest_stride = round_up(digest_histograms(l) + 2 * FINE_BUCKETS * 8, LINE_BYTES);
    let prepared_stride = round_up(size_of::<Prepared>() + text, LINE_BYTES);
    [
        (size_of::<Control>(), 1),
        (1, l.classes),
        (1, l.classes),
        (1, l.threads),
        (size_of::<Rule>(), l.setup_objects),
        (1, l.objects),
        (size_of::<Shared>(), 1),
        (size_of::<ClassEntry>(), l.classes),
        (BUCKETS * 8, l.classes),
        (FINE_BUCKETS * 8, 1),
        (size_of::<Account>(), l.accounts + UNLISTED + 1),
        (size_of::<NamedEntry>(), l.users + UNLISTED),
        (size_of::<NamedEntry>(), l.hosts + UNLISTED),
        (size_of::<Actor>(), l.actors),
        (size_of::<NamedEntry>(), l.schemas),
        (size_of::<Source>(), SOURCES),
        (size_of::<Instance>(), l.instances),
        (size_of::<File>(), l.files),
        (size_of::<Socket>(), l.sockets),
        (size_of::<Object>(), l.objects),
        (size_of::<Index>(), l.indexes),
        (size_of::<TableHandle>(), l.table_handles),
        (size_of::<MetadataLock>(), l.metadata_locks),
        (prepared_stride, l.prepared_statements),
        (digest_stride, l.digests),
        (8, (l.digests * 2).next_power_of_two()),
        (slot.stride, l.threads),
        (bank.stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (baseline_stride, banks),
        (size_of::<event::Wait>(), events),
        (size_of::<event::Stage>(), events),
        (long_statement, events),
        (size_of::<event::Transaction>(), events),
        (size_of::<metric::Metric>(), l.metrics),
        (1, l.metrics),
        (size_of::<metric::State>(), l.metrics),
        (round_up(l.metrics * 8, LINE_BYTES), l.threads),
        (LINE_BYTES, l.classes),
        (LINE_BYTES, l.classes),
        (LINE_BYTES, DECISIONS),
        (size_of::<Board>(), 1),
        (size_of::<RowLock>(), ROW_LOCKS),
        (size_of::<RowLockWait>(), ROW_LOCK_WAITS),
        (active_text_bytes(l), l.threads),
        (attributes::rest_bytes(l.attribute_bytes), l.threads),
    ]
}

/// Bytes for the texts of a thread's running statements at the level `active`.
fn active_text_bytes(l: &Limits) -> usize {
    round_up(activity::TEXTS * l.sql_text_bytes, LINE_BYTES)
}

/// Banks.
const fn bank_count(l: &Limits) -> usize {
    l.threads + l.accounts + 1
}

/// Chunks of history_long that all threads share.
fn shared_chunks(l: &Limits) -> usize {
    l.history_long.div_ceil(CHUNK_EVENTS)
}

/// Words of a statement's text.
fn long_text_words(l: &Limits) -> usize {
    l.sql_text_bytes.div_ceil(8)
}

impl Geometry {
    /// The number of the account for threads whose account is still unknown, after all others. Counts by class in a
    /// bank of this account are moved to a bank of another account before a reader adds them up.
    pub const fn nobody(&self) -> usize {
        self.limits.accounts + UNLISTED
    }

    /// Computes all offsets. `limits` must be within their bounds (see [`Limits::clamped`]).
    pub fn new(limits: Limits) -> Self {
        let slot = SlotOffsets::new(&limits);
        let bank = BankOffsets::new(&limits);
        let mut regions = [Extent::default(); REGIONS];
        let mut offset = HEADER_BYTES;
        let shapes = shapes(&limits, &slot, &bank);
        for (number, (region, (stride, count))) in regions.iter_mut().zip(shapes).enumerate() {
            if number == Region::Slots as usize {
                offset += (FIRST_TEXT_BYTES + PAGE - slot.slot % PAGE) % PAGE;
            }
            *region = Extent {
                offset,
                stride,
                count,
            };
            offset = round_up(offset + stride * count, PAGE);
        }
        Self {
            limits,
            regions,
            total_bytes: offset,
            rings: slot.rings,
            slot: slot.slot,
            statements: slot.statements,
            traceparent: slot.traceparent,
            class_index: bank.class_index,
            arena: bank.arena,
            shared_chunks: shared_chunks(&limits),
            long_text_words: long_text_words(&limits),
        }
    }

    /// Banks.
    pub const fn banks(&self) -> usize {
        bank_count(&self.limits)
    }

    /// The extent of a region.
    #[inline]
    pub const fn region(&self, region: Region) -> Extent {
        self.regions[region as usize]
    }

    /// The baseline region with this number (see [`baseline`]).
    pub const fn baseline(&self, number: usize) -> Extent {
        assert!(number < baseline::COUNT);
        self.regions[Region::BaselineOwner as usize + number]
    }

    /// The history_long region of a ring (see [`crate::slot::ring`]).
    pub const fn long(&self, ring: usize) -> Extent {
        assert!(ring < 4);
        self.regions[Region::LongWaits as usize + ring]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest() -> Limits {
        let limits = Limits::default().classes(0).threads(0).history(0);
        limits.arena_lines(0).clamped()
    }

    #[test]
    fn regions_follow_each_other_on_page_bounds() {
        for limits in [Limits::default(), smallest()] {
            let g = Geometry::new(limits);
            let mut end = HEADER_BYTES;
            for r in &g.regions {
                let is_slots = *r == g.region(Region::Slots);
                let first = if is_slots { g.slot } else { 0 };
                let within = if is_slots { FIRST_TEXT_BYTES } else { 0 };
                assert_eq!((r.offset + first) % PAGE, within);
                assert!(r.offset >= end);
                end = r.offset + r.bytes();
            }
            assert!(g.total_bytes >= end);
        }
    }

    #[test]
    fn the_largest_limits_still_fit_an_address_space() {
        let limits = Limits::default().threads(65_536).instances(1_048_576);
        assert!(Geometry::new(limits.arena_lines(32_767).clamped()).total_bytes < 1 << 46);
    }

    #[test]
    fn limits_out_of_bounds_are_named() {
        let mut values = Limits::default().to_array();
        values[0] = 1;
        assert_eq!(Limits::from_array(values), Err("classes"));
    }
}
