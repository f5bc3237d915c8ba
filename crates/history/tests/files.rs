//! The files of a recorder are complete, also after a kill or with a full disk, and are read as they were written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Row;
use tare_history::{
    Answer, EndReason, Error, Moment, Options, Origin, Past, Plan, PlanReason, Query, QueryError,
    Record, Recorder, Retention, Sample, Source, Writer,
};

/// A directory that is removed with its contents.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tare-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The start time of the sources, in the middle of no hour's end.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_356_000)
}

/// A source of so many moments at a distance, which then stops the recorder.
struct Moments<'a> {
    left: u32,
    at: SystemTime,
    apart: Duration,
    stop: &'a AtomicBool,
}

impl Source for Moments<'_> {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        self.at += self.apart;
        self.left -= 1;
        self.stop.store(self.left == 0, Ordering::Relaxed);
        let sample = |id: u64| Sample {
            thread_id: id,
            wait: (id == 1).then(|| Arc::from("wait/synch/mutex/jobs/LOCK_queue")),
            user: Some("ann".into()),
            ..Sample::default()
        };
        Ok(Moment {
            at: self.at,
            threads: Some(7),
            is_exact: Some(true),
            samples: vec![sample(1), sample(2)],
        })
    }
}

/// Answers with one wait and one digest, whose counts grow with each query.
struct Counting(u64);

impl Query for Counting {
    fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
        let count = |n: u64| Some(n.to_string());
        let text = |text: &str| Some(text.to_owned());
        if sql.contains("events_waits_summary_global") {
            self.0 += 5;
            return Ok(vec![vec![
                None,
                text("wait/a"),
                count(self.0),
                count(self.0 * 2000),
            ]]);
        }
        if sql.contains("summary_by_digest") {
            let mut row = vec![text("shop"), text("abc"), count(self.0)];
            row.resize(13, None);
            row.push(text("SELECT ?"));
            return Ok(vec![row]);
        }
        Err(QueryError::Refused("no such table".into()))
    }
}

fn options(directory: &Path) -> Options {
    Options {
        directory: directory.to_owned(),
        host: "db1".into(),
        server: "jobs".into(),
        rate: 1000.0,
        write_every: Duration::from_millis(1),
        settle_every: Duration::from_secs(3600),
        duration: None,
        retention: Retention::default(),
    }
}

fn record(options: Options, moments: u32, apart: Duration) -> Result<EndReason, Error> {
    let stop = AtomicBool::new(false);
    let mut source = Moments {
        left: moments,
        at: start(),
        apart,
        stop: &stop,
    };
    Recorder::start(options, &stop)?.record(&mut source, Some(&mut Counting(0)), &mut |_| ())
}

/// The files of a table, in order.
fn files(directory: &Path, table: &str) -> Vec<PathBuf> {
    fn below(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => below(&path, files),
                false => files.push(path),
            }
        }
    }
    let mut files = Vec::new();
    below(&directory.join(table), &mut files);
    files.sort();
    files
}

fn rows(directory: &Path, table: &str) -> Vec<Row> {
    let read = |path: &PathBuf| {
        let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("whole");
        let rows = reader.get_row_iter(None).expect("rows");
        rows.map(|row| row.expect("a row")).collect::<Vec<_>>()
    };
    files(directory, table).iter().flat_map(read).collect()
}

/// A column of all rows, as text.
fn column(rows: &[Row], name: &str) -> Vec<String> {
    let of = |row: &Row| {
        let mut columns = row.get_column_iter();
        let (_, field) = columns.find(|(files, _)| *files == name).expect("a column");
        field.to_string()
    };
    rows.iter().map(of).collect()
}

#[test]
fn recorded_rows_are_in_their_files_and_no_pieces_remain() {
    let directory = Directory::new("history-whole");
    let ended = record(options(&directory.0), 20, Duration::from_millis(1)).expect("records");
    assert_eq!(ended, EndReason::Stopped);
    let moments = rows(&directory.0, "moments");
    assert_eq!(moments.len(), 20);
    assert_eq!(column(&moments, "threads"), vec!["7"; 20]);
    assert_eq!(column(&moments, "active"), vec!["2"; 20]);
    let samples = rows(&directory.0, "samples");
    assert_eq!(samples.len(), 40);
    assert_eq!(column(&samples, "user"), vec!["\"ann\""; 40]);
    let waits = column(&samples, "wait");
    assert_eq!(waits.iter().filter(|wait| *wait == "null").count(), 20);
    // Each digest is stored once; growth is the difference between the first and the last query.
    assert_eq!(
        column(&rows(&directory.0, "digests"), "text"),
        ["\"SELECT ?\""]
    );
    let growth = rows(&directory.0, "growth");
    let of_waits: Vec<&Row> = (growth.iter())
        .filter(|row| row.to_string().contains("\"wait/a\""))
        .collect();
    let sum: i64 = (of_waits.iter())
        .map(|row| {
            column(&[(*row).clone()], "count")[0]
                .parse::<i64>()
                .expect("a number")
        })
        .sum();
    assert_eq!(sum, 5 * of_waits.len() as i64);
    assert!(sum > 0);
    let open = fs::read_dir(directory.0.join(".open")).expect("a directory");
    assert_eq!(open.count(), 0);
}

#[test]
fn an_hour_has_its_own_file() {
    let directory = Directory::new("history-hours");
    record(options(&directory.0), 3, Duration::from_secs(3600)).expect("records");
    let files = files(&directory.0, "moments");
    assert_eq!(files.len(), 3, "{files:?}");
    for path in &files {
        let text = path.to_string_lossy();
        assert!(text.contains("/date=") && text.contains("/hour="), "{text}");
        assert!(text.contains("/host=db1/"), "{text}");
    }
    assert_eq!(rows(&directory.0, "moments").len(), 3);
}

