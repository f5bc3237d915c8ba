//! The level `active`: what threads do now is read from outside, texts are never torn, and other levels stay
//! exact.

mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use support::Running;
use tare::active::{First, Outermost};
use tare::sync::Mutex;
use tare::{Config, Operation, Rule};
use tare_layout::class::{Counter, counter_cell};
use tare_layout::control::host::FOLLOWS;
use tare_layout::line::{COUNT, SUM};
use tare_layout::sampling::GROUPS;
use tare_reader::scheduler::{Scheduler, State};
use tare_reader::sessions::{Session, SessionReader};
use tare_reader::{ActiveThread, Segment, Target, active_threads};

tare::classes! {
    static FILE: File = "wait/io/file/now/file";
    static ROWS: TableIo = "wait/io/table/now/rows";
    static MDL: MetadataLock = "wait/lock/metadata/now/mdl";
    static COND: Cond = "wait/synch/cond/now/COND";
    static LOCK: Mutex = "wait/synch/mutex/now/LOCK";
    static STEP: Stage = "stage/now/Step";
    static QUERY: Statement = "statement/now/query";
    static OTHER: Statement = "statement/now/other";
    static WORKER: Thread = "thread/now/worker";
    static TRANSACTION: Transaction = "transaction";
}

const ROW: &str = "statement/tare/active";

fn start(rule: Rule) -> Running {
    let running = Running::with(|config| {
        config.sampling.rules = [rule; GROUPS];
        config.limits.threads = 64;
    });
    tare::watch_settings();
    let host = &running.segment.view().control().host;
    while host.load(Ordering::SeqCst) & FOLLOWS == 0 {
        thread::yield_now();
    }
    // Returns when it was followed.
    running
        .segment
        .set_sampling(0, rule)
        .expect("the host follows");
    running
}

fn set(running: &Running, rule: Rule) {
    for group in 0..GROUPS {
        running.segment.set_sampling(group, rule).expect("set");
    }
}

/// The calling thread, if it runs a statement.
fn own(running: &Running) -> Option<ActiveThread> {
    let id = tare::thread::id();
    let all = active_threads(running.segment.view()).active;
    all.into_iter().find(|thread| thread.id == id)
}

fn name(running: &Running, class: usize) -> String {
    let classes = tare_reader::Classes::read(running.segment.view());
    classes.get(class).expect("a class").name.to_string()
}

fn wait_of(running: &Running) -> Option<(String, Option<Operation>)> {
    let wait = own(running)?.wait?;
    Some((name(running, wait.head.class), wait.operation))
}

#[test]
fn a_statement_begins_when_its_request_arrived() {
    let running = start(Rule::Active);
    let began = || own(&running)?.statement?.head.start;
    // The thread's first one reads the settings.
    drop(tare::statement::start_since(&QUERY, tare::idle::now()));
    let since = tare::idle::now();
    let statement = tare::statement::start_since(&QUERY, since);
    assert_eq!(began(), Some(since));
    // A nested one begins now, and so does the next.
    let nested = tare::statement::start_since(&QUERY, since);
    assert!(began() > Some(since));
    drop((nested, statement));
    let _next = tare::statement::start(&QUERY);
    assert!(began() > Some(since));
}

/// Count, sum, errors of a row.
fn row(running: &Running, name: &str) -> (u64, u64, u64) {
    let (line, cell) = counter_cell(Counter::Errors as usize);
    let totals = running.global();
    let row = totals.row(running.class(name));
    let errors = |row: &[_]| {
        row.get(line)
            .map_or(0, |row: &tare_reader::line::Cells| row[cell])
    };
    row.map_or((0, 0, 0), |row| (row[0][COUNT], row[0][SUM], errors(row)))
}

