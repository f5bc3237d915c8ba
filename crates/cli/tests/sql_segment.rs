//! Statements on a segment: schema sys, SHOW, SET, CALL, and those that are refused.

mod support;

use support::{Directory, finish, host};

/// A directory with the segment of a host that has ended.
struct SavedSegment(Directory);

impl SavedSegment {
    fn new(name: &str) -> Self {
        let directory = Directory::new(name);
        let mut command = directory.tare(["run", "--segment", "x.segment"]);
        host::add_arguments(command.arg("--"), "abort");
        finish(&mut command);
        Self(directory)
    }

    /// The output of a script.
    fn output(&self, script: &str) -> String {
        let finished = finish(&mut self.0.tare(["sql", "--segment", "x.segment", "-e", script]));
        assert_eq!(finished.code, Some(0), "{script}: {finished:?}");
        finished.stdout
    }

    /// Number and text of the error with which a script ends.
    fn error(&self, script: &str) -> (u16, String) {
        let finished = finish(&mut self.0.tare(["sql", "--segment", "x.segment", "-e", script]));
        assert_eq!(finished.code, Some(1), "{script}: {finished:?}");
        let words = finished.stderr;
        let number = words
            .strip_prefix("ERROR ")
            .and_then(|rest| rest.split(' ').next()?.parse().ok());
        (number.unwrap_or_else(|| panic!("{script}: {words}")), words)
    }
}

#[test]
fn no_server_is_started() {
    let segment = SavedSegment::new("no-server");
    let mut command = segment
        .0
        .tare(["sql", "--segment", "x.segment", "-e", "SELECT 1"]);
    // A server would need a directory for its socket.
    let finished = finish(command.env("TMPDIR", "/nonexistent"));
    assert_eq!(finished.stdout, "1\n1\n", "{finished:?}");
    assert_eq!(segment.0.names(), ["x.segment"]);
}

#[test]
fn schema_sys_answers() {
    let segment = SavedSegment::new("sys");
    let views = segment.output(
        "SELECT TABLE_NAME FROM information_schema.views WHERE TABLE_SCHEMA = 'sys' ORDER BY 1",
    );
    let views: Vec<&str> = views.lines().skip(1).collect();
    assert!(views.len() > 90, "{views:?}");
    let script: String = views
        .iter()
        .map(|view| format!("SELECT COUNT(*) AS `{view}` FROM sys.`{view}`;"))
        .collect();
    let counts = segment.output(&script);
    assert_eq!(counts.lines().count(), 2 * views.len(), "{counts}");

    let functions = "SELECT sys.format_bytes(1536) AS a, sys.ps_is_consumer_enabled('global_instrumentation') AS b, \
                     sys.version_major() AS c, sys.sys_get_config('statement_truncate_len', 1) AS d";
    assert_eq!(
        segment.output(functions),
        "a\tb\tc\td\n1.50 KiB\tYES\t9\t64\n"
    );
    let cut =
        "SET @sys.statement_truncate_len = 10; SELECT sys.format_statement(REPEAT('a', 99)) AS a";
    assert_eq!(segment.output(cut), "a\naaa ... aaa\n");
    let set = "UPDATE sys.sys_config SET value = '32' WHERE variable = 'statement_truncate_len'; \
               SELECT value FROM sys.sys_config WHERE variable = 'statement_truncate_len'";
    assert_eq!(segment.output(set), "value\n32\n");
}

#[test]
fn variables_of_a_segment_are_readable() {
    let segment = SavedSegment::new("variables");
    assert_eq!(
        segment.output(
            "SELECT @@performance_schema AS a, @@max_connections AS b, @@sql_mode <> '' AS c"
        ),
        "a\tb\tc\n1\tNULL\t1\n"
    );
    assert_eq!(
        segment.output("SHOW VARIABLES WHERE Variable_name IN ('max_connections', 'performance_schema', 'version_comment')"),
        "Variable_name\tValue\nperformance_schema\tON\nversion_comment\tTare, a Performance Schema for any server\n"
    );
    // The program's status counters are not in its segment.
    assert_eq!(
        segment.output("SHOW STATUS LIKE 'Uptime'"),
        "Variable_name\tValue\n"
    );
    let quotes = "SET sql_mode = 'ANSI_QUOTES'; SELECT \"ENABLED\" FROM performance_schema.setup_consumers LIMIT 1";
    assert!(segment.output(quotes).starts_with("ENABLED\n"));
    assert_eq!(
        segment.output("SET NAMES utf8mb4; SET @a = 2; SELECT @a + 1 AS a"),
        "a\n3\n"
    );
    for (script, number) in [
        ("SET GLOBAL max_connections = 7", 1238),
        ("SET GLOBAL long_query_time = 1", 1235),
        ("SET autocommit = 0", 1231),
        ("SET version = 'x'", 1238),
        ("SET nothing_like_it = 1", 1193),
        ("SELECT @@nothing_like_it", 1193),
    ] {
        let (errno, words) = segment.error(script);
        assert_eq!(errno, number, "{script}: {words}");
    }
}

