//! Deadlocks of InnoDB: how many there were, and the latest with its transactions, as SHOW ENGINE INNODB STATUS
//! prints it.

use std::net::IpAddr;

use tare_history::{Deadlock, DeadlockTransaction, sampled_text};

use super::innodb_locks::split_table;
use super::limited_session::LimitedSession;
use super::{integer, sql_literal, text};

/// The server's account of its state. It is long, and is queried only after a deadlock.
const STATUS: &str = "SHOW ENGINE INNODB STATUS";

/// The longest text of a statement that is stored.
const MAX_TEXT_BYTES: usize = 1024;

/// What counts deadlocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// InnoDB.
    Server,
    /// Tare, which counts errors by number.
    Segment,
    /// InnoDB, which is queried when further statements have failed: at the level `active` Tare counts errors in total.
    ServerAfterErrors,
}

impl Counter {
    /// The query of a number that grows with deadlocks.
    pub fn query(self) -> &'static str {
        match self {
            Self::Server => {
                "SELECT `COUNT`, NAME FROM information_schema.INNODB_METRICS \
                 WHERE NAME IN ('lock_row_lock_current_waits', 'lock_deadlocks')"
            }
            Self::Segment => {
                "SELECT COALESCE(SUM(SUM_ERROR_RAISED), 0), 'lock_deadlocks' \
                 FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER = 1213"
            }
            Self::ServerAfterErrors => {
                "SELECT COALESCE(SUM(SUM_ERRORS), 0), 'errors' \
                 FROM performance_schema.events_statements_summary_global_by_event_name"
            }
        }
    }
}

/// The server's count of deadlocks.
const COUNT: &str =
    "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'";

/// Follows the count of deadlocks.
#[derive(Default)]
pub struct DeadlockReader {
    count: Option<(Counter, u64)>,
    /// How many statements had failed when the server was queried for its count.
    errors: Option<u64>,
    /// The latest deadlock that was read.
    latest: Option<String>,
}

impl DeadlockReader {
    /// The deadlocks since the last call; nothing at the first. `number` is the answer of the counter's query.
    pub fn read(
        &mut self,
        counter: Counter,
        number: u64,
        mut server: Option<&mut LimitedSession>,
    ) -> Option<Deadlock> {
        let count = match counter {
            Counter::ServerAfterErrors => self.query_count(number, server.as_deref_mut()?)?,
            Counter::Server | Counter::Segment => number,
        };
        let before = self.count.replace((counter, count));
        let (_, before) = before.filter(|(of, _)| *of == counter)?;
        // The counter may have been reset.
        let count = count.checked_sub(before).filter(|new| *new > 0)?;
        let latest = server.and_then(|server| {
            let answer = server.rows(STATUS).ok()?;
            let status = text(answer.first()?.get(2)?)?;
            let mut latest = parse(&status)?;
            for transaction in &mut latest.1 {
                normalise(server, transaction);
            }
            Some(latest)
        });
        let (name, transactions) = latest
            .filter(|(name, _)| self.latest.as_ref() != Some(name))
            .unzip();
        if name.is_some() {
            self.latest.clone_from(&name);
        }
        Some(Deadlock {
            count,
            name: name.map(Into::into),
            transactions: transactions.unwrap_or_default(),
        })
    }

    /// The server's count, unless no further statement has failed.
    fn query_count(&mut self, errors: u64, server: &mut LimitedSession) -> Option<u64> {
        let is_read = self
            .count
            .is_some_and(|(of, _)| of == Counter::ServerAfterErrors);
        if is_read && self.errors == Some(errors) {
            return None;
        }
        let answer = server.rows(COUNT).ok()?;
        let count = integer(answer.first()?.first()?)?;
        self.errors = Some(errors);
        u64::try_from(count).ok()
    }
}

