//! Rows of a history whose values are accessed by name, and the records that they become.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parquet::record::{Field, Row};
use tare_mysql::traceparent::TraceContext;

use crate::blocks::{Block, Deadlock, DeadlockTransaction, Holder, HolderState, LockKind, Party};
use crate::plan::{Plan, PlanReason};

/// A row whose values are accessed by name, because a file of another version may lack some.
pub struct NamedRow<'a>(pub &'a Row);

impl NamedRow<'_> {
    fn field(&self, name: &str) -> Option<&Field> {
        let mut columns = self.0.get_column_iter();
        columns.find_map(|(of, field)| (of == name).then_some(field))
    }

    pub fn text(&self, name: &str) -> Option<Arc<str>> {
        match self.field(name)? {
            Field::Str(text) => Some(text.as_str().into()),
            _ => None,
        }
    }

    pub fn long(&self, name: &str) -> Option<i64> {
        match self.field(name)? {
            Field::Long(n) | Field::TimestampMicros(n) => Some(*n),
            _ => None,
        }
    }

    fn unsigned(&self, name: &str) -> Option<u64> {
        self.long(name)?.try_into().ok()
    }

    fn trace(&self, prefix: &str) -> Option<TraceContext> {
        let id = |name: &str| self.text(&format!("{prefix}{name}"));
        TraceContext::from_ids(&id("trace_id")?, &id("span_id")?)
    }

    pub fn block(&self) -> Option<Block> {
        let kind = self.text("kind")?;
        let party = |prefix: &str, thread_id: u64| {
            let name = |name: &str| format!("{prefix}{name}");
            Party {
                thread_id,
                connection_id: self.unsigned(&name("connection_id")),
                user: self.text(&name("user")),
                client: self.text(&name("client")),
                digest: self.text(&name("digest")),
                text: self.text(&name("text")),
                trace: self.trace(prefix),
            }
        };
        let state = self.text("blocker_state");
        Some(Block {
            kind: LockKind::from_name(&kind)?,
            object_schema: self.text("object_schema"),
            object: self.text("object"),
            index_name: self.text("index_name"),
            lock_mode: self.text("lock_mode"),
            wait_ns: self.unsigned("wait_ns"),
            waiter: party("", self.unsigned("thread_id")?),
            holder: self.unsigned("blocker").map(|blocker| Holder {
                party: party("blocker_", blocker),
                lock_mode: self.text("blocker_mode"),
                state: state.and_then(|state| HolderState::from_name(&state)),
                state_ns: self.unsigned("blocker_state_ns"),
                transaction_ns: self.unsigned("blocker_transaction_ns"),
            }),
        })
    }

    pub fn deadlock(&self) -> Deadlock {
        let transaction = self.long("transaction").map(|_| DeadlockTransaction {
            is_victim: self.long("is_victim") == Some(1),
            transaction_id: self.unsigned("transaction_id"),
            transaction_ns: self.unsigned("transaction_ns"),
            connection_id: self.unsigned("connection_id"),
            user: self.text("user"),
            client: self.text("client"),
            digest: self.text("digest"),
            text: self.text("text"),
            object_schema: self.text("object_schema"),
            object: self.text("object"),
            index_name: self.text("index_name"),
            lock_mode: self.text("lock_mode"),
        });
        Deadlock {
            count: self.unsigned("count").unwrap_or(0),
            name: self.text("deadlock"),
            transactions: transaction.into_iter().collect(),
        }
    }

    /// `time` is the name of the column with its time.
    pub fn plan(&self, time: &str) -> Option<Plan> {
        let text = |name: &str| self.text(name).map(|text| text.to_string());
        let at = self.unsigned(time)?;
        let reason = PlanReason::from_name(&text("reason")?)?;
        let names = |name: &str| {
            let names = text(name).unwrap_or_default();
            let names = names.split(", ").filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        Some(Plan {
            at: SystemTime::UNIX_EPOCH + Duration::from_micros(at),
            schema: text("schema"),
            digest: text("digest")?,
            reason,
            example: text("example"),
            problem: text("problem"),
            plan: text("plan"),
            shape: text("shape"),
            full_scans: names("full_scans"),
            indexes: names("indexes"),
        })
    }
}
