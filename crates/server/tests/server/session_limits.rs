//! What a session may hold from one statement to the next, and how long the server waits for its client.

use mysql::prelude::Queryable;

use super::support::{Raw, Running, code, errno, exec, one, rows, until};

const MIB: usize = 1 << 20;

fn limited() -> Running {
    Running::with(|config| {
        config.connection_memory_limit = 16 << 20;
        config.global_connection_memory_limit = 48 << 20;
    })
}

/// What the sessions hold, in MiB.
fn held(conn: &mut mysql::Conn) -> usize {
    let status = rows(conn, "SHOW GLOBAL STATUS LIKE 'Global_connection_memory'");
    status[0][1].parse::<usize>().expect("a number") / MIB
}

/// Runs statements until one is refused. Returns its error number, and how many were accepted.
fn until_refused(conn: &mut mysql::Conn, sql: impl Fn(usize) -> String) -> (u16, usize) {
    for i in 0..100 {
        let code = errno(conn, &sql(i));
        if code != 0 {
            return (code, i);
        }
    }
    (0, 100)
}

#[test]
fn a_session_cannot_hold_more_than_connection_memory_limit() {
    let running = limited();
    let mut other = running.client();
    exec(&mut other, "SET @kept = REPEAT('k', 1000000)");
    let text = "x".repeat(MIB);
    let kinds: [&dyn Fn(usize) -> String; 4] = [
        &|i| format!("SET @v{i} = REPEAT('x', {MIB})"),
        &|i| format!("SELECT REPEAT('x', {MIB}) INTO @v{i}"),
        &|i| format!("PREPARE s{i} FROM 'SELECT ''{text}'''"),
        &|i| format!("SET @v{i} = CONCAT('{text}', {i})"),
    ];
    for sql in kinds {
        let mut conn = running.client();
        let (code, accepted) = until_refused(&mut conn, sql);
        let sql: String = sql(0).chars().take(30).collect();
        assert_eq!(code, 4082, "{sql}: {accepted}");
        assert!((4..16).contains(&accepted), "{sql}: {accepted}");
        assert!(conn.query_drop("SELECT 1").is_err(), "it is closed");
        until("its memory is free", || held(&mut other) < 6);
        assert_eq!(one(&mut other, "SELECT LENGTH(@kept)"), "1000000");
    }
    // Values that replace one another do not add up.
    let mut conn = running.client();
    for _ in 0..30 {
        exec(&mut conn, "SET @v = REPEAT('x', 2000000)");
    }
    let message = "Connection closed. Connection memory limit 16777216 bytes exceeded. Consumed ";
    let mut conn = running.client();
    let error = conn.query_drop("SET @v = REPEAT('x', 17000000)");
    let error = error.expect_err("too much").to_string();
    assert!(
        error.contains(message) && error.contains("HY000"),
        "{error}"
    );
}

#[test]
fn the_limit_of_a_session_is_a_variable_that_needs_a_right() {
    let running = limited();
    let mut root = running.client();
    exec(
        &mut root,
        "CREATE USER u IDENTIFIED WITH mysql_native_password BY 'p'",
    );
    exec(&mut root, "SET SESSION connection_memory_limit = 4000000");
    assert_eq!(errno(&mut root, "SET @v = REPEAT('x', 5000000)"), 4082);
    let mut root = running.client();
    exec(&mut root, "SET GLOBAL connection_memory_limit = 3000000");
    let mut user = running.tcp("u", Some("p")).expect("connects");
    assert_eq!(
        one(&mut user, "SELECT @@connection_memory_limit"),
        "3000000"
    );
    for name in ["connection_memory_limit", "connection_memory_chunk_size"] {
        let sql = format!("SET SESSION {name} = 100000000");
        assert_eq!(errno(&mut user, &sql), 1227, "{sql}");
    }
    assert_eq!(errno(&mut user, "SET @v = REPEAT('x', 4000000)"), 4082);
    // MySQL's smallest value.
    exec(&mut root, "SET GLOBAL connection_memory_limit = 1");
    assert_eq!(
        one(&mut root, "SELECT @@GLOBAL.connection_memory_limit"),
        "2097152"
    );
}

#[test]
fn all_sessions_together_hold_no_more_than_the_global_limit() {
    let running = limited();
    let mut root = running.client();
    let mut holders = Vec::new();
    let mut refused = 0;
    for _ in 0..20 {
        let mut conn = running.client();
        match errno(&mut conn, "SET @v = REPEAT('x', 4000000)") {
            0 => holders.push(conn),
            code => {
                assert_eq!(code, 4081);
                refused += 1;
            }
        }
    }
    assert!(refused > 0 && holders.len() >= 2, "{}", holders.len());
    assert!(held(&mut root) <= 48);
    // Whoever holds little can still log in and work.
    let mut late = running.client();
    assert_eq!(
        one(
            &mut late,
            "SELECT COUNT(*) > 1 FROM information_schema.processlist"
        ),
        "1"
    );
    for holder in &mut holders {
        assert_eq!(one(holder, "SELECT 1"), "1");
    }
    drop(holders);
    until("the memory is free", || held(&mut root) < 10);
    exec(&mut late, "SET @v = REPEAT('x', 4000000)");
    exec(
        &mut root,
        "SET GLOBAL global_connection_memory_limit = 16777216",
    );
    let mut conn = running.client();
    assert_eq!(errno(&mut conn, "SET @v = REPEAT('x', 7000000)"), 4081);
}

