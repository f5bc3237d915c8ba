//! Typed access to a mapped segment: the one place that turns offsets into references.

use core::marker::PhantomData;

use crate::account::{Account, NamedEntry};
use crate::actor::Actor;
use crate::attributes::Attributes;
use crate::bank::{Bank, baseline};
use crate::class::ClassEntry;
use crate::control::{Control, Controls};
use crate::digest::Digest;
use crate::event;
use crate::fine::{FINE_BLOCK_BUCKETS, FINE_BUCKETS};
use crate::geometry::{Geometry, Region, digest_histograms};
use crate::header::Header;
use crate::histogram::{BLOCK_BUCKETS, BUCKETS};
use crate::instance::{File, Instance, Socket};
use crate::line::{LINE_BYTES, Line};
use crate::metric::{Metric, State};
use crate::object::{Index, MetadataLock, Object, Prepared, Rule, TableHandle};
use crate::primitive::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use crate::row_lock::{Board, RowLock, RowLockWait};
use crate::shared::Shared;
use crate::slot::{STATEMENT_DEPTH, Slot};
use crate::source::Source;
use crate::traceparent::Traceparent;

/// The baselines' regions, by number.
const BASELINES: [Region; baseline::COUNT] = [
    Region::BaselineOwner,
    Region::BaselineGlobal,
    Region::BaselineAccount,
    Region::BaselineThread,
    Region::BaselineUser,
    Region::BaselineHost,
    Region::BaselineFrozen,
];

/// A segment of known geometry, mapped at an address.
///
/// Every accessor checks its index against the geometry, which was computed and not read from
/// the segment; references handed out stay inside the mapping whatever its bytes are.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    base: *const u8,
    geometry: Geometry,
    mapping: PhantomData<&'a [AtomicU64]>,
}

