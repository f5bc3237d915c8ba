//! The tables of a history and their columns, for the writer and the test of docs/history.md.

use crate::status::STATUS_TABLES;

/// Written into each file under the key `tare.version`. A new column keeps the number, since engines
/// read a missing column as NULL; a column that changes its name or meaning gets another one. Version 1 had
/// [`SAMPLED_AT_OF_VERSION_1`].
pub const VERSION: u32 = 2;

/// When a row was sampled: the first column of each table.
pub const SAMPLED_AT: &str = "sampled_at";

/// The name of [`SAMPLED_AT`] in files of version 1, which is a reserved word of some engines.
pub const SAMPLED_AT_OF_VERSION_1: &str = "at";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Microseconds since 1970 in UTC.
    Time,
    /// An integer.
    Long,
    /// A number with a fraction.
    Double,
    /// UTF-8.
    Text,
}

/// A column. All but `sampled_at` may be NULL.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type.
    pub kind: Type,
    /// The description, in one sentence.
    pub doc: &'static str,
}

/// A table: a directory of files.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The description of a row, in one sentence.
    pub doc: &'static str,
    /// Whether its files are divided by hour, and removed when they are old. Others are few, and stay.
    pub by_hour: bool,
    /// Its columns. The host, date and hour are in the path.
    pub columns: &'static [Column],
}

pub(crate) const fn column(name: &'static str, kind: Type, doc: &'static str) -> Column {
    Column { name, kind, doc }
}

pub(crate) const AT: Column = column(SAMPLED_AT, Type::Time, "When, in UTC.");
pub(crate) const SERVER: Column = column(
    "server",
    Type::Text,
    "The server: the name given to tare record, or its program.",
);

/// One row per sampling instant.
#[rustfmt::skip] // One column, one line.
pub static MOMENTS: Table = Table {
    name: "moments",
    doc: "A moment at which all threads were sampled, active or not.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("seconds", Type::Double, "Seconds that the moment represents: its interval, and those before it without a moment."),
        column("threads", Type::Long, "Threads that exist; NULL if the server is read by SQL."),
        column("active", Type::Long, "The rows of samples: threads that ran a statement or waited."),
        column("is_exact", Type::Long, "1 if the server counts all events exactly now, 0 if not; NULL if read by SQL."),
    ],
};

/// What active threads did.
#[rustfmt::skip] // One column, one line.
pub static SAMPLES: Table = Table {
    name: "samples",
    doc: "A thread that ran a statement or waited at a moment, or a thread of a process that does not use Tare.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("seconds", Type::Double, "Seconds that the moment represents. Their sum is the time in this state."),
        column("thread_id", Type::Long, "threads.THREAD_ID; the id in the operating system, if the process does not use Tare."),
        column("thread", Type::Text, "Name of the thread's instrument, or of the thread."),
        column("connection_id", Type::Long, "threads.PROCESSLIST_ID; NULL for a background thread."),
        column("user", Type::Text, "Its account's user."),
        column("client", Type::Text, "Its account's host."),
        column("schema", Type::Text, "Its default schema."),
        column("command", Type::Text, "The command, as in SHOW PROCESSLIST."),
        column("statement", Type::Text, "Name of the innermost statement that runs."),
        column("statement_id", Type::Long, "Its EVENT_ID."),
        column("statement_ns", Type::Long, "For how long it has run, in nanoseconds; NULL if it is not timed."),
        column("digest", Type::Text, "Its digest, where it is known; the text is in digests."),
        column("text", Type::Text, "Its text where the digest is not known, 1024 bytes at most."),
        column("stage", Type::Text, "The stage it is in."),
        column("wait", Type::Text, "The wait that it is in, asleep or not; see state."),
        column("operation", Type::Text, "What the wait does."),
        column("object_schema", Type::Text, "Schema of the table it waits for."),
        column("object", Type::Text, "The file, table or address it waits for."),
        column("wait_ns", Type::Long, "For how long it has waited, in nanoseconds; NULL if it is not timed."),
        column("blocker", Type::Long, "THREAD_ID of the holder of what it waits for, if known."),
        column("state", Type::Text, "If it runs a statement, or its process does not use Tare: on cpu, waiting for cpu, waiting, blocked elsewhere, unknown."),
        column("system_call", Type::Text, "The system call in which it is blocked elsewhere, if known."),
        column("is_exact", Type::Long, "1 if the server counts all events exactly now, 0 if not; NULL if read by SQL."),
        column("process_id", Type::Long, "The thread's process, if it does not use Tare."),
        column("trace_id", Type::Text, "Trace of the client that sent the statement: 32 hexadecimal digits."),
        column("span_id", Type::Text, "The client's span: 16 hexadecimal digits."),
    ],
};