#[test]
fn the_line_has_statement_stage_and_wait() {
    let running = start(Rule::Active);
    tare::thread::set_account("alice", "localhost");
    tare::thread::set_processlist_id(7);
    tare::thread::set_db("shop");
    assert!(own(&running).is_none(), "no statement runs");
    let text = "SELECT 'ä', 'text'";
    let statement = tare::statement::start(&OTHER);
    statement.text(text);
    statement.refine(&QUERY);
    tare::stage::set(&STEP);
    let thread = own(&running).expect("a statement runs");
    let now = thread.statement.as_ref().expect("a statement");
    assert_eq!(name(&running, now.head.class), QUERY.name());
    assert_eq!(now.text.as_deref(), Some(text));
    assert!(!now.is_cut && now.head.start.is_some() && now.head.level == 0);
    assert_eq!(name(&running, thread.stage), STEP.name());
    assert_eq!(thread.processlist_id, 7);
    assert_eq!(thread.os_id, tare::thread::os_id());
    assert!(thread.wait.is_none());

    // Waits inside of waits.
    let rows = tare::wait::start(&ROWS, Operation::Fetch);
    let fetch = Some((ROWS.name().to_owned(), Some(Operation::Fetch)));
    assert_eq!(wait_of(&running), fetch);
    let file = tare::file::Instance::open(&FILE, "/now/file");
    let read = file.wait(Operation::Read);
    let (class, object) = own(&running)
        .and_then(|thread| thread.wait)
        .map(|wait| (wait.head.class, wait.object))
        .expect("a wait");
    assert_eq!(name(&running, class), FILE.name());
    let object = tare_reader::instances::object(running.segment.view(), object);
    assert_eq!(object.name.as_deref(), Some("/now/file"));
    drop(read);
    assert_eq!(wait_of(&running), fetch);
    drop(rows);
    assert_eq!(wait_of(&running), None);
    // On what a thread sleeps that waits for a metadata lock.
    let lock = tare::wait::start(&MDL, Operation::MetadataLock);
    let condition = tare::wait::start(&COND, Operation::Wait);
    assert_eq!(
        wait_of(&running).map(|wait| wait.0),
        Some(MDL.name().into())
    );
    drop((condition, lock));
    assert_eq!(wait_of(&running), None);

    // Statements inside of statements.
    let nested = tare::statement::start(&OTHER);
    nested.text("SELECT 'nested'");
    let inner = own(&running).and_then(|thread| thread.statement);
    let inner = inner.expect("a statement");
    assert_eq!(inner.text.as_deref(), Some("SELECT 'nested'"));
    assert_eq!(
        (name(&running, inner.head.class), inner.head.level),
        (OTHER.name().into(), 1)
    );
    nested.error(1064, "42000", "wrong");
    drop(nested);
    let outer = own(&running).and_then(|thread| thread.statement);
    let outer = outer.expect("a statement");
    assert_eq!(outer.text.as_deref(), Some(text));
    assert_eq!(outer.head, now.head);

    let threads = tare_reader::threads(running.segment.view());
    let thread = threads
        .iter()
        .find(|one| one.id == thread.id)
        .expect("it lives");
    assert_eq!(thread.info.as_deref(), Some(text));
    assert_eq!(tare_layout::slot::COMMANDS[thread.command], "Query");
    drop(statement);
    assert!(own(&running).is_none(), "it has ended");
    let (count, sum, errors) = row(&running, ROW);
    assert_eq!((count, errors), (2, 1));
    assert!(sum > 0);
    for other in [
        QUERY.name(),
        OTHER.name(),
        STEP.name(),
        FILE.name(),
        ROWS.name(),
    ] {
        assert_eq!(row(&running, other).0, 0, "{other}");
    }
}

