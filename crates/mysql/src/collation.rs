//! `utf8mb4_general_ci`: how texts compare unless a binary collation is said. One character at a
//! time, without case and without accents, and as if the shorter text had spaces at its end.

use std::cmp::Ordering;

use unicode_normalization::char::decompose_canonical;

/// A character's weight.
fn weight(c: char) -> u32 {
    if c.is_ascii() {
        return u32::from(c.to_ascii_uppercase());
    }
    // Beyond the first plane all characters are one.
    if u32::from(c) > 0xffff {
        return 0xfffd;
    }
    if c == 'ß' {
        return u32::from('S');
    }
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    let base = match c {
        // Latin, Greek and Cyrillic letters lose their accents; Korean syllables stay as they are.
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => base.unwrap_or(c),
        _ => c,
    };
    // Й is a letter of its own.
    let base = if matches!(c, 'й' | 'Й') { c } else { base };
    let mut upper = base.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => u32::from(one),
        _ => u32::from(base),
    }
}

/// How two texts stand to each other.
pub fn compare(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (mut a, mut b) = (a.chars(), b.chars());
    loop {
        let (x, y) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (Some(x), Some(y)) => (weight(x), weight(y)),
            (Some(x), None) => (weight(x), u32::from(' ')),
            (None, Some(y)) => (u32::from(' '), weight(y)),
        };
        match x.cmp(&y) {
            Ordering::Equal => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_spaces_at_the_end_do_not_count() {
        for (a, b) in [
            ("a", "A"),
            ("é", "E"),
            ("a", "a  "),
            ("", " "),
            ("Straße", "STRASE"),
            ("ñ", "n"),
        ] {
            assert_eq!(compare(a, b), Ordering::Equal, "{a} {b}");
        }
        for (a, b) in [
            ("a", "b"),
            ("A", "_"),
            ("a", "ab"),
            ("a\t", "a"),
            ("и", "й"),
        ] {
            assert_eq!(compare(a, b), Ordering::Less, "{a} {b}");
        }
    }
}
