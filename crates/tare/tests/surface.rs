//! The API is the same whether or not instrumentation is compiled in: both are one code, in which the feature
//! selects only what is listed here. This file compiles both ways, and uses the API as hosts do.

// This file is about signatures.
#![allow(clippy::type_complexity)]

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use tare::digest::Digest;
use tare::statement::Statement;
use tare::sync::{Condvar, Mutex, MutexGuard, RwLock, WaitTimeoutResult};
use tare::thread::{ConnectionType, ThreadSession, Truncation};
use tare::transaction::{Isolation, Mode, Transaction};
use tare::wait::Wait;
use tare::{Class, Command, Config, Counter, Kind, Operation, StartError};

tare::classes! {
    /// Guards nothing.
    static LOCK: Mutex = "wait/synch/mutex/surface/LOCK", singleton;
    static RWLOCK: RwLock = "wait/synch/rwlock/surface/LOCK_rw";
    static COND: Cond = "wait/synch/cond/surface/COND";
    static DATA: File = "wait/io/file/surface/data";
    static CLIENT: Socket = "wait/io/socket/surface/client";
    static TABLE: TableIo = "wait/io/table/surface/handler";
    static IDLE: Idle = "idle";
    static STAGE: Stage = "stage/surface/stage", progress;
    static ABSTRACT: Statement = "statement/abstract/surface", mutable;
    static QUERY: Statement = "statement/surface/query", user;
    static TRANSACTION: Transaction = "transaction";
    static HEAP: Memory = "memory/surface/heap", disabled;
    static WORKER: Thread = "thread/surface/worker", enabled;
}

#[global_allocator]
static ALLOCATOR: tare::memory::Tracked<std::alloc::System> =
    tare::memory::Tracked::new(std::alloc::System, &HEAP);

/// Functions, by their types.
const FUNCTIONS: (
    fn(Config) -> Result<(), StartError>,
    fn(),
    fn() -> bool,
    fn() -> u64,
    fn(bool),
    fn() -> std::io::Result<OwnedFd>,
    fn(),
    fn(&Class, Operation) -> Wait,
    fn() -> bool,
    fn(&Class) -> Wait,
    fn(&Class, Operation) -> Wait,
    fn(&Class),
    fn(),
    fn(u64, u64),
    fn(&Class) -> Statement,
    fn(&Class, Mode) -> Transaction,
    fn(&Class, Mode) -> Transaction,
    fn(u32),
    fn(u32),
    fn(&Class, usize) -> bool,
    fn(&Class, usize),
) = (
    tare::start,
    tare::stop,
    tare::is_running,
    tare::failed_starts,
    tare::follow_forks,
    tare::descriptor,
    tare::watch_settings,
    tare::wait::start,
    tare::wait::are_counted,
    tare::idle::start,
    tare::table::wait,
    tare::stage::set,
    tare::stage::end,
    tare::stage::progress,
    tare::statement::start,
    tare::transaction::start,
    tare::transaction::of_statement,
    tare::error::raised,
    tare::error::handled,
    tare::memory::allocated,
    tare::memory::freed,
);

