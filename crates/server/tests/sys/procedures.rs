//! Procedures of schema sys.

use mysql::prelude::Queryable;

use crate::support::{MONITOR, Running, errno, exec, exec_for_all, one, rows};

/// The results of a CALL: column names and rows of each.
fn call(client: &mut mysql::Conn, sql: &str) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let mut results = Vec::new();
    let mut answer = client
        .query_iter(sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    while let Some(set) = answer.iter() {
        let names: Vec<String> = set
            .columns()
            .as_ref()
            .iter()
            .map(|c| c.name_str().into_owned())
            .collect();
        let rows = set
            .map(|row| {
                let values = row.unwrap_or_else(|e| panic!("{sql}: {e}")).unwrap();
                let text = |v: mysql::Value| match v {
                    mysql::Value::NULL => "NULL".to_owned(),
                    mysql::Value::Bytes(b) => String::from_utf8_lossy(&b).into_owned(),
                    other => other.as_sql(true),
                };
                values.into_iter().map(text).collect()
            })
            .collect();
        if !names.is_empty() {
            results.push((names, rows));
        }
    }
    results
}

/// The text of the last result.
fn last_text(client: &mut mysql::Conn, sql: &str) -> String {
    call(client, sql).pop().unwrap_or_else(|| panic!("{sql}")).1[0][0].clone()
}

