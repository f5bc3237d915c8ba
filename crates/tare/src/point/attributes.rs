//! Attributes that clients send when they connect, or when they become another user.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use tare_layout::attributes::{EXPANSION, PAIR_BYTES, pair};
use tare_layout::shared::Lost;
use tare_layout::sizes;

use crate::engine::hot::local;
use crate::modes::Truncation;

/// The attribute that counts the bytes of others that are missing.
const MARK: &str = "_truncated";
/// Bytes of [`MARK`] as MySQL reserves them: the two lengths, the name, and a number of six digits.
const MARK_BYTES: usize = 2 + MARK.len() + 6;

/// Stored bytes for which the thread's stack has space: those of some 340 that were sent. Clients send 100 to
/// 250.
const STACK_BYTES: usize = 1024;

/// Sets the attributes that the client sent, as `key=value` lines. If they do not fit into
/// performance_schema_session_connect_attrs_size, those that fit are stored behind an attribute `_truncated`,
/// which has the number of bytes that are missing.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_attributes(lines: &str) {
    if local().is_none() {
        return;
    }
    let mut sent = Vec::with_capacity(lines.len() + 2);
    let attributes = lines.lines().filter_map(|line| line.split_once('='));
    for (name, value) in attributes.filter(|(name, _)| !name.is_empty()) {
        append_text(&mut sent, name);
        append_text(&mut sent, value);
    }
    set_sent_attributes(&sent, Truncation::Marked, &String::from_utf8_lossy);
}

/// The same as a client sends them in MySQL's protocol: names and values, each after its length. `decode`
/// converts them to UTF-8. As in MySQL, bytes that are no character become question marks, and an attribute
/// that is incomplete, or has no name, is the end. Returns the number of bytes that are missing because they
/// do not fit.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn set_sent_attributes(
    sent: &[u8],
    truncation: Truncation,
    decode: &dyn for<'a> Fn(&'a [u8]) -> Cow<'a, str>,
) -> usize {
    let Some(local) = local() else { return 0 };
    let view = &local.engine.view;
    if view.control().has_none_of(sizes::CONNECT_ATTRS) {
        return 0;
    }
    let longest = &view.shared().longest_attributes.0;
    // A shared line, which most connections leave as it is.
    if longest.load(Ordering::Relaxed) < sent.len() as u64 {
        longest.fetch_max(sent.len() as u64, Ordering::Relaxed);
    }
    let limit = view.geometry().limits.attribute_bytes;
    let plan = Plan::new(sent, limit, truncation);
    if plan.missing != 0 {
        local.engine.lose(Lost::Attributes, 1);
    }
    let bytes = EXPANSION * sent.len().min(limit);
    let mut on_stack = [0; STACK_BYTES];
    let mut on_heap;
    let into = match bytes <= STACK_BYTES {
        true => &mut on_stack[..],
        false => {
            on_heap = vec![0; bytes];
            &mut on_heap
        }
    };
    local.set_attributes(plan.write(sent, decode, into));
    plan.missing
}

/// Restarts `Performance_schema_session_connect_attrs_longest_seen`: for hosts that execute FLUSH STATUS.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn forget_longest_attributes() {
    if let Some(local) = local() {
        let longest = &local.engine.view.shared().longest_attributes.0;
        longest.store(0, Ordering::Relaxed);
    }
}

/// Which of the attributes that a client sent are stored.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// Bytes that are missing.
    missing: usize,
    /// Whether [`MARK`] has that number.
    is_marked: bool,
    /// Bytes of the attributes that may be stored, as they were sent.
    space: usize,
}

impl Plan {
    fn new(sent: &[u8], limit: usize, truncation: Truncation) -> Self {
        match sent.len() <= limit {
            true => Self {
                missing: 0,
                is_marked: false,
                space: limit,
            },
            false => Self::truncate(sent, limit, truncation),
        }
    }

