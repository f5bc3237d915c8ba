//! The first page: the writer, its clock, and the offsets of the regions.

use crate::control::TIMERS;
use crate::geometry::{LIMITS, REGIONS};
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// The first eight bytes of every segment.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TARE\x00SEG");

/// Incremented with every change of any byte's meaning. A reader accepts only its own version.
pub const LAYOUT_VERSION: u32 = 19;

/// [`Header::state`]: the writer records.
pub const LIVE: u32 = 1;
/// [`Header::state`]: the writer has stopped regularly.
pub const STOPPED: u32 = 2;

/// How a timer behaves, measured at start.
#[repr(C)]
#[derive(Debug, Default)]
pub struct TimerFacts {
    /// Units a second; 0 = the timer does not exist.
    pub frequency: AtomicU64,
    /// Smallest observed step, in units.
    pub resolution: AtomicU64,
    /// The cost of reading it, in CYCLE units.
    pub overhead: AtomicU64,
}

/// The extent of a region.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Place {
    /// Bytes from the segment's start.
    pub offset: AtomicU64,
    /// Bytes from one element to the next.
    pub stride: AtomicU64,
    /// Elements.
    pub count: AtomicU64,
}

/// The header. `magic` is stored last, so that no reader sees half a header.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Header {
    /// [`MAGIC`]
    pub magic: AtomicU64,
    /// [`LAYOUT_VERSION`]
    pub layout_version: AtomicU32,
    /// Bytes of this structure.
    pub header_bytes: AtomicU32,
    /// Bytes of the segment.
    pub total_bytes: AtomicU64,
    /// [`LIVE`] or [`STOPPED`].
    pub state: AtomicU32,
    /// The writer's process id.
    pub pid: AtomicU32,
    /// How often Tare was started in this process, including this time.
    pub generation: AtomicU64,
    /// Wall clock at start, in nanoseconds since 1970.
    pub start_unix_ns: AtomicU64,
    /// Ticks at the same moment: the zero of every TIMER_START.
    pub start_ticks: AtomicU64,
    /// Ticks a second. Every time in the segment is in ticks, by whichever timer it was measured.
    pub ticks_per_second: AtomicU64,
    /// 1 = ticks are the time stamp counter, 0 = they are clock_gettime's nanoseconds.
    pub ticks_are_cycles: AtomicU64,
    /// The timers, by number.
    pub timers: [TimerFacts; TIMERS],
    /// The limits from which all offsets are computed, in the order of their declaration.
    pub limits: [AtomicU64; LIMITS],
    /// The regions, in the order of [`crate::geometry::Region`].
    pub regions: [Place; REGIONS],
    /// The writer's program.
    pub program: Name<32>,
}

/// Bytes reserved for the header.
pub const HEADER_BYTES: usize = 4096;

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);
