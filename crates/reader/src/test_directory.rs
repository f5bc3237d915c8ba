//! A directory like /proc for tests.

use std::fs;
use std::path::PathBuf;

/// A directory, which is removed at the end.
pub(crate) struct Directory(pub PathBuf);

impl Directory {
    /// An empty directory for a test of this name.
    pub fn new(test: &str) -> Self {
        let name = format!("tare-reader-{}-{test}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Writes a file, and the directories in which it is.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// Removes a directory.
    pub fn remove(&self, path: &str) {
        fs::remove_dir_all(self.0.join(path)).expect("removed");
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
