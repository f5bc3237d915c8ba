//! The cost of an event on a stock server without its clock reads, as constants.
//!
//! Stages and statements: measured by recipe events of tare weigh on 2026-11-21 (2 shared CPUs, AMD
//! EPYC, under other load; medians of 5 rounds; docs/results/2026-11-21-events), as the difference of
//! counted and timed from everything off, divided by the events. The statements ran within a procedure.
//!
//! Waits with and without thread_instrumentation, the additional cost of a client's statement, and
//! digests: recipe explain on 2026-11-22 (docs/results/2026-11-22-weigh/explain and text), under
//! sysbench oltp_read_only with 8 connections and oltp_point_select as text; 8.0's selects are recipe
//! configs'. Most of a wait's cost is cache misses on its instrument's counters, so that the first wait
//! of an instrument in a statement costs ten times as much as the next ones. A mean of both would fit
//! no other load.
//!
//! MySQL 9.7 and MariaDB 11.4 and 11.8: recipes events and explain on 2026-11-26, on an Intel Xeon
//! under other load; least squares over all configurations of both loads, weighted by their intervals
//! (docs/results/2026-11-26-explain).
//!
//! The cost of timing scales with a clock read here, because reads are most of it. docs/overhead.md
//! says how accurate the constants are.

use super::sample::Consumers;
use crate::observe::{About, Product};

/// The cost of one event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Counting it, in nanoseconds.
    pub counting_ns: f64,
    /// Timing it with its default timer beyond counting, in nanoseconds, including clock reads. It can
    /// be less than the reads take alone, because the processor overlaps them with other work.
    pub timing_ns: f64,
    /// A read of that timer on the machine of the measurement, in nanoseconds.
    pub read_ns: f64,
    /// Additional cost of an instrument's first event in a statement: counting and timing.
    pub first_ns: (f64, f64),
    /// Clock reads.
    pub reads: f64,
    /// Additional cost of a client's statement over one within a procedure, in nanoseconds: its digest
    /// and cache misses.
    pub client_ns: f64,
    /// The digest of a statement sent as text, in nanoseconds.
    pub digest_ns: f64,
    /// Writing it to one history, in nanoseconds.
    pub history_ns: f64,
}

/// Nanoseconds of waits.
#[derive(Debug, Clone, Copy)]
struct Wait {
    /// An instrument's first in a statement, counted and timed.
    first: (f64, f64),
    /// One of those that follow.
    next: (f64, f64),
}

/// Waits of a server.
#[derive(Debug, Clone, Copy)]
struct Waits {
    /// With thread_instrumentation.
    by_thread: Wait,
    /// Without it, so that nothing is counted by thread.
    global: Wait,
}

const fn wait(first: (f64, f64), next: (f64, f64)) -> Wait {
    Wait { first, next }
}

/// The measured nanoseconds of a server; pairs are counted and timed.
struct StockCosts {
    name: &'static str,
    /// The beginning of that server's version.
    version: &'static str,
    waits: Waits,
    stage: (f64, f64),
    statement: (f64, f64),
    memory: f64,
    /// Additional cost of a client's statement over one within a procedure.
    client: f64,
    /// The digest of a statement sent as text, with statements_digest.
    digest: f64,
    /// Figures that were measured on another server.
    borrowed: &'static str,
    machine: Machine,
}

/// The machine of a measurement.
struct Machine {
    /// Nanoseconds of a read of the cycle counter and of the clock.
    read_ns: (f64, f64),
    results: &'static str,
}

const EPYC: Machine = Machine {
    read_ns: (9.6, 19.6),
    results: "docs/results/2026-11-21-events, docs/results/2026-11-22-weigh/explain",
};

const XEON: Machine = Machine {
    read_ns: (14.7, 30.0),
    results: "docs/results/2026-11-26-explain",
};

/// Writing an event to a history of MySQL 5.7.22. From recipe instruments: all consumers against the defaults.
const HISTORY_NS: f64 = 22.0;

const MYSQL_5_7: StockCosts = StockCosts {
    name: "MySQL 5.7.22",
    version: "5.7.22",
    waits: Waits {
        by_thread: wait((18.0, 32.0), (0.5, 2.5)),
        global: wait((2.0, 24.0), (0.2, 2.0)),
    },
    stage: (5.8, 21.1),
    statement: (54.8, 99.5),
    // Not significantly different from zero.
    memory: 3.3,
    client: 40.0,
    digest: 620.0,
    borrowed: "",
    machine: EPYC,
};

const MYSQL_8_0: StockCosts = StockCosts {
    name: "MySQL 8.0.15",
    version: "8.0.15",
    waits: Waits {
        by_thread: wait((40.0, 62.0), (0.5, 2.0)),
        global: wait((47.0, 71.0), (0.5, 2.0)),
    },
    stage: (3.7, 13.3),
    statement: (161.1, 235.3),
    memory: 0.0,
    client: 0.0,
    digest: 1070.0,
    borrowed: "histories on MySQL 5.7.22",
    machine: EPYC,
};

