//! The MySQL door: that calls which rest while everything is off arrive again at once, exactly, and that what
//! happened meanwhile is not made up.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::thread::JoinHandle;
use std::time::Duration;

use mysql::Conn;
use mysql::prelude::Queryable;

use servers::{Engine, Server, Version};

const SELECTS: u64 = 50;
/// How long a statement sleeps.
const SLEEP: Duration = Duration::from_secs(1);

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

/// Has a connection sleep for [`SLEEP`], and returns once it does.
fn sleep(server: &Server, mut connection: Conn) -> JoinHandle<Conn> {
    let sleeps = std::thread::spawn(move || {
        let seconds = SLEEP.as_secs();
        connection
            .query_drop(format!("SELECT SLEEP({seconds})"))
            .expect("slept");
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

fn calls_rest_and_arrive_again(version: Version) {
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
        let sleeps = sleep(&server, sleeper);
        switch(&server, "NO");
        let mut at_rest = counts(&server);
        select(&mut connection);
        sleeper = sleeps.join().expect("the sleeping thread");
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
    let sleeps = sleep(&server, sleeper);
    switch(&server, "NO");
    sleeper = sleeps.join().expect("the sleeping thread");
    std::thread::sleep(3 * SLEEP);
    switch(&server, "YES");
    sleeper.query_drop("SELECT 1").expect("selected");
    let longest = number(&server, "stages", "MAX_TIMER_WAIT", "stage/sql/User sleep");
    assert!(
        u128::from(longest) < 3 * SLEEP.as_nanos() * 1000,
        "a stage of {longest} ps was made up"
    );
    server.stop();
}

#[test]
fn mysql_5_7() {
    calls_rest_and_arrive_again(Version::Mysql57);
}

#[test]
fn mariadb() {
    calls_rest_and_arrive_again(Version::Mariadb);
}
