//! The descriptor of a segment's file.
//!
//! A host may close it: a daemon closes all numbers when it starts. The number may then be that of a file of
//! the host's own. So each use checks which file is open.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// The descriptor's number is at least this, if the process may have so many. The host's own numbers begin as
/// without Tare, and it replaces low ones more often than high ones (dup2).
const MIN_NUMBER: RawFd = 200;

/// Device and inode, which no two open files have in common.
type Identity = (libc::dev_t, libc::ino_t);

/// A descriptor that the host may close.
#[derive(Debug)]
pub struct Descriptor {
    number: RawFd,
    file: Identity,
}

impl Descriptor {
    /// Takes over a descriptor.
    ///
    /// # Errors
    /// Which file it is cannot be read.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let file = identity(descriptor.as_raw_fd())?;
        let descriptor = duplicate(&descriptor, MIN_NUMBER).unwrap_or(descriptor);
        Ok(Self {
            number: descriptor.into_raw_fd(),
            file,
        })
    }

    /// Its number, which is that of the segment's file as long as the host has not closed it.
    pub fn number(&self) -> RawFd {
        self.number
    }

    /// Another descriptor of the file.
    ///
    /// # Errors
    /// The host has closed this one, or has as many as it may have.
    pub fn try_clone(&self) -> io::Result<OwnedFd> {
        // SAFETY: a number that is not -1. The call fails if it is closed, and what it returns is checked.
        let clone = duplicate(&unsafe { BorrowedFd::borrow_raw(self.number) }, 0)?;
        match identity(clone.as_raw_fd())? == self.file {
            true => Ok(clone),
            false => Err(io::Error::from_raw_os_error(libc::EBADF)),
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if identity(self.number).is_ok_and(|file| file == self.file) {
            // SAFETY: `new` took over a descriptor of this file.
            drop(unsafe { OwnedFd::from_raw_fd(self.number) });
        }
    }
}

fn identity(number: RawFd) -> io::Result<Identity> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: writes into a local.
    match unsafe { libc::fstat(number, status.as_mut_ptr()) } {
        0 => {
            // SAFETY: zeroed, and filled by the call.
            let status = unsafe { status.assume_init() };
            Ok((status.st_dev, status.st_ino))
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Another descriptor of the same file, from this number on.
fn duplicate(of: &impl AsRawFd, from: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl touches no memory of this process.
    match unsafe { libc::fcntl(of.as_raw_fd(), libc::F_DUPFD_CLOEXEC, from) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: a new descriptor.
        number => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::engine::system;

    /// A descriptor of a file that no other test has.
    fn open() -> OwnedFd {
        // SAFETY: a new descriptor.
        unsafe { OwnedFd::from_raw_fd(system::new_memory_file()) }
    }

    #[test]
    fn a_descriptor_has_a_high_number_and_closes_it() {
        let descriptor = Descriptor::new(open()).expect("a file");
        let (number, file) = (descriptor.number, descriptor.file);
        assert!(number >= MIN_NUMBER);
        let clone = descriptor.try_clone().expect("a descriptor");
        assert_eq!(identity(clone.as_raw_fd()).ok(), Some(file));
        drop((clone, descriptor));
        // Another test may have the number by now.
        assert_ne!(identity(number).ok(), Some(file));
    }

    #[test]
    fn a_number_that_the_host_has_taken_remains_the_hosts() {
        let descriptor = Descriptor::new(open()).expect("a file");
        let (number, own) = (descriptor.number, open());
        // SAFETY: replaces the descriptor, as a host may.
        assert_eq!(unsafe { libc::dup2(own.as_raw_fd(), number) }, number);
        assert!(descriptor.try_clone().is_err());
        drop(descriptor);
        assert_eq!(identity(number).ok(), identity(own.as_raw_fd()).ok());
        // SAFETY: a descriptor of this test.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}
