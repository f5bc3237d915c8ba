//! What is recorded of Redis: commands, texts, users and sessions.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::client::{Reply, encode, ok, words};
use super::server::Server;
use super::support::{self, wait_for};
use super::{STATEMENTS, rows, statements};

/// Commands of every form that the protocol has.
fn run_commands(redis: &Server) {
    let mut client = redis.connect();
    for number in 0..200 {
        assert_eq!(client.call(&format!("SET user:{number} x")), ok());
        assert_eq!(
            client.call(&format!("GET user:{number}")),
            Reply::Text(b"x".into())
        );
    }
    // Pipelines, whose parts end anywhere.
    let pipeline: Vec<u8> = (0..500)
        .flat_map(|number| words(&format!("INCRBY n {number}")))
        .collect();
    for part in pipeline.chunks(777) {
        client.send(part);
    }
    let mut sum = 0;
    for number in 0..500 {
        sum += number;
        assert_eq!(client.read(), Reply::Number(sum));
    }
    // Errors: executed, rejected and unknown ones.
    for line in [
        "INCR user:1",
        "GET",
        "LPUSH user:1 x",
        "NOSUCH command",
        "CONFIG nosuch",
        "SELECT 99",
    ] {
        assert!(matches!(client.call(line), Reply::Error(_)), "{line}");
    }
    // Lines in place of arrays.
    client.send(b"PING\r\n\r\n  ECHO hello\r\n");
    assert_eq!(
        (client.read().text(), client.read().text()),
        ("PONG".into(), "hello".into())
    );
    // Transactions: executed, with an error within; discarded; aborted; refused by a watched key.
    client.call("MULTI");
    for line in ["SET t 1", "INCR user:1", "GET t"] {
        assert_eq!(client.call(line), Reply::Text(b"QUEUED".into()));
    }
    assert!(matches!(client.call("EXEC"), Reply::List(replies) if replies.len() == 3));
    client.send(&[words("MULTI"), words("SET t 2"), words("DISCARD")].concat());
    client.send(
        &[
            words("MULTI"),
            words("SET t"),
            words("GET t"),
            words("EXEC"),
        ]
        .concat(),
    );
    let replies: Vec<Reply> = (0..7).map(|_| client.read()).collect();
    assert!(matches!(replies[6], Reply::Error(_)), "{replies:?}");
    client.call("WATCH t");
    redis.connect().call("SET t 3");
    client.send(&[words("MULTI"), words("GET t"), words("EXEC")].concat());
    assert_eq!(
        [client.read(), client.read(), client.read()][2],
        Reply::Nothing
    );
    // No replies, and commands that wait.
    client.send(&[words("CLIENT REPLY SKIP"), words("SET t 4"), words("GET t")].concat());
    assert_eq!(client.read(), Reply::Text(b"4".into()));
    client.send(&words("BLPOP queue 0"));
    assert_eq!(redis.connect().call("RPUSH queue job"), Reply::Number(1));
    assert!(matches!(client.read(), Reply::List(_)));
    // Scripts, messages and RESP3.
    client.send(&encode(&[b"EVAL", b"return {1, 'two'}", b"0"]));
    assert!(matches!(client.read(), Reply::List(_)));
    client.call("SUBSCRIBE c");
    assert_eq!(redis.connect().call("PUBLISH c hello"), Reply::Number(1));
    assert!(matches!(client.read(), Reply::List(_)), "the message");
    client.send(&words("PING"));
    client.read();
    let mut new = redis.connect();
    new.call("HELLO 3 SETNAME worker");
    new.call("HGETALL nothing");
    new.call("SUBSCRIBE c");
    redis.connect().call("PUBLISH c hello");
    new.read();
    new.call("GET t");
    // What is no command of Redis: the first bytes of TLS.
    redis
        .connect()
        .send(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, b'\r', b'\n']);
}

#[test]
fn counts_are_the_servers_own() {
    check_counts(&Server::redis(&[], &["--appendonly", "yes"]));
}

#[test]
fn counts_over_tls_are_the_servers_own() {
    check_counts(&Server::redis_tls(&["--appendonly", "yes"]));
}

fn check_counts(redis: &Server) {
    // Valkey 9 executes CONFIG GET itself.
    let mut at_start = redis.connect().command_statistics();
    at_start.remove("info");
    run_commands(redis);
    let mut own = redis.connect().command_statistics();
    own.retain(|name, _| !at_start.contains_key(name));
    let mut recorded = redis.statements();
    // The server counts the last INFO after it has answered; unknown commands have no row there.
    recorded.entry("info".into()).and_modify(|n| *n -= 1);
    assert_eq!(recorded.remove("other"), Some(1), "NOSUCH");
    recorded.remove("config");
    assert_eq!(recorded, own);
    // Every error that a client got, within transactions as well.
    let sql = "SELECT SUM(SUM_ERRORS) AS n FROM performance_schema.events_statements_summary_global_by_event_name \
               WHERE EVENT_NAME LIKE 'statement/redis/%'";
    assert_eq!(redis.number(sql), 6 + 1 + 1 + 1);
    // The log of all changes has its file and its name; each change was written once.
    let sql = "SELECT SUM_NUMBER_OF_BYTES_WRITE AS n FROM performance_schema.file_summary_by_instance \
               WHERE EVENT_NAME = 'wait/io/file/redis/appendonly' AND FILE_NAME LIKE '%.incr.aof'";
    let log = redis
        .directory
        .path()
        .join("appendonlydir/appendonly.aof.1.incr.aof");
    let size = log.metadata().expect("the log").len();
    assert_eq!(redis.number(sql), size);
}

