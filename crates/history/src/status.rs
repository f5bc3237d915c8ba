//! The state of a server beyond what its sessions do now: figures of InnoDB and others with advice, replication, open
//! transactions, and connections.

use std::sync::Arc;

use crate::batch::Value;
use crate::schema::{AT, Column, SERVER, Table, Type, column};

/// A figure of the server. A row of table `status`.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusFigure {
    /// The part of the server.
    pub area: &'static str,
    /// The figure.
    pub name: &'static str,
    /// Its value now, or its total since the server started.
    pub value: f64,
    /// The unit of the value.
    pub unit: &'static str,
    /// The growth of a total.
    pub per_s: Option<f64>,
    /// A sentence that names a setting and the figure, if the setting should be looked at.
    pub advice: Option<String>,
}

/// A channel of a replica, or a member of a cluster. A row of table `replication`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicationStatus {
    /// replica, group member, Galera node.
    pub kind: &'static str,
    /// The name of the channel or member.
    pub channel: String,
    /// Where the channel reads from, or the address of the member.
    pub source: Option<String>,
    /// The thread that receives; the state of the cluster as this member has it.
    pub io_state: Option<String>,
    /// The thread that applies; the state of the member.
    pub sql_state: Option<String>,
    /// How far the replica is behind.
    pub lag_s: Option<u64>,
    /// Transactions that were received and not applied.
    pub pending: Option<u64>,
    /// Transactions that are missing between those that were applied.
    pub gaps: Option<u64>,
    /// Threads that apply.
    pub workers: Option<u64>,
    /// The last error, without passwords.
    pub error: Option<Arc<str>>,
}

/// An open transaction of InnoDB. A row of table `transactions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTransaction {
    /// Its age.
    pub age_s: Option<u64>,
    /// What its session does.
    pub state: String,
    /// The connection's id; `None` for a prepared transaction whose session has gone.
    pub connection_id: Option<u64>,
    /// The account's user.
    pub user: Option<String>,
    /// The account's host.
    pub client: Option<String>,
    /// Rows that it has changed.
    pub rows_changed: Option<u64>,
    /// Locks on rows that it holds.
    pub rows_locked: Option<u64>,
    /// Tables with locks of it.
    pub tables_locked: Option<u64>,
    /// InnoDB's number of it.
    pub transaction_id: Option<u64>,
    /// For how long its session has waited for the client.
    pub sleep_s: Option<u64>,
    /// The digest of the statement that runs or ran last.
    pub digest: Option<Arc<str>>,
    /// The statement's normalised text; if there is no digest, its text without passwords.
    pub text: Option<Arc<str>>,
}

/// Connections of an account in a state. A row of table `connections`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionGroup {
    /// The account's user.
    pub user: Option<String>,
    /// The account's host.
    pub client: Option<String>,
    /// What the connections do.
    pub state: String,
    /// How many there are.
    pub count: u64,
    /// For how long the longest of them is in its state.
    pub longest_s: Option<u64>,
}

/// The status of a server at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerStatus {
    /// Figures.
    pub figures: Vec<StatusFigure>,
    /// Channels and members.
    pub replication: Vec<ReplicationStatus>,
    /// Open transactions, the oldest first.
    pub transactions: Vec<OpenTransaction>,
    /// Connections by account and state.
    pub connections: Vec<ConnectionGroup>,
    /// What could not be read, and why: a sentence each.
    pub unread: Vec<String>,
}

/// The tables of [`ServerStatus`].
#[rustfmt::skip] // One column, one line.
pub static STATUS_TABLES: [&Table; 4] = [
    &Table {
        name: "status",
        doc: "A figure of the server's InnoDB, connections, transactions, replication, temporary tables or binary log.",
        by_hour: true,
        columns: &[
            AT,
            SERVER,
            column("area", Type::Text, "binary log, connections, InnoDB, replication, temporary tables, transactions."),
            column("name", Type::Text, "The figure."),
            column("value", Type::Double, "Its value now; of a total, since the server started."),
            column("unit", Type::Text, "The unit of the value; empty for a number of things."),
            column("per_s", Type::Double, "Of a total, its growth per second since the previous reading."),
            column("advice", Type::Text, "A sentence that names a setting and the figure that the setting is about; NULL if there is no reason for one."),
        ],
    },
    &Table {
        name: "replication",
        doc: "A channel through which the server replicates, or a member of its group or cluster.",
        by_hour: true,
        columns: &[
            AT,
            SERVER,
            column("kind", Type::Text, "replica, group member, Galera node."),
            column("channel", Type::Text, "Name of the channel, empty for the default one; id of a member."),
            column("source", Type::Text, "Host and port that the channel reads from; of a member, its own."),
            column("io_state", Type::Text, "Whether the thread that receives runs: Yes, No, Connecting; role of a group member; status of a Galera cluster."),
            column("sql_state", Type::Text, "Whether the thread that applies runs: Yes, No; state of a member."),
            column("lag_s", Type::Long, "Seconds that the replica is behind; NULL if the server does not know it, because a thread does not run."),
            column("pending", Type::Long, "Transactions that were received and not applied; needs GTIDs."),
            column("gaps", Type::Long, "Transactions that are missing between those that were applied; needs GTIDs of MySQL."),
            column("workers", Type::Long, "Threads that apply in parallel, as the server is set; 0 means that one thread applies."),
            column("error", Type::Text, "Number and text of the last error, without passwords."),
        ],
    },
    &Table {
        name: "transactions",
        doc: "An open transaction of InnoDB; the 200 oldest.",
        by_hour: true,
        columns: &[
            AT,
            SERVER,
            column("age_s", Type::Long, "Its age, in seconds."),
            column("state", Type::Text, "running, waiting for a lock, idle in transaction, without a session (prepared by XA)."),
            column("connection_id", Type::Long, "threads.PROCESSLIST_ID of its session."),
            column("user", Type::Text, "Its account's user."),
            column("client", Type::Text, "Its account's host."),
            column("rows_changed", Type::Long, "Rows that it has changed."),
            column("rows_locked", Type::Long, "Locks on rows that it holds, about."),
            column("tables_locked", Type::Long, "Tables in which it has locks."),
            column("transaction_id", Type::Long, "InnoDB's number of it."),
            column("sleep_s", Type::Long, "For how long its session has waited for the client, in seconds; NULL if it runs a statement."),
            column("digest", Type::Text, "Digest of the statement that it runs or ran last."),
            column("text", Type::Text, "Its normalised text; or its text without passwords, where the digest is not known. 1024 bytes at most."),
        ],
    },
    &Table {
        name: "connections",
        doc: "The connections of an account that are in one state.",
        by_hour: true,
        columns: &[
            AT,
            SERVER,
            column("user", Type::Text, "The account's user."),
            column("client", Type::Text, "The account's host, without a port."),
            column("state", Type::Text, "running, waiting for a lock, idle, idle in transaction, feeding a replica, of the server."),
            column("count", Type::Long, "How many there are."),
            column("longest_s", Type::Long, "For how long the longest of them is in its state, in seconds."),
        ],
    },
];

