//! prometheus-mysqld-exporter with all collectors that MySQL without plugins answers.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{PASSWORD, Running, exec};

/// All of the exporter's collectors except those that MySQL 8.0 without plugins does not answer either:
/// TokuDB, Aurora's replicas, and a heartbeat table.
const COLLECTORS: &[&str] = &[
    "auto_increment.columns",
    "binlog_size",
    "engine_innodb_status",
    "global_status",
    "global_variables",
    "info_schema.clientstats",
    "info_schema.innodb_cmp",
    "info_schema.innodb_cmpmem",
    "info_schema.innodb_metrics",
    "info_schema.innodb_tablespaces",
    "info_schema.processlist",
    "info_schema.query_response_time",
    "info_schema.replica_host",
    "info_schema.schemastats",
    "info_schema.tables",
    "info_schema.tablestats",
    "info_schema.userstats",
    "mysql.user",
    "perf_schema.eventsstatements",
    "perf_schema.eventsstatementssum",
    "perf_schema.eventswaits",
    "perf_schema.file_events",
    "perf_schema.file_instances",
    "perf_schema.indexiowaits",
    "perf_schema.memory_events",
    "perf_schema.replication_applier_status_by_worker",
    "perf_schema.replication_group_member_stats",
    "perf_schema.replication_group_members",
    "perf_schema.tableiowaits",
    "perf_schema.tablelocks",
    "slave_hosts",
    "slave_status",
];

struct Exporter(Child);

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The exporter, on a free port.
fn start(running: &Running) -> (Exporter, u16) {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|l| l.local_addr())
        .expect("a free port")
        .port();
    let log = running.directory.path().join("exporter.log");
    let exporter = Command::new("prometheus-mysqld-exporter")
        .env(
            "DATA_SOURCE_NAME",
            format!("root:{PASSWORD}@tcp(127.0.0.1:{})/", running.port()),
        )
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .args(COLLECTORS.iter().map(|c| format!("--collect.{c}")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(log).expect("a log"))
        .spawn()
        .unwrap_or_else(|e| panic!("prometheus-mysqld-exporter: {e}; run `make deps`"));
    (Exporter(exporter), port)
}

/// GET /metrics, once the exporter listens.
fn scrape(port: u16) -> String {
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(e) => assert!(
                Instant::now() < deadline,
                "the exporter does not listen: {e}"
            ),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    stream
        .write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn no_collector_of_the_exporter_fails() {
    let running = Running::start();
    let mut client = running.client();
    exec(
        &mut client,
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9), KEY (s))",
    );
    exec(&mut client, "INSERT INTO t (s) VALUES ('a'), ('b')");
    exec(&mut client, "SELECT * FROM t WHERE s = 'a'");
    let (_exporter, port) = start(&running);
    let text = scrape(port);
    let log = std::fs::read_to_string(running.directory.path().join("exporter.log"));
    let failed: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with("mysql_exporter_scrape_errors_total"))
        // 9.7 no longer has their statements, SHOW SLAVE HOSTS and SHOW SLAVE STATUS.
        .filter(|l| !l.contains("collect.slave_"))
        .collect();
    assert!(
        failed.is_empty(),
        "{failed:#?}\n{}",
        log.unwrap_or_default()
    );
    let mut values: BTreeMap<&str, f64> = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        if let Some((name, value)) = line.rsplit_once(' ')
            && let Ok(value) = value.parse()
        {
            values.insert(name, value);
        }
    }
    assert_eq!(values.get("mysql_up"), Some(&1.0));
    let durations = values
        .keys()
        .filter(|n| n.starts_with("mysql_exporter_collector_duration"));
    assert_eq!(
        durations.count(),
        COLLECTORS.len() + 1,
        "a collector was left out"
    );
    // They have read figures from the server.
    for (start, least) in [
        ("mysql_global_status_commands_total", 80),
        ("mysql_global_status_handlers_total", 10),
        ("mysql_global_variables_", 300),
        ("mysql_perf_schema_events_statements_total", 2),
        ("mysql_perf_schema_events_waits_total", 5),
        ("mysql_perf_schema_file_events_total", 3),
        ("mysql_perf_schema_memory_events_alloc_bytes_total", 1),
        ("mysql_perf_schema_table_io_waits_total", 4),
        ("mysql_perf_schema_index_io_waits_total", 2),
        ("mysql_perf_schema_sql_lock_waits_total", 1),
        ("mysql_info_schema_table_rows", 1),
        ("mysql_info_schema_innodb_metrics_", 10),
        ("mysql_mysql_max_user_connections", 1),
    ] {
        let count = values.keys().filter(|n| n.starts_with(start)).count();
        assert!(count >= least, "{count} of {start}");
    }
    let inserts = "mysql_global_status_commands_total{command=\"insert\"}";
    assert_eq!(values.get(inserts), Some(&1.0));
}
