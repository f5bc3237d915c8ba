//! Bytes that are no messages of the protocol, or never end.

use std::io::{Read as _, Write as _};

use super::client::{Client, execute, extended, message, query, startup, sync};
use super::{counts, difference};
use crate::postgres::Postgres;

#[test]
fn what_is_no_message_ends_only_its_connection() {
    let server = Postgres::start(&["authentication_timeout=2"]);
    let hello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    let long = vec![b'x'; 100_000];
    let no_length = [&startup("postgres")[..], b"Q\xff\xff\xff\xff"].concat();
    let starts: [&[u8]; 8] = [
        &hello,
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\x08\x04\xd2\x16\x2e",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"\xff\xff\xff\xff\0\x03\0\0",
        b"\0\0\0\x09\0\x02\0\0x",
        &long,
        &no_length,
    ];
    let mut open = Vec::new();
    for start in starts {
        let mut client = Client::connect(&server);
        // The server may close the connection before it has read everything.
        _ = client.stream.write_all(start);
        open.push(client);
    }
    let zero = [0; 3];
    for body in [
        message(b'!', b""),
        b"Q\0\0\0\x03".to_vec(),
        message(b'Q', b"SELECT 1"),
        message(b'P', b"no zero"),
        message(b'B', b"\0\0\0\xff\xff\xff"),
        message(b'E', b""),
        message(b'D', b"X\0"),
        message(b'F', b"\xff"),
        [
            message(b'c', b""),
            message(b'f', b""),
            message(b'd', &long),
            sync(),
        ]
        .concat(),
        [
            execute("nothing", 7),
            execute("nothing", 7),
            sync(),
            sync(),
            message(b'X', b""),
        ]
        .concat(),
        [&b"d"[..], &[0x7f; 4], &zero].concat(),
    ] {
        let mut client = Client::login(&server);
        _ = client.stream.write_all(&body);
        open.push(client);
    }
    // The replies to a pipeline without end are not read.
    let mut hostile = Client::login(&server);
    hostile.stream.set_nonblocking(true).expect("set");
    let pipeline = [
        extended("SELECT 'a', 1 / 0; --"),
        sync(),
        query("SELECT 1; SELECT 2"),
    ]
    .concat();
    let pipeline = pipeline.repeat(1000);
    while hostile.stream.write_all(&pipeline).is_ok() {}

    let before = counts(&server);
    let mut client = Client::login(&server);
    for _ in 0..100 {
        assert_eq!(client.call(&query("SELECT 1; VALUES (2)")), "CCZ");
    }
    let after = difference(&before, &counts(&server));
    assert!(after["select"].0 >= 200, "{after:?}");
    drop((open, hostile));
    // Direct requests for encryption: the server has none, and goes on without it.
    let mut client = Client::connect(&server);
    for code in [b"\0\0\0\x08\x04\xd2\x16\x30", b"\0\0\0\x08\x04\xd2\x16\x2f"] {
        client.send(code);
        let mut answer = [0];
        client.stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"N");
    }
    client.call(&startup("postgres"));
    assert_eq!(client.call(&query("LISTEN encryption")), "CZ");
    assert_eq!(counts(&server)["listen"].0, 1);
}
