//! A thread's slot: its identity, its state, and its last events.
//!
//! The slot's thread is its only writer. History rings and the text ring follow the fixed part at
//! offsets that the geometry gives.

use crate::activity::Activity;
use crate::attributes::FirstAttributes;
use crate::event;
use crate::line::LINE_BYTES;
use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64};

/// Waits that can be nested in each other (a table io that reads a file that locks a mutex).
pub const WAIT_DEPTH: usize = 3;
/// Statements that can be nested: MySQL's performance_schema_max_statement_stack.
pub const STATEMENT_DEPTH: usize = 10;
/// The last records of statements and of waits, which tasks may use: see [`Slot::task_records`].
pub const TASK_STATEMENTS: usize = 5;
/// See [`TASK_STATEMENTS`].
pub const TASK_WAITS: usize = 2;
/// The bit of the first wait in [`Slot::task_records`].
pub const TASK_WAIT_BIT: u32 = 16;

/// Free: no thread.
pub const FREE: u32 = 0;
/// A live thread.
pub const LIVE: u32 = 1;
/// A thread whose process has stopped Tare, while others go on.
pub const STOPPED: u32 = 2;

/// In place of a bank's number: the thread has not counted anything yet.
pub const NO_BANK: u32 = u32::MAX;

/// Commands of clients: `threads.PROCESSLIST_COMMAND`.
pub const COMMANDS: [&str; 34] = [
    "Sleep",
    "Quit",
    "Init DB",
    "Query",
    "Field List",
    "Create DB",
    "Drop DB",
    "Refresh",
    "Shutdown",
    "Statistics",
    "Processlist",
    "Connect",
    "Kill",
    "Debug",
    "Ping",
    "Time",
    "Delayed insert",
    "Change user",
    "Binlog Dump",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Prepare",
    "Execute",
    "Long Data",
    "Close stmt",
    "Reset stmt",
    "Set option",
    "Fetch",
    "Daemon",
    "Binlog Dump GTID",
    "Reset Connection",
    "Clone",
    "Error",
];

/// The numbers of those [`COMMANDS`] that a host uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Command {
    Sleep = 0,
    Quit = 1,
    InitDb = 2,
    Query = 3,
    FieldList = 4,
    Statistics = 9,
    Connect = 11,
    Kill = 12,
    Ping = 14,
    ChangeUser = 17,
    Prepare = 22,
    Execute = 23,
    LongData = 24,
    CloseStatement = 25,
    ResetStatement = 26,
    SetOption = 27,
    Fetch = 28,
    Daemon = 29,
    ResetConnection = 31,
}

impl Command {
    /// The command with this number.
    #[inline]
    pub fn from_number(number: i32) -> Option<Self> {
        const ALL: [Command; 19] = [
            Command::Sleep,
            Command::Quit,
            Command::InitDb,
            Command::Query,
            Command::FieldList,
            Command::Statistics,
            Command::Connect,
            Command::Kill,
            Command::Ping,
            Command::ChangeUser,
            Command::Prepare,
            Command::Execute,
            Command::LongData,
            Command::CloseStatement,
            Command::ResetStatement,
            Command::SetOption,
            Command::Fetch,
            Command::Daemon,
            Command::ResetConnection,
        ];
        ALL.into_iter().find(|command| *command as i32 == number)
    }
}

/// Types of client connections: `threads.CONNECTION_TYPE`, by number; 0 = background.
pub const CONNECTION_TYPES: [&str; 6] = [
    "",
    "TCP/IP",
    "SSL/TLS",
    "Socket",
    "Named Pipe",
    "Shared Memory",
];

/// The fixed part of a slot.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Slot {
    /// [`FREE`], [`LIVE`] or [`STOPPED`]; stored last when a thread comes, first when it goes.
    pub state: AtomicU32,
    /// Incremented before and after the slot's thread changes: odd = changing.
    pub sequence: AtomicU32,
    /// Unique within the segment's life.
    pub thread_id: AtomicU64,
    /// The newest event id.
    pub event_id: AtomicU64,
    /// Its bank, or [`NO_BANK`].
    pub bank: AtomicU32,
    /// Number of open statements.
    pub statement_depth: AtomicU32,
    /// Number of open waits.
    pub wait_depth: AtomicU32,
    /// Next free slot + 1 while this one is free.
    pub next_free: AtomicU32,
    /// Total bytes put into the text ring.
    pub text_at: AtomicU64,
    /// The [`process`](crate::process) that the thread belongs to, if many may write the segment.
    pub process: AtomicU64,
    /// The records that events of tasks use: bit `i` that of statement `i`, bit [`TASK_WAIT_BIT`] `+ i` that of
    /// wait `i`. A record of theirs that is 0 has ended.
    pub task_records: AtomicU32,
    /// Odd while the `traceparent` of its client's request changes, 0 = it never had one: see
    /// [`Traceparent`](crate::traceparent::Traceparent).
    pub traceparent_sequence: AtomicU32,

    /// Total events put into each history ring: waits, stages, statements, transactions.
    pub pushed: [AtomicU64; 4],
    /// Chunk of history_long + 1 that this thread fills, for each of the four; 0 = none.
    pub chunk: [AtomicU32; 4],
    _line1: [AtomicU64; 2],

    /// Thread class (`thread/...`).
    pub class: AtomicU32,
    /// Id of the account, 0 = none.
    pub account: AtomicU32,
    /// `PROCESSLIST_ID`, 0 = a background thread.
    pub processlist_id: AtomicU64,
    /// Thread id of the thread that created this one, 0 = none.
    pub parent_id: AtomicU64,
    /// Id in the operating system.
    pub os_id: AtomicU64,
    /// Number in [`COMMANDS`].
    pub command: AtomicU32,
    /// Number in [`CONNECTION_TYPES`].
    pub connection_type: AtomicU32,
    /// Id of the default schema, 0 = none.
    pub schema: AtomicU32,
    _reserved: AtomicU32,
    /// Ticks when the command or state began: `PROCESSLIST_TIME`.
    pub command_since: AtomicU64,
    /// What the thread does now. Next to the line before, which processors often fetch with it.
    pub activity: Activity,
    /// `PROCESSLIST_STATE`, if the host sets it itself.
    pub state_text: Name<7>,
    /// `PROCESSLIST_INFO`, if the host sets it itself.
    pub info: Name<15>,
    /// Its client's attributes, as far as they fit here: see [`attributes`](crate::attributes).
    pub attributes: FirstAttributes,

    /// Waits running now, the outermost first.
    pub waits: [event::Wait; WAIT_DEPTH],
    /// The stage running now.
    pub current_stage: event::Stage,
    /// The transaction running now or just ended.
    pub transaction: event::Transaction,
}

#[cfg(not(loom))]
const _: () = {
    assert!(core::mem::offset_of!(Slot, pushed) == LINE_BYTES);
    assert!(core::mem::offset_of!(Slot, class) == 2 * LINE_BYTES);
    assert!(core::mem::offset_of!(Slot, activity) == 3 * LINE_BYTES);
    assert!(size_of::<Slot>().is_multiple_of(LINE_BYTES));
};

/// Index of an event type's history ring.
pub mod ring {
    /// Waits and idle.
    pub const WAITS: usize = 0;
    /// Stages.
    pub const STAGES: usize = 1;
    /// Statements.
    pub const STATEMENTS: usize = 2;
    /// Transactions.
    pub const TRANSACTIONS: usize = 3;
    /// How many there are.
    pub const RINGS: usize = 4;
}
