//! Any text, in any sql_mode, is a plan or an error for the client.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/dialect/tests/hostile_statements/mod.rs"]
mod hostile_statements;

use std::cell::RefCell;

use hostile_statements::{Tables, translate_all};
use libfuzzer_sys::fuzz_target;
use tare_dialect::Mode;

thread_local! {
    static TABLES: RefCell<Tables> = RefCell::default();
}

fuzz_target!(|input: ([bool; 6], &[u8])| {
    let ([ansi_quotes, pipes_concat, strict, full_group_by, found_rows, zoned], text) = input;
    let mode = Mode {
        ansi_quotes,
        pipes_concat,
        strict,
        full_group_by,
        found_rows,
        zoned,
        ..Mode::default()
    };
    TABLES.with_borrow_mut(|tables| translate_all(text, tables, mode));
});