const MYSQL_5_6: StockCosts = StockCosts {
    name: "MySQL 5.6.24",
    version: "5.6.24",
    // Its locks can only be instrumented at start, and it does not instrument statements within procedures.
    waits: MYSQL_5_7.waits,
    stage: (1.7, 29.6),
    statement: MYSQL_5_7.statement,
    memory: 0.0,
    client: MYSQL_5_7.client,
    digest: MYSQL_5_7.digest,
    borrowed: "waits, statements and histories on MySQL 5.7.22",
    machine: EPYC,
};

const MARIADB_10_11: StockCosts = StockCosts {
    name: "MariaDB 10.11.19",
    version: "10.11.",
    waits: Waits {
        by_thread: wait((23.0, 36.0), (0.5, 2.0)),
        global: wait((12.0, 28.0), (0.3, 0.5)),
    },
    stage: (2.2, 18.2),
    statement: (70.4, 128.9),
    // Not significantly different from zero here (quartiles -123 and 80).
    memory: MYSQL_5_7.memory,
    client: 0.0,
    digest: 1140.0,
    borrowed: "memory and histories on MySQL 5.7.22",
    machine: EPYC,
};

const MYSQL_9_7: StockCosts = StockCosts {
    name: "MySQL 9.7.4",
    version: "9.7.",
    waits: Waits {
        by_thread: wait((98.7, 113.1), (7.8, 52.6)),
        global: wait((48.6, 70.3), (7.8, 52.6)),
    },
    // Counted: not significantly different from zero.
    stage: (0.0, 43.3),
    statement: (87.2, 212.8),
    memory: 15.4,
    client: 0.0,
    digest: 1294.0,
    borrowed: "histories on MySQL 5.7.22",
    machine: XEON,
};

const MARIADB_11_4: StockCosts = StockCosts {
    name: "MariaDB 11.4.5",
    version: "11.4.",
    waits: Waits {
        by_thread: wait((115.7, 136.8), (11.8, 28.1)),
        global: wait((29.6, 134.3), (11.8, 28.1)),
    },
    stage: (4.1, 36.8),
    statement: (50.5, 109.8),
    memory: 0.0,
    client: 59.1,
    digest: 1705.0,
    borrowed: "histories on MySQL 5.7.22",
    machine: XEON,
};

const MARIADB_11_8: StockCosts = StockCosts {
    name: "MariaDB 11.8.9",
    version: "11.8.",
    waits: Waits {
        by_thread: wait((55.5, 127.5), (0.5, 25.2)),
        global: wait((73.4, 132.2), (0.5, 25.2)),
    },
    stage: (4.3, 33.8),
    statement: (55.5, 127.8),
    memory: 0.0,
    client: 0.0,
    digest: 2328.0,
    borrowed: "histories on MySQL 5.7.22",
    machine: XEON,
};

/// The constants of a server's series, or of the closest earlier one.
fn costs_of(about: &About) -> &'static StockCosts {
    match (about.product, about.series) {
        (Product::MariaDb, (..=10, _)) => &MARIADB_10_11,
        (Product::MariaDb, (11, ..=7)) => &MARIADB_11_4,
        (Product::MariaDb, _) => &MARIADB_11_8,
        (_, (5, ..=6)) => &MYSQL_5_6,
        (_, (5, _)) => &MYSQL_5_7,
        (_, (8, _)) => &MYSQL_8_0,
        _ => &MYSQL_9_7,
    }
}

/// For the report: the version on which a server's constants were measured, and whether it is the server's.
pub fn source(about: &About) -> String {
    let measured = costs_of(about);
    let mut text = format!(
        "Unit costs apart from clock reads: constants measured on {} ({})",
        measured.name, measured.machine.results
    );
    if !measured.borrowed.is_empty() {
        text.push_str(&format!("; {}", measured.borrowed));
    }
    text.push_str("; a transaction's are taken to be a wait's.");
    if !about.version.starts_with(measured.version) {
        text.push_str(&format!(
            "\nThis server is {}: it was not measured, and its events may cost something else.",
            about.version
        ));
    }
    text
}

/// Clock reads of a timed event.
pub fn reads(event_type: &str) -> f64 {
    match event_type {
        "memory" => 0.0,
        "stage" => 1.0,
        _ => 2.0,
    }
}

