//! The work for a statement grows with its length, not with its square. The tests count the work and measure no
//! time. Each step of the work checks whether the statement was killed.

#[expect(dead_code, reason = "other tests use the rest")]
mod hostile_statements;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hostile_statements::Tables;
use tare_dialect::function::Signature;
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, View};
use tare_dialect::{Mode, translate::translate};
use tare_mysql::Result;
use tare_mysql::error::SqlError;
use tare_mysql::interrupt::{StopSignal, begin_statement};
use tare_mysql::table::TableDef;
use tare_mysql::wire::column::WireType;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Counts the bytes that this thread allocates.
struct Counted;

// SAFETY: the system's allocator does all; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size() as u64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Counts lookups: each operand of the statements below looks up a type.
#[derive(Default)]
struct Counting {
    tables: Tables,
    requests: Cell<u64>,
}

impl Counting {
    fn count(&self) {
        self.requests.set(self.requests.get() + 1);
    }
}

impl Schema for Counting {
    fn user_table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        self.count();
        self.tables.user_table(database, table)
    }

    fn system_table(&self, schema: &str, table: &str) -> Option<Vec<SystemColumn>> {
        self.count();
        self.tables.system_table(schema, table)
    }

    fn view(&self, name: &str) -> Option<&'static dyn View> {
        self.tables.view(name)
    }

    fn routine(&self, name: &str) -> Option<&'static dyn Routine> {
        self.tables.routine(name)
    }

    fn procedure(&self, name: &str) -> Option<&'static Procedure> {
        self.tables.procedure(name)
    }

    fn function(&self, name: &str) -> Option<&'static Signature> {
        self.count();
        self.tables.function(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        self.count();
        self.tables.variable(name)
    }
}

/// What may be repeated without parentheses: `{link}` is.
const CHAINS: &[&str] = &[
    "SELECT 1{ UNION ALL SELECT @@max_connections}",
    "SELECT 1{ UNION SELECT @@max_connections}",
    "SELECT @@max_connections{+@@max_connections}",
    "SELECT @@max_connections{-@@max_connections}",
    "SELECT @@max_connections{+1.5}",
    "SELECT @@max_connections{*1.5}",
    "SELECT @@max_connections{*@@max_connections}",
    "SELECT @@max_connections{/@@max_connections}",
    "SELECT @@max_connections{%@@max_connections}",
    "SELECT @@max_connections{ DIV @@max_connections}",
    "SELECT @@max_connections{ MOD @@max_connections}",
    "SELECT @@max_connections{=@@max_connections}",
    "SELECT @@max_connections{<=>@@max_connections}",
    "SELECT @@max_connections{< @@max_connections}",
    "SELECT @@max_connections{ XOR @@max_connections}",
    "SELECT @@max_connections{ ^ @@max_connections}",
    "SELECT @@max_connections{<< @@max_connections}",
    "SELECT @@max_connections{|@@max_connections}",
    "SELECT @@max_connections{ AND @@max_connections}",
    "SELECT @@max_connections{ OR @@max_connections}",
    "SELECT @@max_connections{||@@max_connections}",
    "SELECT @@max_connections{+1=1}",
    "SELECT @@max_connections{+1 IN (1, @@max_connections)}",
    "SELECT @@max_connections{+1 BETWEEN 1 AND @@max_connections}",
    "SELECT @@max_connections{ + INTERVAL 1 DAY}",
    "SELECT @@max_connections{ LIKE @@max_connections}",
    "SELECT @@max_connections{, @@max_connections}",
    "SELECT 1 IN (1{, @@max_connections})",
    "SELECT GREATEST(1{, @@max_connections})",
    "SELECT CONCAT(1{, @@max_connections})",
    "SELECT CASE 1{ WHEN @@max_connections THEN @@max_connections} END",
    "SELECT 1 ORDER BY 1{, @@max_connections}",
    "SELECT n FROM t GROUP BY n{, @@max_connections}",
    "INSERT INTO t (n) VALUES (1){, (@@max_connections)}",
    "UPDATE t SET n=n{+@@max_connections}",
    "DELETE FROM t WHERE n=1{ OR n=@@max_connections}",
    "SELECT 1 FROM t WHERE n=1{ OR n=@@max_connections}",
    "SELECT @@max_connections{ NOT LIKE 'a'}",
    "SELECT @@max_connections{ REGEXP 'a'}",
    "SELECT @@max_connections{ SOUNDS LIKE 'a'}",
    "SELECT n FROM t WHERE v{ LIKE 'a%'}",
    "SELECT 'é'{, 'é'}",
    "SELECT CONCAT(1{, CHAR(65)})",
    "SELECT CAST('1' AS JSON){ = @@max_connections}",
    "SELECT 1{ OR CAST('1' AS JSON) = @@max_connections}",
    "SELECT CAST('1' AS JSON) IN (1{, @@max_connections})",
    "SELECT 1{ + CAST('1' AS JSON)}",
    "SELECT CASE CAST('1' AS JSON){ WHEN @@max_connections THEN 1} END",
];

