//! `tare sql --history` on files that the recorder's writer wrote.

#[path = "support/history.rs"]
mod history;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use history::{at, grown};
use support::Directory;
use tare_history::{Moment, Sample, Text, Writer};

/// Writes two hours of a host: each ten seconds two threads, one of which waits, and growth.
fn write(history: &Path, host: &str, is_ended: bool) {
    let mut writer = Writer::start(history, host, "shop", at(0)).expect("a writer");
    let text = Text {
        schema: Some("shop".into()),
        digest: "d1".into(),
        text: "SELECT ?".into(),
    };
    let mut texts = vec![text];
    for step in 0..720 {
        let sample = |id: u64| Sample {
            thread_id: id,
            wait: (id == 1).then(|| "wait/io/file/innodb/innodb_data_file".into()),
            digest: Some("d1".into()),
            user: Some("ann".into()),
            ..Sample::default()
        };
        let moment = Moment {
            at: at(step * 10),
            threads: Some(5),
            is_exact: Some(true),
            samples: vec![sample(1), sample(2)],
        };
        writer
            .add_moment(&moment, Duration::from_secs(10))
            .expect("written");
        let digest = [3, 3_000_000, 1000, 1, 0, 0, 6, 60];
        let file = [2, 2000, 0, 0, 0, 0, 0, 0, 4096, 512];
        let grown = [
            grown("digest", Some("shop"), "d1", &digest),
            grown("wait", None, "wait/synch/mutex/a", &[10, 5000]),
            grown("file", None, "/data/shop/orders.ibd", &file),
            grown("cost", None, "wait/synch/mutex/a", &[10, 70_000]),
        ];
        writer.add_growth(&grown, &texts, at(step * 10), (10.0, Some(true)));
        texts.clear();
        if step % 60 == 59 {
            writer.write().expect("a piece");
        }
    }
    match is_ended {
        true => writer.end().expect("settled"),
        // The files of a killed recorder.
        false => std::mem::forget(writer),
    }
}

fn create_history(name: &str) -> (Directory, PathBuf) {
    let directory = Directory::new(name);
    let path = directory.path().join("history");
    write(&path, "db1", true);
    write(&path, "db2", false);
    (directory, path)
}

fn run(history: &Path, options: &[&str], sql: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tare"))
        .args(["sql", "--history"])
        .arg(history)
        .args(options)
        .args(["-e", sql])
        .output()
        .expect("tare runs")
}

