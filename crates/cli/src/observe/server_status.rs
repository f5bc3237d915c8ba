//! The status of a stock server, or of the server behind Tare's engine: one pass of at most ten statements, on the
//! connection of [`LimitedSession`]. `docs/history.md` has the tables.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tare_history::{ConnectionGroup, OpenTransaction, ServerStatus, sampled_text};

use super::figures::{Counters, Readings, figures};
use super::limited_session::{LimitedSession, NamedRow};
use super::replication;
use super::{QueryError, text};
use crate::sql::SqlSession;

/// The shortest interval between two readings.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The status variables that are read. It needs no right.
const STATUS: &str = "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Innodb_buffer_pool_%' OR Variable_name LIKE 'Innodb_log_%' \
     OR Variable_name LIKE 'Innodb_redo_log_%' OR Variable_name LIKE 'Innodb_checkpoint_%' OR Variable_name LIKE 'Innodb_adaptive_hash_%' \
     OR Variable_name LIKE 'Created_tmp_%' OR Variable_name LIKE 'Binlog_cache_%' OR Variable_name LIKE 'wsrep_%' \
     OR Variable_name IN ('Innodb_page_size', 'Innodb_history_list_length', 'Innodb_os_log_written', 'Threads_connected', 'Aborted_clients')";

/// The settings that figures and advice need. It needs no right.
const SETTINGS: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'innodb_log_%' OR Variable_name LIKE 'wsrep_node_%' \
     OR Variable_name LIKE '%_parallel_workers' OR Variable_name IN ('innodb_redo_log_capacity', 'innodb_buffer_pool_size', 'innodb_purge_threads', \
     'innodb_io_capacity', 'innodb_adaptive_hash_index', 'tmp_table_size', 'temptable_max_ram', 'binlog_cache_size', 'max_connections', 'wait_timeout', \
     'idle_transaction_timeout', 'slave_parallel_threads', 'log_bin', 'group_replication_group_name')";

/// Counters of InnoDB that MySQL has in place of status variables.
const METRICS: &str = "SELECT NAME AS Variable_name, `COUNT` AS Value FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled' \
     AND NAME IN ('trx_rseg_history_len', 'log_lsn_checkpoint_age', 'adaptive_hash_searches', 'adaptive_hash_searches_btree')";

/// The host of an account without the port; an address of IPv6 has colons, too.
macro_rules! client {
    () => {
        "CASE WHEN p.HOST LIKE '%:%' THEN LEFT(p.HOST, CHAR_LENGTH(p.HOST) - CHAR_LENGTH(SUBSTRING_INDEX(p.HOST, ':', -1)) - 1) \
         ELSE p.HOST END"
    };
}

/// What a session `p` does, whose transaction `x` is.
macro_rules! state {
    ($is_in_transaction:literal, $waits_for_row:literal) => {
        concat!(
            "CASE WHEN p.USER IN ('system user', 'event_scheduler') OR p.COMMAND = 'Daemon' THEN 'of the server' \
             WHEN p.COMMAND LIKE 'Binlog Dump%' THEN 'feeding a replica' WHEN p.COMMAND = 'Sleep' AND ",
            $is_in_transaction,
            " THEN 'idle in transaction' WHEN p.COMMAND = 'Sleep' THEN 'idle' WHEN ",
            $waits_for_row,
            " OR p.STATE LIKE 'Waiting for % lock' OR p.STATE IN ('Waiting for table flush', 'User lock') THEN 'waiting for a lock' \
             ELSE 'running' END"
        )
    };
}

/// Connections by account and state. `{}` are connections of Tare.
const CONNECTIONS: &str = concat!(
    "SELECT p.USER AS user, ",
    client!(),
    " AS client, ",
    state!("x.trx_id IS NOT NULL", "x.trx_state = 'LOCK WAIT'"),
    " AS state, COUNT(*) AS count, MAX(p.TIME) AS longest_s FROM information_schema.PROCESSLIST AS p \
     LEFT JOIN information_schema.INNODB_TRX AS x ON x.trx_mysql_thread_id = p.ID WHERE p.ID NOT IN ({}) GROUP BY 1, 2, 3"
);

/// The same for an account without the privilege PROCESS, which sees only its own sessions there. Transactions are
/// unknown, unless they are recorded as events.
const CONNECTIONS_OF_THREADS: &str = concat!(
    "SELECT p.USER AS user, p.HOST AS client, ",
    state!("p.IN_TRANSACTION = 1", "p.STATE = 'LOCK WAIT'"),
    " AS state, COUNT(*) AS count, MAX(p.TIME) AS longest_s FROM (SELECT t.PROCESSLIST_USER AS USER, t.PROCESSLIST_HOST AS HOST, \
     t.PROCESSLIST_COMMAND AS COMMAND, t.PROCESSLIST_STATE AS STATE, t.PROCESSLIST_TIME AS TIME, e.THREAD_ID IS NOT NULL AS IN_TRANSACTION \
     FROM performance_schema.threads AS t LEFT JOIN performance_schema.events_transactions_current AS e \
     ON e.THREAD_ID = t.THREAD_ID AND e.STATE = 'ACTIVE' WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID NOT IN ({})) AS p GROUP BY 1, 2, 3"
);

