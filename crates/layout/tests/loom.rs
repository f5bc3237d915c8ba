//! Every interleaving of a writer and its readers, as far as loom's memory model goes.
//!
//! Run by `make loom`; a plain `cargo test` compiles this file to nothing.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;

use tare_layout::activity::{Activity, Statement};
use tare_layout::primitive::{AtomicU64, Ordering};
use tare_layout::seqlock::Record;

type Small = Record<3>;

/// Words 1 and 2 are functions of the id, so that a mixture is detected.
fn words(id: u64) -> [u64; 3] {
    [id, id * 10, id * 100]
}

#[track_caller]
fn assert_complete(copy: Option<[u64; 3]>) {
    if let Some(copy) = copy {
        assert_eq!(copy, words(copy[0]), "a mixture of two records");
    }
}

#[test]
fn a_record_is_read_completely_or_not_at_all() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        let writer = thread::spawn({
            let record = record.clone();
            move || {
                record.publish(&words(1));
                record.publish(&words(2));
            }
        });
        assert_complete(record.read());
        writer.join().unwrap();
        assert_eq!(record.read(), Some(words(2)));
    });
}

#[test]
fn a_reader_that_comes_late_never_goes_back() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&words(1));
        let writer = thread::spawn({
            let record = record.clone();
            move || record.publish(&words(2))
        });
        let (first, second) = (record.read(), record.read());
        assert_complete(first);
        assert_complete(second);
        if let (Some(first), Some(second)) = (first, second) {
            assert!(first[0] <= second[0], "{first:?} then {second:?}");
        }
        writer.join().unwrap();
    });
}

/// A statement of a task ends outside of its session, whose next one takes the record as soon as it is free.
#[test]
fn a_record_that_another_thread_removes_is_taken_again() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&words(1));
        let other = thread::spawn({
            let record = record.clone();
            move || record.remove(1)
        });
        let reader = thread::spawn({
            let record = record.clone();
            move || assert_complete(record.read())
        });
        let is_free = record.word(0) == 0;
        if is_free {
            record.publish(&words(2));
        }
        other.join().unwrap();
        reader.join().unwrap();
        assert_eq!(record.read(), is_free.then(|| words(2)));
    });
}

#[test]
fn two_readers_read_complete_records() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&words(1));
        let reader = thread::spawn({
            let record = record.clone();
            move || assert_complete(record.read())
        });
        let writer = thread::spawn({
            let record = record.clone();
            move || record.publish(&words(2))
        });
        assert_complete(record.read());
        reader.join().unwrap();
        writer.join().unwrap();
    });
}

/// The end of an event is a word set separately: read or not, never torn from its record.
#[test]
fn a_word_set_later_belongs_to_its_record() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&[1, 7, 0]);
        let writer = thread::spawn({
            let record = record.clone();
            move || {
                record.set(2, 9);
                record.publish(&[2, 8, 0]);
            }
        });
        match record.read() {
            None | Some([1, 7, 0 | 9]) | Some([2, 8, 0]) => {}
            Some(mixed) => panic!("{mixed:?}"),
        }
        writer.join().unwrap();
        assert_eq!(record.read(), Some([2, 8, 0]));
    });
}

#[test]
fn a_cleared_record_is_gone() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&words(1));
        let writer = thread::spawn({
            let record = record.clone();
            move || {
                record.clear();
                record.publish(&words(2));
            }
        });
        assert_complete(record.read());
        writer.join().unwrap();
        assert_eq!(record.read(), Some(words(2)));
    });
}

/// A reader of the record sees what the writer did before publishing it (a statement's text is in a
/// separate ring).
#[test]
fn a_record_publishes_what_was_written_before() {
    loom::model(|| {
        let pair = Arc::new((AtomicU64::new(0), Small::default()));
        let writer = thread::spawn({
            let pair = pair.clone();
            move || {
                pair.0.store(5, Ordering::Relaxed);
                pair.1.publish(&words(1));
            }
        });
        if pair.1.read().is_some() {
            assert_eq!(pair.0.load(Ordering::Relaxed), 5);
        }
        writer.join().unwrap();
    });
}

/// What a thread does now. The end of a statement does not change the sequence.
#[test]
fn a_statement_of_now_is_read_completely_or_not_at_all() {
    let statement = |class: u32| Statement {
        class,
        began: u64::from(class) * 10,
        depth: class,
        ..Statement::default()
    };
    loom::model(move || {
        let line = Arc::new(Activity::default());
        line.change(|line| line.set(statement(1)));
        let writer = thread::spawn({
            let line = line.clone();
            move || {
                line.end(11);
                line.change(|line| line.set(statement(2)));
            }
        });
        if let Some((read, ())) = line.read(|_| ())
            && read.class != 0
        {
            assert_eq!(read, statement(read.class), "a mixture of two statements");
        }
        writer.join().unwrap();
        assert_eq!(line.read(|_| ()), Some((statement(2), ())));
    });
}

/// The test of the tests: if the id does not go to 0 first, loom finds the mixture.
#[test]
#[should_panic(expected = "a mixture of two records")]
fn the_model_finds_a_careless_writer() {
    loom::model(|| {
        let record = Arc::new(Small::default());
        record.publish(&words(1));
        let writer = thread::spawn({
            let record = record.clone();
            move || {
                for (word, value) in words(2).into_iter().enumerate().rev() {
                    record.set(word, value);
                }
            }
        });
        assert_complete(record.read());
        writer.join().unwrap();
    });
}
