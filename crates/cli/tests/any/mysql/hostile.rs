//! Clients that send what no client should, or all bytes one by one. The server answers all others, and their
//! statements count.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use mysql::prelude::Queryable;

use super::{Server, Version};
use crate::support::wait_for;

/// A packet.
fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], body].concat()
}

/// A connection by the socket, of the user `plain`, who has no password. Returns it logged in.
fn log_in(server: &Server) -> UnixStream {
    let mut stream = connect(server);
    read_packet(&mut stream);
    // The protocol of version 4.1, secure authentication, and several statements in a text.
    let capabilities = (1u32 << 9 | 1 << 15 | 1 << 16).to_le_bytes();
    let body = [&capabilities[..], &[0, 0, 0, 1, 45], &[0; 23], b"plain\0\0"].concat();
    for byte in packet(1, &body) {
        stream.write_all(&[byte]).expect("sent");
    }
    let mut answer = read_packet(&mut stream);
    let mut sequence = 3;
    // The server asks for another way to authenticate, which needs no more than an empty packet.
    while answer[0] != 0 {
        assert_ne!(answer[0], 0xff, "{answer:?}");
        stream.write_all(&packet(sequence, b"")).expect("sent");
        sequence += 2;
        answer = read_packet(&mut stream);
    }
    stream
}

fn connect(server: &Server) -> UnixStream {
    UnixStream::connect(server.directory.path().join("mysql.sock")).expect("connected")
}

fn read_packet(stream: &mut UnixStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).expect("a header");
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).expect("a body");
    body
}

fn selects(server: &Server) -> u64 {
    let sql = "SELECT COUNT_STAR AS n FROM performance_schema.events_statements_summary_by_digest \
               WHERE DIGEST_TEXT = 'SELECT ? AS `good`'";
    let row = server.rows(sql).pop();
    row.map_or(0, |row| row["n"].as_u64().expect("a number"))
}

#[test]
fn malformed_packets_end_only_the_recording_of_their_connections() {
    let server = Server::start(Version::Mariadb, &[]);
    let mut connection = server.connect();
    connection
        .query_drop("CREATE USER plain@localhost")
        .expect("a user");
    let requests: [&[u8]; 9] = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        &[0xff; 40],
        &packet(9, b"\x03SELECT 1"),
        &packet(0, b""),
        &packet(0, b"\x17"),
        &packet(0, b"\xc8x"),
        &packet(0, b"\x11\0\xff"),
        &packet(0, b"\x03SELECT \xff\xfe'\x00"),
    ];
    let mut open = Vec::new();
    for request in requests {
        for mut stream in [connect(&server), log_in(&server)] {
            // The server may have closed the connection.
            let _ = stream.write_all(request);
            let _ = stream.write_all(&packet(0, b"\x03SELECT 1 AS good"));
            open.push(stream);
        }
    }
    let before = selects(&server);
    for _ in 0..50 {
        connection.query_drop("SELECT 2 AS good").expect("answered");
    }
    // Bytes one by one, and a pipeline.
    let mut stream = log_in(&server);
    let query = packet(0, b"\x03SELECT 3 AS good; SELECT 4 AS good");
    for &byte in &query {
        stream.write_all(&[byte]).expect("sent");
    }
    stream.write_all(&query.repeat(4)).expect("sent");
    stream.write_all(&packet(0, b"\x01")).expect("sent");
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).expect("answered");
    wait_for("the statements to be counted", || {
        (selects(&server) >= before + 60).then_some(())
    });
    drop(open);
    connection.query_drop("DO 1").expect("answered");
}
