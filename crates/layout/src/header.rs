//! The first page: who the writer is, how its clock runs, and where the regions are.

use crate::control::TIMERS;
use crate::geometry::{LIMITS, REGIONS};
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// The first eight bytes of every segment.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TARE\x00SEG");

/// Changed with every change of any byte's meaning. A reader accepts its own version alone.
pub const LAYOUT_VERSION: u32 = 15;

/// [`Header::state`]: the writer records.
pub const LIVE: u32 = 1;
/// [`Header::state`]: the writer stopped in good order.
pub const STOPPED: u32 = 2;

/// How a timer behaves, measured at start.
#[repr(C)]
#[derive(Debug, Default)]
pub struct TimerFacts {
    /// Units a second; 0 = the timer is not there.
    pub frequency: AtomicU64,
    /// Smallest step seen, in units.
    pub resolution: AtomicU64,
    /// What reading it costs, in CYCLE units.
    pub overhead: AtomicU64,
}

/// Where a region lies.
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

/// The header. `magic` is stored last, so that nobody sees half a header.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Header {
    /// [`MAGIC`]
    pub magic: AtomicU64,
    /// [`LAYOUT_VERSION`]
    pub layout_version: AtomicU32,
    /// Bytes of this structure.
    pub header_bytes: AtomicU32,
    /// Bytes of the whole segment.
    pub total_bytes: AtomicU64,
    /// [`LIVE`] or [`STOPPED`].
    pub state: AtomicU32,
    /// The writer's process id.
    pub pid: AtomicU32,
    /// How often Tare was started in this process, this time included.
    pub generation: AtomicU64,
    /// Wall clock at start, in nanoseconds since 1970.
    pub start_unix_ns: AtomicU64,
    /// Ticks at the same moment: the zero of every TIMER_START.
    pub start_ticks: AtomicU64,
    /// Ticks a second. Every time in the segment is in ticks, whatever timer measured it.
    pub ticks_per_second: AtomicU64,
    /// 1 = ticks are the time stamp counter, 0 = they are clock_gettime's nanoseconds.
    pub ticks_are_cycles: AtomicU64,
    /// The timers, by number.
    pub timers: [TimerFacts; TIMERS],
    /// The limits that everything's place follows from, in the order of their declaration.
    pub limits: [AtomicU64; LIMITS],
    /// The regions, in the order of [`crate::geometry::Region`].
    pub regions: [Place; REGIONS],
    /// The writer's program.
    pub program: Name<32>,
}

/// Bytes set aside for the header.
pub const HEADER_BYTES: usize = 4096;

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);