/// A killed recorder leaves pieces, a part of one, and a lock that no process holds.
#[test]
fn pieces_of_a_killed_recorder_are_joined_once() {
    let directory = Directory::new("history-killed");
    let root = &directory.0;
    record(options(root), 10, Duration::from_millis(1)).expect("records");
    let file = files(root, "moments").remove(0);
    let hour = file.ancestors().nth(2).expect("hour=").to_owned();
    let name = |path: &Path, key: &str| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.strip_prefix(key).expect("a key").to_owned()
    };
    let date = name(hour.parent().expect("date="), "date=");
    let hour = name(&hour, "hour=");
    let open = root.join(".open/db1+20260101T000000000000Z-1");
    fs::create_dir_all(&open).expect("a directory");
    for number in [3, 4] {
        let piece = open.join(format!("moments@{date}T{hour}@{number:08}.parquet"));
        fs::copy(&file, piece).expect("copies");
    }
    fs::write(open.join("samples@2026-01-01T00@00000005.part"), b"PAR1").expect("writes");
    // Pieces of another host stay.
    let other = root.join(".open/db2+20260101T000000000000Z-1");
    fs::create_dir_all(&other).expect("a directory");
    record(options(root), 1, Duration::from_millis(1)).expect("records");
    assert_eq!(rows(root, "moments").len(), 10 + 2 * 10 + 1);
    assert!(!open.exists() && other.exists());

    // If the recorder was killed between joining and removing its pieces, the rows are there once.
    let settled = (files(root, "moments").into_iter())
        .find(|path| {
            path.to_string_lossy()
                .contains("20260101T000000000000Z-1-00000003")
        })
        .expect("named after its first piece");
    assert_eq!(settled.parent(), file.parent());
    fs::create_dir_all(&open).expect("a directory");
    let piece = open.join(format!("moments@{date}T{hour}@00000003.parquet"));
    fs::copy(&file, piece).expect("copies");
    record(options(root), 1, Duration::from_millis(1)).expect("records");
    assert_eq!(rows(root, "moments").len(), 10 + 2 * 10 + 1 + 1);
    assert!(!open.exists());
}

#[test]
fn the_oldest_hours_of_a_host_go_first() {
    let directory = Directory::new("history-keep");
    let root = &directory.0;
    let stop = AtomicBool::new(false);
    let mut source = Moments {
        left: 5,
        at: start(),
        apart: Duration::from_secs(3600),
        stop: &stop,
    };
    let recorder = Recorder::start(options(root), &stop).expect("starts");
    recorder
        .record(&mut source, Some(&mut Counting(0)), &mut |_| ())
        .expect("records");
    let other = files(root, "moments").remove(0);
    let of_other = other
        .ancestors()
        .nth(2)
        .expect("hour=")
        .join("host=db2/kept.parquet");
    fs::create_dir_all(of_other.parent().expect("a directory")).expect("a directory");
    fs::write(&of_other, b"another host's").expect("writes");
    let now = start() + Duration::from_secs(100 * 3600);

    let none = Retention::default().apply(root, "db1", now).expect("reads");
    assert_eq!((none, files(root, "moments").len()), (0, 6));
    let retention = Retention {
        age: Some(Duration::from_secs(97 * 3600)),
        bytes: None,
    };
    assert!(retention.apply(root, "db1", now).expect("removes") > 0);
    assert!(!other.exists() && of_other.exists());
    let left = files(root, "samples").len();
    assert!((1..5).contains(&left), "{left}");
    let retention = Retention {
        age: None,
        bytes: Some(0),
    };
    retention.apply(root, "db1", now).expect("removes");
    // Texts of digests stay.
    assert_eq!(files(root, "samples").len(), 0);
    assert_eq!(files(root, "digests").len(), 1);
    assert!(of_other.exists());
}

#[test]
fn a_host_that_names_no_directory_is_refused() {
    let directory = Directory::new("history-host");
    for host in ["", "a/b", "..", "a+b", "a=b"] {
        let mut options = options(&directory.0);
        options.host = host.into();
        assert!(
            matches!(record(options, 1, Duration::ZERO), Err(Error::Host(_))),
            "{host}"
        );
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let directory = Directory::new("plans");
    let mut writer = Writer::start(&directory.0, "db1", "shop", start()).expect("a writer");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let plan = |full_scans, indexes| Plan {
        at: start(),
        schema: Some("shop".to_owned()),
        digest: "d".repeat(64),
        reason: PlanReason::New,
        example: Some("SELECT ?".to_owned()),
        problem: None,
        plan: Some("{}".to_owned()),
        shape: None,
        full_scans,
        indexes,
    };
    let plans = [
        plan(
            names(&["a", "b c", "d"]),
            names(&["a.PRIMARY", "a.by name"]),
        ),
        plan(Vec::new(), names(&["a.PRIMARY"])),
    ];
    for plan in &plans {
        writer.add_plan(plan);
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");
    let past = Past {
        directory: directory.0.clone(),
        from: 0,
        to: i64::MAX,
        host: None,
        server: None,
    };
    let mut read = Vec::new();
    let mut take = |origin: &Origin, record| {
        assert_eq!((&*origin.host, &*origin.server), ("db1", "shop"));
        if let Record::Plan(plan) = record {
            read.push(*plan);
        }
    };
    past.read(&mut take).expect("read");
    assert_eq!(read, plans);
}
