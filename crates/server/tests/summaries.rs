//! Summaries by thread, account, user and host, compared with independent counts; and TRUNCATE.

#![cfg(feature = "instrument")]

mod support;

use std::sync::{Barrier, Condvar, Mutex};

use support::{Running, start};
use tare::{Config, Operation};

tare::classes! {
    static TABLE: TableIo = "wait/io/table/test/handler";
    static STAGE: Stage = "stage/test/One";
    static SELECT: Statement = "statement/sql/select";
    static TRX: Transaction = "transaction";
    static MEMORY: Memory = "memory/test/buffer";
    static WORKER: Thread = "thread/test/worker";
}

/// Three accounts: alice from two hosts, bob from one.
const WHO: [(&str, &str, usize); 3] = [("alice", "h1", 1), ("alice", "h2", 2), ("bob", "h1", 4)];

/// The work of an account's thread: `n` of each kind of event.
fn work(n: usize) {
    for i in 0..n {
        drop(tare::table::wait(&TABLE, Operation::Fetch));
        let mode = tare::transaction::Mode {
            read_only: i % 2 == 1,
            ..Default::default()
        };
        let transaction = tare::transaction::start(&TRX, mode);
        let statement = tare::statement::start(&SELECT);
        statement.text("SELECT 1");
        statement.rows_sent(10);
        tare::stage::set(&STAGE);
        drop(statement);
        transaction.commit();
        tare::memory::allocated(&MEMORY, 100);
        tare::error::raised(1064);
        tare::error::handled(1146);
    }
    if n > 1 {
        tare::memory::freed(&MEMORY, 100);
    }
}

