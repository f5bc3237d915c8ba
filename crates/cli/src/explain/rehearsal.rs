//! The engine at work in our own process, set as the server's is: what one event takes, by the clock.
//!
//! A server does a great deal between two events, and the engine's code and counters have left the processor's nearest caches when
//! the next comes. So before each round something is done that leaves them as a statement does (an answer is sent and a
//! request read through a pair of sockets, a database in memory is asked, some memory is walked); only then the clock is read, the event
//! happens, and the clock is read again. What nobody else does can be seen so, to a nanosecond, on a machine that is busy:
//! a round that was disturbed is not in the middle half of them.

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use tare::digest::Digest;
use tare::table::{Classes, Handle, Table};
use tare::{Class, Config, Counter, Kind, LockTiming, Operation, Setting, TableLock, sync};

use super::database::Sample;
use super::unit::{Cost, Unit};

/// A class that only an engine of the rehearsal knows, from its first event on. Those of `tare::classes!` are listed by
/// all that this program does, `tare serve` too.
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

/// How the server's engine is set.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Consumers, and whether they are on.
    pub consumers: Vec<(String, bool)>,
}

/// Rounds of each path in each turn, and turns: what the machine does for a while hits one of them.
const ROUNDS: usize = 150;
const TURNS: usize = 3;
/// Events behind the first in a round of several.
const MORE: usize = 8;
/// Events that fill the rings of history_long: what is written afterwards is memory that the server, too, has long had.
const FILLS: usize = 10_000;
/// What a statement walks of its server's memory: twice the nearest cache of a processor of today.
const WALKED_BYTES: usize = 64 << 10;
/// Lengths of the texts whose digests are computed.
const TEXTS: (usize, usize) = (40, 400);

/// What paths act on.
struct Props {
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

/// A path, so often.
type Body = fn(&mut Props, usize);

/// A path: whose events it has, how many in one go, what they come on top of.
struct Path {
    kind: Kind,
    events: usize,
    body: Body,
    beside: Option<Body>,
}

const fn path(kind: Kind, events: usize, body: Body) -> Path {
    Path {
        kind,
        events,
        body,
        beside: None,
    }
}

/// One whose events come with a statement each: it is what they come on top of.
const fn path_of_statements(kind: Kind, body: Body) -> Path {
    Path {
        beside: Some(|props, n| statements(props, n, |_| {})),
        ..path(kind, 1, body)
    }
}

const PATHS: [Path; 12] = [
    path(Kind::Mutex, 1, |props, n| {
        for _ in 0..n {
            *black_box(&props.mutex).lock() += 1;
        }
    }),
    path(Kind::RwLock, 1, |props, n| {
        for _ in 0..n {
            black_box(*black_box(&props.rwlock).read());
        }
    }),
    path(Kind::Cond, 1, |_, n| {
        for _ in 0..n {
            drop(black_box(tare::wait::start(&COND, Operation::Wait)));
        }
    }),
    path(Kind::File, 1, |props, n| {
        for _ in 0..n {
            props.file.wait(Operation::Read).bytes(black_box(4096));
        }
    }),
    path(Kind::TableIo, 1, |props, n| {
        for _ in 0..n {
            props.table.io(Operation::Fetch, Some(0)).rows(black_box(1));
        }
    }),
    path(Kind::TableLock, 1, |props, n| {
        for _ in 0..n {
            props.table.locked(TableLock::ReadExternal);
            props.table.unlocked();
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
    path(Kind::Statement, 1, |props, n| statements(props, n, |_| {})),
    path_of_statements(Kind::Transaction, |props, n| {
        statements(props, n, |_| {
            let transaction =
                tare::transaction::of_statement(&TRANSACTION, tare::transaction::Mode::default());
            drop(black_box(transaction));
        });
    }),
    // Sent behind a statement, as a server answers it.
    path_of_statements(Kind::Socket, |props, n| {
        for _ in 0..n {
            statements(props, 1, |_| {});
            props.socket.follow(Operation::Send).bytes(black_box(64));
        }
    }),
    path_of_statements(Kind::Idle, |props, n| {
        for _ in 0..n {
            statements(props, 1, |_| {});
            drop(black_box(tare::idle::start(&IDLE)));
        }
    }),
];

/// Statements whose digest is known, as those of `tare serve` and of prepared ones are.
fn statements(props: &mut Props, n: usize, within: fn(&mut Props)) {
    for _ in 0..n {
        let statement = tare::statement::start(&STATEMENT);
        statement.prepared(black_box(TEXT), &props.digest);
        within(props);
        statement.set_all([(Counter::RowsSent, 1), (Counter::RowsExamined, 1)]);
    }
}

impl Props {
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
            texts: (text(TEXTS.0), text(TEXTS.1)),
        }
    }
}

/// What comes between two events in a server.
struct Meanwhile {
    client: UnixStream,
    server: UnixStream,
    memory: Vec<u64>,
    database: Sample,
}

impl Meanwhile {
    fn new() -> Option<Self> {
        let (client, server) = UnixStream::pair().ok()?;
        Some(Self {
            client,
            server,
            memory: vec![1; WALKED_BYTES / 8],
            database: Sample::new().ok()?,
        })
    }

    fn pass(&mut self) {
        let mut packet = [0; 64];
        // A failure would make the next pass shorter, and nothing wrong.
        let _ = self.server.write_all(&packet);
        let _ = self.client.read_exact(&mut packet);
        let _ = black_box(self.database.select());
        // A word of each line.
        for word in self.memory.iter_mut().step_by(8) {
            *word = black_box(word.wrapping_add(1));
        }
    }
}

/// What was measured.
pub struct Rehearsal {
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
        meanwhile: &mut Meanwhile,
        props: &mut Props,
        body: Body,
        beside: Option<Body>,
    ) {
        let mut round = |n: usize| {
            let mut time = |body: Body| {
                meanwhile.pass();
                let began = Instant::now();
                body(props, n);
                began.elapsed().as_nanos() as f64
            };
            let integer = time(body);
            integer - beside.map_or(0.0, |beside| time(beside))
        };
        self.one.push(round(1));
        self.several.push(round(1 + MORE));
    }

    /// Nanoseconds of the first event, and of any other.
    fn each(&self) -> (f64, f64) {
        let (one, several) = (middle(&self.one), middle(&self.several));
        (one, (several - one) / MORE as f64)
    }
}

/// The mean of the middle half.
fn middle(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = &sorted[sorted.len() / 4..sorted.len() - sorted.len() / 4];
    half.iter().sum::<f64>() / half.len().max(1) as f64
}

/// Off, counted, timed.
const STATES: [Setting; 3] = [Setting::Off, Setting::Counted, Setting::On];

impl Rehearsal {
    /// Measures; `None` where there can be no engine.
    pub fn run(setup: &Setup) -> Option<Self> {
        let mut meanwhile = Meanwhile::new()?;
        let mut rounds = vec![[Rounds::NEW; STATES.len()]; PATHS.len()];
        let mut texts = [Rounds::NEW; 3];
        for _ in 0..TURNS {
            for (state, setting) in STATES.into_iter().enumerate() {
                start(setup, setting)?;
                let mut props = Props::new();
                for (path, rounds) in PATHS.iter().zip(&mut rounds) {
                    path.rehearse(&mut meanwhile, &mut props, setup, &mut rounds[state]);
                }
            }
            tare::stop();
            let mut props = Props::new();
            let bodies: [Body; 3] = [
                |_, _| {},
                |props, _| _ = black_box(Digest::of(&props.texts.0)),
                |props, _| _ = black_box(Digest::of(&props.texts.1)),
            ];
            for (body, rounds) in bodies.into_iter().zip(&mut texts) {
                for _ in 0..ROUNDS {
                    rounds.add(&mut meanwhile, &mut props, body, None);
                }
            }
        }
        let units =
            (PATHS.iter().zip(&rounds)).map(|(path, rounds)| (path.kind, path.unit(rounds)));
        let props = Props::new();
        let [none, short, long] = texts.map(|rounds| rounds.each().0);
        let (short, long) = (short - none, long - none);
        let byte = (long - short) / (props.texts.1.len() - props.texts.0.len()) as f64;
        Some(Self {
            units: units.collect(),
            text: (short - byte * props.texts.0.len() as f64, byte),
        })
    }

