//! Errors of reading and writing history.

use std::io;
use std::path::{Path, PathBuf};

/// Why a history cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be written or read. Files that were written before are complete.
    #[error("{}: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A Parquet file cannot be written or read.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: parquet::errors::ParquetError,
    },
    /// A newer version wrote the file.
    #[error(
        "{} follows version {version} of docs/history.md, and this tare knows those up to {}: read it with a newer one",
        path.display(),
        crate::schema::VERSION
    )]
    Version {
        /// The path.
        path: PathBuf,
        /// Its version.
        version: String,
    },
    /// The directory has no history.
    #[error(
        "{}: no history is here: give the directory that tare record --dir wrote, which has moments/ and samples/",
        .0.display()
    )]
    None(PathBuf),
    /// The host's name cannot be the name of a directory.
    #[error("host name {0:?} cannot name a directory: give another with --host-name")]
    Host(String),
}

impl Error {
    /// For `map_err`: an I/O error with its path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    /// For `map_err`: an error of the Parquet library with its path.
    pub(crate) fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self {
        let path = path.to_owned();
        move |source| Self::Parquet { path, source }
    }
}
