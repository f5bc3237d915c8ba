//! Attributes of clients: their size, sessions that end or change while they are read, and their memory.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use support::{Random, Running, scale};
use tare::thread::{ThreadSession, Truncation};
use tare_layout::attributes::pairs;
use tare_layout::shared::Lost;
use tare_reader::threads;

tare::classes! {
    static CLIENT: Thread = "thread/test/client";
}

const LARGE_BYTES: usize = 60_000;

fn running(attribute_bytes: usize, threads: usize) -> Running {
    Running::with_limits(
        tare::Limits::default()
            .attribute_bytes(attribute_bytes)
            .threads(threads),
    )
}

/// Attributes as a client sends them: each of these values, of at most 250 bytes.
fn sent(values: impl Iterator<Item = String>) -> Vec<u8> {
    values
        .flat_map(|value| [&[1, b'n', value.len() as u8], value.as_bytes()].concat())
        .collect()
}

fn set(sent: &[u8]) -> usize {
    tare::thread::set_sent_attributes(sent, Truncation::Marked, &|text| {
        String::from_utf8_lossy(text)
    })
}

/// The values of a session's attributes.
fn values(attributes: &[u8]) -> Vec<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    pairs(attributes).map(|(_, value)| text(value)).collect()
}

#[test]
fn the_limit_is_what_was_requested() {
    for (limit, complete) in [(0, true), (512, false), (LARGE_BYTES, true)] {
        let mut config = tare::Config::everything();
        let option = ("session_connect_attrs_size", limit.to_string());
        config.option(option.0, &option.1).expect("accepted");
        let running = Running::with(|to| *to = config);
        let attributes = sent((0..LARGE_BYTES / 100).map(|i| format!("{i:097}")));
        let mut session = ThreadSession::new(&CLIENT);
        assert_eq!(session.run(|| set(&attributes)) == 0, complete);
        let threads = threads(running.view());
        let stored = threads.iter().map(|thread| values(&thread.attributes));
        let stored = stored.max_by_key(Vec::len).expect("a thread");
        let expected = match limit {
            0 => 0,
            // `_truncated` and four that fit.
            512 => 5,
            _ => LARGE_BYTES / 100,
        };
        assert_eq!(stored.len(), expected);
        let lost = running.view().shared().lost[Lost::Attributes as usize].load(Ordering::Relaxed);
        assert_eq!(lost, u64::from(!complete));
    }
}

#[test]
fn a_reader_never_sees_attributes_of_two_sessions() {
    let running = running(LARGE_BYTES, 8);
    let done = AtomicBool::new(false);
    let client = |first: u64| {
        let mut random = Random(first + 1);
        for number in 0..scale(1000, 50_000) as u64 {
            let id = first + number;
            let mut session = ThreadSession::new(&CLIENT);
            session.set_processlist_id(id);
            // As COM_CHANGE_USER does.
            for change in 0..random.below(3) {
                let count = [1, 4, 20, 200][random.below(4) as usize];
                let text = format!("{id}-{change}-{:060}", id);
                session.run(|| set(&sent((0..count).map(|_| text.clone()))));
            }
        }
    };
    let read = || {
        let mut filled = 0;
        while !done.load(Ordering::Acquire) {
            for one in threads(running.view()) {
                let values = values(&one.attributes);
                let Some(first) = values.first() else {
                    continue;
                };
                assert!(
                    first.starts_with(&format!("{}-", one.processlist_id)),
                    "{one:?}"
                );
                assert!(values.iter().all(|value| value == first), "{values:?}");
                assert!([1, 4, 20, 200].contains(&values.len()));
                filled += 1;
            }
        }
        filled
    };
    let filled = thread::scope(|scope| {
        let reader = scope.spawn(read);
        let clients: Vec<_> = (1..=4)
            .map(|i| scope.spawn(move || client(i << 32)))
            .collect();
        for one in clients {
            one.join().expect("no panic");
        }
        done.store(true, Ordering::Release);
        reader.join().expect("no panic")
    });
    assert!(filled > 0, "no attributes were read");
}

#[test]
fn ended_sessions_give_their_memory_back() {
    let running = running(65_536, 64);
    let large = sent((0..LARGE_BYTES / 100).map(|i| format!("{i:097}")));
    let small = sent((0..4).map(|i| format!("{i:097}")));
    let connect = |attributes: &[u8]| {
        let mut session = ThreadSession::new(&CLIENT);
        assert_eq!(session.run(|| set(attributes)), 0);
        session
    };
    // The slots exist from now on, and the page in which small attributes end.
    drop((0..50).map(|_| connect(&small)).collect::<Vec<_>>());
    let before = running.segment.resident_bytes();
    let sessions: Vec<_> = (0..50).map(|_| connect(&large)).collect();
    let used = running.segment.resident_bytes() - before;
    assert!(used >= 50 * LARGE_BYTES as u64, "{used}");
    drop(sessions);
    for number in 0..10_000 {
        drop(connect(if number % 20 == 0 { &large } else { &small }));
    }
    let mut session = connect(&large);
    // Another user of the same connection.
    session.run(|| set(&small));
    let more = running.segment.resident_bytes().saturating_sub(before);
    // At most the pages in which the attributes of a slot begin and end.
    assert!(more <= 50 * 2 * 4096, "{more}");
}
