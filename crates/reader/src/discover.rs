//! Finds the segments of running processes through `/proc`.
//!
//! A writer either holds a memfd named `tare…` open, or maps a file shared (`TARE_SEGMENT`). Nothing is
//! mapped here. Only the first bytes of each candidate are read, whose offsets are the same in all layout
//! versions, so that segments of other versions are found, too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use tare_layout::MAGIC;
use tare_layout::header::Header;

/// A segment that a running process writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// The writer's pid as this process sees it (in a container, its own number differs).
    pub pid: u32,
    /// The writer's pid in the segment's header.
    pub writer: u32,
    /// A path that opens the segment: the file, or `/proc/PID/fd/N` for a memfd.
    pub path: PathBuf,
    /// Device and inode, which are equal for two paths to one segment.
    pub identity: (u64, u64),
    /// The layout version that the segment is written in.
    pub layout_version: u32,
}

/// Finds the segments of all processes that this user may read, by pid. Processes that end meanwhile, and
/// those of other users, are skipped.
pub fn find_running() -> Vec<SegmentFile> {
    let mut segments = BTreeMap::new();
    for pid in processes() {
        for segment in find_of_process(pid) {
            segments
                .entry((segment.pid, segment.identity))
                .or_insert(segment);
        }
    }
    segments.into_values().collect()
}

/// Finds the segments that one process writes: usually none or one. Segments that it only holds open, maps
/// for reading or inherited by fork are left out. Empty if the process has ended or this user may not read
/// it.
pub fn find_of_process(pid: u32) -> Vec<SegmentFile> {
    let own_numbers = own_numbers(pid);
    let mut segments: Vec<SegmentFile> = Vec::new();
    for path in memfds(pid).into_iter().chain(mapped_files(pid)) {
        let Some(segment) = probe(pid, path) else {
            continue;
        };
        if own_numbers.contains(&segment.writer)
            && !segments.iter().any(|f| f.identity == segment.identity)
        {
            segments.push(segment);
        }
    }
    segments
}

/// Finds the segments that a process has inherited by fork, as files of the processes that their headers name.
pub(crate) fn find_inherited(pid: u32) -> Vec<SegmentFile> {
    let paths = memfds(pid).into_iter().chain(mapped_files(pid));
    let inherited = paths.filter_map(|path| probe(pid, path));
    let of_owner = |inherited: SegmentFile| {
        let is_same = |segment: &SegmentFile| segment.identity == inherited.identity;
        let named = find_of_process(inherited.writer);
        // In a container the pid of the header is another one.
        named
            .into_iter()
            .find(is_same)
            .or_else(|| find_running().into_iter().find(is_same))
    };
    inherited.filter_map(of_owner).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The pids of a process: here, and in each container that it runs in.
pub(crate) fn own_numbers(pid: u32) -> Vec<u32> {
    let mut numbers = vec![pid];
    if let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status"))
        && let Some(line) = status.lines().find_map(|line| line.strip_prefix("NSpid:"))
    {
        numbers.extend(
            line.split_whitespace()
                .filter_map(|n| n.parse::<u32>().ok()),
        );
    }
    numbers
}

/// Memfds stay open in their writer, and only an open descriptor of them can be opened again.
fn memfds(pid: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            fs::read_link(path)
                .is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"/memfd:tare"))
        })
        .collect()
}

/// Files that a process maps shared and writable, as a writer maps its segment.
fn mapped_files(pid: u32) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut files: Vec<PathBuf> = maps.lines().filter_map(shared_file).collect();
    files.dedup();
    files
}

/// The path of a line of `/proc/PID/maps`, when it maps a file shared and writable.
fn shared_file(line: &str) -> Option<PathBuf> {
    // address perms offset device inode, blanks, then the path, which may hold blanks itself
    let mut rest = line;
    let mut perms = "";
    for field in 0..5 {
        let (head, tail) = rest.trim_start().split_once(' ')?;
        if field == 1 {
            perms = head;
        }
        rest = tail;
    }
    let path = rest.trim_start();
    // Devices are mapped shared, too, and opening one may have effects; /dev/shm has files.
    let regular =
        path.starts_with('/') && (!path.starts_with("/dev/") || path.starts_with("/dev/shm/"));
    (perms == "rw-s" && regular).then(|| PathBuf::from(path))
}