// SAFETY: a view only hands out references to atomics.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// A view of the segment at `base`.
    ///
    /// # Safety
    /// `base` is page-aligned, and `geometry.total_bytes` bytes from there stay mapped readable for
    /// `'a` (a file behind them is not truncated). Whoever stores through the view has mapped the
    /// region concerned writable. Nobody in this process accesses the bytes but through atomics.
    pub unsafe fn new(base: *const u8, geometry: Geometry) -> Self {
        Self {
            base,
            geometry,
            mapping: PhantomData,
        }
    }

    /// The segment's geometry.
    #[inline]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The segment's first byte.
    #[inline]
    pub const fn base(&self) -> *const u8 {
        self.base
    }

    /// `count` values of `T`, which begin `within` bytes after the start of element `i` of a region.
    #[inline]
    fn slice<T>(&self, region: Region, i: usize, within: usize, count: usize) -> &'a [T] {
        let extent = self.geometry.region(region);
        assert!(i < extent.count && within + count * size_of::<T>() <= extent.stride);
        let offset = extent.offset + i * extent.stride + within;
        debug_assert!(offset.is_multiple_of(align_of::<T>()));
        // SAFETY: the element is within its region and the region within the mapping, by the
        // assertion above and `View::new`'s contract; T is made of atomics only (private
        // function, called below with such types), for which every bit pattern is valid.
        unsafe { core::slice::from_raw_parts(self.base.add(offset).cast(), count) }
    }

    #[inline]
    fn one<T>(&self, region: Region, i: usize) -> &'a T {
        &self.slice(region, i, 0, 1)[0]
    }

    /// A region in which each element is one `T`.
    #[inline]
    fn all<T>(&self, region: Region) -> &'a [T] {
        let extent = self.geometry.region(region);
        assert!(extent.stride == size_of::<T>());
        // SAFETY: the region is within the mapping (`View::new`) and begins on a page; T consists
        // of atomics only (private function, called below with such types).
        unsafe { core::slice::from_raw_parts(self.base.add(extent.offset).cast(), extent.count) }
    }

    /// The header.
    #[inline]
    pub fn header(&self) -> &'a Header {
        // SAFETY: the header is at offset 0 of every segment and smaller than any of them.
        unsafe { &*self.base.cast() }
    }

    /// The fixed part of the control region.
    #[inline]
    pub fn control(&self) -> &'a Control {
        self.one(Region::Control, 0)
    }

    /// Control with its arrays.
    #[inline]
    pub fn controls(&self) -> Controls<'a> {
        Controls {
            control: self.control(),
            setup: self.all(Region::Setup),
            effective: self.all(Region::Effective),
        }
    }

    /// The sample of a class.
    pub fn sample(&self, class: usize) -> &'a Line {
        self.one(Region::Samples, class)
    }

    /// Its values at the last truncation of the summaries by event name.
    pub fn samples_truncated(&self, class: usize) -> &'a Line {
        self.one(Region::SamplesTruncated, class)
    }

    /// The governor's decisions: decision `n` is at `n` modulo their number.
    pub fn decisions(&self) -> &'a [Line] {
        self.all(Region::Decisions)
    }

    /// The state of the last answer about row locks.
    pub fn row_lock_board(&self) -> &'a Board {
        self.one(Region::RowLockBoard, 0)
    }

    /// The row locks of the last answer.
    pub fn row_locks(&self) -> &'a [RowLock] {
        self.all(Region::RowLocks)
    }

    /// The waits of the last answer.
    pub fn row_lock_waits(&self) -> &'a [RowLockWait] {
        self.all(Region::RowLockWaits)
    }

    /// Each slot's mask of effective bits.
    #[inline]
    pub fn thread_masks(&self) -> &'a [AtomicU8] {
        self.all(Region::ThreadMasks)
    }

    /// Row `i` of setup_objects.
    pub fn object_rule(&self, i: usize) -> &'a Rule {
        self.one(Region::ObjectRules, i)
    }

    /// Each object's mask of effective bits.
    #[inline]
    pub fn object_masks(&self) -> &'a [AtomicU8] {
        self.all(Region::ObjectMasks)
    }

    /// Ids, free lists, losses.
    #[inline]
    pub fn shared(&self) -> &'a Shared {
        self.one(Region::Shared, 0)
    }

    /// Class `i`.
    #[inline]
    pub fn class(&self, i: usize) -> &'a ClassEntry {
        self.one(Region::Classes, i)
    }

    /// Histogram counts of class `i` beyond 32 bits.
    pub fn spill(&self, i: usize) -> &'a [AtomicU64] {
        self.slice(Region::Spill, i, 0, BUCKETS)
    }

    /// Account `i`.
    #[inline]
    pub fn account(&self, i: usize) -> &'a Account {
        self.one(Region::Accounts, i)
    }

    /// User `i`.
    pub fn user(&self, i: usize) -> &'a NamedEntry {
        self.one(Region::Users, i)
    }

    /// Host `i`.
    pub fn host(&self, i: usize) -> &'a NamedEntry {
        self.one(Region::Hosts, i)
    }

    /// The rules of setup_actors.
    pub fn actors(&self) -> &'a [Actor] {
        self.all(Region::Actors)
    }

    /// Schema `i`.
    pub fn schema(&self, i: usize) -> &'a NamedEntry {
        self.one(Region::Schemas, i)
    }

    /// Place `i` in the host's source.
    pub fn source(&self, i: usize) -> &'a Source {
        self.one(Region::Sources, i)
    }

    /// Instance at index `i` (not its id).
    #[inline]
    pub fn instance(&self, i: usize) -> &'a Instance {
        self.one(Region::Instances, i)
    }

    /// File at index `i`.
    #[inline]
    pub fn file(&self, i: usize) -> &'a File {
        self.one(Region::Files, i)
    }

    /// Socket at index `i`.
    #[inline]
    pub fn socket(&self, i: usize) -> &'a Socket {
        self.one(Region::Sockets, i)
    }

    /// All sockets.
    pub fn sockets(&self) -> &'a [Socket] {
        self.all(Region::Sockets)
    }

    /// Table or program at index `i`.
    #[inline]
    pub fn object(&self, i: usize) -> &'a Object {
        self.one(Region::Objects, i)
    }

    /// Index `i` of the tables'.
    pub fn table_index(&self, i: usize) -> &'a Index {
        self.one(Region::Indexes, i)
    }

    /// Table handle `i`.
    #[inline]
    pub fn table_handle(&self, i: usize) -> &'a TableHandle {
        self.one(Region::TableHandles, i)
    }

    /// Metadata lock `i`.
    #[inline]
    pub fn metadata_lock(&self, i: usize) -> &'a MetadataLock {
        self.one(Region::MetadataLocks, i)
    }

    /// Prepared statement at index `i`.
    #[inline]
    pub fn prepared(&self, i: usize) -> &'a Prepared {
        self.one(Region::Prepared, i)
    }

    /// The text of the prepared statement at index `i`.
    pub fn prepared_text(&self, i: usize) -> &'a [AtomicU64] {
        let words = self.geometry.long_text_words;
        self.slice(Region::Prepared, i, size_of::<Prepared>(), words)
    }

    /// Digest `i`.
    #[inline]
    pub fn digest(&self, i: usize) -> &'a Digest {
        self.one(Region::Digests, i)
    }

    /// The normalised text of digest `i`.
    pub fn digest_text(&self, i: usize) -> &'a [AtomicU64] {
        let words = self.geometry.limits.digest_text_bytes / 8;
        self.slice(Region::Digests, i, size_of::<Digest>(), words)
    }

    /// The sample text of digest `i`.
    pub fn digest_sample(&self, i: usize) -> &'a [AtomicU64] {
        let limits = &self.geometry.limits;
        let within = size_of::<Digest>() + limits.digest_text_bytes;
        self.slice(Region::Digests, i, within, limits.sql_text_bytes / 8)
    }

    /// The histogram of digest `i`'s shared lines.
    pub fn digest_histogram(&self, i: usize) -> &'a [AtomicU64] {
        let within = digest_histograms(&self.geometry.limits);
        self.slice(Region::Digests, i, within, FINE_BUCKETS)
    }

    /// The same when the histograms by digest were truncated; written by readers.
    pub fn digest_histogram_truncated(&self, i: usize) -> &'a [AtomicU64] {
        let within = digest_histograms(&self.geometry.limits) + FINE_BUCKETS * 8;
        self.slice(Region::Digests, i, within, FINE_BUCKETS)
    }

    /// Counts of the statement histogram beyond 32 bits.
    pub fn fine_spill(&self) -> &'a [AtomicU64] {
        self.slice(Region::FineSpill, 0, 0, FINE_BUCKETS)
    }

    /// The buckets of the block of a statement histogram that begins at line `at` of bank `i`'s arena.
    pub fn fine_block(&self, i: usize, at: usize) -> &'a [AtomicU32] {
        let within = self.geometry.arena + at * LINE_BYTES;
        self.slice(Region::Banks, i, within + 8, FINE_BLOCK_BUCKETS)
    }

    /// The same block in baseline `number`.
    pub fn baseline_fine_block(&self, number: usize, i: usize, at: usize) -> &'a [AtomicU32] {
        let within = at * LINE_BYTES + 8;
        self.slice(BASELINES[number], i, within, FINE_BLOCK_BUCKETS)
    }

    /// Metric `i`.
    pub fn metric(&self, i: usize) -> &'a Metric {
        self.one(Region::Metrics, i)
    }

    /// Whether each metric is gathered: 1 or 0.
    pub fn metric_flags(&self) -> &'a [AtomicU8] {
        self.all(Region::MetricFlags)
    }

    /// The state of metric `i`.
    pub fn metric_state(&self, i: usize) -> &'a State {
        self.one(Region::MetricStates, i)
    }

    /// The counts of the threads of slot `i`, by metric.
    pub fn metric_row(&self, i: usize) -> &'a [AtomicU64] {
        self.slice(Region::MetricRows, i, 0, self.geometry.limits.metrics)
    }

    /// The digest index.
    pub fn digest_index(&self) -> &'a [AtomicU64] {
        self.all(Region::DigestIndex)
    }

    /// Slot `i`.
    #[inline]
    pub fn slot(&self, i: usize) -> &'a Slot {
        &self.slice(Region::Slots, i, self.geometry.slot, 1)[0]
    }

    /// The history ring of waits of slot `i`.
    pub fn ring_waits(&self, i: usize) -> &'a [event::Wait] {
        self.slice(
            Region::Slots,
            i,
            self.geometry.rings[0],
            self.geometry.limits.history,
        )
    }

    /// The history ring of stages of slot `i`.
    pub fn ring_stages(&self, i: usize) -> &'a [event::Stage] {
        self.slice(
            Region::Slots,
            i,
            self.geometry.rings[1],
            self.geometry.limits.history,
        )
    }

    /// The history ring of statements of slot `i`.
    pub fn ring_statements(&self, i: usize) -> &'a [event::Statement] {
        self.slice(
            Region::Slots,
            i,
            self.geometry.rings[2],
            self.geometry.limits.history,
        )
    }

    /// The history ring of transactions of slot `i`.
    pub fn ring_transactions(&self, i: usize) -> &'a [event::Transaction] {
        self.slice(
            Region::Slots,
            i,
            self.geometry.rings[3],
            self.geometry.limits.history,
        )
    }

    /// The statements that run in slot `i`, the outermost first; the first stays when it has ended.
    pub fn statements(&self, i: usize) -> &'a [event::Statement] {
        self.slice(Region::Slots, i, self.geometry.statements, STATEMENT_DEPTH)
    }

    /// The text ring of slot `i`.
    pub fn text_ring(&self, i: usize) -> &'a [AtomicU64] {
        let words = self.geometry.limits.text_ring_bytes / 8;
        self.slice(Region::Slots, i, 0, words)
    }

    /// The texts of the statements that run in slot `i` at the level `active`.
    pub fn active_text(&self, i: usize) -> &'a [AtomicU64] {
        let words = self.geometry.region(Region::ActiveTexts).stride / 8;
        self.slice(Region::ActiveTexts, i, 0, words)
    }

    /// The `traceparent` of slot `i`'s client.
    pub fn traceparent(&self, i: usize) -> Traceparent<'a> {
        Traceparent {
            sequence: &self.slot(i).traceparent_sequence,
            text: &self.slice(Region::Slots, i, self.geometry.traceparent, 1)[0],
        }
    }

    /// The attributes of slot `i`'s client.
    pub fn attributes(&self, i: usize) -> Attributes<'a> {
        let words = self.geometry.region(Region::Attributes).stride / 8;
        Attributes {
            first: &self.slot(i).attributes,
            rest: self.slice(Region::Attributes, i, 0, words),
        }
    }

    /// Bank `i`.
    #[inline]
    pub fn bank(&self, i: usize) -> &'a Bank {
        self.one(Region::Banks, i)
    }

    /// The class index of bank `i`.
    #[inline]
    pub fn class_index(&self, i: usize) -> &'a [AtomicU16] {
        self.slice(
            Region::Banks,
            i,
            self.geometry.class_index,
            self.geometry.limits.classes,
        )
    }

    /// The arena of bank `i`.
    #[inline]
    pub fn arena(&self, i: usize) -> &'a [Line] {
        self.slice(
            Region::Banks,
            i,
            self.geometry.arena,
            self.geometry.limits.arena_lines,
        )
    }

    /// The lines of baseline `number` for bank `i`'s arena.
    #[inline]
    pub fn baseline(&self, number: usize, i: usize) -> &'a [Line] {
        let region = BASELINES[number];
        self.slice(region, i, 0, self.geometry.limits.arena_lines)
    }

    /// The buckets of the histogram block that begins at line `at` of bank `i`'s arena.
    pub fn block(&self, i: usize, at: usize) -> &'a [AtomicU32] {
        let within = self.geometry.arena + at * LINE_BYTES;
        self.slice(Region::Banks, i, within + 8, BLOCK_BUCKETS)
    }

    /// The same block in baseline `number`.
    pub fn baseline_block(&self, number: usize, i: usize, at: usize) -> &'a [AtomicU32] {
        let region = BASELINES[number];
        self.slice(region, i, at * LINE_BYTES + 8, BLOCK_BUCKETS)
    }

    /// The events of history_long's waits.
    pub fn long_waits(&self) -> &'a [event::Wait] {
        self.all(Region::LongWaits)
    }

    /// The events of history_long's stages.
    pub fn long_stages(&self) -> &'a [event::Stage] {
        self.all(Region::LongStages)
    }

    /// Event `i` of history_long's statements.
    pub fn long_statement(&self, i: usize) -> &'a event::Statement {
        self.one(Region::LongStatements, i)
    }

    /// The text of event `i` of history_long's statements.
    pub fn long_text(&self, i: usize) -> &'a [AtomicU64] {
        let at = size_of::<event::Statement>();
        self.slice(Region::LongStatements, i, at, self.geometry.long_text_words)
    }

    /// The message of event `i` of history_long's statements.
    pub fn long_message(&self, i: usize) -> &'a [AtomicU64] {
        let at = size_of::<event::Statement>() + 8 * self.geometry.long_text_words;
        self.slice(
            Region::LongStatements,
            i,
            at,
            event::statement::MESSAGE_BYTES / 8,
        )
    }

    /// Event `i` of history_long's transactions.
    pub fn long_transaction(&self, i: usize) -> &'a event::Transaction {
        self.one(Region::LongTransactions, i)
    }
}
