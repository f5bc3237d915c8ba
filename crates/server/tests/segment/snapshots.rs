//! Snapshots of the segment, its variables and status, and saved segments.

use tare_rows::registry;

use super::*;

#[test]
fn a_statement_sees_one_snapshot() {
    let r = start(Config::everything());
    let count = "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'wait/io/table/test/handler'";
    let wait = || drop(tare::table::wait(&TABLE, Operation::Fetch));
    wait();
    let guard = r.catalog.statement();
    assert_eq!(r.number(count), 1);
    wait();
    assert_eq!(r.number(count), 1);
    drop(guard);
    assert_eq!(r.number(count), 2);
}

#[test]
fn variables_and_status_come_from_the_segment() {
    let config = Config::everything().limits(tare::Limits::default().threads(16).history(5));
    let r = start(config);
    let variable = |name: &str| {
        r.one(&format!(
            "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = '{name}'"
        ))
    };
    assert_eq!(variable("performance_schema"), "ON");
    // MySQL lets it grow unless a number is set.
    assert_eq!(variable("performance_schema_max_thread_instances"), "-1");
    assert_eq!(
        variable("performance_schema_events_waits_history_size"),
        "5"
    );
    assert_eq!(variable("tare_lock_timing"), "contended");
    let lost = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                WHERE VARIABLE_NAME = 'Performance_schema_thread_instances_lost'";
    assert_eq!(r.one(lost), "0");
    with_threads(
        20,
        |_| drop(tare::table::wait(&TABLE, Operation::Fetch)),
        || {
            assert!(r.number(lost) >= 4);
        },
    );
    let segment =
        "SELECT pid, state, layout_version, lock_timing, threads_lost > 0 FROM tare.segments";
    assert_eq!(
        r.rows(segment),
        [format!(
            "{} live {} contended 1",
            std::process::id(),
            tare_layout::LAYOUT_VERSION
        )]
    );
}

/// A segment whose writer has ended.
struct Saved(std::sync::Arc<tare_reader::Segment>);

impl tare_mysql::session::SessionFacts for Saved {}

impl tare_rows::source::Source for Saved {
    fn segment(&self) -> Option<std::sync::Arc<tare_reader::Segment>> {
        Some(self.0.clone())
    }
}

#[test]
fn a_saved_segment_answers_every_table_and_changes_none() {
    let directory = std::env::temp_dir().join(format!("tare-tables-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("tare.segment");
    // A small one: copying fills holes.
    let limits = tare::Limits::default()
        .threads(16)
        .accounts(8)
        .classes(256)
        .instances(256)
        .files(16)
        .digests(16)
        .history_long(64)
        .arena_lines(1024);
    let running = start(Config::everything().segment(&path).limits(limits));
    with_threads(
        1,
        |_| {
            drop(tare::table::wait(&TABLE, Operation::Fetch));
            let statement = tare::statement::start(&SELECT);
            statement.text("SELECT 'the last'");
        },
        || {
            // The state after a crash: threads are listed, in the middle of their work.
            let copy = directory.join("saved.segment");
            std::fs::copy(&path, &copy).unwrap();
            let target = tare_reader::Target::Path(copy);
            let segment = tare_reader::Segment::attach(target).expect("a saved segment");
            let conn = rusqlite::Connection::open_in_memory().unwrap();
            let source = std::sync::Arc::new(Saved(std::sync::Arc::new(segment)));
            let saved = catalog::install(&conn, source).unwrap();
            for table in registry::all(Default::default()) {
                let sql = format!(
                    "SELECT COUNT(*) FROM {}.\"{}\"",
                    table.schema(),
                    table.name()
                );
                conn.query_row(&sql, [], |row| row.get::<_, i64>(0))
                    .expect(&sql);
            }
            let one = |sql: &str| {
                conn.query_row(sql, [], |row| row.get::<_, String>(0))
                    .unwrap()
            };
            let last = "SELECT SQL_TEXT FROM performance_schema.events_statements_current \
                        WHERE SQL_TEXT IS NOT NULL";
            assert_eq!(one(last), "SELECT 'the last'");
            assert_eq!(one("SELECT state FROM tare.segments"), "dead");
            let update = "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO'";
            let error = tare_mysql::SqlError::from(tare_store::Error::from(
                conn.execute(update, []).unwrap_err(),
            ));
            assert_eq!(error.code, 1105);
            assert!(error.message.contains("has ended"), "{error}");
            for table in registry::all(Default::default())
                .iter()
                .filter(|table| table.can_truncate() && !table.is_always_empty())
                // The server's own facts, and the samples that it has taken, are not in the segment.
                .filter(|t| {
                    !["host_cache", "global_status", "active_session_history"].contains(&t.name())
                })
                .filter(|t| !t.name().starts_with("status_by_"))
            {
                let refused = saved.truncate(table.schema(), table.name());
                assert!(matches!(refused, Some(Err(_))), "{}", table.name());
            }
        },
    );
    drop(running);
    std::fs::remove_dir_all(&directory).unwrap();
}
