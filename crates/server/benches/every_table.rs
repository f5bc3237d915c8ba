//! What `SELECT *` of each table of performance_schema, tare and sys costs its reader: 100 threads that
//! have run every one of 1,200 instruments (as many of each kind as MySQL 8.0 has), with full
//! histories and a full digest table, as after hours of load.
//!
//! `cargo bench -p tare-server --bench every_table`. Reads every cell of every row through SQLite. Medians of five
//! runs; writes target/bench/tables.json. The reader is this process and the segment its own, attached
//! to as another process would.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tare::{Class, Counter, Kind, Operation};
use tare_mysql::session::SessionFacts;
use tare_query::catalog::{self};
use tare_reader::Segment;
use tare_rows::registry;
use tare_rows::source::Source;

const THREADS: usize = 100;
const DIGESTS: usize = 10_000;
const RUNS: usize = 5;
/// What a table may take, in milliseconds.
const TARGET_MS: f64 = 50.0;

/// Instruments by kind, in the numbers of MySQL 8.0.15.
const KINDS: [(Kind, &str, usize); 13] = [
    (Kind::Mutex, "wait/synch/mutex/bench/", 203),
    (Kind::RwLock, "wait/synch/rwlock/bench/", 30),
    (Kind::SxLock, "wait/synch/sxlock/bench/", 14),
    (Kind::Cond, "wait/synch/cond/bench/", 46),
    (Kind::File, "wait/io/file/bench/", 48),
    (Kind::Socket, "wait/io/socket/bench/", 3),
    (Kind::TableIo, "wait/io/table/bench/", 1),
    (Kind::TableLock, "wait/lock/table/bench/", 1),
    (Kind::MetadataLock, "wait/lock/metadata/bench/", 1),
    (Kind::Stage, "stage/bench/", 140),
    (Kind::Statement, "statement/bench/", 212),
    (Kind::Memory, "memory/bench/", 504),
    (Kind::Transaction, "transaction", 1),
];

tare::classes! {
    static SESSION: Thread = "thread/bench/session";
    static IDLE: Idle = "idle";
}

struct Serving(Arc<Segment>);

impl SessionFacts for Serving {}

impl Source for Serving {
    fn segment(&self) -> Option<Arc<Segment>> {
        Some(self.0.clone())
    }
}

/// Every instrument of MySQL's numbers.
fn classes() -> Vec<&'static Class> {
    let named = |(kind, prefix, count): (Kind, &'static str, usize)| {
        (0..count).map(move |i| {
            let name: &'static str = match kind {
                Kind::Transaction => prefix,
                _ => format!("{prefix}{i:03}").leak(),
            };
            let class: &'static Class = Box::leak(Box::new(Class::new(kind, name, "")));
            class
        })
    };
    KINDS.into_iter().flat_map(named).collect()
}

/// One event of a class, on the session that is entered.
fn event(class: &'static Class, text: &str) {
    match class.kind() {
        Kind::Stage => tare::stage::set(class),
        Kind::Memory => {
            tare::memory::allocated(class, 100);
            tare::memory::freed(class, 100);
        }
        Kind::Statement => {
            let statement = tare::statement::start(class);
            statement.text(text);
            statement.set(Counter::RowsSent, 1);
        }
        Kind::Transaction => tare::transaction::start(class, Default::default()).commit(),
        Kind::File | Kind::Socket => {
            for operation in [Operation::Read, Operation::Write] {
                tare::wait::start(class, operation).bytes(512);
            }
        }
        Kind::TableIo => drop(tare::wait::start(class, Operation::Fetch)),
        Kind::TableLock => drop(tare::wait::start(class, Operation::TableReadLock)),
        Kind::MetadataLock => drop(tare::wait::start(class, Operation::MetadataLock)),
        _ => drop(tare::wait::start(class, Operation::Lock)),
    }
}