/// The printed rows, without the line of column names.
fn query(history: &Path, options: &[&str], sql: &str) -> Vec<String> {
    let output = run(history, options, sql);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty(),
        "{sql}: {stderr}"
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn the_tables_of_the_files_have_their_rows_with_host_date_and_hour() {
    let (_directory, history) = create_history("sql-history");
    let rows = query(
        &history,
        &[],
        "SELECT host, date, hour, COUNT(*), SUM(seconds) FROM samples GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    );
    assert_eq!(
        rows,
        [
            "db1\t2026-11-22\t14\t720\t7200",
            "db1\t2026-11-22\t15\t720\t7200",
            "db2\t2026-11-22\t14\t720\t7200",
            "db2\t2026-11-22\t15\t720\t7200",
        ]
    );
    for (condition, expected) in [
        ("hour = 15", 1440),
        ("hour >= 15", 1440),
        ("hour = '15'", 1440),
        ("host = 'db1'", 1440),
        ("host = 'DB1'", 1440),
        ("host IN ('db1', 'db3')", 1440),
        ("host IS NULL", 0),
        ("date = '2026-11-22'", 2880),
        ("date < '2026-11-22'", 0),
        ("date BETWEEN '2026-11-20' AND '2026-11-22'", 2880),
        ("sampled_at >= '2026-11-22 15:59:00'", 24),
        ("sampled_at > '2026-11-22 15:59:00'", 20),
        ("sampled_at < '2026-11-22 14:00:20' AND host = 'db2'", 4),
        (
            "sampled_at BETWEEN '2026-11-22 14:59:50' AND '2026-11-22 15:00:00'",
            8,
        ),
        ("sampled_at >= TIMESTAMP '2026-11-22 15:59:00'", 24),
        (
            "sampled_at >= '2026-11-22 14:00:00' + INTERVAL 119 MINUTE",
            24,
        ),
        ("wait IS NOT NULL AND thread_id = 1", 1440),
    ] {
        let sql = format!("SELECT COUNT(*) FROM samples WHERE {condition}");
        assert_eq!(query(&history, &[], &sql), [expected.to_string()], "{sql}");
    }
    assert_eq!(
        query(
            &history,
            &[],
            "SELECT sampled_at, active, threads FROM moments LIMIT 1 OFFSET 1"
        ),
        ["2026-11-22 14:00:10.000000\t2\t5"]
    );
    let joined =
        "SELECT d.text, COUNT(*) FROM samples s JOIN digests d USING (host, digest) GROUP BY 1";
    assert_eq!(query(&history, &[], joined), ["SELECT ?\t2880"]);
    assert_eq!(
        query(&history, &[], "SHOW TABLES"),
        [
            "blocks",
            "connections",
            "deadlocks",
            "digests",
            "growth",
            "indexes",
            "moments",
            "plans",
            "replication",
            "samples",
            "status",
            "transactions"
        ]
    );
}

#[test]
fn a_range_of_time_and_a_host_are_options() {
    let (_directory, history) = create_history("sql-history-options");
    let count = "SELECT COUNT(*) FROM growth WHERE kind = 'cost'";
    for (options, expected) in [
        (&["--host", "db2"][..], "720"),
        (&["--from", "2026-11-22 15:00"], "720"),
        (&["--to", "2026-11-22 14:00:10", "--host", "db1"], "1"),
        (&["--from", "2026-11-23"], "0"),
        (&["--host", "db3"], "0"),
    ] {
        assert_eq!(query(&history, options, count), [expected], "{options:?}");
    }
}

#[test]
fn mysqls_summaries_are_sums_of_growth() {
    let (_directory, history) = create_history("sql-history-summaries");
    let of_digest = "SELECT HOST, SCHEMA_NAME, DIGEST, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, AVG_TIMER_WAIT, \
        SUM_ROWS_EXAMINED, FIRST_SEEN, MAX_TIMER_WAIT \
        FROM performance_schema.events_statements_summary_by_digest ORDER BY HOST";
    let from = ["--from", "2026-11-22 15:00"];
    let row = |host| {
        format!(
            "{host}\tshop\td1\tSELECT ?\t1080\t1080000000\t1000000\t21600\t2026-11-22 15:00:00.000000\tNULL"
        )
    };
    assert_eq!(query(&history, &from, of_digest), [row("db1"), row("db2")]);
    let of_wait = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
        FROM performance_schema.events_waits_summary_global_by_event_name WHERE HOST = 'db1'";
    assert_eq!(
        query(&history, &[], of_wait),
        ["wait/synch/mutex/a\t7200\t3600000"]
    );
    let of_file = "SELECT FILE_NAME, SUM_NUMBER_OF_BYTES_READ, SUM_NUMBER_OF_BYTES_WRITE \
        FROM performance_schema.file_summary_by_instance";
    assert_eq!(
        query(&history, &["--host", "db2"], of_file),
        ["/data/shop/orders.ibd\t2949120\t368640"]
    );
    // Views of schema sys work on them.
    let of_sys = "SELECT query, exec_count FROM sys.statement_analysis";
    assert_eq!(
        query(&history, &["--host", "db1"], of_sys),
        ["SELECT ?\t2160"]
    );
}

#[test]
fn unsupported_statements_and_options_are_refused() {
    let (directory, history) = create_history("sql-history-errors");
    let assert_refused = |history: &Path, options: &[&str], sql: &str, code: i32, message: &str| {
        let output = run(history, options, sql);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{sql}: {stderr}");
        assert!(stderr.contains(message), "{sql}: {stderr}");
    };
    assert_refused(directory.path(), &[], "SELECT 1", 1, "no history is here");
    assert_refused(
        &directory.path().join("gone"),
        &[],
        "SELECT 1",
        1,
        "no history is here",
    );
    assert_refused(
        &history,
        &["--user", "ann"],
        "SELECT 1",
        2,
        "a server or a history",
    );
    assert_refused(&history, &["--from", "soon"], "SELECT 1", 2, "give a time");
    assert_refused(
        &history,
        &[],
        "SELECT * FROM performance_schema.threads",
        1,
        "doesn't exist",
    );
    assert_refused(&history, &[], "DELETE FROM samples", 1, "denied");
    assert_refused(
        &history,
        &[],
        "TRUNCATE TABLE performance_schema.file_summary_by_instance",
        1,
        "denied",
    );
    assert_refused(&history, &[], "CREATE TABLE tare.t (a INT)", 1, "denied");
    assert_refused(&history, &[], "FLUSH STATUS", 1, "on a history");
}

/// The first file of a table by name.
fn first_file(directory: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    let first = entries.swap_remove(0);
    match first.is_dir() {
        true => first_file(&first),
        false => first,
    }
}

/// Changes the bytes of a file.
type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_file_is_named_and_left_out() {
    let (_directory, history) = create_history("sql-history-damaged");
    let path = first_file(&history.join("samples"));
    let intact = fs::read(&path).expect("a file");
    let count = "SELECT COUNT(*) FROM samples";
    let damaged: [Damage; 3] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| {
            let middle = bytes.len() / 4;
            bytes[4..middle].fill(0xff);
        },
    ];
    for damage in damaged {
        let mut bytes = intact.clone();
        damage(&mut bytes);
        fs::write(&path, bytes).expect("written");
        let output = run(
            &history,
            &[],
            &count.replace("COUNT(*)", "COUNT(*), MAX(user)"),
        );
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let name = path.to_str().expect("UTF-8");
        assert_eq!(stderr.matches(name).count(), 1, "{stderr}");
        assert!(
            stderr.contains("left out because it is damaged"),
            "{stderr}"
        );
        let rows = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(rows.contains("2160\tann"), "{rows}");
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let (_directory, history) = create_history("sql-history-version");
    let path = first_file(&history.join("growth"));
    let mut bytes = fs::read(&path).expect("a file");
    let key = b"tare.version";
    let position = bytes.windows(key.len()).rposition(|part| part == key);
    // The key is followed by a byte of the next field, its length, and the digit.
    let digit = position.expect("the version") + key.len() + 2;
    assert_eq!(bytes[digit], b'2');
    bytes[digit] = b'9';
    fs::write(&path, bytes).expect("written");
    let output = run(&history, &[], "SELECT COUNT(*) FROM growth");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("follows version 9") && stderr.contains("a newer one"),
        "{stderr}"
    );
}

/// Files of `tare record` 0.2.0, which is version 1 of the format, stay readable.
#[test]
fn files_of_version_1_are_read() {
    let history = Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/fixtures/version-1");
    for (sql, expected) in [
        (
            "SELECT server, host, date, COUNT(*), MAX(threads) FROM moments",
            "shop\tdb1\t2026-11-23\t15\t5",
        ),
        (
            "SELECT statement, user, COUNT(*) FROM samples",
            "statement/sql/select\troot\t15",
        ),
        (
            "SELECT COUNT(DISTINCT kind), COUNT(*) FROM growth",
            "10\t52",
        ),
        (
            "SELECT COUNT(*) FROM digests WHERE text LIKE 'INSERT INTO %'",
            "1",
        ),
    ] {
        assert_eq!(query(&history, &[], sql), [expected], "{sql}");
    }
}

/// Paths of all Parquet files below a directory.
fn parquet_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    let below = |entry: std::fs::DirEntry| match entry.path().is_dir() {
        true => parquet_files(&entry.path()),
        false => vec![entry.path()],
    };
    let mut files: Vec<PathBuf> = entries.flat_map(below).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "parquet"));
    files
}

#[test]
fn what_is_no_file_is_reported_and_not_waited_for() {
    let (_directory, history) = create_history("fifo");
    // In place of a complete file and of a piece.
    for file in parquet_files(&history) {
        let aside = file.with_extension("aside");
        std::fs::rename(&file, &aside).expect("renamed");
        let status = Command::new("mkfifo")
            .arg(&file)
            .status()
            .expect("mkfifo runs");
        assert!(status.success());
        let table = ["moments", "samples"].into_iter().find(|table| {
            let text = file.display().to_string();
            text.contains(&format!("/{table}/")) || text.contains(&format!("/{table}@"))
        });
        if let Some(table) = table {
            let output = run(&history, &[], &format!("SELECT COUNT(*) FROM {table}"));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains("not a regular file"), "{errors}");
        }
        std::fs::remove_file(&file).expect("removed");
        std::fs::rename(&aside, &file).expect("renamed");
    }
}
