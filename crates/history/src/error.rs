//! What can go wrong while history is written.

use std::io;
use std::path::{Path, PathBuf};

/// Why recording stopped, or did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be written or read. What was put there before is whole.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A Parquet file could not be written or read.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// Which.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A file that a newer version wrote.
    #[error(
        "{} follows version {version} of docs/history.md, and this tare knows those up to {}: read it with a newer one",
        path.display(),
        crate::schema::VERSION
    )]
    Version {
        /// Which.
        path: PathBuf,
        /// Its version.
        version: String,
    },
    /// There is no history.
    #[error(
        "{}: no history is here: give the directory that tare record --dir wrote, which has moments/ and samples/",
        .0.display()
    )]
    None(PathBuf),
    /// The name of a host would not be a directory's.
    #[error("host name {0:?} cannot name a directory: give another with --host-name")]
    Host(String),
}

impl Error {
    /// Turns an error of `path` into one of this kind.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    /// Likewise for what the Parquet library says.
    pub(crate) fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self {
        let path = path.to_owned();
        move |source| Self::Parquet { path, source }
    }
}
