//! Connection attributes: what a client says of itself.

use std::borrow::Cow;
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
        let mut room = [0; KEPT];
        thread::set_attributes(&lines(bytes, &mut room));
        0
    })
}

/// More than the engine keeps of a session's, by a character.
const KEPT: usize = 256;

/// Pairs of texts, each behind its length, as lines; what there is no room for is cut.
fn lines<'a>(mut bytes: &[u8], room: &'a mut [u8]) -> Cow<'a, str> {
    let mut used = 0;
    let mut put = |text: &[u8]| {
        let length = text.len().min(room.len() - used);
        let place = &mut room[used..used + length];
        place.copy_from_slice(&text[..length]);
        used += length;
        // But for the one between two pairs.
        if text != b"\n" && place.contains(&b'\n') {
            let breaks = place.iter_mut().filter(|byte| **byte == b'\n');
            breaks.for_each(|byte| *byte = b' ');
        }
    };
    let mut is_first = true;
    while let Some((key, rest)) = one(bytes)
        && let Some((value, rest)) = one(rest)
    {
        bytes = rest;
        if !is_first {
            put(b"\n");
        }
        is_first = false;
        put(key);
        put(b"=");
        put(value);
    }
    lossy(&room[..used])
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

    fn of(bytes: &[u8]) -> String {
        lines(bytes, &mut [0; KEPT]).into_owned()
    }

    #[test]
    fn pairs_become_lines() {
        assert_eq!(of(b"\x03_os\x05Linux\x04_pid\x0242"), "_os=Linux\n_pid=42");
        assert_eq!(of(b"\x01a\x03b\nc"), "a=b c");
        let long = [&b"\x01k\xfc\xc8\x00"[..], &[b'v'; 200]].concat();
        assert_eq!(of(&long), format!("k={}", "v".repeat(200)));
    }

    #[test]
    fn what_is_cut_is_left_out() {
        assert_eq!(of(b"\x03_os\x05Linux\x04_pid\x09"), "_os=Linux");
        assert_eq!(of(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx"), "");
        assert_eq!(of(b""), "");
        let long = [&b"\x01k\xfc\xe8\x03"[..], &[b'v'; 1000]].concat();
        assert_eq!(of(&long), format!("k={}", "v".repeat(KEPT - 2)));
    }
}
