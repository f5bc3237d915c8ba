//! Where the programs are that a run starts.

use std::path::{Path, PathBuf};

/// Where programs are.
#[derive(Debug, Clone)]
pub struct Places {
    /// This binary.
    pub tare: PathBuf,
    /// One without instrumentation, when `--plain` or the build folder has it.
    pub plain: Option<PathBuf>,
    /// scripts/servers of the checkout that we run from.
    pub servers: Option<PathBuf>,
}

impl Places {
    /// Looks for them beside and above the binary, and above the working directory.
    pub fn find(tare: PathBuf, plain: Option<PathBuf>) -> Self {
        let above = |path: &Path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>();
        let mut folders: Vec<PathBuf> = tare.parent().map(above).unwrap_or_default();
        folders.extend(std::env::current_dir().iter().flat_map(|here| above(here)));
        let first = |name: &str| {
            let mut paths = folders.iter().map(|folder| folder.join(name));
            paths.find(|path| path.is_file())
        };
        Self {
            plain: plain.or_else(|| first("target/plain/release/tare")),
            servers: first("scripts/servers"),
            tare,
        }
    }
}
