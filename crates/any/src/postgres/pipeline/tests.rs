//! Tests of [`Connection`].

use super::super::messages::message;
use super::*;
use crate::random::{Random, move_bytes};
use crate::session::{Address, MAX_STORED_BYTES};

fn connection() -> Connection {
    super::super::commands::create("test");
    let mut connection = Connection::new(Session::new(&Address::Unix, false)).expect("created");
    begin(&mut connection);
    connection
}

/// Begins the session.
fn begin(connection: &mut Connection) {
    connection.receive(b"\0\0\0\x10\0\x03\0\0user\0a\0\0");
    connection.send(&message(b'Z', b"I"));
}

#[test]
fn a_session_begins_within_tls() {
    super::super::commands::create("test");
    let request = b"\0\0\0\x08\x04\xd2\x16\x2f";
    // Requested, and without a request, as by clients of PostgreSQL 17.
    for (received, sent) in [
        (&request[..], &b"S"[..]),
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b""),
    ] {
        let mut connection = Connection::new(Session::new(&Address::Unix, false)).expect("created");
        connection.receive(received);
        connection.send(sent);
        assert!(connection.is_lost(), "nothing is read before");
        connection.encrypt();
        begin(&mut connection);
        connection.receive(&message(b'Q', b"SELECT 1\0"));
        assert!(!connection.is_lost() && connection.pending.len() == 1);
    }
}

#[test]
fn a_client_that_reads_no_reply_takes_bounded_memory() {
    let mut connection = connection();
    let text = "SELECT 1;".repeat(5_000);
    let query = message(b'Q', format!("{text}\0").as_bytes());
    connection.receive(&query.repeat(100));
    let stored = connection.budget.get();
    assert!(stored <= MAX_STORED_BYTES && stored > MAX_STORED_BYTES / 2);
    assert_eq!(connection.pending.len(), 100);
    connection.send(&message(b'Z', b"I").repeat(100));
    assert_eq!((connection.pending.len(), connection.budget.get()), (0, 0));
    let parse = message(b'P', b"s\0SELECT 1\0\0\0");
    connection.receive(&parse.repeat(MAX_PENDING));
    assert_eq!(connection.pending.len(), MAX_PENDING);
    connection.receive(&parse);
    assert!(connection.is_lost && connection.pending.capacity() == 0);
    assert_eq!(connection.budget.get(), 0);
}

#[test]
fn any_requests_and_replies_leave_bounded_memory() {
    let requests = [
        message(b'Q', b"SELECT 1; SELECT 2\0"),
        message(b'Q', b";;\0"),
        message(b'Q', b"DISCARD ALL\0"),
        message(b'P', b"s\0SELECT 1\0\0\0"),
        message(b'B', b"p\0s\0\0\0"),
        message(b'D', b"Sx\0"),
        message(b'D', b"Pp\0"),
        message(b'C', b"Ss\0"),
        message(b'C', b"Pp\0"),
        message(b'E', b"p\0\0\0\0\0"),
        message(b'S', b""),
        message(b'F', b""),
        message(b'c', b""),
        message(b'X', b""),
        b"Q\0\0\0\x03".to_vec(),
    ];
    let replies = [
        message(b'1', b""),
        message(b'2', b""),
        message(b'3', b""),
        message(b'n', b""),
        message(b'T', b""),
        message(b'D', b""),
        message(b'C', b"SELECT 1\0"),
        message(b'C', b"DEALLOCATE ALL\0"),
        message(b'C', b"ROLLBACK\0"),
        message(b's', b""),
        message(b'I', b""),
        message(b'E', b"C42601\0Mno\0\0"),
        message(b'G', b""),
        message(b'H', b""),
        message(b'W', b""),
        message(b'V', b""),
        message(b'Z', b"I"),
        message(b'Z', b"E"),
    ];
    let requests = requests.each_ref().map(Vec::as_slice);
    let replies = replies.each_ref().map(Vec::as_slice);
    for seed in 0..3000 {
        let (mut random, mut connection) = (Random::new(seed), connection());
        for _ in 0..12 {
            if connection.is_lost() {
                break;
            }
            match random.below(2) {
                0 => connection.receive(&random.bytes(&requests, 4)),
                _ => connection.send(&random.bytes(&replies, 4)),
            }
        }
        connection.lose_track();
        assert!(connection.pending.is_empty() && connection.running.is_none());
        assert_eq!(connection.budget.get(), 0, "{seed}");
    }
}

