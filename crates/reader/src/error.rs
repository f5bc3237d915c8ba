//! Errors, each with what to do about it.

use std::path::PathBuf;

use tare_layout::LAYOUT_VERSION;

/// Why a segment cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// There is no such process.
    #[error(
        "there is no process {pid}; if it ended badly under `tare run`, read the file that was saved: \
         --segment tare-{pid}.segment"
    )]
    NoProcess {
        /// The requested process.
        pid: u32,
    },
    /// The process has no segment, or not one that this user may read.
    #[error(
        "process {pid} has no segment that this user can read: it does not use Tare, has not started \
         it, or belongs to another user (try as that user, or as root)"
    )]
    NoSegment {
        /// The requested process.
        pid: u32,
    },
    /// No process with a segment runs.
    #[error(
        "no running program that uses Tare was found; start one, or give the path of a saved segment"
    )]
    NothingRuns,
    /// Several processes with a segment run.
    #[error("{} running programs use Tare; choose one by its pid: {}", .candidates.len(), list(.candidates))]
    Several {
        /// Their pids.
        candidates: Vec<u32>,
    },
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}; {advice}", .path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// The bytes are not a valid segment.
    #[error("cannot read {}: {source}", .path.display())]
    Invalid {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: Invalid,
    },
    /// The segment cannot be mapped.
    #[error(
        "cannot map the {bytes} bytes of {}: {source}; raise `ulimit -v`, or stop what else takes \
         address space",
        .path.display()
    )]
    Map {
        /// The path.
        path: PathBuf,
        /// Bytes of the segment.
        bytes: usize,
        /// The system's error.
        source: std::io::Error,
    },
}

fn list(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    pids.join(", ")
}

/// Why bytes are no segment that this reader can read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The first bytes are not a segment's.
    #[error("it is not a segment of Tare: it does not begin as one")]
    Magic,
    /// The writer has another layout version.
    #[error(
        "written by layout version {actual}, this tare reads {LAYOUT_VERSION}: use the tare that came with \
         that program"
    )]
    Version {
        /// The writer's version.
        actual: u32,
    },
    /// The file is too short.
    #[error(
        "it is truncated: {actual} bytes of {needed}; copy it again, holes included (cp --sparse)"
    )]
    Truncated {
        /// Bytes of the file.
        actual: u64,
        /// Bytes that its header requires.
        needed: u64,
    },
    /// The header has another size.
    #[error("its header is damaged: its size is {actual} bytes instead of {expected}")]
    HeaderBytes {
        /// The size in the header.
        actual: u32,
        /// The size in this version.
        expected: u32,
    },
    /// A limit is out of bounds.
    #[error("its header is damaged: limit {name} is {value}, which is out of bounds")]
    Limit {
        /// The limit's name.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// A region is not at the offset that follows from the limits.
    #[error("its header is damaged: region {region} is not where the limits put it")]
    Region {
        /// Number of the region.
        region: usize,
    },
    /// The total size does not follow from the limits.
    #[error("its header is damaged: its total is {actual} bytes, and its limits take {expected}")]
    TotalBytes {
        /// The size in the header.
        actual: u64,
        /// The size that follows from its limits.
        expected: u64,
    },
}

/// Why a setting could not be changed or a table not be truncated.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer has ended, so no program would follow the change.
    #[error(
        "the program that wrote this segment has ended: its settings and tables can only be read"
    )]
    Ended,
    /// The segment cannot be opened for writing.
    #[error(
        "cannot open the segment for writing: {0}; settings are changed by the same user or by root"
    )]
    Open(#[source] std::io::Error),
    /// The segment cannot be mapped a second time.
    #[error("cannot map the segment for writing: {0}; raise `ulimit -v`")]
    Map(#[source] std::io::Error),
    /// The row to be changed is not there.
    #[error("{what} {number} is not there (any more); read the table again")]
    Gone {
        /// The kind of row.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// Another reader is truncating a table.
    #[error("process {pid} is truncating a table of this segment; try again when it is done")]
    Busy {
        /// That reader's process.
        pid: u32,
    },
    /// The server did not answer a request.
    #[error("the server did not report its row locks in time: it hangs, or is stopped; try again")]
    Silent,
    /// The table has a row of this name.
    #[error("there is such a row already; change it instead")]
    Duplicate,
    /// The table is full.
    #[error("the table is full ({rows} rows); delete some")]
    Full {
        /// Its size in rows.
        rows: usize,
    },
}
