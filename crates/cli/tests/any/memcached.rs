//! memcached under `tare run`.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::server::Server;
use super::support::wait_for;

/// Statistics of the server that are numbers.
pub fn statistics(stream: &mut UnixStream) -> BTreeMap<String, u64> {
    let text = call(stream, b"stats\r\n", b"END\r\n");
    let text = String::from_utf8_lossy(&text).into_owned();
    let numbers = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    numbers.collect()
}

/// Sends these bytes. Returns what comes, up to this end.
pub fn call(stream: &mut UnixStream, bytes: &[u8], end: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).expect("written");
    let (mut all, mut part) = (Vec::new(), [0; 4096]);
    while !all.ends_with(end) {
        let length = stream.read(&mut part).expect("read");
        assert_ne!(
            length,
            0,
            "closed after {:?}",
            String::from_utf8_lossy(&all)
        );
        all.extend_from_slice(&part[..length]);
    }
    all
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Sends these bytes in parts of any size.
    fn send(&mut self, stream: &mut UnixStream, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let most = [3, 40, 100_000][self.below(3)];
            let (part, rest) = bytes.split_at(1 + self.below(most.min(bytes.len())));
            stream.write_all(part).expect("written");
            bytes = rest;
        }
    }
}

/// Commands that a client may send at any time: keys `k...` have texts, and `n...` have numbers.
fn lines() -> Vec<Vec<u8>> {
    let long = "x".repeat(251);
    let hostile =
        "get k1\r\nEND\r\nVALUE k1 0 1\r\n\u{80}\u{81}flush_all\r\nmn\r\nset k1 0 0 9\r\n";
    let store = |line: &str, value: &str| format!("{line} {}\r\n{value}\r\n", value.len());
    let meta = |key: &str, value: &str, flags: &str| {
        format!("ms {key} {} {flags}\r\n{value}\r\n", value.len())
    };
    let huge = "y".repeat(1_100_000);
    let mut lines = vec![
        store("set k1 0 0", "x"),
        store("set k2 7 100", hostile),
        store("set k3 0 0", &hostile.repeat(800)),
        store("set n1 0 0", "17"),
        store("add k1 0 0", hostile),
        store("add k4 0 0", ""),
        store("replace k4 0 0", "y"),
        store("append k1 0 0", "z"),
        store("prepend none 0 0", "z"),
        store("set k5 0 0", &huge),
        store(&format!("set {long} 0 0"), "version"),
        "cas k1 0 0 1 4711\r\nx\r\ncas none 0 0 1 1\r\nx\r\n".into(),
        "set k1 0 0 1 noreply\r\nx\r\nadd k1 0 0 2 noreply\r\nxy\r\n".into(),
        "set k1 0 0 1\r\nxyzversion\r\n".into(),
        "set k1 0 0 1 noreply\r\nxyzversion\r\n".into(),
        "set k1 0 0 1\r\nxyz?\r\n".into(),
        "set k1 0 0 abc noreply\r\nset k1 0 0\r\nset k1 0 0 1 noreply x\r\nset k1 0 0 -1\r\n".into(),
        "set k1 0 0 4294967297\r\nx\r\nset k1 0 0 +1 any\r\nx\r\n".into(),
        format!("get k1\r\nget  k1   none k2 \r\nget\r\nGET k1\r\n\r\n get k1\r\n"),
        "gets k1 k2\r\nbget k1\r\nget k1\nget k\rb\r\nget noreply\r\n".into(),
        format!("get {}\r\n", "k1 none ".repeat(500)),
        format!("gat 0 none k2\r\ngats 0 k1\r\ngat abc k1\r\ngat 0\r\n"),
        "touch k1 0\r\ntouch none 0\r\ntouch k1 0 noreply\r\ntouch k1 abc\r\ntouch k1\r\n".into(),
        format!("delete k4\r\ndelete none\r\ndelete k4 noreply\r\ndelete k4 0\r\ndelete k4 5\r\ndelete {long}\r\n"),
        "delete k4 0 noreply\r\ndelete k4 5 noreply\r\ndelete\r\n".into(),
        "incr n1 1\r\ndecr n1 1\r\nincr none 1\r\nincr n1 abc\r\nincr n1 1 noreply\r\nincr n1\r\nincr k2 1\r\n".into(),
        "incr n1 x noreply\r\ndecr none 1 noreply\r\n".into(),
        meta("k1", hostile, ""),
        meta("k1", "x", "q"),
        meta("k1", "x", "ME q O17"),
        meta("k1", "x", "C4711 q k"),
        meta("none", "x", "MR"),
        meta("k5", &huge, "q"),
        meta("k1", "flush_all", "MZ"),
        meta("k1", "flush_all", "!"),
        "ms k1\r\nms\r\nms k1 abc\r\nms k1 S1\r\nms azE= 1 b k\r\nx\r\nms k1 1\r\nxyzmn\r\n".into(),
        "mg k1 v\r\nmg none\r\nmg k1 v k q O123\r\nmg none q\r\nmg k2 q\r\nmg none v\r\nmg\r\nmg k1 !\r\n".into(),
        format!("mg k1 T300\r\nmg none T30\r\nmg k1 T300 q\r\nmg none q T30\r\nmg {long}\r\nmn\r\nme k1\r\nme none\r\n"),
        "mg none q\r\nmg k2 v\r\nget k2\r\nmg none q O1\r\nmg k1 v O2\r\nmg none\r\nmg k1 q v\r\nversion\r\n".into(),
        "md k4\r\nmd none q\r\nmd k4 q\r\nmd k1 C4711\r\nmd k1 I\r\nmd k1 q I\r\nmd\r\n".into(),
        "ma n1\r\nma n1 v\r\nma none\r\nma k2\r\nma n1 MD\r\nma n1 C4711\r\nma n1 MZ\r\nma none q\r\nma n1 q\r\nmn\r\n".into(),
        "flush_all 1000000\r\nflush_all 1000000 noreply\r\nflush_all abc\r\nverbosity 0\r\nverbosity 0 noreply\r\n".into(),
        "stats items\r\nstats foo\r\nstats settings\r\nstats detail\r\nmx\r\n".into(),
    ];
    lines.push(format!("get {}none\r\n", "k1 ".repeat(5)).repeat(30));
    lines.into_iter().map(String::into_bytes).collect()
}