fn fill(sessions: &mut [tare::thread::ThreadSession], classes: &[&'static Class]) {
    let mut digest = 0;
    for (i, session) in sessions.iter_mut().enumerate() {
        session.run(|| {
            tare::thread::set_account(&format!("user{}", i % 20), &format!("host{}", i % 5));
            tare::thread::set_processlist_id(i as u64 + 1);
            tare::thread::set_db("bench");
            for class in classes {
                digest += 1;
                event(
                    class,
                    &format!("SELECT c{} FROM t WHERE id = 1", digest % DIGESTS),
                );
            }
            for error in 1000..1100 {
                tare::error::raised(error);
            }
            drop(tare::idle::start(&IDLE));
        })
    }
}

struct Figure {
    table: String,
    rows: usize,
    median: Duration,
    worst: Duration,
}

fn main() {
    let limits = tare::Limits::default().classes(2048).arena_lines(16_384);
    let config = tare::Config::everything().limits(limits);
    tare::start(config).expect("Tare starts");
    let classes = classes();
    let mut sessions: Vec<_> = (0..THREADS)
        .map(|_| tare::thread::ThreadSession::new(&SESSION))
        .collect();
    fill(&mut sessions, &classes);
    let descriptor = tare::descriptor().expect("Tare runs");
    let segment = Segment::own(descriptor).expect("the own segment");
    let source: Arc<dyn Source> = Arc::new(Serving(Arc::new(segment)));
    let conn = Connection::open_in_memory().expect("SQLite opens");
    let catalog = catalog::install(&conn, source).expect("the catalog is installed");

    let mut figures = Vec::new();
    for table in registry::all(Default::default()) {
        if !matches!(table.schema(), "performance_schema" | "tare") {
            continue;
        }
        let name = format!("{}.{}", table.schema(), table.name());
        let mut times: Vec<(Duration, usize)> = (0..RUNS)
            .map(|_| {
                let begin = Instant::now();
                let _statement = catalog.statement();
                let rows = read(&conn, table.schema(), table.name());
                (begin.elapsed(), rows)
            })
            .collect();
        times.sort();
        figures.push(Figure {
            table: name,
            rows: times[0].1,
            median: times[RUNS / 2].0,
            worst: times[RUNS - 1].0,
        });
    }
    tare::stop();
    report(&mut figures);
}

/// Reads every cell of every row; how many rows.
fn read(conn: &Connection, schema: &str, table: &str) -> usize {
    let sql = format!("SELECT * FROM {schema}.\"{table}\"");
    let mut statement = conn.prepare_cached(&sql).expect("the table is there");
    let columns = statement.column_count();
    let mut rows = statement.query([]).expect("it can be read");
    let mut count = 0;
    while let Some(row) = rows.next().expect("a row") {
        for i in 0..columns {
            std::hint::black_box(row.get_ref(i).expect("a cell"));
        }
        count += 1;
    }
    count
}

fn report(figures: &mut [Figure]) {
    figures.sort_by_key(|f| std::cmp::Reverse(f.median));
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mut json = String::from("{\n  \"target_ms\": 50,\n  \"tables\": {");
    for (i, f) in figures.iter().enumerate() {
        let missed = if ms(f.median) > TARGET_MS {
            "  <- more than 50 ms"
        } else {
            ""
        };
        if i < 20 || !missed.is_empty() {
            println!(
                "{:<68} {:>8} rows  median {:>7.2} ms  worst {:>7.2} ms{missed}",
                f.table,
                f.rows,
                ms(f.median),
                ms(f.worst)
            );
        }
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            json,
            "{comma}\n    \"{}\": {{\"rows\": {}, \"median_ms\": {:.3}, \"worst_ms\": {:.3}}}",
            f.table,
            f.rows,
            ms(f.median),
            ms(f.worst)
        );
    }
    json.push_str("\n  }\n}\n");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench");
    let path = format!("{folder}/tables.json");
    match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, json)) {
        Ok(()) => println!("{} tables; written to {path}", figures.len()),
        Err(error) => eprintln!("cannot write {path}: {error}"),
    }
}
