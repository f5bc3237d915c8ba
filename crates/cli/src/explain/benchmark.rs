//! Measures the cost of one event with an engine in this process that has the server's settings.
//!
//! A server does much between two events, so that the engine's code and counters leave the processor's
//! nearest caches. So each round first does other work: it sends through a pair of sockets, queries a
//! database in memory and walks some memory. Then it reads the clock, does the event, and reads the
//! clock again. The mean of the middle half of the rounds is accurate to a nanosecond even on a busy
//! machine, because disturbed rounds are not in it.

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use tare::digest::Digest;
use tare::table::{Classes, Handle, Table};
use tare::{Class, Config, Counter, Kind, LockTiming, Operation, Setting, TableLock, sync};

use super::database::Database;
use super::unit::{Cost, Unit};

/// A class that is registered at its first event. Classes of `tare::classes!` would be listed by `tare
/// serve`, too.
const fn class(kind: Kind, name: &'static str) -> Class {
    Class::new(kind, name, "")
}

static LOCK: Class = class(Kind::Mutex, "wait/synch/mutex/tare/explain");
static RWLOCK: Class = class(Kind::RwLock, "wait/synch/rwlock/tare/explain");
static COND: Class = class(Kind::Cond, "wait/synch/cond/tare/explain");
static FILE: Class = class(Kind::File, "wait/io/file/tare/explain");
static SOCKET: Class = class(Kind::Socket, "wait/io/socket/tare/explain");
static TABLE: Class = class(Kind::TableIo, "wait/io/table/tare/explain");
static TABLE_LOCK: Class = class(Kind::TableLock, "wait/lock/table/tare/explain");
static IDLE: Class = class(Kind::Idle, "idle");
static STAGE_A: Class = class(Kind::Stage, "stage/tare/explain_a");
static STAGE_B: Class = class(Kind::Stage, "stage/tare/explain_b");
static STATEMENT: Class = class(Kind::Statement, "statement/tare/explain");
static TRANSACTION: Class = class(Kind::Transaction, "transaction");
static HEAP: Class = class(Kind::Memory, "memory/tare/explain");

/// Settings of the server's engine.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Consumers, and whether they are on.
    pub consumers: Vec<(String, bool)>,
}

/// Rounds of each path in each turn, and turns, so that a temporary disturbance affects one of them.
const ROUNDS: usize = 150;
const TURNS: usize = 3;
/// Events after the first in a round of several.
const NEXT_EVENTS: usize = 8;
/// Events that fill the rings of history_long, so that measured events write to memory that is already mapped.
const HISTORY_EVENTS: usize = 10_000;
/// Memory that is walked between events: twice the nearest cache of a current processor.
const WALKED_BYTES: usize = 64 << 10;
/// Bytes of the lists in the two texts whose digests are computed.
const LIST_BYTES: (usize, usize) = (40, 400);

/// Objects that the events use.
struct Fixtures {
    mutex: sync::Mutex<u64>,
    rwlock: sync::RwLock<u64>,
    file: tare::file::Instance,
    socket: tare::socket::Instance,
    table: Handle,
    digest: Digest,
    texts: (String, String),
}

/// The text of a statement.
const TEXT: &str = "SELECT c FROM sbtest1 WHERE id = 4242";

/// Does a path's events `n` times.
type Body = fn(&mut Fixtures, usize);

/// A path: the kind of its events, their number per call, and a body whose time is subtracted.
struct Path {
    kind: Kind,
    events: usize,
    body: Body,
    baseline: Option<Body>,
}

const fn path(kind: Kind, events: usize, body: Body) -> Path {
    Path {
        kind,
        events,
        body,
        baseline: None,
    }
}

/// A path whose events come with a statement each. The time of the statement is subtracted.
const fn path_of_statements(kind: Kind, body: Body) -> Path {
    Path {
        baseline: Some(|fixtures, n| statements(fixtures, n, |_| {})),
        ..path(kind, 1, body)
    }
}

