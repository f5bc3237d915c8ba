//! Malformed packets: they are an error for their client only.

use std::io::Write;
use std::time::{Duration, Instant};

use super::support::{Raw, Running, TIMEOUT, errno, exec, one};

const QUERY: u8 = 3;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;

fn both() -> [Running; 2] {
    [Running::start(), Running::pool()]
}

#[test]
fn garbage_instead_of_a_handshake_is_refused() {
    for running in both() {
        for bytes in [&[][..], &[0], &[0xff; 40], &[0x0d, 0x0a], &[0; 300]] {
            let mut raw = Raw::connect(&running);
            raw.send(1, bytes);
            assert!(matches!(raw.error(), 1043 | 1251 | 1045));
            assert_eq!(raw.read(), None, "and it is over");
        }
        // Half a header, then the end of the connection.
        let mut raw = Raw::connect(&running);
        raw.stream.write_all(&[9, 0]).expect("sent");
        drop(raw);
        assert_eq!(one(&mut running.root(), "SELECT 1"), "1");
    }
}

#[test]
fn malformed_commands_are_answered_and_the_session_goes_on() {
    for running in both() {
        let mut raw = Raw::root(&running);
        let bad: [(&[u8], u16); 14] = [
            (&[], 1047),
            (&[0xee, 1, 2, 3], 1047),
            (&[EXECUTE], 1835),
            (&[EXECUTE, 9, 0, 0, 0, 0, 1, 0, 0, 0], 1243),
            (&[0x1a, 1], 1835),
            (&[0x1a, 9, 0, 0, 0], 1243),
            (&[4, b't'], 1835),
            (&[0x1b, 7, 0], 1835),
            (&[0x0c, 1], 1835),
            (&[QUERY, 0xff, 0xfe], 1300),
            (&[QUERY], 1065),
            (&[QUERY, b'\'', 0], 1064),
            (&[PREPARE, 0xff], 1300),
            (&[2, b'.', b'.'], 1049),
        ];
        for (packet, expected) in bad {
            raw.send(0, packet);
            assert_eq!(raw.error(), expected, "{packet:?}");
        }
        // Long data for an unknown statement has no answer, and neither has closing one.
        raw.send(0, &[0x18, 9, 0, 0, 0, 0, 0, 1]);
        raw.send(0, &[0x19, 9, 0, 0, 0]);
        assert!(raw.pings());
    }
}

