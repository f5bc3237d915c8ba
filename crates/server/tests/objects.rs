//! Summaries of tables and programs, and tables of handles, locks and prepared statements.

#![cfg(feature = "instrument")]

mod support;

use support::{Running, start};
use tare::program::Program;
use tare::table::{Classes, Table};
use tare::{
    Config, Counter, LockDuration, LockStatus, LockType, Namespace, ObjectType, Operation,
    TableLock,
};

tare::classes! {
    static IO: TableIo = "wait/io/table/test/handler";
    static LOCK: TableLock = "wait/lock/table/test/handler";
    static MDL: MetadataLock = "wait/lock/metadata/test/mdl";
    static SELECT: Statement = "statement/sql/select";
    static PREPARE: Statement = "statement/com/Prepare";
    static EXECUTE: Statement = "statement/com/Execute";
    static WORKER: Thread = "thread/test/worker";
}

const CLASSES: Classes = Classes {
    io: &IO,
    lock: &LOCK,
};

fn orders() -> Table {
    Table::new(CLASSES, "shop", "orders", &["PRIMARY", "by_date"])
}

/// Two fetches by index, three rows inserted, one updated, one deleted; and locks.
fn work(table: &Table) {
    let mut handle = table.open();
    handle.locked(TableLock::ReadExternal);
    handle.io(Operation::Fetch, Some(0)).rows(10);
    handle.io(Operation::Fetch, Some(1)).rows(5);
    handle.unlocked();
    drop(handle.lock(TableLock::WriteExternal));
    handle.holds(TableLock::WriteExternal);
    handle.io(Operation::Insert, None).rows(3);
    drop(handle.io(Operation::Update, Some(0)));
    drop(handle.io(Operation::DeleteRow, Some(0)));
    handle.unlocked();
}

const BY_TABLE: &str = "SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_STAR, COUNT_READ, COUNT_WRITE, \
    COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE FROM \
    performance_schema.table_io_waits_summary_by_table ORDER BY 1, 2";
const BY_INDEX: &str = "SELECT INDEX_NAME, COUNT_STAR, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, \
    COUNT_DELETE FROM performance_schema.table_io_waits_summary_by_index_usage \
    WHERE OBJECT_NAME = 'orders' ORDER BY INDEX_NAME";
const BY_LOCK: &str = "SELECT COUNT_STAR, COUNT_READ, COUNT_WRITE, COUNT_READ_EXTERNAL, \
    COUNT_WRITE_EXTERNAL, COUNT_READ_NORMAL FROM \
    performance_schema.table_lock_waits_summary_by_table WHERE OBJECT_NAME = 'orders'";
const BY_OBJECT: &str = "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, COUNT_STAR FROM \
    performance_schema.objects_summary_global_by_type ORDER BY OBJECT_NAME";

#[test]
fn rows_and_locks_are_counted_by_table_and_index() {
    let r = start(Config::everything());
    let table = orders();
    work(&table);
    work(&table);
    // 10 + 5 + 3 + 1 + 1 rows, twice; 2 locks, twice.
    assert_eq!(r.rows(BY_TABLE), ["shop orders 40 30 10 30 6 2 2"]);
    assert_eq!(
        r.rows(BY_INDEX),
        [
            "NULL 6 0 6 0 0",
            "by_date 10 10 0 0 0",
            "PRIMARY 24 20 0 2 2"
        ]
    );
    assert_eq!(r.one(BY_LOCK), "4 2 2 2 2 0");
    assert_eq!(r.rows(BY_OBJECT), ["TABLE shop orders 44"]);
    // The summary by event name counts rows and locks, too.
    let by_name = "SELECT EVENT_NAME, COUNT_STAR FROM \
        performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME IN \
        ('wait/io/table/test/handler', 'wait/lock/table/test/handler') ORDER BY 1";
    assert_eq!(
        r.rows(by_name),
        [
            "wait/io/table/test/handler 40",
            "wait/lock/table/test/handler 4"
        ]
    );
    let times = "SELECT SUM_TIMER_WAIT > 0, MIN_TIMER_WAIT <= AVG_TIMER_WAIT, \
        AVG_TIMER_WAIT <= MAX_TIMER_WAIT, ABS(SUM_TIMER_WAIT - SUM_TIMER_READ - SUM_TIMER_WRITE) <= 2 \
        FROM performance_schema.table_io_waits_summary_by_table";
    assert_eq!(r.one(times), "1 1 1 1");
    let event = "SELECT OPERATION, OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, \
        NUMBER_OF_BYTES FROM performance_schema.events_waits_history_long WHERE EVENT_NAME = \
        'wait/io/table/test/handler' ORDER BY EVENT_ID LIMIT 3";
    assert_eq!(
        r.rows(event),
        [
            "fetch TABLE shop orders PRIMARY 10",
            "fetch TABLE shop orders by_date 5",
            "insert TABLE shop orders NULL 3"
        ]
    );
}

