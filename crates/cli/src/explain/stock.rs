//! What an event costs a stock server beside its clock reads: constants, because these servers do not say.
//!
//! Measured as recipe events of tare weigh does, on 2026-11-21 (2 shared CPUs, AMD EPYC, other builds beside it; medians of 5 rounds) and kept in
//! docs/results/2026-11-21-events-{5.6,5.7,8.0,mariadb}.json: counted and timed against everything off, by events counted.
//! A read of the cycle counter took 9.6 ns there, one of the clock 19.6 ns; `recording` is what is left of timed - counted
//! after the reads, and below zero where the processor does the rest while it reads.
//!
//! Those statements ran within a procedure, again and again. What a client's statement takes more is the median of four loads of recipe
//! versions (schema on against off, each with its defaults): docs/results/2026-11-22-weigh/versions. docs/overhead.md says how well it fits.

use crate::observe::{About, Product};

/// One event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Counting it, in nanoseconds.
    pub counting_ns: f64,
    /// Keeping its time, in nanoseconds.
    pub recording_ns: f64,
    /// Clock reads.
    pub reads: f64,
    /// What the statement of a client takes more than one within a procedure, in nanoseconds: its digest, and an engine whose memory has to
    /// be found again.
    pub client_ns: f64,
    /// Writing it to a history, in nanoseconds for each of them.
    pub history_ns: f64,
}

/// A server, and the nanoseconds measured: wait, stage, statement, each counted and timed, and memory.
struct Measured {
    name: &'static str,
    /// How the version of that server begins.
    version: &'static str,
    wait: (f64, f64),
    stage: (f64, f64),
    statement: (f64, f64),
    memory: f64,
    /// What a client's statement takes more than one within a procedure.
    client: f64,
    /// What was measured on another server, and on which.
    borrowed: &'static str,
}

/// An event in a history of MySQL 5.7.22. Recipe instruments: all consumers against the defaults, by waits and stages.
const HISTORY_NS: f64 = 22.0;

/// Reads of the machine that measured, in nanoseconds: cycle counter, clock.
const READ_NS: (f64, f64) = (9.6, 19.6);

const MYSQL_5_7: Measured = Measured {
    name: "MySQL 5.7.22",
    version: "5.7.22",
    wait: (11.0, 17.1),
    stage: (5.8, 21.1),
    statement: (54.8, 99.5),
    // Not told from zero.
    memory: 3.3,
    client: 430.0,
    borrowed: "",
};

const MYSQL_8_0: Measured = Measured {
    name: "MySQL 8.0.15",
    version: "8.0.15",
    wait: (6.7, 11.7),
    stage: (3.7, 13.3),
    statement: (161.1, 235.3),
    memory: 0.0,
    client: 900.0,
    borrowed: "histories on MySQL 5.7.22",
};

const MYSQL_5_6: Measured = Measured {
    name: "MySQL 5.6.24",
    version: "5.6.24",
    // Locks can be instrumented at its start alone, and it has no statements within procedures, by which the others were measured.
    wait: MYSQL_5_7.wait,
    stage: (1.7, 29.6),
    statement: MYSQL_5_7.statement,
    memory: 0.0,
    client: 230.0,
    borrowed: "waits, statements in procedures and histories on MySQL 5.7.22",
};

const MARIADB_10_11: Measured = Measured {
    name: "MariaDB 10.11.19",
    version: "10.11.",
    wait: (2.3, 11.2),
    stage: (2.2, 18.2),
    statement: (70.4, 128.9),
    // Not told from zero here (quartiles -123 and 80).
    memory: MYSQL_5_7.memory,
    client: 450.0,
    borrowed: "memory and histories on MySQL 5.7.22",
};

fn measured(about: &About) -> &'static Measured {
    match (about.product, about.series) {
        (Product::MariaDb, _) => &MARIADB_10_11,
        (_, (5, ..=6)) => &MYSQL_5_6,
        (_, (5, _)) => &MYSQL_5_7,
        _ => &MYSQL_8_0,
    }
}

