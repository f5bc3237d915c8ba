//! Files, and the operations on them.

use std::sync::Arc;

use super::event::{HasStat, Stat};

/// File operations by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// All.
    pub all: Stat,
    /// Reads.
    pub read: Stat,
    /// Bytes read.
    pub bytes_read: i64,
    /// Writes.
    pub write: Stat,
    /// Bytes written.
    pub bytes_written: i64,
    /// Open, close, sync, seek and the rest.
    pub misc: Stat,
}

/// The operations of an instrument or of one file.
#[derive(Debug, Clone)]
pub struct FileIo {
    /// The file's path; empty in the summary by event name.
    pub path: Arc<str>,
    /// The instrument.
    pub name: Arc<str>,
    /// The file's address or number; 0 in the summary by event name.
    pub object_instance_begin: u64,
    /// The operations.
    pub io: Io,
}

impl HasStat for FileIo {
    fn stat(&self) -> &Stat {
        &self.io.all
    }
}

/// A row that has operations.
pub trait HasIo: HasStat {
    /// They.
    fn io(&self) -> &Io;
}

impl HasIo for FileIo {
    fn io(&self) -> &Io {
        &self.io
    }
}

/// A file that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Its path.
    pub path: Arc<str>,
    /// The instrument.
    pub name: Arc<str>,
    /// How often it is open.
    pub open: u32,
}