#[test]
fn each_way_to_lock_a_table_has_its_columns() {
    let r = start(Config::everything());
    let table = orders();
    for (i, lock) in tare_layout::object::TableLock::ALL.iter().enumerate() {
        (0..=i).for_each(|_| table.locked(*lock));
    }
    let counts = "SELECT COUNT_READ_NORMAL, COUNT_READ_WITH_SHARED_LOCKS, COUNT_READ_HIGH_PRIORITY, \
        COUNT_READ_NO_INSERT, COUNT_WRITE_ALLOW_WRITE, COUNT_WRITE_CONCURRENT_INSERT, \
        COUNT_WRITE_LOW_PRIORITY, COUNT_WRITE_NORMAL, COUNT_READ_EXTERNAL, COUNT_WRITE_EXTERNAL, \
        COUNT_READ, COUNT_WRITE, COUNT_STAR FROM \
        performance_schema.table_lock_waits_summary_by_table";
    assert_eq!(r.one(counts), "1 2 3 4 5 6 7 8 9 10 19 36 55");
}

#[test]
fn truncate_resets_a_table_of_objects() {
    let r = start(Config::everything());
    let table = orders();
    work(&table);
    r.truncate("table_io_waits_summary_by_table");
    assert_eq!(r.rows(BY_TABLE), ["shop orders 0 0 0 0 0 0 0"]);
    assert_eq!(
        r.rows(BY_INDEX),
        ["NULL 0 0 0 0 0", "by_date 0 0 0 0 0", "PRIMARY 0 0 0 0 0"]
    );
    assert_eq!(r.one(BY_LOCK), "2 1 1 1 1 0");
    work(&table);
    assert_eq!(r.rows(BY_TABLE), ["shop orders 20 15 5 15 3 1 1"]);
    r.truncate("table_lock_waits_summary_by_table");
    assert_eq!(r.one(BY_LOCK), "0 0 0 0 0 0");
    assert_eq!(r.rows(BY_OBJECT), ["TABLE shop orders 20"]);
    r.truncate("objects_summary_global_by_type");
    assert_eq!(r.rows(BY_OBJECT), ["TABLE shop orders 0"]);
    work(&table);
    assert_eq!(r.rows(BY_OBJECT), ["TABLE shop orders 22"]);
}

#[test]
fn dropping_a_table_removes_its_figures_and_altering_resets_them() {
    let r = start(Config::everything());
    let table = orders();
    work(&table);
    let altered = Table::new(CLASSES, "shop", "orders", &["PRIMARY"]);
    assert_eq!(r.rows(BY_TABLE), ["shop orders 0 0 0 0 0 0 0"]);
    drop(altered.io(Operation::Fetch, Some(0)));
    // The row without an index appears when an operation has used none.
    assert_eq!(r.rows(BY_INDEX), ["PRIMARY 1 1 0 0 0"]);
    tare::table::dropped("shop", "orders");
    assert!(r.rows(BY_TABLE).is_empty());
    assert!(r.rows(BY_INDEX).is_empty());
    assert_eq!(orders().open().table().locked(TableLock::Read), ());
    assert_eq!(r.rows(BY_TABLE), ["shop orders 0 0 0 0 0 0 0"]);
}

#[test]
fn handles_list_open_tables_and_their_owners() {
    let r = start(Config::everything());
    let handles = "SELECT h.OBJECT_TYPE, h.OBJECT_SCHEMA, h.OBJECT_NAME, h.OWNER_THREAD_ID, \
        INTERNAL_LOCK, EXTERNAL_LOCK FROM performance_schema.table_handles h ORDER BY 4";
    let id = tare::thread::id();
    let table = orders();
    assert!(r.rows(handles).is_empty());
    let mut handle = table.open();
    let row =
        |internal: &str, external: &str| format!("TABLE shop orders {id} {internal} {external}");
    assert_eq!(r.rows(handles), [row("NULL", "NULL")]);
    handle.locked(TableLock::WriteConcurrentInsert);
    handle.locked(TableLock::WriteExternal);
    assert_eq!(
        r.rows(handles),
        [row("WRITE CONCURRENT INSERT", "WRITE EXTERNAL")]
    );
    handle.unlocked();
    handle.unlocked_internally();
    assert_eq!(r.rows(handles), [row("NULL", "NULL")]);
    handle.unbind();
    assert_eq!(r.rows(handles), ["TABLE shop orders NULL NULL NULL"]);
    let second = table.open();
    assert_eq!(r.rows(handles).len(), 2);
    drop((handle, second));
    assert!(r.rows(handles).is_empty());
}

