//! Histories: times and growth for those that tests write, and the rows of those that a recorder writes.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tare_history::{
    Block, Deadlock, DeadlockTransaction, GrowthRow, Holder, HolderState, LockKind, Party, SUMS,
    Writer,
};

/// 2026-11-22 14:00 in UTC, in seconds since 1970.
pub const START: u64 = 1_795_356_000;

/// So many seconds after the start.
pub fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START + seconds)
}

/// Growth of a row, with its first sums.
pub fn grown(kind: &'static str, schema: Option<&str>, name: &str, sums: &[u64]) -> GrowthRow {
    let mut all = [None; SUMS];
    for (to, n) in all.iter_mut().zip(sums) {
        *to = Some(*n);
    }
    GrowthRow {
        kind,
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
        sums: all,
        value: None,
    }
}

/// A session, with a connection of 100 more, and what it runs or ran.
fn party(thread_id: u64, text: &str) -> Party {
    Party {
        thread_id,
        connection_id: Some(thread_id + 100),
        user: Some("ann".into()),
        text: Some(text.into()),
        ..Party::default()
    }
}

/// A session that waits for a row, and the holder of its lock with the state in which it is.
fn block(waiter: Party, holder: Option<(Party, HolderState)>) -> Block {
    Block {
        kind: LockKind::Row,
        object_schema: Some("shop".into()),
        object: Some("t".into()),
        index_name: None,
        lock_mode: None,
        wait_ns: Some(5_000_000_000),
        waiter,
        holder: holder.map(|(party, state)| Holder {
            party,
            lock_mode: None,
            state: Some(state),
            state_ns: Some(7_000_000_000),
            transaction_ns: Some(9_000_000_000),
        }),
    }
}

/// Adds two readings of locks: thread 2 waits for thread 9, which runs a statement first and then sleeps; who blocks
/// thread 3 is unknown. Then there is a deadlock, of which the server reports the transactions, and one of which it
/// does not.
pub fn add_blocks(writer: &mut Writer, times: [SystemTime; 2]) {
    let waits = || party(2, "UPDATE t");
    let holder = (party(9, "UPDATE first"), HolderState::Running);
    writer.add_blocks(&[block(waits(), Some(holder))], times[0], 1.0);
    let holder = (party(9, "SELECT 9"), HolderState::Sleeping);
    let blocks = [
        block(waits(), Some(holder)),
        block(party(3, "DROP TABLE t"), None),
    ];
    writer.add_blocks(&blocks, times[1], 1.0);
    let transaction = |id: u64, text: &str| DeadlockTransaction {
        connection_id: Some(id),
        is_victim: id == 8,
        text: Some(text.into()),
        object_schema: Some("shop".into()),
        object: Some("t".into()),
        ..DeadlockTransaction::default()
    };
    let deadlock = Deadlock {
        count: 1,
        name: Some("2026-11-22 14:00:04 77".into()),
        transactions: vec![transaction(7, "UPDATE a"), transaction(8, "UPDATE b")],
    };
    writer.add_deadlock(&deadlock, times[1]);
    let unknown = Deadlock {
        count: 1,
        name: Some("2026-11-22 14:00:05 78".into()),
        transactions: vec![DeadlockTransaction::default()],
    };
    writer.add_deadlock(&unknown, times[1]);
}

/// The complete files below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => paths.extend(files(&path)),
            false if path.extension().is_some_and(|end| end == "parquet") => paths.push(path),
            false => {}
        }
    }
    paths.sort();
    paths
}

/// The published rows of a table, as JSON.
pub fn rows(history: &Path, table: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for path in files(&history.join(table)) {
        let file = File::open(&path).expect("a file");
        let reader = SerializedFileReader::new(file).expect("a complete file");
        let of_file = reader.get_row_iter(None).expect("rows");
        rows.extend(of_file.map(|row| row.expect("a row").to_json_value()));
    }
    rows
}

/// The moments in the time of the last exact window, by the growth that was counted in it.
pub fn moments_of_window(history: &Path) -> Vec<Value> {
    let growth = rows(history, "growth");
    let time = |row: &Value| row["sampled_at"].to_string();
    let times = |is: u64| {
        let rows = growth.iter().filter(move |row| row["is_exact"] == is);
        rows.map(time)
    };
    let end = times(1).max().expect("growth in the window");
    let before = times(0).filter(|time| *time < end).max();
    let start = before.expect("growth before the window");
    let mut moments = rows(history, "moments");
    moments.retain(|row| (&start..&end).contains(&&time(row)));
    moments
}
