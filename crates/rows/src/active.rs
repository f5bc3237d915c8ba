//! Tables of schema `tare` about active sessions: those of now, samples, and the time that these represent.

use std::sync::Arc;

use tare_reader::activity_log::Description;
use tare_reader::scheduler::State;

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::active::{ActiveSession, ActiveTime, SessionSample, TimeEstimate};
use crate::snapshot::active::clear_session_history;
use crate::time::timestamp_of;

const STATES: &str = "enum('on cpu','waiting for cpu','waiting','blocked elsewhere','unknown')";

type Text = Option<Arc<str>>;

fn text(text: &Text) -> Cell<'_> {
    Cell::opt(text.as_deref())
}

#[rustfmt::skip] // One column, one line.
static ACTIVE_SESSIONS: Spec<ActiveSession> = Spec::new(
    "tare",
    "active_sessions",
    "The threads that run a statement now, at every level of sampling, and what each does; and sessions whose command an event loop has not read yet.",
    &[&[
        col("thread_id", U64, "The thread.", |r: &ActiveSession| r.thread_id.into()),
        null("processlist_id", U64, "Its connection; NULL for a background thread.", |r| Cell::opt(r.processlist_id)),
        null("user", "varchar(32)", "Its account's user.", |r| text(&r.user)),
        null("host", "varchar(255)", "Its account's host.", |r| text(&r.host)),
        null("db", "varchar(64)", "Its default database.", |r| text(&r.db)),
        null("statement", "varchar(128)", "The class of the innermost statement that runs.", |r| text(&r.statement)),
        null("digest", "varchar(64)", "Its digest; NULL at the level `active`.", |r| text(&r.digest)),
        null("sql_text", "longtext", "Its text without passwords, or else its digest's text.", |r| text(&r.sql_text)),
        null("stage", "varchar(128)", "The stage.", |r| text(&r.stage)),
        null("wait", "varchar(128)", "The innermost wait, asleep or not: see state.", |r| text(&r.wait)),
        null("operation", "varchar(32)", "What the wait does.", |r| Cell::opt(r.operation)),
        null("object_schema", "varchar(64)", "The database of the table for which it waits.", |r| text(&r.object_schema)),
        null("object_name", "varchar(512)", "The file, table or address for which it waits.", |r| text(&r.object_name)),
        col("state", STATES, "What the scheduler says: on a CPU, waiting for one, or asleep inside a wait or elsewhere.", |r| r.state.name().into()),
        null("system_call", "varchar(64)", "The system call in which it is blocked elsewhere, if the kernel says so.", |r| text(&r.system_call)),
        null("statement_started", "timestamp(6)", "When the statement began.", |r| Cell::opt(r.started.map(timestamp_of))),
        null("blocker", U64, "If it waits for an event loop (docs/anyserver-redis.md): the thread_id of the session whose command the loop executes.", |r| Cell::opt(r.blocker)),
    ]],
    |view, _| view.snapshot.active_sessions(&*view.source),
)
.keys(&[Key::Primary(&["thread_id"])])
.expect(10);

