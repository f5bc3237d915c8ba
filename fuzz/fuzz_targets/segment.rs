//! Hostile bytes never crash a reader: as the first page of a file, and as damage to a real segment.
#![no_main]

#[path = "../../crates/reader/tests/hostile_bytes/mod.rs"]
mod hostile_bytes;

use std::cell::RefCell;

use hostile_bytes::{Buffer, first_page, offsets, real};
use libfuzzer_sys::fuzz_target;
use tare_reader::validate::validate;

thread_local! {
    static BUFFER: RefCell<Buffer> = RefCell::new(Buffer::new());
}

fuzz_target!(|input: (Vec<(u16, u64)>, &[u8])| {
    let (changes, page) = input;
    let _ = validate(&first_page(page), u64::MAX);
    // The same after a valid first part, so that the magic need not be guessed.
    let mut damaged = first_page(real());
    let at = usize::from(page.first().copied().unwrap_or(0)) * 8;
    let length = page.len().min(damaged.len() - at);
    damaged[at..at + length].copy_from_slice(&page[..length]);
    if let Ok(geometry) = validate(&damaged, real().len() as u64) {
        assert!(geometry.total_bytes <= real().len());
    }
    let changes: Vec<(usize, u64)> = changes
        .into_iter()
        .map(|(at, value)| (offsets()[usize::from(at) % offsets().len()], value))
        .collect();
    BUFFER.with_borrow_mut(|buffer| buffer.read_with(&changes));
});
