//! `tare weigh` in a directory, and the results that it leaves there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::Directory;

/// `tare weigh`, whose servers' directories and state are in this directory.
pub fn weigh(directory: &Directory, arguments: &[&str]) -> Command {
    let mut command = directory.tare(std::iter::once("weigh").chain(arguments.iter().copied()));
    command
        .env("TMPDIR", directory.path())
        .env("XDG_STATE_HOME", directory.path().join("state"));
    command
}

/// Writes the recipe `./r.toml`.
pub fn write_recipe(directory: &Directory, text: &str) {
    std::fs::write(directory.path().join("r.toml"), text).expect("written");
}

/// The stored cells, by number.
pub fn cells(directory: &Directory) -> BTreeMap<u64, Value> {
    let entries = std::fs::read_dir(directory.path().join("out/cells")).expect("cells");
    let read = |path: PathBuf| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("JSON")
    };
    let cells = entries.map(|entry| read(entry.expect("entry").path()));
    cells
        .map(|cell| (cell["number"].as_u64().expect("a number"), cell))
        .collect()
}

/// Fails if a process has this directory in its command line, or a server's directory is left in it.
pub fn assert_nothing_left(directory: &Directory) {
    let ours = directory.path().to_str().expect("UTF-8");
    let commands = std::fs::read_dir("/proc")
        .expect("mounted")
        .filter_map(|entry| {
            let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
    let left: Vec<String> = commands.filter(|line| line.contains(ours)).collect();
    assert_eq!(left, Vec::<String>::new(), "processes were left");
    let names = directory.names();
    assert!(
        !names.iter().any(|name| name.starts_with("tare-weigh-")),
        "{names:?}"
    );
}

/// A cell's state, and the reason.
pub fn state(cell: &Value) -> (&str, &str) {
    (
        cell["state"].as_str().expect("a state"),
        cell["reason"].as_str().unwrap_or_default(),
    )
}
