//! The MySQL door: attributes that clients send at connect have the rows of the server's own engine.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};
use support::python::program;

/// Name, value and position of an attribute.
type Row = (String, Option<String>, i64);

/// Above what MySQL stores by default, so that values of more than 1,024 characters fit.
const SIZE: usize = 3000;

/// A client that sends any bytes as its attributes.
struct Client {
    stream: UnixStream,
    /// Number of the next packet.
    sequence: u8,
    id: u64,
}

impl Client {
    /// Connects as root; `None` if the server refuses.
    fn connect(server: &Server, attributes: &[u8], collation: u8) -> Option<Self> {
        let socket = server.directory.path().join("mysql.sock");
        Self::connect_to(&socket, plugin(server.version), attributes, collation)
    }

    fn connect_to(socket: &Path, plugin: &[u8], attributes: &[u8], collation: u8) -> Option<Self> {
        let mut client = Self {
            stream: UnixStream::connect(socket).expect("connected"),
            sequence: 0,
            id: 0,
        };
        let greeting = client.read();
        let version_end = greeting.iter().position(|&byte| byte == 0).expect("a text");
        let id = greeting[version_end + 1..][..4]
            .try_into()
            .expect("4 bytes");
        client.id = u32::from_le_bytes(id).into();
        // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, CONNECT_ATTRS.
        let flags = 0x200u32 | 0x8000 | 0x8_0000 | 0x10_0000;
        let mut packet = flags.to_le_bytes().to_vec();
        packet.extend([0, 0, 0, 1, collation]);
        packet.extend([0; 23]);
        packet.extend(b"root\0\0");
        packet.extend(plugin);
        packet.extend(text(attributes));
        client.send(&packet);
        client.is_accepted().then_some(client)
    }

    /// COM_CHANGE_USER. Whether the server accepts it.
    fn change_user(&mut self, version: Version, attributes: &[u8]) -> bool {
        self.sequence = 0;
        let mut packet = b"\x11root\0\0\0".to_vec();
        packet.extend([45, 0]);
        packet.extend(plugin(version));
        packet.extend(text(attributes));
        self.send(&packet);
        self.is_accepted()
    }

    fn read(&mut self) -> Vec<u8> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).expect("a packet");
        let mut body = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.stream.read_exact(&mut body).expect("a packet");
        self.sequence = head[3].wrapping_add(1);
        body
    }

    fn send(&mut self, body: &[u8]) {
        let mut packet = (body.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(self.sequence);
        packet.extend(body);
        self.stream.write_all(&packet).expect("sent");
    }

    fn is_accepted(&mut self) -> bool {
        loop {
            match self.read()[0] {
                0 => return true,
                0xff => return false,
                // Another plugin: an empty password again.
                0xfe => self.send(&[]),
                _ => {}
            }
        }
    }
}

/// The name of the plugin with which root's empty password is sent.
fn plugin(version: Version) -> &'static [u8] {
    match version {
        Version::Mysql80 | Version::Mysql97 => b"caching_sha2_password\0",
        _ => b"mysql_native_password\0",
    }
}

/// Bytes after their length.
fn text(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len();
    let mut text = match length {
        0..=250 => vec![length as u8],
        251..=0xffff => [&[252], &(length as u16).to_le_bytes()[..]].concat(),
        _ => [&[253], &(length as u32).to_le_bytes()[..3]].concat(),
    };
    text.extend(bytes);
    text
}

fn pairs(attributes: &[(&[u8], &[u8])]) -> Vec<u8> {
    let texts = attributes.iter().flat_map(|(name, value)| [name, value]);
    texts.flat_map(|bytes| text(bytes)).collect()
}

/// `n` attributes of eight bytes.
fn numbered(n: usize) -> Vec<u8> {
    let one = |i: usize| pairs(&[(format!("{i:04}").as_bytes(), b"xy")]);
    (0..n).flat_map(one).collect()
}

