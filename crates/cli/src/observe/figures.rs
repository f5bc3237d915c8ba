//! The figures of a server, and advice: a sentence that names a setting and the figure that the setting is about.

use std::collections::HashMap;

use tare_history::{ServerStatus, StatusFigure};

/// Values by the names of variables.
pub type Counters = HashMap<String, String>;

/// What figures are computed from.
pub struct Readings<'a> {
    /// Status variables, and counters of InnoDB.
    pub counters: &'a Counters,
    /// Settings.
    pub settings: &'a Counters,
    /// The seconds since the previous reading, and its counters.
    pub before: Option<(f64, &'a Counters)>,
    /// The files of the binary log, and their bytes.
    pub binary_log: Option<(usize, f64)>,
    /// What was read of replication, transactions and connections.
    pub status: &'a ServerStatus,
}

const MIB: f64 = 1_048_576.0;

const INNODB: &str = "InnoDB";
const TEMPORARY: &str = "temporary tables";
const BINARY_LOG: &str = "binary log";
const CONNECTIONS: &str = "connections";
const TRANSACTIONS: &str = "transactions";
const REPLICATION: &str = "replication";

/// From these on, advice is given.
mod threshold {
    /// Pages read from disk per second, and their share of the requests.
    pub const DISK_READS_PER_S: f64 = 100.0;
    pub const DISK_READS_SHARE: f64 = 0.01;
    /// Free pages of the buffer pool: with more, its size does not matter.
    pub const FREE_PAGES_SHARE: f64 = 0.05;
    /// The checkpoint's age, of the log's capacity.
    pub const CHECKPOINT_SHARE: f64 = 0.75;
    pub const HISTORY_LIST: f64 = 100_000.0;
    /// Temporary tables on disk per second, and their share of all.
    pub const DISK_TABLES_PER_S: f64 = 1.0;
    pub const DISK_TABLES_SHARE: f64 = 0.1;
    /// Transactions per second that are too large for the cache of the binary log.
    pub const DISK_CACHES_PER_S: f64 = 1.0;
    /// Connections, of the most.
    pub const CONNECTIONS_SHARE: f64 = 0.8;
    /// For how long a session sleeps in a transaction.
    pub const IDLE_IN_TRANSACTION_S: u64 = 60;
    pub const LAG_S: u64 = 30;
}

impl Readings<'_> {
    fn value(&self, name: &str) -> Option<f64> {
        self.counters.get(name)?.parse().ok()
    }

    fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name)?.parse().ok()
    }

    /// The growth of a counter per second; `None` at the first reading, and after a restart.
    fn growth(&self, name: &str) -> Option<f64> {
        let (seconds, before) = self.before?;
        let before: f64 = before.get(name)?.parse().ok()?;
        let grown = self.value(name)? - before;
        (grown >= 0.0).then_some(grown / seconds)
    }

    /// The share of one counter in the sum of both, since the previous reading if they grew, in percent.
    fn share(&self, of: &str, others: &str) -> Option<f64> {
        let grown = self.growth(of).zip(self.growth(others));
        let grown = grown.filter(|(of, others)| of + others > 0.0);
        let (of, others) = grown.or_else(|| self.value(of).zip(self.value(others)))?;
        (of + others > 0.0).then(|| 100.0 * of / (of + others))
    }

    /// The age of the checkpoint, and how old it may become before InnoDB stops statements, in bytes. The setting has
    /// the capacity.
    fn checkpoint(&self) -> Option<(f64, f64, &'static str)> {
        // MariaDB.
        if let Some(age) = self.value("Innodb_checkpoint_age") {
            return Some((
                age,
                self.value("Innodb_checkpoint_max_age")?,
                "innodb_log_file_size",
            ));
        }
        // MySQL 8.0.30 and later.
        if let Some(current) = self.value("Innodb_redo_log_current_lsn") {
            let age = current - self.value("Innodb_redo_log_checkpoint_lsn")?;
            let setting = "innodb_redo_log_capacity";
            return Some((age, self.setting(setting)?, setting));
        }
        let age = self.value("log_lsn_checkpoint_age")?;
        let files = self.setting("innodb_log_files_in_group")?;
        let setting = "innodb_log_file_size";
        Some((age, files * self.setting(setting)?, setting))
    }
}

/// The figures in the order of areas.
pub fn figures(readings: &Readings<'_>) -> Vec<StatusFigure> {
    let mut list = List {
        readings,
        figures: Vec::new(),
    };
    list.add_buffer_pool();
    list.add_log();
    list.add_innodb();
    list.add_temporary_tables();
    list.add_binary_log();
    list.add_sessions();
    list.add_replication();
    list.figures
}

struct List<'a> {
    readings: &'a Readings<'a>,
    figures: Vec<StatusFigure>,
}