/// The tables that are counted and timed by setup_objects, when each fetches one row.
fn counted(r: &Running, tables: &[Table]) -> Vec<String> {
    r.truncate("table_io_waits_summary_by_table");
    for table in tables {
        drop(table.io(Operation::Fetch, None));
    }
    r.rows(
        "SELECT OBJECT_NAME, COUNT_STAR, SUM_TIMER_WAIT > 0 FROM \
         performance_schema.table_io_waits_summary_by_table WHERE COUNT_STAR > 0 ORDER BY 1",
    )
}

#[test]
fn setup_objects_applies_to_existing_tables() {
    let r = start(Config::everything());
    let table = |schema, name| Table::new(CLASSES, schema, name, &[]);
    let tables = [
        table("shop", "orders"),
        table("shop", "items"),
        table("mysql", "user"),
    ];
    // Tables of schema mysql are listed, but not counted by default.
    assert_eq!(counted(&r, &tables), ["items 1 1", "orders 1 1"]);
    assert_eq!(r.rows(BY_TABLE).len(), 3);
    let all = "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, ENABLED, TIMED FROM \
        performance_schema.setup_objects WHERE OBJECT_TYPE = 'TABLE' ORDER BY OBJECT_SCHEMA";
    assert_eq!(
        r.rows(all),
        [
            "TABLE % % YES YES",
            "TABLE information_schema % NO NO",
            "TABLE mysql % NO NO",
            "TABLE performance_schema % NO NO"
        ]
    );
    assert_eq!(
        r.number("SELECT COUNT(*) FROM performance_schema.setup_objects"),
        20
    );
    let set = |sql: &str| {
        r.execute(&sql.replace("setup", "performance_schema.setup"))
            .unwrap()
    };
    set("INSERT INTO setup_objects VALUES ('TABLE', 'shop', '%', 'YES', 'NO')");
    assert_eq!(counted(&r, &tables), ["items 1 0", "orders 1 0"]);
    set("INSERT INTO setup_objects (OBJECT_SCHEMA, OBJECT_NAME) VALUES ('shop', 'items')");
    assert_eq!(counted(&r, &tables), ["items 1 1", "orders 1 0"]);
    set("UPDATE setup_objects SET ENABLED = 'NO' WHERE OBJECT_NAME = 'items'");
    assert_eq!(counted(&r, &tables), ["orders 1 0"]);
    // Rules apply to tables that are created later.
    let late = [table("shop", "late"), table("other", "late2")];
    assert_eq!(counted(&r, &late), ["late 1 0", "late2 1 1"]);
    tare::table::dropped("shop", "late");
    tare::table::dropped("other", "late2");
    set("DELETE FROM setup_objects WHERE OBJECT_SCHEMA = 'shop'");
    set("UPDATE setup_objects SET ENABLED = 'YES', TIMED = 'YES' WHERE OBJECT_SCHEMA = 'mysql'");
    assert_eq!(
        counted(&r, &tables),
        ["items 1 1", "orders 1 1", "user 1 1"]
    );
    r.truncate("setup_objects");
    assert!(counted(&r, &tables).is_empty());
    assert!(r.rows(all).is_empty());
    // Rules of another type do not apply to tables.
    set("INSERT INTO setup_objects VALUES ('PROCEDURE', '%', '%', 'YES', 'YES')");
    assert!(counted(&r, &tables).is_empty());
    set("INSERT INTO setup_objects (OBJECT_TYPE) VALUES ('TABLE')");
    assert_eq!(counted(&r, &tables).len(), 3);
}

