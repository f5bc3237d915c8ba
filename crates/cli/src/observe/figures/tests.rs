use tare_history::{OpenTransaction, ReplicationStatus, ServerStatus};

use super::list::MIB;
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
    let status_with = |rows_locked: u64, sleep_s: u64, lag_s: u64| ServerStatus {
        transactions: vec![OpenTransaction {
            state: "idle in transaction".into(),
            connection_id: Some(12),
            user: Some("app".into()),
            age_s: Some(sleep_s),
            sleep_s: Some(sleep_s),
            rows_locked: Some(rows_locked),
            ..OpenTransaction::default()
        }],
        replication: vec![ReplicationStatus {
            lag_s: Some(lag_s),
            ..ReplicationStatus::default()
        }],
        ..ServerStatus::default()
    };
    let status = |sleep_s, lag_s| status_with(3, sleep_s, lag_s);
    let settings = [("wait_timeout", 28800.0), ("replica_parallel_workers", 4.0)];
    let idle = "wait_timeout is 28800 s: connection 12 of app has slept for 61 s in a transaction with 3 row locks";
    let lag = "replica_parallel_workers is 4: the replica is 31 s behind";
    assert_eq!(advice(&[], &settings, &status(61, 31)), [idle, lag]);
    assert_eq!(advice(&[], &settings, &status(59, 29)), [""; 0]);
    let one = advice(&[], &settings, &status_with(1, 61, 29));
    assert_eq!(one, [idle.replace("3 row locks", "1 row lock")]);
    // A checkpoint that a restarted server has not reached is no advice either.
    let counters = [("trx_rseg_history_len", 200_000.0)];
    let long = advice(&counters, &[("innodb_purge_threads", 4.0)], &status(7, 0));
    let text = "innodb_purge_threads is 4: the history list has 200000 entries; \
                the oldest transaction is that of connection 12, for 7 s";
    assert_eq!(long, [text]);
}
