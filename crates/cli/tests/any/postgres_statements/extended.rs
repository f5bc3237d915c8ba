//! Statements of the extended protocol, alone and in pipelines, COPY, and errors.

use super::client::{Client, bind, execute, extended, message, parse, query, sync};
use super::{Counts, counts, difference, expect};
use crate::postgres::Postgres;

#[test]
fn statements_of_the_extended_protocol_end_with_their_replies() {
    let server = Postgres::start(&["autovacuum=off"]);
    let mut client = Client::login(&server);
    let table = "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); \
                 SELECT 1;; INSERT INTO t VALUES (1)";
    assert_eq!(client.call(&query(table)), "CCCZ");
    let mut before = Counts::new();
    let mut gained = |client: &mut Client| {
        // The server writes a reply before it is counted. It reads the next request afterwards.
        assert_eq!(client.call(&sync()), "Z");
        let after = counts(&server);
        difference(&std::mem::replace(&mut before, after.clone()), &after)
    };
    gained(&mut client);

    // Several in a pipeline, in one write and byte by byte.
    let insert = [
        parse("i", "INSERT INTO t VALUES ($1)"),
        bind("", "i", &["2"]),
        execute("", 0),
    ]
    .concat();
    let pipeline = [
        &insert[..],
        &bind("", "i", &["3"]),
        &execute("", 0),
        &extended("SELECT * FROM t"),
        &extended(""),
        &sync(),
        &extended("SELECT 1"),
        &sync(),
    ]
    .concat();
    client.send(&pipeline);
    assert_eq!(
        (client.read(), client.read()),
        ("12C2C12C12IZ".into(), "12CZ".into())
    );
    for byte in [extended("DELETE FROM t WHERE id = 3"), sync()].concat() {
        client.send(&[byte]);
    }
    assert_eq!(client.read(), "12CZ");
    assert_eq!(
        gained(&mut client),
        expect(&[
            ("insert", (2, 0, 0, 2)),
            ("select", (2, 0, 4, 0)),
            ("empty_query", (1, 0, 0, 0)),
            ("delete", (1, 0, 0, 1)),
        ])
    );

    // After an error the server skips what follows, up to a Sync. Names are as before.
    let skipped = [
        extended("SELECT 1 / 0"),
        parse("s", "UPDATE t SET id = 1"),
        execute("i", 0),
        sync(),
    ]
    .concat();
    let after = [
        parse("s", "SELECT 5"),
        bind("p", "s", &[]),
        execute("p", 0),
        sync(),
    ]
    .concat();
    client.send(&[skipped, after].concat());
    assert_eq!(
        (client.read(), client.read()),
        ("1EZ".into(), "12CZ".into())
    );
    assert_eq!(
        client.call(&[parse("", "SELEC"), extended("SELECT 1"), sync()].concat()),
        "EZ"
    );
    assert_eq!(
        client.call(&[bind("", "nothing", &[]), sync()].concat()),
        "EZ"
    );
    // A constraint that is checked at the end, which Sync is.
    assert_eq!(
        client.call(&[extended("INSERT INTO t VALUES (1)"), sync()].concat()),
        "12CEZ"
    );
    assert_eq!(
        gained(&mut client),
        expect(&[
            ("select", (2, 1, 1, 0)),
            ("other", (2, 2, 0, 0)),
            ("insert", (1, 0, 0, 1)),
            ("commit", (1, 1, 0, 0)),
        ])
    );

    // Prepared before it is executed; closed; parts of a result.
    assert_eq!(
        client.call(&[parse("a", "TABLE t"), message(b'D', b"Sa\0"), sync()].concat()),
        "1Z"
    );
    assert_eq!(client.call(&[message(b'D', b"Sa\0"), sync()].concat()), "Z");
    client.send(&[bind("p", "a", &[]), execute("p", 1), message(b'H', b"")].concat());
    assert_eq!(client.read_to(b's'), "2s");
    assert_eq!(
        client.call(
            &[
                execute("p", 1),
                execute("p", 0),
                message(b'C', b"Sa\0"),
                sync()
            ]
            .concat()
        ),
        "sC3Z"
    );
    assert_eq!(
        gained(&mut client),
        expect(&[
            ("prepare", (1, 0, 0, 0)),
            ("select", (1, 0, 1, 0)),
            ("fetch", (2, 0, 1, 0))
        ])
    );

    // A COPY, whose first Sync the server ignores, and one that the client ends by an error.
    let line = |line: &str| message(b'd', line.as_bytes());
    client.send(
        &[
            extended("COPY t FROM STDIN"),
            sync(),
            line("10\n"),
            line("11\n"),
        ]
        .concat(),
    );
    assert_eq!(client.call(&[message(b'c', b""), sync()].concat()), "12GCZ");
    client.send(&[query("COPY t FROM STDIN"), line("12\n")].concat());
    assert_eq!(client.call(&message(b'f', b"no\0")), "GEZ");
    assert_eq!(
        client.call(&[extended("COPY t TO STDOUT"), sync()].concat()),
        "12HddddcCZ"
    );
    // The function with number 1598 is random().
    assert_eq!(
        client.call(&message(b'F', b"\0\0\x06\x3e\0\0\0\0\0\0")),
        "VZ"
    );
    assert_eq!(
        client.call(&query("SELECT 1; SELECT 1 / 0; SELECT 2")),
        "CEZ"
    );
    assert_eq!(client.call(&query("/* ; */ ;")), "IZ");
    assert_eq!(
        gained(&mut client),
        expect(&[
            ("copy", (3, 1, 4, 2)),
            ("function_call", (1, 0, 0, 0)),
            ("select", (2, 1, 1, 0)),
            ("empty_query", (1, 0, 0, 0)),
        ])
    );
}
