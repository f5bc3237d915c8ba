//! What a sampled thread does, as the page names it.

use tare_history::{ROW_LOCK_WAIT, Sample, State};

/// What sessions do, as the page names it: states without a wait, and waits by class.
pub const CLASSES: [&str; 9] = [
    "CPU",
    "Waiting for a CPU",
    "Row lock",
    "Metadata lock",
    "File I/O",
    "Network",
    "Commit",
    "Other",
    "Unknown",
];

/// Positions in [`CLASSES`].
const ON_CPU: usize = 0;
const WAITING_FOR_CPU: usize = 1;
const ROW_LOCK: usize = 2;
const METADATA_LOCK: usize = 3;
const FILE: usize = 4;
const NETWORK: usize = 5;
const COMMIT: usize = 6;
const OTHER: usize = 7;
const UNKNOWN: usize = 8;

/// Files that a commit writes and flushes: the redo log, and the binary log of both products.
const COMMIT_FILES: [&str; 3] = [
    "wait/io/file/innodb/innodb_log_file",
    "wait/io/file/sql/binlog",
    "wait/io/file/sql/binlog_index",
];

/// The class of a sample. A thread in a wait may run: a wait for a table lasts while its row is computed.
pub fn class(sample: &Sample) -> usize {
    match (sample.state, sample.wait.as_deref()) {
        (Some(State::OnCpu), _) => ON_CPU,
        (Some(State::WaitingForCpu), _) => WAITING_FOR_CPU,
        (state, wait) => match wait.map_or(OTHER, class_of_wait) {
            OTHER | FILE if is_commit(sample) => COMMIT,
            OTHER if wait.is_none() && state != Some(State::Blocked) => UNKNOWN,
            class => class,
        },
    }
}

/// Whether a thread's transaction commits.
fn is_commit(sample: &Sample) -> bool {
    let statement = sample.statement.as_deref();
    let stage = sample.stage.as_deref().map(str::to_ascii_lowercase);
    matches!(
        statement,
        Some("statement/sql/commit" | "statement/sql/xa_commit")
    ) || stage.is_some_and(|stage| stage.contains("commit") || stage.contains("semi-sync ack"))
}

/// Whether a thread neither runs nor is ready to run, so that its wait is where its time goes.
pub fn is_off_cpu(class: usize) -> bool {
    !matches!(class, ON_CPU | WAITING_FOR_CPU)
}

/// The name of what a sample's thread does: its wait, or why it is in none.
pub fn wait_key(sample: &Sample, class: usize) -> String {
    let is_blocked = sample.state == Some(State::Blocked);
    match (class, &sample.wait, &sample.system_call) {
        (ON_CPU, ..) => "(on CPU)".to_owned(),
        (WAITING_FOR_CPU, ..) => "(waiting for a CPU)".to_owned(),
        (_, _, Some(call)) if is_blocked => format!("(blocked in {call})"),
        (_, None, _) if is_blocked => "(blocked elsewhere)".to_owned(),
        (_, Some(wait), _) => wait.to_string(),
        (_, None, _) => "(unknown: on CPU or blocked)".to_owned(),
    }
}

/// The class of a wait.
fn class_of_wait(wait: &str) -> usize {
    const BEGINNINGS: [(&str, usize); 4] = [
        (ROW_LOCK_WAIT, ROW_LOCK),
        ("wait/lock/metadata/", METADATA_LOCK),
        ("wait/io/file/", FILE),
        ("wait/io/socket/", NETWORK),
    ];
    if COMMIT_FILES.contains(&wait) {
        return COMMIT;
    }
    let beginning = BEGINNINGS
        .iter()
        .find(|(begins, _)| wait.starts_with(begins));
    beginning.map_or(OTHER, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_has_its_class() {
        let table = Some("wait/io/table/sql/handler");
        for (state, wait, class_name, key) in [
            (None, None, "Unknown", "(unknown: on CPU or blocked)"),
            (
                Some(State::Unknown),
                None,
                "Unknown",
                "(unknown: on CPU or blocked)",
            ),
            (
                Some(State::Unknown),
                table,
                "Other",
                "wait/io/table/sql/handler",
            ),
            (Some(State::OnCpu), table, "CPU", "(on CPU)"),
            (Some(State::OnCpu), None, "CPU", "(on CPU)"),
            (
                Some(State::WaitingForCpu),
                None,
                "Waiting for a CPU",
                "(waiting for a CPU)",
            ),
            (Some(State::Blocked), None, "Other", "(blocked in futex)"),
            (
                Some(State::Waiting),
                table,
                "Other",
                "wait/io/table/sql/handler",
            ),
            (
                None,
                Some("wait/lock/metadata/sql/mdl"),
                "Metadata lock",
                "wait/lock/metadata/sql/mdl",
            ),
            (
                Some(State::Waiting),
                Some(ROW_LOCK_WAIT),
                "Row lock",
                ROW_LOCK_WAIT,
            ),
            (
                None,
                Some("wait/synch/mutex/innodb/x"),
                "Other",
                "wait/synch/mutex/innodb/x",
            ),
            (
                None,
                Some("wait/io/file/innodb/innodb_data_file"),
                "File I/O",
                "wait/io/file/innodb/innodb_data_file",
            ),
            (
                Some(State::Waiting),
                Some("wait/io/file/sql/binlog"),
                "Commit",
                "wait/io/file/sql/binlog",
            ),
            (
                None,
                Some("wait/io/socket/sql/client_connection"),
                "Network",
                "wait/io/socket/sql/client_connection",
            ),
            (None, Some("idle"), "Other", "idle"),
        ] {
            let sample = Sample {
                state,
                wait: wait.map(Into::into),
                system_call: Some("futex".into()),
                ..Sample::default()
            };
            let class = class(&sample);
            assert_eq!(
                (CLASSES[class], &*wait_key(&sample, class)),
                (class_name, key)
            );
        }
        let blocked = Sample {
            state: Some(State::Blocked),
            ..Sample::default()
        };
        assert_eq!(wait_key(&blocked, OTHER), "(blocked elsewhere)");
    }

    #[test]
    fn a_session_that_commits_waits_for_the_commit_unless_a_lock_stops_it() {
        let of = |statement: Option<&str>, stage: Option<&str>, wait: Option<&str>, state| {
            let sample = Sample {
                statement: statement.map(Into::into),
                stage: stage.map(Into::into),
                wait: wait.map(Into::into),
                state,
                ..Sample::default()
            };
            CLASSES[class(&sample)]
        };
        let statement = Some("statement/sql/commit");
        let stage = Some("stage/sql/waiting for handler commit");
        let cond = Some("wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done");
        let mdl = Some("wait/lock/metadata/sql/mdl");
        let blocked = Some(State::Blocked);
        assert_eq!(of(statement, None, None, blocked), "Commit");
        assert_eq!(of(None, stage, None, None), "Commit");
        assert_eq!(of(None, Some("stage/sql/Commit"), cond, None), "Commit");
        assert_eq!(of(statement, None, mdl, None), "Metadata lock");
        assert_eq!(of(statement, stage, None, Some(State::OnCpu)), "CPU");
        assert_eq!(of(None, None, cond, None), "Other");
    }
}