/// Adds the digest of a transaction's statement, and replaces its text by the normalised one, if the server computes
/// digests: MySQL 8 and later do.
fn normalise(server: &mut LimitedSession, transaction: &mut DeadlockTransaction) {
    let Some(statement) = &transaction.text else {
        return;
    };
    let literal = sql_literal(statement);
    let query = format!("SELECT STATEMENT_DIGEST({literal}), STATEMENT_DIGEST_TEXT({literal})");
    let answer = server.rows(&query).unwrap_or_default();
    let word = |at: usize| answer.first().and_then(|row| text(row.get(at)?));
    transaction.digest = word(0).map(Into::into);
    let text = word(1).unwrap_or_else(|| sampled_text(statement).to_string());
    let end = text.floor_char_boundary(MAX_TEXT_BYTES.min(text.len()));
    transaction.text = Some(text[..end].into());
}

/// The latest deadlock: its time and first transaction, which name it, and its transactions.
fn parse(status: &str) -> Option<(String, Vec<DeadlockTransaction>)> {
    let (_, section) = status.split_once("\nLATEST DETECTED DEADLOCK\n")?;
    let mut lines = section.lines().skip(1);
    // The time is followed by the thread.
    let time = lines.next()?.get(..19)?.to_owned();
    let mut transactions: Vec<DeadlockTransaction> = Vec::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let Some(mark) = line.strip_prefix("*** ") else {
            continue;
        };
        if let Some(number) = mark.strip_prefix("WE ROLL BACK TRANSACTION (") {
            let number: Option<usize> = number.trim_end().trim_end_matches(')').parse().ok();
            let victim = number.and_then(|n| transactions.get_mut(n.checked_sub(1)?));
            if let Some(victim) = victim {
                victim.is_victim = true;
            }
            break;
        }
        if mark.ends_with(" TRANSACTION:") {
            let mut block = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("*** ")) {
                block.push(line);
            }
            transactions.push(transaction(&block));
        } else if mark.ends_with("WAITING FOR THIS LOCK TO BE GRANTED:")
            && let (Some(last), Some(lock)) = (transactions.last_mut(), lines.next())
        {
            add_lock(last, lock);
        }
    }
    let first = transactions.first()?.transaction_id;
    Some((
        format!("{time} {}", first.unwrap_or_default()),
        transactions,
    ))
}

/// A transaction from its lines: `TRANSACTION 1579, ACTIVE 0 sec`, and after the line of its thread the statement.
fn transaction(lines: &[&str]) -> DeadlockTransaction {
    let mut transaction = DeadlockTransaction::default();
    if let Some(rest) = lines
        .first()
        .and_then(|line| line.strip_prefix("TRANSACTION "))
    {
        transaction.transaction_id = leading_number(rest);
        let age = rest.split_once("ACTIVE ");
        let seconds = age.and_then(|(_, rest)| leading_number(rest));
        transaction.transaction_ns = seconds.map(|seconds| seconds.saturating_mul(1_000_000_000));
    }
    let Some(at) = lines.iter().position(|line| line.contains("thread id ")) else {
        return transaction;
    };
    let thread = lines[at];
    let after = |mark: &str| thread.split_once(mark).map(|(_, rest)| rest);
    transaction.connection_id = after("thread id ").and_then(leading_number);
    // Host, address if it differs, user, state.
    let account = after("query id ").and_then(|rest| rest.split_once(' '));
    let mut words = account.map_or("", |(_, account)| account).split(' ');
    let host = words.next().filter(|host| !host.is_empty());
    let mut user = words.next();
    if user.is_some_and(|word| word.parse::<IpAddr>().is_ok()) {
        user = words.next();
    }
    transaction.client = host.map(Into::into);
    transaction.user = user.map(Into::into);
    let statement = lines[at + 1..].join("\n");
    let statement = statement.trim();
    transaction.text = (!statement.is_empty()).then(|| statement.into());
    transaction
}