#[rustfmt::skip] // One column, one line.
static HISTORY: Spec<SessionSample> = Spec::new(
    "tare",
    "active_session_history",
    "Samples of the last hour: what active_sessions had at one random instant of each tenth of a second. An \
     observer in this program takes them, with --attach-pid from the start, else from the first statement that reads a \
     table of samples. If samples need more than 64 MiB, the oldest are dropped.",
    &[&[
        col("sampled_at", "timestamp(6)", "When it was taken.", |r: &SessionSample| timestamp_of(r.moment.at).into()),
        col("seconds", "double", "The time that the sample represents. A sum of seconds is time.", |r| Cell::Real(r.moment.seconds)),
        col("thread_id", U64, "The thread.", |r| r.sample().thread_id.into()),
        null("processlist_id", U64, "Its connection; NULL for a background thread.", |r| Cell::opt(r.sample().processlist_id)),
        null("user", "varchar(32)", "Its account's user.", |r| text(&r.sample().description.user)),
        null("host", "varchar(255)", "Its account's host.", |r| text(&r.sample().description.host)),
        null("db", "varchar(64)", "Its default database.", |r| text(&r.sample().description.schema)),
        null("statement", "varchar(128)", "The class of the innermost statement that ran.", |r| text(&r.sample().description.statement)),
        null("digest", "varchar(64)", "Its digest; NULL at the level `active`.", |r| text(&r.sample().description.digest)),
        null("digest_text", "longtext", "The statement without its values.", |r| text(&r.sample().description.digest_text)),
        null("statement_time", U64, "For how long it had run, in picoseconds.", |r| Cell::opt(r.sample().statement_ns.map(|ns| ns.saturating_mul(1000)))),
        null("stage", "varchar(128)", "The stage.", |r| text(&r.sample().description.stage)),
        null("wait", "varchar(128)", "The innermost wait, asleep or not: see state.", |r| text(&r.sample().description.wait)),
        null("object_schema", "varchar(64)", "The database of the table for which it waited.", |r| text(&r.sample().description.object_schema)),
        null("object_name", "varchar(512)", "The file, table or address for which it waited.", |r| text(&r.sample().description.object)),
        col("state", STATES, "What the scheduler said, as in active_sessions.", |r| r.sample().description.state.name().into()),
        null("system_call", "varchar(64)", "The system call in which it was blocked elsewhere, if the kernel said so.", |r| text(&r.sample().description.system_call)),
    ]],
    |view, _| view.snapshot.session_history(&*view.source),
)
.expect(100_000)
.truncate(|view| {
    clear_session_history(&*view.source);
    Ok(())
});

/// The columns of each estimate.
#[rustfmt::skip] // One column, one line.
const fn figures<R: AsRef<TimeEstimate>>() -> [Column<R>; 3] {
    [
        col("samples", U64, "Rows of active_session_history.", |r| r.as_ref().samples.into()),
        col("seconds", "double", "The time that they represent, summed over sessions.", |r| Cell::Real(r.as_ref().seconds)),
        null("seconds_error", "double", "The standard error of seconds; NULL after a single moment. docs/active-internals.md derives it.", |r| Cell::opt(r.as_ref().error)),
    ]
}

/// The columns of the states.
#[rustfmt::skip] // One column, one line.
const fn states<R: AsRef<TimeEstimate>>() -> [Column<R>; 5] {
    [
        col("on_cpu_seconds", "double", "The part of seconds on a CPU.", |r| Cell::Real(r.as_ref().by_state[State::OnCpu as usize])),
        col("waiting_for_cpu_seconds", "double", "The part waiting for a CPU.", |r| Cell::Real(r.as_ref().by_state[State::WaitingForCpu as usize])),
        col("waiting_seconds", "double", "The part asleep inside a wait.", |r| Cell::Real(r.as_ref().by_state[State::Waiting as usize])),
        col("blocked_seconds", "double", "The part asleep outside of any wait.", |r| Cell::Real(r.as_ref().by_state[State::Blocked as usize])),
        col("unknown_seconds", "double", "The part whose state is unknown.", |r| Cell::Real(r.as_ref().by_state[State::Unknown as usize])),
    ]
}

/// Time by one or several texts.
type ByText<const N: usize> = ActiveTime<[Text; N]>;

static TEXT_FIGURES: [Column<ByText<1>>; 3] = figures();
static TEXT_STATES: [Column<ByText<1>>; 5] = states();
static TABLE_FIGURES: [Column<ByText<2>>; 3] = figures();
static TABLE_STATES: [Column<ByText<2>>; 5] = states();
static STATEMENT_FIGURES: [Column<ByText<3>>; 3] = figures();
static STATEMENT_STATES: [Column<ByText<3>>; 5] = states();