/// The oldest transactions. Times of InnoDB are in the system's zone.
const TRANSACTIONS: &str = concat!(
    "SELECT NULLIF(x.trx_mysql_thread_id, 0) AS connection_id, p.USER AS user, ",
    client!(),
    " AS client, TIMESTAMPDIFF(SECOND, x.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS age_s, \
     CASE WHEN p.ID IS NULL THEN 'without a session' ELSE ",
    state!("TRUE", "x.trx_state = 'LOCK WAIT'"),
    " END AS state, x.trx_rows_modified AS rows_changed, x.trx_rows_locked AS rows_locked, x.trx_tables_locked AS tables_locked, x.trx_id AS transaction_id, \
     CASE WHEN p.COMMAND = 'Sleep' THEN p.TIME END AS sleep_s, LEFT(COALESCE(x.trx_query, p.INFO), 1024) AS text \
     FROM information_schema.INNODB_TRX AS x LEFT JOIN information_schema.PROCESSLIST AS p ON p.ID = x.trx_mysql_thread_id \
     WHERE x.trx_mysql_thread_id NOT IN ({}) ORDER BY x.trx_started LIMIT 200"
);

/// The statements that sessions run or ran last. Nested ones come first.
const STATEMENTS: &str = "SELECT t.PROCESSLIST_ID, s.DIGEST, LEFT(COALESCE(s.DIGEST_TEXT, s.SQL_TEXT), 1024) \
     FROM performance_schema.threads AS t JOIN performance_schema.events_statements_current AS s ON s.THREAD_ID = t.THREAD_ID \
     WHERE t.PROCESSLIST_ID IN ({}) ORDER BY t.PROCESSLIST_ID, s.EVENT_ID DESC";

/// The size of the binary log; it needs REPLICATION CLIENT.
const BINARY_LOGS: &str = "SHOW BINARY LOGS";

/// The beginnings of this module's queries, so that tools can leave out their own statements.
pub fn queries() -> impl Iterator<Item = &'static str> {
    let queries = [
        STATUS,
        SETTINGS,
        METRICS,
        CONNECTIONS,
        CONNECTIONS_OF_THREADS,
        TRANSACTIONS,
        STATEMENTS,
        replication::MEMBERS,
    ];
    let queries = queries.into_iter();
    queries.map(|sql| sql.split("{}").next().unwrap_or_default())
}

/// Reads the status of a server.
#[derive(Default)]
pub struct StatusReader {
    /// The counters of the last reading.
    before: Option<(Instant, Counters)>,
    last: Option<(Instant, ServerStatus)>,
}

impl StatusReader {
    /// The status, which may be a second old. `segment` has the Performance Schema of a server behind Tare's engine.
    /// Connections in `own` are left out.
    pub fn read(
        &mut self,
        server: &mut LimitedSession,
        segment: Option<&mut SqlSession>,
        own: &[u64],
    ) -> ServerStatus {
        if let Some((at, status)) = &self.last
            && at.elapsed() < MIN_INTERVAL
        {
            return status.clone();
        }
        let mut pass = Pass {
            server,
            segment,
            own: own.iter().map(|id| format!(", {id}")).collect(),
            status: ServerStatus::default(),
        };
        if let Err(why) = pass.run(&mut self.before) {
            pass.status.unread.push(why.to_string());
        }
        let status = pass.status;
        self.last = Some((Instant::now(), status.clone()));
        status
    }
}

/// One reading.
struct Pass<'a> {
    server: &'a mut LimitedSession,
    segment: Option<&'a mut SqlSession>,
    /// The connections that are left out in addition to this one.
    own: String,
    status: ServerStatus,
}

