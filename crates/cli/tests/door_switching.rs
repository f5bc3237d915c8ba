//! The MySQL door: that calls which rest while everything is off arrive again at once, exactly, and that what
//! happened meanwhile is not made up.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};

const SELECTS: u64 = 50;
fn switch(server: &Server, value: &str) {
    for table in ["setup_instruments", "setup_consumers"] {
        server.tare(&format!(
            "UPDATE performance_schema.{table} SET ENABLED = '{value}'"
        ));
    }
}

/// COUNT_STAR of an event in its global summary.
fn count(server: &Server, kind: &str, event: &str) -> u64 {
    number(server, kind, "COUNT_STAR", event)
}

fn number(server: &Server, kind: &str, column: &str, event: &str) -> u64 {
    let rows = server.tare(&format!(
        "SELECT {column} AS n FROM performance_schema.events_{kind}_summary_global_by_event_name \
         WHERE EVENT_NAME = '{event}'"
    ));
    rows[0]["n"].as_u64().expect("a number")
}

/// Mutexes of a class of which each connection has one.
fn listed_locks(server: &Server) -> u64 {
    let rows = server.tare(
        "SELECT COUNT(*) AS n FROM performance_schema.mutex_instances \
         WHERE NAME = 'wait/synch/mutex/sql/THD::LOCK_thd_data'",
    );
    rows[0]["n"].as_u64().expect("a number")
}

fn select(connection: &mut Conn) {
    for i in 0..SELECTS {
        let found: Option<u64> = connection
            .query_first(format!("SELECT a FROM switching.t WHERE a = {i}"))
            .expect("selected");
        assert_eq!(found, Some(i));
    }
}

/// What is counted exactly: as many of each as there are selects.
const EXACT: [(&str, &str); 4] = [
    ("statements", "statement/sql/select"),
    ("stages", "stage/sql/statistics"),
    ("stages", "stage/sql/Opening tables"),
    ("waits", "wait/io/table/sql/handler"),
];

fn counts(server: &Server) -> Vec<u64> {
    let of = |(kind, event): &(&str, &str)| count(server, kind, event);
    EXACT.iter().map(of).collect()
}

/// Has a connection sleep until it is woken, and returns once it does.
fn sleep(server: &Server, mut connection: Conn) -> JoinHandle<Conn> {
    let sleeps = std::thread::spawn(move || {
        // Whether that is an error depends on the server.
        let _woken = connection.query_drop("SELECT SLEEP(1000)");
        connection
    });
    support::wait_for("a sleeping thread", || {
        let rows = server.tare(
            "SELECT COUNT(*) AS n FROM performance_schema.threads \
             WHERE PROCESSLIST_STATE = 'User sleep'",
        );
        (rows[0]["n"].as_u64() == Some(1)).then_some(())
    });
    sleeps
}

/// Ends the statement of connection `id`, which sleeps. A server answers before it has told that the statement
/// ended; once it answers the next one, it has.
fn wake(by: &mut Conn, id: u32, sleeps: JoinHandle<Conn>) -> Conn {
    by.query_drop(format!("KILL QUERY {id}")).expect("woken");
    let mut woken = sleeps.join().expect("the sleeping thread");
    woken.query_drop("DO 0").expect("done");
    woken
}