#[test]
fn an_error_undoes_what_the_skipped_messages_changed() {
    let mut connection = connection();
    let parse = |text: &str| message(b'P', format!("s\0{text}\0\0\0").as_bytes());
    let text = |connection: &Connection| {
        connection
            .pending
            .statements
            .get(b"s")
            .map(|source| source.text().to_owned())
    };
    let sync = message(b'S', b"");
    connection.receive(&[parse("SELECT 1"), sync.clone()].concat());
    connection.send(&[message(b'1', b""), message(b'Z', b"I")].concat());
    let skipped = [
        message(b'C', b"Ss\0"),
        parse("SELECT 2"),
        parse("SELECT 3"),
        sync.clone(),
    ]
    .concat();
    connection.receive(&[&skipped[..], &message(b'C', b"Ss\0"), &sync].concat());
    assert_eq!(text(&connection), None);
    connection.send(
        &[
            message(b'3', b""),
            message(b'E', b"C42601\0\0"),
            message(b'Z', b"I"),
        ]
        .concat(),
    );
    // The first Close is done, and the second one, behind the Sync, is not skipped.
    assert_eq!((text(&connection), connection.pending.len()), (None, 2));
    connection.send(&[message(b'E', b"C42601\0\0"), message(b'Z', b"I")].concat());
    assert_eq!((text(&connection), connection.pending.len()), (None, 0));
    connection.receive(&[parse("SELECT 4"), parse("SELECT 5")].concat());
    connection.send(&[message(b'1', b""), message(b'E', b"C42601\0\0")].concat());
    assert_eq!(text(&connection).as_deref(), Some("SELECT 4"));
    connection.receive(&parse("SELECT 6"));
    assert!(connection.is_skipping);
    connection.receive(&sync);
    connection.send(&message(b'Z', b"I"));
    assert_eq!(
        (text(&connection).as_deref(), connection.pending.len()),
        (Some("SELECT 4"), 0)
    );
}

#[test]
fn names_of_messages_without_replies_take_bounded_memory() {
    let mut connection = connection();
    let name = "n".repeat(60_000);
    let messages = [
        message(b'P', format!("{name}\0SELECT 1\0\0\0").as_bytes()),
        message(b'B', format!("{name}\0{name}\0").as_bytes()),
        message(b'C', format!("S{name}\0").as_bytes()),
    ];
    connection.receive(&messages.concat());
    assert!(!connection.is_lost);
    for name in connection.pending.names() {
        assert!(name.len() <= 63);
    }
    assert_eq!(connection.pending.names().count(), 3);
}

#[test]
fn statements_that_sql_deallocates_have_no_names() {
    let mut connection = connection();
    let parse = |name: &str| message(b'P', format!("{name}\0SELECT 1\0\0\0").as_bytes());
    let has = |connection: &Connection, name: &str| {
        connection.pending.statements.get(name.as_bytes()).is_some()
    };
    for sql in [
        "DEALLOCATE ALL",
        "discard all;",
        "DEALLOCATE A",
        "deallocate prepare \"a\" -- x",
    ] {
        connection.receive(&parse("a"));
        connection.send(&message(b'1', b""));
        assert!(has(&connection, "a"), "{sql}");
        // What follows is not deallocated.
        let query = message(b'Q', format!("{sql}\0").as_bytes());
        connection.receive(&[query, parse("b")].concat());
        let tag = match sql.to_ascii_uppercase().trim_end_matches(';') {
            all if all.ends_with("ALL") => all.to_owned(),
            _ => "DEALLOCATE".to_owned(),
        };
        connection.send(&message(b'C', format!("{tag}\0").as_bytes()));
        connection.send(&[message(b'Z', b"I"), message(b'1', b"")].concat());
        assert!(!has(&connection, "a") && has(&connection, "b"), "{sql}");
        assert!(connection.pending.is_empty());
    }
}