pub fn packet(code: u8, key: &str, extras: &[u8], value: &str, number: u32) -> Vec<u8> {
    let body = [extras, key.as_bytes(), value.as_bytes()].concat();
    let mut bytes = vec![0x80, code];
    bytes.extend((key.len() as u16).to_be_bytes());
    bytes.extend([extras.len() as u8, 0, 0, 0]);
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

/// The same in the binary protocol.
fn packets() -> Vec<Vec<u8>> {
    let (store, time) = ([0; 8], [0, 0, 1, 0]);
    // By one, and without an initial value.
    let number = [[0, 0, 0, 0, 0, 0, 0, 1].as_slice(), &[0; 8], &[0xff; 4]].concat();
    let noop = String::from_utf8_lossy(&[0x0a; 50]).into_owned();
    let huge = "y".repeat(1_100_000);
    let mut all = Vec::new();
    for (at, quiet) in [(1, 0x11), (2, 0x12), (3, 0x13)] {
        for key in ["b1", "none"] {
            let key = if at == 3 { key } else { "b1" };
            all.push(packet(at, key, &store, "x", 5));
            all.push(packet(quiet, key, &store, &noop, 6));
        }
    }
    for key in ["b1", "missing"] {
        for code in [0x00, 0x09, 0x0c, 0x0d] {
            all.push(packet(code, key, &[], "", 7));
        }
        for code in [0x1c, 0x1d, 0x1e, 0x23, 0x24] {
            all.push(packet(code, key, &time, "", 7));
        }
        for code in [0x0e, 0x0f, 0x19, 0x1a] {
            all.push(packet(code, key, &[], "z", 8));
        }
        for code in [0x05, 0x06, 0x15, 0x16] {
            all.push(packet(code, key, &number, "", 9));
            all.push(packet(code, "n1", &number, "", 9));
        }
    }
    for code in [0x04, 0x14] {
        all.push(packet(code, "missing", &[], "", 10));
        all.push(packet(code, "b2", &[], "", 10));
        all.push(packet(1, "b2", &store, "x", 5));
    }
    all.push(packet(0x01, "b3", &store, &huge, 11));
    all.push(packet(0x11, "b3", &store, &huge, 11));
    all.push(packet(0x08, "", &[0, 0xf, 0, 0], "", 12));
    all.push(packet(0x18, "", &[0, 0xf, 0, 0], "", 12));
    all.extend([0x0a, 0x0b, 0x10].map(|code| packet(code, "", &[], "", 13)));
    all.push(packet(0x77, "", &[], "", 14));
    // More than the server executes before it serves others.
    all.push(
        (0..100)
            .flat_map(|at| packet(0x0d, ["b1", "missing"][at % 2], &[], "", at as u32))
            .collect(),
    );
    all
}

/// Rows of statements: executions, errors, rows examined, sent and affected.
struct Counted(BTreeMap<String, [u64; 5]>);

impl Counted {
    fn read(server: &Server) -> Self {
        let sql = "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS executed, SUM_ERRORS AS errors, \
                   SUM_ROWS_EXAMINED AS examined, SUM_ROWS_SENT AS sent, SUM_ROWS_AFFECTED AS affected \
                   FROM performance_schema.events_statements_summary_global_by_event_name \
                   WHERE EVENT_NAME LIKE 'statement/memcached/%' \
                   UNION ALL SELECT 'mg T', SUM(COUNT_STAR), SUM(SUM_ERRORS), SUM(SUM_ROWS_EXAMINED), \
                   SUM(SUM_ROWS_SENT), SUM(SUM_ROWS_AFFECTED) \
                   FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'mg % T?%'";
        let rows = server.rows(sql);
        let columns = ["executed", "errors", "examined", "sent", "affected"];
        let row = |row: &serde_json::Value| {
            let number = |column: &str| match &row[column] {
                serde_json::Value::String(text) => text.parse().expect("a number"),
                number => number.as_u64().unwrap_or(0),
            };
            (
                row["name"].as_str().expect("a name").to_owned(),
                columns.map(number),
            )
        };
        Self(rows.iter().map(row).collect())
    }

    fn sum(&self, column: usize, names: &[&str]) -> u64 {
        names.iter().map(|name| self.0[*name][column]).sum()
    }

    /// What the server's statistics count, by the rules of docs/anyserver-memcached.md.
    fn statistics(&self) -> BTreeMap<&'static str, u64> {
        let (get, get_and_touch) = (["get", "gets", "bget", "mg"], ["gat", "gats"]);
        let store = ["set", "add", "replace", "append", "prepend", "cas", "ms"];
        let touching = self.sum(3, &["mg T"]);
        let hits = self.sum(3, &get) - touching;
        let gets = self.sum(2, &get) - touching;
        BTreeMap::from([
            ("cmd_get", gets),
            ("get_hits", hits),
            ("get_misses", gets - hits),
            ("cmd_set", self.sum(2, &store)),
            (
                "cmd_touch",
                self.sum(2, &get_and_touch) + self.sum(2, &["touch"]) + touching,
            ),
            ("cmd_flush", self.sum(0, &["flush_all"])),
            ("deletes", self.sum(2, &["delete", "md"])),
            ("numbers", self.sum(2, &["incr", "decr", "ma"])),
        ])
    }
}

