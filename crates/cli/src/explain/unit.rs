//! The cost of events of Tare's engine on this host, measured with an engine in this process that has
//! the server's settings.

use tare_layout::Kind;
use tare_layout::class::KINDS;
use tare_rows::cost;

use super::benchmark::{Benchmark, Setup};
use crate::observe::table::{Side, lines};

/// The cost of one event beyond one whose instrument is off, in nanoseconds of CPU, including clock reads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Counted.
    pub counted: f64,
    /// Counted and timed.
    pub timed: f64,
}

/// The cost of an event. An instrument's first event in a statement misses the processor's nearest
/// caches; those that follow hit them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unit {
    /// The first event in a statement.
    pub first: Cost,
    /// Any other event.
    pub next: Cost,
}

impl Unit {
    /// Nanoseconds for counting and for timing so many events, of which some were timed and some the
    /// first in their statement.
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

/// Unit costs on this host.
#[derive(Debug, Clone, Default)]
pub struct Units {
    by_kind: Vec<(Kind, Unit)>,
    /// Parsing a statement's text for its digest: nanoseconds for the text, and for each byte.
    text: (f64, f64),
    /// Whether they were measured here.
    pub measured: bool,
}

/// Kinds of events and their names in the report.
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
        "a free mutex (timed only with lock_timing = every)",
    ),
    (Kind::RwLock, "a free rwlock (the same)"),
    (Kind::Memory, "an allocation or a free"),
];

impl Units {
    /// Measures unit costs. Those that cannot be measured here are documented constants, in clock reads
    /// of `read_ns`.
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
        let Some(benchmark) = Benchmark::run(setup) else {
            return all_documented();
        };
        let of = |kind| {
            benchmark
                .unit(kind)
                .unwrap_or_else(|| documented(kind, read_ns))
        };
        Self {
            by_kind: KINDS.iter().map(|&kind| (kind, of(kind))).collect(),
            text: benchmark.text(),
            measured: true,
        }
    }

    /// The cost of an event of this instrument.
    pub fn for_instrument(&self, name: &str) -> Unit {
        self.unit(kind_of(name))
    }

    fn unit(&self, kind: Kind) -> Unit {
        let unit = self.by_kind.iter().find(|(of, _)| *of == kind);
        unit.map(|(_, unit)| *unit).unwrap_or_default()
    }

    /// Nanoseconds for parsing so many texts of so many bytes each for their digests.
    pub fn texts_ns(&self, texts: f64, bytes: f64) -> f64 {
        texts * (self.text.0 + bytes * self.text.1).max(0.0)
    }

    /// The unit costs as lines of the report.
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
            self.texts_ns(1.0, 100.0)
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

/// The documented constants, which do not distinguish the first event.
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

/// The kind of an instrument's events.
fn kind_of(name: &str) -> Kind {
    // MySQL's prlock is a rwlock.
    if name.starts_with("wait/synch/prlock/") {
        return Kind::RwLock;
    }
    let mut kinds = KINDS
        .into_iter()
        .filter(|kind| name.starts_with(kind.prefix()));
    kinds.next().unwrap_or(Kind::Cond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruments_name_implies_its_kind() {
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
        // Fewer events than statements, so that each is a first.
        assert_eq!(unit.price(2.0, 2.0, 4.0), (40.0, 80.0));
        assert_eq!(unit.price(0.0, 0.0, 4.0), (0.0, 0.0));
    }
}
