//! Clients that people have, unchanged, as `make deps` installs them: each against a server of its
//! own. A client that is not installed fails its test. docs/clients.md says what was tried besides.

mod commands;
mod exporter;
mod go;
mod java;
mod python;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Runs a client that must succeed; what it prints.
fn output(command: &mut Command) -> String {
    let shown = format!("{command:?}");
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{shown}: {e}; run `make deps`"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}: {text}{errors}");
    text
}