/// The unit costs of a type of event, with these consumers.
pub fn unit(about: &About, event_type: &str, consumers: &Consumers) -> Unit {
    let measured = costs_of(about);
    let (cycle, clock) = measured.machine.read_ns;
    let waits = match consumers.has("thread_instrumentation") {
        true => measured.waits.by_thread,
        false => measured.waits.global,
    };
    let (costs, read) = match event_type {
        "stage" => (measured.stage, clock),
        "statement" => (measured.statement, clock),
        // Not measured separately, and assumed to cost as much as a wait.
        "transaction" => (measured.waits.by_thread.first, clock),
        "memory" => ((measured.memory, measured.memory), 0.0),
        _ => (waits.next, cycle),
    };
    let is_statement = event_type == "statement";
    Unit {
        counting_ns: costs.0,
        timing_ns: costs.1 - costs.0,
        first_ns: match event_type {
            "stage" | "statement" | "transaction" | "memory" => (0.0, 0.0),
            _ => {
                let more = (waits.first.0 - waits.next.0, waits.first.1 - waits.next.1);
                (more.0, more.1 - more.0)
            }
        },
        read_ns: read,
        reads: reads(event_type),
        client_ns: if is_statement { measured.client } else { 0.0 },
        digest_ns: if is_statement && consumers.has("statements_digest") {
            measured.digest
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
mod tests {
    use super::*;

    fn consumers(names: &[&str]) -> Consumers {
        Consumers::new(names.iter().map(|&name| name.to_owned()))
    }

    fn about(version: &str) -> About {
        let product = match version.contains("MariaDB") {
            true => Product::MariaDb,
            false => Product::MySql,
        };
        About::from_version(product, version)
    }

    #[test]
    fn a_timed_event_costs_what_was_measured() {
        for measured in [
            &MYSQL_5_6,
            &MYSQL_5_7,
            &MYSQL_8_0,
            &MYSQL_9_7,
            &MARIADB_10_11,
            &MARIADB_11_4,
            &MARIADB_11_8,
        ] {
            assert!(measured.stage.1 >= measured.stage.0, "{}", measured.name);
            assert!(
                measured.statement.1 >= measured.statement.0,
                "{}",
                measured.name
            );
        }
        let unit = unit(
            &about("5.7.22"),
            "wait",
            &consumers(&["thread_instrumentation"]),
        );
        let waits = MYSQL_5_7.waits.by_thread;
        let all = unit.counting_ns + unit.timing_ns;
        assert!((all - waits.next.1).abs() < 1e-9);
        assert!((all + unit.first_ns.0 + unit.first_ns.1 - waits.first.1).abs() < 1e-9);
        assert_eq!(unit.read_ns, EPYC.read_ns.0);
    }

    #[test]
    fn digests_and_counting_by_thread_cost_if_their_consumers_are_on() {
        for (version, measured) in [
            ("5.6.24", &MYSQL_5_6),
            ("5.7.22", &MYSQL_5_7),
            ("8.0.15", &MYSQL_8_0),
            ("9.7.4", &MYSQL_9_7),
            ("10.11.19-MariaDB", &MARIADB_10_11),
            ("11.4.5-MariaDB", &MARIADB_11_4),
            ("11.8.9-MariaDB", &MARIADB_11_8),
        ] {
            let about = about(version);
            let of = |kind: &str, names: &[&str]| unit(&about, kind, &consumers(names));
            let digest = of("statement", &["statements_digest"]).digest_ns;
            assert_eq!(digest, measured.digest, "{version}");
            assert_eq!(of("statement", &[]).digest_ns, 0.0, "{version}");
            let global = of("wait", &[]);
            assert_eq!(
                global.counting_ns, measured.waits.global.next.0,
                "{version}"
            );
            let by_thread = of("wait", &["thread_instrumentation"]);
            assert_eq!(
                by_thread.counting_ns, measured.waits.by_thread.next.0,
                "{version}"
            );
        }
    }

    #[test]
    fn constants_of_another_version_are_reported() {
        let own = source(&about("5.7.22-log"));
        assert!(
            own.contains("measured on MySQL 5.7.22 ") && !own.contains("This server is"),
            "{own}"
        );
        for (version, words) in [
            ("5.7.44", "This server is 5.7.44"),
            ("8.4.3", "This server is 8.4.3"),
            ("9.8.0", "This server is 9.8.0"),
            ("9.7.4-log", "constants measured on MySQL 9.7.4 "),
            ("5.6.24", "waits, statements and histories on MySQL 5.7.22"),
            ("10.11.19-MariaDB", "memory and histories on MySQL 5.7.22"),
            ("10.6.4-MariaDB", "This server is 10.6.4-MariaDB"),
            ("11.4.2-MariaDB", "constants measured on MariaDB 11.4.5 "),
            ("11.7.2-MariaDB", "This server is 11.7.2-MariaDB"),
            ("12.1.2-MariaDB", "This server is 12.1.2-MariaDB"),
        ] {
            let text = source(&about(version));
            assert!(text.contains(words), "{version}: {text}");
        }
        for version in [
            "10.11.19-MariaDB",
            "9.7.4",
            "9.7.4-log",
            "11.4.5-MariaDB",
            "11.8.8-MariaDB-0+deb13u1",
        ] {
            let text = source(&about(version));
            assert!(!text.contains("This server is"), "{version}: {text}");
        }
    }
}