// One test for everything that changes the setup tables: the process has only one set of them.
#[test]
fn setups_are_changed_saved_and_listed() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.root();
    let on = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE '%LOCK_registry%' AND ENABLED = 'YES' AND TIMED = 'YES'";
    exec(&mut client, "CALL sys.ps_setup_save(10)");
    assert_eq!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_disable_instrument('LOCK_registry')"
        )
        .split(' ')
        .next(),
        Some("Disabled")
    );
    assert_eq!(one(&mut client, on), "0");
    assert_eq!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_enable_instrument('LOCK_registry')"
        ),
        "Enabled 1 instrument"
    );
    assert_eq!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_enable_instrument('LOCK_registry')"
        ),
        "Enabled 0 instruments"
    );
    assert_eq!(one(&mut client, on), "1");
    exec_for_all(
        &mut client,
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events_stages%'",
    );
    assert_eq!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_enable_consumer('events_stages')"
        ),
        "Enabled 3 consumers"
    );
    let results = call(&mut client, "CALL sys.ps_setup_show_enabled_consumers()");
    assert_eq!(results[0].0, ["enabled_consumers"]);
    assert!(
        results[0]
            .1
            .contains(&vec!["events_stages_history".to_owned()])
    );
    assert_eq!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_disable_consumer('events_stages_history')"
        ),
        "Disabled 2 consumers"
    );
    let results = call(&mut client, "CALL sys.ps_setup_show_disabled_consumers()");
    assert!(
        results[0]
            .1
            .contains(&vec!["events_stages_history_long".to_owned()])
    );
    exec(&mut client, "CALL sys.ps_setup_reload_saved()");
    assert_eq!(errno(&mut client, "CALL sys.ps_setup_reload_saved()"), 1644);

    // Threads of connections and of the server.
    let instrumented = "SELECT sys.ps_is_thread_instrumented(CONNECTION_ID())";
    let id = one(&mut client, "SELECT CONNECTION_ID()");
    let thread = |what: &str| format!("CALL sys.ps_setup_{what}_thread({id})");
    assert_eq!(
        last_text(&mut client, &thread("disable")),
        "Disabled 1 thread"
    );
    assert_eq!(one(&mut client, instrumented), "NO");
    assert_eq!(
        last_text(&mut client, &thread("enable")),
        "Enabled 1 thread"
    );
    assert_eq!(one(&mut client, instrumented), "YES");
    assert!(
        last_text(
            &mut client,
            "CALL sys.ps_setup_disable_background_threads()"
        )
        .starts_with("Disabled ")
    );
    let off = "SELECT COUNT(*) FROM performance_schema.threads WHERE TYPE = 'BACKGROUND' AND INSTRUMENTED = 'YES'";
    assert_eq!(one(&mut client, off), "0");
    assert!(
        last_text(&mut client, "CALL sys.ps_setup_enable_background_threads()")
            .starts_with("Enabled ")
    );

    let results = call(&mut client, "CALL sys.ps_setup_show_enabled(TRUE, TRUE)");
    let names: Vec<&str> = results.iter().map(|s| s.0[0].as_str()).collect();
    assert_eq!(
        names,
        [
            "performance_schema_enabled",
            "enabled_users",
            "object_type",
            "enabled_consumers",
            "enabled_threads",
            "enabled_instruments"
        ]
    );
    assert!(results[1].1.contains(&vec!["'%'@'%'".to_owned()]));
    assert_eq!(
        call(&mut client, "CALL sys.ps_setup_show_disabled(FALSE, FALSE)").len(),
        4
    );
    assert_eq!(
        call(&mut client, "CALL sys.ps_setup_show_enabled_instruments()")[0].0,
        ["enabled_instruments", "timed"]
    );
    assert_eq!(
        call(&mut client, "CALL sys.ps_setup_show_disabled_instruments()").len(),
        1
    );

    // The defaults, without the server's options.
    exec(&mut client, "DELETE FROM performance_schema.setup_actors");
    let verbose = call(&mut client, "CALL sys.ps_setup_reset_to_default(TRUE)");
    assert_eq!(verbose.len(), 5);
    assert_eq!(one(&mut client, on), "0");
    assert_eq!(
        one(
            &mut client,
            "SELECT CONCAT(HOST, USER, ENABLED) FROM performance_schema.setup_actors"
        ),
        "%%YES"
    );
    assert_eq!(
        one(
            &mut client,
            "SELECT COUNT(*) FROM performance_schema.setup_objects"
        ),
        "20"
    );
    assert_eq!(
        one(
            &mut client,
            "SELECT GROUP_CONCAT(NAME ORDER BY NAME) FROM performance_schema.setup_consumers WHERE ENABLED = 'YES'"
        ),
        "events_statements_current,events_statements_history,events_transactions_current,\
         events_transactions_history,global_instrumentation,statements_digest,thread_instrumentation"
    );
    let files = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/io/file/%' AND ENABLED = 'NO'";
    assert_eq!(one(&mut client, files), "0");

    let emptied = call(&mut client, "CALL sys.ps_truncate_all_tables(TRUE)");
    let (last, each) = emptied.split_last().expect("a summary");
    assert_eq!(last.1[0][0], format!("Truncated {} tables", each.len()));
    assert!(each.len() > 40, "{}", each.len());

    let mut monitor = running.tcp("monitor", Some(MONITOR)).expect("connects");
    for procedure in [
        "ps_setup_enable_instrument('x')",
        "ps_truncate_all_tables(FALSE)",
        "ps_setup_reset_to_default(FALSE)",
    ] {
        // 1142 of the first statement on a setup table, 1227 of others.
        let code = errno(&mut monitor, &format!("CALL sys.{procedure}"));
        assert!(matches!(code, 1142 | 1227), "{procedure}: {code}");
    }
    assert_eq!(
        call(&mut monitor, "CALL sys.ps_setup_show_enabled_consumers()").len(),
        1
    );
}