impl List<'_> {
    /// Adds a value, if the server has it.
    fn gauge(
        &mut self,
        (area, name): (&'static str, &'static str),
        value: Option<f64>,
        unit: &'static str,
        advice: Option<String>,
    ) {
        self.figures.extend(value.map(|value| StatusFigure {
            area,
            name,
            value,
            unit,
            per_s: None,
            advice,
        }));
    }

    /// Adds a total, if the server has it: the variable's by a divisor.
    fn total(
        &mut self,
        (area, name): (&'static str, &'static str),
        variable: &str,
        (unit, divisor): (&'static str, f64),
        advice: Option<String>,
    ) {
        let growth = self.readings.growth(variable);
        let value = self.readings.value(variable);
        self.figures.extend(value.map(|value| StatusFigure {
            area,
            name,
            value: value / divisor,
            unit,
            per_s: growth.map(|growth| growth / divisor),
            advice,
        }));
    }

    fn add_buffer_pool(&mut self) {
        let of = self.readings;
        let page = of.value("Innodb_page_size");
        let total = of.value("Innodb_buffer_pool_pages_total");
        let free = of.value("Innodb_buffer_pool_pages_free");
        let mib = |pages: Option<f64>| Some(pages? * page? / MIB);
        let requests = of.value("Innodb_buffer_pool_read_requests");
        let reads = of.growth("Innodb_buffer_pool_reads");
        let grown = of.growth("Innodb_buffer_pool_read_requests").zip(reads);
        // Of the interval if there were requests, or else since the start.
        let pair = grown.filter(|(requests, _)| *requests > 0.0);
        let pair = pair.or_else(|| requests.zip(of.value("Innodb_buffer_pool_reads")));
        let pair = pair.filter(|(requests, _)| *requests > 0.0);
        let ratio = pair.map(|(requests, reads)| 100.0 * (1.0 - reads / requests).max(0.0));
        let is_full = free
            .zip(total)
            .is_some_and(|(free, total)| free < total * threshold::FREE_PAGES_SHARE);
        let advice = grown.filter(|(requests, reads)| {
            is_full
                && *reads >= threshold::DISK_READS_PER_S
                && *reads >= requests * threshold::DISK_READS_SHARE
        });
        let advice = advice.zip(of.setting("innodb_buffer_pool_size"));
        let advice = advice.map(|((requests, reads), size)| {
            format!(
                "innodb_buffer_pool_size is {}: {reads:.0} of {requests:.0} pages per second are read from disk",
                in_mib(size)
            )
        });
        self.gauge((INNODB, "buffer pool"), mib(total), "MiB", None);
        self.gauge((INNODB, "buffer pool hit ratio"), ratio, "%", advice);
        for (name, variable) in [
            ("buffer pool, data", "Innodb_buffer_pool_pages_data"),
            ("buffer pool, dirty", "Innodb_buffer_pool_pages_dirty"),
            ("buffer pool, free", "Innodb_buffer_pool_pages_free"),
        ] {
            self.gauge((INNODB, name), mib(of.value(variable)), "MiB", None);
        }
        self.total(
            (INNODB, "pages read"),
            "Innodb_buffer_pool_reads",
            ("", 1.0),
            None,
        );
        let waits = of
            .growth("Innodb_buffer_pool_wait_free")
            .filter(|waits| *waits > 0.0);
        let advice = waits
            .zip(of.setting("innodb_io_capacity"))
            .map(|(waits, capacity)| {
                format!(
                    "innodb_io_capacity is {capacity:.0}: {} waits per second for a free page",
                    rate(waits)
                )
            });
        self.total(
            (INNODB, "waits for a free page"),
            "Innodb_buffer_pool_wait_free",
            ("", 1.0),
            advice,
        );
    }

    fn add_log(&mut self) {
        let of = self.readings;
        let checkpoint = of.checkpoint();
        let old =
            checkpoint.filter(|(age, capacity, _)| *age >= capacity * threshold::CHECKPOINT_SHARE);
        let advice = old.and_then(|(age, capacity, setting)| {
            Some(format!(
                "{setting} is {}: the checkpoint age is {} of at most {}",
                in_mib(of.setting(setting)?),
                in_mib(age),
                in_mib(capacity)
            ))
        });
        self.gauge(
            (INNODB, "checkpoint age"),
            checkpoint.map(|(age, ..)| age / MIB),
            "MiB",
            advice,
        );
        self.gauge(
            (INNODB, "checkpoint age, most"),
            checkpoint.map(|(_, most, _)| most / MIB),
            "MiB",
            None,
        );
        self.total((INNODB, "log writes"), "Innodb_log_writes", ("", 1.0), None);
        self.total(
            (INNODB, "log written"),
            "Innodb_os_log_written",
            ("MiB", MIB),
            None,
        );
        let waits = of.growth("Innodb_log_waits").filter(|waits| *waits > 0.0);
        let advice = waits
            .zip(of.setting("innodb_log_buffer_size"))
            .map(|(waits, size)| {
                format!(
                    "innodb_log_buffer_size is {}: {} waits per second for the log buffer",
                    in_mib(size),
                    rate(waits)
                )
            });
        self.total((INNODB, "log waits"), "Innodb_log_waits", ("", 1.0), advice);
    }

    fn add_innodb(&mut self) {
        let of = self.readings;
        let length = of
            .value("Innodb_history_list_length")
            .or_else(|| of.value("trx_rseg_history_len"));
        let long = length.filter(|length| *length >= threshold::HISTORY_LIST);
        let advice = long.zip(of.setting("innodb_purge_threads")).map(|(length, threads)| {
            let oldest = of.status.transactions.first();
            let oldest = oldest.and_then(|oldest| Some((oldest.connection_id?, oldest.age_s?)));
            let oldest = oldest.map(|(connection, age)| {
                format!("; the oldest transaction is that of connection {connection}, for {age} s")
            });
            format!(
                "innodb_purge_threads is {threads:.0}: the history list has {length:.0} entries{}",
                oldest.unwrap_or_default()
            )
        });
        self.gauge((INNODB, "history list"), length, "", advice);
        if of
            .settings
            .get("innodb_adaptive_hash_index")
            .is_some_and(|value| value == "ON")
        {
            let of_mariadb = of.share(
                "Innodb_adaptive_hash_hash_searches",
                "Innodb_adaptive_hash_non_hash_searches",
            );
            let share = of_mariadb
                .or_else(|| of.share("adaptive_hash_searches", "adaptive_hash_searches_btree"));
            self.gauge((INNODB, "adaptive hash hit ratio"), share, "%", None);
        }
    }

    fn add_temporary_tables(&mut self) {
        let of = self.readings;
        let grown = of
            .growth("Created_tmp_disk_tables")
            .zip(of.growth("Created_tmp_tables"));
        let many = grown.filter(|(disk, all)| {
            *disk >= threshold::DISK_TABLES_PER_S && *disk >= all * threshold::DISK_TABLES_SHARE
        });
        let advice = many
            .zip(of.setting("tmp_table_size"))
            .map(|((disk, all), size)| {
                format!(
                    "tmp_table_size is {}: {} of {} temporary tables per second are on disk",
                    in_mib(size),
                    rate(disk),
                    rate(all)
                )
            });
        self.total(
            (TEMPORARY, "created"),
            "Created_tmp_tables",
            ("", 1.0),
            None,
        );
        self.total(
            (TEMPORARY, "created on disk"),
            "Created_tmp_disk_tables",
            ("", 1.0),
            advice,
        );
        self.total((TEMPORARY, "files"), "Created_tmp_files", ("", 1.0), None);
    }

    fn add_binary_log(&mut self) {
        let of = self.readings;
        let size = of.binary_log.map(|(_, bytes)| bytes / MIB);
        self.gauge((BINARY_LOG, "size"), size, "MiB", None);
        let files = of.binary_log.map(|(files, _)| files as f64);
        self.gauge((BINARY_LOG, "files"), files, "", None);
        let disk = of
            .growth("Binlog_cache_disk_use")
            .filter(|disk| *disk >= threshold::DISK_CACHES_PER_S);
        let grown = disk.zip(of.growth("Binlog_cache_use"));
        let advice = grown
            .zip(of.setting("binlog_cache_size"))
            .map(|((disk, all), size)| {
                format!(
                    "binlog_cache_size is {:.0} KiB: {} of {} transactions per second do not fit",
                    size / 1024.0,
                    rate(disk),
                    rate(all)
                )
            });
        self.total(
            (BINARY_LOG, "transactions"),
            "Binlog_cache_use",
            ("", 1.0),
            None,
        );
        self.total(
            (BINARY_LOG, "transactions in files"),
            "Binlog_cache_disk_use",
            ("", 1.0),
            advice,
        );
    }

    fn add_sessions(&mut self) {
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
                "{setting} is {:.0} s: connection {} of {} has slept for {sleep} s in a transaction with {} row locks",
                of.setting(setting)?,
                transaction.connection_id?,
                transaction.user.as_deref().unwrap_or("an unknown user"),
                transaction.rows_locked.unwrap_or(0)
            ))
        });
        self.gauge(
            (TRANSACTIONS, "longest idle"),
            sleep_s.map(|sleep| sleep as f64),
            "s",
            advice,
        );
    }

    fn add_replication(&mut self) {
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

fn in_mib(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / MIB)
}

