//! Clients of Redis that send what no client should. The server answers all others, and their commands count.

use super::client::{Reply, encode, ok, words};
use super::server::Server;
use super::support::wait_for;

/// More commands than a connection may have without replies.
const PIPELINE: usize = 270_000;

#[test]
fn malformed_requests_end_only_their_connections() {
    let redis = Server::redis(&[], &[]);
    let long_line = vec![b'x'; 70_000];
    let long_number = [b"*".to_vec(), vec![b'1'; 70_000]].concat();
    let requests: [&[u8]; 9] = [
        b"*1\r\n$18446744073709551615\r\nx",
        b"*4294967297\r\n$4\r\nPING\r\n",
        b"*-5\r\n$-5\r\n",
        b"*1\r\n*1\r\n$4\r\nPING\r\n",
        b"*3\r\n$3\r\nSET\r\n$-1\r\n\r\n",
        b"\0\0\0\0\r\n",
        b"|1\r\n+a\r\n:1\r\n*1\r\n$4\r\nPING\r\n",
        &long_line,
        &long_number,
    ];
    let mut open = Vec::new();
    for request in requests {
        let mut client = redis.connect();
        client.send(request);
        // The next request is well formed, and the server may answer it or not.
        client.send(b"\r\nPING\r\n");
        open.push(client);
    }
    let mut client = redis.connect();
    for number in 0..100 {
        assert_eq!(client.call(&format!("SET k{number} x")), ok());
    }
    drop(open);
    assert_eq!(client.call("SET k x"), ok());
    // This one's reply comes after all work on the others.
    assert_eq!(client.call("ECHO end"), Reply::Text(b"end".into()));
    assert_eq!(redis.statements()["set"], 101);
}

#[test]
fn a_pipeline_without_end_does_not_stop_the_server() {
    let redis = Server::redis(&[], &[]);
    let mut hostile = redis.connect();
    hostile.send(&words("BLPOP never 0"));
    hostile.send(&b"PING\r\n".repeat(PIPELINE));
    let mut client = redis.connect();
    assert_eq!(client.call("SET k x"), ok());
    assert_eq!(client.call("RPUSH never x"), Reply::Number(1));
    // Every reply arrives, though the library has stopped to read them.
    assert!(matches!(hostile.read(), Reply::List(_)));
    for _ in 0..PIPELINE {
        assert_eq!(hostile.read().text(), "PONG");
    }
    assert_eq!(hostile.call("SET k y"), ok());
    drop(hostile);
    assert_eq!(client.call("GET k"), Reply::Text(b"y".into()));
    let counted = redis.statements();
    assert_eq!((counted["blpop"], counted["rpush"]), (1, 1));
    assert_eq!(
        counted["set"], 1,
        "the other is of a connection that is not read"
    );
}

#[test]
fn replies_of_any_shape_are_passed_on() {
    let redis = Server::redis(&[], &[]);
    let mut client = redis.connect();
    let errors = "local t = {} for i = 1, 9999 do t[i] = {err = 'x'} end return t";
    client.send(&encode(&[b"EVAL", errors.as_bytes(), b"0"]));
    assert!(matches!(client.read(), Reply::List(replies) if replies.len() == 9999));
    assert_eq!(client.call("SET k x"), ok());
    // Deeper than the library reads, and perhaps than the server answers.
    let deep = "local t = {} for i = 1, 200 do t = {t} end return t";
    client.send(&encode(&[b"EVAL", deep.as_bytes(), b"0"]));
    client.read();
    assert_eq!(client.call("SET k y"), ok());
    assert_eq!(redis.connect().call("GET k"), Reply::Text(b"y".into()));
    assert_eq!(redis.statements()["get"], 1);
}

#[test]
fn a_client_that_disappears_leaves_no_session() {
    let redis = Server::redis(&[], &[]);
    for bytes in [
        &b"*2\r\n$3\r\nGET\r\n$100\r\nx"[..],
        b"MULTI\r\nSET k x\r\n",
        b"SUBSCRIBE c\r\n",
        b"MONITOR\r\n",
        b"BLPOP never 0\r\n",
    ] {
        redis.connect().send(bytes);
    }
    let mut client = redis.connect();
    let sessions = "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE TYPE = 'FOREGROUND'";
    wait_for("the sessions to end", || {
        client.call("PING");
        (redis.number(sessions) == 1).then_some(())
    });
}