#[test]
fn wrong_rules_are_refused() {
    let r = start(Config::everything());
    let insert = |values: &str| {
        let sql = format!("INSERT INTO performance_schema.setup_objects VALUES ({values})");
        r.execute(&sql).map_err(|e| e.code)
    };
    assert_eq!(insert("'TABLE', 'mysql', '%', 'YES', 'YES'"), Err(1022));
    assert_eq!(insert("'VIEW', 'mysql', '%', 'YES', 'YES'"), Err(1265));
    assert_eq!(insert("'TABLE', 'a', '%', 'MAYBE', 'YES'"), Err(1265));
    let long = "x".repeat(65);
    assert_eq!(
        insert(&format!("'TABLE', '{long}', '%', 'YES', 'YES'")),
        Err(1406)
    );
    for i in 20..100 {
        assert_eq!(
            insert(&format!("'TABLE', 's{i}', '%', 'YES', 'YES'")),
            Ok(1)
        );
    }
    assert_eq!(insert("'TABLE', 's100', '%', 'YES', 'YES'"), Err(1114));
}

#[test]
fn metadata_locks_list_held_and_pending_locks() {
    let r = start(Config::everything());
    let locks = "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, COLUMN_NAME, LOCK_TYPE, \
        LOCK_DURATION, LOCK_STATUS, OWNER_THREAD_ID FROM performance_schema.metadata_locks \
        ORDER BY OBJECT_NAME";
    let id = tare::thread::id();
    let mut lock = tare::metadata::MetadataLock::new(&MDL, Namespace::Table, "shop", "orders");
    let global = "SELECT COUNT_STAR FROM \
        performance_schema.events_waits_summary_global_by_event_name \
        WHERE EVENT_NAME = 'wait/lock/metadata/test/mdl'";
    assert!(r.rows(locks).is_empty());
    lock.granted(LockType::SharedRead, LockDuration::Transaction);
    let row = |kind: &str, status: &str| [format!("TABLE shop orders NULL {kind} {status} {id}")];
    assert_eq!(r.rows(locks), row("SHARED_READ", "TRANSACTION GRANTED"));
    assert_eq!(r.number(global), 0);
    {
        let _wait = lock.wait(LockType::Exclusive, LockDuration::Statement);
        assert_eq!(r.rows(locks), row("EXCLUSIVE", "STATEMENT PENDING"));
        let current = "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, OPERATION FROM \
            performance_schema.events_waits_current WHERE EVENT_NAME = 'wait/lock/metadata/test/mdl'";
        assert_eq!(r.rows(current), ["TABLE shop orders metadata lock"]);
    }
    assert_eq!(r.number(global), 1);
    lock.failed(LockStatus::Timeout);
    assert_eq!(r.rows(locks), row("EXCLUSIVE", "STATEMENT TIMEOUT"));
    lock.released();
    assert!(r.rows(locks).is_empty());
    let mut column = tare::metadata::MetadataLock::of_column(
        &MDL,
        Namespace::ColumnStatistics,
        "shop",
        "orders",
        "price",
    );
    column.granted(LockType::Exclusive, LockDuration::Explicit);
    assert_eq!(
        r.rows(locks),
        [format!(
            "COLUMN STATISTICS shop orders price EXCLUSIVE EXPLICIT GRANTED {id}"
        )]
    );
    drop(column);
    let mut everything = tare::metadata::MetadataLock::new(&MDL, Namespace::Global, "", "");
    everything.granted(LockType::IntentionExclusive, LockDuration::Statement);
    assert_eq!(
        r.rows(locks),
        [format!(
            "GLOBAL NULL NULL NULL INTENTION_EXCLUSIVE STATEMENT GRANTED {id}"
        )]
    );
}

const PREPARED: &str = "SELECT STATEMENT_ID, STATEMENT_NAME, SQL_TEXT, TIMER_PREPARE > 0, \
    COUNT_REPREPARE, COUNT_EXECUTE, SUM_TIMER_EXECUTE > 0, SUM_ROWS_SENT, SUM_ERRORS, \
    OWNER_OBJECT_NAME FROM performance_schema.prepared_statements_instances ORDER BY 1";