static BY_STATEMENT: Spec<ByText<3>> = Spec::new(
    "tare",
    "active_time_by_statement",
    "The time of sessions during the last hour by statement, estimated from active_session_history.",
    &[
        &[
            null(
                "statement",
                "varchar(128)",
                "The class of the statement.",
                |r| text(&r.key[0]),
            ),
            null(
                "digest",
                "varchar(64)",
                "Its digest; NULL at the level `active`.",
                |r| text(&r.key[1]),
            ),
            null(
                "digest_text",
                "longtext",
                "The statement without its values.",
                |r| text(&r.key[2]),
            ),
        ],
        &STATEMENT_FIGURES,
        &STATEMENT_STATES,
    ],
    |view, _| {
        view.snapshot.active_time(&*view.source, |d: &Description| {
            Some([d.statement.clone(), d.digest.clone(), d.digest_text.clone()])
        })
    },
);

static BY_STAGE: Spec<ByText<1>> = Spec::new(
    "tare",
    "active_time_by_stage",
    "The time of sessions during the last hour by stage, estimated from active_session_history.",
    &[
        &[null(
            "stage",
            "varchar(128)",
            "The stage; NULL where there was none.",
            |r| text(&r.key[0]),
        )],
        &TEXT_FIGURES,
        &TEXT_STATES,
    ],
    |view, _| {
        let stage = |d: &Description| Some([d.stage.clone()]);
        view.snapshot.active_time(&*view.source, stage)
    },
);

static BY_USER: Spec<ByText<1>> = Spec::new(
    "tare",
    "active_time_by_user",
    "The time of sessions during the last hour by user, estimated from active_session_history.",
    &[
        &[null(
            "user",
            "varchar(32)",
            "The user; NULL for background threads.",
            |r| text(&r.key[0]),
        )],
        &TEXT_FIGURES,
        &TEXT_STATES,
    ],
    |view, _| {
        let user = |d: &Description| Some([d.user.clone()]);
        view.snapshot.active_time(&*view.source, user)
    },
);

static BY_TABLE: Spec<ByText<2>> = Spec::new(
    "tare",
    "active_time_by_table",
    "The time of sessions during the last hour inside waits for a table (its rows, its locks), by table, estimated from \
     active_session_history. A session inside another wait, such as one for the table's file, is not among them.",
    &[
        &[
            null(
                "object_schema",
                "varchar(64)",
                "The table's database.",
                |r| text(&r.key[0]),
            ),
            null("object_name", "varchar(64)", "The table.", |r| {
                text(&r.key[1])
            }),
        ],
        &TABLE_FIGURES,
        &TABLE_STATES,
    ],
    |view, _| {
        view.snapshot.active_time(&*view.source, |d: &Description| {
            d.object_schema.as_ref()?;
            Some([d.object_schema.clone(), d.object.clone()])
        })
    },
);

/// A state, the wait if a session waited inside one, the system call if it was blocked elsewhere.
type ByWait = ActiveTime<(State, Text, Text)>;

static WAIT_FIGURES: [Column<ByWait>; 3] = figures();

#[rustfmt::skip] // One column, one line.
static BY_WAIT: Spec<ByWait> = Spec::new(
    "tare",
    "active_time_by_wait",
    "The time of sessions during the last hour by state and wait, estimated from active_session_history.",
    &[
        &[
            col("state", STATES, "The state, as in active_sessions.", |r| r.key.0.name().into()),
            null("wait", "varchar(128)", "The wait, if the state is waiting.", |r| text(&r.key.1)),
            null("system_call", "varchar(64)", "The system call, if the state is blocked elsewhere.", |r| text(&r.key.2)),
        ],
        &WAIT_FIGURES,
    ],
    |view, _| {
        view.snapshot.active_time(&*view.source, |d: &Description| {
            let wait = d.wait.clone().filter(|_| d.state == State::Waiting);
            Some((d.state, wait, d.system_call.clone()))
        })
    },
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &ACTIVE_SESSIONS,
    &HISTORY,
    &BY_STATEMENT,
    &BY_WAIT,
    &BY_STAGE,
    &BY_USER,
    &BY_TABLE,
];
