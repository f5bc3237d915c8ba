//! Segments that are random, cut off or damaged give an error or wrong figures, and never a crash.
//!
//! Thousands of cases each; a million under `make test-long`, and endless under `make fuzz`.

mod hostile_bytes;

use std::cell::RefCell;

use hostile_bytes::{ACTIVE_TEXT, Buffer, first_page, offsets, real, temporary};
use proptest::prelude::*;
use tare_layout::header::HEADER_BYTES;
use tare_reader::validate::validate;
use tare_reader::{AttachError, Invalid, Segment, Target};

/// `make test-long` sets TARE_TEST_LONG.
fn cases(usual: u32, long: u32) -> ProptestConfig {
    let cases = if std::env::var_os("TARE_TEST_LONG").is_some() {
        long
    } else {
        usual
    };
    // proptest writes no files: it prints a failing case, which is small once shrunk.
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

#[test]
fn a_threads_line_is_read() {
    let path = temporary("line");
    std::fs::write(&path, real()).unwrap();
    let segment = Segment::attach(Target::Path(path.clone())).unwrap();
    std::fs::remove_file(path).unwrap();
    let all = tare_reader::active_threads(segment.view());
    let [thread] = &all.active[..] else {
        panic!("one thread has a statement: {:?}", all.active);
    };
    let statement = thread.statement.as_ref().expect("a statement");
    assert_eq!(statement.text.as_deref(), Some(ACTIVE_TEXT));
    assert!(statement.is_cut);
    let (class, start) = (statement.head.class, statement.head.start);
    assert_eq!((class, start, statement.head.level), (1, Some(1), 0));
    let wait = thread.wait.as_ref().expect("a wait");
    let about = (wait.head.class, wait.operation, wait.object);
    assert_eq!(about, (1, Some(tare::Operation::Sync), 7));
    assert_eq!(thread.os_id, u64::from(thread.os_id as u32));
    assert_ne!(thread.os_id, 0);
}

/// Hostile numbers: small ones, huge ones, bounds, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..300_u64,
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        (0..64_u32, -1..=1_i64).prop_map(|(bit, by)| (1_u64 << bit).wrapping_add_signed(by)),
        Just(u64::MAX),
        // An item's tag: kind, lines, id.
        (0..6_u64, 0..40_u64, any::<u32>())
            .prop_map(|(item, lines, id)| item | lines << 8 | u64::from(id) << 32),
    ]
}

