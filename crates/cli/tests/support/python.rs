//! Programs in Python, which run in the environment that scripts/deps installs.

use std::path::Path;
use std::process::Command;

use super::{CommandResult, finish_with_input};

/// A program of tests/programs.
pub fn program(name: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("../../target/venv/bin/python");
    assert!(python.exists(), "{}: run `make deps`", python.display());
    let mut command = Command::new(python);
    command.arg(root.join("tests/programs").join(name));
    command
}

/// Validates JSON documents against a schema of docs/schemas.
pub fn validate(schema: &str, documents: &[serde_json::Value]) {
    let path = format!(
        "{}/../../docs/schemas/{schema}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let lines: Vec<String> = documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect();
    let done: CommandResult = finish_with_input(program("validate.py").arg(path), &lines.concat());
    assert_eq!(
        done.code,
        Some(0),
        "{schema}: {}\n{}",
        done.stderr,
        lines.concat()
    );
}
