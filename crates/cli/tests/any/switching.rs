//! Everything off, and on again, in the middle of connections: what is counted afterwards equals the servers'
//! own counts, and no request is counted that the server has not had.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::client::{Client, Reply, ok, words};
use super::memcached::{call, connect, packet};
use super::nginx::{Nginx, get};
use super::postgres::Postgres;
use super::postgres_statements::client::{Client as Session, bind, execute, parse, query, sync};
use super::server::Server;
use super::support::wait_for;

/// Switches everything off, or on.
pub fn switch(is_on: bool) -> String {
    let value = if is_on { "YES" } else { "NO" };
    format!(
        "UPDATE performance_schema.setup_consumers SET ENABLED = '{value}' \
         WHERE NAME = 'global_instrumentation'"
    )
}

impl Client {
    /// Sends commands in one write, and reads their replies.
    fn pipeline(&mut self, line: &str, count: usize) {
        self.send(&words(line).repeat(count));
        for _ in 0..count {
            self.read();
        }
    }
}

#[test]
fn connections_of_redis_are_synchronised_again() {
    check_redis(&Server::redis(&[], &[]));
}

#[test]
fn connections_of_redis_over_tls_are_synchronised_again() {
    check_redis(&Server::redis_tls(&[]));
}

fn check_redis(redis: &Server) {
    let set = |is_on| redis.execute(&switch(is_on));
    let [mut idle, mut busy, mut half, mut transaction, mut listener] = [(); 5].map(|_| {
        let mut client = redis.connect();
        client.call("GET before");
        client
    });
    assert_eq!(transaction.call("MULTI"), ok());
    transaction.call("LPUSH list 1");
    set(false);
    // A transaction that has begun is read to its end.
    transaction.call("LPUSH list 2");
    assert!(matches!(transaction.call("EXEC"), Reply::List(replies) if replies.len() == 2));
    busy.pipeline("APPEND text x", 20);
    let mut new = redis.connect();
    assert_eq!(new.call("SELECT 7"), ok());
    new.call("GET meanwhile");
    let mut unfinished = redis.connect();
    unfinished.call("GET meanwhile");
    assert_eq!(unfinished.call("MULTI"), ok());
    unfinished.call("INCR number");
    listener.call("SUBSCRIBE channel");
    // A value whose second half begins with a command.
    let value = words("STRLEN no").repeat(3);
    let set_value = format!("*3\r\n$3\r\nSET\r\n$5\r\nvalue\r\n${}\r\n", value.len());
    half.send(&[words("APPEND text x"), set_value.into_bytes()].concat());
    half.read();
    busy.send(&[words("APPEND text x"), words("APPEND text x")[..9].to_vec()].concat());
    busy.read();
    set(true);
    half.send(&[&value[..], b"\r\n"].concat());
    assert_eq!(half.read(), ok());
    busy.send(&words("APPEND text x")[9..]);
    busy.read();
    // What each connection sends now has missed nothing, or follows a reply.
    idle.call("STRLEN text");
    transaction.call("STRLEN text");
    new.call("GET first");
    unfinished.call("INCR number");
    unfinished.call("EXEC");
    assert_eq!(redis.connect().call("PUBLISH channel x"), Reply::Number(1));
    listener.read();
    for client in [&mut half, &mut busy, &mut new, &mut unfinished] {
        client.pipeline("STRLEN text", 4);
        client.call("STRLEN text");
    }
    let counted = redis.statements();
    assert_eq!(counted.get("strlen"), Some(&22), "{counted:?}");
    assert_eq!(counted.get("lpush"), None, "{counted:?}");
    assert_eq!(counted.get("append"), None, "{counted:?}");
    assert_eq!(counted.get("set"), None, "{counted:?}");
    assert_eq!(counted.get("get"), Some(&6), "{counted:?}");
    assert_eq!(counted.get("publish"), Some(&1), "{counted:?}");
    assert_eq!(
        redis.number(
            "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE PROCESSLIST_DB = 'db7'"
        ),
        1
    );
}

