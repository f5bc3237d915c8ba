//! `utf8mb4_general_ci`: how texts compare without a binary collation. One character at a
//! time, without case and without accents, and as if the shorter text had spaces at its end.

use std::cmp::Ordering;
use std::sync::LazyLock;

use unicode_normalization::char::decompose_canonical;

use crate::error::Result;
use crate::{interrupt, memory};

/// The weight of all characters beyond the first plane.
const BEYOND: u16 = 0xfffd;

/// Weights of the first plane. A comparison cannot be interrupted: with Unicode's tables, one of texts of
/// 64 MiB would take seconds.
static WEIGHTS: LazyLock<Box<[u16]>> = LazyLock::new(|| {
    let weight = |n| char::from_u32(n).map_or(0, computed);
    (0..=0xffff)
        .map(|n| u16::try_from(weight(n)).unwrap_or(BEYOND))
        .collect()
});

/// A character's weight.
fn weight(c: char) -> u32 {
    if c.is_ascii() {
        return u32::from(c.to_ascii_uppercase());
    }
    u32::from(*WEIGHTS.get(c as usize).unwrap_or(&BEYOND))
}

/// The same, of a character of the first plane.
fn computed(c: char) -> u32 {
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

/// Compares two texts.
pub fn compare(a: &str, b: &str) -> Ordering {
    match compare_ascii(a.as_bytes(), b.as_bytes()) {
        Ok(ordering) => ordering,
        // All before is ASCII, so that a character begins here.
        Err(at) => compare_characters(a[at..].chars(), b[at..].chars()),
    }
}

/// Bytes that are read as UTF-8 at once.
const PIECE_BYTES: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Compares texts of SQLite: bytes that are not UTF-8 are replacement characters. A sort calls it for each pair
/// of rows, so that it copies nothing and stops at the first difference.
pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    match compare_ascii(a, b) {
        Ok(order) => order,
        Err(at) => compare_tails(&a[at..], &b[at..]),
    }
}

/// Compares from a position at which ASCII does not decide.
fn compare_tails(a: &[u8], b: &[u8]) -> Ordering {
    if a.len().max(b.len()) <= PIECE_BYTES
        && let (Ok(a), Ok(b)) = (str::from_utf8(a), str::from_utf8(b))
    {
        return compare_characters(a.chars(), b.chars());
    }
    compare_characters(characters(a), characters(b))
}

/// The characters of bytes, decoded as they are requested. Invalid UTF-8 is replaced, as in
/// [`String::from_utf8_lossy`].
fn characters(mut bytes: &[u8]) -> impl Iterator<Item = char> {
    std::iter::from_fn(move || {
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        let chunk = piece.utf8_chunks().next()?;
        // A character that ends behind the piece belongs to the next one.
        let is_cut = chunk.invalid().len() + chunk.valid().len() == piece.len()
            && piece.len() < bytes.len()
            && !chunk.valid().is_empty();
        let invalid = match is_cut || chunk.invalid().is_empty() {
            true => 0,
            false => chunk.invalid().len(),
        };
        bytes = &bytes[chunk.valid().len() + invalid..];
        let replaced = (invalid > 0).then_some(char::REPLACEMENT_CHARACTER);
        Some(chunk.valid().chars().chain(replaced))
    })
    .flatten()
}

/// The order if ASCII decides it, as it mostly does; else the position from which characters are compared.
#[inline]
fn compare_ascii(a: &[u8], b: &[u8]) -> std::result::Result<Ordering, usize> {
    let same = |(x, y): (&u8, &u8)| x.is_ascii() && y.is_ascii() && x.eq_ignore_ascii_case(y);
    let at = a.iter().zip(b).take_while(|&pair| same(pair)).count();
    match (a.get(at), b.get(at)) {
        (None, None) => Ok(Ordering::Equal),
        (Some(x), Some(y)) if x.is_ascii() && y.is_ascii() => {
            Ok(x.to_ascii_uppercase().cmp(&y.to_ascii_uppercase()))
        }
        _ => Err(at),
    }
}

