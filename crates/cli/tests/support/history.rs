//! Histories: times and growth for those that tests write, and the rows of those that a recorder writes.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tare_history::{
    Block, Deadlock, DeadlockTransaction, GrowthRow, Holder, HolderState, LockKind, Moment, Party,
    Plan, PlanReason, PlanTree, SUMS, Sample, State, Text, Writer,
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

/// The seconds of a day.
pub const DAY: u64 = 86_400;
/// The wait of the statement that gets slower.
pub const FILE_WAIT: &str = "wait/io/file/innodb/innodb_data_file";

/// A statement in ten seconds: digest, calls, microseconds of each, rows and errors of each.
type Work = (&'static str, u64, u64, u64, u64);

/// What runs in the second ten minutes of a day: on the second day, after the deployment.
fn work(is_second_day: bool, is_after: bool) -> Vec<Work> {
    // Every day there are more reports then.
    let reports = ("reports", if is_after { 90 } else { 50 }, 2_000, 100, 0);
    let stable = ("stable", 500, 100, 1, 0);
    let mut all = match is_second_day && is_after {
        false => vec![("orders", 1_000, 1_000, 10, 0), ("old", 30, 500, 1, 0)],
        true => vec![("orders", 1_000, 1_500, 25, 1), ("new", 200, 4_000, 1, 0)],
    };
    all.extend([reports, stable]);
    all
}

/// Writes ten minutes before and ten after 14:10 of two days, with growth and a moment each ten seconds.
pub fn write(history: &Path, host: &str, digest: impl Fn(&str) -> String) {
    let mut rng = Rng::with_seed(46);
    let mut writer = Writer::start(history, host, "shop", at(0)).expect("a writer");
    let text = |name: &str| Text {
        schema: Some("shop".into()),
        digest: digest(name),
        text: format!("SELECT {name}"),
    };
    let mut texts: Vec<Text> = ["orders", "old", "new", "reports", "stable"]
        .map(text)
        .into();
    for (day, step) in (0..2).flat_map(|day| (1..=120).map(move |step| (day, step))) {
        let is_after = step > 60;
        let now = |seconds| at(day * DAY + step * 10 - 10 + seconds);
        let sample = |wait: Option<&str>| Sample {
            thread_id: 1,
            connection_id: Some(9),
            schema: Some("shop".into()),
            digest: Some(digest("orders").into()),
            wait: wait.map(Into::into),
            state: Some(if wait.is_some() {
                State::Waiting
            } else {
                State::OnCpu
            }),
            ..Sample::default()
        };
        let is_slow = day == 1 && is_after;
        for second in 0..5 {
            // Half of the time it runs; then it also waits for a file.
            let mut samples = Vec::new();
            samples.extend((rng.f64() < 0.5).then(|| sample(None)));
            samples.extend((is_slow && rng.f64() < 0.5).then(|| sample(Some(FILE_WAIT))));
            let moment = Moment {
                at: now(second * 2 + 1),
                threads: Some(5),
                is_exact: Some(true),
                samples,
            };
            let represented = Duration::from_secs(2);
            writer.add_moment(&moment, represented).expect("written");
        }
        let rows = work(day == 1, is_after).into_iter();
        let rows = rows.map(|(name, calls, us, rows, errors)| {
            let calls = calls * (95 + rng.u64(0..11)) / 100;
            let ps = calls * us * 1_000_000 * (95 + rng.u64(0..11)) / 100;
            let sums = [
                calls,
                ps,
                0,
                errors * calls / 10,
                0,
                0,
                rows * calls,
                rows * calls,
            ];
            grown("digest", Some("shop"), &digest(name), &sums)
        });
        let rows: Vec<_> = rows.collect();
        writer.add_growth(&rows, &texts, now(10), (10.0, Some(true)));
        texts.clear();
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

/// Adds plans of the second day: of orders by an index, and without it after 14:10; of stable the same; of new one.
pub fn write_plans(history: &Path) {
    let mut writer = Writer::start(history, "db1", "shop", at(DAY)).expect("a writer");
    let table = |access: &str| {
        format!(
            "{{\"query_block\": {{\"table\": {{\"table_name\": \"orders\", \"rows\": 7, {access}}}}}}}"
        )
    };
    let by_index = table("\"access_type\": \"ref\", \"key\": \"by_customer\"");
    let scan = table("\"access_type\": \"ALL\"");
    for (second, name, plan) in [
        (10, "orders", &by_index),
        (10, "stable", &by_index),
        (700, "orders", &scan),
        (700, "stable", &by_index),
        (700, "new", &scan),
    ] {
        let tree = PlanTree::parse(plan).expect("a plan");
        writer.add_plan(&Plan {
            at: at(DAY + second),
            schema: Some("shop".into()),
            digest: sha256(name),
            reason: PlanReason::New,
            example: Some(format!("SELECT {name}")),
            problem: None,
            plan: Some(plan.clone()),
            shape: Some(tree.shape()),
            full_scans: tree.full_scans(),
            indexes: tree.indexes(),
        });
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
}

/// A digest of 64 digits.
pub fn sha256(name: &str) -> String {
    let digits: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits:0>64}")
}

/// Adds readings of locks each two seconds of the second day. Row locks of shop.orders block more after 14:10, and a
/// user lock blocks only then. Metadata locks with an unknown holder block as much as before; a lock of table shop.log
/// blocks once before.
pub fn write_blocks(history: &Path) {
    let mut rng = Rng::with_seed(48);
    let mut writer = Writer::start(history, "db1", "shop", at(DAY)).expect("a writer");
    for second in (1..1200).step_by(2) {
        let is_after = second > 600;
        let mut blocking = vec![
            (
                LockKind::Row,
                "orders",
                Some("orders"),
                if is_after { 0.5 } else { 0.1 },
            ),
            (LockKind::Metadata, "orders", None, 0.2),
        ];
        if is_after {
            blocking.push((
                LockKind::User,
                "report",
                Some("DO GET_LOCK('<script>')"),
                0.3,
            ));
        }
        if second == 301 {
            blocking.push((LockKind::Table, "log", Some(""), 1.0));
        }
        let times = at(DAY + second);
        for (thread, (kind, object, holder, sessions)) in (1..).zip(blocking) {
            let holder = holder.map(|text| {
                let digest = (text == "orders").then(|| sha256(text).into());
                let text = (digest.is_none() && !text.is_empty()).then(|| text.into());
                let party = Party {
                    digest,
                    text,
                    ..party(9, "")
                };
                (party, HolderState::Running)
            });
            let block = Block {
                kind,
                object_schema: (kind != LockKind::User).then(|| "shop".into()),
                object: Some(object.into()),
                ..block(party(thread, "UPDATE t"), holder)
            };
            let varies = if object == "log" {
                1.0
            } else {
                0.95 + 0.1 * rng.f64()
            };
            writer.add_blocks(&[block], times, 2.0 * sessions * varies);
        }
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
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
