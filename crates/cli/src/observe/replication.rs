//! Replication as the server reports it: channels of a replica, members of a group, a node of Galera.

use std::collections::HashMap;

use tare_history::{ReplicationStatus, sampled_text};

use super::QueryError;
use super::figures::Counters;
use super::limited_session::{LimitedSession, NamedRow};

/// The members of a group. The second table lacks members that have left; before MySQL 8 both have fewer columns.
pub const MEMBERS: &str = "SELECT m.*, s.* FROM performance_schema.replication_group_members AS m \
     LEFT JOIN performance_schema.replication_group_member_stats AS s ON s.MEMBER_ID = m.MEMBER_ID";

/// The channels of a replica. It needs REPLICATION CLIENT, or REPLICA MONITOR in MariaDB.
pub fn channels(
    server: &mut LimitedSession,
    settings: &Counters,
    unread: &mut Vec<String>,
) -> Result<Vec<ReplicationStatus>, QueryError> {
    let queries: &[&str] = match (server.is_mariadb()?, server.major()?) {
        (true, _) => &["SHOW ALL SLAVES STATUS"],
        (false, ..=7) => &["SHOW SLAVE STATUS"],
        // The new name is that of 8.0.22 and later.
        (false, 8) => &["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"],
        (false, _) => &["SHOW REPLICA STATUS"],
    };
    let mut refusal = None;
    for query in queries {
        match server.named_rows(query) {
            Ok(rows) => return Ok(rows.iter().map(|row| channel(row, settings)).collect()),
            Err(QueryError::Refused(why)) => refusal = Some(why),
            Err(lost) => return Err(lost),
        }
    }
    unread.extend(refusal.map(|why| format!("replication: {why}")));
    Ok(Vec::new())
}

/// A channel from the row of SHOW REPLICA STATUS or SHOW SLAVE STATUS.
fn channel(row: &NamedRow, settings: &Counters) -> ReplicationStatus {
    let value = |name: &str| {
        let old = || name.replace("Replica", "Slave").replace("Source", "Master");
        let value = row.get(name).or_else(|| row.get(&old()));
        value.filter(|value| !value.is_empty())
    };
    let number = |name: &str| value(name)?.parse::<u64>().ok();
    let error = |kind: &str| {
        let errno = number(&format!("Last_{kind}_Errno")).filter(|errno| *errno != 0)?;
        let text = value(&format!("Last_{kind}_Error"))?;
        Some(sampled_text(&format!("{errno} {text}")))
    };
    let name = value("Channel_Name").or_else(|| value("Connection_name"));
    let source = value("Source_Host").map(|host| match value("Source_Port") {
        Some(port) => format!("{host}:{port}"),
        None => host.clone(),
    });
    let executed = value("Executed_Gtid_Set").map(|text| GtidSet::parse(text));
    let retrieved = value("Retrieved_Gtid_Set").map(|text| GtidSet::parse(text));
    let pending = match (&retrieved, &executed) {
        (Some(retrieved), executed) => {
            let none = GtidSet::default();
            Some(retrieved.count_missing(executed.as_ref().unwrap_or(&none)))
        }
        (None, Some(_)) => Some(0),
        (None, None) => count_pending(value("Gtid_IO_Pos"), value("Gtid_Slave_Pos")),
    };
    let workers = ["replica_parallel_workers", "slave_parallel_workers"];
    let workers = workers.iter().find_map(|name| settings.get(*name));
    // MariaDB has both, and the second is another name of this.
    let workers = settings.get("slave_parallel_threads").or(workers);
    ReplicationStatus {
        kind: "replica",
        channel: name.cloned().unwrap_or_default(),
        source,
        io_state: value("Replica_IO_Running").cloned(),
        sql_state: value("Replica_SQL_Running").cloned(),
        lag_s: number("Seconds_Behind_Source"),
        pending,
        gaps: executed.map(|executed| executed.count_gaps()),
        workers: workers.and_then(|workers| workers.parse().ok()),
        error: error("SQL").or_else(|| error("IO")),
    }
}

/// A member from the row of [`MEMBERS`].
pub fn group_member(row: &NamedRow) -> ReplicationStatus {
    let value = |name: &str| row.get(name).filter(|value| !value.is_empty());
    let number = |name: &str| value(name)?.parse::<u64>().ok();
    let queues = [
        number("COUNT_TRANSACTIONS_IN_QUEUE"),
        number("COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE"),
    ];
    let queues: Vec<u64> = queues.into_iter().flatten().collect();
    ReplicationStatus {
        kind: "group member",
        channel: value("MEMBER_ID").cloned().unwrap_or_default(),
        source: value("MEMBER_HOST").map(|host| match value("MEMBER_PORT") {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        }),
        io_state: value("MEMBER_ROLE").cloned(),
        sql_state: value("MEMBER_STATE").cloned(),
        pending: (!queues.is_empty()).then(|| queues.iter().sum()),
        ..ReplicationStatus::default()
    }
}

