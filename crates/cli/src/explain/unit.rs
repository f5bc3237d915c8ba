//! What events of Tare's engine cost on this host: measured on an engine of our own, set as the server's is.

use tare_layout::Kind;
use tare_layout::class::KINDS;
use tare_rows::cost;

use super::rehearsal::{Rehearsal, Setup};
use crate::observe::table::{Side, lines};

/// What one event costs beyond one whose instrument is off, in nanoseconds of CPU, its clock reads included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Counted.
    pub counted: f64,
    /// Counted and timed.
    pub timed: f64,
}

/// One event: an instrument's first in a statement finds the engine's code and its own counters out of the processor's nearest caches,
/// what follows in the same statement finds them there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unit {
    /// The first.
    pub first: Cost,
    /// Any other.
    pub next: Cost,
}

impl Unit {
    /// So many events, of which so many were timed and so many their statement's first: nanoseconds for counting, and for timing.
    pub fn price(&self, count: f64, timed: f64, first: f64) -> (f64, f64) {
        let first = if count > 0.0 {
            first.min(count) / count
        } else {
            0.0
        };
        let mean = |of: fn(&Cost) -> f64| of(&self.first) * first + of(&self.next) * (1.0 - first);
        let counted = mean(|cost| cost.counted);
        let timing = mean(|cost| cost.timed) - counted;
        (count * counted, timed * timing)
    }
}

/// What is known of this host.
#[derive(Debug, Clone, Default)]
pub struct Units {
    by_kind: Vec<(Kind, Unit)>,
    /// Reading a statement's text for its digest: nanoseconds for the text, and for each byte of it.
    text: (f64, f64),
    /// Whether it was measured here.
    pub measured: bool,
}

/// What is measured, as it is called in the report.
const NAMES: [(Kind, &str); 12] = [
    (Kind::Statement, "a statement whose digest is known"),
    (Kind::Transaction, "its transaction"),
    (Kind::Stage, "a stage"),
    (Kind::Idle, "idle"),
    (Kind::Socket, "a socket's operation"),
    (Kind::TableIo, "rows of a table"),
    (Kind::TableLock, "a table's lock"),
    (Kind::File, "a file's operation"),
    (Kind::Cond, "any other wait"),
    (
        Kind::Mutex,
        "a free mutex (timed by lock_timing = every alone)",
    ),
    (Kind::RwLock, "a free rwlock (the same)"),
    (Kind::Memory, "an allocation or a free"),
];

impl Units {
    /// Measures; what cannot be measured here is as documented, in reads of the clock that take `read_ns`.
    pub fn measure(setup: &Setup, read_ns: f64) -> Self {
        let all_documented = || Self {
            by_kind: (KINDS.iter())
                .map(|&kind| (kind, documented(kind, read_ns)))
                .collect(),
            text: (0.0, 0.0),
            measured: false,
        };
        if !cfg!(feature = "instrument") {
            return all_documented();
        }
        let Some(rehearsal) = Rehearsal::run(setup) else {
            return all_documented();
        };
        let of = |kind| {
            rehearsal
                .unit(kind)
                .unwrap_or_else(|| documented(kind, read_ns))
        };
        Self {
            by_kind: KINDS.iter().map(|&kind| (kind, of(kind))).collect(),
            text: rehearsal.text(),
            measured: true,
        }
    }

    /// What an event of this instrument costs.
    pub fn of(&self, name: &str) -> Unit {
        self.unit(kind_of(name))
    }

    fn unit(&self, kind: Kind) -> Unit {
        let found = self.by_kind.iter().find(|(of, _)| *of == kind);
        found.map(|(_, unit)| *unit).unwrap_or_default()
    }

    /// Nanoseconds for so many texts that were read for their digests, of so many bytes each.
    pub fn texts(&self, texts: f64, bytes: f64) -> f64 {
        texts * (self.text.0 + bytes * self.text.1).max(0.0)
    }

    /// What was measured, as lines.
    pub fn summary(&self) -> String {
        if !self.measured {
            return "Unit costs apart from clock reads: constants from docs/results/2026-11-21-engine.".to_owned();
        }
        let heads = ["COUNTED", "TIMED", "NEXT COUNTED", "NEXT TIMED"];
        let heads = heads.map(|head| (head.to_owned(), Side::Right));
        let heads: Vec<_> = heads
            .into_iter()
            .chain([("EVENT".to_owned(), Side::Left)])
            .collect();
        let row = |kind: Kind, name: &str| {
            let unit = self.unit(kind);
            let costs = [
                unit.first.counted,
                unit.first.timed,
                unit.next.counted,
                unit.next.timed,
            ];
            let costs = costs.map(|ns| format!("{ns:.1}"));
            costs.into_iter().chain([name.to_owned()]).collect()
        };
        let rows: Vec<Vec<String>> = NAMES.iter().map(|&(kind, name)| row(kind, name)).collect();
        let text = format!(
            "Reading a text of 100 bytes for its digest: {:.0} ns.",
            self.texts(1.0, 100.0)
        );
        let title = "Cost of one event in ns, measured here, above the cost of a disabled one: an instrument's first in a statement, and those that follow (next):";
        let table = lines(&heads, &rows);
        [title.to_owned()]
            .into_iter()
            .chain(table)
            .chain([text])
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// As documented, wherever it finds its counters.
fn documented(kind: Kind, read_ns: f64) -> Unit {
    let unit = cost::unit(kind);
    let counted = unit.counting * read_ns;
    let cost = Cost {
        counted,
        timed: counted + (unit.recording + unit.reads as f64) * read_ns,
    };
    Unit {
        first: cost,
        next: cost,
    }
}

/// The kind of event that an instrument's name stands for.
fn kind_of(name: &str) -> Kind {
    // MySQL's prlock is a rwlock.
    if name.starts_with("wait/synch/prlock/") {
        return Kind::RwLock;
    }
    let mut found = KINDS
        .into_iter()
        .filter(|kind| name.starts_with(kind.prefix()));
    found.next().unwrap_or(Kind::Cond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_its_kind() {
        for (name, kind) in [
            ("wait/synch/mutex/sql/LOCK_open", Kind::Mutex),
            ("wait/synch/cond/sql/COND_a", Kind::Cond),
            ("wait/io/file/sql/binlog", Kind::File),
            ("wait/lock/table/sql/handler", Kind::TableLock),
            ("stage/sql/init", Kind::Stage),
            ("idle", Kind::Idle),
            ("memory/sql/heap", Kind::Memory),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }

    #[test]
    fn the_first_of_a_statement_costs_more() {
        let unit = Unit {
            first: Cost {
                counted: 20.0,
                timed: 60.0,
            },
            next: Cost {
                counted: 10.0,
                timed: 30.0,
            },
        };
        // Ten events in four statements, half of them timed.
        assert_eq!(unit.price(10.0, 5.0, 4.0), (140.0, 140.0));
        // Seldomer than statements: each is a first.
        assert_eq!(unit.price(2.0, 2.0, 4.0), (40.0, 80.0));
        assert_eq!(unit.price(0.0, 0.0, 4.0), (0.0, 0.0));
    }
}