#[test]
fn a_host_that_switches_its_points_begins_an_outermost_statement() {
    const PERIOD: u32 = 3;
    let running = start(Rule::Active);
    let [query, other] = [&QUERY, &OTHER].map(tare::host_lock::class_number);
    let statement_now = || {
        own(&running)
            .and_then(|thread| thread.statement)
            .expect("one")
    };
    let is_first = Outermost::begin(other, PERIOD);
    assert!(is_first.is_none(), "the first of a period");
    let first = tare::statement::start(&OTHER);
    assert!(first.is_active());
    tare::active::note_period(First::Statement, PERIOD);
    assert!(
        Outermost::begin(other, PERIOD).is_none(),
        "another one runs"
    );
    drop(first);
    let control = running.segment.view().control();
    if control.no_cycles.load(Ordering::Relaxed) != 0 {
        assert!(
            Outermost::begin(other, PERIOD).is_none(),
            "no counter times it"
        );
        return;
    }

    let statement = Outermost::begin(other, PERIOD).expect("it begins");
    statement.refine(query);
    statement.text(b"SELECT 1");
    {
        let nested = tare::statement::start(&OTHER);
        nested.text("DO 2");
        statement.refine(other);
        statement.text(b"of the outer one");
        assert_eq!(statement_now().text.as_deref(), Some("DO 2"));
        assert!(Outermost::begin(other, PERIOD).is_none());
    }
    let now = statement_now();
    assert_eq!(name(&running, now.head.class), QUERY.name());
    assert_eq!((now.text.as_deref(), now.is_cut), (Some("SELECT 1"), false));
    statement.end(true);
    assert!(own(&running).is_none(), "it has ended");
    let (count, sum, errors) = row(&running, ROW);
    assert_eq!((count, errors), (3, 1));
    assert!(sum != 0);
    assert!(
        Outermost::begin(other, PERIOD + 2).is_none(),
        "another period"
    );

    // It ends at another level, and is counted as it began.
    let statement = Outermost::begin(other, PERIOD).expect("it begins");
    set(&running, Rule::Every);
    statement.end(false);
    assert!(Outermost::begin(other, PERIOD).is_none(), "another level");
    assert_eq!(row(&running, ROW).0, 4);
}

#[test]
fn a_statement_that_is_discarded_is_not_counted() {
    let running = start(Rule::Active);
    let statement = tare::statement::start(&QUERY);
    assert!(own(&running).is_some());
    statement.discard();
    assert!(own(&running).is_none());
    assert_eq!(row(&running, ROW).0, 0);
}

#[test]
fn the_wait_for_a_lock_is_in_the_line() {
    let running = start(Rule::Active);
    let lock = Mutex::new(&LOCK, ());
    let held = lock.lock();
    assert_eq!(
        own(&running).and_then(|thread| thread.wait).map(|_| ()),
        None
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            let _statement = tare::statement::start(&QUERY);
            drop(lock.lock());
        });
        let waits = || {
            let threads = active_threads(running.segment.view()).active;
            let wait = threads.into_iter().find_map(|thread| thread.wait)?;
            Some((name(&running, wait.head.class), wait.operation))
        };
        while waits() != Some((LOCK.name().into(), Some(Operation::Lock))) {
            thread::yield_now();
        }
        let mut scheduler = Scheduler::new(std::process::id());
        let mut state = || {
            let threads = active_threads(running.segment.view()).active;
            let mut waiting = threads.into_iter().find(|thread| thread.wait.is_some())?;
            Some(
                scheduler
                    .observe(running.segment.view(), &mut waiting)
                    .state,
            )
        };
        // It may spin at first, but it is never blocked without a name.
        while state() != Some(State::Waiting) {
            assert_ne!(state(), Some(State::Blocked));
            thread::yield_now();
        }
        drop(held);
    });
    assert_eq!(row(&running, LOCK.name()).0, 0, "nothing was counted");
}

/// The session that runs `text`, as soon as it is in `wait`.
fn wait_for_session(reader: &mut SessionReader, text: &str, wait: &str) -> Session {
    loop {
        let active = reader.read().active;
        let is_it = |session: &&Session| {
            session.text().map(|text| &**text) == Some(text)
                && session.wait.as_deref() == Some(wait)
        };
        if let Some(session) = active.iter().find(is_it) {
            return session.clone();
        }
        thread::yield_now();
    }
}

