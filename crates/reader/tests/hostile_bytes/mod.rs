//! A real segment whose bytes tests change. Shared with the fuzz target `segment`.

use std::fs::File;
use std::hint::black_box;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use tare::{
    Config, Limits, LockDuration, LockType, Namespace, ObjectType, Operation, Setting, TableLock,
};
use tare_layout::activity::{Activity, TRUNCATED, Waiting};
use tare_layout::geometry::LIMIT_NAMES;
use tare_layout::header::{HEADER_BYTES, Header, STOPPED};
use tare_layout::slot::Slot;
use tare_layout::{Geometry, Region, View};
use tare_reader::events::Table;
use tare_reader::instances::object;
use tare_reader::validate::FirstPage;
use tare_reader::{
    Banks, Classes, Clock, Events, Histogram, Names, Segment, Selection, Sources, active_threads,
    row_locks, threads,
};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/hostile/LOCK";
    static TABLE: RwLock = "wait/synch/rwlock/hostile/TABLE";
    static FILE: File = "wait/io/file/hostile/file";
    static SOCKET: Socket = "wait/io/socket/hostile/socket";
    static STEP: Stage = "stage/hostile/Step", progress;
    static QUERY: Statement = "statement/hostile/query";
    static CHANGE: Transaction = "transaction";
    static HEAP: Memory = "memory/hostile/heap";
    static ROWS: TableIo = "wait/io/table/hostile/rows";
    static LOCKS: TableLock = "wait/lock/table/hostile/locks";
    static MDL: MetadataLock = "wait/lock/metadata/hostile/mdl";
    static WORKER: Thread = "thread/hostile/worker";
}

tare::metrics! {
    /// A counter.
    static COUNTED: Counter = "hostile_counted", "hostile", enabled;
    /// A value.
    static VALUED: Value = "hostile_valued", "hostile", enabled;
}

/// The smallest limits, so that most bytes of the segment are used.
fn smallest() -> Limits {
    let mut limits = Limits::default();
    for name in LIMIT_NAMES {
        *limits.by_name(name).expect("a limit") = 0;
    }
    // Some attributes are in the slot, and some behind it.
    let limits = limits.classes(48).history(2).attribute_bytes(160);
    limits.clamped()
}

/// The bytes of a segment into which every kind of event was recorded, with a statement, a stage
/// and a wait still running.
pub fn real() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let path = temporary("real");
        tare::start(
            Config::everything()
                .instruments([("%", Setting::On)])
                .limits(smallest())
                .segment(&path),
        )
        .unwrap();
        let lock = tare::sync::Mutex::new(&LOCK, ());
        let table = tare::sync::RwLock::new(&TABLE, ());
        let worker = tare::thread::spawn(&WORKER, || {
            tare::thread::set_account("mallory", "example.org");
            tare::error::raised(1064);
        });
        worker.unwrap().join().unwrap();
        tare::thread::set_account("alice", "localhost");
        let attributes: Vec<String> = (0..40).map(|i| format!("name{i}=value{i}")).collect();
        tare::thread::set_attributes(&attributes.join("\n"));
        tare::thread::set_db("hostile");
        let file = tare::file::Instance::open(&FILE, "/hostile");
        let mut socket = tare::socket::Instance::new(&SOCKET, 7);
        socket.peer("192.0.2.1", 3306);
        socket.own();
        let classes = tare::table::Classes {
            io: &ROWS,
            lock: &LOCKS,
        };
        let rows = tare::table::Table::new(classes, "hostile", "t1", &["PRIMARY", "k"]);
        let mut handle = rows.open();
        let mut metadata =
            tare::metadata::MetadataLock::new(&MDL, Namespace::Table, "hostile", "t1");
        let prepared = tare::prepared::Prepared::new(1, Some("p"), "SELECT 1");
        let program = tare::program::Program::new(ObjectType::Procedure, "hostile", "p");
        for round in 0..5 {
            let transaction = tare::transaction::start(&CHANGE, tare::transaction::Mode::default());
            let statement = tare::statement::start(&QUERY);
            statement.text(&format!("SELECT {round} FROM t{}", round % 3));
            tare::stage::set(&STEP);
            tare::stage::progress(round, 5);
            drop((lock.lock(), table.read()));
            drop(table.write());
            file.wait(Operation::Write).bytes(100);
            socket.wait(Operation::Recv).bytes(10);
            COUNTED.add(1);
            VALUED.set(7);
            statement.executes(&prepared);
            handle.locked(TableLock::ReadExternal);
            handle.io(Operation::Fetch, Some(1)).rows(3);
            handle.io(Operation::Insert, None).rows(1);
            drop(metadata.wait(LockType::SharedRead, LockDuration::Transaction));
            metadata.granted(LockType::SharedRead, LockDuration::Transaction);
            let call = program.start();
            drop(tare::statement::start(&QUERY));
            drop(call);
            tare::memory::allocated(&HEAP, 64);
            statement.error(1146, "42S02", "no such table");
            drop(statement);
            transaction.commit();
        }
        let _statement = tare::statement::start(&QUERY);
        _statement.text("SELECT SLEEP(1)");
        tare::stage::set(&STEP);
        let _wait = file.wait(Operation::Sync);
        let mut bytes = std::fs::read(&path).unwrap();
        add_activity(&mut bytes);
        tare::stop();
        std::fs::remove_file(path).unwrap();
        bytes
    })
}