/// The same by the server itself.
fn expected(server: &Server) -> BTreeMap<&'static str, u64> {
    let own = statistics(&mut connect(server));
    let mut all: BTreeMap<&str, u64> = [
        "cmd_get",
        "get_hits",
        "get_misses",
        "cmd_set",
        "cmd_touch",
        "cmd_flush",
    ]
    .into_iter()
    .map(|name| (name, own[name]))
    .collect();
    let sum = |names: &[&str]| names.iter().map(|name| own[*name]).sum();
    all.insert("deletes", sum(&["delete_hits", "delete_misses"]));
    all.insert(
        "numbers",
        sum(&["incr_hits", "incr_misses", "decr_hits", "decr_misses"]),
    );
    all
}

pub fn connect(server: &Server) -> UnixStream {
    let stream = server.stream();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("set");
    stream
}

#[test]
fn counts_are_memcacheds_own() {
    let server = Server::memcached(&[], &["-t", "3"]);
    let (lines, packets) = (lines(), packets());
    thread::scope(|scope| {
        for client in 0..6 {
            let (server, lines, packets) = (&server, &lines, &packets);
            scope.spawn(move || {
                let mut numbers = Numbers(client);
                let mut stream = connect(server);
                let mut reader = stream.try_clone().expect("cloned");
                let is_binary = client % 2 == 1;
                let all = match is_binary {
                    true => packets,
                    false => lines,
                };
                let (end, end_reply) = end(is_binary);
                for round in 0..20 {
                    let mut bytes = Vec::new();
                    // All of them once, and then any.
                    match round {
                        0 => bytes.extend(all.concat()),
                        _ => (0..25).for_each(|_| bytes.extend(&all[numbers.below(all.len())])),
                    }
                    bytes.extend(&end);
                    let sender = scope.spawn(move || {
                        let mut numbers = Numbers(client + round);
                        numbers.send(&mut stream, &bytes);
                        stream
                    });
                    call(&mut reader, b"", &end_reply);
                    stream = sender.join().expect("sent");
                }
                // The server has left the call in which it wrote the last reply.
                call(&mut stream, &end, &end_reply);
            });
        }
    });
    check_counts(&server);
}

