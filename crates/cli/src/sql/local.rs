//! A segment to ask, evaluated in this process.
//!
//! By a private server over that segment: SQL has one way in, so that `tare sql` and
//! `tare serve` cannot answer differently.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tare_reader::{AttachError, Segment, Target};
use tare_server::{Config, Server};

use super::remote::Remote;
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure, NO_SEGMENT};

/// A server for ourselves alone, and the connection to it.
pub struct Local {
    // Declared, and so closed, before the server that it is connected to.
    connection: Remote,
    _server: Server,
}

impl Local {
    /// Attaches to the segment that is meant.
    pub fn open(target: Target) -> Result<Self, Failure> {
        let segment = attach(target)?;
        Self::of(Arc::new(segment))
    }

    /// Over a segment that is attached to already.
    pub fn of(segment: Arc<Segment>) -> Result<Self, Failure> {
        let cannot = |what: &str, error: &dyn std::fmt::Display| {
            Failure::new(FAILED, format!("cannot {what}: {error}"))
        };
        // Of the socket only its being connected is needed: the directory goes again at once, so
        // that nothing is left behind however we end.
        let directory =
            Directory::new().map_err(|error| cannot("make a temporary directory", &error))?;
        let mut config = Config::new(&directory.0);
        config.skip_networking = true;
        config.performance_schema = false;
        config.max_connections = 1;
        config.attach = Some(segment);
        let server = Server::start(config).map_err(|error| cannot("evaluate SQL", &error))?;
        let connection = Remote::connect_socket(&server.endpoints().socket)?;
        Ok(Self {
            connection,
            _server: server,
        })
    }

    /// Runs one statement.
    pub fn query(&mut self, statement: &str) -> Result<Answer, SqlError> {
        self.connection.query(statement)
    }
}

/// Attaches, and says how to choose when there is a choice.
pub fn attach(target: Target) -> Result<Segment, Failure> {
    Segment::attach(target).map_err(|error| {
        let advice = match error {
            AttachError::Several { .. } => "\n`tare ps` says which is which",
            _ => "",
        };
        Failure::new(NO_SEGMENT, format!("{error}{advice}"))
    })
}

/// The segment that `--pid` or `--segment` means; without them the only one.
pub fn target(pid: Option<u32>, segment: Option<&Path>) -> Target {
    match (pid, segment) {
        (_, Some(path)) => Target::Path(path.to_owned()),
        (Some(pid), None) => Target::Pid(pid),
        (None, None) => Target::Only,
    }
}

/// A directory that only we can enter, removed when the value goes.
struct Directory(PathBuf);

impl Directory {
    fn new() -> io::Result<Self> {
        let base = std::env::temp_dir();
        for number in 0.. {
            let path = base.join(format!("tare-sql-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the loop ends by returning")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