/// The text of the statement of [`add_activity`], longer than a word.
#[allow(dead_code, reason = "the fuzz target only reads it")]
pub const ACTIVE_TEXT: &str = "SELECT 'active'";

/// Puts the first thread of a segment's bytes into the level `active`: into a statement, and a wait.
fn add_activity(bytes: &mut [u8]) {
    let geometry = Geometry::new(smallest());
    let slots = geometry.region(Region::Slots);
    let line = slots.offset + geometry.slot + offset_of!(Slot, activity);
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    let wait = Waiting::numbered(1, Operation::Sync as u8, 7);
    put(line + offset_of!(Activity, wait), &wait.to_le_bytes());
    put(line + offset_of!(Activity, began), &1_u64.to_le_bytes());
    for (at, value) in [
        (offset_of!(Activity, statement), 1),
        (offset_of!(Activity, text_at), 8),
        (
            offset_of!(Activity, text_bytes),
            ACTIVE_TEXT.len() as u32 | TRUNCATED,
        ),
        (offset_of!(Activity, depth), 1),
    ] {
        put(line + at, &value.to_le_bytes());
    }
    let texts = geometry.region(Region::ActiveTexts);
    put(texts.offset + 8, ACTIVE_TEXT.as_bytes());
}

/// A path that no other test uses.
pub fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tare-hostile-{name}-{}", std::process::id()))
}

/// The first page of bytes, filled up with zeros.
pub fn first_page(bytes: &[u8]) -> FirstPage {
    let mut page = [0; HEADER_BYTES];
    let length = bytes.len().min(HEADER_BYTES);
    page[..length].copy_from_slice(&bytes[..length]);
    page
}

/// Offsets of the 64-bit words worth changing: those that are not zero, and their neighbours.
pub fn offsets() -> &'static [usize] {
    static OFFSETS: OnceLock<Vec<usize>> = OnceLock::new();
    OFFSETS.get_or_init(|| {
        let words: Vec<bool> = real()
            .chunks(8)
            .map(|word| word.iter().any(|byte| *byte != 0))
            .collect();
        let near =
            |at: usize| words[at.saturating_sub(2)..(at + 3).min(words.len())].contains(&true);
        (HEADER_BYTES / 8..words.len())
            .filter(|at| near(*at))
            .collect()
    })
}

/// A copy of the real segment, attached to.
pub struct Buffer {
    file: File,
    segment: Segment,
}

impl Buffer {
    pub fn new() -> Self {
        let path = temporary(&format!("buffer-{:?}", std::thread::current().id()));
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all_at(real(), 0).unwrap();
        // The copy has no writer: otherwise a reader would wait for a merge to end, as it should.
        let state = offset_of!(Header, state) as u64;
        file.write_all_at(&STOPPED.to_le_bytes(), state).unwrap();
        let segment = Segment::own(file.try_clone().unwrap().into()).unwrap();
        Self { file, segment }
    }

