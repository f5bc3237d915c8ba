//! TRUNCATE.

use super::*;

#[test]
fn truncate_resets_only_its_table() {
    let r = start(Config::everything());
    let summary = |by: &str| format!("events_waits_summary_{by}_by_event_name");
    let count = |by: &str| {
        r.number(&format!(
            "SELECT SUM(COUNT_STAR) FROM performance_schema.{} WHERE EVENT_NAME = 'wait/io/table/test/handler'",
            summary(by)
        ))
    };
    let counts = || [count("global"), count("by_thread"), count("by_account")];
    let wait = |n: usize| (0..n).for_each(|_| drop(tare::table::wait(&TABLE, Operation::Fetch)));
    wait(3);
    assert_eq!(counts(), [3, 3, 3]);
    r.truncate(&summary("global"));
    // TRUNCATE of the table of all threads truncates the others too.
    assert_eq!(counts(), [0, 0, 0]);
    let zero = "SELECT COUNT_STAR, SUM_TIMER_WAIT, MIN_TIMER_WAIT, AVG_TIMER_WAIT, MAX_TIMER_WAIT FROM \
                performance_schema.events_waits_summary_global_by_event_name \
                WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(zero), ["0 0 0 0 0"]);
    wait(2);
    assert_eq!(counts(), [2, 2, 2]);
    let bounds = "SELECT MIN_TIMER_WAIT <= AVG_TIMER_WAIT AND AVG_TIMER_WAIT <= MAX_TIMER_WAIT AND \
                  MAX_TIMER_WAIT <= SUM_TIMER_WAIT FROM \
                  performance_schema.events_waits_summary_global_by_event_name \
                  WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(bounds), ["1"]);
    r.truncate(&summary("by_thread"));
    r.truncate(&summary("by_account"));
    wait(1);
    assert_eq!(counts(), [3, 1, 1]);

    let histogram = "SELECT SUM(count_bucket), MAX(bucket_quantile) FROM tare.histogram_by_event_name \
                     WHERE event_name = 'wait/io/table/test/handler'";
    assert_eq!(r.rows(histogram), ["3 1"]);

    let history =
        |table: &str| r.number(&format!("SELECT COUNT(*) FROM performance_schema.{table}"));
    assert!(history("events_waits_history") >= 6);
    r.truncate("events_waits_history");
    assert_eq!(history("events_waits_history"), 0);
    assert!(history("events_waits_history_long") >= 6);
    wait(1);
    assert_eq!(history("events_waits_history"), 1);

    let statement = || {
        let statement = tare::statement::start(&SELECT);
        statement.text("SELECT 1");
    };
    statement();
    assert_eq!(history("events_statements_summary_by_digest"), 1);
    r.truncate("events_statements_summary_by_digest");
    assert_eq!(history("events_statements_summary_by_digest"), 0);
    statement();
    assert_eq!(
        r.number("SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest"),
        1
    );

    let file = tare::file::Instance::open(&FILE, "/tmp/truncated");
    drop(file.wait(Operation::Read));
    let by_file = "SELECT COUNT_STAR FROM performance_schema.file_summary_by_instance WHERE FILE_NAME = '/tmp/truncated'";
    assert_eq!(r.number(by_file), 1);
    r.truncate("file_summary_by_instance");
    assert_eq!(r.number(by_file), 0);
    drop(file.wait(Operation::Read));
    assert_eq!(r.number(by_file), 1);
}

#[test]
fn truncating_the_digest_table_empties_its_null_row() {
    let limits = tare::Limits::default().digests(2);
    let r = start(Config::everything().limits(limits));
    let run = |text: &str| tare::statement::start(&SELECT).text(text);
    let digests = || {
        r.rows(
            "SELECT DIGEST IS NULL, COUNT_STAR FROM \
             performance_schema.events_statements_summary_by_digest ORDER BY 1",
        )
    };
    let status = |name: &str| {
        r.one(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
             WHERE VARIABLE_NAME = 'Performance_schema_digest_{name}'"
        ))
    };
    run("SELECT 1");
    run("SELECT a FROM b");
    run("DELETE FROM c");
    assert_eq!(digests(), ["0 1", "1 2"]);
    assert_eq!(
        (status("lost"), status("evicted")),
        ("0".into(), "2".into())
    );
    r.truncate("events_statements_summary_by_digest");
    assert_eq!(digests(), [] as [&str; 0]);
    run("SELECT 1");
    assert_eq!(digests(), ["0 1"]);
    run("SELECT a FROM b");
    assert_eq!(digests(), ["0 1", "1 1"]);
}