#[test]
fn a_request_before_the_session_begins_is_read() {
    super::super::commands::create("test");
    let mut connection = Connection::new(Session::new(&Address::Unix, false)).expect("created");
    let startup = b"\0\0\0\x10\0\x03\0\0user\0a\0\0";
    connection.receive(&[&startup[..], &message(b'Q', b"SELECT 1\0")].concat());
    assert!(connection.running.is_none());
    connection.send(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat());
    assert!(connection.running.is_some());
    connection.send(&message(b'C', b"SELECT 1\0"));
    assert!(connection.running.is_none() && connection.pending.len() == 1);
    connection.send(&message(b'Z', b"I"));
    assert!(connection.pending.is_empty());
}

#[test]
fn an_execution_is_read_the_same_in_all_parts() {
    let requests = [
        [
            message(b'B', b"\0s\0\0\0\0\0\0\0"),
            message(b'D', b"P\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
        ]
        .concat(),
        [
            message(b'B', b"\0s\0\0\0\0\0\0\0"),
            message(b'E', b"\0\0\0\0\x01"),
            message(b'S', b""),
        ]
        .concat(),
        message(b'P', b"s\0SELECT 1\0\0\0"),
        message(b'B', b"\0s\0\0\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'C', b"Ss\0"),
        message(b'Q', b"BEGIN\0"),
        message(b'S', b""),
    ];
    let replies = [
        [
            message(b'2', b""),
            message(b'T', b"c"),
            message(b'D', b"r"),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ]
        .concat(),
        [
            message(b'2', b""),
            message(b'C', b"INSERT 0 1\0"),
            message(b'Z', b"T"),
        ]
        .concat(),
        [message(b'2', b""), message(b's', b""), message(b'Z', b"T")].concat(),
        message(b'1', b""),
        message(b'2', b""),
        message(b'n', b""),
        message(b'D', b"r"),
        message(b'C', b"SELECT 1\0"),
        message(b'C', b"DEALLOCATE ALL\0"),
        message(b'N', b"VWARNING\0\0"),
        message(b'E', b"C22012\0Mno\0\0"),
        message(b'Z', b"I"),
        message(b'Z', b"E"),
    ];
    let mut observed = [false; 2];
    for seed in 0..20_000 {
        let (mut random, mut at_once, mut parts) = (Random::new(seed), connection(), connection());
        let parse = [message(b'P', b"s\0SELECT 1\0\0\0"), message(b'S', b"")].concat();
        for connection in [&mut at_once, &mut parts] {
            connection.receive(&parse);
            connection.send(&[message(b'1', b""), message(b'Z', b"I")].concat());
        }
        for step in 0..8 {
            let few = 1 + random.below(2);
            let is_request = match random.below(8) {
                0 => step % 2 == 1,
                _ => step % 2 == 0,
            };
            let pieces = if is_request { &requests[..] } else { &replies };
            // The executions, and the replies to them, more often than the others.
            let mut piece = || match random.below(2) {
                0 => pieces[random.below(2)].clone(),
                _ => pieces[random.below(pieces.len())].clone(),
            };
            let bytes = (0..few).flat_map(|_| piece()).collect::<Vec<u8>>();
            move_bytes(&mut at_once, &mut parts, is_request, &bytes);
            assert!(parts.execution.is_none());
            if let Some(execution) = at_once.execution {
                observed[usize::from(execution.is_described)] = true;
            }
            assert_eq!(state(&at_once), state(&parts), "{seed} {step}");
            if at_once.is_lost() {
                break;
            }
        }
        // What was not expanded in between, too.
        at_once.expand_execution();
        assert_eq!(state(&at_once), state(&parts), "{seed}");
    }
    assert_eq!(observed, [true; 2]);
}

/// What is known of a connection.
fn state(connection: &Connection) -> impl PartialEq + std::fmt::Debug {
    let messages = match connection.execution {
        Some(execution) => 3 + usize::from(execution.is_described),
        None => connection.pending.len(),
    };
    let portal = connection.pending.portals.get(b"");
    let has_portal = connection.execution.is_some() || portal.is_some();
    let running = connection.running.as_ref();
    (
        (messages, has_portal, connection.is_lost()),
        (connection.is_skipping, connection.has_begun),
        running.map(|running| (running.source.text().to_owned(), running.warnings)),
        connection.pending.statements.get(b"s").is_some(),
        connection.replies.is_at_start(),
    )
}
