//! Attaching to a segment: finding it, checking it, mapping it.
//!
//! | what lies behind | how it is mapped |
//! |---|---|
//! | sealed against shrinking (every memfd of a writer) | in place |
//! | a file whose writer lives (`TARE_SEGMENT`) | in place: whoever cuts it stops the writer first |
//! | any other file (saved segments, strangers' bytes) | a private copy of what holds data |
//!
//! So that bytes that vanish under a mapping, which would kill the reader by SIGBUS, cannot be had
//! from a file that merely looks like a segment.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use tare_layout::header::{HEADER_BYTES, LIVE};
use tare_layout::{Geometry, LAYOUT_VERSION, View};

use crate::discover::{self, Found};
use crate::error::{AttachError, WriteError};
use crate::mapping::{self, Mapping};
use crate::time::Clock;
use crate::validate::validate;

/// Which segment to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// That of a running process; the newest, if it started Tare more than once.
    Pid(u32),
    /// A file: saved, or the `TARE_SEGMENT` of a running process; or `/proc/PID/fd/N`.
    Path(PathBuf),
    /// The only one that runs on this machine.
    Only,
}

/// A segment, mapped and checked.
///
/// Cheap to share (`Arc<Segment>`): all methods take `&self`.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    file: File,
    geometry: Geometry,
    mapping: Mapping,
    /// Made when the first setting is changed.
    writable: OnceLock<Mapping>,
    writer: Writer,
}

/// What is known about the process that writes a segment.
#[derive(Debug)]
enum Writer {
    /// This process.
    Own,
    /// It ran when we attached.
    Runs { pid: u32, pidfd: Option<OwnedFd> },
    /// It had ended.
    Ended,
}

impl Segment {
    /// Attaches to a segment.
    ///
    /// # Errors
    /// [`AttachError`], which says what to do.
    pub fn attach(target: Target) -> Result<Self, AttachError> {
        match target {
            Target::Path(path) => Self::of_path(path),
            Target::Pid(pid) => match newest(discover::of_process(pid)) {
                Some(found) => Self::of_found(found),
                None if Path::new(&format!("/proc/{pid}")).exists() => {
                    Err(AttachError::NoSegment { pid })
                }
                None => Err(AttachError::NoProcess { pid }),
            },
            Target::Only => Self::of_found(only(discover::running())?),
        }
    }

    /// Attaches to a segment that this process writes itself, through a descriptor of it (as
    /// `tare::descriptor()` gives).
    ///
    /// # Errors
    /// [`AttachError`], as for any other segment.
    pub fn own(descriptor: OwnedFd) -> Result<Self, AttachError> {
        // A path that other processes can open, too.
        let (pid, number) = (std::process::id(), descriptor.as_raw_fd());
        let path = PathBuf::from(format!("/proc/{pid}/fd/{number}"));
        Self::of_file(path, File::from(descriptor), Writer::Own)
    }

    fn of_found(found: Found) -> Result<Self, AttachError> {
        let file = open(&found.path)?;
        let writer = Writer::runs(found.pid);
        Self::of_file(found.path, file, writer)
    }

    fn of_path(path: PathBuf) -> Result<Self, AttachError> {
        let file = open(&path)?;
        let writer = writer_of(&path, &file)?;
        Self::of_file(path, file, writer)
    }

    fn of_file(path: PathBuf, file: File, writer: Writer) -> Result<Self, AttachError> {
        let cannot_read = |source| AttachError::Open {
            path: path.clone(),
            source,
            advice: "is it being written just now? try again",
        };
        let mut page = [0; HEADER_BYTES];
        read_page(&file, &mut page).map_err(cannot_read)?;
        let bytes = file.metadata().map_err(cannot_read)?.len();
        let geometry = validate(&page, bytes).map_err(|source| AttachError::Invalid {
            path: path.clone(),
            source,
        })?;
        let in_place = mapping::is_sealed(&file) || !matches!(writer, Writer::Ended);
        let file = if in_place {
            file
        } else {
            mapping::private_copy(&file, geometry.total_bytes).map_err(cannot_read)?
        };
        let mapping = Mapping::new(&file, geometry).map_err(|source| AttachError::Map {
            path: path.clone(),
            bytes: geometry.total_bytes,
            source,
        })?;
        Ok(Self {
            path,
            file,
            geometry,
            mapping,
            writable: OnceLock::new(),
            writer,
        })
    }

    /// Where it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The writer's process id as this machine numbers it now; as the header has it once the
    /// process has ended.
    pub fn pid(&self) -> u32 {
        match &self.writer {
            Writer::Runs { pid, .. } => *pid,
            Writer::Own | Writer::Ended => self.view().header().pid.load(Ordering::Relaxed),
        }
    }

    /// Whether the writer still records.
    pub fn is_live(&self) -> bool {
        let runs = match &self.writer {
            Writer::Own => true,
            Writer::Runs { pid, pidfd } => match pidfd {
                Some(pidfd) => !mapping::has_ended(pidfd),
                // A kernel before 5.3.
                None => Path::new(&format!("/proc/{pid}")).exists(),
            },
            Writer::Ended => false,
        };
        runs && self.view().header().state.load(Ordering::Acquire) == LIVE
    }