/// Rows of a table, without the time and the server.
type Rows<'a> = Vec<Vec<Value<'a>>>;

impl ServerStatus {
    /// The rows of each of [`STATUS_TABLES`].
    pub fn rows(&self) -> [Rows<'_>; 4] {
        [
            self.figures.iter().map(StatusFigure::values).collect(),
            (self.replication.iter().map(ReplicationStatus::values)).collect(),
            (self.transactions.iter().map(OpenTransaction::values)).collect(),
            self.connections
                .iter()
                .map(ConnectionGroup::values)
                .collect(),
        ]
    }

    /// The rows of a table, each with the values of these columns. None if there is no such table.
    pub fn select(&self, table: &str, columns: &[&str]) -> Rows<'_> {
        let mut tables = STATUS_TABLES.iter().zip(self.rows());
        let Some((table, rows)) = tables.find(|(each, _)| each.name == table) else {
            return Vec::new();
        };
        let at = |name: &&str| own_columns(table).position(|column| column.name == *name);
        let positions: Vec<Option<usize>> = columns.iter().map(at).collect();
        rows.into_iter()
            .map(|row| {
                let value = |at: &Option<usize>| at.map_or(Value::Text(None), |at| row[at]);
                positions.iter().map(value).collect()
            })
            .collect()
    }
}

/// The columns of one of [`STATUS_TABLES`], without the time and the server.
pub fn own_columns(table: &Table) -> impl Iterator<Item = &'static Column> {
    table.columns[2..].iter()
}

fn number(n: Option<u64>) -> Value<'static> {
    Value::Long(n.and_then(|n| i64::try_from(n).ok()))
}

fn text(text: Option<&str>) -> Value<'_> {
    Value::Text(text)
}

impl StatusFigure {
    fn values(&self) -> Vec<Value<'_>> {
        vec![
            text(Some(self.area)),
            text(Some(self.name)),
            Value::Double(Some(self.value)),
            text(Some(self.unit)),
            Value::Double(self.per_s),
            text(self.advice.as_deref()),
        ]
    }
}

impl ReplicationStatus {
    fn values(&self) -> Vec<Value<'_>> {
        vec![
            text(Some(self.kind)),
            text(Some(&self.channel)),
            text(self.source.as_deref()),
            text(self.io_state.as_deref()),
            text(self.sql_state.as_deref()),
            number(self.lag_s),
            number(self.pending),
            number(self.gaps),
            number(self.workers),
            text(self.error.as_deref()),
        ]
    }
}

impl OpenTransaction {
    fn values(&self) -> Vec<Value<'_>> {
        vec![
            number(self.age_s),
            text(Some(&self.state)),
            number(self.connection_id),
            text(self.user.as_deref()),
            text(self.client.as_deref()),
            number(self.rows_changed),
            number(self.rows_locked),
            number(self.tables_locked),
            number(self.transaction_id),
            number(self.sleep_s),
            text(self.digest.as_deref()),
            text(self.text.as_deref()),
        ]
    }
}

impl ConnectionGroup {
    fn values(&self) -> Vec<Value<'_>> {
        vec![
            text(self.user.as_deref()),
            text(self.client.as_deref()),
            text(Some(&self.state)),
            number(Some(self.count)),
            number(self.longest_s),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_a_value_for_each_column() {
        let status = ServerStatus {
            figures: vec![StatusFigure {
                area: "InnoDB",
                name: "history list",
                value: 7.0,
                unit: "",
                per_s: None,
                advice: None,
            }],
            replication: vec![ReplicationStatus::default()],
            transactions: vec![OpenTransaction::default()],
            connections: vec![ConnectionGroup {
                user: Some("app".into()),
                count: 3,
                ..ConnectionGroup::default()
            }],
            unread: Vec::new(),
        };
        for (table, rows) in STATUS_TABLES.iter().zip(status.rows()) {
            assert_eq!(rows[0].len(), own_columns(table).count(), "{}", table.name);
        }
        let rows = status.select("connections", &["count", "user"]);
        let [Value::Long(Some(3)), Value::Text(Some("app"))] = rows[0][..] else {
            panic!("{rows:?}");
        };
        assert!(status.select("none", &["count"]).is_empty());
    }
}
