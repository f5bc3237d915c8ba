//! Unchanged clients as `make deps` installs them, each with a server of its own. A client that is not
//! installed fails its test. docs/clients.md lists what was tried besides.

mod commands;
mod exporter;
mod go;
mod java;
mod login;
mod mysql;
mod python;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;

use std::path::{Path, PathBuf};

use support::output;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A client's program in this directory.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients/programs")
        .join(name)
}