#[test]
fn procedures_are_called_as_in_mysql() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "CREATE TABLE t (a INT)");
    for (database, table, kind) in [
        ("test", "t", "BASE TABLE"),
        ("test", "nothing", ""),
        ("sys", "version", "VIEW"),
        ("sys", "sys_config", "BASE TABLE"),
    ] {
        exec(
            &mut client,
            &format!("CALL sys.table_exists('{database}', '{table}', @found)"),
        );
        assert_eq!(
            one(&mut client, "SELECT @found"),
            kind,
            "{database}.{table}"
        );
    }
    // With parameters, by the binary protocol.
    client
        .exec_drop("CALL sys.table_exists(?, ?, @found)", ("test", "t"))
        .expect("called");
    assert_eq!(one(&mut client, "SELECT @found"), "BASE TABLE");

    assert_eq!(
        call(
            &mut client,
            "CALL sys.execute_prepared_stmt('SELECT 1 AS a, ''x'' AS b')"
        )[0]
        .1,
        [["1", "x"]]
    );
    exec(
        &mut client,
        "CALL sys.execute_prepared_stmt('INSERT INTO t VALUES (7)')",
    );
    assert_eq!(one(&mut client, "SELECT a FROM t"), "7");
    assert_eq!(
        errno(&mut client, "CALL sys.execute_prepared_stmt('SELEKT 1')"),
        1064
    );
    assert_eq!(
        errno(
            &mut client,
            "CALL sys.execute_prepared_stmt('CALL sys.execute_prepared_stmt(1)')"
        ),
        1210
    );
    // A CALL between other statements.
    exec(&mut client, "USE sys");
    assert_eq!(
        call(
            &mut client,
            "SELECT 1; CALL ps_setup_show_enabled_consumers(); SELECT 2"
        )
        .len(),
        3
    );
    for (sql, number) in [
        ("CALL sys.nothing()", 1305),
        ("CALL test.ps_truncate_all_tables(TRUE)", 1305),
        ("CALL sys.table_exists('a')", 1318),
        ("CALL sys.table_exists('a', 'b', 'c')", 1414),
        ("CALL sys.create_synonym_db('a', 'b')", 1235),
        ("CALL sys.table_exists(REPEAT('a', 65), 'b', @c)", 1406),
        ("CALL sys.execute_prepared_stmt(NULL)", 1644),
        ("CALL sys.diagnostics(0, 0, 'current')", 1644),
        ("CALL sys.diagnostics(1, 0, 'current')", 1644),
        ("CALL sys.diagnostics(1, 2, 'current')", 1644),
        ("CALL sys.diagnostics(1, 1, 'everything')", 1644),
        (
            "CALL sys.statement_performance_analyzer('nothing', NULL, NULL)",
            1644,
        ),
        (
            "CALL sys.statement_performance_analyzer('delta', 'nothing', NULL)",
            1146,
        ),
    ] {
        assert_eq!(errno(&mut client, sql), number, "{sql}");
    }
    // information_schema lists procedures and functions.
    let listed = "SELECT ROUTINE_TYPE, COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'sys' GROUP BY ROUTINE_TYPE ORDER BY 1";
    assert_eq!(
        rows(&mut client, listed),
        [["FUNCTION", "22"], ["PROCEDURE", "26"]]
    );
    let parameters = "SELECT ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER FROM information_schema.PARAMETERS WHERE SPECIFIC_NAME = ";
    assert_eq!(
        rows(&mut client, &format!("{parameters} 'list_add' ORDER BY 1")),
        [
            ["0", "NULL", "NULL", "text"],
            ["1", "IN", "in_list", "text"],
            ["2", "IN", "in_add_value", "text"]
        ]
    );
    assert_eq!(
        rows(
            &mut client,
            &format!("{parameters} 'table_exists' ORDER BY 1")
        )[2],
        [
            "3",
            "OUT",
            "out_exists",
            "enum('','BASE TABLE','VIEW','TEMPORARY')"
        ]
    );
    assert_eq!(
        rows(
            &mut client,
            "SHOW PROCEDURE STATUS WHERE Name LIKE 'ps\\_trace%'"
        )
        .len(),
        2
    );
    let event = "SELECT COUNT(*) > 0 FROM performance_schema.events_statements_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'statement/sql/call_procedure' AND COUNT_STAR > 0";
    assert_eq!(one(&mut client, event), "1");
}