proptest! {
    #![proptest_config(cases(10_000, 1_000_000))]

    #[test]
    fn random_bytes_are_no_segment(bytes in prop::collection::vec(any::<u8>(), 0..512), length in any::<u64>()) {
        prop_assert_eq!(validate(&first_page(&bytes), length), Err(Invalid::Magic));
    }

    #[test]
    fn a_damaged_header_is_refused_or_harmless(
        changes in prop::collection::vec((0..HEADER_BYTES / 8, number()), 1..4),
        length in prop_oneof![3 => Just(None), 1 => any::<u64>().prop_map(Some)],
    ) {
        let mut page = first_page(real());
        for (at, value) in changes {
            page[at * 8..at * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
        let length = length.unwrap_or(real().len() as u64);
        if let Ok(geometry) = validate(&page, length) {
            // Only the geometry of bounded limits is used, and it fits into the file.
            prop_assert!(geometry.total_bytes as u64 <= length);
            let computed = tare_layout::Geometry::new(geometry.limits.clamped());
            prop_assert_eq!(geometry, computed);
        }
    }

    #[test]
    fn a_segment_cut_off_is_refused(length in 0..real().len()) {
        let result = validate(&first_page(&real()[..length]), length as u64);
        prop_assert!(result.is_err(), "{} bytes of {}: {:?}", length, real().len(), result);
        if length >= HEADER_BYTES {
            let needed = real().len() as u64;
            prop_assert_eq!(result, Err(Invalid::Truncated { actual: length as u64, needed }));
        }
    }

    #[test]
    fn damaged_bytes_are_read_to_the_end(
        changes in prop::collection::vec((any::<prop::sample::Index>(), number()), 1..24)
    ) {
        thread_local! {
            static BUFFER: RefCell<Buffer> = RefCell::new(Buffer::new());
        }
        let changes: Vec<(usize, u64)> =
            changes.iter().map(|(at, value)| (*at.get(offsets()), *value)).collect();
        BUFFER.with_borrow_mut(|buffer| buffer.read_with(&changes));
    }
}

proptest! {
    #![proptest_config(cases(300, 5_000))]

    /// Attaches through a file.
    #[test]
    fn damaged_files_attach_or_give_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), number()), 0..8),
        in_header in prop::collection::vec((0..HEADER_BYTES / 8, number()), 0..2),
        cut in prop_oneof![3 => Just(None), 1 => (0..real().len()).prop_map(Some)],
    ) {
        let mut bytes = real().to_vec();
        let changes = changes.iter().map(|(at, value)| (*at.get(offsets()), *value));
        for (at, value) in changes.chain(in_header) {
            bytes[at * 8..at * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes.truncate(cut.unwrap_or(bytes.len()));
        let path = temporary("damaged");
        std::fs::write(&path, &bytes).unwrap();
        match Segment::attach(Target::Path(path.clone())) {
            Ok(segment) => {
                hostile_bytes::read_everything(&segment);
                hostile_bytes::read_times(segment.clock());
            }
            Err(AttachError::Invalid { source, .. }) => prop_assert!(source.to_string().len() > 20),
            Err(other) => prop_assert!(false, "{other}"),
        }
        std::fs::remove_file(path).unwrap();
    }
}

/// The undamaged segment has the recorded events: otherwise the other tests would prove nothing.
#[test]
fn the_damaged_segment_was_a_real_one() {
    assert!(offsets().len() > 500, "{}", offsets().len());
    Buffer::new().read_with(&[]);
    let path = temporary("intact");
    std::fs::write(&path, real()).unwrap();
    let segment = Segment::attach(Target::Path(path.clone())).unwrap();
    let classes = tare_reader::Classes::read(segment.view());
    let selection = tare_reader::Selection::new(&classes, |_| true);
    let totals = tare_reader::Banks::new(segment.view(), false).global(&selection);
    let query = classes.find("statement/hostile/query").unwrap();
    assert_eq!(
        totals.row(query.id).unwrap()[0][tare_layout::line::COUNT],
        10
    );
    // The first thread runs a statement, a stage and a wait; the second one has ended.
    let threads = tare_reader::threads(segment.view());
    assert_eq!(threads.len(), 1);
    let events = tare_reader::Events::new(segment.view(), &threads);
    let running = tare_reader::events::Table::Current;
    assert_eq!(events.waits(running).len(), 1);
    assert_eq!(
        events.statements(running)[0].text.as_deref(),
        Some("SELECT SLEEP(1)")
    );
    let banks = tare_reader::Banks::new(segment.view(), false);
    let rows = banks.object_rows();
    let table = &banks.tables(&rows)[0];
    assert_eq!((&*table.schema, &*table.name), ("hostile", "t1"));
    let counts = |i: usize| table.io[i].1.map(|line| line[tare_layout::line::COUNT]);
    assert_eq!(counts(1), [15, 0, 0, 0]);
    assert_eq!(counts(2), [0, 5, 0, 0]);
    assert_eq!(banks.programs(&rows)[0].row[1][tare_layout::line::COUNT], 5);
    assert_eq!(banks.table_handles().len(), 1);
    assert_eq!(banks.metadata_locks().len(), 1);
    assert_eq!(&*banks.prepared_statements()[0].text, "SELECT 1");
    assert_eq!(tare_reader::Rule::all(segment.view()).len(), 20);
    let history = tare_reader::events::Table::History;
    assert_eq!(events.transactions(history).len(), 2);
    std::fs::remove_file(path).unwrap();
}