/// Where a server's constants come from, for the report: on which version they were measured, and whether it is this one.
pub fn source(about: &About) -> String {
    let measured = measured(about);
    let mut text = format!(
        "Unit costs apart from clock reads: constants measured on {} (docs/results/2026-11-21-events-*.json)",
        measured.name
    );
    if !measured.borrowed.is_empty() {
        text.push_str(&format!("; {}", measured.borrowed));
    }
    text.push_str("; a transaction's are taken to be a wait's.");
    if !about.version.starts_with(measured.version) {
        text.push_str(&format!(
            "\nThis server is {}: nobody has measured it, and its events may cost something else.",
            about.version
        ));
    }
    text
}

/// The unit costs of a type of event.
pub fn unit(about: &About, event_type: &str) -> Unit {
    let measured = measured(about);
    let (cycle, clock) = READ_NS;
    let (costs, reads, read) = match event_type {
        "stage" => (measured.stage, 1.0, clock),
        "statement" => (measured.statement, 2.0, clock),
        // Not measured apart: begun and ended once for some statements, as cheap as a wait.
        "transaction" => (measured.wait, 2.0, clock),
        "memory" => ((measured.memory, measured.memory), 0.0, 0.0),
        _ => (measured.wait, 2.0, cycle),
    };
    Unit {
        counting_ns: costs.0,
        recording_ns: costs.1 - costs.0 - reads * read,
        reads,
        client_ns: if event_type == "statement" {
            measured.client
        } else {
            0.0
        },
        history_ns: if matches!(event_type, "memory" | "idle") {
            0.0
        } else {
            HISTORY_NS
        },
    }
}

#[cfg(test)]
pub(super) fn about_for_tests(version: &str, series: (u32, u32)) -> About {
    About {
        name: String::new(),
        product: match version.contains("MariaDB") {
            true => Product::MariaDb,
            false => Product::MySql,
        },
        version: version.into(),
        series,
        recording: true,
        is_segment: false,
        was_live: true,
        connection_id: 1,
        pid: None,
    }
}

#[cfg(test)]
mod tests {
    use super::about_for_tests as about;
    use super::*;

    #[test]
    fn a_timed_event_costs_what_was_measured() {
        for measured in [&MYSQL_5_6, &MYSQL_5_7, &MYSQL_8_0, &MARIADB_10_11] {
            assert!(
                measured.wait.1 >= measured.wait.0 && measured.stage.1 >= measured.stage.0,
                "{}",
                measured.name
            );
            assert!(
                measured.statement.1 >= measured.statement.0,
                "{}",
                measured.name
            );
        }
        let unit = unit(&about("5.7.22", (5, 7)), "wait");
        assert!(
            (unit.counting_ns + unit.recording_ns + unit.reads * READ_NS.0 - 17.1).abs() < 1e-9
        );
    }

    #[test]
    fn what_was_measured_on_another_version_is_said() {
        let own = source(&about("5.7.22-log", (5, 7)));
        assert!(
            own.contains("measured on MySQL 5.7.22 ") && !own.contains("This server is"),
            "{own}"
        );
        for (version, series, words) in [
            ("5.7.44", (5, 7), "This server is 5.7.44"),
            ("8.4.3", (8, 4), "This server is 8.4.3"),
            ("9.7.0", (9, 7), "constants measured on MySQL 8.0.15"),
            (
                "5.6.24",
                (5, 6),
                "waits, statements in procedures and histories on MySQL 5.7.22",
            ),
            (
                "10.11.19-MariaDB",
                (10, 11),
                "memory and histories on MySQL 5.7.22",
            ),
            ("11.4.2-MariaDB", (11, 4), "This server is 11.4.2-MariaDB"),
        ] {
            let text = source(&about(version, series));
            assert!(text.contains(words), "{version}: {text}");
        }
        assert!(!source(&about("10.11.19-MariaDB", (10, 11))).contains("This server is"));
    }
}