#[test]
fn no_command_is_counted_twice_under_load() {
    let redis = Server::redis(&[], &[]);
    let ends = AtomicBool::new(false);
    let mut clients: Vec<Client> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let mut client = redis.connect();
                let ends = &ends;
                scope.spawn(move || {
                    while !ends.load(Ordering::Relaxed) {
                        client.call("INCR a");
                        client.pipeline("INCR b", 500);
                    }
                    client
                })
            })
            .collect();
        for number in 0..10 {
            redis.execute(&switch(number % 2 == 1));
        }
        ends.store(true, Ordering::Relaxed);
        let threads = threads.into_iter().map(|thread| thread.join());
        threads.map(|client| client.expect("a client")).collect()
    });
    let own = |client: &mut Client| client.command_statistics()["incr"];
    // Each is found again by then.
    for client in &mut clients {
        client.pipeline("INCR b", 2);
        client.pipeline("INCR b", 2);
    }
    let (before, counted) = (own(&mut clients[0]), redis.statements()["incr"]);
    assert!(counted > 0 && counted <= before, "{counted} of {before}");
    for client in &mut clients {
        for _ in 0..10 {
            client.pipeline("INCR b", 50);
        }
    }
    let grown = redis.statements()["incr"] - counted;
    assert_eq!((grown, own(&mut clients[0]) - before), (2000, 2000));
}

#[test]
fn connections_of_memcached_are_synchronised_again() {
    let server = Server::memcached(&[], &[]);
    let set = |is_on| server.execute(&switch(is_on));
    let get = |stream: &mut UnixStream| drop(call(stream, b"get k\r\n", b"END\r\n"));
    let [mut idle, mut busy, mut half, mut binary] = [(); 4].map(|_| connect(&server));
    let noop = |stream: &mut UnixStream| {
        let reply = call(stream, &packet(0x0a, "", &[], "", 7), &[0; 8]);
        assert_eq!(reply.len(), 24);
    };
    for stream in [&mut idle, &mut busy, &mut half] {
        get(stream);
    }
    noop(&mut binary);
    set(false);
    get(&mut busy);
    noop(&mut binary);
    let mut new = connect(&server);
    get(&mut new);
    // The second half of the value is commands.
    let value = "get k\r\nincr n 1\r\n";
    half.write_all(format!("get k\r\nset k 0 0 {}\r\n", value.len() + 5).as_bytes())
        .expect("written");
    call(&mut half, b"begin", b"END\r\n");
    set(true);
    call(&mut half, format!("{value}\r\n").as_bytes(), b"STORED\r\n");
    get(&mut idle);
    for stream in [&mut busy, &mut new] {
        get(stream);
    }
    noop(&mut binary);
    for stream in [&mut idle, &mut busy, &mut half, &mut new] {
        call(stream, b"touch k 0\r\n", b"TOUCHED\r\n");
        call(
            stream,
            &b"touch k 0\r\n".repeat(3),
            &b"TOUCHED\r\n".repeat(3),
        );
    }
    noop(&mut binary);
    let count = |name: &str| {
        server.number(&format!(
            "SELECT COUNT_STAR AS n FROM performance_schema.events_statements_summary_global_by_event_name \
             WHERE EVENT_NAME = 'statement/memcached/{name}'"
        ))
    };
    assert_eq!((count("touch"), count("get")), (16, 4));
    assert_eq!((count("noop"), count("set"), count("incr")), (2, 0, 0));
}

