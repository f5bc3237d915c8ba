//! What can go wrong, each with what to do about it.

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
        /// The process asked for.
        pid: u32,
    },
    /// The process has no segment, or not one that this user may read.
    #[error(
        "process {pid} has no segment that this user can read: it does not use Tare, has not started \
         it, or belongs to another user (try as that user, or as root)"
    )]
    NoSegment {
        /// The process asked for.
        pid: u32,
    },
    /// Nothing runs that could be meant.
    #[error(
        "no running program that uses Tare was found; start one, or give the path of a saved segment"
    )]
    NothingRuns,
    /// Several could be meant.
    #[error("{} running programs use Tare; say which by its pid: {}", .candidates.len(), list(.candidates))]
    Several {
        /// Their pids.
        candidates: Vec<u32>,
    },
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}; {advice}", .path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// The bytes are not what they should be.
    #[error("cannot read {}: {source}", .path.display())]
    Invalid {
        /// The path.
        path: PathBuf,
        /// What is wrong with them.
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
        /// What the system says.
        source: std::io::Error,
    },
}

fn list(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    pids.join(", ")
}

/// Why bytes are no segment that this reader understands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The first bytes are not a segment's.
    #[error("it is not a segment of Tare: it does not begin as one")]
    Magic,
    /// A writer and a reader of different versions.
    #[error(
        "written by layout version {found}, this tare reads {LAYOUT_VERSION}: use the tare that came with \
         that program"
    )]
    Version {
        /// The writer's version.
        found: u32,
    },
    /// Fewer bytes than there must be.
    #[error(
        "it is truncated: {found} bytes of {needed}; copy it again, holes included (cp --sparse)"
    )]
    Truncated {
        /// Bytes that are there.
        found: u64,
        /// Bytes that its header asks for.
        needed: u64,
    },
    /// A header of another size.
    #[error("its header is damaged: it says it is {found} bytes long instead of {expected}")]
    HeaderBytes {
        /// What it says.
        found: u32,
        /// What it is in this version.
        expected: u32,
    },
    /// A limit out of bounds.
    #[error("its header is damaged: limit {name} is {value}, which cannot be")]
    Limit {
        /// The limit's name.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// A region elsewhere than where its limits put it.
    #[error("its header is damaged: region {region} is not where the limits put it")]
    Region {
        /// Number of the region.
        region: usize,
    },
    /// A size that does not follow from the limits.
    #[error("its header is damaged: it says {found} bytes, and its limits take {expected}")]
    TotalBytes {
        /// What it says.
        found: u64,
        /// What follows from its limits.
        expected: u64,
    },
}

/// Why a setting could not be changed or a table not be truncated.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Nobody would obey.
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
    /// What should be changed is not there.
    #[error("{what} {number} is not there (any more); read the table again")]
    Gone {
        /// Which kind of thing.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// Another reader is truncating a table.
    #[error("process {pid} is truncating a table of this segment; try again when it is done")]
    Busy {
        /// Which process.
        pid: u32,
    },
    /// The program was asked and did not answer.
    #[error("the server did not tell its row locks in time: it hangs, or is stopped; try again")]
    Silent,
    /// The table has a row of this name.
    #[error("there is such a row already; change it instead")]
    Duplicate,
    /// The table has no room for another row.
    #[error("the table has room for {rows} rows, and as many are there; delete some")]
    Full {
        /// Its size.
        rows: usize,
    },
}
