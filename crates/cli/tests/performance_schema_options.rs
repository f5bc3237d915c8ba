//! Performance Schema's options at start: on the command line, and in an option file such as my.cnf.

mod support;

use std::path::PathBuf;
use std::process::Command;

use support::{Directory, Process, finish};

struct TareServer {
    _running: Process,
    socket: PathBuf,
}

fn serve(directory: &Directory, options: &[&str]) -> TareServer {
    let mut command = directory.tare(["serve"]);
    command.args(options);
    start_server(command, directory)
}

fn start_server(mut command: Command, directory: &Directory) -> TareServer {
    let mut running = Process::start(&mut command);
    let line = running.line();
    let socket = line
        .strip_prefix("Listening on ")
        .expect("the socket's line");
    let socket = directory.path().join(socket);
    // The port's line, and how to connect.
    let _ = (running.line(), running.line());
    TareServer {
        _running: running,
        socket,
    }
}

impl TareServer {
    fn answer(&self, query: &str) -> Vec<String> {
        let mut client = Command::new("mariadb");
        client
            .arg("--no-defaults")
            .arg("--socket")
            .arg(&self.socket);
        let finished =
            finish(client.args(["--user=root", "--batch", "--skip-column-names", "-e", query]));
        assert_eq!(finished.code, Some(0), "{query}: {finished:?}");
        finished.stdout.lines().map(str::to_owned).collect()
    }

    fn variable(&self, name: &str) -> String {
        let rows = self.answer(&format!("SHOW VARIABLES LIKE 'performance_schema_{name}'"));
        let [row] = rows.as_slice() else {
            panic!("{name}: {rows:?}")
        };
        row.split('\t').nth(1).unwrap_or_default().to_owned()
    }
}

/// A server in a time zone of POSIX's words.
fn in_zone(directory: &Directory, zone: &str) -> TareServer {
    let mut command = directory.tare(["serve"]);
    command
        .args(["--data", "data", "--port", "0"])
        .env("TZ", zone);
    start_server(command, directory)
}

#[test]
fn timestamps_of_an_earlier_version_become_utc() {
    let directory = Directory::new("zone");
    let zone = "EAST-2";
    let first = in_zone(&directory, zone);
    first.answer(
        "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, ts TIMESTAMP(3) NULL, dt DATETIME); \
         INSERT INTO d.t VALUES (1, '2026-07-01 12:00:00.5', '2026-07-01 12:00:00'), (2, NULL, NULL)",
    );
    let query = "SET time_zone = '+00:00'; SELECT ts, dt FROM d.t WHERE id = 1";
    let here = "SELECT ts, dt FROM d.t WHERE id = 1";
    assert_eq!(
        first.answer(query),
        ["2026-07-01 10:00:00.500\t2026-07-01 12:00:00"]
    );
    assert_eq!(
        first.answer(here),
        ["2026-07-01 12:00:00.500\t2026-07-01 12:00:00"]
    );
    drop(first);
    // As version 1 wrote it.
    let file = directory.path().join("data/d.db");
    let db = rusqlite::Connection::open(file).expect("opens");
    db.execute_batch(
        "UPDATE t SET ts = '2026-07-01 12:00:00.500' WHERE id = 1; PRAGMA user_version = 1",
    )
    .expect("changes");
    drop(db);
    let next = in_zone(&directory, zone);
    assert_eq!(
        next.answer(here),
        ["2026-07-01 12:00:00.500\t2026-07-01 12:00:00"]
    );
    assert_eq!(
        next.answer(query),
        ["2026-07-01 10:00:00.500\t2026-07-01 12:00:00"]
    );
}

const FILE: &str = "\
# As a my.cnf has them.
[client]
unheard_of = 1

[mysqld]
datadir = data
port = 0
loose_innodb_buffer_pool_size = 1G
performance_schema = ON
performance_schema_digests_size = 50
performance-schema-max-sql-text-length = 2048
performance_schema_events_waits_history_long_size = 800
performance_schema_max_mutex_classes = 3
performance_schema_max_digest_sample_age = 5
performance_schema_accounts_size = -1
performance_schema_consumer_events_waits_current = ON   # behind
[tare]
performance_schema_instrument = 'wait/synch/%=COUNTED'
performance_schema_instrument = 'thread/sql/main=OFF'
";