/// The rows of each connection, of a stock server or one with Tare's engine.
fn all_rows(server: &Server) -> BTreeMap<u64, Vec<Row>> {
    let sql = "SELECT PROCESSLIST_ID AS id, ATTR_NAME AS name, ATTR_VALUE AS value, \
               ORDINAL_POSITION AS position FROM performance_schema.session_connect_attrs \
               ORDER BY 1, 4";
    let rows: Vec<(u64, String, Option<String>, i64)> = match server.engine {
        Engine::Tare => {
            let of = |row: serde_json::Map<String, serde_json::Value>| {
                let text = |name: &str| row[name].as_str().map(str::to_owned);
                let number = |name: &str| row[name].as_i64().expect("a number");
                let name = text("name").expect("a name");
                (number("id") as u64, name, text("value"), number("position"))
            };
            server.tare(sql).into_iter().map(of).collect()
        }
        _ => server.connect().query(sql).expect("rows"),
    };
    let mut by_connection = BTreeMap::<_, Vec<_>>::new();
    for (id, name, value, position) in rows {
        by_connection
            .entry(id)
            .or_default()
            .push((name, value, position));
    }
    by_connection
}

/// The rows of a connection.
fn rows(server: &Server, id: u64) -> Vec<Row> {
    all_rows(server).remove(&id).unwrap_or_default()
}

/// The status counters; 5.7 and MariaDB lack the first.
fn counters(server: &Server) -> (Option<u64>, u64) {
    let sql = "SHOW GLOBAL STATUS LIKE 'Performance_schema_session_connect_attrs%'";
    let all: Vec<(String, u64)> = match server.engine {
        Engine::Tare => {
            let of = |row: serde_json::Map<String, serde_json::Value>| {
                let value = row["Value"].as_str().expect("a text");
                let name = row["Variable_name"].as_str().expect("a name");
                (name.to_owned(), value.parse().expect("a number"))
            };
            server.tare(sql).into_iter().map(of).collect()
        }
        _ => server.connect().query(sql).expect("counters"),
    };
    let find = |end: &str| {
        let mut all = all.iter();
        all.find(|(name, _)| name.ends_with(end))
            .map(|(_, value)| *value)
    };
    (find("longest_seen"), find("_lost").expect("counted"))
}

/// Attributes, and a collation by which they are read.
fn cases() -> Vec<(Vec<u8>, u8)> {
    let long = [b'v'; 1500];
    let utf8 = "\u{e9}".repeat(1100);
    let mut cases = vec![
        pairs(&[(b"b", b"1"), (b"a", b"2"), (b"c", b"")]),
        pairs(&[(b"a", b"1"), (b"a", b"2")]),
        pairs(&[(b"a\nb", b"c\nd"), (b"a=b", b"c=d")]),
        pairs(&[(&[b'n'; 32], b"v"), (&[b'n'; 33], &long), (b"z", b"9")]),
        pairs(&[("\u{e9}".repeat(33).as_bytes(), utf8.as_bytes())]),
        pairs(&[(b"a", b"1"), (b"", b"2"), (b"c", b"3")]),
        [&pairs(&[(b"a", b"1")])[..], b"\x20abc"].concat(),
        [&pairs(&[(b"a", b"1")])[..], b"\xff\xff"].concat(),
        [&pairs(&[(b"a", b"1")])[..], b"\x01q\xfb\x01c\x01d"].concat(),
        Vec::new(),
        pairs(&[(b"a", &[b'v'; SIZE - 5])]),
        pairs(&[(b"a", b"1"), (b"b", &[b'v'; 65_526])]),
        numbered(8191),
    ];
    cases.extend([0, 1, 2, 60, 700].map(|more| {
        let mut bytes = numbered(SIZE / 8);
        bytes.extend(numbered(more));
        bytes
    }));
    let in_utf8 = cases.into_iter().map(|bytes| (bytes, 45));
    let others = [
        (pairs(&[(b"caf\xe9", b"\xfcber")]), 8),
        (pairs(&[(b"\xce\xc4", b"\xd6\xd0")]), 28),
        (pairs(&[(&[0xe9; 33], &[0xe9; 1100])]), 8),
    ];
    in_utf8.chain(others).collect()
}