fn compare_characters(
    mut a: impl Iterator<Item = char>,
    mut b: impl Iterator<Item = char>,
) -> Ordering {
    loop {
        let (x, y) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (Some(x), Some(y)) if x == y => continue,
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

/// A part of a LIKE pattern. A text matches if it matches all parts in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// `%`.
    Any,
    /// `_`.
    One,
    Weight(u32),
}

/// A pattern of LIKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Part>);

impl Pattern {
    /// Parses a pattern. A character after `escape` matches itself; `weight` gives the value by which
    /// characters are compared.
    fn read(
        mut rest: impl Iterator<Item = char>,
        escape: Option<char>,
        weight: fn(char) -> u32,
    ) -> Self {
        let mut parts = Vec::new();
        while let Some(c) = rest.next() {
            parts.push(match c {
                // At the end there is nothing that it could stand before.
                c if Some(c) == escape => Part::Weight(weight(rest.next().unwrap_or(c))),
                '%' => Part::Any,
                '_' => Part::One,
                c => Part::Weight(weight(c)),
            });
        }
        Self(parts)
    }

    /// Whether a text is like the pattern. The last `%` takes one character more until the rest fits:
    /// those before it have no need to.
    fn fits<T: Iterator<Item = u32> + Clone>(&self, mut text: T) -> Result<bool> {
        let mut at = 0;
        let mut last: Option<(T, usize)> = None;
        loop {
            // The work is up to the product of both lengths.
            interrupt::check_step()?;
            match self.0.get(at) {
                Some(Part::Any) => {
                    at += 1;
                    last = Some((text.clone(), at));
                    continue;
                }
                Some(part) => match text.next() {
                    None => return Ok(false),
                    Some(weight) if matches!(part, Part::One) || *part == Part::Weight(weight) => {
                        at += 1;
                        continue;
                    }
                    Some(_) => {}
                },
                None if text.next().is_none() => return Ok(true),
                // A pattern that ends with `%` fits any rest.
                None if self.0.last() == Some(&Part::Any) => return Ok(true),
                None => {}
            }
            let Some((rest, after)) = &mut last else {
                return Ok(false);
            };
            if rest.next().is_none() {
                return Ok(false);
            }
            (text, at) = (rest.clone(), *after);
        }
    }
}

/// Whether a text is LIKE a pattern: character by character, without case and accents. Spaces at the
/// end count, as in MySQL.
///
/// # Errors
/// The statement must end.
pub fn like(text: &str, pattern: &str, escape: Option<char>) -> Result<bool> {
    like_by(weight, text, pattern, escape)
}

/// The same where case and accents count.
///
/// # Errors
/// The statement must end.
pub fn like_exactly(text: &str, pattern: &str, escape: Option<char>) -> Result<bool> {
    like_by(u32::from, text, pattern, escape)
}

fn like_by(
    weight: fn(char) -> u32,
    text: &str,
    pattern: &str,
    escape: Option<char>,
) -> Result<bool> {
    // A vector doubles.
    if !memory::admit(pattern.len() * size_of::<Part>() * 2) {
        return Err(memory::exhausted());
    }
    let pattern = Pattern::read(pattern.chars(), escape, weight);
    pattern.fits(text.chars().map(weight))
}

/// The least and the greatest text that can be like a pattern, by what it begins with. `None` for a
/// pattern that begins with `%` or `_`.
pub fn bounds(pattern: &str, escape: Option<char>) -> Option<(String, String)> {
    let mut prefix = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            c if Some(c) == escape => prefix.push(rest.next().unwrap_or(c)),
            '%' | '_' => break,
            c => prefix.push(c),
        }
    }
    // What follows in a text: nothing less than zeros, nothing more than the heaviest character.
    let filled = |with: &str| prefix.clone() + &with.repeat(FILLED);
    (!prefix.is_empty()).then(|| (filled("\0"), filled("\u{ffff}")))
}

/// Characters that [`bounds`] appends: more than a key has.
const FILLED: usize = 768;

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

    proptest::proptest! {
        /// The short ways lead where reading every character does.
        #[test]
        fn bytes_compare_like_their_characters(
            same in "[a-cA-C é😀]{0,20}",
            a in proptest::collection::vec(proptest::sample::select(BYTES), 0..24),
            b in proptest::collection::vec(proptest::sample::select(BYTES), 0..24),
        ) {
            let text = |tail: &[u8]| [same.as_bytes(), tail].concat();
            let (a, b) = (text(&a), text(&b));
            let (x, y) = (String::from_utf8_lossy(&a), String::from_utf8_lossy(&b));
            let by_characters = compare_characters(x.chars(), y.chars());
            proptest::prop_assert_eq!(compare_bytes(&a, &b), by_characters);
            proptest::prop_assert_eq!(compare(&x, &y), by_characters);
        }
    }

    /// Letters, a space, what sorts before one, and bytes that begin, continue and break characters.
    const BYTES: &[u8] = b"aAbZ_ \t\0\xc3\xa9\x89\xd0\xb9\xf0\x9f\x98\x80\xff";

    #[test]
    fn like_goes_by_characters() {
        for (text, pattern, fits) in [
            ("é", "e", true),
            ("École", "ec%", true),
            ("abc", "a_c", true),
            ("abc", "_", false),
            ("a ", "a", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("a\\", "a\\", true),
            ("", "%", true),
            ("", "", true),
            ("x", "", false),
            ("mississippi", "%ss%pp_", true),
            ("mississippi", "%ss%ss%ss%", false),
            ("aab", "%ab", true),
            ("aXbXc", "a%b%c", true),
        ] {
            assert_eq!(
                like(text, pattern, Some('\\')),
                Ok(fits),
                "{text} {pattern}"
            );
        }
        assert_eq!(like_exactly("A", "a", None), Ok(false));
        assert_eq!(like_exactly("a%", "a|%", Some('|')), Ok(true));
    }

    #[test]
    fn texts_like_a_pattern_are_within_its_bounds() {
        let (low, high) = bounds("É\\_b%c", Some('\\')).unwrap();
        for text in ["e_b", "e_b\0", "E_B\u{fffd}x", "é_bc", "e_b\t"] {
            assert!(
                compare(&low, text).is_le() && compare(text, &high).is_lt(),
                "{text}"
            );
        }
        assert!(compare("e_c", &high).is_gt() && compare("e_a", &low).is_lt());
        assert_eq!(bounds("%a", None), None);
    }
}