/// The server as a node of Galera, if it is one.
pub fn galera_node(status: &Counters, settings: &Counters) -> Option<ReplicationStatus> {
    let number = |name: &str| status.get(name)?.parse::<u64>().ok();
    let members = number("wsrep_cluster_size").filter(|members| *members > 0)?;
    let cluster = status.get("wsrep_cluster_status");
    Some(ReplicationStatus {
        kind: "Galera node",
        channel: settings.get("wsrep_node_name").cloned().unwrap_or_default(),
        source: (status.get("wsrep_incoming_addresses").cloned()).filter(|text| !text.is_empty()),
        io_state: cluster.map(|state| format!("{state}, {members} nodes")),
        sql_state: status.get("wsrep_local_state_comment").cloned(),
        pending: number("wsrep_local_recv_queue"),
        ..ReplicationStatus::default()
    })
}

/// How many transactions MariaDB has received and not applied: the difference of sequence numbers, by domain.
fn count_pending(received: Option<&String>, applied: Option<&String>) -> Option<u64> {
    let applied = sequences(applied.map_or("", String::as_str));
    let received = sequences(received?);
    let missing = received.iter().map(|(domain, sequence)| {
        sequence.saturating_sub(applied.get(domain).copied().unwrap_or(0))
    });
    Some(missing.sum())
}

/// The sequence number of each domain of a position such as `0-1-270,1-1-5`.
fn sequences(position: &str) -> HashMap<u64, u64> {
    let gtids = position.split(',').filter_map(|gtid| {
        let mut numbers = gtid.trim().split('-').map(str::parse::<u64>);
        let (domain, _server, sequence) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some((domain.ok()?, sequence.ok()?))
    });
    gtids.collect()
}

/// A set of GTIDs of MySQL: for each source, with its tag, the intervals of its transactions in their order.
#[derive(Default, Debug)]
struct GtidSet(HashMap<String, Vec<(u64, u64)>>);

impl GtidSet {
    /// Parses `UUID:1-5:7,UUID:TAG:1-3`. A tag is followed by the intervals that are its own.
    fn parse(text: &str) -> Self {
        let mut set: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
        for source in text.split(',') {
            let mut parts = source.trim().split(':');
            let uuid = parts.next().unwrap_or_default();
            let mut name = uuid.to_owned();
            for part in parts {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                match (first.trim().parse(), last.trim().parse()) {
                    (Ok(first), Ok(last)) => {
                        set.entry(name.clone()).or_default().push((first, last));
                    }
                    _ => name = format!("{uuid}:{}", part.trim()),
                }
            }
        }
        set.values_mut()
            .for_each(|intervals| intervals.sort_unstable());
        Self(set)
    }

    /// Transactions that are missing between the first and the last of a source.
    fn count_gaps(&self) -> u64 {
        let between = |pair: &[(u64, u64)]| pair[1].0.saturating_sub(pair[0].1 + 1);
        let gaps = self
            .0
            .values()
            .flat_map(|of_source| of_source.windows(2).map(between));
        gaps.sum()
    }

    /// How many of these are not in another set.
    fn count_missing(&self, other: &Self) -> u64 {
        let mut missing = 0;
        for (source, intervals) in &self.0 {
            let others = other.0.get(source).map_or(&[][..], Vec::as_slice);
            for (first, last) in intervals {
                let common = others.iter().map(|(from, to)| {
                    let (from, to) = (from.max(first), to.min(last));
                    (to + 1).saturating_sub(*from)
                });
                missing += (last + 1 - first).saturating_sub(common.sum());
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_gtids_are_compared() {
        let a = "a1b2:1-5:8-10:blue:3-4,\n c3d4:7";
        let executed = GtidSet::parse(a);
        assert_eq!(executed.count_gaps(), 2, "{executed:?}");
        let retrieved = GtidSet::parse("a1b2:4-12:blue:4-6");
        // 6, 7, 11, 12, and blue 5, 6.
        assert_eq!(retrieved.count_missing(&executed), 6);
        assert_eq!(executed.count_missing(&executed), 0);
        assert_eq!(GtidSet::parse("").count_gaps(), 0);
    }

    #[test]
    fn positions_of_mariadb_are_compared_by_domain() {
        let pending = |received: &str, applied: Option<&str>| {
            count_pending(
                Some(&received.to_owned()),
                applied.map(str::to_owned).as_ref(),
            )
        };
        assert_eq!(pending("0-1-270,1-2-5", Some("0-1-200")), Some(75));
        assert_eq!(pending("0-1-3", None), Some(3));
        assert_eq!(count_pending(None, None), None);
    }

    #[test]
    fn names_of_older_servers_are_read() {
        let row = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            let pairs = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            pairs.collect::<NamedRow>()
        };
        let old = row(&[
            ("Master_Host", "db1"),
            ("Master_Port", "3306"),
            ("Slave_IO_Running", "Connecting"),
            ("Slave_SQL_Running", "Yes"),
            ("Seconds_Behind_Master", "7"),
            ("Last_IO_Errno", "2003"),
            ("Last_IO_Error", "cannot connect"),
            ("Last_SQL_Errno", "0"),
            ("Last_SQL_Error", ""),
        ]);
        let channel = channel(&old, &row(&[("slave_parallel_threads", "4")]));
        assert_eq!(channel.source.as_deref(), Some("db1:3306"));
        assert_eq!((channel.lag_s, channel.workers), (Some(7), Some(4)));
        assert_eq!(channel.io_state.as_deref(), Some("Connecting"));
        assert_eq!(channel.error.as_deref(), Some("2003 cannot connect"));
    }
}