    /// What an event of a kind costs, if it was measured.
    pub fn unit(&self, kind: Kind) -> Option<Unit> {
        // Those that are not rehearsed work as their neighbours do.
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

/// An engine of our own, everything off, counted or timed.
fn start(setup: &Setup, setting: Setting) -> Option<()> {
    tare::stop();
    tare::start(Config {
        instruments: vec![("%".into(), setting)],
        consumers: setup.consumers.clone(),
        lock_timing: LockTiming::Every,
        ..Config::default()
    })
    .ok()
}

impl Path {
    fn rehearse(
        &self,
        meanwhile: &mut Meanwhile,
        props: &mut Props,
        setup: &Setup,
        rounds: &mut Rounds,
    ) {
        // Events of a server nest in a statement and in its stage.
        let is_within = !matches!(
            self.kind,
            Kind::Statement | Kind::Transaction | Kind::Socket | Kind::Idle
        );
        let _statement = is_within.then(|| tare::statement::start(&STATEMENT));
        if is_within {
            tare::stage::set(&STAGE_A);
        }
        let keeps = |(name, on): &(String, bool)| *on && name.ends_with("_history_long");
        let fills = if setup.consumers.iter().any(keeps) {
            FILLS
        } else {
            1 + MORE
        };
        (self.body)(props, fills);
        for _ in 0..ROUNDS {
            rounds.add(meanwhile, props, self.body, self.beside);
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
    fn what_was_disturbed_is_not_in_the_middle() {
        let mut rounds: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i % 2)).collect();
        rounds.extend([1e6; 20]);
        assert!(
            (50.0..51.0).contains(&middle(&rounds)),
            "{}",
            middle(&rounds)
        );
        assert_eq!(middle(&[7.0]), 7.0);
    }
}