#[test]
fn connections_of_nginx_are_synchronised_again() {
    let nginx = Nginx::start();
    let set = |is_on| nginx.execute(&switch(is_on));
    let [mut idle, mut busy, mut half] = [(); 3].map(|_| nginx.connect());
    for client in [&mut idle, &mut busy, &mut half] {
        assert_eq!(client.call(&get("/small.txt")), 200);
    }
    let mut tls = nginx.connect_tls(&[]);
    assert_eq!(tls.call(&get("/small.txt")), 200);
    let mut cut = nginx.connect();
    // It is read to its end, though all is switched off before its response.
    cut.send("POST /proxy/small.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
    wait_for("the request", || {
        let sql = "SELECT COUNT(*) AS n FROM performance_schema.events_statements_current \
                   WHERE EVENT_NAME = 'statement/nginx/post' AND END_EVENT_ID IS NULL";
        (nginx.number(sql) == 1).then_some(())
    });
    set(false);
    cut.send("llo");
    assert_eq!(cut.read(true).map(|(status, _)| status), Some(405));
    for client in [&mut busy, &mut tls] {
        assert_eq!(client.call(&get("/users/22")), 200);
    }
    let mut new = nginx.connect();
    assert_eq!(new.call(&get("/small.txt")), 200);
    // The second half of the body is a request.
    let body = get("/none");
    half.send(format!(
        "PUT /proxy/small.txt HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n01234",
        body.len() + 5
    ));
    thread::sleep(std::time::Duration::from_millis(50));
    set(true);
    half.send(&body);
    assert_eq!(half.read(true).map(|(status, _)| status), Some(405));
    let clients = [&mut busy, &mut tls, &mut new, &mut idle];
    for client in clients {
        assert_eq!(client.call(&get("/small.txt")), 200);
    }
    for client in [
        &mut idle, &mut busy, &mut half, &mut new, &mut tls, &mut cut,
    ] {
        assert_eq!(client.call(&get("/small.txt").replace("GET", "HEAD")), 200);
        client.send(get("/none").replace("GET", "DELETE").repeat(3));
        for _ in 0..3 {
            assert!(client.read(true).is_some());
        }
    }
    let counted = || {
        let counted = nginx.counted();
        ["get", "head", "delete", "post", "put"].map(|name| counted.get(name).copied())
    };
    // Four GETs before, and one of `idle`; the PUT that nginx passes on to itself.
    let expected = [Some(5), Some(6), Some(18), Some(1), Some(1)];
    wait_for("the counts", || (counted() == expected).then_some(()));
}

#[test]
fn sessions_of_postgresql_have_what_they_prepared() {
    let server = Postgres::start(&[]);
    let count = |sql: &str| server.rows(sql).first().map_or(0, super::number);
    let set = |is_on| server.execute(&switch(is_on));
    let mut open = Session::login(&server);
    set(false);
    let mut new = Session::login(&server);
    for (session, name) in [(&mut open, "open"), (&mut new, "new")] {
        session.call(&[parse("p", &format!("SELECT 7 AS {name}")), sync()].concat());
        session.call(&query("CREATE TABLE IF NOT EXISTS off ()"));
    }
    // Within a message.
    let cut = [bind("", "p", &[]), execute("", 0), sync()].concat();
    open.send(&cut[..9]);
    set(true);
    open.call(&cut[9..]);
    for (session, name) in [(&mut open, "open"), (&mut new, "new")] {
        for _ in 0..3 {
            session.call(&[bind("", "p", &[]), execute("", 0), sync()].concat());
        }
        session.call(&query(&format!("CREATE TABLE {name} ()")));
    }
    for (name, selects) in [("open", 4), ("new", 3)] {
        let executed = format!(
            "SELECT COUNT_STAR AS n FROM performance_schema.events_statements_summary_by_digest \
             WHERE SCHEMA_NAME = 'postgres' AND DIGEST_TEXT LIKE 'SELECT % AS {name}'"
        );
        assert_eq!(count(&executed), selects, "{name}");
    }
    let created = "SELECT COUNT_STAR AS n \
                   FROM performance_schema.events_statements_summary_by_account_by_event_name \
                   WHERE EVENT_NAME = 'statement/postgres/create_table' AND USER = 'postgres'";
    assert_eq!(count(created), 2);
}