/// What nests: `{before}inner{behind}`.
const NESTED: &[&str] = &[
    "SELECT {(}@@max_connections{)}",
    "SELECT {ABS(}@@max_connections{)}",
    "SELECT {MOD(}@@max_connections{, 7)}",
    "SELECT {COALESCE(1.5, }@@max_connections{)}",
    "SELECT {FROM_UNIXTIME(}@@max_connections{)}",
    "SELECT {UNIX_TIMESTAMP(}@@max_connections{)}",
    "SELECT {ROUND(}@@max_connections{, 1)}",
    "SELECT {FLOOR(}@@max_connections{)}",
    "SELECT {CEIL(}@@max_connections{)}",
    "SELECT {REVERSE(}@@max_connections{)}",
    "SELECT {DATE_ADD(}@@max_connections{, INTERVAL 1 DAY)}",
    "SELECT {NULLIF(}@@max_connections{, 1)}",
    "SELECT {IF(1, 2.5, }@@max_connections{)}",
    "SELECT {JSON_ARRAY(}@@max_connections{)}",
    "SELECT {1+(}@@max_connections{)}",
    "SELECT {(}@@max_connections{*2)}",
    "SELECT {CASE WHEN 0 THEN 1 ELSE }@@max_connections{ END}",
    "SELECT {CASE }@@max_connections{ WHEN 1 THEN 1 END}",
    "SELECT {CASE WHEN }@@max_connections{ THEN 1.5 END}",
    "SELECT {CAST(}@@max_connections{ AS DECIMAL(10,2))}",
    "SELECT {NOT }@@max_connections{}",
    "SELECT {- }@@max_connections{}",
    "SELECT {~ }@@max_connections{}",
    "SELECT {(SELECT }@@max_connections{)}",
    "SELECT {1+(SELECT }@@max_connections{)}",
    "SELECT {EXISTS (SELECT }@@max_connections{)}",
    "SELECT {1 IN (SELECT }@@max_connections{)}",
    "SELECT * FROM {(SELECT * FROM }t{) d}",
    "{WITH c AS (}SELECT @@max_connections{) SELECT * FROM c}",
    "SELECT {CHAR(}65{)}",
    "SELECT {IFNULL(}@@max_connections{, 2.5)}",
    "SELECT {1 + MOD(}@@max_connections{, 7)}",
    "SELECT {1 DIV (}@@max_connections{)}",
    "SELECT {JSON_EXTRACT(}'1'{, '$')}",
    "SELECT {CAST(}@@max_connections{ AS JSON)}",
    "SELECT {1 = CAST(}@@max_connections{ AS JSON)}",
];

fn nested(construct: &str, levels: usize) -> String {
    let mut text = String::new();
    for (i, part) in construct.split(['{', '}']).enumerate() {
        match i % 2 {
            0 => text.push_str(part),
            _ => text.push_str(&part.repeat(levels)),
        }
    }
    text
}