#[test]
fn statements_are_analysed_between_two_moments() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "CREATE TABLE analysed (a INT)");
    exec(
        &mut client,
        "CALL sys.statement_performance_analyzer('create_tmp', 'mine', NULL)",
    );
    exec(
        &mut client,
        "CALL sys.statement_performance_analyzer('snapshot', NULL, NULL)",
    );
    exec(
        &mut client,
        "CALL sys.statement_performance_analyzer('save', 'mine', NULL)",
    );
    for i in 0..7 {
        exec(&mut client, &format!("INSERT INTO analysed VALUES ({i})"));
    }
    exec(
        &mut client,
        "CALL sys.statement_performance_analyzer('snapshot', NULL, NULL)",
    );
    let results = call(
        &mut client,
        "CALL sys.statement_performance_analyzer('delta', 'mine', 'analysis')",
    );
    assert_eq!(results.len(), 2);
    let (names, rows) = &results[1];
    let at = |name: &str| {
        names
            .iter()
            .position(|n| n == name)
            .unwrap_or_else(|| panic!("{names:?}"))
    };
    let inserts: Vec<_> = rows
        .iter()
        .filter(|r| r[at("query")].contains("analysed"))
        .collect();
    assert_eq!(inserts.len(), 1, "{rows:?}");
    assert_eq!(inserts[0][at("exec_count")], "7");
    assert_eq!(inserts[0][at("rows_affected")], "7");
    // All views, without deltas.
    assert_eq!(
        call(
            &mut client,
            "CALL sys.statement_performance_analyzer('overall', NULL, NULL)"
        )
        .len(),
        12
    );
    exec(
        &mut client,
        "SET @sys.statement_performance_analyzer.view = 'sys.statement_analysis'",
    );
    assert_eq!(
        call(
            &mut client,
            "CALL sys.statement_performance_analyzer('overall', NULL, 'custom')"
        )
        .len(),
        2
    );
    exec(
        &mut client,
        "CALL sys.statement_performance_analyzer('cleanup', NULL, NULL)",
    );
    assert_eq!(
        errno(
            &mut client,
            "CALL sys.statement_performance_analyzer('delta', 'mine', NULL)"
        ),
        1146
    );
    let drawn = last_text(&mut client, "CALL sys.ps_statement_avg_latency_histogram()");
    assert!(drawn.contains("Total Statements: "), "{drawn}");
}

#[test]
fn threads_and_statements_are_watched() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "CREATE TABLE watched (a INT)");
    exec(&mut client, "INSERT INTO watched VALUES (1)");
    let digest = one(
        &mut client,
        "SELECT DIGEST FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'INSERT INTO `watched`%'",
    );
    let thread = one(&mut client, "SELECT sys.ps_thread_id(NULL)");
    let mut root = running.root();
    let watcher = std::thread::spawn(move || {
        let of = call(
            &mut root,
            &format!("CALL sys.ps_trace_statement_digest('{digest}', 2, 0.1, TRUE, TRUE)"),
        );
        let graph = call(
            &mut root,
            &format!("CALL sys.ps_trace_thread({thread}, NULL, 1, 0.1, FALSE, TRUE, TRUE)"),
        );
        (of, graph)
    });
    while !watcher.is_finished() {
        exec(&mut client, "INSERT INTO watched VALUES (2)");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (of, graph) = watcher.join().expect("watched");
    assert_eq!(of[0].1, [["SUMMARY STATISTICS"]]);
    let executions: u64 = of[1].1[0][0].parse().expect("a number");
    assert!(executions > 3, "{of:?}");
    let texts: Vec<&str> = of
        .iter()
        .filter(|s| s.0 == ["sql_text"])
        .map(|s| s.1[0][0].as_str())
        .collect();
    assert_eq!(texts, ["INSERT INTO watched VALUES (2)"]);
    let graph = &graph.last().expect("a graph").1[0][0];
    assert!(
        graph.starts_with("digraph events {") && graph.contains("INSERT INTO watched VALUES (2)"),
        "{graph}"
    );
    assert!(graph.contains(" -> "), "{graph}");
}

#[test]
fn diagnostics_report_everything() {
    let _turn = crate::turn();
    let running = Running::start();
    let mut client = running.client();
    let results = call(&mut client, "CALL sys.diagnostics(1, 1, 'medium')");
    let titles: Vec<&str> = results
        .iter()
        .filter(|s| s.0 == ["The following output is"])
        .map(|s| s.1[0][0].as_str())
        .collect();
    for title in [
        "version",
        "variables",
        "instruments",
        "processlist, look 1",
        "memory",
        "tables",
        "metrics, and what they grew by",
    ] {
        assert!(titles.contains(&title), "{title}: {titles:?}");
    }
    assert_eq!(results.len(), 2 * titles.len());
    let off = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'stage/sql/%' AND ENABLED = 'YES'";
    let before = one(&mut client, off);
    call(&mut client, "CALL sys.diagnostics(1, 1, 'full')");
    assert_eq!(one(&mut client, off), before);
    assert_eq!(rows(&mut client, "SELECT 1").len(), 1);
}
