//! Any bytes have a digest text: within the limit, and its own digest text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare::digest::{Extent, normalize};

fuzz_target!(|input: (u16, &[u8])| {
    let (limit, sql) = input;
    let limit = usize::from(limit);
    let (mut text, mut again) = (Vec::new(), Vec::new());
    let extent = normalize(sql, limit, &mut text);
    assert!(text.len() <= limit);
    if extent == Extent::Complete {
        assert_eq!(normalize(&text, usize::MAX, &mut again), Extent::Complete);
        assert_eq!(again, text, "normalised twice");
    }
    normalize(sql, usize::MAX, &mut text);
    if let Ok(sql) = std::str::from_utf8(sql) {
        // Names are copied completely, so that text remains text.
        assert!(std::str::from_utf8(&text).is_ok(), "{sql:?}");
    }
});