/// Runs the threads of the three accounts, and `check` when all have worked and still live.
fn with_accounts(check: impl FnOnce()) {
    let done = Barrier::new(WHO.len() + 1);
    let (open, changed) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let handles: Vec<_> = WHO
            .iter()
            .map(|(user, host, n)| {
                let (done, open, changed) = (&done, &open, &changed);
                scope.spawn(move || {
                    tare::thread::register(&WORKER);
                    tare::thread::set_account(user, host);
                    work(*n);
                    done.wait();
                    drop(
                        changed
                            .wait_while(open.lock().unwrap(), |open| !*open)
                            .unwrap(),
                    );
                })
            })
            .collect();
        done.wait();
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
        *open.lock().unwrap() = true;
        changed.notify_all();
        handles
            .into_iter()
            .for_each(|handle| handle.join().unwrap());
        checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// The owners and their sums of a column, where it is not zero.
fn by(r: &Running, table: &str, owner: &str, sum: &str, class: &str) -> Vec<String> {
    r.rows(&format!(
        "SELECT {owner}, {sum} FROM performance_schema.{table} WHERE {class} AND {sum} > 0 ORDER BY 1, 2"
    ))
}

#[test]
fn every_type_sums_by_user_and_host() {
    let r = start(Config::everything());
    with_accounts(|| {
        for (table, class) in [
            ("events_waits", "wait/io/table/test/handler"),
            ("events_stages", "stage/test/One"),
            ("events_statements", "statement/sql/select"),
            ("events_transactions", "transaction"),
        ] {
            let of = |scope: &str, owner: &str| {
                let name = format!("{table}_summary_by_{scope}_by_event_name");
                let class = format!("EVENT_NAME = '{class}'");
                by(&r, &name, owner, "COUNT_STAR", &class)
            };
            assert_eq!(of("user", "USER"), ["alice 3", "bob 4"], "{table}");
            assert_eq!(of("host", "HOST"), ["h1 5", "h2 2"], "{table}");
            assert_eq!(
                of("account", "USER || '@' || HOST"),
                ["alice@h1 1", "alice@h2 2", "bob@h1 4"],
                "{table}"
            );
            assert_eq!(of("thread", "'-'"), ["- 1", "- 2", "- 4"], "{table}");
        }
        let transactions = r.rows(
            "SELECT USER, COUNT_READ_WRITE, COUNT_READ_ONLY FROM \
             performance_schema.events_transactions_summary_by_user_by_event_name \
             WHERE USER IS NOT NULL ORDER BY 1",
        );
        assert_eq!(transactions, ["alice 2 1", "bob 2 2"]);
        let rows = r.rows(
            "SELECT HOST, SUM_ROWS_SENT FROM \
             performance_schema.events_statements_summary_by_host_by_event_name \
             WHERE EVENT_NAME = 'statement/sql/select' AND HOST IS NOT NULL ORDER BY 1",
        );
        assert_eq!(rows, ["h1 50", "h2 20"]);
    });
    // Threads that have ended are still counted.
    let left = by(
        &r,
        "events_waits_summary_by_user_by_event_name",
        "USER",
        "COUNT_STAR",
        "EVENT_NAME = 'wait/io/table/test/handler'",
    );
    assert_eq!(left, ["alice 3", "bob 4"]);
}

#[test]
fn memory_sums_by_every_owner() {
    let r = start(Config::everything());
    let columns = "COUNT_ALLOC || ' ' || COUNT_FREE || ' ' || CURRENT_COUNT_USED || ' ' || \
                   HIGH_COUNT_USED || ' ' || LOW_COUNT_USED || ' ' || CURRENT_NUMBER_OF_BYTES_USED \
                   || ' ' || HIGH_NUMBER_OF_BYTES_USED";
    let of = |scope: &str, owner: &str| {
        r.rows(&format!(
            "SELECT {owner}, {columns} FROM performance_schema.memory_summary_by_{scope}_by_event_name \
             WHERE EVENT_NAME = 'memory/test/buffer' AND COUNT_ALLOC > 0 ORDER BY 1, 2"
        ))
    };
    with_accounts(|| {
        assert_eq!(
            of("user", "USER"),
            ["alice 3 1 2 3 0 200 300", "bob 4 1 3 4 0 300 400"]
        );
        assert_eq!(
            of("host", "HOST"),
            ["h1 5 1 4 5 0 400 500", "h2 2 1 1 2 0 100 200"]
        );
        assert_eq!(
            of("account", "USER || HOST"),
            [
                "aliceh1 1 0 1 1 0 100 100",
                "aliceh2 2 1 1 2 0 100 200",
                "bobh1 4 1 3 4 0 300 400"
            ]
        );
        assert_eq!(
            of("thread", "'-'"),
            [
                "- 1 0 1 1 0 100 100",
                "- 2 1 1 2 0 100 200",
                "- 4 1 3 4 0 300 400"
            ]
        );
        // Memory in use stays counted: marks and counts start with it.
        r.truncate("memory_summary_by_user_by_event_name");
        assert_eq!(
            of("user", "USER"),
            ["alice 2 0 2 2 2 200 200", "bob 3 0 3 3 3 300 300"]
        );
        assert_eq!(
            of("host", "HOST"),
            ["h1 5 1 4 5 0 400 500", "h2 2 1 1 2 0 100 200"]
        );
    });
}

#[test]
fn errors_sum_by_every_owner_and_every_defined_error_is_listed() {
    let r = start(Config::everything());
    tare::error::define(1146, "ER_NO_SUCH_TABLE", "42S02");
    tare::error::define(1040, "ER_CON_COUNT_ERROR", "08004");
    let global = "SELECT ERROR_NUMBER, ERROR_NAME, SQL_STATE, SUM_ERROR_RAISED, SUM_ERROR_HANDLED, \
                  FIRST_SEEN IS NOT NULL, FIRST_SEEN <= LAST_SEEN FROM \
                  performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IS NULL \
                  OR ERROR_NUMBER IN (1040, 1064, 1146)";
    with_accounts(|| {
        assert_eq!(
            r.rows(global),
            [
                "NULL NULL NULL 0 0 0 NULL",
                "1040 ER_CON_COUNT_ERROR 08004 0 0 0 NULL",
                "1064 NULL NULL 7 0 1 1",
                "1146 ER_NO_SUCH_TABLE 42S02 0 7 1 1",
            ]
        );
        let of = |scope: &str, owner: &str| {
            by(
                &r,
                &format!("events_errors_summary_by_{scope}_by_error"),
                owner,
                "SUM_ERROR_RAISED",
                "ERROR_NUMBER = 1064",
            )
        };
        assert_eq!(of("user", "USER"), ["alice 3", "bob 4"]);
        assert_eq!(of("host", "HOST"), ["h1 5", "h2 2"]);
        assert_eq!(
            of("account", "USER || HOST"),
            ["aliceh1 1", "aliceh2 2", "bobh1 4"]
        );
        assert_eq!(of("thread", "'-'"), ["- 1", "- 2", "- 4"]);
        r.truncate("events_errors_summary_by_host_by_error");
        assert!(of("host", "HOST").is_empty());
        assert_eq!(of("user", "USER"), ["alice 3", "bob 4"]);
        r.truncate("events_errors_summary_global_by_error");
        assert!(of("user", "USER").is_empty());
        assert_eq!(r.rows(global)[2], "1064 NULL NULL 0 0 0 NULL");
        tare::error::raised(1064);
        assert_eq!(r.rows(global)[2], "1064 NULL NULL 1 0 1 1");
        // As in MySQL, a handled error is subtracted from the raised ones.
        tare::error::raised(1064);
        tare::error::handled(1064);
        assert_eq!(r.rows(global)[2], "1064 NULL NULL 1 1 1 1");
    });
    // There is one instrument for all errors, also for those that are defined later.
    r.execute(
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'error'",
    )
    .unwrap();
    tare::error::raised(1064);
    tare::error::raised(1365);
    let raised = "SELECT SUM(SUM_ERROR_RAISED) FROM performance_schema.events_errors_summary_global_by_error";
    assert_eq!(r.number(raised), 1);
}

#[test]
fn errors_beyond_the_limit_count_in_the_row_without_a_number() {
    let classes = {
        let r = start(Config::everything());
        tare_reader::Classes::read(r.attached.view()).len()
    };
    let mut config = Config::everything();
    config.limits.classes = classes + 10;
    let r = start(config);
    (0..100).for_each(|code| tare::error::raised(5000 + code));
    let raised = |which: &str| {
        r.number(&format!(
            "SELECT SUM(SUM_ERROR_RAISED) FROM performance_schema.events_errors_summary_global_by_error \
             WHERE {which}"
        ))
    };
    let numbered = raised("ERROR_NUMBER IS NOT NULL");
    // Errors that other tests define at the same time have rows, too.
    assert!((5..=10).contains(&numbered), "{numbered}");
    assert_eq!(raised("ERROR_NUMBER IS NULL"), 100 - numbered);
}

#[test]
fn truncating_one_owner_leaves_the_others() {
    let r = start(Config::everything());
    let of = |scope: &str, owner: &str| {
        by(
            &r,
            &format!("events_statements_summary_by_{scope}_by_event_name"),
            owner,
            "COUNT_STAR",
            "EVENT_NAME = 'statement/sql/select'",
        )
    };
    with_accounts(|| {
        r.truncate("events_statements_summary_by_user_by_event_name");
        assert!(of("user", "USER").is_empty());
        assert_eq!(of("host", "HOST"), ["h1 5", "h2 2"]);
        assert_eq!(of("account", "USER || HOST").len(), 3);
        r.truncate("events_statements_summary_by_account_by_event_name");
        assert!(of("account", "USER || HOST").is_empty());
        assert_eq!(of("host", "HOST"), ["h1 5", "h2 2"]);
    });
    with_accounts(|| {
        assert_eq!(of("user", "USER"), ["alice 3", "bob 4"]);
        assert_eq!(of("host", "HOST"), ["h1 10", "h2 4"]);
        assert_eq!(
            of("account", "USER || HOST"),
            ["aliceh1 1", "aliceh2 2", "bobh1 4"]
        );
    });
}

#[test]
fn truncating_connections_removes_ended_ones() {
    let r = start(Config::everything());
    let accounts = "SELECT USER || '@' || HOST, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM \
                    performance_schema.accounts WHERE USER IS NOT NULL ORDER BY 1";
    let users = "SELECT USER, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.users \
                 WHERE USER IS NOT NULL ORDER BY 1";
    let waits = |scope: &str, owner: &str| {
        r.rows(&format!(
            "SELECT {owner}, COUNT_STAR FROM performance_schema.events_waits_summary_by_{scope}_by_event_name \
             WHERE EVENT_NAME = 'wait/io/table/test/handler' AND {owner} IS NOT NULL ORDER BY 1"
        ))
    };
    with_accounts(|| ());
    assert_eq!(
        r.rows(accounts),
        ["alice@h1 0 1", "alice@h2 0 1", "bob@h1 0 1"]
    );
    tare::thread::set_account("bob", "h1");
    assert_eq!(r.rows(accounts)[2], "bob@h1 1 2");
    r.truncate("accounts");
    assert_eq!(r.rows(accounts), ["bob@h1 1 1"]);
    assert_eq!(r.rows(users), ["alice 0 2", "bob 1 2"]);
    assert_eq!(waits("account", "USER"), ["bob 0"]);
    assert_eq!(waits("user", "USER"), ["alice 3", "bob 4"]);
    r.truncate("users");
    assert_eq!(r.rows(users), ["bob 1 1"]);
    assert_eq!(waits("user", "USER"), ["bob 0"]);
    assert_eq!(waits("host", "HOST"), ["h1 5", "h2 2"]);
    r.truncate("hosts");
    assert_eq!(waits("host", "HOST"), ["h1 0"]);
    // An account that connects again is listed again.
    with_accounts(|| {
        assert_eq!(
            r.rows(accounts),
            ["alice@h1 1 1", "alice@h2 1 1", "bob@h1 2 2"]
        );
        assert_eq!(waits("user", "USER"), ["alice 3", "bob 4"]);
    });
}

/// Memory that was allocated while its instrument was off, or by another thread, and freed while it is on.
#[test]
fn memory_in_use_is_never_negative() {
    let r = start(Config::everything());
    let switch = |enabled: &str| {
        r.execute(&format!(
            "UPDATE performance_schema.setup_instruments SET ENABLED = '{enabled}' \
             WHERE NAME = 'memory/test/buffer'"
        ))
        .expect("an instrument is switched");
    };
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let barrier = &barrier;
        scope.spawn(move || {
            tare::thread::register(&WORKER);
            tare::thread::set_account("alice", "h1");
            barrier.wait();
            tare::memory::allocated(&MEMORY, 155_360);
            barrier.wait();
            barrier.wait();
            tare::memory::freed(&MEMORY, 155_360);
            barrier.wait();
            // It lives until its row is read.
            barrier.wait();
        });
        switch("NO");
        barrier.wait();
        barrier.wait();
        switch("YES");
        barrier.wait();
        barrier.wait();
        for scope in ["global", "by_thread", "by_account", "by_user", "by_host"] {
            let columns = "COUNT_FREE || ' ' || CURRENT_COUNT_USED || ' ' || LOW_COUNT_USED || ' ' || \
                           CURRENT_NUMBER_OF_BYTES_USED || ' ' || LOW_NUMBER_OF_BYTES_USED";
            let freed = format!(
                "SELECT {columns} FROM performance_schema.memory_summary_{scope}_by_event_name \
                 WHERE EVENT_NAME = 'memory/test/buffer' AND COUNT_FREE > 0"
            );
            assert_eq!(r.rows(&freed), ["1 0 0 0 0"], "{scope}");
        }
        barrier.wait();
    });
}
