//! Reading allocates nothing: a segment takes no more memory after every table was read.

mod support;

use std::sync::atomic::Ordering;

use support::Running;
use tare_layout::geometry::{CHUNK_EVENTS, PAGE};
use tare_layout::slot::ring;
use tare_reader::events::{Events, Table};
use tare_reader::{Names, Scope};

tare::classes! {
    static READ: File = "wait/io/file/test/read", enabled;
    static QUERY: Statement = "statement/test/query";
    static WORKER: Thread = "thread/test/worker";
}

#[test]
fn reading_every_table_allocates_no_page() {
    let running = Running::new();
    for i in 0..20 {
        let work = move || {
            tare::thread::set_account(&format!("user{}", i % 3), "localhost");
            let statement = tare::statement::start(&QUERY);
            statement.text(&format!("SELECT {i} FROM t{}", i % 7));
            drop(tare::wait::start(&READ, tare::Operation::Read));
        };
        let thread = tare::thread::spawn(&WORKER, work).expect("a thread");
        thread.join().expect("no panic");
    }
    // Every truncation allocates some pages, which are not counted for the reader.
    running.truncate(Scope::Global);
    let before = running.segment.resident_bytes();
    let (view, selection, banks) = (running.segment.view(), running.selection(), running.banks());
    let threads = tare_reader::threads(view);
    let mut rows = banks.global(&selection).rows().count();
    rows += banks.accounts(&selection).iter().flatten().count();
    rows += banks.histograms(&selection).iter().flatten().count();
    for thread in &threads {
        rows += banks
            .thread(&selection, thread.slot, thread.bank)
            .iter()
            .count();
    }
    let events = Events::new(view, &threads);
    for table in [Table::Current, Table::History] {
        rows += events.waits(table).len() + events.stages(table).len();
        rows += events.statements(table).len() + events.transactions(table).len();
    }
    let instances = banks.instance_rows(&threads);
    rows += banks.instances(&instances).len() + banks.files(&instances).len();
    rows += banks.digests().len() + Names::read(view).accounts.len();
    assert!(rows >= 15, "{rows}");
    let allocated = running.segment.resident_bytes() - before;
    assert_eq!(allocated, 0, "bytes were made by looking at {rows} rows");

    // All of a history_long's chunk is read, even if a thread has only begun it.
    let chunks = view.shared().tickets[ring::STATEMENTS]
        .0
        .load(Ordering::Relaxed);
    let chunk = view.geometry().long(ring::STATEMENTS).stride * CHUNK_EVENTS;
    let count = events.statements(Table::Long).len();
    assert_eq!(count, 20);
    let allocated = running.segment.resident_bytes() - before;
    assert!(
        allocated <= chunks * chunk.next_multiple_of(PAGE) as u64,
        "{allocated} bytes"
    );
}
