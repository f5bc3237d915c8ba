//! A request as text, and its normalised form, the digest's text: `GET user:?`.

use crate::request::Request;

/// The longest part of a key that stays as it is. Longer ones are values.
const MAX_PART_BYTES: usize = 24;
/// Kinds of bytes, as bits.
const SEPARATOR: u8 = 1;
const NAME: u8 = 2;
const DIGIT: u8 = 4;
/// Needs no quotes.
const PLAIN: u8 = 8;

/// The kinds of each byte.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let char = byte as u8;
        if matches!(char, b':' | b'.' | b'/' | b'|' | b'{' | b'}' | b'#' | b'@') {
            kinds[byte] |= SEPARATOR;
        }
        if char.is_ascii_alphabetic() || matches!(char, b'_' | b'-') {
            kinds[byte] |= NAME;
        }
        if char.is_ascii_digit() {
            kinds[byte] |= DIGIT;
        }
        if char.is_ascii_graphic() && !matches!(char, b'"' | b'\'' | b'\\') {
            kinds[byte] |= PLAIN;
        }
        byte += 1;
    }
    kinds
};

fn is_of(byte: u8, kinds: u8) -> bool {
    KINDS[usize::from(byte)] & kinds != 0
}

/// Appends the arguments, which are cut.
pub fn write_arguments(request: &Request, into: &mut String) {
    for number in 0..request.stored() {
        if number != 0 {
            into.push(' ');
        }
        write_argument(request.argument(number), into);
        if request.is_cut(number) {
            into.push_str("...");
        }
    }
    if request.stored() < request.count() {
        into.push_str(" ...");
    }
}

fn write_argument(argument: &[u8], into: &mut String) {
    if !argument.is_empty() && argument.iter().all(|&byte| is_of(byte, PLAIN)) {
        return push_ascii(argument, into);
    }
    into.push('"');
    for chunk in argument.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '"' | '\\' => into.extend(['\\', char]),
                '\n' => into.push_str("\\n"),
                '\r' => into.push_str("\\r"),
                '\t' => into.push_str("\\t"),
                _ if char.is_control() => {
                    into.extend(format!("\\x{:02x}", u32::from(char)).chars())
                }
                _ => into.push(char),
            }
        }
        for byte in chunk.invalid() {
            into.extend(format!("\\x{byte:02x}").chars());
        }
    }
    into.push('"');
}

/// Appends the shapes of the keys, which are these arguments. Consecutive ones of the same shape are there
/// once.
pub fn write_keys(request: &Request, keys: impl Iterator<Item = usize>, into: &mut String) {
    let (mut last, mut is_repeated) = (0..0, false);
    for number in keys.take_while(|&number| number < request.stored()) {
        let start = into.len();
        into.push(' ');
        write_key(request.argument(number), request.is_cut(number), into);
        if into[start..] == into[last.clone()] {
            into.truncate(start);
            is_repeated = true;
        } else {
            last = start..into.len();
        }
    }
    if is_repeated {
        into.push_str(" ...");
    }
}

/// Writes a key, with `?` in place of each part that is a value: parts with digits, long ones, and those with
/// other characters than letters, `_` and `-`.
fn write_key(key: &[u8], is_cut: bool, into: &mut String) {
    let mut rest = key;
    loop {
        let end = rest.iter().position(|&byte| is_of(byte, SEPARATOR));
        let part = &rest[..end.unwrap_or(rest.len())];
        let is_last = end.is_none();
        write_part(part, is_last && is_cut, into);
        let Some(end) = end else { return };
        into.push(char::from(rest[end]));
        rest = &rest[end + 1..];
    }
}

fn write_part(part: &[u8], is_cut: bool, into: &mut String) {
    let after = part.iter().position(|&byte| !is_of(byte, NAME));
    let name = after.unwrap_or(part.len());
    let rest = &part[name..];
    let is_numbered = rest.iter().all(|&byte| is_of(byte, DIGIT));
    if is_cut || name > MAX_PART_BYTES || !is_numbered {
        return into.push('?');
    }
    push_ascii(&part[..name], into);
    if !rest.is_empty() {
        into.push('?');
    }
}

/// Appends bytes, all of them of ASCII: the callers have looked up their kinds, and no other byte has one.
#[inline]
fn push_ascii(bytes: &[u8], into: &mut String) {
    debug_assert!(bytes.is_ascii());
    // SAFETY: ASCII is UTF-8.
    into.push_str(unsafe { std::str::from_utf8_unchecked(bytes) });
}