#[test]
fn counts_over_tls_are_memcacheds_own() {
    let server = Server::memcached_tls(&["-t", "3"]);
    for (all, is_binary) in [(lines(), false), (packets(), true)] {
        let (end, end_reply) = end(is_binary);
        let mut stream = connect(&server);
        // memcached 1.6.18 does not read on if its TLS library has read more than the server's buffer.
        for bytes in all.iter().filter(|bytes| bytes.len() < 1_000) {
            call(&mut stream, &[&bytes[..], &end].concat(), &end_reply);
        }
        call(&mut stream, &end, &end_reply);
        let sql = "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE CONNECTION_TYPE = 'SSL/TLS'";
        assert!(server.number(sql) > 0);
    }
    check_counts(&server);
}

/// A command that nothing else has, and its reply.
fn end(is_binary: bool) -> (Vec<u8>, Vec<u8>) {
    match is_binary {
        true => (
            packet(0x0a, "", &[], "", 4711),
            [
                &[0x81, 0x0a][..],
                &[0; 10],
                &4711_u32.to_be_bytes(),
                &[0; 8],
            ]
            .concat(),
        ),
        false => (b"mg none O99999\r\n".into(), b"EN O99999\r\n".into()),
    }
}

fn check_counts(server: &Server) {
    let counted = Counted::read(server);
    assert_eq!(counted.statistics(), expected(server));
    let unknown = counted.0["other"];
    assert!(unknown[0] > 0 && unknown[0] == unknown[1], "{unknown:?}");
}

