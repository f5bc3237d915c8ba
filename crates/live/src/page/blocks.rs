//! Who blocked whom over time, also where the holder of the lock slept and has no sample.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};
use tare_history::{Block, Party};

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

    /// The time and the sessions of the last reading of a range with a blocked session.
    pub fn latest(&self, from: i64, to: i64) -> Option<Value> {
        let end = self.rows.partition_point(|(at, _)| *at < to);
        let at = self.rows.range(..end).next_back()?.0;
        if at < from {
            return None;
        }
        let begin = self.rows.partition_point(|(of, _)| *of < at);
        let blocks = || self.rows.range(begin..end).map(|(_, block)| block);
        let mut sessions: BTreeMap<u64, Value> = BTreeMap::new();
        for block in blocks() {
            let object = [&block.object_schema, &block.object];
            let object: Vec<&str> = object.into_iter().flatten().map(|name| &**name).collect();
            let holder = block.holder.as_ref();
            let mut row = of_party(&block.waiter);
            row["blocker"] = json!(holder.map_or(0, |holder| holder.party.thread_id));
            row["is_unknown"] = json!(holder.is_none());
            row["object"] = json!(object.join("."));
            row["wait"] = json!(format!("a {} lock", block.kind.name()));
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
