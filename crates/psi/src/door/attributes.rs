//! Connection attributes: what a client reports of itself.

use std::ffi::{c_char, c_int, c_void};

use engine::thread;

use super::exchange::catch_panic;
use crate::interface::charset::decode;

pub unsafe extern "C" fn set_thread_connect_attrs(
    buffer: *const c_char,
    length: u32,
    charset: *const c_void,
) -> c_int {
    catch_panic(0, || {
        if buffer.is_null() {
            return 0;
        }
        // SAFETY: rule 4 (readable for its length).
        let bytes = unsafe { std::slice::from_raw_parts(buffer.cast(), length as usize) };
        let (mut buffer, all);
        let lines = match bytes.len() <= BUFFER_BYTES {
            true => {
                buffer = [0; BUFFER_BYTES];
                lines(bytes, &mut buffer)
            }
            false => {
                all = all_lines(bytes);
                &all
            }
        };
        // SAFETY: rule 8 (a collation of the server).
        thread::set_attributes(&unsafe { decode(charset, lines) });
        0
    })
}

/// One byte more than the engine stores of a session's attributes.
const BUFFER_BYTES: usize = 256;

/// Pairs of texts, each after its length, as lines; what does not fit is cut off. Line breaks within texts
/// become spaces.
fn lines<'a>(bytes: &[u8], buffer: &'a mut [u8; BUFFER_BYTES]) -> &'a [u8] {
    let (used, separators) = copy(bytes, buffer, |_| {});
    // The entire buffer is counted, because its length is constant: sixteen bytes at a time. A byte holds the
    // count, which is below 256, because one byte is an equals sign.
    let count = |sum: u8, byte: &u8| sum.wrapping_add(u8::from(*byte == b'\n'));
    if usize::from(buffer.iter().fold(0, count)) > separators {
        copy(bytes, buffer, |text| {
            let breaks = text.iter_mut().filter(|byte| **byte == b'\n');
            breaks.for_each(|byte| *byte = b' ');
        });
    }
    &buffer[..used]
}

/// The same without a limit: the engine leaves out the pairs that do not fit, and counts their bytes.
#[cold]
fn all_lines(bytes: &[u8]) -> Vec<u8> {
    // Each pair has two bytes of lengths at least, and becomes two bytes of separators.
    let mut buffer = vec![0; bytes.len()];
    let (used, _) = copy(bytes, &mut buffer, |text| {
        let breaks = text.iter_mut().filter(|byte| **byte == b'\n');
        breaks.for_each(|byte| *byte = b' ');
    });
    buffer.truncate(used);
    buffer
}

/// Copies the pairs, and calls `change` on each copied text. Returns the bytes copied, and the separators of
/// pairs.
fn copy(mut bytes: &[u8], buffer: &mut [u8], mut change: impl FnMut(&mut [u8])) -> (usize, usize) {
    let (mut used, mut separators) = (0, 0);
    let mut is_first = true;
    while let Some((key, rest)) = split_text(bytes)
        && let Some((value, rest)) = split_text(rest)
    {
        bytes = rest;
        if !is_first {
            separators += append(buffer, &mut used, b"\n").len();
        }
        is_first = false;
        change(append(buffer, &mut used, key));
        append(buffer, &mut used, b"=");
        change(append(buffer, &mut used, value));
    }
    (used, separators)
}

/// Appends a text, as far as it fits.
fn append<'a>(buffer: &'a mut [u8], used: &mut usize, text: &[u8]) -> &'a mut [u8] {
    let place = &mut buffer[*used..];
    let length = text.len().min(place.len());
    *used += length;
    let place = &mut place[..length];
    place.copy_from_slice(&text[..length]);
    place
}

/// Splits off a text after its length.
fn split_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
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

    fn lines_of(bytes: &[u8]) -> String {
        String::from_utf8_lossy(lines(bytes, &mut [0; BUFFER_BYTES])).into_owned()
    }

    #[test]
    fn line_breaks_in_texts_become_spaces() {
        // The separator of the third pair does not fit.
        let value = [b'v'; 246];
        let full = [&b"\x01a\x05b\nc\nd\x01k\xf6"[..], &value, b"\x01x\x01y"].concat();
        assert_eq!(lines_of(&full), format!("a=b c d\nk={}", "v".repeat(246)));
    }

    #[test]
    fn a_large_pair_does_not_lose_the_rest() {
        let large = [
            &b"\x01k\xfc\xe8\x03"[..],
            &[b'v'; 1000],
            b"\x03_os\x05Li\nux",
        ]
        .concat();
        let lines = all_lines(&large);
        assert_eq!(
            lines,
            format!("k={}\n_os=Li ux", "v".repeat(1000)).into_bytes()
        );
        assert!(all_lines(&[0xff; 65_536]).is_empty());
    }

    #[test]
    fn pairs_become_lines() {
        assert_eq!(
            lines_of(b"\x03_os\x05Linux\x04_pid\x0242"),
            "_os=Linux\n_pid=42"
        );
        assert_eq!(lines_of(b"\x01a\x03b\nc"), "a=b c");
        let long = [&b"\x01k\xfc\xc8\x00"[..], &[b'v'; 200]].concat();
        assert_eq!(lines_of(&long), format!("k={}", "v".repeat(200)));
    }

    #[test]
    fn a_pair_that_is_cut_off_is_left_out() {
        assert_eq!(lines_of(b"\x03_os\x05Linux\x04_pid\x09"), "_os=Linux");
        assert_eq!(lines_of(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx"), "");
        assert_eq!(lines_of(b""), "");
        let long = [&b"\x01k\xfc\xe8\x03"[..], &[b'v'; 1000]].concat();
        assert_eq!(
            lines_of(&long),
            format!("k={}", "v".repeat(BUFFER_BYTES - 2))
        );
    }
}
