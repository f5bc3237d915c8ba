//! What a sampled thread does, as the page names it.

use tare_history::{ROW_LOCK_WAIT, Sample, State};

/// What sessions do, as the page names it: waits by class, and states without a wait.
pub const CLASSES: [&str; 11] = [
    "CPU",
    "Table I/O",
    "File I/O",
    "Network",
    "Lock",
    "Row lock",
    "Synch",
    "Other",
    "Waiting for a CPU",
    "Blocked elsewhere",
    "Unknown",
];

/// Positions in [`CLASSES`].
const ON_CPU: usize = 0;
const OTHER: usize = 7;
const WAITING_FOR_CPU: usize = 8;
const BLOCKED: usize = 9;
const UNKNOWN: usize = 10;

/// The class of a sample. A thread in a wait may run: a wait for a table lasts while its row is computed.
pub fn class(sample: &Sample) -> usize {
    match (sample.state, sample.wait.as_deref()) {
        (Some(State::OnCpu), _) => ON_CPU,
        (Some(State::WaitingForCpu), _) => WAITING_FOR_CPU,
        (Some(State::Blocked), _) => BLOCKED,
        (_, Some(wait)) => class_of_wait(wait),
        (_, None) => UNKNOWN,
    }
}

/// The name of what a sample's thread does: its wait, or why it is in none.
pub fn wait_key(sample: &Sample, class: usize) -> String {
    match (class, &sample.wait, &sample.system_call) {
        (ON_CPU, ..) => "(on CPU)".to_owned(),
        (WAITING_FOR_CPU, ..) => "(waiting for a CPU)".to_owned(),
        (BLOCKED, _, Some(call)) => format!("(blocked in {call})"),
        (BLOCKED, ..) => "(blocked elsewhere)".to_owned(),
        (_, Some(wait), _) => wait.to_string(),
        (_, None, _) => "(unknown: on CPU or blocked)".to_owned(),
    }
}

/// The class of a wait.
fn class_of_wait(wait: &str) -> usize {
    const BEGINNINGS: [(&str, usize); 6] = [
        ("wait/io/table/", 1),
        ("wait/io/file/", 2),
        ("wait/io/socket/", 3),
        (ROW_LOCK_WAIT, 5),
        ("wait/lock/", 4),
        ("wait/synch/", 6),
    ];
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
                "Table I/O",
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
            (
                Some(State::Blocked),
                None,
                "Blocked elsewhere",
                "(blocked in futex)",
            ),
            (
                Some(State::Waiting),
                table,
                "Table I/O",
                "wait/io/table/sql/handler",
            ),
            (
                None,
                Some("wait/lock/metadata/sql/mdl"),
                "Lock",
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
                "Synch",
                "wait/synch/mutex/innodb/x",
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
        assert_eq!(wait_key(&blocked, BLOCKED), "(blocked elsewhere)");
    }
}
