//! Statements of PostgreSQL under `tare run`, as they are read from the protocol.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use super::postgres::Postgres;
use super::support::{Process, finish, finish_with_input, wait_for};
use super::{number, tls};

/// A client of the protocol itself.
struct Client {
    stream: UnixStream,
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// A query of the simple protocol.
fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

fn bind(portal: &str, statement: &str, parameters: &[&str]) -> Vec<u8> {
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
fn execute(portal: &str, rows: u32) -> Vec<u8> {
    let portal = [portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat();
    message(b'E', &portal)
}

/// A statement by the unnamed prepared statement and portal.
fn extended(sql: &str) -> Vec<u8> {
    [parse("", sql), bind("", "", &[]), execute("", 0)].concat()
}

/// Begins a session of `postgres` in this database.
fn startup(database: &str) -> Vec<u8> {
    let body = format!("user\0postgres\0database\0{database}\0\0");
    let length = (body.len() as u32 + 8).to_be_bytes();
    [&length[..], &(3u32 << 16).to_be_bytes(), body.as_bytes()].concat()
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

impl Client {
    /// A connection without a session.
    fn connect(server: &Postgres) -> Self {
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
    fn login(server: &Postgres) -> Self {
        let mut client = Self::connect(server);
        client.call(&startup("postgres"));
        client
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("written");
    }

    /// The types of the messages up to ReadyForQuery, but rows and their descriptions.
    fn read(&mut self) -> String {
        self.read_to(b'Z')
    }

    fn read_to(&mut self, end: u8) -> String {
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
    fn call(&mut self, bytes: &[u8]) -> String {
        self.send(bytes);
        self.read()
    }
}

/// Statements by the last part of their instruments' names, with the sums of errors, rows sent and affected.
type Counts = BTreeMap<String, Numbers>;
type Numbers = (u64, u64, u64, u64);

fn counts(server: &Postgres) -> Counts {
    let rows = server.rows(
        "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n, SUM_ERRORS AS errors, \
         SUM_ROWS_SENT AS sent, SUM_ROWS_AFFECTED AS affected \
         FROM performance_schema.events_statements_summary_global_by_event_name WHERE COUNT_STAR > 0",
    );
    let count = |row: &serde_json::Value| {
        let number = |name: &str| row[name].as_u64().expect("a number");
        let name = row["name"].as_str().expect("a name").to_owned();
        let numbers = (
            number("n"),
            number("errors"),
            number("sent"),
            number("affected"),
        );
        (name, numbers)
    };
    rows.iter().map(count).collect()
}

/// What was counted between two times.
fn difference(before: &Counts, after: &Counts) -> Counts {
    let rows = after.iter().map(|(name, after)| {
        let before = before.get(name).copied().unwrap_or_default();
        let rest = (
            after.0 - before.0,
            after.1 - before.1,
            after.2 - before.2,
            after.3 - before.3,
        );
        (name.clone(), rest)
    });
    rows.filter(|(_, counts)| counts.0 != 0).collect()
}

fn expect(rows: &[(&str, Numbers)]) -> Counts {
    rows.iter()
        .map(|&(name, counts)| (name.to_owned(), counts))
        .collect()
}

#[test]
fn counts_are_those_of_pg_stat_statements_and_pg_stat_database() {
    let server = Postgres::start(&[
        "shared_preload_libraries=pg_stat_statements",
        "autovacuum=off",
    ]);
    run_statements(&server);
    server.ordinary_pgbench(&["-i", "-q"]);
    for mode in ["simple", "extended", "prepared"] {
        server.ordinary_pgbench(&["-S", "-M", mode, "-c", "2", "-t", "50"]);
        server.ordinary_pgbench(&["-M", mode, "-t", "5", "-C"]);
    }
    compare_statements(&server);
    compare_transactions(&server);
}

#[test]
fn what_comes_over_tls_is_recorded_as_without_it() {
    let server = Postgres::start_tls(&[
        "shared_preload_libraries=pg_stat_statements",
        "autovacuum=off",
    ]);
    run_statements(&server);
    server.ordinary_pgbench(&["-i", "-q"]);
    server.ordinary_pgbench(&["-S", "-M", "prepared", "-c", "2", "-t", "50"]);
    server.ordinary_pgbench(&["-t", "5", "-C"]);
    // More than one record of TLS, and parts of a message in records of their own.
    let mut client = Client::login(&server);
    assert_eq!(
        client.call(&query(&format!("SELECT '{}'", "x".repeat(50_000)))),
        "CZ"
    );
    for byte in [extended("DELETE FROM t WHERE id = 3"), sync()].concat() {
        client.send(&[byte]);
    }
    assert_eq!(client.read(), "12CZ");
    // The server is a client, too: its libpq calls libssl, and not the program itself.
    server.query("CREATE EXTENSION dblink");
    let remote =
        "SELECT n FROM dblink('host=127.0.0.1 sslmode=require', 'SELECT 4711') AS t (n int)";
    assert_eq!(server.query(remote), "4711\n");
    compare_statements(&server);

    let mut sleeper = server.psql("SELECT pg_sleep(1000)");
    let mut sleeper = Process::start_on(
        sleeper.env("PGAPPNAME", "worker-7").stderr(Stdio::null()),
        Stdio::null(),
    );
    let sql = "SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_USER AS user, t.PROCESSLIST_HOST AS host, \
               t.PROCESSLIST_DB AS db, t.CONNECTION_TYPE AS connection, t.PROCESSLIST_COMMAND AS command \
               FROM performance_schema.threads t \
               JOIN performance_schema.session_connect_attrs a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
               WHERE a.ATTR_VALUE = 'worker-7' AND t.PROCESSLIST_COMMAND = 'Query'";
    let row = wait_for("the statement to run", || server.rows(sql).pop());
    let own = "SELECT pid FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) \
               WHERE application_name = 'worker-7' AND ssl";
    let pid = server.numbers(own)[0];
    let expected = serde_json::json!({
        "id": pid, "user": "postgres", "host": "localhost", "db": "postgres", "connection": "SSL/TLS",
        "command": "Query",
    });
    assert_eq!(row, expected);
    server.query(&format!("SELECT pg_cancel_backend({pid})"));
    assert!(!sleeper.wait().success());
}

/// Statements of every kind that pg_stat_statements counts, and errors.
fn run_statements(server: &Postgres) {
    let run = |sql: &str| finish(&mut server.psql(sql));
    run("CREATE EXTENSION pg_stat_statements");
    run("CREATE TABLE t (id int PRIMARY KEY, n text)");
    run(
        "INSERT INTO t SELECT i, 'x' FROM generate_series(1, 100) AS i; UPDATE t SET n = 'y' WHERE id <= 7; \
         SELECT * FROM t WHERE id < 10; ; BEGIN; DELETE FROM t WHERE id = 100; COMMIT",
    );
    run("WITH new AS (INSERT INTO t VALUES (101, ';') RETURNING id) SELECT * FROM new");
    run(
        "WITH old AS (SELECT 1) UPDATE t SET n = $$a;b$$ WHERE id IN (SELECT * FROM old) RETURNING id",
    );
    run("SELECT 1; SELECT 1 / 0; SELECT 2");
    run("BEGIN; SELECT 1; SELECT nothing; COMMIT");
    run("SELEC 1");
    run("COPY (SELECT * FROM t) TO STDOUT");
    let mut copy = server.psql("COPY t FROM STDIN");
    finish_with_input(&mut copy, "201\ta\n202\tb\n203\tc\n");
    finish_with_input(&mut copy, "204\ta\n204\tb\n");
}

fn compare_statements(server: &Postgres) {
    let own = "SELECT lower(regexp_replace(replace(query, 'END', 'COMMIT'), '[ (;].*', '')), \
               sum(calls), sum(rows) \
               FROM pg_stat_statements WHERE query !~* '^(create|alter|drop|truncate|vacuum)' GROUP BY 1";
    let own = server.query(own);
    let mut all = counts(server);
    let mut compared = 0;
    for line in own.lines() {
        let [verb, calls, rows] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        // A statement WITH has the instrument of its main part.
        let verb = match verb {
            "with" => continue,
            verb => verb,
        };
        let (n, errors, sent, affected) = all.remove(verb).unwrap_or_default();
        let of_with = u64::from(matches!(verb, "select" | "update"));
        // Itself.
        let (own_query, own_rows) = match verb {
            "select" => (1, own.lines().count() as u64),
            _ => (0, 0),
        };
        let rows: u64 = rows.parse().expect("a number");
        assert_eq!(
            (n - errors - of_with - own_query).to_string(),
            calls,
            "{verb} in {own}"
        );
        let recorded = match verb {
            "update" => affected,
            _ => sent + affected,
        };
        assert_eq!(recorded - of_with - own_rows, rows, "{verb} in {own}");
        compared += 1;
    }
    assert_eq!(
        compared, 7,
        "select, insert, update, delete, copy, begin, commit in {own}"
    );
}

fn compare_transactions(server: &Postgres) {
    let run = |sql: &str| finish(&mut server.psql(sql));
    // PostgreSQL counts one more for each connection, and VACUUM's are several.
    server.ordinary_pgbench(&["-c", "2", "-t", "5", "-C", "-S"]);
    let counted = || {
        let sql =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'";
        let own = server.numbers(sql)[0];
        let sql = "SELECT SUM(COUNT_STAR) \
                   FROM performance_schema.events_transactions_summary_global_by_event_name";
        let connections =
            "SELECT SUM(TOTAL_CONNECTIONS) FROM performance_schema.accounts WHERE USER IS NOT NULL";
        let of = |sql: &str| number(&server.rows(sql)[0]);
        (own, of(sql) + of(connections))
    };
    let vacuum = wait_for("PostgreSQL to publish its counts", || {
        let (first, second) = (counted(), counted());
        let difference = first.0.checked_sub(first.1);
        (difference == second.0.checked_sub(second.1)).then_some(difference)
    });
    for mode in ["simple", "extended", "prepared"] {
        server.ordinary_pgbench(&["-M", mode, "-t", "20"]);
    }
    run("SELECT 1; SELECT 2; BEGIN; SELECT 3; COMMIT; SELECT 4");
    run("BEGIN; SAVEPOINT s; ROLLBACK TO s; COMMIT AND CHAIN; ROLLBACK; SELECT 1");
    run("SELECT 1 / 0");
    // The end of a session ends its transaction.
    run("BEGIN; SELECT 1");
    wait_for("equal numbers of transactions", || {
        let (own, recorded) = counted();
        (own.checked_sub(recorded) == vacuum).then_some(())
    });
}

#[test]
fn statements_of_the_extended_protocol_end_with_their_replies() {
    let server = Postgres::start(&["autovacuum=off"]);
    let mut client = Client::login(&server);
    let table = "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED); \
                 SELECT 1;; INSERT INTO t VALUES (1)";
    assert_eq!(client.call(&query(table)), "CCCZ");
    let mut before = Counts::new();
    let mut gained = || {
        let after = counts(&server);
        difference(&std::mem::replace(&mut before, after.clone()), &after)
    };
    gained();

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
        gained(),
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
        gained(),
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
        gained(),
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
        gained(),
        expect(&[
            ("copy", (3, 1, 4, 2)),
            ("function_call", (1, 0, 0, 0)),
            ("select", (2, 1, 1, 0)),
            ("empty_query", (1, 0, 0, 0)),
        ])
    );
}

#[test]
fn texts_users_and_databases_are_recorded() {
    let server = Postgres::start(&[]);
    let consumers = "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'";
    let mut tare = server
        .directory
        .tare(["sql", "--segment", "segment", "-e", consumers]);
    assert_eq!(finish(&mut tare).code, Some(0));
    let run = |sql: &str| finish(&mut server.psql(sql));
    run("CREATE ROLE alice LOGIN PASSWORD 'geheim'");
    run("CREATE DATABASE shop OWNER alice");
    for secret in [
        "ALTER USER alice PASSWORD 'geheim'",
        "ALTER USER alice PASSWORD 'geheim",
        "CREATE SUBSCRIPTION s CONNECTION 'host=nowhere password=geheim' PUBLICATION p \
         WITH (connect = false, slot_name = NONE)",
        "CREATE USER MAPPING FOR alice SERVER nothing OPTIONS (pass 'geheim')",
        "CREAT ROLE bob 'geheim'",
        "DO $$ BEGIN RAISE 'no passwords: geheim'; END $$",
        "SELECT 1; ALTER ROLE alice PASSWORD 'geheim'",
        // The server refuses the text before its first statement.
        "SELECT 1; CREATE USER MAPPING FOR alice SERVER nothing OPTIONS (pass 'geheim",
        "ALTER ROLE alice PASSWORD geheim",
        "ALTER ROLE alice PASSWORD \"geheim\"",
    ] {
        run(secret);
    }
    let mut create = server.psql("CREATE TABLE own AS SELECT 1");
    create.env("PGUSER", "alice").env("PGDATABASE", "shop");
    assert_eq!(finish(&mut create).code, Some(0));
    let mut sleeper = server.psql("SELECT pg_sleep(1000), 'Grüße', 17");
    sleeper
        .env("PGUSER", "alice")
        .env("PGDATABASE", "shop")
        .env("PGAPPNAME", "worker-7");
    let mut sleeper = Process::start_on(sleeper.stderr(Stdio::null()), Stdio::null());
    let sql = "SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_USER AS user, t.PROCESSLIST_HOST AS host, \
               t.PROCESSLIST_DB AS db, t.PROCESSLIST_COMMAND AS command, t.NAME AS thread, \
               s.EVENT_NAME AS name, s.SQL_TEXT AS text, s.DIGEST_TEXT AS digest, a.ATTR_VALUE AS program \
               FROM performance_schema.threads t \
               JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID \
               JOIN performance_schema.session_connect_attrs a ON a.PROCESSLIST_ID = t.PROCESSLIST_ID \
               WHERE a.ATTR_NAME = 'program_name' AND s.SQL_TEXT LIKE '%pg_sleep%'";
    let row = wait_for("the statement to run", || server.rows(sql).pop());
    let pid =
        server.numbers("SELECT pid FROM pg_stat_activity WHERE application_name = 'worker-7'")[0];
    let expected = serde_json::json!({
        "id": pid, "user": "alice", "host": "localhost", "db": "shop", "command": "Query",
        "thread": "thread/postgres/client backend", "name": "statement/postgres/select",
        "text": "SELECT pg_sleep(1000), 'Grüße', 17", "digest": "SELECT pg_sleep(?), ?, ...",
        "program": "worker-7",
    });
    assert_eq!(row, expected);
    assert_eq!(
        finish(&mut server.psql(&format!("SELECT pg_cancel_backend({pid})"))).stdout,
        "t\n"
    );
    assert!(!sleeper.wait().success());
    let errors = server.rows(
        "SELECT RETURNED_SQLSTATE AS state, MESSAGE_TEXT AS message, MYSQL_ERRNO AS number \
         FROM performance_schema.events_statements_history_long WHERE SQL_TEXT LIKE '%pg_sleep(1000)%'",
    );
    let expected = serde_json::json!({
        "state": "57014", "message": "canceling statement due to user request", "number": 1105,
    });
    assert_eq!(errors, [expected]);

    let texts = |pattern: &str| {
        let sql = format!(
            "SELECT COUNT(*) FROM performance_schema.events_statements_history_long \
             WHERE CONCAT_WS(' ', SQL_TEXT, DIGEST_TEXT, MESSAGE_TEXT) LIKE '{pattern}'"
        );
        number(&server.rows(&sql)[0])
    };
    assert_eq!(texts("%geheim%"), 0);
    assert_eq!(
        (
            texts("ALTER USER alice PASSWORD ?%"),
            texts("ALTER ROLE alice PASSWORD ?%"),
            texts("DO ?%")
        ),
        (2, 3, 1)
    );
    check_transactions(&server);
    // A statement's waits belong to its session, and so to its user.
    let sql = "SELECT COUNT(*) FROM performance_schema.events_waits_summary_by_user_by_event_name \
               WHERE USER = 'alice' \
               AND EVENT_NAME = 'wait/io/file/postgres/DataFileExtend' AND COUNT_STAR > 0";
    assert_eq!(number(&server.rows(sql)[0]), 1);
}

/// How transactions end, and their savepoints.
fn check_transactions(server: &Postgres) {
    let transactions = || {
        let sql = "SELECT STATE AS state, AUTOCOMMIT AS autocommit, NUMBER_OF_SAVEPOINTS AS savepoints, \
                   NUMBER_OF_ROLLBACK_TO_SAVEPOINT AS rollbacks, NUMBER_OF_RELEASE_SAVEPOINT AS releases \
                   FROM performance_schema.events_transactions_history_long \
                   WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads \
                   WHERE PROCESSLIST_DB = 'shop' AND PROCESSLIST_USER = 'postgres') \
                   ORDER BY EVENT_ID";
        server.rows(sql)
    };
    let mut client = Client::connect(server);
    client.call(&startup("shop"));
    for statements in [
        // A failure that is undone by a savepoint.
        &[
            "BEGIN",
            "SAVEPOINT s",
            "SELECT 1 / 0",
            "ROLLBACK TO s",
            "RELEASE s",
            "COMMIT",
        ][..],
        &[
            "BEGIN; SAVEPOINT s",
            "SELECT 1 / 0",
            "ROLLBACK TO s; COMMIT; SELECT 1",
        ],
        &["BEGIN", "SELECT 1 / 0", "COMMIT"],
        &["BEGIN; ROLLBACK"],
        &["SELECT 1; SELECT 1 / 0"],
    ] {
        for statement in statements {
            client.call(&query(statement));
        }
    }
    let expected = |state: &str, autocommit: &str, [savepoints, rollbacks, releases]: [u64; 3]| {
        serde_json::json!({
            "state": state, "autocommit": autocommit,
            "savepoints": savepoints, "rollbacks": rollbacks, "releases": releases,
        })
    };
    assert_eq!(
        transactions(),
        [
            expected("COMMITTED", "NO", [1, 1, 1]),
            expected("COMMITTED", "NO", [1, 1, 0]),
            expected("COMMITTED", "YES", [0; 3]),
            expected("ROLLED BACK", "NO", [0; 3]),
            expected("ROLLED BACK", "NO", [0; 3]),
            expected("ROLLED BACK", "YES", [0; 3]),
        ]
    );
}

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