/// The number of lookups for a construct of so many levels, and the bytes that it allocates.
fn work(construct: &str, levels: usize) -> (u64, u64) {
    let mut schema = Counting::default();
    let text = nested(construct, levels);
    let before = ALLOCATED.get();
    let plan = translate(&text, Some("test"), &mut schema, 1, Mode::default());
    let bytes = ALLOCATED.get() - before;
    assert!(plan.is_ok(), "{construct} of {levels}: {:?}", plan.err());
    (schema.requests.get(), bytes)
}

/// Asserts that twice the levels are at most `times` the work.
fn grows(construct: &str, levels: usize, times: f64) {
    let (half, full) = (work(construct, levels / 2), work(construct, levels));
    for (what, half, full) in [("requests", half.0, full.0), ("bytes", half.1, full.1)] {
        let most = half as f64 * times + 5000.0;
        assert!(
            full as f64 <= most,
            "{construct} of {levels}: {what} {half}, then {full}"
        );
    }
}

#[test]
fn the_work_of_a_chain_grows_with_its_length() {
    // The factor is 2, plus what tables take that double their capacity.
    for construct in CHAINS {
        grows(construct, 2000, 2.7);
    }
}

#[test]
fn the_work_of_what_nests_does_not_explode() {
    // At most with the square: there are 256 parentheses in one another, and no more.
    for construct in NESTED {
        grows(construct, 60, 4.5);
    }
}

/// Ends a statement at the n-th check; never, if n is 0.
#[derive(Default)]
struct Nth {
    checks: AtomicU64,
    stop_at: u64,
}

impl StopSignal for Nth {
    fn must_stop(&self) -> bool {
        let checks = self.checks.fetch_add(1, Ordering::Relaxed) + 1;
        self.stop_at > 0 && checks >= self.stop_at
    }

    fn interruption(&self) -> SqlError {
        SqlError::interrupted()
    }
}

/// The number of checks until the `stop_at`-th one ends the statement, and its error.
fn count_checks(text: &str, stop_at: u64) -> (u64, u16) {
    let watch = Arc::new(Nth {
        stop_at,
        ..Nth::default()
    });
    let mut schema = Counting::default();
    let _statement = begin_statement(&watch);
    let plan = translate(text, Some("test"), &mut schema, 1, Mode::default());
    (
        watch.checks.load(Ordering::Relaxed),
        plan.map_or_else(|e| e.code(), |_| 0),
    )
}

#[test]
fn a_killed_statement_ends_while_it_is_translated() {
    for construct in CHAINS {
        let text = nested(construct, 2000);
        let (all, code) = count_checks(&text, 0);
        assert_eq!(code, 0, "{construct}");
        // Its tokens are read, measured, prepared, parsed and rewritten.
        assert!(all >= 5 * 2000 / 256, "{construct}: {all} looks");
        for stop_at in [1, all / 3, all * 2 / 3, all] {
            let (count, code) = count_checks(&text, stop_at);
            assert_eq!((count, code), (stop_at, 1317), "{construct} at {stop_at}");
        }
    }
}

#[test]
fn lists_of_a_statement_have_limits() {
    let list = |item: &str, count: usize| vec![item; count].join(", ");
    for (text, code) in [
        (format!("SELECT {}", list("1", 4096)), 0),
        (format!("SELECT {}", list("1", 4097)), 1117),
        (format!("SELECT 1 ORDER BY {}", list("1", 4097)), 1117),
        (
            format!("SELECT n FROM t GROUP BY {}", list("n", 4097)),
            1117,
        ),
        (
            format!("INSERT INTO t ({}) VALUES (1)", list("n", 4097)),
            1117,
        ),
        (format!("UPDATE t SET {}", list("n = 1", 4097)), 1117),
        (format!("SELECT 1 FROM t, {}", list("u", 61)), 1116),
    ] {
        assert_eq!(count_checks(&text, 0).1, code, "{}", &text[..60]);
    }
}
