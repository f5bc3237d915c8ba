//! Options of servers: those of a suite's harness, and those of one test.

/// The harness's options for every server.
pub const EVERYTHING: [&str; 31] = [
    "--performance-schema=ON",
    "--performance-schema-accounts-size=100",
    "--performance-schema-digests-size=400",
    "--performance-schema-hosts-size=100",
    "--performance-schema-users-size=100",
    "--performance-schema-setup-actors-size=100",
    "--performance-schema-setup-objects-size=100",
    "--performance-schema-events-waits-history-size=10",
    "--performance-schema-events-waits-history-long-size=10000",
    "--performance-schema-events-stages-history-size=10",
    "--performance-schema-events-stages-history-long-size=1000",
    "--performance-schema-events-statements-history-size=10",
    "--performance-schema-events-statements-history-long-size=1000",
    "--performance-schema-events-transactions-history-size=10",
    "--performance-schema-events-transactions-history-long-size=1000",
    "--performance-schema-session-connect-attrs-size=2048",
    "--performance-schema-instrument=%=ON",
    "--performance-schema-consumer-events-stages-current=ON",
    "--performance-schema-consumer-events-stages-history=ON",
    "--performance-schema-consumer-events-stages-history-long=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--performance-schema-consumer-events-statements-history=ON",
    "--performance-schema-consumer-events-statements-history-long=ON",
    "--performance-schema-consumer-events-transactions-current=ON",
    "--performance-schema-consumer-events-transactions-history=ON",
    "--performance-schema-consumer-events-transactions-history-long=ON",
    "--performance-schema-consumer-events-waits-current=ON",
    "--performance-schema-consumer-events-waits-history=ON",
    "--performance-schema-consumer-events-waits-history-long=ON",
    "--performance-schema-consumer-global-instrumentation=ON",
    "--performance-schema-consumer-thread-instrumentation=ON",
];

/// The harness's additional options for MySQL 9.7.
pub const MYSQL: [&str; 4] = [
    "--performance-schema-consumer-events-statements-cpu=ON",
    "--explain-format=TRADITIONAL_STRICT",
    "--log-bin-trust-function-creators=1",
    "--log-output=file",
];

/// The harness's additional options for MariaDB. Later options override earlier ones.
pub const MARIADB: [&str; 22] = [
    "--performance-schema-digests-size=200",
    "--performance-schema-max-mutex-instances=5000",
    "--performance-schema-max-rwlock-instances=5000",
    "--performance-schema-max-cond-instances=1500",
    "--performance-schema-max-file-instances=10000",
    "--performance-schema-max-socket-instances=1000",
    "--performance-schema-max-table-instances=500",
    "--performance-schema-max-table-lock-stat=500",
    "--performance-schema-max-index-stat=5000",
    "--performance-schema-max-table-handles=1000",
    "--performance-schema-max-prepared-statements-instances=100",
    "--performance-schema-max-program-instances=5000",
    "--performance-schema-max-thread-instances=400",
    "--performance-schema-max-metadata-locks=10000",
    "--character-set-server=latin1",
    "--default-storage-engine=myisam",
    "--use-stat-tables=preferably",
    "--log-bin-trust-function-creators=1",
    "--log-basename=mysqld",
    "--open-files-limit=1024",
    "--max-heap-table-size=1M",
    "--secure-file-priv=",
];

/// A test's options as an option file of `tare serve`. All are loose, because options about InnoDB, logs or
/// replication, and instruments of other servers, are unknown there.
pub fn option_file(options: &[String]) -> String {
    let mut lines = String::from("[mysqld]\n");
    for option in options {
        let bare = option.trim_start_matches("--").replace("loose-", "");
        let (name, value) = bare.split_once('=').unwrap_or((&bare, ""));
        let line = match (name.replace('_', "-").as_str(), value) {
            ("enable-performance-schema", "") => "performance-schema=ON".to_owned(),
            ("disable-performance-schema" | "skip-performance-schema", "") => {
                "performance-schema=OFF".to_owned()
            }
            (name, "") => format!("loose-{name}"),
            // A pattern has an equals sign of its own.
            (name, value) => format!("loose-{name}=\"{}\"", value.trim_matches('\'')),
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

/// TARE_OPTIONS for what a server's options cannot set: exact counts of locks as in MySQL, and sizes of
/// 0 or of one statement in a stack, with which `tare run` itself keeps the server's own engine small.
pub fn tare_options(options: &[String]) -> String {
    let mut lines = String::from("lock_timing=every\nlock_instances=every\n");
    for option in options {
        let bare = option.trim_start_matches("--").trim_start_matches("loose-");
        let name = bare.replace('-', "_");
        let is_small = name.ends_with("=0") || name.contains("max_statement_stack=");
        if name.starts_with("performance_schema") && is_small {
            lines.push_str(&name);
            lines.push('\n');
        }
    }
    lines
}