#[test]
fn long_data_and_parts_of_packets_are_memory_of_the_session() {
    let running = limited();
    let mut other = running.client();
    // Parameters in parts, of a statement that is not executed.
    let mut raw = Raw::root(&running);
    raw.send(0, b"\x16SELECT ?, ?");
    let prepared = raw.read().expect("an answer");
    assert_eq!(prepared[0], 0);
    // Two parameters and two columns, each list with its end.
    for _ in 0..6 {
        raw.read().expect("a description");
    }
    let part = vec![b'x'; 4 * MIB];
    for i in 0..10u16 {
        let mut packet = vec![0x18];
        packet.extend_from_slice(&prepared[1..5]);
        packet.extend_from_slice(&(i % 2).to_le_bytes());
        packet.extend_from_slice(&part);
        raw.send(0, &packet);
    }
    let mut execute = vec![0x17];
    execute.extend_from_slice(&prepared[1..5]);
    execute.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1, 253, 0, 253, 0]);
    raw.send(0, &execute);
    assert_eq!(raw.error(), 4082);
    assert_eq!(raw.read(), None, "it is closed");
    // A packet of which only the head has come holds no memory, and a part no more than it has.
    let heads: Vec<Raw> = (0..20)
        .map(|_| {
            let mut raw = Raw::root(&running);
            raw.send_part(&[0, 0, 0xf0, 0, 3]);
            raw
        })
        .collect();
    assert!(held(&mut other) < 30);
    drop(heads);
    let mut raw = Raw::root(&running);
    raw.send_part(&[0xff, 0xff, 0xff, 0, 3]);
    let _ = raw.try_send_part(&vec![b' '; 0xff_fffe]);
    let _ = raw.try_send_part(&[0, 0, 0xf0, 1]);
    let _ = raw.try_send_part(&vec![b' '; 0xf0_0000]);
    assert_eq!(raw.error(), 4082);
    assert_eq!(one(&mut other, "SELECT 1"), "1");
}

#[test]
fn a_client_that_stops_in_a_packet_is_disconnected_after_net_read_timeout() {
    for running in [Running::start(), Running::pool()] {
        let mut raw = Raw::root(&running);
        raw.query("SET SESSION net_read_timeout = 1");
        assert_eq!(raw.read().expect("an answer")[0], 0);
        raw.send_part(&[100, 0, 0, 0, 3, b'S']);
        assert_eq!(raw.error(), 1159);
        assert_eq!(raw.read(), None);
        // The time without a command is wait_timeout's.
        let mut raw = Raw::root(&running);
        raw.query("SET SESSION net_read_timeout = 1, wait_timeout = 1000");
        assert_eq!(raw.read().expect("an answer")[0], 0);
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(raw.pings());
    }
}

#[test]
fn a_client_that_reads_nothing_is_disconnected_after_net_write_timeout() {
    let running = Running::start();
    let mut root = running.client();
    let mut raw = Raw::root(&running);
    raw.query("SET SESSION net_write_timeout = 1");
    assert_eq!(raw.read().expect("an answer")[0], 0);
    raw.query(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) \
         SELECT REPEAT('x', 10000) FROM c",
    );
    let lives = format!(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {}",
        raw.id
    );
    until("the session ends", || one(&mut root, &lives) == "0");
}

#[test]
fn statements_of_prepare_count_as_the_protocols_do() {
    let running = Running::start();
    let mut conn = running.client();
    let count = |conn: &mut mysql::Conn| {
        rows(conn, "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")[0][1].clone()
    };
    exec(&mut conn, "SET GLOBAL max_prepared_stmt_count = 2");
    exec(&mut conn, "PREPARE a FROM 'SELECT 1'");
    let b = conn.prep("SELECT 2").expect("prepares");
    assert_eq!(count(&mut conn), "2");
    let error = conn.query_drop("PREPARE c FROM 'SELECT 1'");
    let error = error.expect_err("too many").to_string();
    assert!(
        error.contains(
            "(42000): Can't create more than max_prepared_stmt_count statements (current value: 2)"
        ),
        "{error}"
    );
    let mut other = running.client();
    assert_eq!(
        code(other.prep("SELECT 3")),
        1461,
        "it is one limit for all"
    );
    // A statement replaces one of its name, and one that fails leaves none.
    exec(&mut conn, "PREPARE a FROM 'SELECT 11'");
    assert_eq!(errno(&mut conn, "PREPARE a FROM 'SELEC 11'"), 1064);
    assert_eq!(count(&mut conn), "1");
    assert_eq!(
        errno(&mut conn, "PREPARE a FROM 'SELECT * FROM missing'"),
        1146
    );
    assert_eq!(count(&mut conn), "1");
    exec(&mut conn, "PREPARE a FROM 'SELECT 1'");
    conn.close(b).expect("closes");
    exec(&mut conn, "DEALLOCATE PREPARE a");
    assert_eq!(count(&mut conn), "0");
    exec(&mut conn, "PREPARE a FROM 'SELECT 1'");
    conn.reset().expect("resets");
    assert_eq!(count(&mut other), "0");
    exec(&mut conn, "PREPARE a FROM 'SELECT 1'");
    drop(conn);
    until("the session ends", || count(&mut other) == "0");
    exec(&mut other, "SET GLOBAL max_prepared_stmt_count = 0");
    assert_eq!(errno(&mut other, "PREPARE a FROM 'SELECT 1'"), 1461);
}
