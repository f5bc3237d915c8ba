//! Who blocked whom over time, also where the holder of the lock slept and has no sample.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};
use tare_history::{Block, Deadlock, Party};

/// The most rows, of about 500 bytes each.
const MAX_ROWS: usize = 50_000;

/// Rows of table `blocks`, oldest first.
#[derive(Default)]
pub struct BlockRows {
    rows: VecDeque<(i64, Block)>,
}

impl BlockRows {
    /// Adds a row of a reading.
    pub fn add(&mut self, at: i64, block: Block) {
        if self.rows.len() >= MAX_ROWS {
            self.rows.pop_front();
        }
        self.rows.push_back((at, block));
    }

    /// The time and the rows of the last reading of a range with a blocked session.
    fn latest_rows(
        &self,
        from: i64,
        to: i64,
    ) -> Option<(i64, impl Iterator<Item = &Block> + Clone)> {
        let end = self.rows.partition_point(|(at, _)| *at < to);
        let at = self.rows.range(..end).next_back()?.0;
        if at < from {
            return None;
        }
        let begin = self.rows.partition_point(|(of, _)| *of < at);
        Some((at, self.rows.range(begin..end).map(|(_, block)| block)))
    }

    /// The sessions that wait in the last reading of a range with a blocked session, and for how long, in
    /// nanoseconds. `None` if there is no such reading.
    pub fn waits(&self, from: i64, to: i64) -> Option<BTreeMap<u64, u64>> {
        let (_, blocks) = self.latest_rows(from, to)?;
        let wait = |block: &Block| (block.waiter.thread_id, block.wait_ns.unwrap_or(0));
        Some(blocks.map(wait).collect())
    }

    /// The time and the sessions of the last reading of a range with a blocked session.
    pub fn latest(&self, from: i64, to: i64) -> Option<Value> {
        let (at, rows) = self.latest_rows(from, to)?;
        let blocks = || rows.clone();
        let mut sessions: BTreeMap<u64, Value> = BTreeMap::new();
        for block in blocks() {
            let object = [&block.object_schema, &block.object];
            let object: Vec<&str> = object.into_iter().flatten().map(|name| &**name).collect();
            let holder = block.holder.as_ref();
            let mut row = of_party(&block.waiter);
            row["blocker"] = json!(holder.map_or(0, |holder| holder.party.thread_id));
            row["is_unknown"] = json!(holder.is_none());
            row["object"] = json!(object.join("."));
            row["wait"] = json!(block.kind.noun());
            row["wait_ns"] = json!(block.wait_ns);
            // A session with several holders is below the first one.
            sessions.entry(block.waiter.thread_id).or_insert(row);
        }
        for holder in blocks().filter_map(|block| block.holder.as_ref()) {
            sessions.entry(holder.party.thread_id).or_insert_with(|| {
                let mut row = of_party(&holder.party);
                row["blocker"] = json!(0);
                row["state"] = json!(holder.state.map(|state| state.name()));
                row["state_ns"] = json!(holder.state_ns);
                row["transaction_ns"] = json!(holder.transaction_ns);
                row
            });
        }
        let rows: Vec<Value> = sessions.into_values().collect();
        Some(json!({ "at": at, "rows": rows }))
    }
}

/// The most deadlocks that are stored.
const MAX_DEADLOCKS: usize = 1000;

/// The most transactions of deadlocks on the page.
const MAX_LISTED: usize = 20;

/// Deadlocks, oldest first.
#[derive(Default)]
pub struct Deadlocks {
    rows: VecDeque<(i64, Deadlock)>,
}

impl Deadlocks {
    /// Adds deadlocks of a reading.
    pub fn add(&mut self, at: i64, deadlock: Deadlock) {
        if self.rows.len() >= MAX_DEADLOCKS {
            self.rows.pop_front();
        }
        self.rows.push_back((at, deadlock));
    }