const PATHS: [Path; 12] = [
    path(Kind::Mutex, 1, |fixtures, n| {
        for _ in 0..n {
            *black_box(&fixtures.mutex).lock() += 1;
        }
    }),
    path(Kind::RwLock, 1, |fixtures, n| {
        for _ in 0..n {
            black_box(*black_box(&fixtures.rwlock).read());
        }
    }),
    path(Kind::Cond, 1, |_, n| {
        for _ in 0..n {
            drop(black_box(tare::wait::start(&COND, Operation::Wait)));
        }
    }),
    path(Kind::File, 1, |fixtures, n| {
        for _ in 0..n {
            fixtures.file.wait(Operation::Read).bytes(black_box(4096));
        }
    }),
    path(Kind::TableIo, 1, |fixtures, n| {
        for _ in 0..n {
            fixtures
                .table
                .io(Operation::Fetch, Some(0))
                .rows(black_box(1));
        }
    }),
    path(Kind::TableLock, 1, |fixtures, n| {
        for _ in 0..n {
            fixtures.table.locked(TableLock::ReadExternal);
            fixtures.table.unlocked();
        }
    }),
    path(Kind::Stage, 1, |_, n| {
        for i in 0..n {
            tare::stage::set(if i % 2 == 0 { &STAGE_A } else { &STAGE_B });
        }
    }),
    path(Kind::Memory, 2, |_, n| {
        for _ in 0..n {
            tare::memory::allocated(&HEAP, black_box(64));
            tare::memory::freed(&HEAP, black_box(64));
        }
    }),
    path(Kind::Statement, 1, |fixtures, n| {
        statements(fixtures, n, |_| {})
    }),
    path_of_statements(Kind::Transaction, |fixtures, n| {
        statements(fixtures, n, |_| {
            let transaction =
                tare::transaction::of_statement(&TRANSACTION, tare::transaction::Mode::default());
            drop(black_box(transaction));
        });
    }),
    // The send follows a statement, as a server's answer does.
    path_of_statements(Kind::Socket, |fixtures, n| {
        for _ in 0..n {
            statements(fixtures, 1, |_| {});
            fixtures.socket.follow(Operation::Send).bytes(black_box(64));
        }
    }),
    path_of_statements(Kind::Idle, |fixtures, n| {
        for _ in 0..n {
            statements(fixtures, 1, |_| {});
            drop(black_box(tare::idle::start(&IDLE)));
        }
    }),
];

/// Statements with a known digest, such as those of `tare serve` and prepared ones.
fn statements(fixtures: &mut Fixtures, n: usize, within: fn(&mut Fixtures)) {
    for _ in 0..n {
        let statement = tare::statement::start(&STATEMENT);
        statement.prepared(black_box(TEXT), &fixtures.digest);
        within(fixtures);
        statement.set_all([(Counter::RowsSent, 1), (Counter::RowsExamined, 1)]);
    }
}

impl Fixtures {
    fn new() -> Self {
        let classes = Classes {
            io: &TABLE,
            lock: &TABLE_LOCK,
        };
        let text = |bytes: usize| {
            format!(
                "SELECT c FROM t WHERE id IN ({}1)",
                "12, ".repeat(bytes / 4)
            )
        };
        Self {
            mutex: sync::Mutex::new(&LOCK, 0),
            rwlock: sync::RwLock::new(&RWLOCK, 0),
            file: tare::file::Instance::open(&FILE, "/tare/explain"),
            // No socket of this process has that descriptor.
            socket: tare::socket::Instance::new(&SOCKET, -1),
            table: Table::new(classes, "tare", "explain", &["PRIMARY"]).open(),
            digest: Digest::of(TEXT),
            texts: (text(LIST_BYTES.0), text(LIST_BYTES.1)),
        }
    }
}

/// The work of a server between two events.
struct OtherWork {
    client: UnixStream,
    server: UnixStream,
    memory: Vec<u64>,
    database: Database,
}

impl OtherWork {
    fn new() -> Option<Self> {
        let (client, server) = UnixStream::pair().ok()?;
        Some(Self {
            client,
            server,
            memory: vec![1; WALKED_BYTES / 8],
            database: Database::new().ok()?,
        })
    }

    fn run(&mut self) {
        let mut packet = [0; 64];
        // A failure only makes the work shorter.
        let _ = self.server.write_all(&packet);
        let _ = self.client.read_exact(&mut packet);
        let _ = black_box(self.database.select());
        // One word of each cache line.
        for word in self.memory.iter_mut().step_by(8) {
            *word = black_box(word.wrapping_add(1));
        }
    }
}

/// The measured unit costs.
pub struct Benchmark {
    units: Vec<(Kind, Unit)>,
    text: (f64, f64),
}

/// Rounds of one path in one state.
#[derive(Clone)]
struct Rounds {
    one: Vec<f64>,
    several: Vec<f64>,
}

impl Rounds {
    const NEW: Self = Self {
        one: Vec::new(),
        several: Vec::new(),
    };

    fn add(
        &mut self,
        other_work: &mut OtherWork,
        fixtures: &mut Fixtures,
        body: Body,
        baseline: Option<Body>,
    ) {
        let mut round = |n: usize| {
            let mut time = |body: Body| {
                other_work.run();
                let began = Instant::now();
                body(fixtures, n);
                began.elapsed().as_nanos() as f64
            };
            let total = time(body);
            total - baseline.map_or(0.0, |baseline| time(baseline))
        };
        self.one.push(round(1));
        self.several.push(round(1 + NEXT_EVENTS));
    }

    /// Nanoseconds of the first event, and of any other.
    fn each(&self) -> (f64, f64) {
        let (one, several) = (midmean(&self.one), midmean(&self.several));
        (one, (several - one) / NEXT_EVENTS as f64)
    }
}