#[test]
fn texts_digests_and_errors_are_recorded() {
    let server = Server::memcached(&[], &[]);
    server.execute("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'");
    let mut text = connect(&server);
    let value = "geheim geheim";
    let set = format!("set user:17:name 0 0 {}\r\n{value}\r\n", value.len());
    call(&mut text, set.as_bytes(), b"STORED\r\n");
    call(&mut text, b"get user:17:name user:18:name\r\n", b"END\r\n");
    call(
        &mut text,
        b"mg user:17:name v T30 O4711\r\n",
        b"O4711\r\ngeheim geheim\r\n",
    );
    call(&mut text, b"incr user:17:name 1\r\n", b"value\r\n");
    call(&mut text, b"geheim geheim\r\n", b"ERROR\r\n");
    let mut binary = connect(&server);
    let incr = packet(
        0x05,
        "user:19",
        &[&[0; 7][..], &[5], &[0; 8], &[0xff; 4]].concat(),
        "",
        1,
    );
    call(&mut binary, &incr, b"Not found");
    call(
        &mut binary,
        &packet(0x21, "PLAIN", &[], "\0user\0geheim", 2),
        b"command",
    );
    // The server has left the call in which it wrote the reply.
    call(&mut text, b"version\r\n", b"\r\n");
    call(
        &mut binary,
        &packet(0x0a, "", &[], "", 3),
        &[0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    let sql = "SELECT SQL_TEXT AS text, DIGEST_TEXT AS digest, ROWS_EXAMINED AS examined, ROWS_SENT AS sent, \
               ROWS_AFFECTED AS affected, MESSAGE_TEXT AS message \
               FROM performance_schema.events_statements_history_long \
               WHERE EVENT_NAME LIKE 'statement/memcached/%' AND EVENT_NAME NOT LIKE '%/version' \
               AND EVENT_NAME NOT LIKE '%/stats' AND EVENT_NAME NOT LIKE '%/noop' ORDER BY TIMER_START";
    let row = |text: &str, digest: &str, rows: [u64; 3], message: Option<&str>| {
        serde_json::json!({
            "text": text, "digest": digest, "examined": rows[0], "sent": rows[1], "affected": rows[2],
            "message": message,
        })
    };
    let number_error = "CLIENT_ERROR cannot increment or decrement non-numeric value";
    let expected = [
        row(
            "set user:17:name 0 0 13",
            "set user:?:name ?",
            [1, 0, 1],
            None,
        ),
        row(
            "get user:17:name user:18:name",
            "get user:?:name ...",
            [2, 1, 0],
            None,
        ),
        row(
            "mg user:17:name v T30 O4711",
            "mg user:?:name v T? O?",
            [1, 1, 0],
            None,
        ),
        row(
            "incr user:17:name 1",
            "incr user:?:name ?",
            [0; 3],
            Some(number_error),
        ),
        row("?", "?", [0; 3], Some("ERROR")),
        row("incr user:19 5", "incr user:? ?", [1, 0, 0], None),
        row(
            "sasl_auth PLAIN",
            "sasl_auth ?",
            [0; 3],
            Some("Unknown command"),
        ),
    ];
    assert_eq!(server.rows(sql), expected);
    let sql = "SELECT COUNT(*) AS n FROM performance_schema.threads \
               WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_COMMAND = 'Sleep' AND PROCESSLIST_HOST = 'localhost'";
    assert_eq!(server.number(sql), 2);
}

#[test]
fn commands_without_replies_end() {
    let server = Server::memcached(&[], &["-t", "1"]);
    let mut binary = connect(&server);
    let quiet = packet(0x11, "b1", &[0; 8], "x", 1).repeat(99);
    binary.write_all(&quiet).expect("written");
    let mut text = connect(&server);
    text.write_all(b"ms k1 1 q\r\nx\r\nset k2 0 0 1 noreply\r\nx\r\nmg none q\r\n")
        .expect("written");
    let sleeping = "SELECT COUNT(*) AS n FROM performance_schema.threads \
                    WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_COMMAND = 'Sleep'";
    wait_for("the commands to end", || {
        let counted = Counted::read(&server);
        let ended = [("set", 100), ("ms", 1), ("mg", 1)];
        let has_ended = ended
            .iter()
            .all(|(name, count)| counted.0[*name][0] == *count);
        (has_ended && server.number(sleeping) == 2).then_some(())
    });
    assert_eq!(Counted::read(&server).statistics(), expected(&server));
}

#[test]
fn malformed_requests_end_only_their_connections() {
    let server = Server::memcached(&[], &[]);
    let mut short_key = packet(0x00, "b1", &[], "", 1);
    short_key[3] = 99;
    let requests = [
        packet(0x00, &"k".repeat(300), &[], "", 1),
        packet(0x01, "b1", &[], "x", 1),
        packet(0x0a, "key", &[], "", 1),
        packet(0x77, "b1", &[], "x", 1),
        short_key,
        vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
        vec![b'x'; 70_000],
        b"set k1 0 0 2147483645\r\nx".to_vec(),
        [b"get ".to_vec(), b"k ".repeat(200_000)].concat(),
    ];
    let mut open = Vec::new();
    for request in requests {
        let mut stream = connect(&server);
        // The server may close the connection before it has read all.
        let _ = stream.write_all(&request);
        let _ = stream.write_all(&packet(0x0a, "", &[], "", 2));
        open.push(stream);
    }
    let mut client = connect(&server);
    for number in 0..100 {
        let set = format!("set k{number} 0 0 1\r\nx\r\n");
        assert_eq!(call(&mut client, set.as_bytes(), b"\r\n"), b"STORED\r\n");
    }
    drop(open);
    call(&mut client, b"version\r\n", b"\r\n");
    assert_eq!(Counted::read(&server).statistics()["cmd_set"], 100);
}
