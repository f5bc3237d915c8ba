//! Histograms of statements: MySQL's 450 buckets, compared with independent counts.

#![cfg(feature = "instrument")]

mod support;

use std::time::Duration;

use support::{Running, start};
use tare::{Config, Limits};

tare::classes! {
    static SELECT: Statement = "statement/sql/select";
}

fn run(text: &str) {
    tare::statement::start(&SELECT).text(text);
}

const GLOBAL: &str = "performance_schema.events_statements_histogram_global";
const BY_DIGEST: &str = "performance_schema.events_statements_histogram_by_digest";

fn total(r: &Running, table: &str) -> i64 {
    r.number(&format!(
        "SELECT COALESCE(SUM(COUNT_BUCKET), 0) FROM {table}"
    ))
}

#[test]
fn buckets_are_mysqls_and_count_every_statement() {
    let r = start(Config::everything());
    assert_eq!(
        r.rows(&format!(
            "SELECT COUNT(*), SUM(COUNT_BUCKET), MAX(BUCKET_QUANTILE) FROM {GLOBAL}"
        )),
        ["450 0 0"]
    );
    (0..100).for_each(|i| run(&format!("SELECT {i}")));
    (0..20).for_each(|i| run(&format!("SELECT a FROM t WHERE b = {i}")));
    // A statement that takes at least thirty milliseconds, and less than the test's time limit.
    let statement = tare::statement::start(&SELECT);
    statement.text("SELECT SLEEP(1)");
    std::thread::sleep(Duration::from_millis(30));
    drop(statement);
    assert_eq!(total(&r, GLOBAL), 121);
    assert_eq!(
        r.rows(&format!(
            "SELECT BUCKET_NUMBER, BUCKET_TIMER_LOW, BUCKET_TIMER_HIGH FROM {GLOBAL} \
             WHERE BUCKET_NUMBER IN (0, 1, 50)"
        )),
        [
            "0 0 10000000",
            "1 10000000 10471285",
            "50 95499258 100000000"
        ]
    );
    let shape = format!(
        "SELECT SUM(a.BUCKET_TIMER_HIGH = b.BUCKET_TIMER_LOW), \
         SUM(a.COUNT_BUCKET_AND_LOWER + b.COUNT_BUCKET = b.COUNT_BUCKET_AND_LOWER), \
         SUM(a.BUCKET_QUANTILE <= b.BUCKET_QUANTILE) \
         FROM {GLOBAL} a JOIN {GLOBAL} b ON b.BUCKET_NUMBER = a.BUCKET_NUMBER + 1"
    );
    assert_eq!(r.rows(&shape), ["449 449 449"]);
    let last = format!(
        "SELECT COUNT_BUCKET_AND_LOWER, BUCKET_QUANTILE FROM {GLOBAL} WHERE BUCKET_NUMBER = 449"
    );
    assert_eq!(r.rows(&last), ["121 1"]);
    let slow =
        format!("SELECT SUM(COUNT_BUCKET) FROM {GLOBAL} WHERE BUCKET_TIMER_HIGH > 30000000000");
    assert!(r.number(&slow) >= 1);

    let of = |text: &str| {
        r.number(&format!(
            "SELECT SUM(COUNT_BUCKET) FROM {BY_DIGEST} JOIN \
             performance_schema.events_statements_summary_by_digest USING (DIGEST) WHERE DIGEST_TEXT = '{text}'"
        ))
    };
    assert_eq!(of("SELECT ?"), 100);
    assert_eq!(of("SELECT `a` FROM `t` WHERE `b` = ?"), 20);
    assert_eq!(total(&r, BY_DIGEST), 121);
    assert_eq!(
        r.number(&format!("SELECT COUNT(*) FROM {BY_DIGEST}")),
        3 * 450
    );
    // A digest's quantiles are upper bounds of buckets of its histogram.
    let quantiles = format!(
        "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest d WHERE \
         (SELECT MIN(BUCKET_TIMER_HIGH) FROM {BY_DIGEST} h WHERE h.DIGEST = d.DIGEST AND BUCKET_NUMBER < 449 AND BUCKET_QUANTILE >= 0.95) \
         = QUANTILE_95 AND \
         (SELECT MIN(BUCKET_TIMER_HIGH) FROM {BY_DIGEST} h WHERE h.DIGEST = d.DIGEST AND BUCKET_NUMBER < 449 AND BUCKET_QUANTILE >= 0.99) \
         = QUANTILE_99"
    );
    assert_eq!(r.number(&quantiles), 3);
}