    /// MySQL stores the attributes that are complete within the space, and reports as missing what is beyond
    /// the limit without [`MARK_BYTES`]. It omits all that follow one that does not fit, of which those that
    /// fit are stored here.
    #[cold]
    fn truncate(sent: &[u8], limit: usize, truncation: Truncation) -> Self {
        if truncation == Truncation::Silent {
            return Self {
                missing: sent.len() - limit,
                is_marked: false,
                space: limit,
            };
        }
        let missing = sent.len() + MARK_BYTES - limit;
        let digits = missing.ilog10() as usize + 1;
        let Some(space) = limit.checked_sub(2 + MARK.len() + digits) else {
            return Self {
                missing,
                is_marked: false,
                space: 0,
            };
        };
        let behind: usize = fitting(sent, space)
            .filter(|attribute| attribute.is_behind)
            .map(|attribute| attribute.bytes)
            .sum();
        Self {
            missing: missing - behind,
            is_marked: true,
            space,
        }
    }

    /// Writes the stored form, as far as it fits.
    fn write<'b>(
        &self,
        sent: &[u8],
        decode: &dyn for<'a> Fn(&'a [u8]) -> Cow<'a, str>,
        into: &'b mut [u8],
    ) -> &'b [u8] {
        let mut used = 0;
        let mut append = |name: &str, value: &str| {
            let (lengths, name, value) = pair(name, value);
            let bytes = PAIR_BYTES + name.len() + value.len();
            if let Some(place) = into.get_mut(used..used + bytes) {
                let (first, rest) = place.split_at_mut(PAIR_BYTES);
                first.copy_from_slice(&lengths);
                let (first, rest) = rest.split_at_mut(name.len());
                first.copy_from_slice(name.as_bytes());
                rest.copy_from_slice(value.as_bytes());
                used += bytes;
            }
        };
        if self.is_marked {
            append(MARK, &self.missing.to_string());
        }
        for attribute in fitting(sent, self.space) {
            let [name, value] =
                [attribute.name, attribute.value].map(|text| with_question_marks(decode(text)));
            append(&name, &value);
        }
        &into[..used]
    }
}

/// What was decoded with replacement characters has question marks in their place.
fn with_question_marks(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Owned(text) if text.contains(char::REPLACEMENT_CHARACTER) => {
            text.replace(char::REPLACEMENT_CHARACTER, "?").into()
        }
        text => text,
    }
}

/// An attribute as a client sent it.
struct Attribute<'a> {
    name: &'a [u8],
    value: &'a [u8],
    /// With both lengths.
    bytes: usize,
    /// Whether one before it does not fit.
    is_behind: bool,
}

/// The attributes that fit into this space, in their order.
fn fitting(mut sent: &[u8], mut space: usize) -> impl Iterator<Item = Attribute<'_>> {
    let mut is_behind = false;

    std::iter::from_fn(move || {
        loop {
            let (name, rest) = split_text(sent).filter(|(name, _)| !name.is_empty())?;
            let (value, rest) = split_text(rest)?;
            let bytes = sent.len() - rest.len();
            sent = rest;
            match space.checked_sub(bytes) {
                Some(left) => {
                    space = left;
                    return Some(Attribute {
                        name,
                        value,
                        bytes,
                        is_behind,
                    });
                }
                None => is_behind = true,
            }
        }
    })
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

