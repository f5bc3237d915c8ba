//! Sampling by SQL: set while events run, shown, and each estimate with its error.

#![cfg(feature = "instrument")]

mod support;

use support::{Running, start};
use tare::{Config, Operation, Rule, Sampling};

tare::classes! {
    static LOCK: MetadataLock = "wait/lock/metadata/sampled/lock";
    static STAGE: Stage = "stage/sampled/One";
    static SELECT: Statement = "statement/sql/select";
}

fn config(rule: Rule) -> Config {
    Config::everything().sampling(Sampling::of(rule).seed(7))
}

fn load(n: usize) {
    for i in 0..n {
        let statement = tare::statement::start(&SELECT);
        statement.text(if i % 2 == 0 {
            "SELECT 1 FROM a"
        } else {
            "SELECT 1 FROM b"
        });
        tare::stage::set(&STAGE);
        drop(tare::wait::start(&LOCK, Operation::Lock));
        drop(tare::wait::start(&LOCK, Operation::Lock));
    }
}

fn status(r: &Running) -> String {
    r.one(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Tare_sampling'",
    )
}

#[test]
fn sampling_is_set_for_each_event_type() {
    let r = start(Config::everything());
    let all = "SELECT GROUP_CONCAT(CONCAT(event_type, ' ', sampling, ' ', one_in) ORDER BY event_type) FROM \
               tare.setup_sampling";
    assert_eq!(
        r.one(all),
        "memory every 1,stage every 1,transaction every 1,wait every 1"
    );
    assert_eq!(status(&r), "OFF");
    let change =
        "UPDATE tare.setup_sampling SET sampling = '1/16' WHERE event_type IN ('wait', 'stage')";
    assert_eq!(r.execute(change), Ok(2));
    assert_eq!(
        r.one(all),
        "memory every 1,stage 1/16 16,transaction every 1,wait 1/16 16"
    );
    assert_eq!(status(&r), "wait 1/16, stage 1/16");
    for wrong in ["'16'", "'1/0'", "'budget'", "''", "NULL"] {
        let sql = format!("UPDATE tare.setup_sampling SET sampling = {wrong}");
        assert!(r.execute(&sql).is_err(), "{wrong}");
    }
    assert_eq!(
        r.execute("UPDATE tare.setup_sampling SET sampling = 'every'"),
        Ok(4)
    );
    assert_eq!(status(&r), "OFF");
}

#[test]
fn estimates_have_standard_errors() {
    let r = start(config(Rule::OneIn(8)));
    let mut windows = tare::settings::ManualWindows::begin().expect("nobody else opens windows");
    const ROUNDS: u64 = 2_000;
    for i in 0..ROUNDS {
        // Two milliseconds each: a window has about five.
        windows.at((1 + i) * 2_000_000);
        load(2);
    }
    // Also the stratum that runs ends.
    assert_eq!(
        r.execute("UPDATE tare.setup_sampling SET sampling = '1/8'"),
        Ok(4)
    );
    windows.at((1 + ROUNDS) * 2_000_000);
    let summary = |table: &str, name: &str| {
        r.number(&format!(
            "SELECT COUNT_STAR FROM performance_schema.events_{table}_summary_global_by_event_name WHERE EVENT_NAME \
             = '{name}'"
        ))
    };
    assert_eq!(summary("statements", "statement/sql/select"), 4_000);
    let waits = summary("waits", "wait/lock/metadata/sampled/lock");
    assert!((7_000..9_000).contains(&waits), "{waits}");
    assert_eq!(
        r.one(
            "SELECT CONCAT(count_star, ' ', events_represented = count_star, ' ', avg_weight = 8, ' ', windows BETWEEN 40 \
             AND 60, ' ', count_error BETWEEN 10 AND 500, ' ', count_error_pct > 0, ' ', sum_error > 0) FROM \
             tare.sampling_by_instrument WHERE event_name = 'wait/lock/metadata/sampled/lock'"
        ),
        format!("{waits} 1 1 1 1 1 1")
    );
    let digests = "SELECT GROUP_CONCAT(COUNT_STAR) FROM performance_schema.events_statements_summary_by_digest";
    assert_eq!(r.one(digests), "2000,2000", "digests are exact");
    r.truncate("events_waits_summary_global_by_event_name");
    let left =
        "SELECT COUNT(*) FROM tare.sampling_by_instrument WHERE event_name LIKE 'wait/lock/%'";
    assert_eq!(r.number(left), 0, "a truncated summary begins anew");
    assert_eq!(
        r.number("SELECT COUNT(*) FROM tare.sampling_by_instrument WHERE event_name = 'stage/sampled/One'"),
        1
    );
}

#[test]
fn every_has_no_errors() {
    let r = start(config(Rule::Every));
    load(100);
    for table in ["sampling_by_instrument", "governor"] {
        assert_eq!(r.number(&format!("SELECT COUNT(*) FROM tare.{table}")), 0);
    }
}

#[test]
fn a_budget_is_set_by_sql_and_each_decision_is_a_row() {
    let r = start(Config::everything());
    let budget = "UPDATE tare.setup_sampling SET sampling = 'budget 0.001 %'";
    assert_eq!(r.execute(budget), Ok(4));
    let status_now = status(&r);
    assert!(
        status_now.starts_with("wait budget 0.001 %"),
        "{status_now}"
    );
    // The governor has a thread of its own, so the time is not known.
    while r.number("SELECT COUNT(*) FROM tare.governor WHERE reason = 'over budget'") == 0 {
        load(500);
    }
    let decisions = "SELECT COUNT(*) = SUM(one_in > one_in_before) AND MIN(budget_pct) = 0.001 AND \
                 MIN(event_cost) > 0 FROM tare.governor WHERE reason = 'over budget'";
    assert_eq!(r.number(decisions), 1);
}
