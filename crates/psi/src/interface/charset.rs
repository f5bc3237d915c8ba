//! Texts in the character sets of clients, as UTF-8.

use std::borrow::Cow;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS};

use super::text::{field, lossy};

/// The numbers of collations by character set, as MySQL 9.7 and MariaDB 10.11 list them. The others are of
/// UTF-8, ascii and binary, or of sets in which no client may speak.
const CHARSETS: [(&str, &[u8]); 33] = [
    ("armscii8", &[32, 64]),
    ("big5", &[1, 84]),
    ("cp1250", &[26, 34, 44, 66, 99]),
    ("cp1251", &[14, 23, 50, 51, 52]),
    ("cp1256", &[57, 67]),
    ("cp1257", &[29, 58, 59]),
    ("cp850", &[4, 80]),
    ("cp852", &[40, 81]),
    ("cp866", &[36, 68]),
    ("cp932", &[95, 96]),
    ("dec8", &[3, 69]),
    ("eucjpms", &[97, 98]),
    ("euckr", &[19, 85]),
    ("gb18030", &[248, 249, 250]),
    ("gb2312", &[24, 86]),
    ("gbk", &[28, 87]),
    ("geostd8", &[92, 93]),
    ("greek", &[25, 70]),
    ("hebrew", &[16, 71]),
    ("hp8", &[6, 72]),
    ("keybcs2", &[37, 73]),
    ("koi8r", &[7, 74]),
    ("koi8u", &[22, 75]),
    ("latin1", &[5, 8, 15, 31, 47, 48, 49, 94]),
    ("latin2", &[2, 9, 21, 27, 77]),
    ("latin5", &[30, 78]),
    ("latin7", &[20, 41, 42, 79]),
    ("macce", &[38, 43]),
    ("macroman", &[39, 53]),
    ("sjis", &[13, 88]),
    ("swe7", &[10, 82]),
    ("tis620", &[18, 89]),
    ("ujis", &[12, 91]),
];

/// Not the index of a character set: the text is UTF-8.
const UTF8: u8 = u8::MAX;

/// The index in [`CHARSETS`] by the number of a collation.
static BY_COLLATION: [u8; 256] = {
    let mut indexes = [UTF8; 256];
    let mut charset = 0;
    while charset < CHARSETS.len() {
        let mut at = 0;
        while at < CHARSETS[charset].1.len() {
            indexes[CHARSETS[charset].1[at] as usize] = charset as u8;
            at += 1;
        }
        charset += 1;
    }
    indexes
};

/// MariaDB adds this to the number of a collation for its form without padding.
const WITHOUT_PADDING: u32 = 1024;

/// How bytes become characters.
enum Decoder {
    /// A character for each byte, and whether those of ASCII have their own.
    SingleByte(Box<[char; 256]>, bool),
    /// Its characters are those of the server, except for some of punctuation, and for private ones.
    MultiByte(&'static Encoding),
}

impl Decoder {
    fn new(name: &str) -> Self {
        match name {
            "big5" => Self::MultiByte(BIG5),
            "cp932" | "sjis" => Self::MultiByte(SHIFT_JIS),
            "eucjpms" | "ujis" => Self::MultiByte(EUC_JP),
            "euckr" => Self::MultiByte(EUC_KR),
            "gb18030" => Self::MultiByte(GB18030),
            "gb2312" | "gbk" => Self::MultiByte(GBK),
            _ => {
                let (first, characters) = single_byte(name);
                let mut table = Box::new([UNKNOWN; 256]);
                for byte in 0..0x80_u8 {
                    table[usize::from(byte)] = char::from(byte);
                }
                for (place, character) in table[first..].iter_mut().zip(characters) {
                    *place = character;
                }
                Self::SingleByte(table, first >= 0x80)
            }
        }
    }

    fn decode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        match self {
            Self::SingleByte(_, true) | Self::MultiByte(_) if bytes.is_ascii() => lossy(bytes),
            Self::SingleByte(table, _) => {
                let characters = bytes.iter().map(|byte| table[usize::from(*byte)]);
                characters.collect::<String>().into()
            }
            Self::MultiByte(encoding) => {
                let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
                match has_errors {
                    true => text.replace(char::REPLACEMENT_CHARACTER, "?").into(),
                    false => text,
                }
            }
        }
    }
}

/// The character for bytes that are none, as in MySQL's conversions.
const UNKNOWN: char = '?';