/// Appends a text after its length.
fn append_text(bytes: &mut Vec<u8>, text: &str) {
    let length = text.len();
    match length {
        0..=250 => bytes.push(length as u8),
        251..=0xffff => {
            bytes.push(252);
            bytes.extend((length as u16).to_le_bytes());
        }
        _ => {
            bytes.push(254);
            bytes.extend((length as u64).to_le_bytes());
        }
    }
    bytes.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use tare_layout::attributes::pairs;

    use super::*;

    fn sent(attributes: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in attributes.iter().flat_map(|(name, value)| [name, value]) {
            append_text(&mut bytes, text);
        }
        bytes
    }

    fn stored(sent: &[u8], limit: usize, truncation: Truncation) -> Vec<(String, String)> {
        let plan = Plan::new(sent, limit, truncation);
        let mut into = vec![0; EXPANSION * limit];
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let written = plan.write(sent, &String::from_utf8_lossy, &mut into);
        pairs(written)
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    fn marked(sent: &[u8], limit: usize) -> Vec<(String, String)> {
        stored(sent, limit, Truncation::Marked)
    }

    /// `n` attributes of eight bytes.
    fn numbered(n: usize) -> Vec<u8> {
        let one = |i: usize| sent(&[(&format!("{i:04}"), "xy")]);
        (0..n).flat_map(one).collect()
    }

    /// What MySQL 9.7.4 shows of `n` attributes of eight bytes and `more` bytes: the value of `_truncated`,
    /// and the other rows.
    #[test]
    fn truncation_is_as_in_mysql() {
        for (n, more, limit, missing, rows) in [
            (64, 0, 512, None, 64),
            (64, 1, 512, Some(19), 62),
            (64, 7, 512, Some(25), 62),
            (70, 2, 512, Some(68), 62),
            (689, 0, 512, Some(5018), 62),
            (7500, 0, 512, Some(59_506), 61),
            (2, 1, 17, None, 2),
            (2, 2, 17, Some(19), 0),
            (7500, 0, 17, Some(60_001), 0),
            (3, 7, 30, Some(19), 2),
            (15, 0, 30, Some(108), 1),
            (1, 0, 1, None, 0),
            (7500, 0, 65_536, None, 7500),
        ] {
            let mut bytes = numbered(n);
            bytes.extend(vec![0xff; more]);
            let visible = marked(&bytes, limit);
            let mark = visible.first().filter(|(name, _)| name == MARK);
            let expected = missing.map(|missing: usize| missing.to_string());
            assert_eq!(
                mark.map(|(_, value)| value),
                expected.as_ref(),
                "{n} {more} {limit}"
            );
            assert_eq!(
                visible.len() - usize::from(mark.is_some()),
                rows,
                "{n} {more} {limit}"
            );
        }
    }

    #[test]
    fn silent_truncation_uses_all_the_space() {
        let mut bytes = numbered(64);
        bytes.push(0xff);
        assert_eq!(stored(&bytes, 512, Truncation::Silent).len(), 64);
        assert_eq!(stored(&bytes, 511, Truncation::Silent).len(), 63);
    }

    #[test]
    fn a_large_attribute_does_not_lose_the_ones_behind_it() {
        let large = "v".repeat(2000);
        let bytes = sent(&[("a", "1"), ("large", &large), ("z", "9")]);
        let row = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        // MySQL has 1523, and no z.
        let expected = [row(MARK, "1519"), row("a", "1"), row("z", "9")];
        assert_eq!(marked(&bytes, 512), expected);
        assert_eq!(stored(&bytes, 512, Truncation::Silent), expected[1..]);
    }

    #[test]
    fn an_incomplete_attribute_or_an_empty_name_is_the_end() {
        for end in [
            &b"\x03_pi"[..],
            b"\x01b",
            b"\xff\xff",
            b"\xfb\x01b\x01c",
            b"\x01b\xfb\x01c",
            b"\0\x01b\x01c\x01d",
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx",
        ] {
            let bytes = [&b"\x01a\x011"[..], end].concat();
            assert_eq!(marked(&bytes, 512).len(), 1, "{end:?}");
        }
        assert_eq!(marked(b"\x01q\xfc\x01\0x\x01c\x01d", 512).len(), 2);
        assert!(marked(b"", 512).is_empty());
    }

    #[test]
    fn bytes_that_are_no_character_become_question_marks() {
        let row = |value: &str| [("a".to_owned(), value.to_owned())];
        assert_eq!(marked(b"\x01a\x03b\xffc", 512), row("b?c"));
        // The client sent this character.
        assert_eq!(marked(b"\x01a\x03\xef\xbf\xbd", 512), row("\u{fffd}"));
    }
}
