//! Sizes that are set at start: what is stored, and what SHOW VARIABLES says.

use super::*;

fn start_with(options: &[(&str, &str)]) -> support::Running {
    let mut config = Config::everything();
    for (name, value) in options {
        config.option(name, value).expect("an option");
    }
    start(config)
}

fn variable(r: &support::Running, name: &str) -> String {
    r.one(&format!(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_variables \
         WHERE VARIABLE_NAME = 'performance_schema_{name}'"
    ))
}

fn lost(r: &support::Running, what: &str) -> String {
    r.one(&format!(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
         WHERE VARIABLE_NAME = 'Performance_schema_{what}_lost'"
    ))
}

/// Runs a statement, whose text and digest are stored.
fn query(text: &str) {
    let statement = tare::statement::start(&QUERY);
    statement.text(text);
    statement.refine(&SELECT);
}

const STORED: &str = "SELECT COALESCE(SQL_TEXT, '-'), DIGEST IS NULL, DIGEST_TEXT IS NULL \
                    FROM performance_schema.events_statements_history \
                    WHERE EVENT_NAME = 'statement/sql/select'";

#[test]
fn texts_are_cut_at_the_configured_length() {
    let r = start_with(&[("max_sql_text_length", "10")]);
    query("SELECT 'a long text'");
    assert_eq!(r.rows(STORED), ["SELECT ... 0 0"]);
    assert_eq!(variable(&r, "max_sql_text_length"), "10");
    let sample =
        "SELECT QUERY_SAMPLE_TEXT FROM performance_schema.events_statements_summary_by_digest";
    assert_eq!(r.rows(sample), ["SELECT ..."]);
}

#[test]
fn zero_lengths_store_no_texts_and_digests() {
    let r = start_with(&[("max_sql_text_length", "0"), ("max_digest_length", "0")]);
    query("SELECT 1");
    assert_eq!(r.rows(STORED), ["- 1 1"]);
    assert_eq!(variable(&r, "max_digest_length"), "0");
    let digests = "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest";
    assert_eq!(r.number(digests), 0);
}

#[test]
fn without_classes_of_threads_there_are_no_threads() {
    let r = start_with(&[("max_thread_classes", "0")]);
    with_threads(2, |_| query("SELECT 1"), || {});
    assert_eq!(
        r.number("SELECT COUNT(*) FROM performance_schema.threads"),
        0
    );
    assert_eq!(lost(&r, "thread_instances"), "0");
    assert_ne!(lost(&r, "thread_classes"), "0");
}

#[test]
fn statements_nest_up_to_the_configured_depth() {
    let r = start_with(&[("max_statement_stack", "2")]);
    let outer = tare::statement::start(&SELECT);
    let inner = tare::statement::start(&SELECT);
    let innermost = tare::statement::start(&SELECT);
    assert!(outer.is_recorded() && inner.is_recorded() && !innermost.is_recorded());
    drop((innermost, inner, outer));
    assert_eq!(variable(&r, "max_statement_stack"), "2");
    assert_eq!(lost(&r, "nested_statement"), "1");
}
