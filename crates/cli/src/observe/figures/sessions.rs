//! The figures of connections, transactions and replicas.

use super::list::{List, threshold};

const CONNECTIONS: &str = "connections";
const TRANSACTIONS: &str = "transactions";
const REPLICATION: &str = "replication";

impl List<'_> {
    pub(super) fn add_sessions(&mut self) {
        let of = self.readings;
        let open = of.value("Threads_connected");
        let most = of.setting("max_connections");
        let near = open
            .zip(most)
            .filter(|(open, most)| *open >= most * threshold::CONNECTIONS_SHARE);
        let advice =
            near.map(|(open, most)| format!("max_connections is {most:.0}: {open:.0} are open"));
        self.gauge((CONNECTIONS, "open"), open, "", advice);
        self.total((CONNECTIONS, "aborted"), "Aborted_clients", ("", 1.0), None);
        let transactions = &of.status.transactions;
        // It is unknown without the privilege PROCESS.
        if !of
            .status
            .unread
            .iter()
            .any(|why| why.starts_with(TRANSACTIONS))
        {
            self.gauge(
                (TRANSACTIONS, "open"),
                Some(transactions.len() as f64),
                "",
                None,
            );
        }
        let oldest = transactions
            .iter()
            .filter_map(|transaction| transaction.age_s)
            .max();
        self.gauge(
            (TRANSACTIONS, "oldest"),
            oldest.map(|age| age as f64),
            "s",
            None,
        );
        let idle = transactions
            .iter()
            .filter(|transaction| transaction.state == "idle in transaction");
        let idle = idle.max_by_key(|transaction| transaction.sleep_s);
        let sleep_s = idle.and_then(|transaction| transaction.sleep_s);
        let long = sleep_s.filter(|sleep| *sleep >= threshold::IDLE_IN_TRANSACTION_S);
        let advice = long.zip(idle).and_then(|(sleep, transaction)| {
            let setting = match of.settings.contains_key("idle_transaction_timeout") {
                true => "idle_transaction_timeout",
                false => "wait_timeout",
            };
            Some(format!(
                "{setting} is {:.0} s: connection {} of {} has slept for {sleep} s in a transaction with {}",
                of.setting(setting)?,
                transaction.connection_id?,
                transaction.user.as_deref().unwrap_or("an unknown user"),
                match transaction.rows_locked.unwrap_or(0) {
                    1 => "1 row lock".to_owned(),
                    n => format!("{n} row locks"),
                }
            ))
        });
        self.gauge(
            (TRANSACTIONS, "longest idle"),
            sleep_s.map(|sleep| sleep as f64),
            "s",
            advice,
        );
    }

    pub(super) fn add_replication(&mut self) {
        let of = self.readings;
        let is_node = of
            .value("wsrep_cluster_size")
            .is_some_and(|nodes| nodes > 0.0);
        let paused = of.value("wsrep_flow_control_paused").filter(|_| is_node);
        let percent = paused.map(|share| 100.0 * share);
        self.gauge((REPLICATION, "paused by flow control"), percent, "%", None);
        let channels = of.status.replication.iter();
        let Some(worst) = channels
            .filter(|channel| channel.lag_s.is_some())
            .max_by_key(|channel| channel.lag_s)
        else {
            return;
        };
        let lag = worst.lag_s.unwrap_or(0);
        let settings = [
            "slave_parallel_threads",
            "replica_parallel_workers",
            "slave_parallel_workers",
        ];
        let setting = settings
            .into_iter()
            .find(|name| of.settings.contains_key(*name));
        let late = setting.filter(|_| lag >= threshold::LAG_S);
        let advice = late.map(|setting| {
            format!(
                "{setting} is {}: the replica is {lag} s behind",
                of.settings[setting]
            )
        });
        self.gauge((REPLICATION, "lag"), Some(lag as f64), "s", advice);
    }
}
