//! Pages that a segment's file does not get.
//!
//! A file takes space when a page is first written. If its file system is full then, if somebody has shortened
//! the file, or if the device fails, the kernel sends SIGBUS to the thread that writes, which would end the
//! host. A handler here puts memory of the process in place of the page and ends recording, and the host goes
//! on. Segments in memory need none of this, and without a file there is no handler.
//!
//! | file | contents |
//! |---|---|
//! | pages | the guarded files, and the replacement of a page |
//! | action | the handler, and the host's own action for the signal |
//! | lock | a lock that a signal handler may take |

#[cfg(target_os = "linux")]
mod action;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(target_os = "linux")]
mod pages;

#[cfg(target_os = "linux")]
pub use self::{
    action::{host_mask, host_sigaction, host_signal},
    pages::{GuardedFile, MAX_FILES},
};
#[cfg(not(target_os = "linux"))]
pub use other::{GuardedFile, MAX_FILES};

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::path::Path;

    pub const MAX_FILES: usize = usize::MAX;

    /// On other systems nothing starts.
    #[derive(Debug)]
    pub struct GuardedFile;

    impl GuardedFile {
        pub fn new(_: *mut u8, _: usize, _: &Path, _: fn()) -> io::Result<&'static Self> {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }

        pub fn is_incomplete(&self) -> bool {
            false
        }

        pub fn end(&self) {}

        pub fn release(&'static self) {}
    }
}
