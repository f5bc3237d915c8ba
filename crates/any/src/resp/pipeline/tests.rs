//! Tests of [`Commands`].

use super::*;
use crate::random::{Random, move_bytes};
use crate::session::Address;

fn commands() -> Commands {
    commands::create("test");
    Commands::new(Session::new(&Address::Unix, false), -1)
}

#[test]
fn a_client_that_reads_no_reply_takes_bounded_memory() {
    let mut commands = commands();
    let argument = format!("$128\r\n{}\r\n", "x".repeat(128));
    let long = format!("*64\r\n{}", argument.repeat(64));
    for _ in 0..1000 {
        commands.receive(long.as_bytes());
    }
    assert!(commands.stored <= MAX_STORED_BYTES && commands.stored > MAX_STORED_BYTES / 2);
    assert_eq!(commands.pending.len(), 1000);
    // Replies give the memory back.
    commands.send("-ERR no\r\n".repeat(1000).as_bytes());
    assert_eq!((commands.stored, commands.pending.len()), (0, 0));
    commands.receive("PING\r\n".repeat(MAX_PENDING).as_bytes());
    assert_eq!(commands.pending.len(), MAX_PENDING);
    commands.receive("PING\r\n".repeat(1000).as_bytes());
    assert!(commands.is_lost && commands.pending.capacity() == 0);
    assert_eq!(commands.stored, 0);
}

#[test]
fn any_requests_and_replies_leave_bounded_memory() {
    let requests: &[&[u8]] = &[
        b"GET k\r\n",
        b"MULTI\r\n",
        b"EXEC\r\n",
        b"DISCARD\r\n",
        b"RESET\r\n",
        b"SUBSCRIBE c\r\n",
        b"CLIENT REPLY OFF\r\n",
        b"CLIENT REPLY SKIP\r\n",
        b"CLIENT REPLY ON\r\n",
        b"CLIENT SETNAME n\r\n",
        b"HELLO 3 AUTH a b SETNAME\r\n",
        b"AUTH\r\n",
        b"SELECT\r\n",
        b"MONITOR\r\n",
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
        b"\0\xff",
    ];
    let replies: &[&[u8]] = &[
        b"+OK\r\n",
        b"+QUEUED\r\n",
        b"-ERR no\r\n",
        b"*1\r\n-ERR no\r\n",
        b"*2\r\n+OK\r\n-ERR no\r\n",
        b"*-1\r\n",
        b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
        b">2\r\n+invalidate\r\n*0\r\n",
        b"\0\xff",
    ];
    for seed in 0..3000 {
        let (mut random, mut commands) = (Random::new(seed), commands());
        commands.open();
        for _ in 0..12 {
            match random.below(2) {
                0 => commands.receive(&random.bytes(requests, 3)),
                _ => commands.send(&random.bytes(replies, 4)),
            }
            let queued = commands.queued.iter().flatten();
            let stored = commands.pending.iter().chain(queued);
            let stored: usize = stored.map(|pending| pending.request.size()).sum();
            assert_eq!(commands.stored, stored, "{seed}");
        }
        commands.lose_track();
        assert!(commands.pending.is_empty() && commands.queued.is_none() && commands.stored == 0);
    }
}

#[test]
fn errors_of_a_transaction_belong_to_their_commands() {
    let mut commands = commands();
    commands.receive(b"MULTI\r\n");
    commands.send(b"+OK\r\n");
    commands.receive(&b"INCR k\r\n".repeat(MAX_PENDING - 1));
    commands.send(&b"+QUEUED\r\n".repeat(MAX_PENDING - 1));
    assert_eq!(
        commands.queued.as_ref().map(Vec::len),
        Some(MAX_PENDING - 1)
    );
    commands.receive(b"EXEC\r\n");
    // In linear time.
    let mut reply = format!("*{}\r\n", MAX_PENDING - 1);
    reply.push_str(&"-ERR no\r\n".repeat(MAX_PENDING - 1));
    commands.send(reply.as_bytes());
    assert!(commands.pending.is_empty() && commands.queued.is_none());
}

#[test]
fn a_transaction_without_an_end_takes_bounded_memory() {
    let mut commands = commands();
    commands.receive(b"MULTI\r\n");
    commands.send(b"+OK\r\n");
    for _ in 0..MAX_PENDING {
        assert!(!commands.is_lost);
        commands.receive(b"GET user:17\r\n");
        commands.send(b"+QUEUED\r\n");
    }
    commands.receive(b"GET user:17\r\n");
    assert!(commands.is_lost && commands.queued.is_none());
    assert_eq!(commands.stored, 0);
}

#[test]
fn a_command_is_read_the_same_in_all_parts() {
    let requests: &[&[u8]] = &[
        b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
        b"*3\r\n$3\r\nset\r\n$1\r\nk\r\n$0\r\n\r\n",
        b"*1\r\n$5\r\nMULTI\r\n",
        b"*1\r\n$4\r\nEXEC\r\n",
        b"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n",
        b"*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$4\r\nSKIP\r\n",
        b"*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"GET k\r\n",
        b"*0\r\n",
    ];
    let replies: &[&[u8]] = &[
        b"$1\r\nx\r\n",
        b"+OK\r\n",
        b"$-1\r\n",
        b":12\r\n",
        b"+QUEUED\r\n",
        b"-ERR no\r\n",
        b"*1\r\n$1\r\nx\r\n",
        b">2\r\n+invalidate\r\n*0\r\n",
        b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
    ];
    let new = || {
        commands::create("test");
        Commands::new(Session::new(&Address::Unix, true), -1)
    };
    let mut were_only = 0;
    for seed in 0..20_000 {
        let (mut random, mut at_once, mut parts) = (Random::new(seed), new(), new());
        for step in 0..8 {
            let is_request = match random.below(8) {
                0 => step % 2 == 1,
                _ => step % 2 == 0,
            };
            // One command, and one reply, more often than several.
            let few = 1 + random.below(4) / 3;
            let pieces = if is_request { requests } else { replies };
            let bytes: Vec<u8> = (0..few)
                .flat_map(|_| random.pick(pieces).to_vec())
                .collect();
            move_bytes(&mut at_once, &mut parts, is_request, &bytes);
            assert!(parts.only.is_none());
            were_only += u32::from(at_once.only.is_some());
            assert_eq!(state(&at_once), state(&parts), "{seed} {step}");
        }
        at_once.list_only();
        assert_eq!(state(&at_once), state(&parts), "{seed}");
        at_once.lose_track();
        assert!(at_once.pending.is_empty() && at_once.stored == 0, "{seed}");
    }
    assert!(were_only > 1000);
}

/// What is known of a connection.
fn state(commands: &Commands) -> impl PartialEq + std::fmt::Debug {
    let listed = commands.pending.iter().map(|pending| pending.command);
    let all = commands.only.iter().map(|only| only.command).chain(listed);
    let names: Vec<_> = all.map(|command| command.name.clone()).collect();
    let queued = commands.queued.as_ref().map(Vec::len);
    (
        (names, queued, commands.running.is_some()),
        (commands.mode == Replies::On, commands.is_lost),
        (commands.is_subscribed, commands.has_begun),
    )
}
