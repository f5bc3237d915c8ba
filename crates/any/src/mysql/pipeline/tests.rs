//! Tests of [`Connection`].

use super::super::login::tests::{greeting, response};
use super::super::packets::packet;
use super::super::running::log;
use super::*;
use crate::session::Address;

const USUAL: u64 = has::PROTOCOL_41
    | has::SECURE_CONNECTION
    | has::CONNECT_WITH_DB
    | has::PLUGIN_AUTH
    | has::MULTI_STATEMENTS
    | has::SESSION_TRACK;
const OK: &[u8] = b"\x00\x00\x00\x02\x00\x00\x00";

/// What one side sends.
#[derive(Clone, Debug)]
enum Side {
    Client(Vec<u8>),
    Server(Vec<u8>),
}
use Side::{Client, Server};

fn connection() -> Connection {
    super::super::classes::create();
    Connection::new(Session::new(&Address::Unix, false)).expect("created")
}

/// A connection that has logged in.
fn logged_in(capabilities: u64) -> Connection {
    let mut connection = connection();
    for side in login(capabilities) {
        feed(&mut connection, &side, usize::MAX);
    }
    assert!(!connection.is_lost && connection.client.phase == Phase::Commands);
    connection
}

fn login(capabilities: u64) -> Vec<Side> {
    vec![
        Server(packet(0, &greeting("9.7.4", capabilities))),
        Client(packet(1, &response(capabilities, "ann", "shop"))),
        Server(packet(2, b"\x01\x04")),
        Client(packet(3, b"a secret")),
        Server(packet(4, OK)),
    ]
}

/// Passes on what a side sends, in parts of this size.
fn feed(connection: &mut Connection, side: &Side, size: usize) {
    let (Client(bytes) | Server(bytes)) = side;
    for part in bytes.chunks(size) {
        if connection.is_lost {
            return;
        }
        match side {
            Client(_) => connection.receive(part),
            Server(_) => connection.send(part),
        }
    }
}

fn query(text: &str) -> Side {
    Client(packet(0, &[b"\x03", text.as_bytes()].concat()))
}

/// An OK packet with these rows affected, and this status.
fn ok(affected: u8, status: u16) -> Vec<u8> {
    let [low, high] = status.to_le_bytes();
    vec![0, affected, 0, low, high, 0, 0]
}

/// The end of rows.
fn end(capabilities: u64, status: u16) -> Vec<u8> {
    let [low, high] = status.to_le_bytes();
    match capabilities & has::DEPRECATE_EOF {
        0 => vec![0xfe, 1, 0, low, high],
        _ => vec![0xfe, 0, 0, low, high, 1, 0],
    }
}

/// A result set of one column and these rows.
fn result_set(capabilities: u64, rows: &[&[u8]], status: u16) -> Vec<Vec<u8>> {
    let mut packets = vec![vec![1], b"\x03def definition".to_vec()];
    if capabilities & has::DEPRECATE_EOF == 0 {
        packets.push(end(capabilities, 0));
    }
    packets.extend(rows.iter().map(|row| row.to_vec()));
    packets.push(end(capabilities, status));
    packets
}

fn server(packets: &[Vec<u8>]) -> Side {
    let numbered = packets.iter().enumerate();
    Server(
        numbered
            .flat_map(|(number, body)| packet(number as u8 + 1, body))
            .collect(),
    )
}

const MORE: u16 = status::MORE_RESULTS;