#[test]
fn truncating_one_histogram_leaves_the_others() {
    let r = start(Config::everything());
    let counted = || {
        (
            total(&r, GLOBAL),
            total(&r, BY_DIGEST),
            r.number("SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_statements_summary_by_digest"),
        )
    };
    let some = || (0..10).for_each(|i| run(&format!("SELECT {i}")));
    some();
    assert_eq!(counted(), (10, 10, 10));
    r.truncate("events_statements_histogram_by_digest");
    assert_eq!(counted(), (10, 0, 10));
    some();
    assert_eq!(counted(), (20, 10, 20));
    r.truncate("events_statements_histogram_global");
    assert_eq!(counted(), (0, 10, 20));
    some();
    assert_eq!(counted(), (10, 20, 30));
    // TRUNCATE of the digests truncates their histograms; the global histogram stays.
    r.truncate("events_statements_summary_by_digest");
    assert_eq!(counted(), (10, 0, 0));
    some();
    assert_eq!(counted(), (20, 10, 10));
    r.truncate("events_statements_summary_global_by_event_name");
    assert_eq!(counted(), (0, 10, 10));
}

/// A digest's first few statements are counted in its row, later ones in blocks.
#[test]
fn a_digests_histogram_is_right_after_each_statement_and_truncation() {
    for truncated_after in 1..=9 {
        let r = start(Config::everything());
        let counted = || total(&r, BY_DIGEST);
        for n in 1..=truncated_after {
            run("SELECT 1");
            assert_eq!(counted(), n);
        }
        r.truncate("events_statements_histogram_by_digest");
        for n in 0..9 {
            assert_eq!(counted(), n, "truncated after {truncated_after}");
            run("SELECT 1");
        }
        r.truncate("events_statements_histogram_by_digest");
        assert_eq!(counted(), 0);
    }
}

#[test]
fn threads_and_evictions_lose_no_statement() {
    let r =
        start(Config::everything().limits(Limits::default().digests(20).threads(8).accounts(4)));
    r.truncate("events_statements_histogram_by_digest");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for i in 0..3000 {
                    run(&format!("SELECT c{} FROM t{thread}", i % 50));
                }
            });
        }
    });
    // Accounts come and go, so that banks are merged.
    for user in 0..30 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tare::thread::set_account(&format!("u{}", user % 3), "h");
                run(&format!("SELECT d{user} FROM t"));
            });
        });
    }
    assert_eq!(total(&r, GLOBAL), 12_030);
    assert_eq!(total(&r, BY_DIGEST), 12_030);
    let digests = "performance_schema.events_statements_summary_by_digest";
    assert_eq!(
        r.number(&format!("SELECT SUM(COUNT_STAR) FROM {digests}")),
        12_030
    );
    assert_eq!(r.number(&format!("SELECT COUNT(*) FROM {digests}")), 20);
    let status = |name: &str| {
        r.number(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = \
             'Performance_schema_digest_{name}'"
        ))
    };
    assert!(status("evicted") > 100);
    assert_eq!(status("lost"), 0);
}

#[test]
fn untimed_statements_are_in_no_bucket() {
    let r = start(Config::everything());
    r.execute("UPDATE performance_schema.setup_instruments SET TIMED = 'NO' WHERE NAME LIKE 'statement/%'")
        .unwrap();
    (0..5).for_each(|i| run(&format!("SELECT {i}")));
    let row = "SELECT COUNT_STAR, SUM_TIMER_WAIT, MIN_TIMER_WAIT, QUANTILE_95, LAST_SEEN >= FIRST_SEEN FROM \
               performance_schema.events_statements_summary_by_digest";
    assert_eq!(r.rows(row), ["5 0 0 0 1"]);
    assert_eq!((total(&r, GLOBAL), total(&r, BY_DIGEST)), (0, 0));
}

#[test]
fn long_texts_are_cut_marked_and_counted() {
    let r = start(
        Config::everything().limits(Limits::default().digest_text_bytes(64).sql_text_bytes(64)),
    );
    let long: Vec<String> = (0..20).map(|i| format!("column{i}")).collect();
    run(&format!("SELECT {} FROM t", long.join(", ")));
    run("SELECT 1");
    let texts = "SELECT DIGEST_TEXT, QUERY_SAMPLE_TEXT FROM \
                 performance_schema.events_statements_summary_by_digest ORDER BY LENGTH(DIGEST_TEXT) DESC";
    assert_eq!(
        r.rows(texts),
        [
            "SELECT `column0` , `column1` , `column2` , `column3` , `column4` ... \
             SELECT column0, column1, column2, column3, column4, column5, ...",
            "SELECT ? SELECT 1"
        ]
    );
    let text = "SELECT SQL_TEXT FROM performance_schema.events_statements_history_long ORDER BY LENGTH(SQL_TEXT) DESC LIMIT 1";
    assert_eq!(
        r.one(text),
        "SELECT column0, column1, column2, column3, column4, column5, ..."
    );
    let cut = |what: &str| {
        r.number(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Tare_{what}_cut'"
        ))
    };
    assert_eq!((cut("sql_texts"), cut("digests")), (1, 1));
}