#[test]
fn procedures_print_each_of_their_results() {
    let segment = SavedSegment::new("call");
    let output = segment.output("CALL sys.ps_setup_show_enabled(FALSE, FALSE)");
    let heads = ["performance_schema_enabled\n1\n", "enabled_consumers"];
    for head in heads {
        assert!(output.contains(head), "{head}: {output}");
    }
    let exists = "CALL sys.table_exists('performance_schema', 'threads', @it); SELECT @it";
    assert_eq!(segment.output(exists), "@it\nBASE TABLE\n");
    // Settings of a segment whose writer has ended cannot change.
    segment.error("CALL sys.ps_setup_disable_consumer('digest')");
    assert_eq!(segment.error("CALL sys.nothing()").0, 1305);

    let directory = Directory::new("call-live");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let script = "CALL sys.ps_setup_disable_instrument('LOCK_host'); \
                  SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME LIKE '%LOCK_host'";
    let finished = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", script]));
    assert_eq!(
        finished.stdout, "summary\nDisabled 1 instrument\nENABLED\nNO\n",
        "{finished:?}"
    );
}

#[test]
fn what_only_a_server_can_do_is_refused() {
    let segment = SavedSegment::new("refused");
    // Files in the working directory are not databases of the segment.
    std::fs::write(segment.0.path().join("shop.db"), "").expect("written");
    for (script, number) in [
        ("CREATE DATABASE shop2", 1235),
        ("CREATE TABLE performance_schema.t (a INT)", 1044),
        ("DROP TABLE performance_schema.threads", 1142),
        ("SELECT * FROM shop.t", 1049),
        ("INSERT INTO shop.t VALUES (1)", 1049),
        ("USE shop", 1049),
        ("SELECT * FROM t", 1046),
        ("KILL 1", 1235),
        ("FLUSH STATUS", 1235),
        ("LOCK TABLES performance_schema.threads READ", 1235),
        ("SAVEPOINT s", 1235),
        ("SHUTDOWN", 1235),
        ("DELETE FROM performance_schema.threads", 1142),
        (
            "UPDATE information_schema.tables SET TABLE_NAME = 'x'",
            1044,
        ),
        ("SELECT ?", 1064),
        ("SELECT nowhere FROM performance_schema.threads", 1054),
        ("EXECUTE p", 1243),
    ] {
        let (errno, words) = segment.error(script);
        assert_eq!(errno, number, "{script}: {words}");
    }
    assert_eq!(segment.0.names(), ["shop.db", "x.segment"]);
    // The tables of the system schemas take no part in transactions.
    assert_eq!(segment.output("BEGIN; ROLLBACK; SELECT 1"), "1\n1\n");
}

#[test]
fn show_and_explain_answer() {
    let segment = SavedSegment::new("show");
    assert_eq!(
        segment.output("SHOW DATABASES"),
        "Database\ninformation_schema\nmysql\nperformance_schema\nsys\ntare\n"
    );
    assert!(
        segment
            .output("SHOW TABLES FROM sys LIKE 'host_summ%'")
            .contains("\nhost_summary\n")
    );
    assert!(
        segment
            .output("SHOW CREATE VIEW sys.version")
            .contains("VIEW `version`")
    );
    assert!(
        segment
            .output("DESCRIBE performance_schema.threads")
            .contains("THREAD_ID\tbigint unsigned\tNO")
    );
    let plan = segment.output("EXPLAIN SELECT * FROM performance_schema.threads");
    assert!(plan.contains("SIMPLE\tthreads"), "{plan}");
    let warned = "SELECT 1 / 0 AS a; SHOW WARNINGS";
    assert_eq!(
        segment.output(warned),
        "a\nNULL\nLevel\tCode\tMessage\nWarning\t1365\tDivision by 0\n"
    );
    let prepared =
        "PREPARE p FROM 'SELECT ? + 1 AS n'; SET @a = 4; EXECUTE p USING @a; DEALLOCATE PREPARE p";
    assert_eq!(segment.output(prepared), "n\n5\n");
    let into =
        "SELECT COUNT(*) INTO @n FROM performance_schema.setup_consumers; SELECT @n > 5 AS n";
    assert_eq!(segment.output(into), "n\n1\n");
    let found_rows = "SELECT SQL_CALC_FOUND_ROWS NAME FROM tare.setup_timers LIMIT 1; SELECT FOUND_ROWS() > 1 AS n";
    assert!(segment.output(found_rows).ends_with("n\n1\n"));
    assert_eq!(
        segment.output("SHOW PROCESSLIST").lines().next(),
        Some("Id\tUser\tHost\tdb\tCommand\tTime\tState\tInfo")
    );
}
