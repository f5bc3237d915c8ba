//! Clients that people have, unchanged, as `make deps` installs them: each against a server of its
//! own. A client that is not installed fails its test. docs/clients.md says what was tried besides.

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

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program of a client's, beside this file.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients/programs")
        .join(name)
}