#[test]
fn prepared_statements_sum_their_executions() {
    let r = start(Config::everything());
    let prepare = |id: u64, name: Option<&str>, text: &str| {
        let statement = tare::statement::start(&PREPARE);
        let prepared = tare::prepared::Prepared::new(id, name, text);
        statement.prepares(&prepared);
        prepared
    };
    let one = prepare(1, None, "SELECT c FROM t WHERE id = ?");
    let named = prepare(2, Some("stmt"), "SELECT 1");
    for rows in 1..=4 {
        let statement = tare::statement::start(&EXECUTE);
        statement.executes(&one);
        statement.rows_sent(rows);
        if rows == 4 {
            statement.error(1064, "42000", "no");
        }
    }
    one.reprepared();
    assert_eq!(
        r.rows(PREPARED),
        [
            "1 NULL SELECT c FROM t WHERE id = ? 1 1 4 1 10 1 NULL",
            "2 stmt SELECT 1 1 0 0 0 0 0 NULL"
        ]
    );
    r.truncate("prepared_statements_instances");
    assert_eq!(
        r.rows(PREPARED),
        [
            "1 NULL SELECT c FROM t WHERE id = ? 0 0 0 0 0 0 NULL",
            "2 stmt SELECT 1 0 0 0 0 0 0 NULL"
        ]
    );
    let statement = tare::statement::start(&EXECUTE);
    statement.executes(&one);
    statement.rows_sent(2);
    drop(statement);
    drop(named);
    assert_eq!(
        r.rows(PREPARED),
        ["1 NULL SELECT c FROM t WHERE id = ? 0 0 1 1 2 0 NULL"]
    );
    let owner = "SELECT OWNER_THREAD_ID FROM performance_schema.prepared_statements_instances";
    assert_eq!(r.one(owner), tare::thread::id().to_string());
    drop(one);
    assert!(r.rows(PREPARED).is_empty());
}

const PROGRAMS: &str = "SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, COUNT_STAR, \
    SUM_TIMER_WAIT > 0, COUNT_STATEMENTS, SUM_STATEMENTS_WAIT > 0, SUM_ROWS_SENT, SUM_ERRORS \
    FROM performance_schema.events_statements_summary_by_program ORDER BY OBJECT_NAME";

static OUTER: Program = Program::new(ObjectType::Procedure, "shop", "a_outer");

fn call(rows: u64) {
    let _call = OUTER.start();
    let statement = tare::statement::start(&SELECT);
    statement.set(Counter::RowsSent, rows);
    drop(statement);
    let inner = Program::new(
        ObjectType::Function,
        "shop".to_owned(),
        "b_inner".to_owned(),
    );
    {
        let _call = inner.start();
        drop(tare::statement::start(&SELECT));
        tare::statement::start(&SELECT).error(1146, "42S02", "no table");
    }
    drop(tare::statement::start(&SELECT));
}

#[test]
fn programs_sum_their_calls_and_statements() {
    let r = start(Config::everything());
    call(3);
    call(4);
    drop(tare::statement::start(&SELECT));
    assert_eq!(
        r.rows(PROGRAMS),
        [
            "PROCEDURE shop a_outer 2 1 4 1 7 0",
            "FUNCTION shop b_inner 2 1 4 1 0 2"
        ]
    );
    assert_eq!(
        r.rows(BY_OBJECT),
        ["PROCEDURE shop a_outer 2", "FUNCTION shop b_inner 2"]
    );
    r.truncate("events_statements_summary_by_program");
    call(5);
    assert_eq!(
        r.rows(PROGRAMS),
        [
            "PROCEDURE shop a_outer 1 1 2 1 5 0",
            "FUNCTION shop b_inner 1 1 2 1 0 1"
        ]
    );
    r.execute(
        "UPDATE performance_schema.setup_objects SET ENABLED = 'NO' WHERE OBJECT_TYPE = 'FUNCTION'",
    )
    .unwrap();
    assert_eq!(r.rows(PROGRAMS), ["PROCEDURE shop a_outer 1 1 2 1 5 0"]);
    call(1);
    r.execute(
        "UPDATE performance_schema.setup_objects SET ENABLED = 'YES' WHERE OBJECT_TYPE = 'FUNCTION'",
    )
    .unwrap();
    assert_eq!(
        r.rows(PROGRAMS),
        [
            "PROCEDURE shop a_outer 2 1 4 1 6 0",
            "FUNCTION shop b_inner 1 1 2 1 0 1"
        ]
    );
    Program::new(ObjectType::Function, "shop", "b_inner").dropped();
    assert_eq!(r.rows(PROGRAMS).len(), 1);
    Program::new(ObjectType::Function, "shop", "c_known").list();
    assert_eq!(r.rows(PROGRAMS)[1], "FUNCTION shop c_known 0 0 0 0 0 0");
}

