//! information_schema's rows about performance_schema, and errors of statements there.

use super::support::{Running, all_of, errno, exec, one};

#[test]
fn columns_list_the_privileges_of_the_user() {
    let running = Running::start();
    let mut root = running.client();
    let privileges = |table: &str| {
        format!(
            "SELECT DISTINCT PRIVILEGES, COLUMN_COMMENT FROM information_schema.COLUMNS \
             WHERE CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = '{table}'"
        )
    };
    let all = "select,insert,update,references|";
    let of = privileges("performance_schema.setup_consumers");
    assert_eq!(one(&mut root, &of), all);
    assert_eq!(
        one(&mut root, &privileges("information_schema.TABLES")),
        "select|"
    );
    exec(
        &mut root,
        "CREATE USER u@localhost IDENTIFIED WITH mysql_native_password BY 'p'",
    );
    exec(&mut root, "GRANT SELECT ON *.* TO u@localhost");
    let mut reader = running.tcp("u", Some("p")).expect("u connects");
    assert_eq!(one(&mut reader, &of), "select|");
}

#[test]
fn only_tares_own_tables_have_comments() {
    let running = Running::start();
    let mut conn = running.client();
    let comments = |schema: &str| {
        format!(
            "SELECT SUM(COLUMN_COMMENT <> ''), COUNT(*), \
             (SELECT SUM(TABLE_COMMENT NOT IN ('', 'VIEW')) FROM information_schema.TABLES \
              WHERE TABLE_SCHEMA = '{schema}') \
             FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{schema}'"
        )
    };
    for schema in ["performance_schema", "information_schema", "sys"] {
        let counts = one(&mut conn, &comments(schema));
        assert!(
            counts.starts_with("0|") && counts.ends_with("|0"),
            "{counts}"
        );
    }
    let counts = one(&mut conn, &comments("tare"));
    let numbers: Vec<&str> = counts.split('|').collect();
    assert!(numbers[0] == numbers[1] && numbers[2] != "0", "{counts}");
    let columns = all_of(&mut conn, "SHOW FULL COLUMNS FROM tare.segments");
    assert!(columns.iter().all(|row| row.ends_with('.')), "{columns:?}");
}

#[test]
fn unknown_enum_values_are_refused_in_every_mode() {
    let running = Running::start();
    let mut conn = running.client();
    let insert =
        "INSERT INTO performance_schema.setup_objects VALUES ('TABLE', 'a', 'b', 'MAYBE', 'YES')";
    assert_eq!(errno(&mut conn, insert), 1265);
    exec(&mut conn, "SET sql_mode = 'NO_ENGINE_SUBSTITUTION'");
    assert_eq!(errno(&mut conn, insert), 1452);
    assert_eq!(
        all_of(&mut conn, "SHOW WARNINGS"),
        [
            "Warning|1265|Data truncated for column 'ENABLED' at row 1",
            "Error|1452|Cannot add or update a child row: a foreign key constraint fails ()",
        ]
    );
    // A syntax error replaces the warnings of the statement before.
    assert_eq!(errno(&mut conn, "SELECT FROM"), 1064);
    assert_eq!(all_of(&mut conn, "SHOW WARNINGS").len(), 1);
}

#[test]
fn missing_tables_of_system_schemas_are_unknown() {
    let running = Running::start();
    let mut conn = running.client();
    assert_eq!(errno(&mut conn, "DROP TABLE performance_schema.none"), 1051);
    exec(
        &mut conn,
        "DROP TABLE IF EXISTS performance_schema.none, sys.none",
    );
    assert_eq!(
        all_of(&mut conn, "SHOW WARNINGS"),
        [
            "Note|1051|Unknown table 'performance_schema.none'",
            "Note|1051|Unknown table 'sys.none'",
        ]
    );
    let threads = "DROP TABLE IF EXISTS performance_schema.none, performance_schema.threads";
    assert_eq!(errno(&mut conn, threads), 1142);
    assert_eq!(
        errno(&mut conn, "DROP TABLE IF EXISTS information_schema.none"),
        1044
    );
    assert_eq!(
        errno(&mut conn, "DROP VIEW IF EXISTS performance_schema.none"),
        1044
    );
}

#[test]
fn instruments_have_mysqls_properties() {
    let running = Running::start();
    let mut conn = running.client();
    let of = |properties: &str| {
        format!(
            "SELECT NAME FROM performance_schema.setup_instruments WHERE PROPERTIES = '{properties}' \
             AND (NAME = 'idle' OR NAME LIKE 'wait/io/socket/%') ORDER BY NAME"
        )
    };
    assert_eq!(
        all_of(&mut conn, &of("user")),
        ["idle", "wait/io/socket/sql/client_connection"]
    );
    assert_eq!(
        all_of(&mut conn, &of("singleton")),
        [
            "wait/io/socket/sql/server_tcpip_socket",
            "wait/io/socket/sql/server_unix_socket",
        ]
    );
}

#[test]
fn the_processlist_of_information_schema_is_deprecated() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "SELECT * FROM information_schema.PROCESSLIST");
    assert!(one(&mut conn, "SHOW WARNINGS").starts_with("Warning|1287|"));
    exec(&mut conn, "SELECT * FROM performance_schema.processlist");
    assert!(all_of(&mut conn, "SHOW WARNINGS").is_empty());
}

#[test]
fn namesakes_of_native_functions_are_reported_once() {
    let running = Running::start();
    let mut conn = running.client();
    let note = |name: &str| {
        format!("Note|1585|This function '{name}' has the same name as a native function")
    };
    exec(&mut conn, "SELECT FORMAT_BYTES(1), sys.format_time(1)");
    assert!(all_of(&mut conn, "SHOW WARNINGS").is_empty());
    let both = "SELECT sys.format_bytes(1), sys.FORMAT_BYTES(2), sys.ps_thread_id(1)";
    exec(&mut conn, both);
    assert_eq!(
        all_of(&mut conn, "SHOW WARNINGS"),
        [note("format_bytes"), note("ps_thread_id")]
    );
    exec(&mut conn, both);
    assert!(all_of(&mut conn, "SHOW WARNINGS").is_empty());
}

#[test]
fn telemetry_tables_have_the_configured_sizes() {
    let sizes = [("max_logger_classes", "0"), ("max_meter_classes", "2")];
    let running = Running::with(|config| {
        config.sizes = sizes.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
    });
    let mut conn = running.client();
    let counts = "SELECT (SELECT COUNT(*) FROM performance_schema.setup_loggers), \
                  (SELECT COUNT(*) FROM performance_schema.setup_meters)";
    assert_eq!(one(&mut conn, counts), "0|2");
    assert_eq!(
        one(&mut conn, "SELECT @@performance_schema_max_logger_classes"),
        "0"
    );
    assert_eq!(
        one(
            &mut conn,
            "SHOW STATUS LIKE 'Performance_schema_meter_lost'"
        ),
        "Performance_schema_meter_lost|9"
    );
}