impl Pass<'_> {
    fn run(&mut self, before: &mut Option<(Instant, Counters)>) -> Result<(), QueryError> {
        let at = Instant::now();
        let mut counters = pairs(self.rows("status variables", STATUS)?);
        let settings = pairs(self.rows("settings", SETTINGS)?);
        if !self.server.is_mariadb()? {
            counters.extend(pairs(self.rows("counters of InnoDB", METRICS)?));
        }
        self.read_sessions()?;
        let settings_of = |name: &str| settings.get(name).filter(|value| !value.is_empty());
        self.status.replication =
            replication::channels(self.server, &settings, &mut self.status.unread)?;
        if settings_of("group_replication_group_name").is_some() {
            let members = self.rows("members of the group", replication::MEMBERS)?;
            (self.status.replication).extend(members.iter().map(replication::group_member));
        }
        let node = replication::galera_node(&counters, &settings);
        self.status.replication.extend(node);
        let binary_logs = match settings_of("log_bin").is_some_and(|value| value == "ON") {
            true => self.rows("size of the binary log", BINARY_LOGS)?,
            false => Vec::new(),
        };
        let sizes = binary_logs.iter().filter_map(|file| file.get("File_size"));
        let sizes = sizes.filter_map(|size| size.parse::<f64>().ok());
        let readings = Readings {
            counters: &counters,
            settings: &settings,
            before: before.as_ref().map(|(then, counters)| {
                let seconds = at.duration_since(*then).as_secs_f64();
                (seconds.max(1e-3), counters)
            }),
            binary_log: (!binary_logs.is_empty()).then(|| (binary_logs.len(), sizes.sum())),
            status: &self.status,
        };
        self.status.figures = figures(&readings);
        *before = Some((at, counters));
        Ok(())
    }

    /// The rows of a statement. If the server refuses it, what it is about is unread.
    fn rows(&mut self, what: &str, sql: &str) -> Result<Vec<NamedRow>, QueryError> {
        match self.server.named_rows(sql) {
            Err(QueryError::Refused(why)) => {
                self.status.unread.push(format!("{what}: {why}"));
                Ok(Vec::new())
            }
            answer => answer,
        }
    }

    fn read_sessions(&mut self) -> Result<(), QueryError> {
        let own = format!("CONNECTION_ID(){}", self.own);
        let connections = self.server.named_rows(&CONNECTIONS.replace("{}", &own));
        let rows = match connections {
            Ok(rows) => {
                self.read_transactions(&own)?;
                rows
            }
            Err(QueryError::Refused(why)) => {
                let what = "transactions, and which connections are idle in one";
                self.status.unread.push(format!("{what}: {why}"));
                let threads = CONNECTIONS_OF_THREADS.replace("{}", &own);
                self.rows("connections", &threads)?
            }
            Err(lost) => return Err(lost),
        };
        self.status.connections = rows.into_iter().map(connection_group).collect();
        Ok(())
    }

    fn read_transactions(&mut self, own: &str) -> Result<(), QueryError> {
        let rows = self.rows("transactions", &TRANSACTIONS.replace("{}", own))?;
        let mut transactions: Vec<_> = rows.iter().map(open_transaction).collect();
        let connections = (transactions.iter()).filter_map(|transaction| transaction.connection_id);
        let connections: Vec<String> = connections.map(|id| id.to_string()).collect();
        if !connections.is_empty() {
            let query = STATEMENTS.replace("{}", &connections.join(", "));
            let answer = match &mut self.segment {
                Some(session) => super::rows(session, &query),
                None => self.server.rows(&query),
            };
            let answer = match answer {
                Ok(answer) => answer,
                // The server may have no such tables, or the account not the right: the text of PROCESSLIST is there.
                Err(QueryError::Refused(_)) => Vec::new(),
                Err(lost) => return Err(lost),
            };
            for row in answer.iter().rev() {
                let word = |at: usize| row.get(at).and_then(text);
                let id = word(0).and_then(|id| id.parse().ok());
                let of_row = |one: &&mut OpenTransaction| one.connection_id == id;
                if let Some(transaction) = transactions.iter_mut().find(of_row) {
                    transaction.digest = word(1).map(Into::into);
                    transaction.text = word(2).map(|text| match &transaction.digest {
                        Some(_) => text.into(),
                        None => sampled_text(&text),
                    });
                }
            }
        }
        self.status.transactions = transactions;
        Ok(())
    }
}

/// The values of SHOW STATUS or SHOW VARIABLES.
fn pairs(rows: Vec<NamedRow>) -> Counters {
    let pair = |mut row: NamedRow| Some((row.remove("Variable_name")?, row.remove("Value")?));
    rows.into_iter().filter_map(pair).collect::<HashMap<_, _>>()
}

/// A column as a number. A clock that was set back makes a time negative.
fn number(row: &NamedRow, column: &str) -> Option<u64> {
    row.get(column)?.parse().ok()
}

fn connection_group(row: NamedRow) -> ConnectionGroup {
    ConnectionGroup {
        user: row.get("user").cloned(),
        client: row.get("client").cloned(),
        state: row.get("state").cloned().unwrap_or_default(),
        count: number(&row, "count").unwrap_or(0),
        longest_s: number(&row, "longest_s"),
    }
}

fn open_transaction(row: &NamedRow) -> OpenTransaction {
    OpenTransaction {
        age_s: number(row, "age_s"),
        state: row.get("state").cloned().unwrap_or_default(),
        connection_id: number(row, "connection_id"),
        user: row.get("user").cloned(),
        client: row.get("client").cloned(),
        rows_changed: number(row, "rows_changed"),
        rows_locked: number(row, "rows_locked"),
        tables_locked: number(row, "tables_locked"),
        transaction_id: number(row, "transaction_id"),
        sleep_s: number(row, "sleep_s"),
        digest: None,
        text: row.get("text").map(|text| sampled_text(text)),
    }
}
