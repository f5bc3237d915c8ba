//! CONVERT(... USING ...): a text in another character set, or the text that bytes are in one. SQLite's
//! texts are UTF-8, so that a character which the set lacks becomes a question mark.

use crate::made::Made;
use crate::prelude::*;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_convert", 2, 2, |ctx| {
    let Some(charset) = text(ctx, 1) else {
        return Ok(Value::Null);
    };
    let ValueRef::Blob(bytes) = ctx.get_raw(0) else {
        return match text(ctx, 0) {
            Some(text) => ctx.mapped(&text, |piece| represented(piece, &charset)),
            None => Ok(Value::Null),
        };
    };
    match &*charset {
        "latin1" => decoded(ctx, bytes, of_latin1),
        "ascii" => {
            if let Some(wrong) = bytes.iter().position(|b| !b.is_ascii()) {
                ctx.session.invalid_text(&charset, shown(&bytes[wrong..]));
            }
            decoded(
                ctx,
                bytes,
                |b| if b.is_ascii() { char::from(b) } else { '?' },
            )
        }
        _ => of_utf8(ctx, &charset, bytes),
    }
})];

/// A text of bytes that are a character each.
fn decoded(ctx: &Call<'_>, bytes: &[u8], of: fn(u8) -> char) -> Answer {
    let mut made = Made::new(ctx.session);
    for step in bytes.chunks(STEP) {
        if !made.push(&step.iter().map(|b| of(*b)).collect::<String>())? {
            return Ok(Value::Null);
        }
    }
    Ok(made.value())
}

/// MySQL shows three of the bytes that are no text.
fn shown(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(3)]
}

/// A text of UTF-8; `utf8` has characters of three bytes at most. What is none is NULL in strict
/// mode, and ends at the first wrong byte otherwise.
fn of_utf8(ctx: &Call<'_>, charset: &str, bytes: &[u8]) -> Answer {
    let mut made = Made::new(ctx.session);
    let mut rest = bytes;
    while !rest.is_empty() {
        let step = &rest[..rest.len().min(STEP)];
        let mut text = match std::str::from_utf8(step) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&step[..error.valid_up_to()]).unwrap_or_default(),
        };
        if charset != "utf8mb4"
            && let Some((wide, _)) = text.char_indices().find(|(_, c)| c.len_utf8() > 3)
        {
            text = &text[..wide];
        }
        if !made.push(text)? {
            return Ok(Value::Null);
        }
        rest = &rest[text.len()..];
        // A character may end in the next step.
        let is_cut = text.len() + 4 > step.len() && rest.len() > step.len() - text.len();
        if text.len() < step.len() && !is_cut || text.is_empty() {
            break;
        }
    }
    if !rest.is_empty() && ctx.session.invalid_text(charset, shown(rest)) {
        return Ok(Value::Null);
    }
    Ok(made.value())
}

/// A text with question marks for the characters that a set lacks.
fn represented(text: &str, charset: &str) -> String {
    let has = |c: &char| match charset {
        "ascii" => c.is_ascii(),
        "latin1" => (0..=u8::MAX).any(|byte| of_latin1(byte) == *c),
        "utf8" => c.len_utf8() <= 3,
        _ => true,
    };
    text.chars()
        .map(|c| if c.is_ascii() || has(&c) { c } else { '?' })
        .collect()
}

/// MySQL's latin1 is Windows' code page 1252, whose five unused bytes are control characters.
fn of_latin1(byte: u8) -> char {
    /// 0x80 to 0x9f, from Unicode's table of code page 1252.
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
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