#[test]
fn sessions_have_names_at_every_level() {
    for rule in [Rule::Active, Rule::Every] {
        let _running = start(rule);
        let descriptor = tare::descriptor().expect("runs");
        let segment = Arc::new(Segment::own(descriptor).expect("attaches"));
        let mut reader = SessionReader::new(segment);
        let lock = Mutex::new(&LOCK, ());
        let held = lock.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                // The reader did not know these names when it began.
                tare::thread::register(&WORKER);
                tare::thread::set_account("bob", "10.0.0.7");
                tare::thread::set_processlist_id(8);
                tare::thread::set_db("stock");
                let statement = tare::statement::start(&QUERY);
                statement.text("SELECT 'locked'");
                tare::stage::set(&STEP);
                drop(lock.lock());
            });
            let session = wait_for_session(&mut reader, "SELECT 'locked'", LOCK.name());
            drop(held);
            assert_eq!(session.instrument.as_deref(), Some(WORKER.name()));
            assert_eq!(session.processlist_id, Some(8));
            assert_eq!(session.user.as_deref(), Some("bob"));
            assert_eq!(session.host.as_deref(), Some("10.0.0.7"));
            assert_eq!(session.schema.as_deref(), Some("stock"));
            assert_eq!(session.command, Some("Daemon"));
            assert_eq!(session.statement.as_deref(), Some(QUERY.name()));
            assert_eq!(session.stage.as_deref(), Some(STEP.name()));
            assert_eq!(session.operation, Some("lock"));
            assert!(
                session.statement_ns.is_some()
                    && session.wait_ns.is_some_and(|ns| ns > 0) == (rule == Rule::Every)
            );
            let address = session.object.expect("the lock's address");
            assert!(address.starts_with("0x"), "{address}");
            assert!(session.activity.is_some());
        });
        let statement = tare::statement::start(&QUERY);
        statement.text("SELECT 'read'");
        let file = tare::file::Instance::open(&FILE, "/now/file");
        let read = file.wait(Operation::Read);
        let session = wait_for_session(&mut reader, "SELECT 'read'", FILE.name());
        assert_eq!(session.object.as_deref(), Some("/now/file"));
        drop((read, statement));
        assert!(reader.read().active.is_empty());
    }
}

/// One of everything, with two rows.
fn work(file: &tare::file::Instance, lock: &Mutex<u64>) {
    let transaction = tare::transaction::start(&TRANSACTION, Default::default());
    let statement = tare::statement::start(&QUERY);
    statement.text("SELECT 1");
    tare::stage::set(&STEP);
    *lock.lock() += 1;
    drop(file.wait(Operation::Read));
    statement.rows_sent(2);
    drop(statement);
    transaction.commit();
}

/// Rounds at known levels: each exact one counts everything, the others nothing but statements.
#[test]
fn levels_alternate_and_exact_ones_stay_exact() {
    const THREADS: usize = 3;
    const ROUNDS: usize = 12;
    const EACH: usize = 200;
    let running = start(Rule::Every);
    let levels = [Rule::Every, Rule::Active, Rule::OneIn(16), Rule::Active];
    let barrier = Barrier::new(THREADS + 1);
    let lock = Mutex::new(&LOCK, 0_u64);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let file = tare::file::Instance::open(&FILE, "/now/file");
                for _ in 0..ROUNDS {
                    barrier.wait();
                    (0..EACH).for_each(|_| work(&file, &lock));
                    barrier.wait();
                }
            });
        }
        let counts = || {
            let names = [FILE.name(), LOCK.name(), STEP.name(), TRANSACTION.name()];
            names.map(|name| row(&running, name).0)
        };
        let (mut exact, mut active) = (0, 0);
        for round in 0..ROUNDS {
            let level = levels[round % levels.len()];
            set(&running, level);
            let before = counts();
            barrier.wait();
            barrier.wait();
            let gains: Vec<u64> = counts()
                .iter()
                .zip(before)
                .map(|(now, then)| now - then)
                .collect();
            let all = (THREADS * EACH) as u64;
            match level {
                Rule::Every => assert_eq!(gains, [all; 4], "round {round}"),
                Rule::Active => assert_eq!(gains, [0; 4], "round {round}"),
                _ => {}
            }
            match level {
                Rule::Active => active += all,
                _ => exact += all,
            }
            let (line, cell) = counter_cell(Counter::RowsSent as usize);
            let totals = running.global();
            let query = totals.row(running.class(QUERY.name())).expect("it ran");
            assert_eq!((query[0][COUNT], query[line][cell]), (exact, 2 * exact));
            assert_eq!(row(&running, ROW).0, active);
        }
    });
}