/// Reads the first bytes of a candidate.
fn probe(pid: u32, path: PathBuf) -> Option<SegmentFile> {
    let metadata = fs::metadata(&path).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let file = File::open(&path).ok()?;
    let mut bytes = [0u8; std::mem::offset_of!(Header, generation)];
    file.read_exact_at(&mut bytes, 0).ok()?;
    if bytes[..8] != MAGIC.to_le_bytes() {
        return None;
    }
    let at = |offset: usize| {
        u32::from_le_bytes([
            bytes[offset],
            bytes[offset + 1],
            bytes[offset + 2],
            bytes[offset + 3],
        ])
    };
    Some(SegmentFile {
        pid,
        writer: at(std::mem::offset_of!(Header, pid)),
        path,
        identity: (metadata.dev(), metadata.ino()),
        layout_version: at(std::mem::offset_of!(Header, layout_version)),
    })
}

#[allow(unsafe_code)]
#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    /// A memfd that starts like a segment of the given layout version and writer.
    fn memfd(name: &std::ffi::CStr, layout_version: u32, writer: u32) -> File {
        // SAFETY: `name` ends in a NUL byte and the call keeps no pointer to it.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: a new descriptor, which nothing else owns.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(8192).expect("a memfd can grow");
        let put = |bytes: &[u8], offset: usize| {
            file.write_all_at(bytes, offset as u64)
                .expect("a memfd can be written");
        };
        put(
            &layout_version.to_le_bytes(),
            std::mem::offset_of!(Header, layout_version),
        );
        put(&writer.to_le_bytes(), std::mem::offset_of!(Header, pid));
        put(&MAGIC.to_le_bytes(), 0);
        file
    }

    #[test]
    fn a_process_that_inherited_a_segment_is_not_its_writer() {
        let own = std::process::id();
        let segment = memfd(c"tare", 7, own);
        let inherited = memfd(c"tare", 7, own + 1);
        let other = memfd(c"other", 7, own);

        let segments = find_of_process(own);
        let identity_of = |file: &File| {
            let metadata = file.metadata().expect("an open file has metadata");
            (metadata.dev(), metadata.ino())
        };
        let ours = segments
            .iter()
            .find(|f| f.identity == identity_of(&segment))
            .expect("found");
        assert_eq!((ours.pid, ours.layout_version), (own, 7));
        assert_eq!(
            ours.path,
            PathBuf::from(format!("/proc/{own}/fd/{}", segment.as_raw_fd()))
        );
        for foreign in [&inherited, &other] {
            assert!(segments.iter().all(|f| f.identity != identity_of(foreign)));
        }
        assert!(find_running().contains(ours));
    }

    #[test]
    fn only_files_that_are_mapped_shared_and_writable_are_candidates() {
        let line = |perms: &str, path: &str| {
            format!(
                "7f0a1c000000-7f0a1c021000 {perms} 00000000 08:01 131 {:>20}{path}",
                ""
            )
        };
        let path = |perms, path| shared_file(&line(perms, path));
        assert_eq!(
            path("rw-s", "/tmp/a b.segment"),
            Some("/tmp/a b.segment".into())
        );
        assert_eq!(path("rw-s", "/dev/shm/x"), Some("/dev/shm/x".into()));
        assert_eq!(path("rw-p", "/tmp/a"), None);
        assert_eq!(path("rw-s", "/dev/dri/card0"), None);
        assert_eq!(path("rw-s", "[vdso]"), None);
        assert_eq!(
            shared_file("7f0a1c000000-7f0a1c021000 rw-p 00000000 00:00 0"),
            None
        );
    }

    #[test]
    fn a_process_that_is_gone_has_no_segments() {
        assert_eq!(find_of_process(u32::MAX >> 1), Vec::new());
    }
}