#[test]
fn a_file_and_the_command_line_set_sizes_consumers_and_instruments() {
    let directory = Directory::new("options");
    std::fs::write(directory.path().join("my.cnf"), FILE).expect("written");
    let server = serve(
        &directory,
        &[
            "--defaults-file=my.cnf",
            "--performance_schema_digests_size=60",
            "--performance-schema-setup-actors-size",
            "9",
            "--performance-schema-consumer-events-statements-history-long=ON",
        ],
    );
    for (name, value) in [
        // The command line wins.
        ("digests_size", "60"),
        ("max_sql_text_length", "2048"),
        ("events_waits_history_long_size", "800"),
        ("events_stages_history_long_size", "800"),
        ("max_mutex_classes", "3"),
        ("max_rwlock_classes", "100"),
        ("max_digest_sample_age", "5"),
        ("accounts_size", "-1"),
        ("users_size", "-1"),
        ("setup_actors_size", "9"),
    ] {
        assert_eq!(server.variable(name), value, "{name}");
    }
    assert_eq!(
        server.answer("SHOW VARIABLES LIKE 'performance_schema'"),
        ["performance_schema\tON"]
    );
    // The number that MySQL 9.7 has.
    assert_eq!(
        server
            .answer("SHOW VARIABLES LIKE 'performance_schema%'")
            .len(),
        48
    );
    let on = "SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' AND NAME IN \
              ('events_waits_current', 'events_waits_history', 'events_statements_history_long') ORDER BY 1";
    assert_eq!(
        server.answer(on),
        ["events_statements_history_long", "events_waits_current"]
    );
    let counted = "SELECT COUNT(*) > 1, SUM(ENABLED = 'YES' AND TIMED = 'NO') = COUNT(*) FROM \
                   performance_schema.setup_instruments WHERE NAME LIKE 'wait/synch/%'";
    assert_eq!(server.answer(counted), ["1\t1"]);
    let mutexes = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/synch/mutex/%'";
    assert_eq!(server.answer(mutexes), ["3"]);
    // Losses are counted in the same status variables as in MySQL.
    let lost = "SELECT SUM(VARIABLE_NAME = 'Performance_schema_mutex_classes_lost' AND VARIABLE_VALUE > 0), \
                SUM(VARIABLE_VALUE > 0) FROM performance_schema.global_status \
                WHERE VARIABLE_NAME LIKE 'Performance\\_schema\\_%classes\\_lost'";
    assert_eq!(server.answer(lost), ["1\t1"]);
    let thread = "SELECT ENABLED, HISTORY FROM performance_schema.setup_threads WHERE NAME = 'thread/sql/main'";
    assert_eq!(server.answer(thread), ["NO\tYES"]);
}

#[test]
fn tables_of_size_0_are_empty() {
    let directory = Directory::new("options-none");
    let mut options = vec!["--data", "data", "--port", "0"];
    let sizes = [
        "accounts-size",
        "events-statements-history-size",
        "max-mutex-instances",
        "max-table-handles",
    ];
    let zeros = sizes.map(|size| format!("--performance-schema-{size}=0"));
    options.extend(zeros.iter().map(String::as_str));
    options.push("--performance-schema-events-stages-history-size=3");
    options.push("--performance-schema-instrument=%=ON");
    options.push("--performance-schema-consumer-events-stages-current=ON");
    options.push("--performance-schema-consumer-events-stages-history=ON");
    let server = serve(&directory, &options);
    server.answer(
        "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1)",
    );
    server.answer("SELECT * FROM d.t");
    for size in sizes {
        assert_eq!(server.variable(&size.replace('-', "_")), "0", "{size}");
    }
    for table in [
        "accounts",
        "events_waits_summary_by_account_by_event_name",
        "events_statements_history",
        "mutex_instances",
        "table_handles",
    ] {
        let rows = server.answer(&format!("SELECT COUNT(*) FROM performance_schema.{table}"));
        assert_eq!(rows, ["0"], "{table}");
    }
    // Other tables do not depend on these sizes.
    for table in ["users", "events_statements_current", "rwlock_instances"] {
        let rows = server.answer(&format!(
            "SELECT COUNT(*) > 0 FROM performance_schema.{table}"
        ));
        assert_eq!(rows, ["1"], "{table}");
    }
    let mutexes = "SELECT COUNT(*) FROM performance_schema.events_waits_summary_global_by_event_name WHERE \
                   EVENT_NAME LIKE 'wait/synch/mutex/%' AND COUNT_STAR > 0";
    assert_eq!(server.answer(mutexes), ["0"]);
    let lost = "SELECT SUM(VARIABLE_VALUE > 0) FROM performance_schema.global_status WHERE VARIABLE_NAME IN \
                ('Performance_schema_accounts_lost', 'Performance_schema_mutex_instances_lost')";
    assert_eq!(server.answer(lost), ["2"]);
    // Histories of all types share one ring of the largest size, but each has as many rows as its own
    // option says.
    assert_eq!(server.variable("events_stages_history_size"), "3");
    assert_eq!(server.variable("events_waits_history_size"), "3");
    let stages = "SELECT MAX(n) <= 3 FROM (SELECT COUNT(*) AS n FROM performance_schema.events_stages_history GROUP BY \
                  THREAD_ID) t";
    assert_eq!(server.answer(stages), ["1"]);
}

#[test]
fn variables_of_performance_schema_are_selected_and_one_is_set() {
    let directory = Directory::new("options-variables");
    let server = serve(&directory, &["--data", "data", "--port", "0"]);
    let selected =
        "SELECT @@performance_schema_digests_size, @@GLOBAL.performance_schema_accounts_size";
    assert_eq!(server.answer(selected), ["10000\t-1"]);
    let age = "performance_schema_max_digest_sample_age";
    assert_eq!(server.answer(&format!("SELECT @@{age}")), ["60"]);
    server.answer(&format!("SET GLOBAL {age} = 5"));
    assert_eq!(server.answer(&format!("SELECT @@{age}")), ["5"]);
    assert_eq!(server.variable("max_digest_sample_age"), "5");
}

