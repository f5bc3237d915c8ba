//! Libraries to preload: allocators, and Tare's for any program.

use std::path::{Path, PathBuf};

use super::Binaries;
use crate::error::CellError;

/// Name, its library, and the Debian package that brings it.
const ALLOCATORS: [(&str, &str, &str); 3] = [
    ("jemalloc", "libjemalloc.so.2", "libjemalloc2"),
    (
        "tcmalloc",
        "libtcmalloc_minimal.so.4",
        "libtcmalloc-minimal4",
    ),
    ("mimalloc", "libmimalloc.so.2", "libmimalloc2.0"),
];

/// Where distributions put libraries.
const FOLDERS: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// The name of libtare_any.so.
pub const TARE: &str = "tare";

/// The library to preload; `None` for libc's allocator.
///
/// # Errors
/// The library is not installed.
pub fn library(name: &str, binaries: &Binaries) -> Result<Option<PathBuf>, CellError> {
    if name == "libc" {
        return Ok(None);
    }
    if name == TARE {
        return binaries.any.clone().map(Some).map_err(CellError::Skipped);
    }
    let allocator_row = ALLOCATORS.iter().find(|(allocator, ..)| *allocator == name);
    let path = match allocator_row {
        Some((_, library, _)) => {
            let mut paths = FOLDERS.iter().map(|folder| Path::new(folder).join(library));
            paths.find(|path| path.exists())
        }
        None => Some(PathBuf::from(name)).filter(|path| path.exists()),
    };
    path.map(Some).ok_or_else(|| {
        CellError::Skipped(match allocator_row {
            Some((name, library, package)) => {
                format!("{name} ({library}) is not installed: apt-get install {package}")
            }
            None => format!(
                "preload = '{name}': no such file; known by name are libc, jemalloc, tcmalloc, mimalloc, tare"
            ),
        })
    })
}