    /// The bytes, typed. Whatever they say, no access through it leaves the mapping.
    pub fn view(&self) -> View<'_> {
        self.mapping.view()
    }

    /// How large everything is.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The clock that its times are read by.
    pub fn clock(&self) -> Clock {
        Clock::new(self.view(), self.is_live())
    }

    /// Bytes of memory (or disk) that the segment takes: what was touched, not what is reserved.
    pub fn resident_bytes(&self) -> u64 {
        // 512 is what st_blocks counts in, whatever the file system's blocks are (stat(2)).
        self.file.metadata().map_or(0, |m| m.blocks() * 512)
    }

    /// The bytes, with what a reader may write (`tare_layout::geometry::is_reader_writable`) mapped
    /// for writing. Storing anywhere else through this view ends the process.
    ///
    /// # Errors
    /// [`WriteError`]: the writer has ended, or is another user's.
    pub fn writable(&self) -> Result<View<'_>, WriteError> {
        if !self.is_live() {
            return Err(WriteError::Ended);
        }
        if let Some(mapping) = self.writable.get() {
            return Ok(mapping.view());
        }
        // The descriptor may be one for reading only; this opens the same file anew.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
            .map_err(WriteError::Open)?;
        let mapping = Mapping::writable(&file, self.geometry).map_err(WriteError::Map)?;
        Ok(self.writable.get_or_init(|| mapping).view())
    }
}

impl Writer {
    fn runs(pid: u32) -> Self {
        Writer::Runs {
            pid,
            pidfd: mapping::pidfd(pid),
        }
    }
}

/// The process that writes the segment at `path`, if it still runs.
fn writer_of(path: &Path, file: &File) -> Result<Writer, AttachError> {
    let metadata = file.metadata().map_err(|source| AttachError::Open {
        path: path.to_owned(),
        source,
        advice: "try again",
    })?;
    let identity = (metadata.dev(), metadata.ino());
    let is_it = |found: &Found| found.identity == identity;
    let mut page = [0; HEADER_BYTES];
    let pid_in_header = match read_page(file, &mut page) {
        Ok(_) => {
            let at = std::mem::offset_of!(tare_layout::header::Header, pid);
            u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
        }
        Err(_) => 0,
    };
    // The likely one first; its number may differ when it runs in a container.
    let found = discover::of_process(pid_in_header)
        .into_iter()
        .find(is_it)
        .or_else(|| discover::running().into_iter().find(is_it));
    Ok(found.map_or(Writer::Ended, |found| Writer::runs(found.pid)))
}

fn newest(found: Vec<Found>) -> Option<Found> {
    let (ours, other): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|found| found.layout_version == LAYOUT_VERSION);
    // A process that stopped Tare and started it again may still hold its old segment; a segment of
    // another version is better named than passed over.
    let live = |found: &Found| first_page(&found.path).is_some_and(|page| state(&page) == LIVE);
    let generation = |found: &Found| first_page(&found.path).map_or(0, |page| generation(&page));
    ours.into_iter()
        .max_by_key(|found| (live(found), generation(found)))
        .or_else(|| other.into_iter().next_back())
}

fn first_page(path: &Path) -> Option<[u8; HEADER_BYTES]> {
    let mut page = [0; HEADER_BYTES];
    let file = open(path).ok()?;
    read_page(&file, &mut page).ok()?;
    Some(page)
}

fn state(page: &[u8; HEADER_BYTES]) -> u32 {
    let at = std::mem::offset_of!(tare_layout::header::Header, state);
    u32::from_le_bytes(std::array::from_fn(|i| page[at + i]))
}

fn generation(page: &[u8; HEADER_BYTES]) -> u64 {
    let at = std::mem::offset_of!(tare_layout::header::Header, generation);
    u64::from_le_bytes(std::array::from_fn(|i| page[at + i]))
}

fn only(found: Vec<Found>) -> Result<Found, AttachError> {
    let mut pids: Vec<u32> = found.iter().map(|found| found.pid).collect();
    pids.dedup();
    match pids.as_slice() {
        [] => Err(AttachError::NothingRuns),
        [_] => newest(found).ok_or(AttachError::NothingRuns),
        _ => {
            let ours: Vec<Found> = found
                .into_iter()
                .filter(|found| found.layout_version == LAYOUT_VERSION)
                .collect();
            let mut of_ours: Vec<u32> = ours.iter().map(|found| found.pid).collect();
            of_ours.dedup();
            match of_ours.as_slice() {
                [_] => newest(ours).ok_or(AttachError::NothingRuns),
                _ => Err(AttachError::Several { candidates: pids }),
            }
        }
    }
}

fn open(path: &Path) -> Result<File, AttachError> {
    let failed = |source: io::Error| AttachError::Open {
        path: path.to_owned(),
        advice: match source.kind() {
            io::ErrorKind::NotFound => "check the path; `tare ps` lists the segments of what runs",
            io::ErrorKind::PermissionDenied => {
                "segments are readable by the user of their program and by root: try as one of them"
            }
            _ => "give the path of a segment's file",
        },
        source,
    };
    // Not blocking: should it be a pipe, opening it must not wait for its other end.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(failed)?;
    let kind = file.metadata().map_err(failed)?.file_type();
    if !kind.is_file() {
        let what = if kind.is_dir() {
            "it is a directory"
        } else if kind.is_fifo() || kind.is_socket() {
            "it is a pipe or socket"
        } else {
            "it is no regular file"
        };
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    Ok(file)
}

/// Reads the first page, or as much of it as there is; the rest stays zero.
fn read_page(file: &File, page: &mut [u8; HEADER_BYTES]) -> io::Result<usize> {
    let mut at = 0;
    while at < page.len() {
        match file.read_at(&mut page[at..], at as u64) {
            Ok(0) => break,
            Ok(n) => at += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}
