//! CONVERT(... USING ...): converts a text to another character set, or decodes bytes. SQLite's texts are
//! UTF-8, so a character that the set does not have becomes a question mark.

use crate::prelude::*;
use crate::text_builder::limited;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_convert", 2, 2, |ctx| {
    let Some(charset) = text(ctx, 1) else {
        return Ok(Value::Null);
    };
    let ValueRef::Blob(bytes) = ctx.get_raw(0) else {
        return opt(text(ctx, 0).map(|text| represented(&text, &charset)));
    };
    match &*charset {
        "latin1" => Ok(decoded(bytes, of_latin1)),
        "ascii" => {
            if let Some(wrong) = bytes.iter().position(|b| !b.is_ascii()) {
                ctx.session
                    .invalid_text(&charset, first_bytes(&bytes[wrong..]));
            }
            let character = |b: u8| if b.is_ascii() { char::from(b) } else { '?' };
            Ok(decoded(bytes, character))
        }
        _ => of_utf8(ctx, &charset, bytes),
    }
})];

/// Decodes bytes that are one character each.
fn decoded(bytes: &[u8], character: fn(u8) -> char) -> Value {
    limited(bytes.iter().copied().map(character).collect())
}

/// The three bytes that MySQL prints of invalid text.
fn first_bytes(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(3)]
}

/// Decodes UTF-8; `utf8` has characters of at most three bytes. Invalid text is NULL in strict mode, and ends
/// at the first wrong byte otherwise.
fn of_utf8(ctx: &Call<'_>, charset: &str, bytes: &[u8]) -> Answer {
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    if charset != "utf8mb4"
        && let Some((wide, _)) = text.char_indices().find(|(_, c)| c.len_utf8() > 3)
    {
        text = &text[..wide];
    }
    let rest = &bytes[text.len()..];
    if !rest.is_empty() && ctx.session.invalid_text(charset, first_bytes(rest)) {
        return Ok(Value::Null);
    }
    Ok(limited(text.to_owned()))
}

/// A text with question marks for the characters that a set does not have.
fn represented(text: &str, charset: &str) -> String {
    let has = |c: &char| match charset {
        "ascii" => c.is_ascii(),
        "latin1" => matches!(c, '\u{a0}'..='\u{ff}') || CP1252_HIGH.contains(c),
        "utf8" => c.len_utf8() <= 3,
        _ => true,
    };
    text.chars()
        .map(|c| if c.is_ascii() || has(&c) { c } else { '?' })
        .collect()
}

/// The characters of the bytes 0x80 to 0x9f, from Unicode's table of code page 1252.
const CP1252_HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// MySQL's latin1 is Windows' code page 1252, whose five unused bytes are control characters.
fn of_latin1(byte: u8) -> char {
    match byte {
        0x80..=0x9f => CP1252_HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_is_code_page_1252() {
        assert_eq!(of_latin1(b'A'), 'A');
        assert_eq!(of_latin1(0x80), '€');
        assert_eq!(of_latin1(0x9f), 'Ÿ');
        assert_eq!(of_latin1(0xe9), 'é');
        assert_eq!(represented("aé€ж😀", "latin1"), "aé€??");
        assert_eq!(represented("aéж", "ascii"), "a??");
        assert_eq!(represented("ж😀", "utf8"), "ж?");
        assert_eq!(represented("ж😀", "utf8mb4"), "ж😀");
    }
}