/// Adds the lock that a transaction waits for.
fn add_lock(transaction: &mut DeadlockTransaction, line: &str) {
    let between = |from: &str, to: &str| {
        let (_, rest) = line.split_once(from)?;
        rest.split_once(to).map(|(word, _)| word)
    };
    let table = between(" table ", " trx id ").map(split_table);
    let (schema, table) = table.unwrap_or_default();
    transaction.object_schema = schema.map(Into::into);
    transaction.object = table.map(Into::into);
    let index = between(" index ", " of table ");
    transaction.index_name = index.map(|index| index.trim_matches('`').into());
    let mode = line
        .split_once(" lock_mode ")
        .or_else(|| line.split_once(" lock mode "));
    transaction.lock_mode = mode.map(|(_, mode)| mode.trim_end_matches(" waiting").into());
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of MySQL 9.7; that of MariaDB has no holders and no number in the second mark.
    const STATUS_OF_9_7: &str = "\n------\nLATEST DETECTED DEADLOCK\n------\n2026-11-28 16:13:56 140421701813952\n\
        *** (1) TRANSACTION:\nTRANSACTION 1579, ACTIVE 3 sec starting index read\nLOCK WAIT 3 lock struct(s)\n\
        MySQL thread id 16, OS thread handle 1, query id 47 db1 10.0.0.7 app Sending data\nUPDATE t\n\nSET b = 1\n\n\
        *** (1) HOLDS THE LOCK(S):\nRECORD LOCKS space id 2 page no 4 n bits 72 index a of table `shop`.`u` trx id 1579 lock_mode X\n\n\
        *** (1) WAITING FOR THIS LOCK TO BE GRANTED:\n\
        RECORD LOCKS space id 2 page no 4 n bits 72 index PRIMARY of table `shop`.`t` trx id 1579 lock_mode X locks rec but not gap waiting\n\
        Record lock, heap no 3\n\n*** (2) TRANSACTION:\nTRANSACTION 1580, ACTIVE 0 sec inserting\n\
        MariaDB thread id 17, OS thread handle 2, query id 48 localhost root Updating\nINSERT INTO t VALUES (1)\n\
        *** WAITING FOR THIS LOCK TO BE GRANTED:\nTABLE LOCK table `shop`.`t` trx id 1580 lock mode AUTO-INC waiting\n\
        *** WE ROLL BACK TRANSACTION (2)\n------\nTRANSACTIONS\n------\n";

    #[test]
    fn each_transaction_has_its_session_its_statement_and_its_lock() {
        let (name, transactions) = parse(STATUS_OF_9_7).expect("a deadlock");
        assert_eq!(name, "2026-11-28 16:13:56 1579");
        let expected = [
            DeadlockTransaction {
                is_victim: false,
                transaction_id: Some(1579),
                transaction_ns: Some(3_000_000_000),
                connection_id: Some(16),
                user: Some("app".into()),
                client: Some("db1".into()),
                digest: None,
                text: Some("UPDATE t\n\nSET b = 1".into()),
                object_schema: Some("shop".into()),
                object: Some("t".into()),
                index_name: Some("PRIMARY".into()),
                lock_mode: Some("X locks rec but not gap".into()),
            },
            DeadlockTransaction {
                is_victim: true,
                transaction_id: Some(1580),
                transaction_ns: Some(0),
                connection_id: Some(17),
                user: Some("root".into()),
                client: Some("localhost".into()),
                digest: None,
                text: Some("INSERT INTO t VALUES (1)".into()),
                object_schema: Some("shop".into()),
                object: Some("t".into()),
                index_name: None,
                lock_mode: Some("AUTO-INC".into()),
            },
        ];
        assert_eq!(transactions, expected);
        assert_eq!(parse("\n------\nTRANSACTIONS\n"), None);
    }

    #[test]
    fn deadlocks_are_counted_without_further_details() {
        let mut reader = DeadlockReader::default();
        let mut count = |(counter, total)| {
            let deadlock = reader.read(counter, total, None);
            deadlock.map(|deadlock| deadlock.count)
        };
        let server = [7, 7, 9, 1, 2].map(|total| count((Counter::Server, total)));
        assert_eq!(server, [None, None, Some(2), None, Some(1)]);
        // The counts of another counter are not compared with those before.
        let segment = [5, 6].map(|total| count((Counter::Segment, total)));
        assert_eq!(segment, [None, Some(1)]);
    }
}