#[test]
fn actors_are_changed_by_clients_and_obeyed_by_new_connections() {
    let directory = Directory::new("options-actors");
    let server = serve(&directory, &["--data", "data", "--port", "0"]);
    let own = "SELECT INSTRUMENTED, HISTORY FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()";
    assert_eq!(server.answer(own), ["YES\tYES"]);
    server.answer("UPDATE performance_schema.setup_actors SET HISTORY = 'NO' WHERE USER = '%'");
    assert_eq!(server.answer(own), ["YES\tNO"]);
    server.answer(
        "INSERT INTO performance_schema.setup_actors (HOST, USER, ENABLED, HISTORY) \
         VALUES ('localhost', 'root', 'NO', 'YES')",
    );
    assert_eq!(server.answer(own), ["NO\tYES"]);
    let sums = "SELECT SUM(COUNT_STAR) FROM \
                performance_schema.events_statements_summary_by_account_by_event_name WHERE USER = 'root'";
    let before = server.answer(sums);
    server.answer("SELECT 1; SELECT 2");
    assert_eq!(
        server.answer(sums),
        before,
        "a thread that is not instrumented counts nothing"
    );
    server.answer("DELETE FROM performance_schema.setup_actors WHERE USER = 'root'");
    assert_eq!(server.answer(own), ["YES\tNO"]);
    server.answer("TRUNCATE TABLE performance_schema.setup_actors");
    assert_eq!(
        server.answer("SELECT COUNT(*) FROM performance_schema.setup_actors"),
        ["0"]
    );
    assert_eq!(server.answer(own), ["NO\tNO"]);
    // Errors of clients are counted by MySQL's names.
    server.answer("INSERT INTO performance_schema.setup_actors (HOST) VALUES ('%')");
    let mut client = Command::new("mariadb");
    client
        .arg("--no-defaults")
        .arg("--socket")
        .arg(&server.socket);
    let failed = finish(client.args(["--user=root", "-e", "SELECT * FROM nowhere.nothing"]));
    assert_eq!(failed.code, Some(1));
    let errors = "SELECT ERROR_NAME, SQL_STATE, SUM_ERROR_RAISED FROM \
                  performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0";
    let rows = server.answer(errors);
    assert!(
        rows.iter()
            .any(|row| row.starts_with("ER_BAD_DB_ERROR\t42000")
                || row.starts_with("ER_NO_SUCH_TABLE\t42S02")),
        "{rows:?}"
    );
}

#[test]
fn show_engine_lists_sizes_and_memory() {
    let directory = Directory::new("options-engine");
    let server = serve(
        &directory,
        &[
            "--data",
            "data",
            "--port",
            "0",
            "--performance-schema-setup-actors-size=5",
        ],
    );
    let rows = server.answer("SHOW ENGINE PERFORMANCE_SCHEMA STATUS");
    let value = |name: &str| -> u64 {
        let value = rows.iter().find_map(|row| {
            let mut fields = row.split('\t');
            let matches =
                fields.next() == Some("performance_schema") && fields.next() == Some(name);
            matches.then(|| fields.next().expect("a value").parse().expect("a number"))
        });
        value.unwrap_or_else(|| panic!("{name}: {rows:?}"))
    };
    assert_eq!(value("setup_actors.count"), 5);
    assert_eq!(value("setup_actors.memory"), 5 * value("setup_actors.size"));
    assert!(
        rows.last()
            .is_some_and(|row| row.contains("\tperformance_schema.memory\t")),
        "{rows:?}"
    );
    // Used memory is far less than reserved memory.
    let memory = value("performance_schema.memory");
    assert!(
        memory > 0 && memory < value("performance_schema.reserved") / 10,
        "{memory}"
    );
}

#[test]
fn an_unknown_option_is_refused_by_name() {
    let directory = Directory::new("options-wrong");
    let refused = |options: &[&str], file: &str, message: &str| {
        std::fs::write(directory.path().join("my.cnf"), file).expect("written");
        let mut command = directory.tare(["serve", "--data", "data", "--port", "0"]);
        let finished = finish(command.args(options));
        assert_ne!(finished.code, Some(0), "{options:?}");
        assert!(
            finished.stderr.contains(message),
            "{options:?}: {finished:?}"
        );
    };
    let file = &["--defaults-file=my.cnf"];
    refused(
        file,
        "[mysqld]\n\nsort_buffer_size = 1M\n",
        "my.cnf:3: unknown option 'sort-buffer-size'",
    );
    refused(
        file,
        "[mysqld]\nperformance_schema_digests_size = many\n",
        "cannot be 'many'",
    );
    refused(&["--defaults-file=nothing.cnf"], "", "nothing.cnf");
    refused(
        &["--performance-schema-digest-size=1"],
        "",
        "performance-schema-digest-size",
    );
    refused(
        &["--performance-schema-digests-size=1.5"],
        "",
        "a whole number",
    );
}