/// By how much counters grew.
#[rustfmt::skip] // One column, one line.
pub static GROWTH: Table = Table {
    name: "growth",
    doc: "By how much a row of a summary grew; rows that did not grow are left out.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("seconds", Type::Double, "Seconds since the previous reading."),
        column("kind", Type::Text, "digest, statement, wait, stage, file, table, index, user, error, memory, cost, metric; cpu, run delay, io, process."),
        column("schema", Type::Text, "Schema of a digest, table or index."),
        column("name", Type::Text, "Its digest or name."),
        column("count", Type::Long, "Number of events."),
        column("time_ns", Type::Long, "Their time, in nanoseconds."),
        column("lock_ns", Type::Long, "Their waits for table locks, in nanoseconds."),
        column("errors", Type::Long, "Errors."),
        column("warnings", Type::Long, "Warnings."),
        column("rows_affected", Type::Long, "Rows changed."),
        column("rows_sent", Type::Long, "Rows sent."),
        column("rows_examined", Type::Long, "Rows read."),
        column("bytes_read", Type::Long, "Bytes read; of memory: allocated."),
        column("bytes_written", Type::Long, "Bytes written; of memory: freed."),
        column("value", Type::Long, "The current value, if it has one: bytes in use, a status variable."),
        column("is_exact", Type::Long, "1 if the server counted all events exactly meanwhile, 0 if not; NULL if read by SQL."),
    ],
};

/// The texts of digests.
#[rustfmt::skip] // One column, one line.
pub static DIGESTS: Table = Table {
    name: "digests",
    doc: "The text of a digest, once for each run of tare record.",
    by_hour: false,
    columns: &[
        AT,
        SERVER,
        column("schema", Type::Text, "The default schema."),
        column("digest", Type::Text, "The digest."),
        column("text", Type::Text, "The normalised text."),
    ],
};

/// Who waited for whose lock.
#[rustfmt::skip] // One column, one line.
pub static BLOCKS: Table = Table {
    name: "blocks",
    doc: "A session that waited for a lock, and a holder of the lock; several rows if it has several holders.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("seconds", Type::Double, "Seconds since the previous reading, divided by the number of holders. Their sum is the time that sessions were blocked."),
        column("kind", Type::Text, "row, metadata, user (GET_LOCK), table (of an engine without row locks, or flushed), event loop."),
        column("object_schema", Type::Text, "Schema of the locked object."),
        column("object", Type::Text, "The locked table or other object, or the name of a user lock."),
        column("index_name", Type::Text, "Index of a locked row."),
        column("lock_mode", Type::Text, "The mode that the session requests."),
        column("wait_ns", Type::Long, "For how long it has waited, in nanoseconds; since the first reading with this wait, if the server has no time."),
        column("thread_id", Type::Long, "threads.THREAD_ID of the session that waits."),
        column("connection_id", Type::Long, "Its threads.PROCESSLIST_ID."),
        column("user", Type::Text, "Its account's user."),
        column("client", Type::Text, "Its account's host."),
        column("digest", Type::Text, "Digest of the statement that waits."),
        column("text", Type::Text, "Its normalised text; or its text without passwords, where the digest is not known. 1024 bytes at most."),
        column("blocker", Type::Long, "THREAD_ID of the holder, or of the session behind whose request this one queues; NULL if it is unknown."),
        column("blocker_connection_id", Type::Long, "Its threads.PROCESSLIST_ID."),
        column("blocker_user", Type::Text, "Its account's user."),
        column("blocker_client", Type::Text, "Its account's host."),
        column("blocker_digest", Type::Text, "Digest of the statement that it runs or ran last."),
        column("blocker_text", Type::Text, "Its normalised text; or its text without passwords, where the digest is not known. 1024 bytes at most."),
        column("blocker_mode", Type::Text, "The mode in which it holds or requests the lock."),
        column("blocker_state", Type::Text, "running, waiting (for a lock itself), sleeping (for its client)."),
        column("blocker_state_ns", Type::Long, "For how long it has run its statement or slept, in nanoseconds."),
        column("blocker_transaction_ns", Type::Long, "Age of its transaction, in nanoseconds; NULL if it has none, or it is unknown."),
        column("trace_id", Type::Text, "Trace of the client whose statement waits: 32 hexadecimal digits."),
        column("span_id", Type::Text, "The client's span: 16 hexadecimal digits."),
        column("blocker_trace_id", Type::Text, "Trace of the client that sent the statement that the holder runs, or ran last: of the latter only if a comment has it."),
        column("blocker_span_id", Type::Text, "The client's span."),
    ],
};

