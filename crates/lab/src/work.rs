//! The directory of servers, sockets and logs of a run, which is always removed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use tare_reader::process::is_running;

use crate::proc;

const PREFIX: &str = "tare-weigh-";

/// The directory; it is removed when the value is dropped.
#[derive(Debug)]
pub struct Work(PathBuf);

impl Work {
    /// Creates a directory that only this user can read, in the directory for temporary files.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn new() -> io::Result<Self> {
        // The name is short because a Unix socket's path has at most 107 bytes.
        let path = std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Ends the processes of killed runs and removes their directories, which it returns.
pub fn tidy() -> Vec<PathBuf> {
    let entries = fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten();
    let mut left = Vec::new();
    for entry in entries {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        let path = entry.path();
        let ours = fs::metadata(&path).is_ok_and(|data| {
            use std::os::unix::fs::MetadataExt;
            data.uid() == rustix::process::getuid().as_raw()
        });
        let Some(owner) = owner.filter(|owner| ours && !is_running(*owner)) else {
            continue;
        };
        debug_assert_ne!(owner, std::process::id());
        // The slash distinguishes tare-weigh-12 from tare-weigh-123.
        let within = format!("{}/", path.display());
        for pid in proc::with_command(&within) {
            if let Some(pid) = Pid::from_raw(pid as i32) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        let _ = fs::remove_dir_all(&path);
        left.push(path);
    }
    left
}
