//! A generated day of a fleet, with facts that the queries of docs/fleet.md reveal.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tare_reader::scheduler::State;

use tare_history::{
    Block, Deadlock, Error, GrowthRow, Holder, HolderState, LockKind, Moment, Party, ROW_LOCK_WAIT,
    SUMS, Sample, Text, Writer,
};

/// 2026-11-22 00:00 of UTC.
const MIDNIGHT: u64 = 1_795_305_600;

/// The hour of the deployment, from which [`DEPLOYED`] takes three times as long.
pub const DEPLOYMENT: u64 = 12;
/// The statement that the deployment made slow.
pub const DEPLOYED: usize = 2;
/// The statement that is new with the deployment.
pub const NEW: usize = 6;
/// The statement that takes five times as long on the first host.
pub const SLOW_AT_FIRST: usize = 1;
/// The hour in which thread 1 holds a metadata lock that thread 3 waits for.
pub const BLOCKED: u64 = 14;
/// The hour in which thread 3 waits for a row lock of thread 9, which is idle.
pub const ROW_BLOCKED: u64 = 16;
/// Until this hour thread 4 runs, although it is inside a wait.
pub const SPINS_UNTIL: u64 = 9;
/// The hour that the last host did not record.
pub const GAP: u64 = 5;

/// Statements: text, calls a minute, nanoseconds of a call, rows examined and sent by a call.
#[rustfmt::skip] // One statement, one line.
pub const STATEMENTS: [(&str, u64, u64, u64, u64); 8] = [
    ("SELECT `name` FROM `shop` . `customers` WHERE `id` = ?", 600, 200_000, 1, 1),
    ("SELECT * FROM `shop` . `orders` WHERE `customer` = ?", 300, 600_000, 20, 20),
    ("SELECT SUM ( `price` ) FROM `shop` . `items` WHERE `order` = ?", 120, 1_000_000, 8, 1),
    ("UPDATE `shop` . `stock` SET `left` = `left` - ? WHERE `item` = ?", 60, 800_000, 1, 0),
    ("INSERT INTO `shop` . `orders` VALUES (...)", 60, 900_000, 0, 0),
    ("SELECT * FROM `shop` . `orders` WHERE `comment` LIKE ?", 6, 40_000_000, 100_000, 10),
    ("DELETE FROM `shop` . `baskets` WHERE `changed` < ?", 6, 2_000_000, 40, 0),
    ("ALTER TABLE `shop` . `orders` ADD INDEX ( `comment` )", 6, 90_000_000, 0, 0),
];

/// Waits that are counted: name, events and nanoseconds a minute.
pub const WAITS: [(&str, u64, u64); 3] = [
    ("wait/io/file/innodb/innodb_data_file", 12_000, 900_000_000),
    ("wait/synch/mutex/innodb/buf_pool_mutex", 60_000, 30_000_000),
    ("wait/lock/metadata/sql/mdl", 600, 60_000_000),
];

/// Files: name, bytes read and written a minute.
pub const FILES: [(&str, u64, u64); 3] = [
    ("/var/lib/mysql/shop/orders.ibd", 60_000_000, 6_000_000),
    ("/var/lib/mysql/ib_logfile0", 0, 30_000_000),
    ("/var/lib/mysql/shop/items.ibd", 12_000_000, 600_000),
];

/// The size of a day.
#[derive(Clone, Copy, Debug)]
pub struct Day {
    /// Hosts, from db0000 on.
    pub hosts: usize,
    /// Seconds between moments; they divide a minute.
    pub moments: u64,
    /// Minutes between growth; they divide an hour.
    pub growth: u64,
    /// Days, all with the same facts.
    pub days: u64,
}

/// The digest of a statement.
pub fn digest(statement: usize) -> String {
    format!("{statement:08x}{:056x}", 0x7a7e)
}

/// The name of a host.
pub fn host(number: usize) -> String {
    format!("db{number:04}")
}