/// The first byte that is not as in ASCII, and the characters from there on.
fn single_byte(name: &str) -> (usize, impl Iterator<Item = char>) {
    let lines = include_str!("single_byte.txt").lines();
    let mut words = lines
        .map(|line| line.split(' '))
        .find(|words| words.clone().next() == Some(name))
        .unwrap_or_else(|| "".split(' '));
    let number = |word: &str| u32::from_str_radix(word, 16).ok();
    let first = words.nth(1).and_then(number).unwrap_or(0x80) as usize;
    let character = move |word: &str| number(word).and_then(char::from_u32).unwrap_or(UNKNOWN);
    (first, words.map(character))
}

/// A text of the server.
///
/// # Safety
/// `charset` is NULL or a collation of the server. `at` is NULL or readable for `length` bytes as long as `'a`
/// lasts.
pub(crate) unsafe fn text_in<'a>(
    charset: *const c_void,
    at: *const c_char,
    length: usize,
) -> Cow<'a, str> {
    if at.is_null() || length == 0 {
        return Cow::Borrowed("");
    }
    // SAFETY: rule 8 (the caller's promises).
    unsafe { decode(charset, std::slice::from_raw_parts(at.cast(), length)) }
}

/// Bytes in a character set as a text.
///
/// # Safety
/// `charset` is NULL or a collation of the server.
pub(crate) unsafe fn decode(charset: *const c_void, bytes: &[u8]) -> Cow<'_, str> {
    if charset.is_null() {
        return lossy(bytes);
    }
    // SAFETY: rule 8 (in all releases a collation begins with its number).
    let number = unsafe { field::<u32>(charset, 0) };
    decode_by_number(number, bytes)
}

/// The same for a text of which only the beginning is stored. A text in UTF-8 is not read.
///
/// # Safety
/// `charset` is NULL or a collation of the server.
#[inline]
pub(crate) unsafe fn utf8_bytes(charset: *const c_void, bytes: &[u8]) -> Cow<'_, [u8]> {
    if charset.is_null() {
        return Cow::Borrowed(bytes);
    }
    // SAFETY: rule 8 (in all releases a collation begins with its number).
    match charset_of(unsafe { field::<u32>(charset, 0) }) {
        None => Cow::Borrowed(bytes),
        Some(charset) => decode_beginning(charset, bytes),
    }
}

/// More bytes than the level `active` stores of a text.
const MAX_BEGINNING_BYTES: usize = 4096;

#[cold]
fn decode_beginning(charset: usize, bytes: &[u8]) -> Cow<'_, [u8]> {
    match decode_slow(charset, &bytes[..bytes.len().min(MAX_BEGINNING_BYTES)]) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn decode_by_number(number: u32, bytes: &[u8]) -> Cow<'_, str> {
    match charset_of(number) {
        None => lossy(bytes),
        Some(charset) => decode_slow(charset, bytes),
    }
}

/// The index in [`CHARSETS`] of a collation's character set; `None` if it is UTF-8.
#[inline]
fn charset_of(mut number: u32) -> Option<usize> {
    if (WITHOUT_PADDING..2 * WITHOUT_PADDING).contains(&number) {
        number -= WITHOUT_PADDING;
    }
    let index = *BY_COLLATION.get(number as usize)?;
    (index != UTF8).then_some(usize::from(index))
}

