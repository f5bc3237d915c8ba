//! Connection attributes: what a client says of itself.

use std::ffi::{c_char, c_int, c_void};

use engine::thread;

use super::exchange::{lossy, quiet};

/// # Safety
/// The interface.
pub unsafe extern "C" fn set_thread_connect_attrs(
    buffer: *const c_char,
    length: u32,
    _charset: *const c_void,
) -> c_int {
    quiet(0, || {
        if buffer.is_null() {
            return 0;
        }
        // SAFETY: the interface: so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.cast(), length as usize) };
        thread::set_attributes(&lines(bytes));
        0
    })
}

/// Pairs of texts, each behind its length, as lines.
fn lines(mut bytes: &[u8]) -> String {
    let mut lines = Vec::with_capacity(bytes.len());
    while let Some((key, rest)) = one(bytes)
        && let Some((value, rest)) = one(rest)
    {
        bytes = rest;
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        for (text, between) in [(key, &b"="[..]), (value, b"")] {
            lines.extend(text.iter().map(|byte| match byte {
                b'\n' => b' ',
                other => *other,
            }));
            lines.extend(between);
        }
    }
    // As a whole: it is read eight bytes at a time.
    String::from_utf8(lines).unwrap_or_else(|bad| lossy(bad.as_bytes()).into_owned())
}

/// A text behind its length, and the rest.
fn one(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let wide = |n: usize| {
        let (number, rest) = rest.split_at_checked(n)?;
        let number = number
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        rest.split_at_checked(number)
    };
    match first {
        0..=250 => rest.split_at_checked(usize::from(first)),
        252 => wide(2),
        253 => wide(3),
        254 => wide(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_lines() {
        assert_eq!(
            lines(b"\x03_os\x05Linux\x04_pid\x0242"),
            "_os=Linux\n_pid=42"
        );
        let long = [&b"\x01k\xfc\x00\x01"[..], &[b'v'; 256]].concat();
        assert_eq!(lines(&long), format!("k={}", "v".repeat(256)));
    }

    #[test]
    fn what_is_cut_is_left_out() {
        assert_eq!(lines(b"\x03_os\x05Linux\x04_pid\x09"), "_os=Linux");
        assert_eq!(lines(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx"), "");
        assert_eq!(lines(b""), "");
    }
}
