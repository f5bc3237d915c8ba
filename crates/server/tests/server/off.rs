//! Without Performance Schema, its tables are empty, and statements on them behave as in MySQL.

use super::support::{Running, all_of, errno, exec, one};

fn off() -> Running {
    Running::with(|config| config.performance_schema = false)
}

#[test]
fn truncating_an_empty_table_is_no_error() {
    let running = off();
    let mut conn = running.client();
    for table in [
        "events_stages_history_long",
        "events_waits_summary_global_by_event_name",
        "setup_objects",
        "setup_actors",
    ] {
        exec(&mut conn, &format!("TRUNCATE performance_schema.{table}"));
    }
    let insert = "INSERT INTO performance_schema.setup_actors VALUES ('h', 'u', '%', 'YES', 'YES')";
    assert_eq!(errno(&mut conn, insert), 1683);
    assert_eq!(
        errno(&mut conn, "TRUNCATE performance_schema.threads"),
        1142
    );
}

#[test]
fn functions_report_that_performance_schema_is_off() {
    let running = off();
    let mut conn = running.client();
    for call in [
        "PS_CURRENT_THREAD_ID()",
        "PS_THREAD_ID(1)",
        "PS_THREAD_ID(NULL)",
    ] {
        assert_eq!(errno(&mut conn, &format!("SELECT {call}")), 1683, "{call}");
    }
}

#[test]
fn show_processlist_can_depend_on_performance_schema() {
    let running = off();
    let mut conn = running.client();
    assert_eq!(all_of(&mut conn, "SHOW PROCESSLIST").len(), 1);
    exec(
        &mut conn,
        "SET GLOBAL performance_schema_show_processlist = ON",
    );
    assert!(one(&mut conn, "SHOW WARNINGS").starts_with("Warning|4166|"));
    assert!(all_of(&mut conn, "SHOW PROCESSLIST").is_empty());
}