    /// The number of deadlocks of a range, and the transactions of the last ones.
    pub fn state(&self, from: i64, to: i64) -> Value {
        let rows = || (self.rows.iter()).filter(|(at, _)| (from..to).contains(at));
        let transactions = rows().rev().flat_map(|(at, deadlock)| {
            let transactions = deadlock.transactions.iter().rev();
            transactions.map(move |transaction| {
                let object = [&transaction.object_schema, &transaction.object];
                let object: Vec<&str> = object.into_iter().flatten().map(|name| &**name).collect();
                json!({
                    "at": at,
                    "deadlock": deadlock.name.as_deref(),
                    "connection": transaction.connection_id,
                    "user": transaction.user.as_deref(),
                    "is_victim": transaction.is_victim,
                    "text": transaction.text.as_deref(),
                    "object": object.join("."),
                    "lock_mode": transaction.lock_mode.as_deref(),
                })
            })
        });
        let mut transactions: Vec<Value> = transactions.take(MAX_LISTED).collect();
        transactions.reverse();
        let count: u64 = rows().map(|(_, deadlock)| deadlock.count).sum();
        json!({ "count": count, "transactions": transactions })
    }
}

fn of_party(party: &Party) -> Value {
    let digest = party.digest.as_deref();
    json!({
        "thread": party.thread_id,
        "connection": party.connection_id,
        "user": party.user.as_deref(),
        "sql": digest.or(party.text.as_deref()),
        "text": party.text.as_deref(),
    })
}

#[cfg(test)]
mod tests {
    use tare_history::{Holder, HolderState, LockKind};

    use super::*;

    fn block(waits: u64, holds: Option<u64>) -> Block {
        let party = |thread_id| Party {
            thread_id,
            ..Party::default()
        };
        Block {
            kind: LockKind::Row,
            object_schema: Some("shop".into()),
            object: Some("t".into()),
            index_name: None,
            lock_mode: None,
            wait_ns: Some(7),
            waiter: party(waits),
            holder: holds.map(|id| Holder {
                party: party(id),
                lock_mode: None,
                state: Some(HolderState::Sleeping),
                state_ns: None,
                transaction_ns: None,
            }),
        }
    }

    #[test]
    fn deadlocks_of_a_range_are_counted_with_their_transactions() {
        let mut deadlocks = Deadlocks::default();
        for (at, connection) in [(10, 1), (20, 2)] {
            let transaction = tare_history::DeadlockTransaction {
                connection_id: Some(connection),
                ..Default::default()
            };
            let deadlock = Deadlock {
                count: 2,
                name: None,
                transactions: vec![transaction],
            };
            deadlocks.add(at, deadlock);
        }
        let of = |from, to| {
            let state = deadlocks.state(from, to);
            let transactions = state["transactions"].as_array().expect("rows").iter();
            let ids: Vec<_> = transactions.map(|row| row["connection"].as_u64()).collect();
            (state["count"].as_u64(), ids)
        };
        assert_eq!(of(0, 30), (Some(4), vec![Some(1), Some(2)]));
        assert_eq!(of(11, 30), (Some(2), vec![Some(2)]));
    }

    #[test]
    fn the_last_reading_of_a_range_has_holders_that_sleep() {
        let mut rows = BlockRows::default();
        for (at, waits, holds) in [
            (10, 2, Some(1)),
            (20, 3, Some(2)),
            (20, 2, Some(1)),
            (20, 4, None),
        ] {
            rows.add(at, block(waits, holds));
        }
        let of = |from, to| {
            let latest = rows.latest(from, to)?;
            let rows = latest["rows"].as_array().expect("rows").iter();
            let pairs = rows.map(|row| (row["thread"].as_u64(), row["blocker"].as_u64()));
            Some(
                pairs
                    .map(|(a, b)| (a.unwrap_or(0), b.unwrap_or(0)))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of(0, 15), Some(vec![(1, 0), (2, 1)]));
        assert_eq!(of(0, 30), Some(vec![(1, 0), (2, 1), (3, 2), (4, 0)]));
        assert_eq!((of(11, 20), of(21, 30)), (None, None));
        let latest = rows.latest(0, 30).expect("rows");
        assert_eq!(latest["rows"][0]["state"], "sleeping");
        assert_eq!(latest["rows"][3]["is_unknown"], true);
    }
}
