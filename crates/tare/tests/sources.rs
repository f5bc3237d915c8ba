//! The places in the host's source where stored events began.
#![cfg(feature = "instrument")]

mod support;

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

use support::{Segment, everything, start};
use tare::metadata::MetadataLock;
use tare::sync::{Mutex, RwLock};
use tare::{
    Config, Limits, LockDuration, LockTiming, LockType, Namespace, Operation, Setting, Source, wait,
};
use tare_layout::event::word;
use tare_layout::seqlock::Record;
use tare_layout::shared::Lost;
use tare_layout::source::{FILE_BYTES, SOURCES, split};

tare::classes! {
    static EVENT: MetadataLock = "wait/lock/metadata/sources/event";
    static LOCK: Mutex = "wait/synch/mutex/sources/LOCK";
    static RWLOCK: RwLock = "wait/synch/rwlock/sources/LOCK_rw";
    static STAGE: Stage = "stage/sources/stage";
    static QUERY: Statement = "statement/sources/query";
    static TRANSACTION: Transaction = "transaction";
    static MDL: MetadataLock = "wait/lock/metadata/sources/mdl";
}

/// File and line of a number.
fn named(segment: &Segment, number: usize) -> Option<(String, u32)> {
    let used = segment.view.shared().sources_used.0.load(Ordering::Acquire);
    if number == 0 || number >= used as usize {
        return None;
    }
    let source = segment.view.source(number);
    let mut bytes = [0; FILE_BYTES];
    let file = String::from_utf8_lossy(source.file.get(&mut bytes)).into_owned();
    Some((file, source.line.load(Ordering::Relaxed)))
}

fn source_of<const N: usize>(segment: &Segment, record: &Record<N>) -> Option<(String, u32)> {
    let words = record.read().expect("an event");
    let (thread, source) = split(words[word::THREAD]);
    assert_eq!(thread, tare::thread::id());
    named(segment, source)
}

fn here(line: u32) -> Option<(String, u32)> {
    Some(("sources.rs".into(), line))
}

#[test]
fn stored_events_name_where_they_began() {
    let tare = everything(Limits::default());
    let slot = tare.view.slot(tare.slot_of(tare::thread::id()));
    let statement = tare::statement::start(&QUERY);
    let statement_line = line!() - 1;
    tare::stage::set(&STAGE);
    let stage_line = line!() - 1;
    let transaction = tare::transaction::start(&TRANSACTION, Default::default());
    let transaction_line = line!() - 1;
    drop(wait::start(&EVENT, Operation::MetadataLock));
    let wait_line = line!() - 1;
    let open = &tare.view.statements(tare.slot_of(tare::thread::id()))[0];
    assert_eq!(source_of(&tare, open), here(statement_line));
    assert_eq!(source_of(&tare, &slot.current_stage), here(stage_line));
    assert_eq!(source_of(&tare, &slot.transaction), here(transaction_line));
    assert_eq!(source_of(&tare, &slot.waits[0]), here(wait_line));
    transaction.commit();
    drop(statement);
    assert_eq!(tare.lost(Lost::Sources), 0);
}

#[test]
fn locks_name_the_caller_as_source() {
    let tare = start(Config::everything().lock_timing(LockTiming::Every));
    let (mutex, rwlock) = (Mutex::new(&LOCK, 0), RwLock::new(&RWLOCK, 0));
    let slot = tare.view.slot(tare.slot_of(tare::thread::id()));
    *mutex.lock() += 1;
    assert_eq!(source_of(&tare, &slot.waits[0]), here(line!() - 1));
    let _ = *rwlock.read();
    assert_eq!(source_of(&tare, &slot.waits[0]), here(line!() - 1));
    *rwlock.write() += 1;
    assert_eq!(source_of(&tare, &slot.waits[0]), here(line!() - 1));
    let mut lock = MetadataLock::new(&MDL, Namespace::Table, "shop", "orders");
    let lock_line = line!() - 1;
    lock.granted(LockType::SharedRead, LockDuration::Transaction);
    let lock_source = tare.view.metadata_lock(0).source.load(Ordering::Relaxed) as usize;
    assert_eq!(named(&tare, lock_source), here(lock_line));
}

#[test]
fn events_in_no_table_have_no_source() {
    let tare = start(Config::default().instruments([("%", Setting::On)]));
    tare::stage::set(&STAGE);
    drop(wait::start(&EVENT, Operation::MetadataLock));
    *Mutex::new(&LOCK, 0).lock() += 1;
    let used = &tare.view.shared().sources_used.0;
    assert_eq!(used.load(Ordering::Acquire), 1);
    // Statements are stored by default.
    drop(tare::statement::start(&QUERY));
    assert_eq!(used.load(Ordering::Acquire), 2);
}

/// An event from a place in a C library whose text is at this address now.
fn event_at(segment: &Segment, file: &CStr, line: u32) -> Option<(String, u32)> {
    // SAFETY: the text lives longer than the call.
    let source = unsafe { Source::of_c(file.as_ptr(), line) };
    drop(wait::start_at(&EVENT, Operation::MetadataLock, source));
    let slot = segment.view.slot(segment.slot_of(tare::thread::id()));
    source_of(segment, &slot.waits[0])
}

#[test]
fn a_library_at_the_address_of_another_is_distinguished() {
    let tare = everything(Limits::default());
    let mut library = *b"/plugins/one.cc\0";
    for name in ["one.cc", "two.cc", "one.cc"] {
        library[9..15].copy_from_slice(name.as_bytes());
        let file = CStr::from_bytes_with_nul(&library).expect("one zero");
        assert_eq!(event_at(&tare, file, 7), Some((name.into(), 7)));
    }
    // The number of a place with the same text is used again, at any address.
    let before = tare.view.shared().sources_used.0.load(Ordering::Acquire);
    assert_eq!(
        event_at(&tare, c"/elsewhere/two.cc", 7),
        Some(("two.cc".into(), 7))
    );
    assert_eq!(
        tare.view.shared().sources_used.0.load(Ordering::Acquire),
        before
    );
    // A place that C cannot express is unknown, and no loss.
    for line in [0, 0x1_0000, u32::MAX] {
        assert_eq!(event_at(&tare, c"x.cc", line), None);
    }
    // SAFETY: no text is NULL.
    let nowhere = unsafe { Source::of_c(std::ptr::null(), 7) };
    drop(wait::start_at(&EVENT, Operation::MetadataLock, nowhere));
    assert_eq!(tare.lost(Lost::Sources), 0);
}

#[test]
fn sources_beyond_the_limit_are_counted_as_lost() {
    let tare = everything(Limits::default());
    let file = c"many.cc";
    let more = 10;
    let numbers: BTreeSet<_> = (1..SOURCES + more)
        .map(|line| event_at(&tare, file, line as u32))
        .collect();
    assert_eq!(tare.lost(Lost::Sources), more as u64);
    // Each place within the limit, and NULL.
    assert_eq!(numbers.len(), SOURCES);
    assert!(numbers.contains(&None));
    // The existing places are found again.
    assert_eq!(event_at(&tare, file, 1), Some(("many.cc".into(), 1)));
}