impl Day {
    /// Writes the day with the recorder's writer.
    pub fn write(&self, root: &Path) -> Result<(), Error> {
        (0..self.hosts).try_for_each(|number| self.host(root, number))
    }

    /// Whether a host records in an hour.
    pub fn records(&self, number: usize, hour: u64) -> bool {
        number + 1 < self.hosts || hour != GAP
    }

    /// Calls of a statement in a minute.
    pub fn calls(&self, statement: usize, hour: u64) -> u64 {
        match statement {
            NEW if hour < DEPLOYMENT => 0,
            _ => STATEMENTS[statement].1,
        }
    }

    /// Nanoseconds that a call of a statement takes.
    pub fn call_ns(&self, number: usize, statement: usize, hour: u64) -> u64 {
        let (_, _, ns, ..) = STATEMENTS[statement];
        match statement {
            DEPLOYED if hour >= DEPLOYMENT => ns * 3,
            SLOW_AT_FIRST if number == 0 => ns * 5,
            _ => ns,
        }
    }

    /// The cost of instrumentation of a host per minute in nanoseconds: 0.1, 0.2 or 0.3 % of a processor.
    pub fn cost_ns(number: usize) -> u64 {
        60_000_000 * (1 + number as u64 % 3)
    }

    fn host(&self, root: &Path, number: usize) -> Result<(), Error> {
        let mut writer = Writer::start(root, &host(number), "mysqld", at(0))?;
        let mut texts: Vec<Text> = (0..STATEMENTS.len()).map(text).collect();
        let hours = (0..self.days).flat_map(|day| (0..24).map(move |hour| (day, hour)));
        for (day, hour) in hours.filter(|(_, hour)| self.records(number, *hour)) {
            let at = |seconds| at(day * 86_400 + seconds);
            for second in (0..3600).step_by(self.moments as usize) {
                let moment = Moment {
                    at: at(hour * 3600 + second),
                    threads: Some(40),
                    is_exact: Some(true),
                    samples: samples(hour),
                };
                writer.add_moment(&moment, Duration::from_secs(self.moments))?;
                writer.add_blocks(blocks(hour).as_slice(), moment.at, self.moments as f64);
                if number == 0 && hour == BLOCKED && second == 0 {
                    let deadlock = Deadlock {
                        count: 1,
                        ..Deadlock::default()
                    };
                    writer.add_deadlock(&deadlock, moment.at);
                }
            }
            for minute in (0..60).step_by(self.growth as usize) {
                let when = at(hour * 3600 + minute * 60);
                let seconds = (self.growth * 60) as f64;
                writer.add_growth(
                    &self.grown(number, hour),
                    &texts,
                    when,
                    (seconds, Some(true)),
                );
                texts.clear();
            }
            writer.write()?;
        }
        writer.end()
    }