#[test]
fn texts_users_and_databases_are_recorded() {
    check_texts(&Server::redis(&[], &[]), "Socket");
}

#[test]
fn texts_users_and_databases_over_tls_are_recorded() {
    let redis = Server::redis_tls(&[]);
    check_texts(&redis, "SSL/TLS");
    check_socket(&redis);
}

/// The socket of an encrypted connection is recorded, and what its client gets is unchanged.
fn check_socket(redis: &Server) {
    redis.execute(
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' \
         WHERE NAME LIKE 'wait/io/socket/%'",
    );
    let value: Vec<u8> = (0..100_000).map(|at| (at * 31) as u8).collect();
    let mut client = redis.connect();
    client.send(&[encode(&[b"SET", b"long", &value]), words("GET long")].concat());
    assert_eq!(client.read(), ok());
    assert!(client.read() == Reply::Text(value));
    let sql = "SELECT LEAST(SUM_NUMBER_OF_BYTES_READ, SUM_NUMBER_OF_BYTES_WRITE) AS n \
               FROM performance_schema.socket_summary_by_event_name \
               WHERE EVENT_NAME = 'wait/io/socket/redis/client_connection' AND SUM_TIMER_WAIT > 0";
    assert!(redis.number(sql) > 100_000);
}

fn check_texts(redis: &Server, connection: &str) {
    redis.execute("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'");
    let mut client = redis.connect();
    client.send(&encode(&[
        b"ACL",
        b"SETUSER",
        b"alice",
        b"on",
        b">geheim",
        b"allkeys",
        b"allcommands",
    ]));
    assert_eq!(client.read(), ok());
    client.call("AUTH alice geheim");
    client.call("SELECT 3");
    client.call("CLIENT SETNAME worker-7");
    client.call("SET user:1234:name x");
    client.send(&words("BLPOP queue:17 0"));
    let sql = "SELECT t.PROCESSLIST_USER AS user, t.PROCESSLIST_DB AS db, t.PROCESSLIST_COMMAND AS command, \
               t.CONNECTION_TYPE AS connection, s.EVENT_NAME AS name, s.SQL_TEXT AS text, s.DIGEST_TEXT AS digest, a.ATTR_VALUE AS client \
               FROM performance_schema.threads t \
               JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID \
               JOIN performance_schema.session_account_connect_attrs a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
               WHERE t.TYPE = 'FOREGROUND' AND a.ATTR_NAME = 'program_name' AND s.EVENT_NAME = 'statement/redis/blpop'";
    let sql = sql.replace("session_account_connect_attrs", "session_connect_attrs");
    let row = wait_for("the command to run", || redis.rows(&sql).pop());
    let expected = serde_json::json!({
        "user": "alice", "db": "db3", "command": "Query", "connection": connection, "name": "statement/redis/blpop",
        "text": "BLPOP queue:17 0", "digest": "BLPOP queue:? ?", "client": "worker-7",
    });
    assert_eq!(row, expected);
    let sql = "SELECT DIGEST_TEXT AS name, COUNT_STAR AS n FROM performance_schema.events_statements_summary_by_digest \
               WHERE SCHEMA_NAME = 'db3' AND DIGEST_TEXT LIKE 'SET%'";
    assert_eq!(
        statements(&redis.rows(sql)),
        BTreeMap::from([("SET user:?:name ?".into(), 1)])
    );
    // No text has the password, and no error quotes it.
    let mut other = redis.connect();
    for line in ["ATUH alice geheim", "ACL SETUSER alice geheim"] {
        let error = other.call(line);
        assert!(
            matches!(&error, Reply::Error(text) if text.contains("geheim")),
            "{error:?}"
        );
    }
    assert!(matches!(other.call("LPUSH"), Reply::Error(_)));
    let texts = |pattern: &str| {
        let sql = format!(
            "SELECT COUNT(*) AS n FROM performance_schema.events_statements_history_long \
             WHERE CONCAT_WS(' ', SQL_TEXT, DIGEST_TEXT, MESSAGE_TEXT) LIKE '{pattern}'"
        );
        redis.number(&sql)
    };
    assert_eq!(
        (
            texts("%ACL SETUSER ...%"),
            texts("%AUTH ...%"),
            texts("?% ERR"),
            texts("%wrong number of arguments%"),
            texts("%geheim%")
        ),
        (2, 1, 1, 1, 0)
    );
    other.send(&[words("SELECT 3"), words("RPUSH queue:17 x")].concat());
    assert!(matches!(client.read(), Reply::List(_)));
}