/// With more objects than a thread has rows for, threads that start and end, and merged banks, counts stay
/// exact.
#[test]
fn rows_of_objects_are_exact_while_threads_come_and_go() {
    const TABLES: usize = 60;
    const ROUNDS: usize = 300;
    let r = start(Config::everything().limits(tare::Limits::default().threads(12).accounts(16)));
    let names: Vec<String> = (0..TABLES).map(|i| format!("t{i:02}")).collect();
    let tables: Vec<Table> = names
        .iter()
        .map(|name| Table::new(CLASSES, "shop", name, &["PRIMARY", "k"]))
        .collect();
    // Two accounts leave so many banks that later threads have to merge some.
    for crowd in ["crowd", "another crowd"] {
        let mut sessions: Vec<_> = (0..10)
            .map(|_| tare::thread::ThreadSession::new(&WORKER))
            .collect();
        for session in &mut sessions {
            session.run(|| {
                tare::thread::set_account(crowd, "localhost");
                drop(tare::statement::start(&SELECT));
            })
        }
    }
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let tables = &tables;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let mut session = tare::thread::ThreadSession::new(&WORKER);
                    session.run(|| {
                        let user = format!("user{}", (round * 3 + worker) % 12);
                        tare::thread::set_account(&user, "localhost");
                        for table in tables {
                            table.io(Operation::Fetch, Some(0)).rows(2);
                            table.io(Operation::Update, Some(1)).rows(1);
                            table.locked(TableLock::ReadExternal);
                        }
                        let _call = OUTER.start();
                        tare::statement::start(&SELECT).rows_sent(2);
                    })
                }
            });
        }
    });
    let times = 3 * ROUNDS;
    let merges = &r.attached.view().shared().merge_sequence.0;
    let merges = merges.load(std::sync::atomic::Ordering::Relaxed) / 2;
    assert!(
        merges > 0,
        "no banks were merged: the test tests less than it should"
    );
    let io: Vec<String> = names
        .iter()
        .map(|name| format!("{name} {} {times}", 2 * times))
        .collect();
    let counts = r.rows(
        "SELECT OBJECT_NAME, COUNT_FETCH, COUNT_UPDATE FROM \
         performance_schema.table_io_waits_summary_by_table ORDER BY 1",
    );
    assert_eq!(counts, io);
    let counts = r.rows(
        "SELECT DISTINCT COUNT_STAR, COUNT_READ_EXTERNAL FROM \
         performance_schema.table_lock_waits_summary_by_table",
    );
    assert_eq!(counts, [format!("{times} {times}")]);
    assert_eq!(
        r.rows(PROGRAMS),
        [format!(
            "PROCEDURE shop a_outer {times} 1 {times} 1 {} 0",
            2 * times
        )]
    );
    let lost = "SELECT SUM(VARIABLE_VALUE) FROM performance_schema.global_status \
                WHERE VARIABLE_NAME LIKE 'Performance_schema%lost' OR VARIABLE_NAME LIKE 'Tare%lost'";
    assert_eq!(r.number(lost), 0);
}

#[test]
fn objects_beyond_the_limits_are_counted_as_lost() {
    let r = start(
        Config::everything().limits(
            tare::Limits::default()
                .objects(4)
                .indexes(2)
                .table_handles(2)
                .metadata_locks(2)
                .prepared_statements(2)
                .sockets(2),
        ),
    );
    let names = ["a", "b", "c", "d", "e", "f"];
    let tables = names.map(|name| Table::new(CLASSES, "shop", name, &["PRIMARY"]));
    let handles = tables.each_ref().map(|table| table.open());
    for table in &tables {
        drop(table.io(Operation::Fetch, Some(0)));
    }
    let locks = names.map(|name| {
        let mut lock = tare::metadata::MetadataLock::new(&MDL, Namespace::Table, "shop", name);
        lock.granted(LockType::Shared, LockDuration::Statement);
        lock
    });
    let prepared = names.map(|name| tare::prepared::Prepared::new(1, None, name));
    let _call = OUTER.start();
    let lost = |name: &str| {
        r.number(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
             WHERE VARIABLE_NAME = 'Performance_schema_{name}_lost'"
        ))
    };
    assert_eq!(lost("table_instances"), 2);
    assert_eq!(lost("program"), 1);
    assert_eq!(lost("index_stat"), 2);
    assert_eq!(lost("table_handles"), 2);
    assert_eq!(lost("metadata_lock"), 4);
    assert_eq!(lost("prepared_statements"), 4);
    // A table's io is counted without an entry for its index, too, and all io by event name.
    assert_eq!(
        r.rows("SELECT COUNT_STAR FROM performance_schema.table_io_waits_summary_by_table"),
        ["1"; 4]
    );
    let all = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
               WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.number(all), 6);
    drop((handles, locks, prepared));
}
