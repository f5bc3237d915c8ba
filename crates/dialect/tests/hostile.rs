//! What a client sends as a statement may be any text: a plan or an error, never a crash.
//!
//! Thousands of cases each; a million under `make test-long`, and without end under `make fuzz`.

mod hostile_statements;

use std::cell::RefCell;

use hostile_statements::{CORPUS, Tables, translate_all};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tare_dialect::Mode;

thread_local! {
    static TABLES: RefCell<Tables> = RefCell::default();
}

/// `make test-long` sets TARE_TEST_LONG.
fn cases() -> ProptestConfig {
    let cases = match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => 1_000_000,
        None => 2_000,
    };
    // Failures are stored in no file. A failing input is printed, and is small once it is shrunk.
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

fn mode() -> impl Strategy<Value = Mode> {
    any::<[bool; 6]>().prop_map(
        |[
            ansi_quotes,
            pipes_concat,
            strict,
            full_group_by,
            found_rows,
            zoned,
        ]| Mode {
            ansi_quotes,
            pipes_concat,
            strict,
            full_group_by,
            found_rows,
            zoned,
            ..Mode::default()
        },
    )
}

fn words() -> Vec<&'static str> {
    CORPUS.iter().flat_map(|text| text.split(' ')).collect()
}

/// What is done to a statement's words.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Insert(&'static str),
    Replace(&'static str),
    Cut,
    Repeat,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Remove),
        select(words()).prop_map(Change::Insert),
        select(words()).prop_map(Change::Replace),
        Just(Change::Cut),
        Just(Change::Repeat),
    ]
}

fn changed(text: &'static str, changes: &[(Index, Change)]) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for (at, change) in changes {
        let at = at.index(words.len());
        match change {
            Change::Remove if words.len() > 1 => _ = words.remove(at),
            Change::Remove => {}
            Change::Insert(word) => words.insert(at, word),
            Change::Replace(word) => words[at] = word,
            Change::Cut => words.truncate(at.max(1)),
            Change::Repeat => words.insert(at, words[at]),
        }
    }
    words.join(" ")
}

fn run(bytes: &[u8], mode: Mode) {
    TABLES.with_borrow_mut(|tables| translate_all(bytes, tables, mode));
}

#[test]
fn the_corpus_is_translated() {
    for text in CORPUS {
        run(text.as_bytes(), Mode::default());
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_bytes_are_a_plan_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64), mode in mode()) {
        run(&bytes, mode);
    }

    #[test]
    fn any_words_are_a_plan_or_an_error(words in prop::collection::vec(select(words()), 1..24), mode in mode()) {
        run(words.join(" ").as_bytes(), mode);
    }

    #[test]
    fn a_changed_statement_is_a_plan_or_an_error(
        text in select(CORPUS.to_vec()),
        changes in prop::collection::vec((any::<Index>(), change()), 0..5),
        mode in mode(),
    ) {
        run(changed(text, &changes).as_bytes(), mode);
    }

    #[test]
    fn a_damaged_statement_is_a_plan_or_an_error(
        text in select(CORPUS.to_vec()),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        mode in mode(),
    ) {
        let mut bytes = text.as_bytes().to_vec();
        for (at, value) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        run(&bytes, mode);
    }
}