#[test]
fn an_execution_with_malformed_parameters_is_refused() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    raw.send(0, b"\x16SELECT ?");
    let prepared = raw.read().expect("prepared");
    assert_eq!(prepared[0], 0);
    let id = &prepared[1..5];
    for _ in 0..4 {
        raw.read().expect("a parameter, its end, a column, its end");
    }
    let execute = |rest: &[u8]| [&[EXECUTE], id, &[0, 1, 0, 0, 0], rest].concat();
    for rest in [
        &[][..],
        &[0],
        &[0, 1],
        &[0, 1, 8],
        &[0, 1, 8, 0],
        &[0, 1, 8, 0, 1, 2, 3],
        &[0, 1, 0xfe, 0, 0xfc, 0xff, 0xff, b'x'],
        &[
            0, 1, 0xfe, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        ],
        &[0, 1, 0x77, 0, 1],
        &[0, 1, 12, 0, 5, 1, 2, 3, 4, 5],
        &[0, 0],
        &[0, 2],
    ] {
        raw.send(0, &execute(rest));
        assert_eq!(raw.error(), 1835, "{rest:?}");
    }
    raw.send(0, &execute(&[0, 1, 8, 0, 42, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(raw.read().expect("a result"), [1], "one column");
}

#[test]
fn packets_out_of_order_end_the_session() {
    let running = Running::start();
    let mut raw = Raw::root(&running);
    raw.send(7, &[0x0e]);
    assert_eq!(raw.error(), 1156);
    assert_eq!(raw.read(), None);
}

#[test]
fn a_packet_of_300_mib_is_refused_and_affects_no_other_session() {
    for running in both() {
        let mut other = running.client();
        let mut raw = Raw::root(&running);
        let piece = vec![b'x'; 0xff_ffff];
        let mut sequence = 0u8;
        // A client sends the complete packet before it reads.
        for n in 0..19 {
            let mut header = vec![0xff, 0xff, 0xff, sequence];
            if n == 0 {
                header.push(QUERY);
            }
            let body = if n == 0 { &piece[1..] } else { &piece[..] };
            if raw
                .stream
                .write_all(&header)
                .and_then(|()| raw.stream.write_all(body))
                .is_err()
            {
                break;
            }
            sequence = sequence.wrapping_add(1);
        }
        assert_eq!(raw.error(), 1153);
        assert_eq!(raw.read(), None, "the connection is closed");
        assert_eq!(one(&mut other, "SELECT 1"), "1");
    }
}

#[test]
fn a_packet_just_below_the_limit_is_accepted() {
    let running = Running::with(|c| c.max_allowed_packet = 40 << 20);
    let mut conn = running.client();
    let long = "y".repeat(33 << 20);
    assert_eq!(
        one(&mut conn, &format!("SELECT length('{long}')")),
        long.len().to_string()
    );
    assert_eq!(
        one(&mut conn, &format!("SELECT '{long}'")).len(),
        long.len()
    );
}

#[test]
fn queries_of_vanished_clients_are_interrupted() {
    for running in both() {
        let mut raw = Raw::root(&running);
        let endless = b"\x03WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n) SELECT count(*) FROM n";
        raw.send(0, endless);
        let mut root = running.root();
        let running_queries = "SHOW PROCESSLIST";
        let busy = |root: &mut mysql::Conn| {
            super::support::rows(root, running_queries)
                .iter()
                .any(|r| r[7].contains("RECURSIVE"))
        };
        let since = Instant::now();
        while !busy(&mut root) {
            assert!(since.elapsed() < TIMEOUT, "the query is running");
        }
        drop(raw);
        let gone = Instant::now();
        while busy(&mut root) {
            assert!(gone.elapsed() < TIMEOUT, "the query has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn kill_and_time_limits_interrupt() {
    for running in both() {
        let mut victim = running.client();
        let mut root = running.root();
        let id = victim.connection_id();
        let endless = "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n) SELECT count(*) FROM n";
        exec(&mut victim, "SET SESSION max_execution_time = 100");
        assert_eq!(errno(&mut victim, endless), 3024);
        exec(&mut victim, "SET SESSION max_execution_time = 0");
        let waiting = std::thread::spawn(move || (errno(&mut victim, endless), victim));
        while !super::support::rows(&mut root, "SHOW PROCESSLIST")
            .iter()
            .any(|r| r[7].contains("RECURSIVE"))
        {
            std::thread::yield_now();
        }
        exec(&mut root, &format!("KILL QUERY {id}"));
        let (code, mut victim) = waiting.join().expect("ends");
        assert_eq!(code, 1317);
        assert_eq!(
            one(&mut victim, "SELECT 1"),
            "1",
            "KILL QUERY leaves the connection"
        );
        exec(&mut root, &format!("KILL {id}"));
        use mysql::prelude::Queryable;
        assert!(victim.query_drop("SELECT 1").is_err());
        assert_eq!(errno(&mut root, "KILL 123456"), 1094);
    }
}

#[test]
fn results_beyond_the_limits_are_refused() {
    let running = Running::with(|c| c.max_result_rows = 1000);
    let mut conn = running.client();
    let rows = |n| {
        format!(
            "WITH RECURSIVE n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n WHERE a < {n}) SELECT a FROM n"
        )
    };
    assert_eq!(super::support::rows(&mut conn, &rows(1000)).len(), 1000);
    assert_eq!(errno(&mut conn, &rows(1001)), 1104);
    assert_eq!(one(&mut conn, "SELECT 1"), "1");
}

/// Logs in with attributes. Returns the session, and whether it was accepted.
fn with_attributes(running: &Running, attributes: &[(&str, &str)]) -> (Raw, bool) {
    let mut bytes = Vec::new();
    for text in attributes.iter().flat_map(|(name, value)| [name, value]) {
        tare_mysql::wire::bytes::put_lenenc_str(&mut bytes, text.as_bytes());
    }
    let mut raw = Raw::connect(running);
    // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, CONNECT_ATTRS.
    let mut packet = (0x200u32 | 0x8000 | 0x8_0000 | 0x10_0000)
        .to_le_bytes()
        .to_vec();
    packet.extend([0, 0, 0, 1, 45]);
    packet.extend([0; 23]);
    packet.extend(b"root\0\0caching_sha2_password\0");
    tare_mysql::wire::bytes::put_lenenc_str(&mut packet, &bytes);
    raw.send(1, &packet);
    let accepted = raw.read().is_some_and(|answer| answer[0] == 0);
    (raw, accepted)
}

#[test]
fn attributes_of_64_kib_are_accepted_and_a_large_one_does_not_hide_the_others() {
    let running = Running::start();
    let mut root = running.client();
    let mut attributes = |sent: &[(&str, &str)]| {
        let (raw, accepted) = with_attributes(&running, sent);
        assert!(accepted);
        let sql = "SELECT ATTR_NAME, ATTR_VALUE FROM performance_schema.session_connect_attrs \
                   WHERE PROCESSLIST_ID =";
        let sql = format!("{sql} {} ORDER BY ORDINAL_POSITION", raw.id);
        super::support::all_of(&mut root, &sql).join(",")
    };
    assert_eq!(
        attributes(&[("b", "1"), ("a", "2"), ("c", "")]),
        "b|1,a|2,c|NULL"
    );
    let large = "x".repeat(65_500);
    let sent = [("a", "1"), ("large", large.as_str()), ("b", "2")];
    // MySQL has 65023, and no b.
    assert_eq!(attributes(&sent), "_truncated|65019,a|1,b|2");
    let long = ["n".repeat(33), "v".repeat(400)];
    let visible = format!("{}|{},b|2", "n".repeat(32), long[1]);
    assert_eq!(attributes(&[(&long[0], &long[1]), ("b", "2")]), visible);
    assert_eq!(
        attributes(&[("a\nb", "c=d"), ("", "1"), ("b", "2")]),
        "a\nb|c=d"
    );
    let many: Vec<String> = (0..5_000).map(|n| format!("n{n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "value")).collect();
    assert!(attributes(&many).starts_with("_truncated|"));
    // MySQL refuses more than 65,535 bytes (1043).
    let larger = "x".repeat(65_536);
    assert!(!with_attributes(&running, &[("large", &larger)]).1);
}
