//! A client that writes and reads PostgreSQL's protocol itself.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::postgres::Postgres;
use crate::tls;

/// A connection.
pub struct Client {
    pub stream: UnixStream,
}

pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// A query of the simple protocol.
pub fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

pub fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

pub fn bind(portal: &str, statement: &str, parameters: &[&str]) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0\0\0").into_bytes();
    body.extend((parameters.len() as u16).to_be_bytes());
    for parameter in parameters {
        body.extend((parameter.len() as u32).to_be_bytes());
        body.extend(parameter.as_bytes());
    }
    body.extend([0, 0]);
    message(b'B', &body)
}

/// `rows`: the most that are sent, 0 = all.
pub fn execute(portal: &str, rows: u32) -> Vec<u8> {
    let portal = [portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat();
    message(b'E', &portal)
}

/// A statement by the unnamed prepared statement and portal.
pub fn extended(sql: &str) -> Vec<u8> {
    [parse("", sql), bind("", "", &[]), execute("", 0)].concat()
}

/// Begins a session of `postgres` in this database.
pub fn startup(database: &str) -> Vec<u8> {
    let body = format!("user\0postgres\0database\0{database}\0\0");
    let length = (body.len() as u32 + 8).to_be_bytes();
    [&length[..], &(3u32 << 16).to_be_bytes(), body.as_bytes()].concat()
}

pub fn sync() -> Vec<u8> {
    message(b'S', b"")
}

impl Client {
    /// A connection without a session.
    pub fn connect(server: &Postgres) -> Self {
        let socket = server.directory.path().join(".s.PGSQL.5432");
        let stream = match server.port {
            None => UnixStream::connect(socket).ok(),
            Some(port) => tls::connect(port, &["-starttls", "postgres"]),
        };
        let stream = stream.expect("connected");
        let timeout = Some(Duration::from_secs(60));
        stream.set_read_timeout(timeout).expect("a time limit");
        Self { stream }
    }

    /// A session of `postgres` in `postgres`.
    pub fn login(server: &Postgres) -> Self {
        let mut client = Self::connect(server);
        client.call(&startup("postgres"));
        client
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("written");
    }

    /// The types of the messages up to ReadyForQuery, but rows and their descriptions.
    pub fn read(&mut self) -> String {
        self.read_to(b'Z')
    }

    pub fn read_to(&mut self, end: u8) -> String {
        let mut kinds = String::new();
        loop {
            let mut header = [0; 5];
            self.stream.read_exact(&mut header).expect("a message");
            let [kind, length @ ..] = header;
            let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
            self.stream.read_exact(&mut body).expect("its body");
            if !b"DTNRSKt".contains(&kind) {
                kinds.push(char::from(kind));
            }
            if kind == end {
                return kinds;
            }
        }
    }

    /// Sends bytes. Returns what is read.
    pub fn call(&mut self, bytes: &[u8]) -> String {
        self.send(bytes);
        self.read()
    }
}