/// Deadlocks of InnoDB.
#[rustfmt::skip] // One column, one line.
pub static DEADLOCKS: Table = Table {
    name: "deadlocks",
    doc: "A transaction of a deadlock of InnoDB. Of several deadlocks within a second, the latest has its transactions.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("count", Type::Long, "Deadlocks since the previous reading, in the row of the first transaction; 0 in the others."),
        column("deadlock", Type::Text, "The server's time of the deadlock, and its first transaction: the same in all of its rows."),
        column("transaction", Type::Long, "Number of the transaction, from 1; NULL if the server does not report the transactions."),
        column("is_victim", Type::Long, "1 if the server rolled it back, 0 if not."),
        column("transaction_id", Type::Long, "InnoDB's number of the transaction."),
        column("transaction_ns", Type::Long, "Age of the transaction, in nanoseconds."),
        column("connection_id", Type::Long, "threads.PROCESSLIST_ID of its session."),
        column("user", Type::Text, "Its account's user."),
        column("client", Type::Text, "Its account's host."),
        column("digest", Type::Text, "Digest of the statement that waited, if the server computes it: MySQL 8 and later do."),
        column("text", Type::Text, "Its normalised text; or its text without passwords, where the digest is not known. 1024 bytes at most."),
        column("object_schema", Type::Text, "Schema of the table whose lock it waited for."),
        column("object", Type::Text, "The table."),
        column("index_name", Type::Text, "Index of a locked row."),
        column("lock_mode", Type::Text, "The mode that it requested."),
    ],
};

/// Plans of statements.
#[rustfmt::skip] // One column, one line.
pub static PLANS: Table = Table {
    name: "plans",
    doc: "An example of a statement, and its plan when the recorder read it.",
    by_hour: true,
    columns: &[
        AT,
        SERVER,
        column("schema", Type::Text, "The default schema."),
        column("digest", Type::Text, "The digest."),
        column("reason", Type::Text, "new (the recorder had no plan of the digest), changed (its time per call changed)."),
        column("example", Type::Text, "A statement with this digest; '<secret>' replaces texts, and numbers of more than eight digits."),
        column("problem", Type::Text, "Why there is no plan."),
        column("plan", Type::Text, "What EXPLAIN FORMAT=JSON answered, with the same replacements."),
        column("shape", Type::Text, "A hash of the tree: which tables are read in which order by which index. Estimates do not matter."),
        column("full_scans", Type::Text, "Names or aliases of tables that the plan reads completely, without an index, separated by commas; empty if there are none."),
        column("indexes", Type::Text, "Indexes that the plan uses, as table.index, separated by commas; empty if there are none. The table is its alias, if it has one."),
    ],
};

/// Indexes that the server has.
#[rustfmt::skip] // One column, one line.
pub static INDEXES: Table = Table {
    name: "indexes",
    doc: "An index of a table that was opened since the server started, once for each run. System schemas are left out.",
    by_hour: false,
    columns: &[
        AT,
        SERVER,
        column("schema", Type::Text, "Schema of the table."),
        column("table_name", Type::Text, "The table."),
        column("index_name", Type::Text, "The index."),
        column("name", Type::Text, "table.index, as in growth."),
    ],
};

/// All tables.
pub static TABLES: [&Table; 12] = [
    &MOMENTS,
    &SAMPLES,
    &GROWTH,
    &DIGESTS,
    &BLOCKS,
    &DEADLOCKS,
    &PLANS,
    &INDEXES,
    STATUS_TABLES[0],
    STATUS_TABLES[1],
    STATUS_TABLES[2],
    STATUS_TABLES[3],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_describes_each_column() {
        let document = include_str!("../../../docs/history.md");
        for table in TABLES {
            let heading = format!("### {}\n\n{}\n", table.name, table.doc);
            let (_, section) = document.split_once(&heading).expect(table.name);
            for column in table.columns {
                let kind = match column.kind {
                    Type::Time => "timestamp",
                    Type::Long => "int64",
                    Type::Double => "double",
                    Type::Text => "string",
                };
                let line = format!("| {} | {kind} | {} |\n", column.name, column.doc);
                assert!(section.contains(&line), "docs/history.md lacks: {line}");
            }
        }
    }
}