#[cold]
fn decode_slow(charset: usize, bytes: &[u8]) -> Cow<'_, str> {
    static DECODERS: [OnceLock<Decoder>; CHARSETS.len()] =
        [const { OnceLock::new() }; CHARSETS.len()];
    let decoder = DECODERS[charset].get_or_init(|| Decoder::new(CHARSETS[charset].0));
    decoder.decode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collations' numbers, and the characters of `a\xc1\xcd\xd1\xe4\xf0` in MySQL 9.7.4.
    #[rustfmt::skip] // One collation, one line.
    const SINGLE_BYTE: [(u32, &str); 23] = [
        (32, "a\u{568}\u{56e}\u{570}\u{54a}\u{550}"),
        (26, "a\u{c1}\u{cd}\u{143}\u{e4}\u{111}"),
        (51, "a\u{411}\u{41d}\u{421}\u{434}\u{440}"),
        (57, "a\u{621}\u{62d}\u{631}\u{646}\u{64b}"),
        (59, "a\u{12e}\u{136}\u{143}\u{e4}\u{161}"),
        (4, "a\u{2534}\u{2550}\u{d0}\u{f5}\u{ad}"),
        (40, "a\u{2534}\u{2550}\u{110}\u{144}\u{ad}"),
        (36, "a\u{2534}\u{2550}\u{2564}\u{444}\u{401}"),
        (3, "a\u{c1}\u{cd}\u{d1}\u{e4}?"),
        (92, "a\u{10d1}\u{10dc}\u{10df}\u{10f0}?"),
        (25, "a\u{391}\u{39d}\u{3a1}\u{3b4}\u{3c0}"),
        (16, "a???\u{5d4}\u{5e0}"),
        (6, "a\u{ea}\u{eb}\u{ee}\u{f0}\u{de}"),
        (37, "a\u{2534}\u{2550}\u{2564}\u{3a3}\u{2261}"),
        (7, "a\u{430}\u{43c}\u{44f}\u{414}\u{41f}"),
        (22, "a\u{430}\u{43c}\u{44f}\u{414}\u{41f}"),
        (8, "a\u{c1}\u{cd}\u{d1}\u{e4}\u{f0}"),
        (9, "a\u{c1}\u{cd}\u{143}\u{e4}\u{111}"),
        (30, "a\u{c1}\u{cd}\u{d1}\u{e4}\u{11f}"),
        (41, "a\u{12e}\u{136}\u{143}\u{e4}\u{161}"),
        (38, "a\u{143}\u{d5}\u{2014}\u{161}\u{16b}"),
        (39, "a\u{a1}\u{d5}\u{2014}\u{2030}\u{f8ff}"),
        (18, "a\u{e21}\u{e2d}\u{e31}\u{e44}\u{e50}"),
    ];

    /// A collation's number, bytes, and their characters in MySQL 9.7.4.
    #[rustfmt::skip]
    const OTHERS: [(u32, &[u8], &str); CHARSETS.len() - SINGLE_BYTE.len()] = [
        (1, b"\xa4\xa4\xa4\xe5", "\u{4e2d}\u{6587}"),
        (95, b"\x93\xfa\x96\x7b\x8c\xea", "\u{65e5}\u{672c}\u{8a9e}"),
        (97, b"\xc6\xfc\xcb\xdc\xb8\xec\x8f\xb0\xa1", "\u{65e5}\u{672c}\u{8a9e}\u{4e02}"),
        (19, b"\xc7\xd1\xb1\xdb", "\u{d55c}\u{ae00}"),
        (248, b"\xd6\xd0\xce\xc4\x81\x30\x81\x30\x81\x30\x81\x30", "\u{4e2d}\u{6587}\u{80}\u{80}"),
        (24, b"\xd6\xd0\xce\xc4", "\u{4e2d}\u{6587}"),
        (28, b"\xd6\xd0\xb5\x5c", "\u{4e2d}\u{792c}"),
        (13, b"\x93\xfa\x96\x7b\x95\x5c", "\u{65e5}\u{672c}\u{8868}"),
        (10, b"\x5b\x5c\x5d\x7b\x7c\x7d", "\u{c4}\u{d6}\u{c5}\u{e4}\u{f6}\u{e5}"),
        (12, b"\xc6\xfc\xcb\xdc\x8f\xb0\xa1", "\u{65e5}\u{672c}\u{4e02}"),
    ];

    #[test]
    fn every_character_set_is_converted_as_mysql_does() {
        let single =
            SINGLE_BYTE.map(|(number, text)| (number, &b"a\xc1\xcd\xd1\xe4\xf0"[..], text));
        for (number, bytes, text) in single.into_iter().chain(OTHERS) {
            assert_eq!(decode_by_number(number, bytes), text, "{number}");
            assert_eq!(decode_by_number(number + WITHOUT_PADDING, bytes), text);
            let is_swe7 = number == 10;
            assert_eq!(
                decode_by_number(number, b"SELECT '~'") == "SELECT '~'",
                !is_swe7
            );
        }
    }

    #[test]
    fn other_texts_are_utf8() {
        for number in [11, 33, 45, 46, 63, 83, 255, 305, 608, 2048, 2304] {
            assert_eq!(
                decode_by_number(number, "gr\u{fc}n".as_bytes()),
                "gr\u{fc}n"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_character_become_a_question_mark() {
        assert_eq!(decode_by_number(26, b"a\x81b"), "a?b");
        assert_eq!(decode_by_number(28, b"a\xff"), "a?");
    }
}