/// A rate with the digits that it needs.
fn rate(per_s: f64) -> String {
    match per_s {
        x if x >= 10.0 => format!("{x:.0}"),
        x => format!("{x:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use tare_history::{OpenTransaction, ReplicationStatus};

    use super::*;

    fn map(pairs: &[(&str, f64)]) -> Counters {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), value.to_string()))
            .collect()
    }

    /// The advice on each figure, ten seconds after a reading of zeros.
    fn advice(
        counters: &[(&str, f64)],
        settings: &[(&str, f64)],
        status: &ServerStatus,
    ) -> Vec<String> {
        let zeros: Vec<_> = counters.iter().map(|(name, _)| (*name, 0.0)).collect();
        let (counters, settings, zeros) = (map(counters), map(settings), map(&zeros));
        let readings = Readings {
            counters: &counters,
            settings: &settings,
            before: Some((10.0, &zeros)),
            binary_log: None,
            status,
        };
        let figures = figures(&readings).into_iter();
        figures.filter_map(|figure| figure.advice).collect()
    }

    #[test]
    fn advice_names_the_setting_and_the_figure() {
        let none = ServerStatus::default();
        let pool = |free: f64, reads: f64| {
            let counters = [
                ("Innodb_page_size", 16384.0),
                ("Innodb_buffer_pool_pages_total", 1000.0),
                ("Innodb_buffer_pool_pages_free", free),
                ("Innodb_buffer_pool_reads", reads),
                ("Innodb_buffer_pool_read_requests", 100_000.0),
            ];
            advice(&counters, &[("innodb_buffer_pool_size", 16.0 * MIB)], &none)
        };
        let text =
            "innodb_buffer_pool_size is 16 MiB: 200 of 10000 pages per second are read from disk";
        assert_eq!(pool(10.0, 2000.0), [text]);
        // It is still filled, or misses little.
        assert_eq!([pool(500.0, 2000.0), pool(10.0, 900.0)], [[""; 0]; 2]);

        let log = |age: f64| {
            let counters = [
                ("Innodb_redo_log_current_lsn", 5e9 + age * MIB),
                ("Innodb_redo_log_checkpoint_lsn", 5e9),
            ];
            advice(
                &counters,
                &[("innodb_redo_log_capacity", 100.0 * MIB)],
                &none,
            )
        };
        let text =
            "innodb_redo_log_capacity is 100 MiB: the checkpoint age is 80 MiB of at most 100 MiB";
        assert_eq!((log(80.0), log(70.0)), (vec![text.to_owned()], vec![]));

        let tables = [
            ("Created_tmp_disk_tables", 25.0),
            ("Created_tmp_tables", 200.0),
        ];
        let text = "tmp_table_size is 16 MiB: 2.5 of 20 temporary tables per second are on disk";
        assert_eq!(
            advice(&tables, &[("tmp_table_size", 16.0 * MIB)], &none),
            [text]
        );

        let caches = [("Binlog_cache_disk_use", 30.0), ("Binlog_cache_use", 100.0)];
        let text = "binlog_cache_size is 32 KiB: 3.0 of 10 transactions per second do not fit";
        assert_eq!(
            advice(&caches, &[("binlog_cache_size", 32768.0)], &none),
            [text]
        );
    }

    #[test]
    fn advice_on_sessions_and_replicas_has_its_thresholds() {
        let status = |sleep_s: u64, lag_s: u64| ServerStatus {
            transactions: vec![OpenTransaction {
                state: "idle in transaction".into(),
                connection_id: Some(12),
                user: Some("app".into()),
                age_s: Some(sleep_s),
                sleep_s: Some(sleep_s),
                rows_locked: Some(3),
                ..OpenTransaction::default()
            }],
            replication: vec![ReplicationStatus {
                lag_s: Some(lag_s),
                ..ReplicationStatus::default()
            }],
            ..ServerStatus::default()
        };
        let settings = [("wait_timeout", 28800.0), ("replica_parallel_workers", 4.0)];
        let idle = "wait_timeout is 28800 s: connection 12 of app has slept for 61 s in a transaction with 3 row locks";
        let lag = "replica_parallel_workers is 4: the replica is 31 s behind";
        assert_eq!(advice(&[], &settings, &status(61, 31)), [idle, lag]);
        assert_eq!(advice(&[], &settings, &status(59, 29)), [""; 0]);
        // A checkpoint that a restarted server has not reached is no advice either.
        let counters = [("trx_rseg_history_len", 200_000.0)];
        let long = advice(&counters, &[("innodb_purge_threads", 4.0)], &status(7, 0));
        let text = "innodb_purge_threads is 4: the history list has 200000 entries; \
                    the oldest transaction is that of connection 12, for 7 s";
        assert_eq!(long, [text]);
    }
}