fn calls_rest_and_arrive_again(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut connection = server.connect();
    connection
        .query_drop("CREATE DATABASE switching")
        .expect("made");
    connection
        .query_drop("CREATE TABLE switching.t (a BIGINT PRIMARY KEY) ENGINE = InnoDB")
        .expect("made");
    for i in 0..SELECTS {
        connection
            .query_drop(format!("INSERT INTO switching.t VALUES ({i})"))
            .expect("inserted");
    }
    let mut sleeper = server.connect();
    let sleeper_id = sleeper.connection_id();
    let mut slept = Duration::ZERO;
    let mut before = vec![0; EXACT.len()];
    for round in 0..3 {
        switch(&server, "YES");
        if round == 0 {
            before = counts(&server);
        }
        select(&mut connection);
        let now = counts(&server);
        for (i, (_, event)) in EXACT.iter().enumerate() {
            assert_eq!(now[i] - before[i], SELECTS, "{event} in round {round}");
        }
        let began = Instant::now();
        let sleeps = sleep(&server, sleeper);
        switch(&server, "NO");
        let mut at_rest = counts(&server);
        select(&mut connection);
        sleeper = wake(&mut connection, sleeper_id, sleeps);
        slept = slept.max(began.elapsed());
        // The statement that slept began before: what begins is finished.
        at_rest[0] += 1;
        assert_eq!(
            counts(&server),
            at_rest,
            "nothing is counted while all is off"
        );
        let known = server.tare(
            "SELECT COUNT(*) AS n FROM performance_schema.threads \
             WHERE PROCESSLIST_COMMAND IS NOT NULL OR PROCESSLIST_STATE IS NOT NULL",
        );
        assert_eq!(
            known[0]["n"].as_u64(),
            Some(0),
            "what threads do is not known"
        );
        before = at_rest;
    }
    // A stage that no statement ends: it is over while nothing is told, and nobody knows when.
    switch(&server, "YES");
    server.tare(
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE 'statement/%'",
    );
    let began = Instant::now();
    let sleeps = sleep(&server, sleeper);
    switch(&server, "NO");
    sleeper = wake(&mut connection, sleeper_id, sleeps);
    slept = slept.max(began.elapsed());
    // So that a stage that goes on until now would be the longest.
    std::thread::sleep(slept);
    switch(&server, "YES");
    sleeper.query_drop("SELECT 1").expect("selected");
    let longest = number(&server, "stages", "MAX_TIMER_WAIT", "stage/sql/User sleep");
    assert!(
        u128::from(longest) <= slept.as_nanos() * 1000,
        "a stage of {longest} ps was made up; no sleep took longer than {slept:?}"
    );
    // Of a connection's locks none is listed that was made while it was off.
    switch(&server, "NO");
    let listed = listed_locks(&server);
    let unlisted = server.connect();
    assert_eq!(listed_locks(&server), listed);
    switch(&server, "YES");
    let more = server.connect();
    assert_eq!(listed_locks(&server), listed + 1);
    drop((unlisted, more));
    server.stop();
}

#[test]
fn mysql_9_7() {
    calls_rest_and_arrive_again(Version::Mysql97);
}

#[test]
fn mysql_5_7() {
    calls_rest_and_arrive_again(Version::Mysql57);
}

#[test]
#[ignore = "MariaDB 11.8 is left to make test-long"]
fn mariadb_11_8() {
    calls_rest_and_arrive_again(Version::Mariadb118);
}

#[test]
fn mariadb_11_4() {
    calls_rest_and_arrive_again(Version::Mariadb114);
}

#[test]
fn mariadb() {
    calls_rest_and_arrive_again(Version::Mariadb);
}

/// The server's own options are Tare's, too: consumers, instruments and sizes.
#[test]
fn what_the_servers_options_say_is_so() {
    let options = [
        "--performance-schema-consumer-events-waits-current=ON",
        "--performance-schema-consumer-events-statements-history=OFF",
        "--performance-schema-instrument=wait/io/file/%=OFF",
        "--performance-schema-digests-size=321",
        // Keeps the server's own engine small, and is none of Tare's.
        "--performance-schema-accounts-size=0",
    ];
    // As Tare starts, and not as tests switch it.
    let server = Server::start(Version::Mariadb, Engine::Sampled("every"), &options);
    let consumers = server.tare(
        "SELECT NAME, ENABLED FROM performance_schema.setup_consumers WHERE NAME IN \
         ('events_waits_current', 'events_statements_history') ORDER BY NAME",
    );
    let enabled: Vec<_> = consumers.iter().map(|row| row["ENABLED"].clone()).collect();
    assert_eq!(enabled, ["NO", "YES"]);
    let files = server.tare(
        "SELECT COUNT(*) AS n, SUM(ENABLED = 'YES') AS enabled FROM performance_schema.setup_instruments \
         WHERE NAME LIKE 'wait/io/file/%'",
    );
    assert!(files[0]["n"].as_u64() > Some(10), "{files:?}");
    assert_eq!(files[0]["enabled"].as_u64(), Some(0));
    let sizes = server.tare("SHOW VARIABLES LIKE 'performance_schema_digests_size'");
    assert_eq!(sizes[0]["Value"], "321");
    let accounts = server.tare("SELECT COUNT(*) AS n FROM performance_schema.accounts");
    assert!(accounts[0]["n"].as_u64() > Some(0));
}