/// Compares a stock server with one that has Tare's engine.
fn check_attributes(version: Version) {
    if version.is_left_out() {
        return;
    }
    let option = format!("--performance-schema-session-connect-attrs-size={SIZE}");
    let [stock, tare] = [Engine::StockDefaults, Engine::Tare]
        .map(|engine| Server::start(version, engine, &[&option]));
    let connect = |attributes: &[u8], collation| {
        let both = [&stock, &tare].map(|server| Client::connect(server, attributes, collation));
        match both {
            [Some(stock), Some(tare)] => Some([stock, tare]),
            [None, None] => None,
            _ => panic!("{version}: one accepts {} bytes", attributes.len()),
        }
    };
    let before = counters(&tare).1;
    // Sessions at the same time, each of which has its own rows.
    let mut clients = Vec::new();
    for (attributes, collation) in cases() {
        clients.push(connect(&attributes, collation).expect("accepted"));
    }
    let (of_stock, of_tare) = (all_rows(&stock), all_rows(&tare));
    for ([stock, tare], (attributes, _)) in clients.iter().zip(cases()) {
        let start = &attributes[..attributes.len().min(20)];
        let expected = of_stock.get(&stock.id);
        assert_eq!(of_tare.get(&tare.id), expected, "{version}: {start:?}");
    }
    assert!(of_stock.values().map(Vec::len).sum::<usize>() > 1000);
    assert!(connect(&pairs(&[(b"a", &[b'v'; 65_532])]), 45).is_none());
    check_change_of_user(&stock, &tare, connect(b"", 45).expect("accepted"));
    check_large_in_the_middle(&tare);
    let (longest, lost) = counters(&stock);
    let (tares_longest, tares_lost) = counters(&tare);
    assert_eq!(longest.unwrap_or(65_535), tares_longest.expect("counted"));
    // One more above.
    assert_eq!(lost + 1, tares_lost - before, "{version}");
    check_warnings(&stock, &tare);
    check_clients(&stock, &tare);
    drop(clients);
    // The slots of these sessions are used again.
    let client = Client::connect(&tare, &pairs(&[(b"x", b"1")]), 45).expect("accepted");
    let row = |name: &str, value: &str, at| (name.to_owned(), Some(value.to_owned()), at);
    assert_eq!(rows(&tare, client.id), [row("x", "1", 0)]);
    stock.stop();
    tare.stop();
}

/// COM_CHANGE_USER replaces the attributes.
fn check_change_of_user(stock: &Server, tare: &Server, both: [Client; 2]) {
    let version = stock.version;
    // 5.6 and 5.7 want a password's answer that this client does not send.
    if matches!(version, Version::Mysql56 | Version::Mysql57) {
        return;
    }
    let [mut of_stock, mut of_tare] = both;
    for attributes in [
        pairs(&[(b"b", b"2")]),
        numbered(400),
        pairs(&[(b"c", b"3")]),
        Vec::new(),
    ] {
        for client in [&mut of_stock, &mut of_tare] {
            assert!(client.change_user(version, &attributes), "{version}");
        }
        let expected = rows(stock, of_stock.id);
        assert_eq!(rows(tare, of_tare.id), expected, "{version}");
    }
}

/// The one difference: an attribute that is too large does not lose those behind it.
fn check_large_in_the_middle(tare: &Server) {
    let attributes = pairs(&[(b"a", b"1"), (b"large", &[b'v'; 5000]), (b"z", b"9")]);
    let client = Client::connect(tare, &attributes, 45).expect("accepted");
    let names: Vec<String> = (rows(tare, client.id).into_iter())
        .map(|(name, ..)| name)
        .collect();
    match tare.version {
        Version::Mysql80 | Version::Mysql97 => assert_eq!(names, ["_truncated", "a", "z"]),
        _ => assert_eq!(names, ["a", "z"]),
    }
}