/// Texts with one statement or several, and their results.
fn texts(capabilities: u64) -> Vec<Side> {
    let set = |rows: &[&[u8]], status| result_set(capabilities, rows, status);
    let has_eof = capabilities & has::DEPRECATE_EOF == 0;
    // A row whose first byte is that of an end, by the length of its first column.
    let long = [&b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00"[..], &[b'x'; 300]].concat();
    let rows: &[&[u8]] = match has_eof {
        true => &[b"\x01a", b"\xfb", &long, b"\x00"],
        false => &[b"\x01a", b"\xfb", b"\x01b", b"\x00"],
    };
    vec![
        query("SELECT a FROM t"),
        server(&set(rows, 2)),
        query("INSERT INTO t VALUES (1); SELECT 1; UPDATE t SET a = 2"),
        server(&[&[ok(1, MORE)][..], &set(&[b"\x011"], MORE), &[ok(3, 2)]].concat()),
        query("CALL p(); SELECT 1; "),
        server(
            &[
                set(&[b"\x011"], MORE),
                set(&[b"\x011", b"\x012"], MORE),
                vec![ok(0, MORE)],
                set(&[b"\x011"], 2),
            ]
            .concat(),
        ),
        query("SELEC 1"),
        server(&[b"\xff\x28\x04#42000near 'SELEC'".to_vec()]),
        query("SELECT 1; SELECT f(); SELECT 3"),
        server(
            &[
                set(&[b"\x011"], MORE),
                vec![b"\xff\x51\x04#HY000no".to_vec()],
            ]
            .concat(),
        ),
        // An error behind rows.
        query("SELECT b FROM t"),
        server(
            &[
                &set(&[b"\x011", b"\x012"], 2)[..4 + usize::from(has_eof)],
                &[b"\xff\x25\x05#70100killed".to_vec()],
            ]
            .concat(),
        ),
        query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"),
        server(&[b"\xfbf".to_vec()]),
        Client(
            [
                packet(2, b"\x03SELECT 1\n"),
                packet(0, b"\x03x"),
                packet(4, b""),
            ]
            .concat(),
        ),
        Server(packet(5, &ok(2, 2))),
    ]
}

/// Prepared statements.
fn prepared(capabilities: u64) -> Vec<Side> {
    let mut prepared = vec![b"\x00\x07\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00".to_vec()];
    for definitions in [2, 1] {
        prepared.extend(vec![b"\x03def definition".to_vec(); definitions]);
        if capabilities & has::DEPRECATE_EOF == 0 {
            prepared.push(end(capabilities, 0));
        }
    }
    let execute = Client(packet(0, b"\x17\x07\x00\x00\x00\x00\x01\x00\x00\x00"));
    vec![
        Client(packet(0, b"\x16SELECT ? + ?")),
        server(&prepared),
        execute.clone(),
        server(&result_set(capabilities, &[b"\x00\x00\x01"], 2)),
        Client(packet(0, b"\x18\x07\x00\x00\x00\x00\x00long data")),
        // A cursor: rows follow when they are fetched.
        execute,
        server(
            &[
                vec![vec![1], b"\x03def definition".to_vec()],
                vec![end(capabilities, status::CURSOR_EXISTS)],
            ]
            .concat(),
        ),
        Client(packet(0, b"\x1c\x07\x00\x00\x00\x0a\x00\x00\x00")),
        server(&[
            b"\x00\x00\x01".to_vec(),
            b"\x00\x00\x02".to_vec(),
            end(capabilities, 2),
        ]),
        Client(packet(0, b"\x1a\x07\x00\x00\x00")),
        server(&[OK.to_vec()]),
    ]
}

/// Other commands.
fn commands(capabilities: u64) -> Vec<Side> {
    vec![
        // Commands without a reply, and one with.
        Client([packet(0, b"\x19\x07\x00\x00\x00"), packet(0, b"\x0e")].concat()),
        server(&[OK.to_vec()]),
        Client(packet(0, b"\x02other")),
        server(&[OK.to_vec()]),
        Client(packet(0, b"\x04t\0%")),
        server(&[b"\x03def definition".to_vec(), end(capabilities, 2)]),
        Client(packet(0, b"\x09")),
        server(&[b"Uptime: 1".to_vec()]),
        Client(packet(0, b"\x11bob\0\x03xyzmine\0\x2d\0plugin\0")),
        Server(packet(1, b"\xfeplugin\0challenge")),
        Client(packet(2, b"\x03SELECT 1")),
        Server(packet(3, OK)),
        Client(packet(0, b"\x1f")),
        server(&[OK.to_vec()]),
        // MariaDB reports progress.
        query("ALTER TABLE t ADD b INT"),
        server(&[b"\xff\xff\xff\x01\x02\x03".to_vec(), ok(0, 2)]),
        query("USE `a``b`"),
        server(&[b"\x00\x00\x00\x02\x40\x00\x00\x00\x06\x01\x04\x03a`b".to_vec()]),
        Client(packet(0, b"\x01")),
    ]
}

/// An exchange with commands of all kinds, and the statements in it.
fn exchange(capabilities: u64) -> (Vec<Side>, Vec<&'static str>) {
    let sides = [
        login(capabilities),
        texts(capabilities),
        prepared(capabilities),
        commands(capabilities),
    ];
    let statements = vec![
        "sql/select [SELECT a FROM t] [4, 0, 1]",
        "sql/insert [INSERT INTO t VALUES (1)] [0, 1, 0]",
        "sql/select [SELECT 1] [1, 0, 1]",
        "sql/update [UPDATE t SET a = 2] [0, 3, 0]",
        "sql/call_procedure [CALL p()] [3, 0, 0]",
        "sql/select [SELECT 1] [1, 0, 1]",
        "abstract/Query [SELEC 1] [error 1064] [0, 0, 0]",
        "sql/select [SELECT 1] [1, 0, 1]",
        "sql/select [SELECT f()] [error 1105] [0, 0, 0]",
        "sql/select [SELECT b FROM t] [error 1317] [2, 0, 0]",
        "sql/load [LOAD DATA LOCAL INFILE 'f' INTO TABLE t] [0, 2, 0]",
        "com/Prepare [SELECT ? + ?] [0, 0, 0]",
        "com/Execute [SELECT ? + ?] [1, 0, 1]",
        "com/Long Data [SELECT ? + ?] [0, 0, 0]",
        "com/Execute [SELECT ? + ?] [0, 0, 1]",
        "com/Fetch [SELECT ? + ?] [2, 0, 1]",
        "com/Reset stmt [0, 0, 0]",
        "com/Close stmt [SELECT ? + ?] [0, 0, 0]",
        "com/Ping [0, 0, 0]",
        "com/Init DB [0, 0, 0]",
        "com/Field List [0, 0, 1]",
        "com/Statistics [0, 0, 0]",
        "com/Change user [0, 0, 0]",
        "com/Reset Connection [0, 0, 0]",
        "sql/alter_table [ALTER TABLE t ADD b INT] [0, 0, 0]",
        "sql/change_db [USE `a``b`] [0, 0, 0]",
        "com/Quit [0, 0, 0]",
    ];
    (sides.concat(), statements)
}

#[test]
fn parts_of_any_size_give_the_same_statements() {
    for capabilities in [USUAL, USUAL | has::DEPRECATE_EOF] {
        let (sides, expected) = exchange(capabilities);
        let longest = sides
            .iter()
            .map(|(Client(bytes) | Server(bytes))| bytes.len());
        let longest = longest.max().expect("some");
        for size in 1..=longest {
            let mut connection = connection();
            for side in &sides {
                feed(&mut connection, side, size);
            }
            assert!(!connection.is_lost, "parts of {size}");
            assert_eq!(log::take(), expected, "parts of {size}");
            assert_eq!(connection.client.database(), "a`b");
            assert_eq!(connection.stored, 0);
            assert!(connection.pending.is_empty() && connection.prepared.is_empty());
        }
    }
}

#[test]
fn each_split_of_the_exchange_gives_the_same_statements() {
    let (sides, expected) = exchange(USUAL);
    for (number, side) in sides.iter().enumerate() {
        let (Client(bytes) | Server(bytes)) = side;
        for at in 1..bytes.len() {
            let mut connection = connection();
            for (other, side) in sides.iter().enumerate() {
                let size = match other == number {
                    true => at,
                    false => usize::MAX,
                };
                feed(&mut connection, side, size);
            }
            assert_eq!(log::take(), expected, "side {number} at {at}");
        }
    }
}

#[test]
fn pipelined_commands_end_in_their_order() {
    let mut connection = logged_in(USUAL);
    let Client(queries) = query("SELECT 1") else {
        return;
    };
    feed(&mut connection, &Client(queries.repeat(3)), usize::MAX);
    assert_eq!(connection.pending.len(), 3);
    for _ in 0..3 {
        feed(
            &mut connection,
            &server(&result_set(USUAL, &[b"\x011"], 2)),
            7,
        );
    }
    assert_eq!(log::take(), ["sql/select [SELECT 1] [1, 0, 1]"; 3]);
    assert_eq!((connection.pending.len(), connection.stored), (0, 0));
}

#[test]
fn what_is_not_understood_ends_the_recording() {
    let cases: [(Side, &str); 8] = [
        (
            Client(packet(5, b"\x03SELECT 1")),
            "a wrong sequence number",
        ),
        (Client(packet(0, b"")), "no command"),
        (Client(packet(0, b"\x17")), "no statement"),
        (Client(packet(0, b"\x12\0\0\0\0")), "a stream of events"),
        (Server(packet(0, OK)), "no command"),
        (
            Server(packet(0, b"\xff\xbf\x0f#HY000timeout")),
            "no command",
        ),
        (Client(packet(0, b"\x11\0\xffx")), "no user"),
        (
            Client([packet(0, b"\x0e"), packet(0, b"\x11bob\0\0\0")].concat()),
            "a user behind another command",
        ),
    ];
    for (side, why) in cases {
        let mut connection = logged_in(USUAL);
        feed(&mut connection, &side, usize::MAX);
        assert!(connection.is_lost, "{why}");
    }
    log::take();
    // Compression, TLS that is not seen, and other protocols.
    let compressed = USUAL | has::COMPRESS;
    let mut connection = connection();
    for side in login(compressed) {
        feed(&mut connection, &side, usize::MAX);
    }
    assert!(connection.is_lost);
    let tls = USUAL | has::TLS;
    let mut connection = self::connection();
    feed(
        &mut connection,
        &Server(packet(0, &greeting("9.7.4", tls))),
        usize::MAX,
    );
    let request = packet(1, &response(tls, "", "")[..32]);
    feed(&mut connection, &Client(request.clone()), usize::MAX);
    assert!(!connection.is_lost && connection.client.phase == Phase::Tls);
    feed(
        &mut connection,
        &Client(b"\x16\x03\x01".to_vec()),
        usize::MAX,
    );
    assert!(connection.is_lost);
    for side in [
        Client(b"PROXY TCP4".to_vec()),
        Server(packet(0, b"\x0bhello")),
    ] {
        let mut connection = self::connection();
        feed(&mut connection, &side, usize::MAX);
        assert!(connection.is_lost);
    }
    assert!(log::take().is_empty());
}

#[test]
fn a_session_begins_within_tls() {
    let tls = USUAL | has::TLS;
    let mut connection = connection();
    feed(
        &mut connection,
        &Server(packet(0, &greeting("9.7.4", tls))),
        usize::MAX,
    );
    feed(
        &mut connection,
        &Client(packet(1, &response(tls, "", "")[..32])),
        usize::MAX,
    );
    connection.encrypt();
    feed(
        &mut connection,
        &Client(packet(2, &response(tls, "ann", "shop"))),
        usize::MAX,
    );
    feed(&mut connection, &Server(packet(3, OK)), usize::MAX);
    assert!(!connection.is_lost && connection.client.phase == Phase::Commands);
    // Encryption that the protocol does not announce.
    let mut connection = logged_in(USUAL);
    connection.encrypt();
    assert!(connection.is_lost);
}

#[test]
fn a_long_text_is_one_statement_and_what_follows_it_has_no_text() {
    let mut connection = logged_in(USUAL);
    let text = format!("INSERT INTO t VALUES ('{}')", "x".repeat(17 << 20));
    let body = [b"\x03", text.as_bytes()].concat();
    let (first, second) = body.split_at(0xff_ffff);
    let bytes = [packet(0, first), packet(1, second)].concat();
    feed(&mut connection, &Client(bytes), 16_384);
    assert!(connection.stored <= MAX_TEXT_BYTES);
    feed(
        &mut connection,
        &server(&[ok(1, MORE), ok(1, 2)]),
        usize::MAX,
    );
    let ended = log::take();
    assert_eq!(ended.len(), 2);
    assert!(ended[0].starts_with("sql/insert") && ended[1] == "abstract/Query [0, 1, 0]");
}

#[test]
fn a_client_that_reads_no_reply_takes_bounded_memory() {
    let mut connection = logged_in(USUAL);
    let Client(long) = query(&"x".repeat(60_000)) else {
        return;
    };
    for number in 0..MAX_PENDING {
        feed(&mut connection, &Client(long.clone()), usize::MAX);
        assert_eq!(connection.pending.len(), number + 1);
    }
    assert!(connection.stored <= MAX_STORED_BYTES);
    feed(&mut connection, &Client(long), usize::MAX);
    assert!(connection.is_lost && connection.pending.capacity() == 0);
    log::take();
}

#[test]
fn texts_in_some_character_sets_are_not_read() {
    let mut connection = logged_in(USUAL);
    feed(&mut connection, &query("SET NAMES gbk"), usize::MAX);
    feed(&mut connection, &server(&[ok(0, 2)]), usize::MAX);
    feed(
        &mut connection,
        &query("SELECT '\u{6587}'; SELECT 1"),
        usize::MAX,
    );
    feed(
        &mut connection,
        &server(&[ok(0, MORE), ok(0, 2)]),
        usize::MAX,
    );
    assert_eq!(log::take()[1..], ["abstract/Query [0, 0, 0]"]);
}

#[test]
fn any_bytes_are_read_without_a_panic() {
    // A generator of its own, so that each run reads the same bytes.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let (sides, _) = exchange(USUAL);
    for _ in 0..4_000 {
        let mut connection = connection();
        for side in &sides {
            let mut side = side.clone();
            let (Client(bytes) | Server(bytes)) = &mut side;
            // Some bytes of the exchange are others.
            if random(4) == 0 {
                let at = random(bytes.len() as u64) as usize;
                bytes[at] = random(256) as u8;
            }
            if random(40) == 0 {
                bytes.truncate(random(bytes.len() as u64) as usize);
            }
            feed(&mut connection, &side, 1 + random(64) as usize);
        }
        connection.lose_track();
        assert!(connection.pending.capacity() == 0);
    }
    log::take();
}
