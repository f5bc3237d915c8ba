//! Places in the host's source: the file and the line of an instrument point, by number.
//!
//! A stored event names its source by a number in the highest bits of its word
//! [`crate::event::word::THREAD`].

use crate::name::Name;
use crate::primitive::{AtomicU32, Ordering};

/// Number of entries. Number 0 means that the source is unknown. MySQL 9.7 has some 6,000 instrument points,
/// and Tare a few hundred; a point that never stores an event needs no entry.
pub const SOURCES: usize = 8192;

/// Bits of an event's first words that name the thread; the source is in those above.
pub const THREAD_BITS: u32 = 48;

const _: () = assert!(SOURCES <= 1 << (u64::BITS - THREAD_BITS));

/// Stored bytes of a file's name: SOURCE is varchar(64), with a colon and the line.
pub const FILE_BYTES: usize = 48;

/// A file and a line. Published by the number of those in use, and never changed.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Source {
    /// The line.
    pub line: AtomicU32,
    _reserved: AtomicU32,
    /// The file's name, without its folder.
    pub file: Name<{ FILE_BYTES / 8 }>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Source>() == 64);

impl Source {
    /// Stores a file's name (the part after the last slash) and a line.
    pub fn set(&self, path: &str, line: u32) {
        self.file.set(file_name(path));
        self.line.store(line, Ordering::Relaxed);
    }

    /// Whether it is this file and this line.
    pub fn is(&self, path: &str, line: u32) -> bool {
        self.line.load(Ordering::Relaxed) == line && self.file.is(file_name(path))
    }
}

/// A path's last part.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The thread and the number of the source that a word of an event names.
#[inline(always)]
pub const fn split(word: u64) -> (u64, usize) {
    (
        word & ((1 << THREAD_BITS) - 1),
        (word >> THREAD_BITS) as usize,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_its_files_name_and_line() {
        let source = Source::default();
        source.set("/build/sql/sql_base.cc", 4242);
        assert!(source.is("sql_base.cc", 4242) && source.is("elsewhere/sql_base.cc", 4242));
        assert!(!source.is("sql_base.cc", 1) && !source.is("base.cc", 4242));
    }

    #[test]
    fn a_word_holds_thread_and_source() {
        let thread = (1 << THREAD_BITS) - 1;
        let source = SOURCES - 1;
        let word = thread | (source as u64) << THREAD_BITS;
        assert_eq!(split(word), (thread, source));
    }
}