/// The mean of the middle half.
fn midmean(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = &sorted[sorted.len() / 4..sorted.len() - sorted.len() / 4];
    half.iter().sum::<f64>() / half.len().max(1) as f64
}

/// Off, counted, timed.
const STATES: [Setting; 3] = [Setting::Off, Setting::Counted, Setting::On];

impl Benchmark {
    /// Measures; `None` if the engine cannot start.
    pub fn run(setup: &Setup) -> Option<Self> {
        let mut other_work = OtherWork::new()?;
        let mut rounds = vec![[Rounds::NEW; STATES.len()]; PATHS.len()];
        let mut texts = [Rounds::NEW; 3];
        for _ in 0..TURNS {
            for (state, setting) in STATES.into_iter().enumerate() {
                start(setup, setting)?;
                let mut fixtures = Fixtures::new();
                for (path, rounds) in PATHS.iter().zip(&mut rounds) {
                    path.measure(&mut other_work, &mut fixtures, setup, &mut rounds[state]);
                }
            }
            tare::stop();
            let mut fixtures = Fixtures::new();
            let bodies: [Body; 3] = [
                |_, _| {},
                |fixtures, _| _ = black_box(Digest::of(&fixtures.texts.0)),
                |fixtures, _| _ = black_box(Digest::of(&fixtures.texts.1)),
            ];
            for (body, rounds) in bodies.into_iter().zip(&mut texts) {
                for _ in 0..ROUNDS {
                    rounds.add(&mut other_work, &mut fixtures, body, None);
                }
            }
        }
        let units =
            (PATHS.iter().zip(&rounds)).map(|(path, rounds)| (path.kind, path.unit(rounds)));
        let fixtures = Fixtures::new();
        let [none, short, long] = texts.map(|rounds| rounds.each().0);
        let (short, long) = (short - none, long - none);
        let byte = (long - short) / (fixtures.texts.1.len() - fixtures.texts.0.len()) as f64;
        Some(Self {
            units: units.collect(),
            text: (short - byte * fixtures.texts.0.len() as f64, byte),
        })
    }

    /// The cost of an event of a kind, if it was measured.
    pub fn unit(&self, kind: Kind) -> Option<Unit> {
        // A kind without a path of its own costs as much as a similar kind.
        let kind = match kind {
            Kind::SxLock => Kind::RwLock,
            Kind::MetadataLock => Kind::TableLock,
            other => other,
        };
        self.units
            .iter()
            .find(|(of, _)| *of == kind)
            .map(|(_, unit)| *unit)
    }

    /// Nanoseconds for a text's digest, and for each of its bytes.
    pub fn text(&self) -> (f64, f64) {
        self.text
    }
}

/// Starts an engine in this process with everything off, counted or timed.
fn start(setup: &Setup, setting: Setting) -> Option<()> {
    tare::stop();
    tare::start(
        Config::default()
            .instruments([("%", setting)])
            .consumers(setup.consumers.clone())
            .lock_timing(LockTiming::Every),
    )
    .ok()
}

impl Path {
    fn measure(
        &self,
        other_work: &mut OtherWork,
        fixtures: &mut Fixtures,
        setup: &Setup,
        rounds: &mut Rounds,
    ) {
        // A server's events are nested in a statement and its stage.
        let is_within = !matches!(
            self.kind,
            Kind::Statement | Kind::Transaction | Kind::Socket | Kind::Idle
        );
        let _statement = is_within.then(|| tare::statement::start(&STATEMENT));
        if is_within {
            tare::stage::set(&STAGE_A);
        }
        let fills_history = |(name, on): &(String, bool)| *on && name.ends_with("_history_long");
        let fills = if setup.consumers.iter().any(fills_history) {
            HISTORY_EVENTS
        } else {
            1 + NEXT_EVENTS
        };
        (self.body)(fixtures, fills);
        for _ in 0..ROUNDS {
            rounds.add(other_work, fixtures, self.body, self.baseline);
        }
    }

    fn unit(&self, rounds: &[Rounds; STATES.len()]) -> Unit {
        let [off, counted, timed] = rounds.each_ref().map(Rounds::each);
        let events = self.events as f64;
        let more = |on: f64, off: f64| ((on - off) / events).max(0.0);
        Unit {
            first: Cost {
                counted: more(counted.0, off.0),
                timed: more(timed.0, off.0),
            },
            next: Cost {
                counted: more(counted.1, off.1),
                timed: more(timed.1, off.1),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_are_not_in_the_middle_half() {
        let mut rounds: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i % 2)).collect();
        rounds.extend([1e6; 20]);
        assert!(
            (50.0..51.0).contains(&midmean(&rounds)),
            "{}",
            midmean(&rounds)
        );
        assert_eq!(midmean(&[7.0]), 7.0);
    }
}
