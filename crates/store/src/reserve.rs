//! Space on the disk for statements that free space. On a full disk DELETE and DROP need some before they give
//! back more: SQLite writes the changed pages to the log, one for each thousand pages that a DROP frees.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The size of the reserve: what a DROP of a table of 4 GiB writes.
const RESERVE_BYTES: u64 = 4 << 20;

/// What opening a database's file takes: the index of its log, and the first pages of the log.
const OPEN_BYTES: u64 = 256 << 10;

/// A file of zeros in the data directory.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// The reserve of a data directory.
    pub(crate) fn of(directory: &Path) -> Self {
        Self {
            path: directory.join("reserve"),
        }
    }

    fn size(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |file| file.len())
    }

    /// Fills the reserve, unless that would take more than half of the free space.
    pub fn fill(&self) {
        let size = self.size();
        if size >= RESERVE_BYTES {
            return;
        }
        let filled = (|| -> io::Result<()> {
            let mut options = OpenOptions::new();
            let file = options
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .open(&self.path)?;
            if free_bytes(&file)? < 2 * RESERVE_BYTES {
                return Err(io::ErrorKind::StorageFull.into());
            }
            allocate(&file, RESERVE_BYTES)
        })();
        if filled.is_err() {
            // What is there of it stays.
            let _ = self.shrink(size);
        }
    }

    /// Gives back what opening a database's file takes. Returns whether there was something.
    pub(crate) fn release_for_open(&self) -> bool {
        let size = self.size();
        size > 0 && self.shrink(size.saturating_sub(OPEN_BYTES)).is_ok()
    }

    /// Gives all of it back. Returns whether there was something.
    pub fn release(&self) -> bool {
        self.size() > 0 && self.shrink(0).is_ok()
    }

    fn shrink(&self, size: u64) -> io::Result<()> {
        match size {
            0 => fs::remove_file(&self.path),
            size => OpenOptions::new()
                .write(true)
                .open(&self.path)?
                .set_len(size),
        }
    }
}

/// Allocates a file's first bytes on the disk.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let bytes = bytes.try_into().map_err(io::Error::other)?;
    // SAFETY: a descriptor that is open, and numbers.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// The free space of a file's file system, for users without privileges.
fn free_bytes(file: &File) -> io::Result<u64> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut space: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor that is open; the result goes to a local.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut space) } {
        0 => Ok(space.f_bavail * space.f_frsize),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_is_filled_and_given_back() {
        let directory = std::env::temp_dir().join(format!("tare-reserve-{}", std::process::id()));
        fs::create_dir(&directory).expect("a fresh directory");
        let reserve = Reserve::of(&directory);
        assert!(!reserve.release());
        reserve.fill();
        assert_eq!(reserve.size(), RESERVE_BYTES);
        assert!(reserve.release_for_open());
        assert_eq!(reserve.size(), RESERVE_BYTES - OPEN_BYTES);
        reserve.fill();
        assert_eq!(reserve.size(), RESERVE_BYTES);
        assert!(reserve.release() && !reserve.release_for_open());
        assert_eq!(reserve.size(), 0);
        fs::remove_dir_all(directory).expect("removed");
    }
}