    /// Changes 64-bit words, by their index in [`offsets`], reads everything, and changes them back. The
    /// figures may be wrong, but every read must end.
    pub fn read_with(&mut self, changes: &[(usize, u64)]) {
        for (at, value) in changes {
            self.put(*at, &value.to_le_bytes());
        }
        read_everything(&self.segment);
        for (at, _) in changes {
            self.put(*at, &real()[at * 8..at * 8 + 8]);
        }
    }

    fn put(&self, at: usize, word: &[u8]) {
        self.file.write_all_at(word, at as u64 * 8).unwrap();
    }
}

/// Reads everything that a reader can read.
pub fn read_everything(segment: &Segment) {
    let view = segment.view();
    let classes = Classes::read(view);
    assert!(classes.len() <= view.geometry().limits.classes);
    read_totals(view, &classes);
    let threads = threads(view);
    assert!(threads.len() <= view.geometry().limits.threads);
    let names = Names::read(view);
    for thread in &threads {
        black_box((names.account(thread.account), names.schema(thread.schema)));
        black_box(tare_layout::attributes::pairs(&thread.attributes).count());
    }
    for thread in active_threads(view).active {
        let text = thread.statement.and_then(|statement| statement.text);
        black_box((thread.wait.map(|wait| object(view, wait.object)), text));
    }
    let sources = Sources::default();
    for number in [0, 1, 2, 100, 8191, 8192, 65_535, usize::MAX] {
        black_box(sources.get(view, number));
    }
    black_box(row_locks::read_row_locks(view));
    let events = Events::new(view, &threads);
    for table in [Table::Current, Table::History, Table::Long] {
        for wait in events.waits(table) {
            black_box(object(view, wait.object));
        }
        black_box((events.stages(table), events.transactions(table)));
        for statement in events.statements(table) {
            let (id, generation) = statement.digest;
            black_box(tare_reader::digests::hash_and_text(view, id, generation));
        }
    }
    let banks = Banks::new(view, false);
    for digest in banks.digests() {
        black_box((digest.histogram.total(), digest.histogram.quantile_ps(0.99)));
    }
    black_box((banks.statements().quantile_ps(0.5), banks.cut_texts()));
    black_box(tare_reader::actors(view));
    black_box(tare_reader::metrics(view));
    let rows = banks.instance_rows(&threads);
    black_box((banks.instances(&rows), banks.files(&rows)));
    black_box((banks.sockets(&rows), tare_reader::Rule::all(view)));
    let rows = banks.object_rows();
    black_box((banks.tables(&rows), banks.programs(&rows)));
    black_box((banks.table_handles(), banks.metadata_locks()));
    black_box(banks.prepared_statements());
}

fn read_totals(view: View<'_>, classes: &Classes) {
    let selection = Selection::new(classes, |_| true);
    let banks = Banks::new(view, false);
    let global = banks.global(&selection);
    black_box(global.since(&global).rows().count());
    let mut sum = banks.global(&selection);
    for account in banks.accounts(&selection).into_iter().flatten() {
        sum.add(&account);
    }
    for scope in [tare_reader::Scope::User, tare_reader::Scope::Host] {
        black_box(banks.accounts_of(scope, &selection).len());
    }
    black_box(sum.rows().count());
    let banks_there = view.geometry().region(Region::Banks).count;
    for slot in 0..view.geometry().region(Region::Slots).count {
        for bank in 0..banks_there {
            black_box(banks.thread(&selection, slot, bank));
        }
    }
    let mut all = Histogram::default();
    for histogram in banks.histograms(&selection).into_iter().flatten() {
        black_box((
            histogram.total(),
            histogram.quantile(0.99),
            histogram.highest(),
        ));
        all.add(&histogram);
    }
    black_box(all.since(&all).lowest());
}

/// Converts times with a clock whose calibration may be hostile.
#[allow(dead_code, reason = "the fuzz target leaves the header as it is")]
pub fn read_times(clock: Clock) {
    for ticks in [0, 1, 1 << 40, u64::MAX] {
        black_box((
            clock.ps(ticks),
            clock.ns(ticks),
            clock.since_start_ps(ticks),
        ));
        black_box((clock.unix_ns(ticks), clock.system_time(ticks)));
    }
    black_box(clock.now());
}