/// Levels change at any time: no statement is lost or counted twice, and no wait stays behind.
#[test]
fn levels_change_under_load() {
    const THREADS: usize = 3;
    let running = start(Rule::Every);
    let (done, total) = (AtomicBool::new(false), AtomicU64::new(0));
    let lock = Mutex::new(&LOCK, 0_u64);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let file = tare::file::Instance::open(&FILE, "/now/file");
                while !done.load(Ordering::Relaxed) {
                    work(&file, &lock);
                    total.fetch_add(1, Ordering::Relaxed);
                }
                // Its line is seen as it was left.
                let outer = tare::statement::start(&QUERY);
                assert!(own(&running).and_then(|thread| thread.wait).is_none());
                drop(outer);
                total.fetch_add(1, Ordering::Relaxed);
            });
        }
        for round in 0..200 {
            let rules = [Rule::Active, Rule::Every, Rule::Active, Rule::OneIn(4)];
            set(&running, rules[round % rules.len()]);
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    let (exact, active) = (row(&running, QUERY.name()).0, row(&running, ROW).0);
    assert_eq!(exact + active, total.load(Ordering::Relaxed));
    assert!(exact > 0 && active > 0, "{exact} and {active}");
    let (line, cell) = counter_cell(Counter::RowsSent as usize);
    let totals = running.global();
    let query = totals.row(running.class(QUERY.name())).expect("it ran");
    // The last statements have no rows.
    assert_eq!(query[line][cell], 2 * (exact - THREADS as u64));
}

/// The level is one of all types, and leaves their rules in place.
#[test]
fn rules_return_when_the_level_ends() {
    let running = start(Rule::Every);
    let control = running.segment.view().control();
    let rules = || {
        (0..GROUPS)
            .map(|group| control.rule(group))
            .collect::<Vec<_>>()
    };
    let set = |group, rule| running.segment.set_sampling(group, rule).expect("set");
    set(1, Rule::OneIn(8));
    set(2, Rule::Budget(500));
    let before = rules();
    set(3, Rule::Active);
    assert_eq!(rules(), [Rule::Active; GROUPS]);
    set(0, Rule::OneIn(2));
    assert_eq!(rules()[0], Rule::OneIn(2));
    assert_eq!(rules()[1..], before[1..]);
}

/// Names the segment of a child of [`a_killed_process_leaves_its_lines`].
const CHILD: &str = "TARE_TEST_ACTIVE_CHILD";

/// Not a test of its own: the program that is killed.
#[test]
fn killed_process() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    tare::start(
        Config::everything()
            .segment(path)
            .sampling(tare::Sampling::default().rules([Rule::Active; GROUPS])),
    )
    .expect("starts");
    tare::watch_settings();
    let file = tare::file::Instance::open(&FILE, "/now/file");
    // The first ones run before settings are followed.
    loop {
        let statement = tare::statement::start(&QUERY);
        statement.text("SELECT 'last words'");
        tare::stage::set(&STEP);
        let _wait = file.wait(Operation::Sync);
        thread::sleep(std::time::Duration::from_millis(20));
    }
}

struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_process_leaves_its_lines() {
    let path: PathBuf =
        std::env::temp_dir().join(format!("tare-active-{}.segment", std::process::id()));
    let mut child = KillOnDrop(
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "killed_process", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts"),
    );
    let wait = |segment: &Segment| {
        let thread = active_threads(segment.view()).active.into_iter().next()?;
        let (statement, wait) = (thread.statement?, thread.wait?);
        Some((statement.text?.to_string(), wait.operation, thread.os_id))
    };
    let attach = || Segment::attach(Target::Path(path.clone())).ok();
    let running = loop {
        if let Some(now) = attach().as_ref().and_then(wait) {
            break now;
        }
        assert!(
            child.0.try_wait().expect("a child").is_none(),
            "it has ended"
        );
        thread::yield_now();
    };
    assert_eq!(
        (running.0.as_str(), running.1),
        ("SELECT 'last words'", Some(Operation::Sync))
    );
    child.0.kill().expect("killed");
    assert_eq!(child.0.wait().expect("it ends").signal(), Some(9));
    let segment = attach().expect("the segment is there");
    std::fs::remove_file(&path).expect("removed");
    // Between two statements, if it was killed just then.
    if let Some(last) = wait(&segment) {
        assert_eq!(last, running);
    }
    let threads = tare_reader::threads(segment.view());
    assert!(threads.iter().any(|thread| thread.os_id == running.2));
}