const THREADS: (
    fn(&'static Class, fn()) -> std::io::Result<std::thread::JoinHandle<()>>,
    fn(&'static Class),
    fn(&'static Class, u64),
    fn() -> u64,
    fn(&str, &str),
    fn(u64),
    fn(&str),
    fn(Command),
    fn(&str),
    fn(&str),
    fn(ConnectionType),
    fn(u64),
    fn(&str),
    fn(&[u8], Truncation, &dyn for<'a> Fn(&'a [u8]) -> Cow<'a, str>) -> usize,
    fn(),
    fn(&'static Class) -> ThreadSession,
) = (
    tare::thread::spawn,
    tare::thread::register,
    tare::thread::register_child,
    tare::thread::id,
    tare::thread::set_account,
    tare::thread::set_processlist_id,
    tare::thread::set_db,
    tare::thread::set_command,
    tare::thread::set_state,
    tare::thread::set_info,
    tare::thread::set_connection_type,
    tare::thread::set_os_id,
    tare::thread::set_attributes,
    tare::thread::set_sent_attributes,
    tare::thread::forget_longest_attributes,
    ThreadSession::new,
);

const METHODS: (
    fn(&Class) -> bool,
    fn(&mut Wait, u64),
    fn(&Statement, &Class),
    fn(&Statement, &str),
    fn(&Statement, &str, &Digest),
    fn(&Statement, Counter, u64),
    fn(&Statement, Counter, u64),
    fn(&Statement, u32, &str, &str),
    fn(&Statement) -> bool,
    fn(&Statement) -> bool,
    fn(Transaction),
    fn(Transaction),
    fn(&Transaction, u64),
    fn(&Transaction),
    fn(&str) -> Digest,
    fn(&'static Class, &str) -> tare::file::Instance,
    fn(&'static Class, i32) -> tare::socket::Instance,
    fn(&tare::file::Instance, Operation) -> Wait,
    fn(&tare::socket::Instance, Operation) -> Wait,
    fn(&tare::socket::Instance, Operation) -> Wait,
) = (
    Class::is_counted,
    Wait::bytes,
    Statement::refine,
    Statement::text,
    Statement::prepared,
    Statement::set,
    Statement::add,
    Statement::error,
    Statement::is_recorded,
    Statement::has_lost_digest,
    Transaction::commit,
    Transaction::rollback,
    Transaction::trx_id,
    Transaction::savepoint,
    Digest::of,
    tare::file::Instance::open,
    tare::socket::Instance::new,
    tare::file::Instance::wait,
    tare::socket::Instance::wait,
    tare::socket::Instance::follow,
);

const fn is_send<T: Send>() {}
const fn is_sync<T: Sync>() {}
const _: () = {
    is_send::<Mutex<u64>>();
    is_sync::<Mutex<u64>>();
    is_send::<RwLock<u64>>();
    is_sync::<RwLock<u64>>();
    is_sync::<Condvar>();
    is_send::<ThreadSession>();
    is_send::<Transaction>();
    is_send::<tare::file::Instance>();
    is_sync::<tare::file::Instance>();
    is_send::<tare::socket::Instance>();
    is_sync::<tare::socket::Instance>();
};

/// The places of the library that the feature `instrument` selects: the data of handles, the hash of
/// digests, and inlining. No item that a host can name is among them.
#[test]
fn both_surfaces_are_one_code() {
    let mut selected = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            let is_selected = text.lines().any(|line| {
                let line = line.trim();
                line.contains("feature = \"instrument\"")
                    && !line.starts_with("//")
                    && !line.starts_with("#[cfg(all(test")
                    && !line.ends_with("inline)]")
                    && !line.ends_with("inline(never))]")
            });
            if is_selected {
                let name = path.file_name().expect("a name").to_owned();
                selected.push(name.into_string().expect("UTF-8"));
            }
        }
    }
    selected.sort();
    assert_eq!(selected, ["hash.rs", "payload.rs"]);
}

/// A host that uses everything, whether Tare runs or not.
fn host() {
    static COUNT: Mutex<u64> = Mutex::new(&LOCK, 0);
    static READY: Condvar = Condvar::new(&COND);
    let table = RwLock::new(&RWLOCK, vec![1]);
    let worker = tare::thread::spawn(&WORKER, || {
        *COUNT.lock() += 1;
        READY.notify_all();
    });
    {
        let mut count: MutexGuard<'_, u64> = COUNT.lock();
        READY.wait_while(&mut count, |count| *count == 0);
        let late: WaitTimeoutResult = READY.wait_for(&mut count, Duration::from_millis(1));
        let _ = late.timed_out();
        let _ = READY.wait_until(&mut count, Instant::now());
        READY.notify_one();
    }
    worker.expect("a thread").join().expect("no panic");
    assert!(COUNT.try_lock().is_some());
    assert!(COUNT.try_lock_for(Duration::from_secs(60)).is_some());
    table.write().push(2);
    assert_eq!(table.read().len(), 2);
    assert!(table.try_read().is_some() && table.try_write().is_some());
    assert_eq!(table.into_inner(), [1, 2]);

    let mut session = ThreadSession::new(&WORKER);
    session.run(|| {
        tare::thread::set_account("alice", "localhost");
        tare::thread::set_db("shop");
        tare::thread::set_command(Command::Query);
        let mode = Mode {
            isolation: Isolation::ReadCommitted,
            ..Mode::default()
        };
        let transaction = tare::transaction::start(&TRANSACTION, mode);
        transaction.savepoint();
        transaction.rollback_to_savepoint();
        transaction.release_savepoint();
        let statement = tare::statement::start(&ABSTRACT);
        statement.refine(&QUERY);
        statement.text("SELECT 1");
        statement.set_all([(Counter::RowsSent, 1), (Counter::Warnings, 0)]);
        statement.prepared("SELECT 1", &Digest::of("SELECT 1"));
        statement.schema("shop");
        tare::stage::set(&STAGE);
        tare::stage::progress(1, 2);
        let file = tare::file::Instance::open(&DATA, "/nowhere");
        file.wait(Operation::Read).bytes(1);
        let socket = tare::socket::Instance::new(&CLIENT, 3);
        drop(socket.wait(Operation::Recv));
        drop(tare::table::wait(&TABLE, Operation::Fetch));
        drop(tare::idle::start(&IDLE));
        tare::memory::allocated(&HEAP, 1);
        tare::memory::freed(&HEAP, 1);
        tare::error::handled(1064);
        statement.error(1064, "42000", "no");
        statement.rows_sent(1);
        statement.rows_examined(1);
        statement.rows_affected(1);
        statement.warnings(1);
        statement.add(Counter::SelectScan, 1);
        tare::stage::end();
        drop(statement);
        transaction.commit();
        drop(tare::statement::start_since(&QUERY, tare::idle::now()));
    });
    let class = Class::new(Kind::Mutex, "wait/synch/mutex/surface/late", "").enabled();
    Box::leak(Box::new(class)).register();
}

#[test]
fn the_surface_compiles_with_and_without_instrumentation() {
    std::hint::black_box((&FUNCTIONS, &THREADS, &METHODS));
    host();
    let started = tare::start(Config::everything());
    if cfg!(feature = "instrument") {
        assert!(started.is_ok(), "{started:?}");
    } else {
        assert!(matches!(started, Err(StartError::NotCompiledIn)));
    }
    host();
    assert_eq!(tare::is_running(), cfg!(feature = "instrument"));
    assert_eq!(tare::descriptor().is_ok(), tare::is_running());
    tare::stop();
    host();
    assert!(!tare::is_running());
}
