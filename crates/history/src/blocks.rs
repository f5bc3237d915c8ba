//! Who waits for whose lock, and what the holder does: also one that sleeps, which no sample has.

use std::collections::HashMap;
use std::sync::Arc;

use tare_mysql::traceparent::TraceContext;

/// The kind of lock, or what else only one session has at a time, that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A row, or a table as the storage engine locks it.
    Row,
    /// A table, schema or other object, as statements lock it.
    Metadata,
    /// A name, by GET_LOCK.
    User,
    /// A table of an engine without row locks, or a table that is flushed.
    Table,
    /// The thread that executes the commands of all clients, one after the other.
    EventLoop,
}

impl LockKind {
    /// Its name in table `blocks`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Metadata => "metadata",
            Self::User => "user",
            Self::Table => "table",
            Self::EventLoop => "event loop",
        }
    }

    /// What a session of this kind waits for, with its article.
    pub fn noun(self) -> String {
        match self {
            Self::EventLoop => "the event loop".to_owned(),
            lock => format!("a {} lock", lock.name()),
        }
    }

    /// The kind with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::Row,
            Self::Metadata,
            Self::User,
            Self::Table,
            Self::EventLoop,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// A session that waits or holds, with the statement that it runs or ran last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Party {
    /// The thread's id.
    pub thread_id: u64,
    /// The connection's id.
    pub connection_id: Option<u64>,
    /// The account's user.
    pub user: Option<Arc<str>>,
    /// The account's host.
    pub client: Option<Arc<str>>,
    /// The statement's digest.
    pub digest: Option<Arc<str>>,
    /// The statement's normalised text; if there is no digest, its text without passwords.
    pub text: Option<Arc<str>>,
    /// The span of the client that sent the statement.
    pub trace: Option<TraceContext>,
}

/// What a holder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderState {
    /// It runs a statement.
    Running,
    /// It waits for a lock itself.
    Waiting,
    /// It waits for its client.
    Sleeping,
}

impl HolderState {
    /// Its name in table `blocks`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Sleeping => "sleeping",
        }
    }

    /// The state with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Running, Self::Waiting, Self::Sleeping];
        all.into_iter().find(|state| state.name() == name)
    }
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    /// The session.
    pub party: Party,
    /// The mode in which it holds the lock, or requests it before the session that waits.
    pub lock_mode: Option<Arc<str>>,
    /// What it does.
    pub state: Option<HolderState>,
    /// For how long it has run its statement or slept.
    pub state_ns: Option<u64>,
    /// The age of its transaction.
    pub transaction_ns: Option<u64>,
}

/// A session that waits for a lock, and one holder of the lock. A row of table `blocks`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The kind of lock.
    pub kind: LockKind,
    /// The schema of the locked object.
    pub object_schema: Option<Arc<str>>,
    /// The locked object.
    pub object: Option<Arc<str>>,
    /// The index of a locked row.
    pub index_name: Option<Arc<str>>,
    /// The mode that is requested.
    pub lock_mode: Option<Arc<str>>,
    /// For how long the session has waited.
    pub wait_ns: Option<u64>,
    /// The session that waits.
    pub waiter: Party,
    /// The holder; `None` if no evidence names one.
    pub holder: Option<Holder>,
}

/// A transaction of a deadlock. A row of table `deadlocks`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadlockTransaction {
    /// Whether the server rolled it back.
    pub is_victim: bool,
    /// InnoDB's number of the transaction.
    pub transaction_id: Option<u64>,
    /// The age of the transaction.
    pub transaction_ns: Option<u64>,
    /// The connection's id.
    pub connection_id: Option<u64>,
    /// The account's user.
    pub user: Option<Arc<str>>,
    /// The account's host.
    pub client: Option<Arc<str>>,
    /// The digest of the statement that waited.
    pub digest: Option<Arc<str>>,
    /// The statement's normalised text; if there is no digest, its text without passwords.
    pub text: Option<Arc<str>>,
    /// The schema of the table whose lock it waited for.
    pub object_schema: Option<Arc<str>>,
    /// The table.
    pub object: Option<Arc<str>>,
    /// The index of a locked row.
    pub index_name: Option<Arc<str>>,
    /// The mode that it requested.
    pub lock_mode: Option<Arc<str>>,
}

/// The deadlocks since the previous reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deadlock {
    /// How many there were.
    pub count: u64,
    /// The time and the first transaction of the latest, if the server reports it.
    pub name: Option<Arc<str>>,
    /// The transactions of the latest.
    pub transactions: Vec<DeadlockTransaction>,
}

/// What a source reads about locks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockReading {
    /// Who waits for whom.
    pub blocks: Vec<Block>,
    /// The deadlocks, if there were any.
    pub deadlock: Option<Deadlock>,
}

/// How many holders each waiting thread has among these.
pub(crate) fn count_holders(blocks: &[Block]) -> HashMap<u64, f64> {
    let mut holders = HashMap::new();
    for block in blocks {
        *holders.entry(block.waiter.thread_id).or_default() += 1.0;
    }
    holders
}