/// A server writes a warning to its log if its engine reports that attributes were lost.
fn check_warnings(stock: &Server, tare: &Server) {
    let warnings = |server: &Server| {
        let log = server.log();
        let lines = log
            .lines()
            .filter_map(|line| line.split_once("Connection attributes of "));
        let text = |(_, line): (_, &str)| line.split(" for connection").next().map(str::to_owned);
        lines.filter_map(text).collect::<Vec<_>>()
    };
    let mut of_tare = warnings(tare);
    // That of the large one in the middle.
    assert!(
        of_tare
            .pop()
            .is_some_and(|line| line.starts_with("length 5017 "))
    );
    assert_eq!(of_tare, warnings(stock), "{}", stock.version);
}

/// Dropping it ends the program.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// PyMySQL and both kinds of mysql-connector.
fn check_clients(stock: &Server, tare: &Server) {
    let mut command = program("attributes.py");
    for server in [stock, tare] {
        command.arg(server.directory.path().join("mysql.sock"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut held = Held(command.spawn().expect("python starts"));
    let output = BufReader::new(held.0.stdout.take().expect("a pipe"));
    let ids: Vec<u64> = (output.lines().take(6))
        .map(|line| line.expect("a line").parse().expect("a number"))
        .collect();
    assert_eq!(ids.len(), 6);
    let (of_stock, of_tare) = (all_rows(stock), all_rows(tare));
    for client in 0..3 {
        let expected = &of_stock[&ids[client]];
        assert!(expected.len() >= 4, "{expected:?}");
        assert_eq!(&of_tare[&ids[3 + client]], expected, "{}", stock.version);
    }
}

/// `tare serve` with space for all that a client may send.
#[test]
fn tare_serve_stores_64_kib() {
    let option = "--performance-schema-session-connect-attrs-size=65536";
    let server = support::server::Server::tare(&[option]);
    let mut root = server.connect();
    let size: Option<String> = root
        .query_first("SELECT @@performance_schema_session_connect_attrs_size")
        .expect("a value");
    assert_eq!(size.as_deref(), Some("65536"));
    let plugin = plugin(Version::Mysql97);
    let connect = |attributes: &[u8]| {
        Client::connect_to(server.socket(), plugin, attributes, 45).expect("accepted")
    };
    let mut counters = |statement: &str| {
        root.query_drop(statement).expect(statement);
        let sql = "SHOW GLOBAL STATUS LIKE 'Performance_schema_session_connect_attrs%'";
        let all: Vec<(String, u64)> = root.query(sql).expect("counters");
        all.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    let client = connect(&numbered(8191));
    let sql = format!(
        "SELECT COUNT(*), MIN(ATTR_VALUE), MAX(ORDINAL_POSITION) FROM \
         performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = {}",
        client.id
    );
    let row: Option<(u64, String, u64)> = server.connect().query_first(sql).expect("a row");
    assert_eq!(row, Some((8191, "xy".to_owned(), 8190)));
    assert_eq!(counters("DO 0"), [65_528, 0]);
    assert_eq!(counters("FLUSH STATUS"), [0, 0]);
    let _other = connect(&pairs(&[(b"a", b"1")]));
    assert_eq!(counters("DO 0"), [4, 0]);
}

#[test]
fn mysql_9_7() {
    check_attributes(Version::Mysql97);
}

#[test]
#[ignore = "MySQL 5.7 is left to make test-long"]
fn mysql_5_7() {
    check_attributes(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0() {
    check_attributes(Version::Mysql80);
}

#[test]
#[ignore = "MySQL 5.6 is left to make test-long"]
fn mysql_5_6() {
    check_attributes(Version::Mysql56);
}

#[test]
fn mariadb_11_4() {
    check_attributes(Version::Mariadb114);
}

#[test]
#[ignore = "MariaDB 11.8 is left to make test-long"]
fn mariadb_11_8() {
    check_attributes(Version::Mariadb118);
}
