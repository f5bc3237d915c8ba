//! Processes that write one segment: docs/many-processes.md.
//!
//! A word identifies a process: bits 0-31 are its id, bits 32-63 the seconds since boot when it attached, by
//! which another process that gets the same id later is told apart. 0: the process of the header.

/// The word of a process.
pub const fn word(id: u32, attached_s: u32) -> u64 {
    (attached_s as u64) << 32 | id as u64
}

/// The id in the operating system.
pub const fn id(word: u64) -> u32 {
    word as u32
}

/// Seconds since boot when it attached.
pub const fn attached_s(word: u64) -> u32 {
    (word >> 32) as u32
}