#[test]
fn values_are_unchanged_and_children_do_not_disturb() {
    let redis = Server::redis(&[], &["--appendonly", "yes"]);
    let mut client = redis.connect();
    let value = |size: usize| -> Vec<u8> { (0..size).map(|at| (at * 31 + size) as u8).collect() };
    let sizes = [
        0, 1, 2, 127, 128, 129, 1_000, 16_383, 16_384, 65_537, 1_000_000,
    ];
    let before = redis.statements();
    for round in 0..3 {
        // The server forks while it answers.
        let save = ["BGREWRITEAOF", "BGSAVE", "PING"][round];
        wait_for("an earlier child to end", || {
            (!matches!(client.call(save), Reply::Error(_))).then_some(())
        });
        for size in sizes {
            let (key, value) = (format!("k{size}"), value(size));
            client.send(
                &[
                    encode(&[b"SET", key.as_bytes(), &value]),
                    encode(&[b"GET", key.as_bytes()]),
                ]
                .concat(),
            );
            assert_eq!(client.read(), ok());
            assert!(
                client.read() == Reply::Text(value),
                "a value of {size} bytes"
            );
        }
    }
    wait_for("the children to end", || {
        let info = client.call("INFO persistence").text();
        let has_saved =
            info.contains("rdb_bgsave_in_progress:0") && info.contains("aof_rewrite_in_progress:0");
        (has_saved && redis.directory.path().join("dump.rdb").exists()).then_some(())
    });
    let after = redis.statements();
    let gained = |name: &str| after[name] - before.get(name).unwrap_or(&0);
    let expected = 3 * sizes.len() as u64;
    assert_eq!((gained("set"), gained("get")), (expected, expected));
    assert_eq!(client.command_statistics()["set"], after["set"]);
}

#[test]
fn a_killed_server_leaves_its_segment() {
    let mut redis = Server::redis(&[], &[]);
    let mut client = redis.connect();
    for number in 0..100 {
        client.call(&format!("SET k{number} x"));
    }
    client.send(&words("BLPOP nothing 0"));
    wait_for("the command to run", || {
        let sql = "SELECT COUNT(*) AS n FROM performance_schema.events_statements_current \
                   WHERE SQL_TEXT = 'BLPOP nothing 0' AND END_EVENT_ID IS NULL";
        (redis.number(sql) == 1).then_some(())
    });
    support::signal(redis.pid, "KILL");
    redis.run.wait();
    let saved = redis
        .directory
        .path()
        .join(format!("tare-{}.segment", redis.pid));
    let saved = ["--segment", saved.to_str().expect("UTF-8")];
    let counted = statements(&rows(&redis.directory, &saved, STATEMENTS));
    assert_eq!(counted["set"], 100);
}

/// With TARE_TEST_LONG (`make test-long`), ten thousand connections: as many as Redis accepts by default.
#[test]
fn a_thousand_connections_have_sessions_of_their_own() {
    let count = match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => 10_000,
        None => 1_000,
    };
    raise_open_files();
    let redis = Server::redis(&[], &["--maxclients", &(count + 100).to_string()]);
    let mut clients: Vec<UnixStream> = (0..count).map(|_| redis.stream()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client
            .write_all(&words(&format!("SET k{number} x")))
            .expect("written");
    }
    for client in &mut clients {
        let mut reply = [0; 5];
        client.read_exact(&mut reply).expect("a reply");
        assert_eq!(&reply, b"+OK\r\n");
    }
    let sessions = "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE TYPE = 'FOREGROUND'";
    assert_eq!(redis.number(sessions), count);
    assert_eq!(redis.statements()["set"], count);
    drop(clients);
    wait_for("the sessions to end", || {
        (redis.number(sessions) == 0).then_some(())
    });
    assert_eq!(redis.statements()["set"], count);
    let lost = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_status \
                WHERE VARIABLE_VALUE <> '0' AND VARIABLE_NAME LIKE 'Performance_schema%lost'";
    assert_eq!(redis.rows(lost), Vec::<serde_json::Value>::new());
}

/// This process, and the servers that it starts, may open as many files as the hard limit allows.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("a soft limit up to the hard one");
}

#[test]
fn every_level_records_and_serves() {
    for rule in ["active", "1/2", "budget 1 %"] {
        let redis = Server::redis(&["--sampling", rule], &[]);
        let mut client = redis.connect();
        for number in 0..300 {
            assert_eq!(client.call(&format!("SET k{number} x")), ok());
        }
        let counted = redis.number(
            "SELECT SUM(COUNT_STAR) AS n FROM performance_schema.events_statements_summary_global_by_event_name",
        );
        assert!(counted >= 300, "{rule}: {counted}");
        // Off: nothing is counted, and the server answers.
        redis.execute("UPDATE tare.setup_sampling SET SAMPLING = 'every'");
        redis.execute("UPDATE performance_schema.setup_instruments SET ENABLED = 'NO'");
        let before = redis.statements();
        assert_eq!(client.call("SET k x"), ok());
        assert_eq!(redis.statements(), before, "{rule}");
    }
}
