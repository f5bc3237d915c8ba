//! A request as text, and its normalised form, the digest's text: `GET user:?`.

use crate::request::Request;

/// The longest part of a key that stays as it is. Longer ones are values.
const MAX_PART_BYTES: usize = 24;
/// What separates the parts of a key.
const SEPARATORS: &[u8] = b":./|{}#@";

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
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if !argument.is_empty() && argument.iter().all(is_plain) {
        return into.extend(argument.iter().map(|&byte| char::from(byte)));
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
    let (mut shape, mut last) = (String::new(), None::<String>);
    let mut is_repeated = false;
    for number in keys.take_while(|&number| number < request.stored()) {
        shape.clear();
        write_key(request.argument(number), request.is_cut(number), &mut shape);
        if last.as_ref() == Some(&shape) {
            is_repeated = true;
            continue;
        }
        into.push(' ');
        into.push_str(&shape);
        last = Some(std::mem::take(&mut shape));
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
        let end = rest.iter().position(|byte| SEPARATORS.contains(byte));
        let part = &rest[..end.unwrap_or(rest.len())];
        let is_last = end.is_none();
        write_part(part, is_last && is_cut, into);
        let Some(end) = end else { return };
        into.push(char::from(rest[end]));
        rest = &rest[end + 1..];
    }
}

fn write_part(part: &[u8], is_cut: bool, into: &mut String) {
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let name = part.iter().take_while(|byte| is_name(byte)).count();
    let rest = &part[name..];
    let is_numbered = rest.iter().all(u8::is_ascii_digit);
    if is_cut || name > MAX_PART_BYTES || !is_numbered {
        return into.push('?');
    }
    into.extend(part[..name].iter().map(|&byte| char::from(byte)));
    if !rest.is_empty() {
        into.push('?');
    }
}