    /// The growth of a host between two queries in an hour.
    fn grown(&self, number: usize, hour: u64) -> Vec<GrowthRow> {
        let mut all = Vec::new();
        let minutes = self.growth;
        for (statement, (_, _, _, examined, sent)) in STATEMENTS.into_iter().enumerate() {
            let calls = self.calls(statement, hour) * minutes;
            if calls == 0 {
                continue;
            }
            let time = calls * self.call_ns(number, statement, hour);
            let sums = [
                calls,
                time * 1000,
                0,
                0,
                0,
                0,
                calls * sent,
                calls * examined,
            ];
            all.push(grown("digest", Some("shop"), digest(statement), &sums));
        }
        for (wait, events, ns) in WAITS {
            all.push(grown(
                "wait",
                None,
                wait.into(),
                &[events * minutes, ns * minutes * 1000],
            ));
            let cost = Self::cost_ns(number) * minutes * 1000 / WAITS.len() as u64;
            all.push(grown("cost", None, wait.into(), &[events * minutes, cost]));
        }
        for (file, read, written) in FILES {
            let sums = [
                10 * minutes,
                1000,
                0,
                0,
                0,
                0,
                0,
                0,
                read * minutes,
                written * minutes,
            ];
            all.push(grown("file", None, file.into(), &sums));
        }
        if number == 0 {
            all.push(grown("error", None, "ER_LOCK_DEADLOCK".into(), &[minutes]));
        }
        all.push(grown(
            "error",
            None,
            "ER_NO_SUCH_TABLE".into(),
            &[10 * minutes],
        ));
        all
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(MIDNIGHT + seconds)
}

fn text(statement: usize) -> Text {
    Text {
        schema: Some("shop".into()),
        digest: digest(statement),
        text: STATEMENTS[statement].0.to_owned(),
    }
}

fn grown(kind: &'static str, schema: Option<&str>, name: String, sums: &[u64]) -> GrowthRow {
    let mut all = [None; SUMS];
    for (to, n) in all.iter_mut().zip(sums) {
        *to = Some(*n);
    }
    GrowthRow {
        kind,
        schema: schema.map(str::to_owned),
        name,
        sums: all,
        value: None,
    }
}

/// Four active threads: one alters a table; one reads a file; one waits for the first where it is
/// blocked; one waits for a mutex.
fn samples(hour: u64) -> Vec<Sample> {
    let thread = |id: u64, user: &str, statement: usize, wait: Option<&str>| Sample {
        thread_id: id,
        thread: Some("thread/sql/one_connection".into()),
        connection_id: Some(id + 7),
        user: Some(user.into()),
        client: Some("10.0.0.7".into()),
        schema: Some("shop".into()),
        command: Some("Query".into()),
        statement: Some("statement/sql/select".into()),
        statement_id: Some(hour * 1000 + id),
        statement_ns: Some(1_000_000),
        digest: Some(digest(statement).into()),
        wait: wait.map(Arc::from),
        ..Sample::default()
    };
    let (lock, blocker) = match hour {
        BLOCKED => (Some(WAITS[2].0), Some(1)),
        ROW_BLOCKED => (Some(ROW_LOCK_WAIT), Some(9)),
        _ => (None, None),
    };
    vec![
        thread(1, "batch", 7, None),
        thread(2, "app", 0, Some(WAITS[0].0)),
        Sample {
            blocker,
            state: state(hour),
            ..thread(3, "app", 1, lock)
        },
        // It spins.
        Sample {
            state: (hour < SPINS_UNTIL).then_some(State::OnCpu),
            ..thread(4, "report", 5, Some(WAITS[1].0))
        },
    ]
}

/// Who blocks thread 3 in an hour.
fn blocks(hour: u64) -> Option<Block> {
    let party = |thread_id: u64, user: &str, statement: usize| Party {
        thread_id,
        connection_id: Some(thread_id + 7),
        user: Some(user.into()),
        client: Some("10.0.0.7".into()),
        digest: Some(digest(statement).into()),
        text: None,
        trace: None,
    };
    let (kind, party_of_holder, state) = match hour {
        BLOCKED => (
            LockKind::Metadata,
            party(1, "batch", 7),
            HolderState::Running,
        ),
        ROW_BLOCKED => (LockKind::Row, party(9, "batch", 3), HolderState::Sleeping),
        _ => return None,
    };
    Some(Block {
        kind,
        object_schema: Some("shop".into()),
        object: Some("orders".into()),
        index_name: None,
        lock_mode: None,
        wait_ns: Some(1_000_000_000),
        waiter: party(3, "app", 1),
        holder: Some(Holder {
            party: party_of_holder,
            lock_mode: None,
            state: Some(state),
            state_ns: None,
            transaction_ns: None,
        }),
    })
}

/// The state of thread 3 in an hour.
pub fn state(hour: u64) -> Option<State> {
    match hour {
        BLOCKED | ROW_BLOCKED => Some(State::Waiting),
        0..4 => None,
        4..8 => Some(State::Unknown),
        8..12 => Some(State::WaitingForCpu),
        12..18 => Some(State::Blocked),
        _ => Some(State::OnCpu),
    }
}
