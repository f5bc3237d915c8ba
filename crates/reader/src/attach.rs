//! Attaching to a segment: finding it, checking it, mapping it.
//!
//! | segment | how it is mapped |
//! |---|---|
//! | sealed against shrinking (every memfd of a writer) | in place |
//! | a file whose writer lives (`TARE_SEGMENT`) | in place |
//! | any other file (saved segments, unknown bytes) | a private copy of its data |
//!
//! A file that is shortened while it is mapped kills the reader by SIGBUS. The private copy prevents that for
//! files that merely look like a segment. Who may shorten a writer's own file could also stop the writer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use tare_layout::header::{HEADER_BYTES, LIVE};
use tare_layout::{Geometry, LAYOUT_VERSION, View, process, slot};

use crate::discover::{self, SegmentFile};
use crate::error::{AttachError, WriteError};
use crate::mapping::{self, Mapping};
use crate::time::Clock;
use crate::validate::validate;

/// Which segment to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The segment of a running process; the newest, if it started Tare more than once. If it has none: the
    /// one of another process into which it records.
    Pid(u32),
    /// A file: saved, or the `TARE_SEGMENT` of a running process; or `/proc/PID/fd/N`.
    Path(PathBuf),
    /// The segment of the only running process on this machine.
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
    /// Mapped when the first setting is changed.
    writable: OnceLock<Mapping>,
    writer: Writer,
}

/// The process that writes a segment.
#[derive(Debug)]
enum Writer {
    /// This process.
    Own,
    /// The process ran when the reader attached.
    Runs { pid: u32, pidfd: Option<OwnedFd> },
    /// The process had ended.
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
            Target::Pid(pid) => match newest(discover::find_of_process(pid)) {
                Some(segment) => Self::of_segment(segment),
                None if Path::new(&format!("/proc/{pid}")).exists() => Self::of_child(pid),
                None => Err(AttachError::NoProcess { pid }),
            },
            Target::Only => Self::of_segment(only(discover::find_running())?),
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

    /// The segment into which a process records that another one created (docs/many-processes.md).
    fn of_child(pid: u32) -> Result<Self, AttachError> {
        let numbers = discover::own_numbers(pid);
        let inherited = discover::find_inherited(pid).into_iter();
        let attached = inherited.filter_map(|segment| Self::of_segment(segment).ok());
        let is_written = |segment: &Self| {
            let view = segment.view();
            let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
            let mut slots = (0..used.min(view.geometry().limits.threads)).map(|i| view.slot(i));
            slots.any(|slot| {
                slot.state.load(Ordering::Acquire) == slot::LIVE
                    && numbers.contains(&process::id(slot.process.load(Ordering::Relaxed)))
            })
        };
        let mut written = attached.filter(is_written);
        written.next().ok_or(AttachError::NoSegment { pid })
    }

    fn of_segment(segment: SegmentFile) -> Result<Self, AttachError> {
        let file = open(&segment.path)?;
        let writer = Writer::runs(segment.pid);
        Self::of_file(segment.path, file, writer)
    }

    fn of_path(path: PathBuf) -> Result<Self, AttachError> {
        let file = open(&path)?;
        let writer = writer_of(&path, &file)?;
        let segment = Self::of_file(path.clone(), file, writer)?;
        if segment.is_copy_of_live() {
            // Its process may just have begun to write: a copy of what changes is of no one moment.
            let file = open(&path)?;
            if let running @ Writer::Runs { .. } = writer_of(&path, &file)? {
                return Self::of_file(path, file, running);
            }
        }
        Ok(segment)
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

    /// Whether it was copied from a segment that no process was found to write, and that nobody has ended.
    fn is_copy_of_live(&self) -> bool {
        let state = self.view().header().state.load(Ordering::Acquire);
        matches!(self.writer, Writer::Ended) && state == LIVE
    }

    /// The path that opened it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The writer's process id on this machine; the one in the header once the process has ended.
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

    /// Typed access to the bytes. No access through it leaves the mapping.
    pub fn view(&self) -> View<'_> {
        self.mapping.view()
    }

    /// The sizes and offsets of its regions.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The clock that converts its times.
    pub fn clock(&self) -> Clock {
        Clock::new(self.view(), self.is_live())
    }

    /// Bytes of memory (or disk) that the segment takes: touched pages, not reserved ones.
    pub fn resident_bytes(&self) -> u64 {
        // st_blocks counts blocks of 512 bytes on every file system (stat(2)).
        self.file.metadata().map_or(0, |m| m.blocks() * 512)
    }

    /// A view in which the regions that a reader may write (`tare_layout::geometry::is_reader_writable`) are
    /// mapped for writing. A store anywhere else through this view ends the process.
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
        // The descriptor may be read-only; this opens the same file again.
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
    let is_it = |segment: &SegmentFile| segment.identity == identity;
    let mut page = [0; HEADER_BYTES];
    let pid_in_header = match read_page(file, &mut page) {
        Ok(_) => {
            let at = std::mem::offset_of!(tare_layout::header::Header, pid);
            u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
        }
        Err(_) => 0,
    };
    // The process of the header's pid first. In a container its pid differs.
    let segment = discover::find_of_process(pid_in_header)
        .into_iter()
        .find(is_it)
        .or_else(|| discover::find_running().into_iter().find(is_it));
    Ok(segment.map_or(Writer::Ended, |segment| Writer::runs(segment.pid)))
}

fn newest(segments: Vec<SegmentFile>) -> Option<SegmentFile> {
    let (ours, other): (Vec<_>, Vec<_>) = segments
        .into_iter()
        .partition(|segment| segment.layout_version == LAYOUT_VERSION);
    // A process that stopped Tare and started it again may still hold its old segment. A segment of another
    // layout version is returned if there is no other, so that the error names it.
    let live =
        |segment: &SegmentFile| first_page(&segment.path).is_some_and(|page| state(&page) == LIVE);
    let generation =
        |segment: &SegmentFile| first_page(&segment.path).map_or(0, |page| generation(&page));
    ours.into_iter()
        .max_by_key(|segment| (live(segment), generation(segment)))
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

fn only(segments: Vec<SegmentFile>) -> Result<SegmentFile, AttachError> {
    let mut pids: Vec<u32> = segments.iter().map(|segment| segment.pid).collect();
    pids.dedup();
    match pids.as_slice() {
        [] => Err(AttachError::NothingRuns),
        [_] => newest(segments).ok_or(AttachError::NothingRuns),
        _ => {
            let ours: Vec<SegmentFile> = segments
                .into_iter()
                .filter(|segment| segment.layout_version == LAYOUT_VERSION)
                .collect();
            let mut of_ours: Vec<u32> = ours.iter().map(|segment| segment.pid).collect();
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
    // Non-blocking, so that opening a pipe does not wait for its other end.
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
