//! A text that is longer than its column is cut between two characters, and nothing panics into the host.
#![cfg(feature = "instrument")]

mod support;

use support::everything;
use tare::digest::Digest;
use tare::{
    Class, Counter, Kind, Limits, LockDuration, LockType, Namespace, ObjectType, Operation,
    TableLock,
};

tare::classes! {
    static FILE: File = "wait/io/file/long_texts/data";
    static SOCKET: Socket = "wait/io/socket/long_texts/client";
    static TABLE_IO: TableIo = "wait/io/table/long_texts/handler";
    static TABLE_LOCK: TableLock = "wait/lock/table/long_texts/handler";
    static LOCK: MetadataLock = "wait/lock/metadata/long_texts/mdl";
    static QUERY: Statement = "statement/long_texts/query";
    static TASK: Statement = "statement/long_texts/task";
    static SESSION: Thread = "thread/long_texts/session";
}

/// A host that passes this text wherever a point takes one.
fn pass(text: &str) {
    tare::thread::set_account(text, text);
    tare::thread::set_db(text);
    tare::thread::set_state(text);
    tare::thread::set_info(text);
    tare::thread::set_attributes(text);
    tare::error::define(60_000, text, text);
    tare::file::Instance::open(&FILE, text)
        .wait(Operation::Read)
        .bytes(1);
    tare::file::Instance::renamed(&FILE, text, text);
    tare::file::Instance::deleted(&FILE, text);
    let mut socket = tare::socket::Instance::new(&SOCKET, 3);
    socket.peer(text, 1);
    drop(socket.wait(Operation::Recv));
    let classes = tare::table::Classes {
        io: &TABLE_IO,
        lock: &TABLE_LOCK,
    };
    let table = tare::table::Table::new(classes, text, text, &[text]);
    table.open().locked(TableLock::Read);
    drop(table.io(Operation::Fetch, Some(0)));
    tare::table::dropped(text, text);
    let mut lock =
        tare::metadata::MetadataLock::of_column(&LOCK, Namespace::Table, text, text, text);
    lock.granted(LockType::SharedRead, LockDuration::Transaction);
    let prepared = tare::prepared::Prepared::new(1, Some(text), text);
    let program = tare::program::Program::new(ObjectType::Procedure, text, text);
    let call = program.start();
    let statement = tare::statement::start(&QUERY);
    statement.schema(text);
    statement.text(text);
    statement.text_only(text);
    statement.prepared(text, &Digest::of(text));
    statement.prepared_with_verb(text, text, &Digest::with_verb(text, text));
    statement.digest_by_tokens(text.as_bytes(), text, text);
    statement.digest_by_shape(text, text);
    statement.executes(&prepared);
    statement.set(Counter::RowsSent, u64::MAX);
    statement.error(60_000, text, text);
    drop(statement);
    drop(call);
    program.dropped();
    let task = tare::task::statement::start(&TASK);
    task.schema(text);
    task.text(text);
    task.shape(text);
    task.error(60_000, text, text);
    tare::metrics::enable(text);
}

#[test]
fn texts_are_cut_between_characters() {
    let tare = everything(Limits::default());
    let texts = ["x", "é", "語", "🦀", "\0", "'", "`", "/*", "("].map(|text| text.repeat(20_000));
    for text in texts.iter().map(String::as_str).chain(["", "x"]) {
        let mut session = tare::thread::ThreadSession::new(&SESSION);
        session.run(|| {
            pass(text);
            let id = tare::thread::id();
            assert_ne!(id, 0);
            let used = (0..Limits::default().threads).map(|i| tare.view.slot(i));
            let slot = used
                .into_iter()
                .find(|slot| slot.thread_id.load(std::sync::atomic::Ordering::Relaxed) == id)
                .expect("its slot");
            let mut bytes = vec![0; 1 << 16];
            for stored in [
                slot.state_text.get(&mut bytes).to_vec(),
                slot.info.get(&mut bytes).to_vec(),
            ] {
                let stored = std::str::from_utf8(&stored).expect("complete characters");
                assert!(text.starts_with(stored));
                assert!(text.is_empty() || text.starts_with('\0') || !stored.is_empty());
            }
        });
    }
    assert_eq!(tare.total(&QUERY).count, 11);
    assert_eq!(tare.total(&TASK).count, 11);
    let long = format!("statement/{}", "x".repeat(20_000));
    assert!(Class::find_or_create(Kind::Statement, &long, &long, Class::enabled).is_err());
    let longest = format!("statement/{}", "x".repeat(118));
    let class = Class::find_or_create(Kind::Statement, &longest, &long, Class::enabled);
    drop(tare::statement::start(class.expect("128 bytes")));
}
